"""What one pass over rows may return: summaries whose size does not depend on the number of rows, and how they merge.

The functions that make them of a block stand with the patterns (`separatrix.passes`): what a margin is depends on the
space in which rows are seen.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Shape(NamedTuple):
    """Sizes: number of patterns, sum of their weights, max |y|^2, max |x|^2, sum |x|^2, the most values in a row, and
    the number of the first pattern whose squares are not finite, or -1."""

    n: int
    weight: float
    radius2: float
    largest: float
    total: float
    longest: int
    bad: int

    def merge(self, other: "Shape") -> "Shape":
        return Shape(
            self.n + other.n,
            self.weight + other.weight,
            float(np.maximum(self.radius2, other.radius2)),  # NaN stays
            float(np.maximum(self.largest, other.largest)),
            self.total + other.total,
            max(self.longest, other.longest),
            self.bad if self.bad >= 0 else other.bad,
        )


class Smallest(NamedTuple):
    """The smallest of a number that every row has."""

    value: float

    def merge(self, other: "Smallest") -> "Smallest":
        return Smallest(min(self.value, other.value))


class Extremes(NamedTuple):
    """The smallest margins: the minimum, how many are not positive, and the k patterns with the smallest ones."""

    minimum: float
    errors: int
    numbers: np.ndarray
    margins: Vector
    k: int

    def merge(self, other: "Extremes") -> "Extremes":
        numbers, margins = np.append(self.numbers, other.numbers), np.append(self.margins, other.margins)
        best = k_smallest(margins, self.k)
        return Extremes(
            min(self.minimum, other.minimum), self.errors + other.errors, numbers[best], margins[best], self.k
        )


class Sides(NamedTuple):
    """The same of the two classes apart, where a bias is free."""

    positive: Extremes
    negative: Extremes

    def merge(self, other: "Sides") -> "Sides":
        return Sides(self.positive.merge(other.positive), self.negative.merge(other.negative))


class Combination(NamedTuple):
    """sum alpha_k y_k with multipliers that are a function of the row, and sum alpha_k."""

    vector: Vector
    total: float

    def merge(self, other: "Combination") -> "Combination":
        return Combination(self.vector + other.vector, self.total + other.total)


NEAR = 1e-6  # beyond what an error of a margin may be


class Piece(NamedTuple):
    """The piece of a soft margin's criterion at a vector: over the patterns with slack s = 1 - a.y > 0 the sums of
    c s^2, c s, c s y and c y y^t (its lower triangle; empty where it was not asked for), their number, and the smallest
    margin. ``near``: the sum of c over all whose slack may be positive, with errors of up to NEAR; inf: unknown."""

    squares: float
    slack: float
    pull: Vector
    matrix: NDArray[np.float64]
    active: int
    minimum: float
    near: float = np.inf

    def merge(self, other: "Piece") -> "Piece":
        return Piece(
            self.squares + other.squares,
            self.slack + other.slack,
            self.pull + other.pull,
            self.matrix + other.matrix,
            self.active + other.active,
            min(self.minimum, other.minimum),
            self.near + other.near,
        )


class Criterion(Protocol):
    """phi(m) of margins m, its slopes and curvatures; ``norms2``: |y|^2."""

    def losses(self, m: Vector, norms2: Vector) -> Vector: ...

    def slopes(self, m: Vector, norms2: Vector) -> Vector: ...

    def curvatures(self, m: Vector, norms2: Vector) -> Vector: ...


class Slope(NamedTuple):
    """A criterion J = sum c phi(a.y) at a vector: its value; -grad J = sum c |phi'| y, and the sum of the c |phi'|; the
    lower triangle of its Hessian (empty where it was not asked for); and the smallest margin."""

    value: float
    downhill: Vector
    pull: float
    matrix: NDArray[np.float64]
    minimum: float

    def merge(self, other: "Slope") -> "Slope":
        return Slope(
            self.value + other.value,
            self.downhill + other.downhill,
            self.pull + other.pull,
            self.matrix + other.matrix,
            min(self.minimum, other.minimum),
        )


class Moments(NamedTuple):
    """Of rows z = (x, rho): for each class its rows, the sum of their weights c and of c z; of all the lower triangle
    of sum c z z^t. What least squares needs, for every class against the rest and every target that classes tell."""

    rows: np.ndarray
    weights: Vector
    sums: NDArray[np.float64]
    matrix: NDArray[np.float64]

    def merge(self, other: "Moments") -> "Moments":
        return Moments(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Mixture(NamedTuple):
    """Of runs of a rule over blocks, for each problem: the sums of their vectors and of their multipliers, corrections,
    and the blocks that needed one; rows and blocks in all."""

    vectors: NDArray[np.float64]
    totals: Vector
    updates: np.ndarray
    fresh: np.ndarray
    rows: int
    blocks: int

    def merge(self, other: "Mixture") -> "Mixture":
        return Mixture(
            self.vectors + other.vectors,
            self.totals + other.totals,
            self.updates + other.updates,
            self.fresh + other.fresh,
            self.rows + other.rows,
            self.blocks + other.blocks,
        )


class Standing(NamedTuple):
    """Where a run over blocks in order stands: of each problem whether this epoch has corrected it, how it ended, and
    the arrays of its state."""

    fresh: np.ndarray
    reasons: list[str]
    arrays: list[np.ndarray]


class Spread(NamedTuple):
    """Of columns: number of rows, means, and sums of squared differences from these (Chan, Golub & LeVeque 1979)."""

    n: int
    mean: Vector
    squares: Vector

    def merge(self, other: "Spread") -> "Spread":
        n = self.n + other.n
        apart, share = other.mean - self.mean, other.n / max(n, 1)
        return Spread(n, self.mean + share * apart, self.squares + other.squares + apart * apart * (self.n * share))


class Columns(NamedTuple):
    """Sums and extremes of the columns."""

    n: int
    total: Vector
    smallest: Vector
    largest: Vector

    def merge(self, other: "Columns") -> "Columns":
        return Columns(
            self.n + other.n,
            self.total + other.total,
            np.minimum(self.smallest, other.smallest),
            np.maximum(self.largest, other.largest),
        )


class Both(NamedTuple):
    """Two summaries of one pass."""

    first: Any
    second: Any

    def merge(self, other: "Both") -> "Both":
        return Both(self.first.merge(other.first), self.second.merge(other.second))


def k_smallest(values: Vector, k: int) -> np.ndarray:
    """Places of the k smallest values, found by a threshold: partitioning a million numbers costs a pass."""
    if len(values) <= k:
        return np.arange(len(values))
    places, v = None, values
    if len(values) > 50 * k:
        sample = values[:: max(1, len(values) // 20_000)]
        rank = min(len(sample) - 1, int(2.0 * k * len(sample) / len(values)) + 2)
        below = np.flatnonzero(values <= np.partition(sample, rank)[rank])
        if len(below) >= k:
            places, v = below, values[below]
    chosen = np.argpartition(v, k - 1)[:k] if len(v) > k else np.arange(len(v))
    return np.sort(chosen if places is None else places[chosen])
