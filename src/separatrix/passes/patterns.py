"""Patterns as solvers and certificates see them: seen through a space, wherever their rows live.

Everything here is a pass that returns a summary (`separatrix.passes.summaries`), or a few rows brought here. Subclasses
say what the patterns of a row are: one of a hyperplane (`plain_patterns`), several of a linear machine
(`kesler_patterns`), or those of a kernel (`kernel_patterns`). `PassedPatterns` are those of rows that live elsewhere.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.data.base import RowSource
from separatrix.data.device import DeviceRows
from separatrix.data.memory import MemoryRows
from separatrix.passes.compiled import BLOCK
from separatrix.passes.on_device import Block
from separatrix.passes.summaries import Both, Columns, Combination, Extremes, Moments, Piece, Shape, Sides, Slope
from separatrix.space import Space, Vector, norm, per_length

if TYPE_CHECKING:
    from separatrix.passes.plain_patterns import Patterns

EPS = float(np.finfo(np.float64).eps)
TINY = np.finfo(np.float64).tiny


class PatternSet(ABC):
    """Patterns ``y_k`` with a margin ``a.y_k``; ``d`` is one less than the length of a vector ``a``."""

    space: Space
    n_classes = 2
    explicit = True  # a pattern can be written out as a row of numbers
    here = True  # rows live in this process: a number per row may be kept

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of patterns."""

    @property
    @abstractmethod
    def d(self) -> int: ...

    @property
    def block_rows(self) -> int:
        """Rows summed before they enter a total."""
        return BLOCK

    @property
    def features(self) -> int:
        """Number of columns of the data."""
        return self.d

    @property
    @abstractmethod
    def rows_in_all(self) -> int:
        """Number of rows; each may stand for several patterns."""

    @abstractmethod
    def through(self, wrap: Callable[[RowSource], RowSource]) -> "PassedPatterns":
        """The patterns of the same rows in another home, which is made of theirs."""

    @abstractmethod
    def in_space(self, space: Space) -> Any:
        """The same patterns in another space."""

    @abstractmethod
    def sample(self, rows: np.ndarray) -> "Patterns":
        """The patterns of some rows, brought here."""

    # Passes: each is a method of the patterns of a block, called with the number of the block's first pattern.

    @abstractmethod
    def _pass(self, name: str, *args: Any) -> Any:
        """Run a method of every block's patterns and merge what comes back in the order of the blocks."""

    @cached_property
    def shape(self) -> Shape:
        return self._pass("shape_of_block")

    def extremes(self, a: Vector, k: int) -> Extremes:
        """The smallest margins, and the numbers of the k patterns that have them."""
        return self._pass("extremes_of_block", np.ascontiguousarray(a, dtype=np.float64), k)

    def sides(self, a: Vector, k: int) -> Sides:
        """The same of the two classes apart."""
        return self._pass("sides_of_block", np.ascontiguousarray(a, dtype=np.float64), k)

    def smallest(self, a: Vector) -> float:
        """min a.y_k, without the extension."""
        return self.extremes(a, 1).minimum

    def piece(self, a: Vector, hessian: bool = True) -> Piece:
        """Value, gradient and Hessian of the criterion of a soft margin."""
        return self._pass("piece_of_block", np.ascontiguousarray(a, dtype=np.float64), hessian)

    def slope(self, a: Vector, criterion: Any, hessian: bool = False) -> Slope:
        """Value, gradient and, where asked for, Hessian of a criterion of `separatrix.theory`."""
        return self._pass("slope_of_block", np.ascontiguousarray(a, dtype=np.float64), criterion, hessian)

    def sum(self) -> Combination:
        """sum y_k, and their number."""
        return self._pass("sum_of_block")

    def column_range(self) -> Columns:
        """Sums and extremes of the columns of the data."""
        return self._pass("columns_of_block")

    # Sizes, and what they say of rounding errors.

    @cached_property
    def radius2(self) -> float:
        """R^2 = max |y_k|^2."""
        return float(self.shape.radius2)

    @property
    def radius(self) -> float:
        return math.sqrt(self.radius2)

    @property
    def weight_in_all(self) -> float:
        """sum c_k."""
        return self.shape.weight

    @property
    def mean_square(self) -> float:
        """The mean of |x|^2 over the patterns."""
        return self.shape.total / max(self.n, 1)

    @property
    def largest_square(self) -> float:
        """max |x|^2."""
        return self.shape.largest

    @property
    def longest_row(self) -> int:
        """The most values in a row."""
        return self.shape.longest

    def margin_error(self, a: Vector) -> float:
        """A bound on the rounding error of each margin, gamma_k (|x| |w| + rho |b|), for any order of sums."""
        values = self.longest_row
        longest = max(math.sqrt(self.largest_square), 2e-154 * math.sqrt(values))  # underflow
        size = float(longest * norm(a[:-1]) + self.space.rho * abs(a[-1]))
        return (values + 4) * EPS * size + TINY

    def combination_error(self, alpha: Vector) -> float:
        """A bound on the norm of the rounding error of `combine` for ``alpha >= 0``."""
        depth = min(len(alpha), self.block_rows) + len(alpha) / self.block_rows + 4
        return depth * EPS * self.radius * float(alpha.sum()) + TINY

    # Vectors of this space.

    @property
    def definite(self) -> bool | None:
        """Is |u|.|a| >= u.a here, so that multipliers bound margins? None: nobody knows."""
        return True

    def length(self, a: Vector) -> float:
        """|a| in this space, without the extension, rounded up where it is uncertain."""
        return self.space.length(a)

    def length_range(self, a: Vector, slack: float = 1.0) -> tuple[float, float]:
        """Between which numbers |a| lies, where it is uncertain by more than a norm's rounding errors."""
        length = self.length(a)
        return length, length

    def unit(self, a: Vector) -> Vector:
        """a / |a|, whatever the size of a; a itself where it has no direction."""
        length = self.length(a)
        if 1e-100 < length < 1e100:
            return a / length
        peak = float(np.abs(a[:-1] if self.space.free else a).max(initial=0.0))
        if not 0 < peak < np.inf:
            return a
        with np.errstate(over="ignore"):  # of a free bias: such a vector proves nothing
            a = np.ldexp(a, -math.frexp(peak)[1])  # a power of two: no bit is lost, and squares stay in range
            length = self.length(a)
            return a / length if length > 0 else a

    def measured(self, a: Vector) -> Vector:
        """The multiple of a that certificates speak of: the unit vector, or a itself where its length counts."""
        return a if self.space.counts_length else self.unit(a)

    def in_all_columns(self, a: Vector) -> Vector:
        """A vector of these patterns as one of the data, where empty columns were left out."""
        return a

    def in_these_columns(self, a: Vector) -> Vector:
        """The way back."""
        return a

    # A few patterns.

    @abstractmethod
    def few(self, index: np.ndarray) -> tuple["Patterns", np.ndarray]:
        """Patterns of this process among which some of these are, and their numbers there."""

    def combine(self, index: np.ndarray, alpha: Vector) -> Vector:
        """sum alpha_k y_{i_k}, without the extension."""
        here, index = self.few(index)
        return here.combine(index, alpha)

    def dense_rows(self, index: np.ndarray) -> NDArray[np.float64]:
        """Some patterns, (k, d + 1), written out."""
        here, index = self.few(index)
        return here.dense_rows(index)

    def narrow_rows(self, index: np.ndarray) -> tuple[NDArray[np.float64], np.ndarray]:
        """`dense_rows` without the columns in which none of these rows of CSR data has a value; and which are left."""
        here, index = self.few(index)
        return here.narrow_rows(index)

    def labels_of(self, index: np.ndarray) -> Vector:
        here, index = self.few(index)
        return here.labels[index]

    def extension(self, index: np.ndarray, alpha: Vector) -> float:
        """The length that extensions give to a combination of some patterns, |(Delta_k alpha_k)|."""
        if self.space.delta == 0:
            return 0.0
        here, index = self.few(index)
        delta = here.delta
        return norm((delta[index] if isinstance(delta, np.ndarray) else delta) * alpha)

    @property
    def per_row(self) -> int:
        """Patterns of a row."""
        return 1

    def numbering(self, kept: np.ndarray) -> np.ndarray:
        """The patterns' numbers in the user's data, of which the rows ``kept`` take part."""
        return (kept[:, None] * self.per_row + np.arange(self.per_row)).ravel() if self.per_row > 1 else kept

    def renumbered(self, index: np.ndarray, kept: np.ndarray | None) -> np.ndarray:
        """The numbers of some patterns in the user's data; None: all rows take part."""
        if kept is None:
            return index
        if self.per_row == 1:
            return kept[index]
        row, which = np.divmod(index, self.per_row)
        return kept[row] * self.per_row + which


