"""Every claim of a certificate, recomputed from the data alone."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.errors import DataError
from separatrix.patterns.base import PassedPatterns
from separatrix.patterns.kernel_patterns import KernelPatterns
from separatrix.patterns.kesler_patterns import KeslerPatterns
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certificate import Certificate, Verification
from separatrix.proof.certify import lower_bound, plain_margin, separates_exactly, slack_bound, upper_bound
from separatrix.proof.exact import LARGEST_SYSTEM, vanishing_combination
from separatrix.rows.base import Rows
from separatrix.rows.memory import as_rows
from separatrix.rows.validate import check_structure
from separatrix.space import signs


def verify(
    claim: Certificate, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, exact: bool
) -> Verification:
    """The outcome of `Certificate.verify`."""
    patterns, kept = _patterns_of(claim, X, y, sample_weight)
    judge = _Judge()
    _check_lower(judge, claim, patterns)
    _check_upper(judge, claim, patterns, kept)
    _check_separable(judge, claim, patterns, kept, exact)
    if claim.lower is not None and claim.lower > claim.upper:
        judge.settle("lower <= upper", False, f"{claim.lower:.6g} > {claim.upper:.6g}")
    radius_holds = abs(claim.radius - patterns.radius) <= 1e-12 * patterns.radius
    judge.settle("radius", radius_holds, f"R = {patterns.radius:.6g}, claimed {claim.radius:.6g}")
    return Verification(tuple(judge.checked), tuple(judge.failed), tuple(judge.unchecked))


class _Judge:
    def __init__(self) -> None:
        self.checked: list[str] = []
        self.failed: list[str] = []
        self.unchecked: list[str] = []

    def settle(self, name: str, holds: bool | None, why: str) -> None:
        place = {True: self.checked, False: self.failed, None: self.unchecked}[None if holds is None else bool(holds)]
        place.append(f"{name} ({why})")


def _patterns_of(
    claim: Certificate, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[Any, np.ndarray | None]:
    """The patterns that take part, and their numbers in X; None where all do."""
    if isinstance(X, Rows):
        return _patterns_of_home(claim, X, y, sample_weight), None
    check_structure(X)
    X = X if hasattr(X, "tocsr") else np.asarray(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    y = np.asarray(y)
    if X.ndim != 2 or X.shape[0] != len(y):
        raise DataError(f"X has shape {X.shape} and y has {len(y)} labels: they do not belong together.")
    weight = claim.sample_weight if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight is not None and len(weight) != len(y):
        raise DataError(f"There are {len(y)} rows and {len(weight)} weights: this is not the data of the certificate.")
    vectors = claim.categories if claim.categories > 2 else 1
    if claim.direction is not None and claim.kernel is None and len(claim.direction) != vectors * (X.shape[1] + 1):
        raise DataError(f"The certificate is about {len(claim.direction) // vectors - 1} features, X has {X.shape[1]}.")
    takes_part = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    if claim.between is not None:
        takes_part &= (y == claim.between[0]) | (y == claim.between[1])
    kept = np.flatnonzero(takes_part)
    rows, labels = X if len(kept) == len(y) else X[kept], y[kept]
    weight = None if weight is None else weight[kept]
    if claim.kernel is not None:
        if claim.direction is not None and len(claim.direction) != len(kept) + 1:
            raise DataError(f"The certificate is about {len(claim.direction) - 1} rows, here {len(kept)} take part.")
        return KernelPatterns(as_rows(rows), signs(labels), claim.space, claim.kernel, weight, kept), kept
    if claim.categories == 2:
        return Patterns(rows, signs(labels), claim.space, weight), kept
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) != claim.categories:
        raise DataError(f"The certificate is about {claim.categories} categories, y has {len(classes)}.")
    machine = KeslerPatterns(rows, codes, claim.categories, claim.space, weight)
    return machine, machine.numbering(kept)


def _patterns_of_home(claim: Certificate, home: Rows, y: Any, sample_weight: Any) -> PassedPatterns:
    if y is not None or sample_weight is not None:
        raise DataError("A home of rows holds its labels and weights: call verify(rows) without them.")
    vectors = claim.categories if claim.categories > 2 else 1
    if claim.direction is not None and len(claim.direction) != vectors * (home.width + 1):
        about = len(claim.direction) // vectors - 1
        raise DataError(f"The certificate is about {about} features, the rows have {home.width}.")
    if claim.kernel is not None or claim.between is not None or len(home.classes) != claim.categories:
        raise DataError(
            f"The certificate is about {claim.categories} categories, the rows have {len(home.classes)} classes."
        )
    return PassedPatterns(home, 1 if claim.categories == 2 else None, claim.space)


def _take_part(index: np.ndarray, kept: np.ndarray | None, patterns: Any) -> bool:
    known = np.isin(index, kept) if kept is not None else (index >= 0) & (index < patterns.n)
    return bool(np.all(known))


def _places(index: np.ndarray, kept: np.ndarray | None) -> np.ndarray:
    """The numbers of patterns among those that take part."""
    return index if kept is None else np.searchsorted(kept, index)


def _check_lower(judge: _Judge, claim: Certificate, patterns: Any) -> None:
    if claim.lower is None:
        return
    if claim.direction is None:
        judge.settle("lower", None, f"{claim.lower:.6g} comes without a direction")
        return
    found = lower_bound(patterns, claim.direction, slack=1.0)
    judge.settle("lower", claim.lower <= found, f"{claim.lower:.6g}, the direction reaches {found:.6g}")


def _check_upper(judge: _Judge, claim: Certificate, patterns: Any, kept: np.ndarray | None) -> None:
    if claim.upper == np.inf:
        return
    if claim.slack_vector is not None:
        found = slack_bound(patterns, np.asarray(claim.slack_vector, dtype=np.float64), slack=1.0)
        judge.settle("upper", found <= claim.upper, f"{claim.upper:.6g}, the slacks of a vector give {found:.6g}")
        return
    if claim.alpha is None or claim.alpha_index is None:
        judge.settle("upper", None, f"{claim.upper:.6g} comes without multipliers")
        return
    index, alpha = np.asarray(claim.alpha_index), np.asarray(claim.alpha, dtype=np.float64)
    if len(index) != len(alpha) or len(np.unique(index)) != len(index) or not _take_part(index, kept, patterns):
        judge.settle("upper", False, "the multipliers do not belong to distinct rows that take part")
        return
    if not (np.all(np.isfinite(alpha)) and np.all(alpha >= 0) and alpha.sum() > 0):
        judge.settle("upper", False, "the multipliers are not non-negative numbers with a positive sum")
        return
    if not patterns.definite:
        judge.settle("upper", patterns.definite, "the kernel is not known to be positive semi-definite on these rows")
        return
    found = upper_bound(patterns, _places(index, kept), alpha, slack=1.0)
    judge.settle("upper", found <= claim.upper, f"{claim.upper:.6g}, the multipliers give {found:.6g}")


def _check_separable(judge: _Judge, claim: Certificate, patterns: Any, kept: np.ndarray | None, exact: bool) -> None:
    if claim.separable is None:
        return
    found = -np.inf if claim.direction is None else plain_margin(patterns, claim.direction, slack=1.0)
    if claim.separable is False and found > 0:
        judge.settle("not separable", False, f"the direction separates, with margin {found:.6g}")
    elif claim.separable and claim.direction is not None:
        holds = found > 0 or (exact and separates_exactly(patterns, claim.direction))
        judge.settle("separable", holds, f"the direction has margin {found:.6g}")
    elif claim.separable is False and claim.alpha_index is not None:
        index = np.asarray(claim.alpha_index)
        if len(index) > LARGEST_SYSTEM:
            judge.settle("not separable", None, f"{len(index)} rows are too many for rational arithmetic")
            return
        solution = None
        if _take_part(index, kept, patterns):
            solution = vanishing_combination(patterns.dense_rows(_places(index, kept)))
        why = "a combination of these rows" if solution is not None else "no combination of these rows"
        judge.settle("not separable", solution is not None, f"{why} with non-negative weights vanishes, exactly")
    else:
        judge.settle("separable", None, f"{claim.separable} comes without a witness")
