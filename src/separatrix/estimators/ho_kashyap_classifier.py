"""The Ho-Kashyap procedures: squared error with margins that are found together with the vector (DHS 5.9)."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from functools import partial
from numbers import Real
from typing import Annotated, Any

import numpy as np
import scipy.linalg as la

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import separates
from separatrix.certificates.certify_with_search import certify_with_search
from separatrix.errors import DataError
from separatrix.fit.batch import IterativeClassifier, Outcome, row_values
from separatrix.fit.checkpointed import Checkpoint
from separatrix.fit.declare import NOT_NEGATIVE, POSITIVE, estimator, one_of
from separatrix.fit.recipe import POWERS, rate_function
from separatrix.fit.result import Result, each
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import ho_kashyap
from separatrix.solvers.factor import PseudoInverse
from separatrix.space import Vector


@estimator
class HoKashyap(ClassWeightMixin, IterativeClassifier):
    """Ho-Kashyap: squared error whose targets b > 0 move too, so that it decides separability.

    Where that stays undecided, it takes 10 to 20 times as long as scikit-learn's LinearSVC. It is two points less
    accurate in the mean over eight data sets, and 13 points on 145 rows with 60 columns.

    ``e = Y a - b``, ``b += eta (e + |e|)``, ``a = Y^dagger b`` (``"standard"``). ``"modified"``, written as
    ``a += eta Y^dagger |e|``, is the same iteration and the same code. ``"descent"`` needs no pseudo-inverse:
    ``b += e + |e|``, ``a += eta R Y^t |e|``, for data with many columns; it is slower to decide. Y is factorised once,
    by its shorter side; an iteration costs about two products with Y.

    It ends in one of three ways, ``outcome_``: "separable", ``a`` is the solution; "not separable", with the
    multipliers of patterns that combine to 0 (Gordan) in the certificate, found near -e (or |e|) and checked exactly,
    or, where there are too many rows for that, at the tolerance of `separability`; "undecided" after ``max_iter``.

    out-of-core rows (`separatrix.data`) are taken by ``"descent"``, which then lets b be the best one for each
    a, ``b = max(margin, Y a)``, instead of a step towards it: |e|^2 is the quadratic criterion.

    A sample weight c is the same as c copies.

    Parameters
    ----------
    margin : float or array-like of shape (n,), default=1.0
        The first b, positive.
    eta : float, "1/k", callable, "optimal" or "auto", default="auto"
        The rate: 0 < eta < 1 for the first two variants, and 0.9 if "auto". For ``"descent"`` "optimal" (and "auto") is
        the step that lowers |e| most; a constant one has to stay below 2/lambda_max(R Y^t Y).
    R : array-like of shape (d + 1, d + 1) or None, default=None
        For ``"descent"``: a symmetric positive definite matrix, in the coordinates (w, bias/rho), without the last row
        and column if there is no bias; None is the identity.
    bound_tol : float, default=1e-9
        A bound on the margin below ``bound_tol`` R is taken as evidence against separability, and a proof is tried.
    b_min : float or None, default=None
        None ends with the first a that separates. A number goes on until |e| is that small too, as algorithm 11 is
        printed: the targets b are then nearly met.

    Attributes
    ----------
    {attributes}
    outcome_ : {"separable", "not separable", "undecided"}
        Of several problems: "separable" if all are, "not separable" if one is proved not to be; ``outcomes_`` has each.
    margin_vector_ : ndarray
        The last b, of the rows that take part; a list of them if there are several problems. None where rows live
        elsewhere: there ``b = max(margin, Y a)`` is not kept.

    See Also
    --------
    LeastSquares : Targets that stay as they are.
    LinearProgram : Decides separability by a linear program.
    separability : Decides it in exact arithmetic.

    References
    ----------
    Ho & Kashyap (1965); Duda, Hart & Stork, algorithms 11 and 12, eqs. 88-95.

    Examples
    --------
    >>> from separatrix import HoKashyap
    >>> X = [[1.0, 2.0], [2.0, -4.0], [-3.0, -1.0], [2.0, 4.0], [-1.0, -5.0], [5.0, 0.0]]
    >>> model = HoKashyap().fit(X, [1, 1, 1, 2, 2, 2])  # DHS problem 25
    >>> model.outcome_, bool(model.certificate_.verify(X, [1, 1, 1, 2, 2, 2]))
    ('not separable', True)
    """

    variant: Annotated[str, one_of("standard", "modified", "descent"), "The form of the iteration."] = "standard"
    eta: Annotated[float | str | Callable, POSITIVE, one_of("auto", "optimal", *POWERS)] = "auto"
    R: Annotated[Any, "array-like", None] = None
    margin: Annotated[Any, POSITIVE, "array-like"] = 1.0
    bound_tol: Annotated[float, NOT_NEGATIVE] = 1e-9
    b_min: Annotated[float | None, POSITIVE] = None
    _: KW_ONLY
    checkpoint: Checkpoint = None

    _accepts_row_sources = True
    _joins = {**IterativeClassifier._joins, "margin_vector_": each}

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        R, rate = self._matrix(patterns[0]), self._rate()
        b_min, tol = np.inf if self.b_min is None else float(self.b_min), float(self.bound_tol)
        options: list[dict[str, Any]] = [
            {"tol": tol, "b_min": b_min, "separates": partial(separates, p), "refuted": _Refutation(p)}
            for p in patterns
        ]
        if not data.here:
            if self.variant != "descent" or np.ndim(self.margin):
                raise DataError(
                    'For out-of-core rows no b of each is kept: use variant="descent" and one number as margin.'
                )
            return [
                ho_kashyap.PassedHoKashyap(p, float(self.margin), rate, R, start, **option)
                for p, start, option in zip(patterns, starts, options, strict=True)
            ]
        b = row_values(self.margin, "margin", data)
        if self.variant == "descent":
            return [
                ho_kashyap.HoKashyapDescent(p, data.weight, b, rate, R, start, **option)
                for p, start, option in zip(patterns, starts, options, strict=True)
            ]
        if any(start is not None for start in starts):
            raise ValueError(f'variant={self.variant!r} starts at Y^dagger b; only "descent" takes a coef_init.')
        inverse = PseudoInverse(patterns[0], data.weight)
        return [
            ho_kashyap.HoKashyap(p, data.weight, b, rate, inverse.relabelled(p), **option)
            for p, option in zip(patterns, options, strict=True)
        ]

    def _rate(self) -> Any:
        """eta(k); None for the step that lowers |e| most, which "descent" alone has."""
        named = self.eta if isinstance(self.eta, str) else None
        if self.variant == "descent":
            return None if named in ("auto", "optimal") else rate_function(self.eta)
        too_large = isinstance(self.eta, Real) and self.eta >= 1
        if named in ("optimal", "k") or too_large:
            raise ValueError(f'eta={self.eta!r}: variant={self.variant!r} needs 0 < eta < 1, "descent" takes others.')
        return _at_most_one(rate_function(0.9 if named == "auto" else self.eta))

    def _matrix(self, patterns: Patterns) -> np.ndarray | None:
        """R in all d + 1 coordinates."""
        if self.R is None:
            return None
        if self.variant != "descent":
            raise ValueError('R belongs to variant="descent".')
        R = np.asarray(self.R, dtype=np.float64)
        width = patterns.d + (1 if patterns.space.rho else 0)
        if R.shape != (width, width) or not np.all(np.isfinite(R)):
            raise DataError(f"R has shape {R.shape}; expected finite numbers of shape {(width, width)}.")
        if not np.allclose(R, R.T, rtol=1e-10, atol=0.0) or la.eigvalsh(R)[0] <= 0:
            raise DataError("R must be symmetric and positive definite.")
        full = np.zeros((patterns.d + 1, patterns.d + 1))
        full[:width, :width] = R
        return full

    def _ended(self, reason: str, certificate: Certificate) -> str:
        return "converged" if reason == "max_iter" and _outcome(certificate) != "undecided" else reason

    def _own(self, outcome: Outcome, certificate: Certificate, data: Data) -> dict[str, Any]:
        return {"margin_vector_": outcome.solver.b if data.here else None}

    def _attributes(self, results: list[Result], data: Data) -> dict[str, Any]:
        found = super()._attributes(results, data)
        outcomes = [_outcome(c) for c in found["certificates_"]]
        return {**found, "outcomes_": outcomes, "outcome_": _outcome_of_all(outcomes)}


def _at_most_one(rate: Callable[[int], float]) -> Callable[[int], float]:
    """A rate of algorithm 11, checked: |e| falls for 0 < eta < 1 and does not grow at 1, where 1/k begins."""

    def eta(k: int) -> float:
        value = rate(k)
        if not 0 < value <= 1:
            raise ValueError(f"eta({k}) = {value:g}: Ho-Kashyap needs 0 < eta < 1 (DHS algorithm 11).")
        return value

    return eta


class _Refutation:
    """Looks for an exact proof near the multipliers of an iteration."""

    def __init__(self, patterns: Patterns):
        self.patterns = patterns

    def __call__(self, a: Vector, alpha: Vector) -> bool:
        return certify_with_search(self.patterns, a, alpha).separable is False


def _outcome(certificate: Certificate) -> str:
    if certificate.separable is not None:
        return "separable" if certificate.separable else "not separable"
    return "undecided"


def _outcome_of_all(outcomes: list[str]) -> str:
    if "not separable" in outcomes:
        return "not separable"
    return "undecided" if "undecided" in outcomes else "separable"
