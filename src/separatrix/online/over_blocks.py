"""A rule over out-of-core rows: block after block as if they were one, or mixed (McDonald, Hall & Mann 2010).

In order: the state goes from block to block, and an epoch ends with the last of them. What comes out are the bits of
one run over all rows in this order.

Mixed: in every epoch each block runs the rule from the same vector, and the next one is the mean of what they come to,

    a <- (1/S) sum_s a_s.

For the Perceptron on separable data the mistakes of all epochs, each divided by S, are at most (R/gamma)^2 (theorem 3
of that paper), so that it ends; a block's vector is a sum of patterns with multipliers >= 0, so the mean is, and the
sum of these multipliers bounds the margin from above as in a single run. A rule that shrinks its vector shrinks the
multipliers of earlier epochs too, so every block goes on from their sum, and from the updates and visits of all.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.online.joint_training import JointTraining
from separatrix.online.loops.averaging import Nothing, known_mean
from separatrix.online.loops.state import (
    CONVERGED,
    EPOCHS,
    EXHAUSTED,
    FACTOR,
    FRESH,
    NORM2,
    TOTAL,
    UPDATES,
    VISITS,
    State,
)
from separatrix.online.training import Training, unit_scale2
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.patterns import Seen
from separatrix.passes.summaries import Mixture
from separatrix.rules.base import Rule


class BlockRule(NamedTuple):
    """How blocks are shown to a rule. ``seed``: None visits the rows of a block as they come."""

    rule: Rule
    seed: int | None
    radius2: float  # R^2 of all rows
    rivals: str = "strongest"  # of a linear machine: which are corrected

    def training(self, patterns: Any, weight: np.ndarray | None) -> Training:
        """The training on one block, not started."""
        options: dict[str, Any] = {"seed": self.seed, "keep_alpha": False, "radius2": self.radius2}
        weight = np.ones(patterns.rows_in_all) if weight is None else weight
        if isinstance(patterns, KeslerPatterns):
            training: Training = JointTraining(patterns, self.rule, weight, rivals=self.rivals, **options)
        else:
            training = Training(patterns, self.rule, weight, **options)
        scale2 = unit_scale2(self.rule, self.radius2)
        training.frame = training.frame._replace(radius2=self.radius2 * scale2)  # not that of the block
        return training


class Course:
    """Where a run in order stands: how many blocks it has seen, and for each problem whether this epoch has already
    corrected it, and how it ended."""

    def __init__(self, problems: int):
        self.blocks = 0
        self.fresh = np.zeros(problems, np.int64)
        self.reasons = [""] * problems

    @property
    def running(self) -> bool:
        return not all(self.reasons)

    def show(self, k: int, training: Training, last: bool, max_updates: int) -> None:
        """Show a block to problem k. ``last``: an epoch ends with it."""
        if self.reasons[k] or training.rows == 0:
            return
        counts = training.state.counts
        counts[FRESH] = self.fresh[k]
        status = training.advance(training.rows, max_updates)
        if status == EXHAUSTED:
            self.reasons[k] = "max_updates"
            return
        # the loop takes the end of a block for that of an epoch, and says "converged" if there was nothing to correct
        self.fresh[k] = status != CONVERGED
        if not last:
            counts[EPOCHS] -= 1
            return
        if status == CONVERGED:
            self.reasons[k] = "converged"
        self.fresh[k] = 0


def mixed_block(
    how: BlockRule,
    seen: list[Seen],
    vectors: np.ndarray,
    totals: np.ndarray,
    updates: np.ndarray,
    visits: int,
    block: Any,
) -> Mixture:
    """One epoch over a block, for every problem; what travels to the blocks."""
    found, sums, counts, fresh = [], [], [], []
    for see, a, total, before in zip(seen, vectors, totals, updates, strict=True):
        patterns = see.patterns(block)
        training = how.training(patterns, block.here().weight)
        training.start(a)
        state = training.state
        state.real[TOTAL], state.counts[UPDATES], state.counts[VISITS] = total, before, visits
        training.advance(training.rows, 2**62)
        found.append(training.vector)
        sums.append(state.real[TOTAL] * state.real[FACTOR])
        counts.append(state.counts[UPDATES] - before)
        fresh.append(counts[-1] > 0)
    return Mixture(np.array(found), np.array(sums), np.array(counts), np.array(fresh, np.int64), block.n, 1)


def mixed_state(
    vector: np.ndarray, total: float, counts: tuple[int, int, int], mean: np.ndarray | None = None
) -> State:
    """The state of a run whose vector is a mixture: ``counts`` are updates, visits and epochs; ``mean``: of the
    mixtures, if it is to predict."""
    real = np.array([1.0, float(vector @ vector), total, 0.0, 0.0])
    assert real[NORM2] >= 0
    numbers = np.zeros(7, np.int64)
    numbers[UPDATES], numbers[VISITS], numbers[EPOCHS] = counts
    memory = Nothing(np.zeros(0)) if mean is None else known_mean(mean, counts[1])
    return State(vector, np.zeros(0), memory, real, numbers)


def leaves(value: Any) -> Iterator[np.ndarray]:
    """The arrays of a state, in order: what has to be kept of it."""
    for part in value:
        if isinstance(part, np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from leaves(part)


def put_back(value: Any, arrays: Iterator[np.ndarray]) -> None:
    """Fill the arrays of a state with those that were kept."""
    for array in leaves(value):
        array[...] = next(arrays)
