"""Kernels K(x, z) = phi(x).phi(z): a class each, with its values, and what is known of them whatever the data.

A kernel of one's own is a function, given to an estimator. One more by name is a class here and its name in `FORMS`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.passes.patterns import EPS
from separatrix.space import Vector

Matrix = Any  # dense or CSR, n rows


class Kernel(NamedTuple):
    """A kernel's name, or a function of two matrices, and its parameters; the class of that name does the work."""

    name: str | Callable = "rbf"
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0

    @property
    def form(self) -> "Form":
        form = Own if callable(self.name) else FORMS.get(self.name)
        if form is None:
            raise DataError(f"There is no kernel {self.name!r}; there are {', '.join(FORMS)}, and functions.")
        return form(self)

    def values(self, A: Matrix, B: Matrix, squares: Vector | None = None) -> NDArray[np.float64]:
        """K of each row of A with each row of B; ``squares`` are those of B, where they are at hand."""
        return self.form.values(A, B, squares)

    def diagonal(self, A: Matrix, points: Matrix = None) -> Vector:
        """K(x, x) of each row."""
        return self.form.diagonal(A, points)

    @property
    def mercer(self) -> bool:
        """Is it known to be an inner product, whatever the data?"""
        return self.form.mercer()

    def rounding(self, largest: float, width: int, peak: float = 0.0) -> float:
        """How far two ways of computing a value may differ, rows being of a squared length up to ``largest`` and values
        up to ``peak``."""
        return self.form.rounding(largest, (width + 4) * EPS * largest, peak)


class Form:
    """What a kernel computes; ``p`` are its parameters."""

    def __init__(self, p: Kernel):
        self.p = p

    def mercer(self) -> bool:
        return False

    def points(self, matrix: Matrix, columns: np.ndarray | None) -> Matrix:
        """What ``values`` takes for A: the rows themselves, unless a kernel knows them in another way."""
        return matrix

    def values(self, A: Matrix, B: Matrix, squares: Vector | None) -> NDArray[np.float64]:
        raise NotImplementedError

    def diagonal(self, A: Matrix, points: Matrix) -> Vector:
        raise NotImplementedError

    def rounding(self, largest: float, slip: float, peak: float) -> float:
        """``slip``: how far two ways of computing x.z may differ."""
        raise NotImplementedError


class OfProduct(Form):
    """A function of x.z."""

    def of(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def values(self, A: Matrix, B: Matrix, squares: Vector | None) -> NDArray[np.float64]:
        return self.of(dense(A @ B.T))

    def diagonal(self, A: Matrix, points: Matrix) -> Vector:
        return self.of(squared_lengths(A))

    def argument(self, largest: float, slip: float) -> tuple[float, float]:
        """|gamma x.z + coef0| at most, and how far two ways of computing it may differ."""
        base = abs(self.p.gamma) * largest + abs(self.p.coef0)
        return base, abs(self.p.gamma) * slip + 2.0 * EPS * base


class Linear(OfProduct):
    """x.z."""

    def mercer(self) -> bool:
        return True

    def of(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        return products

    def rounding(self, largest: float, slip: float, peak: float) -> float:
        return slip


class Sigmoid(OfProduct):
    """tanh(gamma x.z + coef0)."""

    def of(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.tanh(self.p.gamma * products + self.p.coef0)

    def rounding(self, largest: float, slip: float, peak: float) -> float:
        return self.argument(largest, slip)[1] + 4.0 * EPS


class Polynomial(OfProduct):
    """(gamma x.z + coef0)^degree."""

    def mercer(self) -> bool:
        return float(self.p.degree).is_integer() and min(self.p.degree, self.p.gamma, self.p.coef0) >= 0

    def of(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        argument, degree = self.p.gamma * products + self.p.coef0, self.p.degree
        smallest = float(argument.min(initial=0.0))
        if smallest < 0 and not float(degree).is_integer():
            raise DataError(
                f"gamma x.z + coef0 is {smallest:.3g} for some rows, and a negative number has no power of "
                f"{degree:g}: use an integer for degree, or a larger coef0."
            )
        return argument**degree

    def rounding(self, largest: float, slip: float, peak: float) -> float:
        (base, slip), degree = self.argument(largest, slip), self.p.degree
        if degree < 1:  # |s^p - t^p| <= |s - t|^p: near 0 a root is as steep as can be
            return (slip**degree if degree > 0 else 0.0) + 4.0 * EPS * max(base, 1.0)
        return degree * base ** (degree - 1.0) * slip + 4.0 * EPS * base**degree


class Gaussian(Form):
    """exp(-gamma |x - z|^2)."""

    def mercer(self) -> bool:
        return self.p.gamma >= 0

    def values(self, A: Matrix, B: Matrix, squares: Vector | None) -> NDArray[np.float64]:
        out = dense((A * (2.0 * self.p.gamma)) @ B.T)
        out -= self.p.gamma * squared_lengths(A)[:, None]
        out -= self.p.gamma * (squared_lengths(B) if squares is None else squares)
        np.minimum(out, 0.0, out=out)
        return np.exp(out, out=out)

    def diagonal(self, A: Matrix, points: Matrix) -> Vector:
        return np.ones(A.shape[0])

    def rounding(self, largest: float, slip: float, peak: float) -> float:
        return 4.0 * abs(self.p.gamma) * slip + 4.0 * EPS


class Precomputed(Form):
    """The rows hold their inner products; a point is the number of its column."""

    def points(self, matrix: Matrix, columns: np.ndarray | None) -> Matrix:
        return columns

    def values(self, A: np.ndarray, B: Matrix, squares: Vector | None) -> NDArray[np.float64]:
        return np.ascontiguousarray(dense(B[:, A]).T)

    def diagonal(self, A: Matrix, points: np.ndarray) -> Vector:
        return np.array(A[np.arange(A.shape[0]), points], dtype=np.float64).ravel()

    def rounding(self, largest: float, slip: float, peak: float) -> float:
        return 4.0 * EPS * peak


class Own(Form):
    """A function of two matrices."""

    rounding = Precomputed.rounding

    def values(self, A: Matrix, B: Matrix, squares: Vector | None) -> NDArray[np.float64]:
        assert callable(self.p.name)
        out = dense(self.p.name(A, B))
        if out.shape != (A.shape[0], B.shape[0]):
            raise DataError(
                f"The kernel gave a matrix of shape {out.shape} for {A.shape[0]} and {B.shape[0]} rows: it has to "
                "take two matrices and return the inner products of their rows."
            )
        if not np.all(np.isfinite(out)):
            raise DataError("The kernel returned a value that is not finite. Standardize the features, or fix it.")
        return out

    def diagonal(self, A: Matrix, points: Matrix) -> Vector:
        step = max(1, min(1000, A.shape[0]))
        blocks = (A[i : i + step] for i in range(0, A.shape[0], step))
        return np.concatenate([np.diag(self.values(block, block, None)) for block in blocks])


FORMS: dict[str, type[Form]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": Gaussian,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}


def dense(products: Any) -> NDArray[np.float64]:
    return np.asarray(products.toarray() if sp.issparse(products) else products, dtype=np.float64)


def squared_lengths(A: Matrix) -> Vector:
    squares = A.multiply(A).sum(axis=1) if sp.issparse(A) else np.einsum("ij,ij->i", A, A)
    return np.asarray(squares, dtype=np.float64).ravel()
