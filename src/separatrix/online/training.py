"""Runs a kernel in pieces: back in Python at least twice a second, so that progress is seen and Ctrl-C is heard.

Where the pieces end never changes a result: everything a rule depends on is in the `State`.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.compile_cache import Kernel, at_once
from separatrix.data.memory import frozen
from separatrix.online.loops.averaging import Nothing, Voters
from separatrix.online.loops.loop import online_kernel
from separatrix.online.loops.order import order_of, permutation
from separatrix.online.loops.rows import SignedRows
from separatrix.online.loops.second_order import Covariance
from separatrix.online.loops.state import (
    CONVERGED,
    EPOCHS,
    EXHAUSTED,
    FACTOR,
    FRESH,
    NORM2,
    PLACE,
    POSITION,
    RUNNING,
    SPREAD,
    TOTAL,
    UPDATES,
    VISITS,
    Frame,
    State,
)
from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.rules.base import Rule, attribute
from separatrix.space import norm

SECONDS_OF_A_PIECE = 0.2  # seconds a piece is meant to last
FIRST_PIECE = 2e6  # multiplications in the first piece, before the speed is known
UNLIMITED = 2**62


class Training:
    """One binary problem in training: a rule, its patterns and the state between two pieces."""

    @at_once()
    def __init__(
        self,
        patterns: Patterns,
        rule: Rule,
        weight: np.ndarray,
        *,
        seed: int | None,
        together: int = 0,
        keep_alpha: bool = True,
        radius2: float | None = None,
    ):
        """``seed``: None visits the rows as they come. ``together``: rows that stay together in a shuffle, if any.
        ``radius2``: R^2 of earlier data, where they set the scale."""
        self.patterns, self.weight = patterns, weight
        self.rule: Any = rule  # with parameters of its own
        scale2 = unit_scale2(rule, patterns.radius2 if radius2 is None else radius2)
        norms2 = self._norms2()
        self.norms2 = frozen(norms2 if scale2 == 1.0 else norms2 * scale2)  # one type, one compilation
        space = patterns.space
        self.frame = Frame(
            float(space.rho), space.delta**2 * scale2, float(np.sqrt(scale2)), float(self.norms2.max(initial=0.0))
        )
        self.order = order_of(len(norms2), seed, together)
        self.table: Callable[[int, int], np.ndarray] | None = None
        self.first_rate, self.rates = 0, np.zeros(0)
        self.from_zero = True
        n = patterns.n if keep_alpha and attribute(rule, "additive") else 0
        self.state = State(
            np.zeros(patterns.d + 1),
            np.zeros(n),
            Nothing(np.zeros(0)),
            np.array([1.0, 0.0, 0.0, 0.0, 0.0]),
            np.zeros(7, np.int64),
        )

    def _norms2(self) -> np.ndarray:
        """|y|^2 of what a visit shows."""
        return self.patterns.norms2

    def start(self, a: np.ndarray | None = None) -> None:
        """Begin: from ``a``, or as the rule says."""
        state = self.state
        self._draw(0)
        if a is not None:
            state.v[:] = a
            self.from_zero = False
        elif attribute(self.rule, "starts_on_first"):
            usable = self.order.sequence[self.norms2[self.order.sequence] > 0]
            if len(usable) == 0:
                return
            q = 1.0 / np.sqrt(self.norms2[usable[0]])
            first = self.patterns.numbering(usable[:1])[:1]
            self._add_to_zero(first, q)
            if len(state.alpha):
                state.alpha[first] = q
            state.real[TOTAL] = q
        if self.frame.delta2 > 0:
            state.real[SPREAD] = state.alpha @ state.alpha
        state.real[NORM2] = self._length2() + self.frame.delta2 * state.real[SPREAD]

    def _add_to_zero(self, first: np.ndarray, q: float) -> None:
        self.state.v[:] = self.patterns.combine(first, np.array([q * self.frame.scale]))

    def _length2(self) -> float:
        return float(self.state.v @ self.state.v)

    def _draw(self, epoch: int) -> None:
        with np.errstate(over="ignore"):
            permutation()(self.order, epoch)

    def resume(self, state: State) -> None:
        """Go on from a state that an earlier training left."""
        self.state = state
        self._draw(int(state.counts[EPOCHS]))

    def resume_on_new_block(self, state: State) -> None:
        """Go on from a state over other patterns: a new epoch begins."""
        state.counts[POSITION] = state.counts[FRESH] = state.counts[PLACE] = 0
        self.resume(state._replace(alpha=np.zeros(0)))

    def advance(self, visits: int, max_updates: int) -> int:
        """At most so many visits; returns RUNNING, CONVERGED or EXHAUSTED."""
        while True:
            rule, reach = self.rule, max_updates
            if self.table is not None:
                following = int(self.state.counts[UPDATES]) + 1
                if not self.first_rate <= following < self.first_rate + len(self.rates):
                    self.first_rate, self.rates = following, self.table(following, max_updates - following + 1)
                rule = rule._replace(first=float(self.first_rate), rates=self.rates)
                reach = min(max_updates, self.first_rate - 1 + len(self.rates))
            before = int(self.state.counts[VISITS])
            with np.errstate(over="ignore"):  # the mixing of order.py, where numba is switched off
                status = self._run(rule, visits, reach)
            visits -= int(self.state.counts[VISITS]) - before
            if status == EXHAUSTED and self.state.counts[UPDATES] < max_updates:
                status = RUNNING  # only the table of rates ended
            if status != RUNNING or visits <= 0:
                return int(status)

    def _run(self, rule: Rule, visits: int, max_updates: int) -> int:
        """Call the compiled loop."""
        return int(self._kernel(rule)(rule, self._rows(), self.order, self.state, visits, max_updates))

    def _kernel(self, rule: Rule) -> Kernel:
        return online_kernel(type(rule))

    def _rows(self) -> Any:
        """Return the rows as the loop sees them."""
        return SignedRows(self.patterns.rows, self.patterns.labels, self.weight, self.norms2, self.frame)

    @property
    def rows(self) -> int:
        """Visits in an epoch."""
        return len(self.order.sequence)

    def train(
        self,
        visits: int,
        max_updates: int,
        pause: Callable[["Training"], str | None] | None = None,
        every_epoch: bool = False,
    ) -> str:
        """Run until it converges, so many visits or updates are used, or ``pause`` gives a reason to stop.

        ``pause`` is called after every piece; with ``every_epoch`` pieces end at the ends of epochs as well.
        Returns "converged", "max_updates", "max_iter" or that reason.
        """
        piece = max(1, int(FIRST_PIECE / self.visit_cost()))
        while visits > 0:
            if self.state.counts[UPDATES] >= max_updates:
                return "max_updates"
            part = min(visits, piece)
            if pause is not None:  # callers that watch want early news too
                part = min(part, max(16, int(self.state.counts[VISITS]) // 4))
            if every_epoch:
                part = min(part, self.rows - int(self.state.counts[POSITION]))
            before, clock = int(self.state.counts[VISITS]), time.perf_counter()
            status = self.advance(part, max_updates)
            done = int(self.state.counts[VISITS]) - before
            seconds = time.perf_counter() - clock
            visits -= done
            if done >= piece and seconds < SECONDS_OF_A_PIECE:
                piece = int(piece * min(4.0, SECONDS_OF_A_PIECE / max(seconds, 1e-6)) + 1)
            elif seconds > SECONDS_OF_A_PIECE and done:
                piece = max(1, int(done * SECONDS_OF_A_PIECE / seconds))
            stop = pause(self) if pause is not None else None
            if status == CONVERGED:
                return "converged"
            if status == EXHAUSTED:
                return "max_updates"
            if stop:
                return stop
        return "max_iter"

    @property
    def visits(self) -> int:
        """Visits of rows so far."""
        return int(self.state.counts[VISITS])

    def visit_cost(self) -> float:
        """Multiplications in a visit, at worst."""
        row = self.patterns.entries_per_row + 10.0
        if isinstance(self.state.memory, Voters):
            row += len(self.state.memory.votes)  # an update looks for the smallest
        kind = attribute(self.rule, "loop")
        if kind == "greedy":
            return row * self.patterns.n
        whole = kind == "least_squares" or (kind == "confidence" and isinstance(self.state.memory, Covariance))
        return row * self.patterns.d if whole else row

    @property
    def vector(self) -> np.ndarray:
        """a, in the units of the data."""
        return self.state.v * self.state.real[FACTOR]

    @property
    def alpha(self) -> np.ndarray | None:
        """The multipliers, up to a common factor."""
        return self.state.alpha if len(self.state.alpha) else None

    def running_upper(self) -> float:
        """|a| / sum alpha from what the loop keeps at hand: free, and not rounded outwards."""
        total = float(self.state.real[FACTOR]) * float(self.state.real[TOTAL])
        if not 0 < total < np.inf or not self.from_zero or not attribute(self.rule, "additive"):
            return float("inf")
        return float(np.sqrt(max(self.state.real[NORM2], 0.0)) / (total * self.frame.scale))

    @staticmethod
    def accumulated_upper(state: State, rule: Rule, radius2: float, largest_radius: float) -> float:
        """|a| / sum alpha of a vector whose multipliers were not kept, with a bound on what rounding did to it.

        Each of t updates rounds a by at most 2 eps (|a| + g R), and |a| <= R sum alpha.
        """
        total = float(state.real[TOTAL])
        if not total > 0:
            return float("inf")
        scale = float(np.sqrt(unit_scale2(rule, radius2)))
        rounding = 4.0 * EPS * (float(state.counts[UPDATES]) + len(state.v) + 8) * largest_radius
        return norm(state.v) / (total * scale) + rounding


def adds_single_patterns(rule: Rule) -> bool:
    """Is every correction of this rule a multiple >= 0 of the pattern at hand, found by the additive loop?"""
    return bool(attribute(rule, "additive") and attribute(rule, "loop") == "additive")


def unit_scale2(rule: Rule, radius2: float) -> float:
    """The square of the factor on the patterns: 1/R^2 for rules on patterns of length at most 1."""
    return 1.0 / radius2 if attribute(rule, "unit_patterns") else 1.0