class Seen(NamedTuple):
    """How the rows of a home are seen: of which class against the rest, or as a machine of all; in which space."""

    space: Space
    positive: int | None

    def patterns(self, block: MemoryRows, n_classes: int) -> "Patterns":
        from separatrix.passes.kesler_patterns import KeslerPatterns
        from separatrix.passes.plain_patterns import Patterns

        block = block.here()
        assert block.codes is not None
        if self.positive is None:
            return KeslerPatterns(block.storage, block.codes, n_classes, self.space, block.weight)
        found = Patterns(block.storage, np.where(block.codes == self.positive, 1.0, -1.0), self.space, block.weight)
        found.long_sums = False  # bounds on rounding errors of rows elsewhere know of blocks alone
        return found

    def work(self, name: str, args: tuple[Any, ...], n_classes: int, block: Any) -> Any:
        """What travels to a block: a method of its patterns. A device computes those of hyperplanes; the rows of a
        linear machine are brought here."""
        if isinstance(block, DeviceRows) and self.positive is not None:
            return getattr(Block(block, self.positive, self.space), name)(block.first, *args)
        per_row = 1 if self.positive is not None else n_classes - 1
        return getattr(self.patterns(block, n_classes), name)(block.first * per_row, *args)

    def moments(self, n_classes: int, block: Any) -> Moments:
        """The moments of the classes of a block, which travel like other work."""
        if isinstance(block, DeviceRows):
            return Block(block, 1, self.space).moments_of_block(block.first, block.codes, n_classes)
        return self._replace(positive=1).patterns(block, n_classes).moments_of_block(0, block.codes, n_classes)

    def two_works(self, works: Any, n_classes: int, block: MemoryRows) -> Both:
        """Two of them in one pass."""
        return Both(*(self.work(name, args, n_classes, block) for name, args in works))


