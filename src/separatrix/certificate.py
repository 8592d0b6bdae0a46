"""What a fit proves: a margin that is reached, a bound on the best one, and whether a hyperplane separates at all.

For any ``alpha >= 0``, not all zero, and ``a = sum alpha_k y_k``, every unit vector u has
``|a| >= u.a = sum alpha_k u.y_k >= (min_k u.y_k) sum alpha_k``. Hence

    lower = min_k u.y_k  <=  gamma_d  <=  |a| / sum alpha_k = upper.

Nothing here trusts a solver: both bounds are computed in float64 from data, a direction and multipliers, and rounded
outwards by bounds on their rounding errors, so ``lower <= upper`` always and `verify` can repeat the proof.
"""

from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.errors import DataError
from separatrix.exact import LARGEST_SYSTEM, product_sign, vanishing_combination
from separatrix.gram import Kernel, KernelPatterns
from separatrix.kesler import KeslerPatterns
from separatrix.patterns import EPS, Patterns, as_rows, check_structure
from separatrix.space import Space, Vector, best_gamma, norm, objective, signs
from separatrix.theory import Theory

# A certificate claims its bounds with this many times the rounding error, `verify` asks for once: a proof survives
# another order of summation.
SLACK = 2.0
MOST_DOUBTFUL = 1000  # rows that are settled in rationals


@dataclass(frozen=True, eq=False)
class Certificate:
    """A claim about the maximum margin of labelled data, with what it takes to check it.

    ``lower``: a margin that ``direction`` reaches, None where it has not been measured. With ``space.delta`` > 0 it is
    J^(-1/2), minimised over gamma (CRAMMA eq. 20). ``upper``: no direction has a larger one; inf where nothing bounds
    it. ``separable``: True if a hyperplane of the unextended space is proved to separate, False if it is proved that
    none does, None if undecided. ``radius``: R = max |y_k|. ``direction``: the augmented vector (w, b/rho).
    ``alpha_index``, ``alpha``: rows and their multipliers, whose combination gives ``upper``; None where they were not
    kept. ``sample_weight``: rows of weight 0 do not take part; margins are never weighted. ``categories``: 2 for a
    hyperplane; for a linear machine their number c, and then all this is said in Kesler's space: the direction holds
    the c vectors one after the other, and pattern k (c - 1) + r is row k against the r-th of its rivals.
    ``between``: the labels of the two classes of which it speaks where there are more; other rows do not take part.
    ``kernel``: the inner product, where it is not that of the features; then the direction holds the multiples of the
    rows that take part, and a bias. ``upper`` is inf where it is not known to be an inner product on these rows.
    ``theory``: what a theorem promised of the fit, beside what happened; None where none applies: after `partial_fit`
    or a resumed fit, with weights other than 1, from a start of one's own, for machines and kernels, and for several
    classes together (``certificates_[k].theory`` has it of each).
    """

    lower: float | None
    upper: float
    separable: bool | None
    space: Space
    radius: float
    direction: Vector | None = field(default=None, repr=False)
    alpha_index: np.ndarray | None = field(default=None, repr=False)
    alpha: Vector | None = field(default=None, repr=False)
    sample_weight: Vector | None = field(default=None, repr=False)
    categories: int = 2
    between: tuple[Any, Any] | None = None
    kernel: Kernel | None = None
    theory: Theory | None = field(default=None, repr=False)

    @property
    def ratio(self) -> float | None:
        """lower / upper: the fraction of the best margin that is certainly reached."""
        if self.lower is None:
            return None
        if self.upper == 0:
            return 1.0 if self.lower == 0 else -np.inf
        return self.lower / self.upper

    @property
    def gap(self) -> float | None:
        """1 - (lower/upper)^2, the relative duality gap; 1 where the direction separates nothing."""
        ratio = self.ratio
        return None if ratio is None else 1.0 - max(ratio, 0.0) ** 2

    def __str__(self) -> str:
        verdict = {True: "separable", False: "not separable", None: "separability undecided"}[self.separable]
        lower = "not measured" if self.lower is None else f"{self.lower:.6g}"
        bound = "nothing bounds the best one" if np.isinf(self.upper) else f"no margin above {self.upper:.6g} exists"
        reached = ""
        if self.ratio is not None and self.ratio > 0:
            reached = f", at least {100 * self.ratio:.2f}% of the best"
        where = f", {self.categories} categories by one machine" if self.categories > 2 else ""
        return f"{verdict}: margin {lower}{reached}; {bound} ({self.space.describe()}{where})"

    def _repr_html_(self) -> str:
        """The bounds as a scale from 0 to the upper one, for notebooks."""
        share = 100.0 * max(self.ratio or 0.0, 0.0)
        words = str(self).replace("&", "&amp;").replace("<", "&lt;")
        return (
            '<div style="font-family:sans-serif;font-size:.9em;margin:.4em 0;max-width:36em"><div>'
            f"{words}</div>"
            '<div style="border:1px solid #777;height:.6em;margin-top:.2em" title="certified share of the best margin">'
            f'<div style="background:#0072B2;height:100%;width:{share:.1f}%"></div></div></div>'
        )

    def verify(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, exact: bool = False
    ) -> "Verification":
        """Recompute every claim from the data alone.

        ``y`` has two values, of which the larger is the positive class, or as many as the machine has categories.
        Rows of weight 0 are left out: those of ``sample_weight``, or of the certificate's own weights if it is None. A
        claim that no hyperplane separates is always checked in rational arithmetic; with ``exact`` a claim that one
        does is too, for the rows that floating point with its error bound cannot settle.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
        >>> certificate = Perceptron().fit(X, y).certificate_
        >>> print(certificate.verify(X, y))  # doctest: +ELLIPSIS
        holds: lower (...); upper (...); separable (...); radius (...)
        """
        return Verification.of(self, X, y, sample_weight, exact)


