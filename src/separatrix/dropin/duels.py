"""Two classes with plain slack and a free intercept, as LIBSVM's: a linear kernel by `MaxMargin`, others by pairs of
multipliers, each with a certificate."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify
from separatrix.data.memory import as_rows
from separatrix.dropin.handover import BeyondError, gap
from separatrix.dropin.linear_svc import QuietMargin
from separatrix.errors import SeparatrixError
from separatrix.fit.margin_classifier import REACHED, Solution
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


class Duel(NamedTuple):
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
    """What all duels of a fit share; ``kernel`` is the user's, which certificates name."""

    kernel: Kernel
    C: float
    tol: float
    megabytes: float


def linear_duel(X: Any, labels: Vector, rows: np.ndarray, weight: Vector, given: DuelSettings) -> Duel:
    """These rows of X with labels -1 and +1; ``weight`` is that of all rows. Few rows, no more than
    two a column, are done by pairs of multipliers unless these take too many steps, as with a large C they do."""
    small = len(rows) <= min(ROWS_BY_PAIRS, PER_COLUMN * X.shape[1]) and np.isfinite(given.C)
    found = _small_linear_duel(X[rows], labels, rows, weight, given) if small else None
    return _newton_duel(X, labels, rows, weight, given) if found is None else found


def _small_linear_duel(X: Any, labels: Vector, rows: np.ndarray, weight: Vector, given: DuelSettings) -> Duel | None:
    space = Space(1.0, 0.0, True, weighted=True, hinge=given.C)
    try:
        patterns = KernelPatterns(as_rows(X), labels, space, given.kernel, weight[rows])
        _check(patterns)
        problem = KernelHingeProblem(patterns, given.C, weight[rows], tol=0.0, megabytes=given.megabytes)
        steps = max(FIRST_STEPS + STEPS_OF_ROW * len(rows), WORK // len(rows))
        if not gram_pairs.solve(problem, given.tol, steps):
            return None
        explicit = Patterns(patterns.home, labels, space, weight[rows])
        beta, intercept = problem.a[:-1], float(problem.a[-1])
        a = np.append(np.asarray(X.T @ beta).ravel(), intercept)
        found = certify(explicit, a, problem.alpha, kept=rows, sample_weight=weight)
    except SeparatrixError as why:
        raise BeyondError(str(why)) from why
    if not found.gap or not found.gap <= max(given.tol, ZERO_GAP):
        return None
    support = np.flatnonzero(beta)
    return Duel(rows[support], beta[support], intercept, found, problem.steps, PAIRS)


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


def _newton_duel(X: Any, labels: Vector, rows: np.ndarray, weight: Vector, given: DuelSettings) -> Duel:
    margin = DualMargin(given.C, loss="hinge", fit_intercept="unpenalized", tol=given.tol)
    try:
        solved = margin.solved(margin.patterns(X[rows], labels, weight[rows], None), rows, weight)
    except SeparatrixError as why:
        raise BeyondError(str(why)) from why
    if solved.gap > max(given.tol, REACHED):
        raise BeyondError(f"a gap of {solved.gap}")
    order = np.argsort(solved.support)
    support, dual = solved.support[order], solved.alpha[order] * labels[solved.support[order]]
    return Duel(rows[support], dual, float(solved.plane[1]), solved.certificate, solved.passes, solved.how)


def kernel_duel(X: Any, labels: Vector, rows: np.ndarray, weight: Vector, given: DuelSettings) -> Duel:
    """The same with another kernel; X is a matrix of inner products where that is a function or precomputed."""
    if np.isinf(given.C):
        raise BeyondError("a hard margin with a kernel")
    known = Kernel("precomputed") if callable(given.kernel.name) else given.kernel
    space = Space(1.0, 0.0, True, weighted=True, hinge=given.C)
    try:
        patterns = KernelPatterns(as_rows(X[rows]), labels, space, known, weight[rows], rows)
        _check(patterns)
        problem = KernelHingeProblem(patterns, given.C, weight[rows], tol=0.0, megabytes=given.megabytes)
        gram_pairs.solve(problem, given.tol)
        found = certify(patterns, problem.a, problem.alpha, kept=rows, sample_weight=weight)
    except SeparatrixError as why:
        raise BeyondError(str(why)) from why
    if not np.isfinite(gap(found)):
        raise BeyondError("numbers beyond what a certificate can bound")
    beta, intercept = problem.a[:-1], float(problem.a[-1])
    support = np.flatnonzero(beta)
    found = replace(found, kernel=given.kernel)
    return Duel(rows[support], beta[support], intercept, found, problem.steps, PAIRS)


def _check(patterns: KernelPatterns) -> None:
    if not np.isfinite(patterns.squares).all():
        raise BeyondError("a kernel with values that are not finite")
    if patterns.kernel.mercer:
        return
    if patterns.n > ROWS_CHECKED:
        raise BeyondError(f"more than {ROWS_CHECKED} rows of a kernel that is not known to be positive semi-definite")
    if not patterns.definite:
        raise BeyondError("a kernel that is not positive semi-definite on these data")
