"""Training in the dual form: a rule, patterns that are known by their kernel, and a cache of Gram rows."""

from functools import cached_property
from typing import Any

import numpy as np

from separatrix.online.budgets import POLICIES, Span
from separatrix.online.loops.rows import InnerProducts
from separatrix.online.loops.state import EXHAUSTED, FACTOR, LACKING, POSITION, RUNNING, UPDATES, VISITS
from separatrix.online.training import Training
from separatrix.passes.gram_rows import GramRows
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.rules.base import Rule


class KernelTraining(Training):
    """`Training` whose vector is a combination of the rows; an update needs a row of the Gram matrix.

    ``budget``: so many rows may be part of it; ``policy``: how that is kept up (budgets.py). ``near``: of a projection,
    how far it may be from its pattern, as a part of R.
    """

    patterns: KernelPatterns

    def __init__(
        self,
        patterns: KernelPatterns,
        rule: Rule,
        weight: np.ndarray,
        *,
        megabytes: float,
        budget: int | None = None,
        policy: str = "random",
        near: float = 0.0,
        **options: Any,
    ):
        super().__init__(patterns, rule, weight, **options)
        self.megabytes, self.budget, self.policy, self.near = megabytes, budget, policy, near
        self._span: tuple[np.ndarray, Span] | None = None

    @property
    def budgeted(self) -> bool:
        return self.budget is not None or self.policy == "projectron"

    def span(self, members: np.ndarray) -> Span:
        """Of these patterns; factored again where they are others than before."""
        if self._span is None or not np.array_equal(self._span[0], members):
            self._span = members, Span(self.patterns.pattern_products(members) * self.frame.scale**2)
        return self._span[1]

    @cached_property
    def gram(self) -> GramRows:
        return GramRows(self.patterns, self.megabytes, self.frame.scale**2)

    def train(self, *limits: Any, **options: Any) -> str:
        try:
            return super().train(*limits, **options)
        finally:
            vars(self).pop("gram", None)  # problems that wait for others hold no rows

    def start(self, a: np.ndarray | None = None) -> None:
        if a is not None:
            raise ValueError("A kernel's vector belongs to its rows: a fit cannot start from another one.")
        super().start()

    def _add_to_zero(self, first: np.ndarray, q: float) -> None:
        i, v = int(first[0]), self.state.v
        v[:-1] = q * GramRows(self.patterns, 0.0, self.frame.scale**2).row(i)
        v[-1] = q * self.patterns.labels[i] * self.frame.scale * self.frame.rho

    def _length2(self) -> float:
        return float(self.state.alpha @ self.state.v[:-1])

    def _rows(self) -> InnerProducts:
        return InnerProducts(self.gram.rows, self.gram.slot, self.patterns.labels, self.weight, self.norms2, self.frame)

    def _run(self, rule: Rule, visits: int, max_updates: int) -> int:
        if not self.budgeted:
            return self._run_on(rule, visits, max_updates)
        counts, alpha = self.state.counts, self.state.alpha
        end = int(counts[VISITS]) + visits
        while True:  # one update at a time
            made, before = int(counts[UPDATES]), alpha.copy()
            status = self._run_on(rule, end - int(counts[VISITS]), min(max_updates, made + 1))
            if counts[UPDATES] > made:
                POLICIES[self.policy](self, before)
            if status == EXHAUSTED and counts[UPDATES] < max_updates:
                status = RUNNING
            if status != RUNNING or counts[VISITS] >= end:
                return status

    def _run_on(self, rule: Rule, visits: int, max_updates: int) -> int:
        """The compiled loop; where it lacks a row of the Gram matrix, it gets it."""
        end = int(self.state.counts[VISITS]) + visits
        while True:
            left = end - int(self.state.counts[VISITS])
            if (status := super()._run(rule, left, max_updates)) != LACKING:
                return status
            self.gram.fetch(self._wanted())

    def _wanted(self) -> np.ndarray:
        """The row at hand, and those behind it in the order that are no better off: they will be asked for next."""
        ahead = self.order.sequence[int(self.state.counts[POSITION]) :]
        v = self.state.v
        return ahead[v[ahead] <= v[ahead[0]]]

    @property
    def vector(self) -> np.ndarray:
        beta = self.state.alpha * self.patterns.labels * (self.state.real[FACTOR] * self.frame.scale)
        return np.append(beta, 0.0)

    def running_upper(self) -> float:
        return super().running_upper() if self.patterns.definite else float("inf")

    def visit_cost(self) -> float:
        """An update is a pass over a row, rarely one that has to be computed."""
        return float(self.patterns.n)