@dataclass(frozen=True)
class Verification:
    """The outcome of `Certificate.verify`: true if every claim was checked and none failed."""

    checked: tuple[str, ...]
    failed: tuple[str, ...]
    unchecked: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.checked) and not self.failed and not self.unchecked

    def __str__(self) -> str:
        parts = [("FAILS", self.failed), ("holds", self.checked), ("not checkable", self.unchecked)]
        return ". ".join(f"{word}: {'; '.join(claims)}" for word, claims in parts if claims)

    @classmethod
    def of(
        cls, claim: Certificate, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, exact: bool
    ) -> "Verification":
        patterns, kept = _patterns_of(claim, X, y, sample_weight)
        judge = _Judge()
        _check_lower(judge, claim, patterns)
        _check_upper(judge, claim, patterns, kept)
        _check_separable(judge, claim, patterns, kept, exact)
        if claim.lower is not None and claim.lower > claim.upper:
            judge.settle("lower <= upper", False, f"{claim.lower:.6g} > {claim.upper:.6g}")
        radius_holds = abs(claim.radius - patterns.radius) <= 1e-12 * patterns.radius
        judge.settle("radius", radius_holds, f"R = {patterns.radius:.6g}, claimed {claim.radius:.6g}")
        return cls(tuple(judge.checked), tuple(judge.failed), tuple(judge.unchecked))


class _Judge:
    def __init__(self) -> None:
        self.checked: list[str] = []
        self.failed: list[str] = []
        self.unchecked: list[str] = []

    def settle(self, name: str, holds: bool | None, why: str) -> None:
        place = {True: self.checked, False: self.failed, None: self.unchecked}[None if holds is None else bool(holds)]
        place.append(f"{name} ({why})")


def _patterns_of(
    claim: Certificate, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Patterns, np.ndarray]:
    """The patterns that take part, and their numbers in X."""
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


