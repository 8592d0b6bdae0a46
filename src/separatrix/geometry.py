"""Surfaces that discriminants draw: the hyperplane (DHS 5.2.1), and the quadrics (eq. 4 and problem 11)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.errors import DataError
from separatrix.space import Space, Vector, signs
from separatrix.space import norm as length

Matrix = NDArray[Any]


@dataclass(frozen=True)
class Hyperplane:
    """The hyperplane ``w.x + b = 0`` (DHS 5.2.1).

    Attributes
    ----------
    w : ndarray
        Normal vector.
    b : float
        Intercept.
    exact : tuple or None
        (w, b) as fractions, if no floats classify all rows correctly; ``w`` and ``b`` are rounded then.

    Examples
    --------
    >>> plane = Hyperplane([3.0, 4.0], -5.0)
    >>> plane.signed_distance([[3.0, 4.0], [0.0, 0.0]])
    array([ 4., -1.])
    >>> plane.project([[3.0, 4.0]])
    array([[0.6, 0.8]])
    """

    w: Any
    b: float = 0.0
    exact: tuple[Fraction, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        w = np.array(self.w, dtype=np.float64).ravel()
        if not np.all(np.isfinite(w)) or not np.any(w):
            raise ValueError("A hyperplane needs a finite normal vector w other than 0.")
        object.__setattr__(self, "w", w)

    @classmethod
    def from_fractions(cls, a: Sequence[Fraction]) -> "Hyperplane":
        """Return the hyperplane of ``(w, b)`` given as fractions, which are kept; the floats are those of a multiple.

        >>> from fractions import Fraction
        >>> Hyperplane.from_fractions([Fraction(1, 3), Fraction(-2, 3)]).w
        array([0.33333333])
        """
        largest = max(abs(x) for x in a)
        scale = 1 if 2**-500 < largest < 2**500 else largest
        *w, b = (float(x / scale) for x in a)
        return cls(w, b, tuple(a))

    def signed_distance(self, X: Any) -> Vector:
        """(w.x + b) / |w|: positive on the side to which w points."""
        return (np.asarray(_rows(X) @ self.w, dtype=np.float64) + self.b) / np.linalg.norm(self.w)

    def radius(self, X: Any, norm: float = 2) -> Vector:
        """Return how far each row may move before it is on the hyperplane, in the norm 2, 1 or inf.

        >>> Hyperplane([3.0, 4.0], -5.0).radius([[3.0, 4.0]], norm=float("inf"))
        array([2.85714286])
        """
        scores = np.asarray(_rows(X) @ self.w, dtype=np.float64) + self.b
        return np.abs(scores) / dual_lengths(self.w[None], norm)[0]

    def project(self, X: ArrayLike) -> NDArray[np.float64]:
        """The nearest point of the hyperplane to each row (DHS problem 3): ``x - g(x) w/|w|^2``."""
        X = np.asarray(X, dtype=np.float64)
        g = X @ self.w + self.b
        return X - np.outer(g / (self.w @ self.w), self.w)

    def geometric_margin(self, X: Any, y: ArrayLike) -> float:
        """min_k l_k (w.x_k + b) / |w|."""
        return float(np.min(signs(y) * self.signed_distance(X)))

    def directional_margin(self, X: Any, y: ArrayLike, intercept_scaling: float = 1.0) -> float:
        """min_k u.y_k with u the unit vector of (w, b/intercept_scaling) in the augmented space."""
        a = Space(intercept_scaling).join(self.w, self.b)
        return self.geometric_margin(X, y) * float(np.linalg.norm(self.w) / np.linalg.norm(a))


def dual_lengths(W: NDArray[np.float64], norm: float) -> Vector:
    """Return by how much each row w of W changes w.x at most, if x moves by 1 in this norm."""
    if norm not in (1, 2, np.inf):
        raise ValueError(f"norm={norm!r} must be 1, 2 or inf (numpy.inf).")
    if norm == 1:
        return np.abs(W).max(axis=1)
    return np.abs(W).sum(axis=1) if norm == np.inf else np.array([length(w) for w in W])


def _rows(X: Any) -> Any:
    return X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)


class Quadric(NamedTuple):
    """Describe the surface ``x.W.x + w.x + w0 = 0``.

    Attributes
    ----------
    kind : str
        "hypersphere", "hyperellipsoid", "hyperhyperboloid", "hyperplane" (W = 0), "empty" (no real point), or without a
        scaled matrix "degenerate" (a cone or a point) and "hyperparaboloid or cylinder" (W is singular).
    scaled : ndarray or None
        W / (w.W^-1.w/4 - w0). Its eigenvalues are 1/r^2 with r the semi-axes.
    centre : ndarray or None
        -W^-1 w/2.
    eigenvalues : ndarray
        Eigenvalues of W, ascending.
    """

    kind: str
    scaled: Matrix | None
    centre: Matrix | None
    eigenvalues: Matrix

    def __str__(self) -> str:
        return self.kind


def quadric(W: ArrayLike, w: ArrayLike, w0: float = 0.0) -> Quadric:
    """Tell the kind of the surface ``x.W.x + w.x + w0 = 0``.

    With the axes moved to the centre it is ``z.Wbar.z = 1``, Wbar = W / (w.W^-1.w/4 - w0): a hypersphere if Wbar is a
    positive multiple of the identity, a hyperellipsoid if it is positive definite, a hyperhyperboloid if it has
    eigenvalues of both signs. (The book's Wbar is W / (w.W^-1.w - 4 w0), a quarter of this one.) Without a real point
    the surface is empty.

    Parameters
    ----------
    W : array-like of shape (d, d)
        The quadratic part; only its symmetric part counts.
    w : array-like of shape (d,)
        The linear part.
    w0 : float, default=0.0
        The constant.

    Returns
    -------
    Quadric

    Examples
    --------
    >>> from separatrix.theory import quadric
    >>> print(quadric([[1, 0], [0, 1]], [-2, 0], -3))  # (x - 1)^2 + y^2 = 4
    hypersphere
    >>> print(quadric([[1, 2, 0], [2, 5, 1], [0, 1, -3]], [5, 2, -3]))  # problem 11 d
    hyperhyperboloid
    >>> print(quadric([[1, 2, 3], [2, 0, 4], [3, 4, -5]], [2, -1, 3]))  # problem 11 e
    hyperhyperboloid
    """
    W, w = _checked(W, w)
    if not np.isfinite(w0):
        raise DataError(f"w0 = {w0!r} must be finite.")
    values = np.linalg.eigvalsh(W)
    size = float(np.abs(values).max(initial=0.0))
    if size == 0:
        return Quadric("hyperplane" if np.any(w) else "empty" if w0 else "degenerate", None, None, values)
    if np.abs(values).min() <= 1e-12 * size:
        return Quadric("hyperparaboloid or cylinder", None, None, values)
    half = np.linalg.solve(W, w) / 2.0
    level = float(w @ half) / 2.0 - float(w0)
    if abs(level) <= 1e-12 * (abs(float(w @ half)) / 2.0 + abs(float(w0))):
        return Quadric("degenerate", None, -half, values)
    scaled = W / level
    radii = values / level
    if radii.max() < 0:
        kind = "empty"
    elif radii.min() < 0:
        kind = "hyperhyperboloid"
    else:
        kind = "hypersphere" if radii.max() - radii.min() <= 1e-9 * radii.max() else "hyperellipsoid"
    return Quadric(kind, scaled, -half, values)


def _checked(W: Any, w: Any) -> tuple[Matrix, Matrix]:
    W, w = np.asarray(W, dtype=np.float64), np.asarray(w, dtype=np.float64).ravel()
    if W.ndim != 2 or W.shape != (len(w), len(w)) or len(w) == 0:
        raise DataError(
            f"W has shape {W.shape} and w has {len(w)} numbers: W has to be square and as wide as w is long."
        )
    if not (np.all(np.isfinite(W)) and np.all(np.isfinite(w))):
        raise DataError("W and w must be finite.")
    return (W + W.T) / 2.0, w
