"""The patterns of hyperplanes, from rows of this process: single passes with bounds on their rounding errors."""

from collections.abc import Callable
from functools import cached_property, reduce
from typing import Any

import numpy as np

from separatrix.data.base import RowSource
from separatrix.data.memory import MemoryRows, frozen
from separatrix.passes import compiled as passes
from separatrix.passes.patterns import PassedPatterns
from separatrix.passes.row_products import LONG_SUM, RowProducts
from separatrix.passes.slack_pass import slack_pass
from separatrix.passes.summaries import (
    NEAR,
    Columns,
    Combination,
    Extremes,
    Moments,
    Piece,
    Shape,
    Sides,
    Slope,
    Smallest,
    k_smallest,
)
from separatrix.space import Space, Vector, norm, per_length

SHARED = {"squares", "prices"}  # numbers of the rows that do not depend on labels and space


class Patterns(RowProducts):
    """Patterns ``y_k = l_k (x_k, rho)``, extended by delta, that are only ever passed over.

    ``X``: dense or CSR, float32 or float64, or `MemoryRows` or what these hold. ``labels``: -1.0 or +1.0. ``weight``:
    sample weights, which matter in a weighted space.
    """

    def __init__(self, X: Any, labels: Vector, space: Space, weight: Vector | None = None):
        self.home = X if isinstance(X, MemoryRows) else MemoryRows(X)
        self.labels = frozen(np.ascontiguousarray(labels, dtype=np.float64))
        self.space = space
        self.weight = weight

    @property
    def delta(self) -> float | Vector:
        """The extension: one number, or one per row where the space is weighted."""
        return self.space.delta if self.weight is None or not self.space.weighted else self._deltas

    @cached_property
    def _deltas(self) -> Vector:
        assert self.weight is not None
        return self.space.delta / np.sqrt(self.weight)

    def in_space(self, space: Space) -> "Patterns":
        return self._sharing(Patterns(self.home, self.labels, space, self.weight))

    def relabelled(self, labels: Vector) -> "Patterns":
        """The same rows with other labels; what does not depend on labels is not computed again."""
        return self._sharing(Patterns(self.home, labels, self.space, self.weight))

    def _sharing(self, other: "Patterns") -> "Patterns":
        for name in SHARED & vars(self).keys():
            setattr(other, name, getattr(self, name))
        return other

    def through(self, wrap: Callable[[RowSource], RowSource]) -> PassedPatterns:
        home = MemoryRows(self.rows, (self.labels > 0).astype(np.int64), self.weight, classes=np.arange(2))
        return PassedPatterns(wrap(home), 1, self.space)

    def sample(self, rows: np.ndarray) -> "Patterns":
        weight = None if self.weight is None else self.weight[rows]
        return Patterns(self.home.take(rows), self.labels[rows], self.space, weight)

    def few(self, index: np.ndarray) -> tuple["Patterns", np.ndarray]:
        return self, index

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def d(self) -> int:
        return self.home.width

    @property
    def rows_in_all(self) -> int:
        return self.home.n

    def in_all_columns(self, a: Vector) -> Vector:
        if self.home.columns is None:
            return a
        return self.home.in_all_columns(a.reshape(-1, self.home.width + 1)).ravel()

    def in_these_columns(self, a: Vector) -> Vector:
        if self.home.columns is None:
            return a
        return self.home.in_these_columns(a.reshape(-1, self.home.data_width + 1)).ravel()

    # Passes, block by block.

    def _pass(self, name: str, *args: Any) -> Any:
        if len(self.home.borders) == 1 or not self.explicit:
            return getattr(self, name)(0, *args)
        return self.home.run(lambda block: getattr(self._of_block(block), name)(self._first(block), *args))

    def _first(self, block: MemoryRows) -> int:
        return block.first - self.home.first

    def _of_block(self, block: MemoryRows) -> "Patterns":
        rows = slice(self._first(block), self._first(block) + block.n)
        other = Patterns(block, self.labels[rows], self.space, None if self.weight is None else self.weight[rows])
        other.long_sums = self.block_rows == LONG_SUM
        for name in SHARED & vars(self).keys():
            setattr(other, name, getattr(self, name)[rows])
        return other

    def shape_of_block(self, first: int) -> Shape:
        squares, norms2 = self.squares, self.norms2
        finite = np.isfinite(norms2)
        bad = -1 if finite.all() else first + int(np.flatnonzero(~finite)[0])
        return Shape(
            self.n,
            float(self.prices.sum()),
            float(norms2.max(initial=0.0)),
            float(squares.max(initial=0.0)),
            float(squares.sum()),
            self.home.longest,
            bad,
        )

    def extremes_of_block(self, first: int, a: Vector, k: int) -> Extremes:
        return _extremes(self.margins(a), k, first)

    def sides_of_block(self, first: int, a: Vector, k: int) -> Sides:
        m = self.margins(a)
        plus, minus = np.flatnonzero(self.labels > 0), np.flatnonzero(self.labels < 0)
        return Sides(_extremes(m[plus], k, first, plus), _extremes(m[minus], k, first, minus))

    def piece_of_block(self, first: int, a: Vector, hessian: bool) -> Piece:
        if not hessian:
            return self._sums_of_slack(a)
        step, rows = self._rows_in_cache(), self.home.n
        if self.sparse or rows <= step:
            return self._piece(a, hessian)
        parts = (self._of_block(self.home.part(i, min(i + step, rows))) for i in range(0, rows, step))
        return reduce(Piece.merge, (part._piece(a, hessian) for part in parts))

    def _sums_of_slack(self, a: Vector) -> Piece:
        """The piece without its Hessian: each row is read once."""
        a, pull = np.ascontiguousarray(a, dtype=np.float64), np.zeros(self.d + 1)
        squares, slack, active, smallest, near = slack_pass()(
            self.rows, self.labels, self.space.rho, self.prices, a, 1.0 + NEAR, self.block_rows, pull
        )
        return Piece(squares, slack, pull, np.zeros((0, 0)), active, smallest, near)

    def _piece(self, a: Vector, hessian: bool) -> Piece:
        m = self.margins(a)
        index = np.flatnonzero(m < 1.0)
        s, c = 1.0 - m[index], self.prices[index]
        cs = c * s
        matrix = self.outer_products(index, c) if hessian else np.zeros((0, 0))
        pull, smallest = self.combine(index, cs), float(m.min(initial=np.inf))
        near = float(self.prices[m < 1.0 + NEAR].sum())
        return Piece(float(cs @ s), float(cs.sum()), pull, matrix, len(index), smallest, near)

    def slope_of_block(self, first: int, a: Vector, criterion: Any, hessian: bool) -> Slope:
        m, c = self.margins(a), self.prices
        pull = -c * criterion.slopes(m, self.norms2)
        rows = np.flatnonzero(pull)
        matrix = np.zeros((0, 0))
        if hessian:
            bends = c * criterion.curvatures(m, self.norms2)
            matrix = self.outer_products(np.flatnonzero(bends), bends[bends != 0])
        value, smallest = float(np.sum(c * criterion.losses(m, self.norms2))), float(m.min(initial=np.inf))
        return Slope(value, self.combine(rows, pull[rows]), float(pull.sum()), matrix, smallest)

    def moments_of_block(self, first: int, codes: np.ndarray, classes: int) -> Moments:
        """Of the rows themselves, whatever their labels here."""
        members = [np.flatnonzero(codes == k) for k in range(classes)]
        signed = self.prices * self.labels
        return Moments(
            np.array([len(rows) for rows in members]),
            np.array([self.prices[rows].sum() for rows in members]),
            np.array([self.combine(rows, signed[rows]) for rows in members]),
            self.outer_products(np.arange(self.n), self.prices),
        )

    def distance_of_block(self, first: int, a: Vector) -> Smallest:
        return Smallest(self.distance(a))

    def sum_of_block(self, first: int) -> Combination:
        return Combination(self.combine(np.arange(self.n), np.ones(self.n)), float(self.n))

    def columns_of_block(self, first: int) -> Columns:
        return Columns(self.home.n, *self.home.column_extremes())

    # Prices of slack, and the multipliers that they allow.

    @cached_property
    def prices(self) -> Vector:
        """The factor on each pattern's squared slack."""
        return np.ones(self.n) if self.weight is None else self.weight

    @cached_property
    def caps(self) -> Vector:
        """The largest multipliers C c_k in a space with plain slack, rounded down: proofs rest on alpha <= C c."""
        caps = self.space.hinge * self.prices
        return frozen(caps if self.weight is None else np.where(self.prices == 1.0, caps, np.nextafter(caps, 0.0)))

    def paid_slack(self, slacks: Vector) -> float:
        """sum c_k xi_k of plain slack, one for each row."""
        return float(self.prices @ slacks)

    def room(self, index: np.ndarray, alpha: Vector) -> float:
        """The largest multiple of positive multipliers that plain slack allows: alpha_k <= C c_k."""
        return float((self.caps[index] / alpha).min(initial=np.inf))

    def capped(self, index: np.ndarray, alpha: Vector) -> Vector:
        """Multipliers that rounding may have lifted above their caps, put back."""
        return np.minimum(alpha, self.caps[index])

    def keeps_caps(self, index: np.ndarray, alpha: Vector) -> bool:
        return bool((alpha <= self.caps[index]).all())

    # Sizes and margins.

    @cached_property
    def squares(self) -> Vector:
        """|x_k|^2."""
        return squares_of(self.home)

    @cached_property
    def norms2(self) -> Vector:
        """|y_k|^2 in this space."""
        with np.errstate(over="ignore"):  # of a row of a tiny weight, and inf is refused
            return frozen(self.squares + ((0.0 if self.space.free else self.space.rho**2) + self.delta**2))

    @property
    def row_norms2(self) -> Vector:
        """|y|^2 of the patterns of each row of the data, of which there may be several."""
        return self.norms2

    @cached_property
    def radius2(self) -> float:
        if isinstance(self.delta, float) and type(self) is Patterns:  # rounding is monotone: the same bits
            return self.largest_square + ((0.0 if self.space.free else self.space.rho**2) + self.delta**2)
        return float(self.row_norms2.max(initial=0.0))

    @cached_property
    def largest_square(self) -> float:
        return float(self.squares.max(initial=0.0))

    @cached_property
    def mean_square(self) -> float:
        return float(self.squares.sum()) / max(self.n, 1)

    @property
    def longest_row(self) -> int:
        return self.home.longest

    def peak(self) -> float:
        """max |y_ki|, the radius that matters to Winnow."""
        out = np.empty(self.home.n)
        passes.peaks()(self.rows, out)
        return max(float(out.max(initial=0.0)), self.space.rho)

    def extremes(self, a: Vector, k: int) -> Extremes:
        return _extremes(self.margins(a), k)

    def smallest(self, a: Vector) -> float:
        return float(self.margins(a).min(initial=np.inf))

    def distance(self, a: Vector, margins: Vector | None = None) -> float:
        """The geometric margin: the smallest distance from the hyperplane, negative for an error."""
        margins = self.margins(a) if margins is None else margins
        return per_length(float(margins.min()), norm(a[:-1]))

    def errors(self, a: Vector) -> int:
        """Rows that are not on their side."""
        return int(np.count_nonzero(~(self.margins(a) > 0)))


def squares_of(home: MemoryRows) -> Vector:
    """|x_k|^2, as a sum of squares: exact on integers, where ties at a threshold matter. Not finite where a value
    of the row is not."""
    out = np.empty(home.n)
    squares = passes.squares()
    with np.errstate(over="ignore", invalid="ignore"):
        if home.threads == 1:
            squares(home.storage, out)
        else:
            home.each_block(lambda i, j: squares(home.part(i, j).storage, out[i:j]))
    return frozen(out)


def _extremes(m: Vector, k: int, first: int = 0, numbers: np.ndarray | None = None) -> Extremes:
    """The k smallest of some margins: those of the patterns from ``first`` on, or of ``numbers`` among them."""
    places = k_smallest(m, k)
    errors = int(np.count_nonzero(~(m > 0)))
    chosen = places if numbers is None else numbers[places]
    return Extremes(float(m.min(initial=np.inf)), errors, chosen + first, m[places], k)