def _check_lower(judge: _Judge, claim: Certificate, patterns: Patterns) -> None:
    if claim.lower is None:
        return
    if claim.direction is None:
        judge.settle("lower", None, f"{claim.lower:.6g} comes without a direction")
        return
    found = lower_bound(patterns, claim.direction, slack=1.0)
    judge.settle("lower", claim.lower <= found, f"{claim.lower:.6g}, the direction reaches {found:.6g}")


def _check_upper(judge: _Judge, claim: Certificate, patterns: Patterns, kept: np.ndarray) -> None:
    if claim.upper == np.inf:
        return
    if claim.alpha is None or claim.alpha_index is None:
        judge.settle("upper", None, f"{claim.upper:.6g} comes without multipliers")
        return
    index, alpha = np.asarray(claim.alpha_index), np.asarray(claim.alpha, dtype=np.float64)
    if len(index) != len(alpha) or len(np.unique(index)) != len(index) or not np.all(np.isin(index, kept)):
        judge.settle("upper", False, "the multipliers do not belong to distinct rows that take part")
        return
    if not (np.all(np.isfinite(alpha)) and np.all(alpha >= 0) and alpha.sum() > 0):
        judge.settle("upper", False, "the multipliers are not non-negative numbers with a positive sum")
        return
    if not patterns.definite:
        judge.settle("upper", patterns.definite, "the kernel is not known to be positive semi-definite on these rows")
        return
    found = upper_bound(patterns, np.searchsorted(kept, index), alpha, slack=1.0)
    judge.settle("upper", found <= claim.upper, f"{claim.upper:.6g}, the multipliers give {found:.6g}")


def _check_separable(judge: _Judge, claim: Certificate, patterns: Patterns, kept: np.ndarray, exact: bool) -> None:
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
        if np.all(np.isin(index, kept)):
            solution = vanishing_combination(patterns.dense_rows(np.searchsorted(kept, index)))
        why = "a combination of these rows" if solution is not None else "no combination of these rows"
        judge.settle("not separable", solution is not None, f"{why} with non-negative weights vanishes, exactly")
    else:
        judge.settle("separable", None, f"{claim.separable} comes without a witness")


def separates_exactly(patterns: Patterns, a: Vector) -> bool:
    """Is every a.y_k > 0? In floating point where its error bound allows, else in rationals."""
    margins, error = patterns.margins(a), patterns.margin_error(a)
    if margins.min() < -error:
        return False
    doubtful = np.flatnonzero(margins <= error)
    if len(doubtful) > (MOST_DOUBTFUL if patterns.explicit else 0):
        return False
    return all(product_sign(row, a) > 0 for i in doubtful for row in patterns.dense_rows(np.array([i])))


def plain_margin(patterns: Patterns, a: Vector, slack: float = SLACK, margins: Vector | None = None) -> float:
    """A certain lower bound on min_k u.y_k in the unextended space, u = a/|a|."""
    a = patterns.unit(a) if margins is None else a
    if not np.all(np.isfinite(a)):
        return -np.inf
    smallest = float((patterns.margins(a) if margins is None else margins).min()) - slack * patterns.margin_error(a)
    shortest, longest = patterns.length_range(a)
    if shortest == 0:
        return -patterns.radius  # no direction at all: what every unit vector reaches
    return _down(smallest / (longest if smallest > 0 else shortest), slack, len(a))


