"""The space in which separators live: augmented by rho, reflected by the labels, extended by Delta.

A pattern is ``y_k = l_k (x_k, rho)`` with a label l_k = -1 or +1; a vector ``a`` separates if ``a.y_k > 0`` for all k.
The extension adds one dimension of size Delta per pattern (CRAMMA section 4). None of this is ever materialised:
this module holds the vectors' side of it, `separatrix.passes.plain_patterns` the data's side.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.linalg.blas import ddot

from separatrix.errors import DataError

Vector = NDArray[np.float64]
SIGN_OF = np.zeros(128, np.int8)  # what a character of `Space.signs` stands for
SIGN_OF[ord("+")], SIGN_OF[ord("-")] = 1, -1


def default_errstate() -> np.errstate:
    """What numpy does about overflow and underflow by default. It decorates every way in: what a caller has set, such
    as ``np.errstate(all="raise")``, is for the caller's arithmetic; ours looks at its results."""
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


def norm(v: Vector) -> float:
    """|v|, also where squares would overflow or vanish: a bound made of such squares would be false."""
    square = ddot(v, v) if len(v) else 0.0  # of BLAS itself: numpy's looks for overflow, and to stop it takes longer
    if 1e-200 < square < 1e200:
        return math.sqrt(square)
    peak = float(np.abs(v).max(initial=0.0))
    if not 0 < peak < np.inf:
        return peak
    exponent = int(np.frexp(peak)[1])  # scaling by powers of two changes no bit of the result
    with np.errstate(over="ignore"):
        return float(np.ldexp(np.linalg.norm(np.ldexp(v, -exponent)), exponent))


def is_finite(v: Vector) -> bool:
    """Are all of these numbers finite? Their squares tell at once, where these do not overflow."""
    return not len(v) or math.isfinite(ddot(v, v)) or bool(np.isfinite(v).all())


def per_length(value: float, length: float) -> float:
    """value / length, also for a length of 0: infinite, or nan for 0/0."""
    return value / length if length else value * math.inf


def symmetric(lower: NDArray[np.float64]) -> NDArray[np.float64]:
    """A symmetric matrix from its lower triangle."""
    strict = np.tril(lower, -1)
    whole = strict + strict.T
    np.fill_diagonal(whole, lower.diagonal())
    return whole