class PassedPatterns(PatternSet):
    """The patterns of rows that live elsewhere. ``positive``: the number of the class against the rest, or None for a
    linear machine of all classes."""

    here = False

    def __init__(self, home: RowSource, positive: int | None, space: Space):
        self.home, self.positive, self.space = home, positive, space
        self.seen = Seen(space, positive)
        self.n_classes = 2 if positive is not None else len(home.classes)
        self._known_extremes: tuple[bytes, Extremes] | None = None
        self._known_piece: tuple[bytes, Piece] | None = None
        self._known_slope: tuple[bytes, Any, Slope] | None = None

    @property
    def per_row(self) -> int:
        return 1 if self.positive is not None else self.n_classes - 1

    @property
    def n(self) -> int:
        return self.home.n * self.per_row

    @property
    def rows_in_all(self) -> int:
        return self.home.n

    @property
    def features(self) -> int:
        return self.home.width

    @property
    def d(self) -> int:
        return self.features if self.positive is not None else self.n_classes * (self.features + 1) - 1

    def through(self, wrap: Callable[[RowSource], RowSource]) -> "PassedPatterns":
        return PassedPatterns(wrap(self.home), self.positive, self.space)

    def in_space(self, space: Space) -> "PassedPatterns":
        return PassedPatterns(self.home, self.positive, space)

    def _pass(self, name: str, *args: Any) -> Any:
        if name == "shape_of_block" or "shape" in vars(self):
            return self.home.run(partial(self.seen.work, name, args, self.n_classes))
        works = ((name, args), ("shape_of_block", ()))  # the first pass brings the shape with it
        summary, self.shape = self.home.run(partial(self.seen.two_works, works, self.n_classes))
        return summary

    # A pass is dear: what the last one told of a vector is not asked again.

    def extremes(self, a: Vector, k: int) -> Extremes:
        a = np.ascontiguousarray(a, dtype=np.float64)
        if (
            self._known_extremes is None
            or self._known_extremes[0] != a.tobytes()
            or self._known_extremes[1].k < min(k, self.n)
        ):
            self._known_extremes = a.tobytes(), super().extremes(a, k)
        return self._known_extremes[1]

    def piece(self, a: Vector, hessian: bool = True) -> Piece:
        a = np.ascontiguousarray(a, dtype=np.float64)
        known = self._known_piece
        if known is None or known[0] != a.tobytes() or (hessian and not known[1].matrix.size):
            self._known_piece = a.tobytes(), super().piece(a, hessian)
        assert self._known_piece is not None
        return self._known_piece[1]

    def slope(self, a: Vector, criterion: Any, hessian: bool = False) -> Slope:
        a = np.ascontiguousarray(a, dtype=np.float64)
        known = self._known_slope
        if known is None or known[:2] != (a.tobytes(), criterion) or (hessian and not known[2].matrix.size):
            self._known_slope = known = a.tobytes(), criterion, super().slope(a, criterion, hessian)
        return known[2]

    def moments(self) -> Moments:
        """Of the rows of all classes, in one pass."""
        return self.home.run(partial(self.seen.moments, len(self.home.classes)))

    def smallest(self, a: Vector) -> float:
        known = (self._known_piece, self._known_slope)
        told = [k[-1].minimum for k in known if k is not None and k[0] == a.tobytes()]
        return told[0] if told else self.extremes(a, 1).minimum

    def peak(self) -> float:
        """max |y_ki|, the radius that matters to Winnow."""
        columns = self.column_range()
        return max(float(np.abs([columns.smallest, columns.largest]).max(initial=0.0)), self.space.rho)

    def sample(self, rows: np.ndarray) -> "Patterns":
        return self.seen.patterns(self.home.take(rows), self.n_classes)

    def few(self, index: np.ndarray) -> tuple["Patterns", np.ndarray]:
        rows, which = np.divmod(np.asarray(index, dtype=np.int64), self.per_row)
        return self.sample(rows), np.arange(len(rows)) * self.per_row + which

    def distance(self, a: Vector, margins: Vector | None = None) -> float:
        """The geometric margin: the smallest distance from a border, negative for an error."""
        if self.positive is None:
            return self._pass("distance_of_block", a).value
        return per_length(float(self.smallest(a)), norm(a[:-1]))

    def margin_error(self, a: Vector) -> float:
        if self.positive is not None:
            return super().margin_error(a)
        parts = a.reshape(self.n_classes, -1)
        return 2.5 * max(super(PassedPatterns, self).margin_error(v) for v in parts)

    def combination_error(self, alpha: Vector) -> float:
        return super().combination_error(alpha) if self.positive is not None else machine_error(self, alpha)


def machine_error(patterns: PatternSet, alpha: Vector) -> float:
    """`PatternSet.combination_error` of a linear machine: at most c more terms in the multiplier of a row."""
    depth = min(len(alpha), BLOCK) + len(alpha) / BLOCK + 4 + patterns.n_classes
    return depth * EPS * patterns.radius * 2.0 * float(alpha.sum()) + TINY