def lower_bound(patterns: Patterns, a: Vector, slack: float = SLACK, margins: Vector | None = None) -> float:
    """A certain lower bound on the margin of a in its space: min u.y, or J^(-1/2) where the space is extended."""
    a = patterns.unit(a) if margins is None else a
    delta = patterns.delta
    if patterns.space.delta == 0 or not np.all(np.isfinite(a)):
        return plain_margin(patterns, a, slack, margins)
    shortest, longest = patterns.length_range(a)
    if longest == 0:  # only a free bias is left, which costs nothing
        slacks = 1.0 - (patterns.margins(a) if patterns.space.free else 0.0) + slack * patterns.margin_error(a)
        return _down(np.sum((np.maximum(slacks, 0.0) / delta) ** 2 * np.ones(patterns.n)) ** -0.5, slack, patterns.n)
    m = (patterns.margins(a) if margins is None else margins) - slack * patterns.margin_error(a)
    m = np.where(m > 0, m / longest, m / max(shortest, np.finfo(np.float64).tiny))
    gamma = best_gamma(m, delta)
    J = objective(m, gamma, delta) if np.isfinite(gamma) else np.sum(np.broadcast_to(delta, patterns.n) ** -2.0)
    with_slack = 1.0 / np.sqrt(J * (1.0 + slack * (patterns.n + 8) * EPS))
    # without slack gamma = min m and J = gamma^-2
    return _down(max(float(with_slack), float(m.min())), slack, len(a))


def upper_bound(patterns: Patterns, index: np.ndarray, alpha: Vector, slack: float = SLACK) -> float:
    """A certain upper bound on the best margin: |sum alpha_k y_k^ext| / sum alpha_k, inf without multipliers."""
    largest = float(alpha.max(initial=0.0))
    if not (0 < largest < np.inf and patterns.definite):
        return np.inf
    alpha = np.ldexp(alpha, -int(np.frexp(largest)[1]))  # the bound does not depend on the scale, its squares do
    total = float(alpha.sum())
    a = patterns.combine(index, alpha)
    delta = np.broadcast_to(patterns.delta, patterns.n)[index]
    error = slack * patterns.combination_error(alpha)
    length = float(np.hypot(patterns.length(a) * (1.0 + slack * len(a) * EPS) + error, norm(delta * alpha)))
    if patterns.space.free:
        # sum alpha_k l_k ought to be 0; what is left of it meets a bias of at most R + margin per unit of length.
        length += slack * abs(fsum(alpha * patterns.labels[index])) * (patterns.radius + length / total)
    rounding = slack * (len(alpha) + 8) * EPS
    return float(length / total * (1.0 + rounding))


def _down(value: float, slack: float, terms: int) -> float:
    """Rounded down by the relative error of a norm of so many terms, and of what else was computed with it."""
    return float(value - (terms + 4.0) * slack * EPS * abs(value))


def certify(
    patterns: Patterns,
    direction: Vector,
    alpha: Vector | None,
    *,
    predicts: bool = True,
    kept: np.ndarray | None = None,
    sample_weight: Vector | None = None,
    margins: Vector | None = None,
) -> Certificate:
    """The certificate of a fitted direction and of the multipliers behind it, None where there are none.

    ``predicts``: whether the direction is what predicts; otherwise it only witnesses separability. ``kept``: the
    numbers of the rows in the user's data. ``margins``: those of the direction's unit vector, where they are at hand.
    """
    direction = patterns.unit(direction)
    if margins is None:
        margins = patterns.margins(direction)
    index, upper = None, np.inf
    if alpha is not None and np.all(np.isfinite(alpha)) and np.all(alpha >= 0):
        index = np.flatnonzero(alpha)
        alpha = np.array(alpha[index])
        upper = upper_bound(patterns, index, alpha)
    if np.isinf(upper):
        index = alpha = None
    elif kept is not None:
        index = patterns.numbering(kept)[index]
    return Certificate(
        lower=lower_bound(patterns, direction, margins=margins) if predicts else None,
        upper=upper,
        separable=True if plain_margin(patterns, direction, margins=margins) > 0 else None,
        space=patterns.space,
        radius=patterns.radius,
        direction=direction,
        alpha_index=index,
        alpha=alpha,
        sample_weight=sample_weight,
        categories=patterns.categories,
        kernel=patterns.kernel if isinstance(patterns, KernelPatterns) else None,
    )
