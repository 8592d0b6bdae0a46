"""Training of a linear machine: all categories at once, in Kesler's space."""

from typing import Any

import numpy as np

from separatrix.online.loops.kesler_loop import machine_kernel
from separatrix.online.loops.mira_loop import together_kernel
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
        self.rivals = rivals

    def start(self, a: np.ndarray | None = None) -> None:
        """What all categories have in common tells none of them apart: it is taken from a start."""
        if a is not None:
            machine = self.patterns.machine(a)
            a = (machine - machine.mean(axis=0)).ravel()
        super().start(a)

    def _norms2(self) -> np.ndarray:
        return self.patterns.row_norms2

    def _run(self, rule: Any, visits: int, max_updates: int) -> int:
        rule_class: Any = type(rule)
        parts = (
            rule, self.patterns.rows, self.patterns.codes, self.order, self.weight, self.norms2, self.frame,
            self.state, visits, max_updates, np.empty((2, self.patterns.n_classes)),
        )  # fmt: skip
        if self.rivals == "together":
            return int(together_kernel()(*parts))
        return machine_kernel(rule_class)(*parts, self.rivals == "all")
