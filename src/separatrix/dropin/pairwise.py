"""Two classes with hinge loss and a free intercept, as LIBSVM's: a linear kernel by `MaxMargin`, others by pairs of
multipliers, each with a certificate."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify
from separatrix.data.memory import as_rows
from separatrix.dropin.handover import BeyondError, gap
from separatrix.dropin.linear_svc import QuietMargin
from separatrix.errors import SeparatrixError
from separatrix.fit.margin_classifier import REACHED, Solution
from separatrix.passes.binary_problems import pairs
from separatrix.passes.class_blocks import ClassBlocks
from separatrix.passes.gram_rows import computed_at_once
from separatrix.passes.kernel_functions import Kernel
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import gram_pairs
from separatrix.solvers.hinge_problem import middle_intercept
from separatrix.solvers.kernel_problem import KernelHingeProblem, middle_bias
from separatrix.solvers.problem import CERTAIN
from separatrix.space import Space, Vector

PAIRS = "pairs of multipliers"
ROWS_BY_PAIRS, PER_COLUMN = 500, 2  # rows, in all and a column, up to which a linear kernel is tried by pairs,
FIRST_STEPS, STEPS_OF_ROW = 2000, 15  # with at most so many steps, in all and for each row,
WORK = 5_000_000  # or as many as look at so many rows
ZERO_GAP = 1e-9  # a gap that is as good as 0
ROWS_CHECKED = 1000  # rows up to which looking whether a kernel is definite takes less time than the fit
LEAST_GAIN = 1e-12  # share of the objective that longer multipliers have to gain; they are left alone for less


class PairFit(NamedTuple):
    """Two classes: the rows that support their border, with multiples that are positive for class j."""

    support: np.ndarray
    dual: Vector
    intercept: float
    certificate: Certificate
    steps: int
    solver: str
    i: int = 0
    j: int = 1


class DuelSettings(NamedTuple):
    """What all pairs of a fit share; ``kernel`` is the user's, which certificates name."""

    kernel: Kernel
    C: float
    tol: float
    megabytes: float