class Space(NamedTuple):
    """Describe the space in which margins are measured.

    Attributes
    ----------
    rho : float
        Constant coordinate of the intercept; 0 is a hyperplane through the origin.
    delta : float
        Size of the extension; 0 is the hard margin.
    free : bool
        The intercept is unpenalized, so the margin is the geometric one.
    weighted : bool
        A row of weight c has the extension delta/sqrt(c): its slack costs c times as much.
    hinge : float
        C of the hinge loss; 0 with squared hinge loss or without slack.
    fixed_length : bool
        With delta > 0: the objective is that of the vector itself, with C = 1/(2 delta^2), not of its best multiple.
        With hinge loss this is always so.
    signs : str
        Constraints on coefficients, a character per column: "+" for w_j >= 0, "-" for w_j <= 0, "0" for none; empty
        without constraints. The intercept is never constrained.
    l1 : bool
        The penalty is sum |a_i|, without an unpenalized intercept, and not |a|^2/2.

    Notes
    -----
    With a finite C, a vector a has the margin (2 P)^(-1/2) with P(a) = |a|^2/2 + C sum c_k loss(max(0, 1 - a.y_k)). It
    is the hard margin if no row needs slack.
    """

    rho: float = 1.0
    delta: float = 0.0
    free: bool = False
    weighted: bool = False
    hinge: float = 0.0
    fixed_length: bool = False
    signs: str = ""
    l1: bool = False

    @property
    def counts_length(self) -> bool:
        """Does what a vector reaches depend on its length?"""
        return self.hinge > 0 or (self.fixed_length and self.delta > 0)

    def join(self, coef: ArrayLike, intercept: float = 0.0) -> Vector:
        """The augmented vector ``a`` of a hyperplane: ``a.(x, rho) = coef.x + intercept``."""
        w = np.asarray(coef, dtype=np.float64).ravel()
        if self.rho == 0 and intercept != 0:
            raise ValueError("A space without bias (rho = 0) has no hyperplane with an intercept other than 0.")
        return np.append(w, intercept / self.rho if self.rho else 0.0)

    def split(self, a: Vector) -> tuple[Vector, float]:
        """The way back: ``coef`` and ``intercept`` of the augmented vector ``a``."""
        return np.array(a[:-1], dtype=np.float64), float(a[-1] * self.rho)

    def length(self, a: Vector) -> float:
        """|a| as this space measures it, without the extension."""
        return norm(a[:-1] if self.free else a)

    def column_signs(self) -> NDArray[np.int8]:
        """Return +1, -1 or 0 for each column, and 0 for the bias."""
        return np.append(SIGN_OF[np.frombuffer(self.signs.encode(), np.uint8)], np.int8(0))

    def project(self, v: Vector) -> Vector:
        """Return the vector of the cone that is nearest to v.

        For a in the cone a.v <= a.project(v), and |project(v)| is the largest a.v of a unit vector in the cone
        (Moreau): bounds made of combinations of patterns hold with the projected combination.
        """
        return np.where(self.column_signs() * v < 0.0, 0.0, v) if self.signs else v

    def holds(self, a: Vector) -> bool:
        """Does a vector lie in the cone?"""
        return not self.signs or bool(np.all(self.column_signs() * a >= 0.0))

    def bound_length(self, combination: Vector) -> float:
        """Return the largest a.v of a unit vector a of the cone, v being a combination of patterns."""
        return self.length(self.project(combination))

    def describe(self) -> str:
        bias = "unpenalized intercept" if self.free else (f"rho = {self.rho:g}" if self.rho else "no intercept")
        bias += ", l1 penalty" if self.l1 else ""
        bias += ", sign constraints" if self.signs else ""
        if self.hinge:
            return f"{bias}, hinge loss, C = {self.hinge:g}"
        return f"{bias}, Delta = {self.delta:g}" if self.delta else bias


def signs(y: ArrayLike) -> Vector:
    """Labels -1 and +1: of two values, the larger one is +1."""
    y = np.asarray(y)
    values = np.unique(y)
    if len(values) != 2:
        raise DataError(
            f"A margin needs labels of exactly 2 classes; these have {len(values)}. Of several classes each problem "
            "has a certificate of its own: model.certificates_[k].verify(X, y == model.classes_[k])."
        )
    return np.where(y == values[1], 1.0, -1.0)


def design_matrix(X: Any, y: ArrayLike, rho: float = 1.0) -> Any:
    """Return the matrix Y whose rows are the patterns ``l_k (x_k, rho)``: augmented and reflected rows.

    A vector ``a`` separates if every entry of ``Y @ a`` is positive; ``a`` of a fitted model is ``coef_[0]`` followed
    by ``intercept_[0] / rho``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The rows. Sparse rows give a CSR matrix; ``float32`` stays ``float32``.
    y : array-like of shape (n,)
        Labels of two classes. The larger label has l_k = +1, so that labels 1 and 2 give -1 times the Y of a book
        that reflects the second class.
    rho : float, default=1.0
        The augmenting constant, ``intercept_scaling`` of the estimators. 0 leaves the last column out.

    Returns
    -------
    ndarray or csr_matrix of shape (n, d + 1), or (n, d) for rho = 0

    Examples
    --------
    >>> from separatrix.theory import design_matrix
    >>> design_matrix([[1.0, 2.0], [3.0, 1.0]], ["b", "a"])
    array([[ 1.,  2.,  1.],
           [-3., -1., -1.]])
    """
    kept: Any = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if kept.ndim != 2 or kept.dtype.kind not in "fiub":
        raise DataError(f"design_matrix: X must be a matrix of numbers (got {kept.ndim}-d, {kept.dtype}). Reshape X.")
    labels = signs(y)
    if labels.shape != kept.shape[:1]:
        raise DataError(
            f"design_matrix: X has {kept.shape[0]} rows and y has shape {labels.shape}. Give one label for each row."
        )
    if not (math.isfinite(rho) and rho >= 0):
        raise ValueError(f"design_matrix: rho must be finite and not negative (got {rho!r}). Use 1, or 0 for no bias.")
    kind = kept.dtype if kept.dtype.kind == "f" else np.dtype(np.float64)
    column = labels[:, None].astype(kind)
    if not sparse.issparse(kept):
        return column * np.column_stack([kept.astype(kind), np.full(len(kept), rho, dtype=kind)][: 2 if rho else 1])
    reflected = sparse.csr_array(kept.astype(kind).multiply(column))
    whole = sparse.hstack([reflected, sparse.csr_array(column * kind.type(rho))]) if rho else reflected
    return sparse.csr_matrix(whole) if isinstance(X, sparse.spmatrix) else sparse.csr_array(whole)


