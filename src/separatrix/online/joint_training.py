"""Training of a joint problem: the vectors of all classes at once, in Kesler's space."""

from typing import Any

import numpy as np

from separatrix.compile_cache import Kernel
from separatrix.online.loops.rivals import OneByOne, RivalPairs, Together, rivals_kernel
from separatrix.online.training import Training
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.rules.base import Rule

MOST_MULTIPLIERS = 50_000_000  # n (c - 1) up to which they are kept without need


class JointTraining(Training):
    """`Training` in which a visit shows a row with its "strongest" rival, "all" in turn, or all "together"."""

    patterns: KeslerPatterns

    def __init__(
        self,
        patterns: KeslerPatterns,
        rule: Rule,
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
        width, together = patterns.n_classes - 1, rivals == "together"
        self.how = Together(False, np.empty(width), np.empty(width)) if together else OneByOne(rivals == "all")

    def start(self, a: np.ndarray | None = None) -> None:
        """What all classes have in common separates none of them: it is subtracted from a start."""
        if a is not None:
            vectors = self.patterns.machine(a)
            a = (vectors - vectors.mean(axis=0)).ravel()
        super().start(a)

    def _norms2(self) -> np.ndarray:
        return self.patterns.row_norms2

    def _kernel(self, rule: Rule) -> Kernel:
        return rivals_kernel(type(rule))

    def _rows(self) -> RivalPairs:
        patterns, c = self.patterns, self.patterns.n_classes
        V, scores, others = self.state.v.reshape((c, -1)), np.empty(c), np.empty(c)
        return RivalPairs(
            patterns.rows, patterns.codes, self.weight, self.norms2, V, scores, others, self.frame, self.how
        )