class PairFits:
    """The pairs of classes of a fit. If their Gram matrices are small, these share the blocks of the classes."""

    def __init__(self, X: Any, codes: np.ndarray, names: Sequence[Any], weight: Vector, given: DuelSettings):
        self.X, self.names, self.weight, self.given = X, names, weight, given
        self.members = [np.flatnonzero(codes == k) for k in range(len(names))]
        self.kernel = Kernel("precomputed") if callable(given.kernel.name) else given.kernel
        self.blocks = ClassBlocks(X, self.members, self.kernel) if len(names) > 2 else None
        self.by_multipliers = bool(np.isfinite(given.C))
        if self.kernel.name != "linear" and not self.by_multipliers:
            raise BeyondError("a hard margin with a kernel")

    def solved(self) -> list[PairFit]:
        """Return the pairs of all pairs, in their order."""
        try:
            return [self._duel(i, j) for i, j in pairs(len(self.names))]
        except SeparatrixError as why:
            raise BeyondError(str(why)) from why

    def _duel(self, i: int, j: int) -> PairFit:
        rows = np.concatenate([self.members[i], self.members[j]])
        labels = np.repeat([-1.0, 1.0], [len(self.members[i]), len(self.members[j])])
        if self.blocks is None or not computed_at_once(len(rows), self.given.megabytes):
            order = np.argsort(rows)
            rows, labels, K = rows[order], labels[order], None
        else:
            K = self.blocks.of_pair(i, j) if self.by_multipliers else None
        found = self._linear(rows, labels, K) if self.kernel.name == "linear" else self._kernel(rows, labels, K)
        between = None if len(self.names) == 2 else (self.names[i], self.names[j])
        return found._replace(i=i, j=j, certificate=replace(found.certificate, class_pair=between))

    def _kernel(self, rows: np.ndarray, labels: Vector, K: NDArray[np.float64] | None) -> PairFit:
        problem = self._problem(rows, labels)
        gram_pairs.solve(problem, self.given.tol, K=K)
        found = certify(problem.patterns, problem.a, problem.alpha, kept=rows, sample_weight=self.weight)
        if not np.isfinite(gap(found)):
            raise BeyondError("numbers beyond what a certificate can bound")
        direction = np.append(problem.a[np.argsort(rows)], problem.a[-1])  # the order of the user's rows
        return _of_multipliers(problem, rows, replace(found, direction=direction, kernel=self.given.kernel))

    def _linear(self, rows: np.ndarray, labels: Vector, K: NDArray[np.float64] | None) -> PairFit:
        """By pairs of multipliers if there are few rows, unless these take too many steps, as with a large C; then by
        Newton's steps, and so are the pairs that follow."""
        few = K is not None or len(rows) <= min(ROWS_BY_PAIRS, PER_COLUMN * self.X.shape[1])
        found = self._small_linear(rows, labels, K) if few and self.by_multipliers else None
        self.by_multipliers = self.by_multipliers and (found is not None or not few)
        return _newton_duel(self.X, labels, rows, self.weight, self.given) if found is None else found

    def _small_linear(self, rows: np.ndarray, labels: Vector, K: NDArray[np.float64] | None) -> PairFit | None:
        problem = self._problem(rows, labels)
        steps = max(FIRST_STEPS + STEPS_OF_ROW * len(rows), WORK // len(rows))
        if not gram_pairs.solve(problem, self.given.tol, steps, K):
            return None
        explicit = Patterns(problem.patterns.home, labels, problem.patterns.space, self.weight[rows])
        a = np.append(np.asarray(problem.patterns.matrix.T @ problem.a[:-1]).ravel(), problem.a[-1])
        found = certify(explicit, a, problem.alpha, kept=rows, sample_weight=self.weight)
        if not found.gap or not found.gap <= max(self.given.tol, ZERO_GAP):
            return None
        return _of_multipliers(problem, rows, found)

    def _problem(self, rows: np.ndarray, labels: Vector) -> KernelHingeProblem:
        space = Space(1.0, 0.0, True, weighted=True, hinge=self.given.C)
        patterns = KernelPatterns(as_rows(self.X[rows]), labels, space, self.kernel, self.weight[rows], rows)
        _check(patterns)
        return KernelHingeProblem(patterns, self.given.C, self.weight[rows], tol=0.0, megabytes=self.given.megabytes)


def _of_multipliers(problem: KernelHingeProblem, rows: np.ndarray, certificate: Certificate) -> PairFit:
    beta, intercept = problem.a[:-1], float(problem.a[-1])
    support = np.flatnonzero(beta)
    return PairFit(rows[support], beta[support], intercept, certificate, problem.steps, PAIRS)


class DualMargin(QuietMargin):
    """What SVC predicts by are its multipliers: the vector that they make, which differs from the solver's by what is
    left of the gap and by rounding errors, with the intercept that is best for it."""

    def _vector_of(self, patterns: Patterns, found: Solution) -> tuple[Vector, float, Vector]:
        a, C = patterns.combine(found.index, found.alpha), patterns.space.hinge
        a[-1] = 0.0
        f = patterns.margins(a)
        a[-1] = middle_intercept(f, patterns.labels, patterns.caps) if C else middle_bias(f, patterns.labels)
        margins = f + patterns.labels * a[-1]
        error, half = CERTAIN * patterns.margin_error(a), 0.5 * patterns.space.length(a) ** 2
        smallest, slacks = float(margins.min()) - error, np.maximum(1.0 + error - margins, 0.0)
        now = (half + C * patterns.paid_slack(slacks)) * (1.0 - LEAST_GAIN)
        if smallest > 0 and (not C or half < now * smallest**2):
            return a / smallest, 1.0 / smallest, margins / smallest
        return a, 1.0, margins


def _newton_duel(X: Any, labels: Vector, rows: np.ndarray, weight: Vector, given: DuelSettings) -> PairFit:
    margin = DualMargin(given.C, loss="hinge", fit_intercept="unpenalized", tol=given.tol)
    solved = margin.solved(margin.patterns(X[rows], labels, weight[rows], None), rows, weight)
    if solved.gap > max(given.tol, REACHED):
        raise BeyondError(f"a gap of {solved.gap}")
    order = np.argsort(solved.support)
    support, dual = solved.support[order], solved.alpha[order] * labels[solved.support[order]]
    return PairFit(rows[support], dual, float(solved.plane[1]), solved.certificate, solved.passes, solved.how)


def _check(patterns: KernelPatterns) -> None:
    if not np.isfinite(patterns.squares).all():
        raise BeyondError("a kernel with values that are not finite")
    if patterns.kernel.mercer:
        return
    if patterns.n > ROWS_CHECKED:
        raise BeyondError(f"more than {ROWS_CHECKED} rows of a kernel that is not known to be positive semi-definite")
    if not patterns.definite:
        raise BeyondError("a kernel that is not positive semi-definite on these data")