def slacks(margins: Vector, gamma: float) -> Vector:
    """d_i = max(0, gamma - u.y_i) (CRAMMA theorem 2)."""
    return np.maximum(0.0, gamma - margins)


def objective(margins: Vector, gamma: float, delta: float | Vector) -> float:
    """J = 1/gamma^2 + (D/gamma)^2/Delta^2 (CRAMMA eq. 20); J^(-1/2) <= Gamma_opt for every u and gamma.

    A gamma so small that its square vanishes gives inf, which proves nothing.
    """
    with np.errstate(over="ignore"):
        d = slacks(margins, gamma) / gamma / delta  # in this order a huge gamma overflows nothing
        return float(np.float64(1.0 / gamma) ** 2 + (d * d).sum())


def best_gamma(margins: Vector, delta: float | Vector) -> float:
    """The gamma that minimises J for this direction; inf where the direction is worth nothing.

    ``delta`` may differ from pattern to pattern.

    With s = 1/gamma, J = s^2 + sum max(0, 1 - s m_i)^2 / Delta^2 is convex and piecewise quadratic in s; Newton's
    steps on its increasing derivative end on the right piece. s = 0 gives eq. 27, Gamma >= Delta / sqrt(m).
    """
    linear = margins * np.asarray(delta, dtype=np.float64) ** -2.0
    square = margins * linear
    s, low, high = 0.0, 0.0, np.inf
    slack = np.empty_like(margins)
    for _ in range(200):
        np.multiply(margins, -s, out=slack)
        slack += 1.0
        np.maximum(slack, 0.0, out=slack)
        slope, curvature = s - float(linear.dot(slack)), 1.0 + float(square.dot(slack > 0.0))
        low, high = (s, high) if slope < 0 else (low, s)
        following = s - slope / curvature
        if not low <= following <= high:
            following = 2.0 * s if np.isinf(high) else (low + high) / 2.0
        if abs(following - s) <= 1e-15 * max(following, s):
            break
        s = following
    return 1.0 / s if s > 0 else np.inf


class SoftMeasures(NamedTuple):
    """What CRAMMA section 5 reports of a solution in the extended space."""

    gamma: float  # Gamma |a^ext| / |a|
    D: float
    D_prime: float
    J: float
    deviation: float  # (D' - D)/D, which estimates the relative deviation of Gamma from its optimum


def soft_measures(a: Vector, alpha: Vector, margins: Vector, delta: float) -> SoftMeasures:
    """D, D', J and (D' - D)/D of ``a = sum alpha_k y_k`` (CRAMMA eqs. 20-27).

    ``margins`` are those of a itself, a.y_k, in the space without the extension.
    """
    length = float(np.linalg.norm(a))
    d_prime = delta**2 * alpha / length
    D_prime = float(np.linalg.norm(d_prime))
    gamma = float(np.min(margins / length + d_prime))
    D = float(np.linalg.norm(slacks(margins / length, gamma)))
    J = objective(margins / length, gamma, delta)
    return SoftMeasures(gamma, D, D_prime, J, (D_prime - D) / D if D > 0 else np.inf)
