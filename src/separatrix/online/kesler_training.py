"""Training of a linear machine: all categories at once, in Kesler's space."""

from typing import Any

import numpy as np

from separatrix.online.loops.rivals import OneByOne, RivalPairs, Together, rivals_kernel
from separatrix.online.training import Training
from separatrix.passes.kesler_patterns import KeslerPatterns

MOST_MULTIPLIERS = 50_000_000  # n (c - 1) up to which they are kept without need


class MachineTraining(Training):
    """`Training` in which a visit shows a row with its "strongest" rival, "all" in turn, or all "together"."""

    patterns: KeslerPatterns

    def __init__(
        self,
        patterns: KeslerPatterns,
        rule: Any,
        weight: np.ndarray,
        *,
        rivals: str,
        keep_alpha: bool = True,
        **options: Any,
    ):
        needed = patterns.space.delta > 0  # they are the extension
        keep_alpha = keep_alpha and (needed or patterns.n <= MOST_MULTIPLIERS)
        super().__init__(patterns, rule, weight, keep_alpha=keep_alpha, **options)
        width = patterns.n_classes - 1
        together = rivals == "together"
        self.how = Together(False, np.empty(width), np.empty(width)) if together else OneByOne(rivals == "all")

    def start(self, a: np.ndarray | None = None) -> None:
        """What all categories have in common tells none of them apart: it is taken from a start."""
        if a is not None:
            machine = self.patterns.machine(a)
            a = (machine - machine.mean(axis=0)).ravel()
        super().start(a)

    def _norms2(self) -> np.ndarray:
        return self.patterns.row_norms2

    def _run(self, rule: Any, visits: int, max_updates: int) -> int:
        run: Any = rivals_kernel(type(rule))
        return int(run(rule, self._stored(), self.order, self.how, self.state, visits, max_updates))

    def _stored(self) -> RivalPairs:
        c = self.patterns.n_classes
        return RivalPairs(
            self.patterns.rows, self.patterns.codes, self.weight, self.norms2, self.state.v.reshape((c, -1)),
            np.empty(c), np.empty(c), self.frame,
        )  # fmt: skip
