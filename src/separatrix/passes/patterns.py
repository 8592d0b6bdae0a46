"""Patterns as solvers and certificates see them: seen through a space, wherever their rows live.

Everything here is a pass that returns a summary (`separatrix.passes.summaries`), or a few rows brought here. Subclasses
say what the patterns of a row are: one of a hyperplane (`plain_patterns`), several of a linear machine
(`kesler_patterns`), or those of a kernel (`kernel_patterns`). `PassedPatterns` are those of out-of-core rows.
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
from separatrix.passes import in_memory
from separatrix.passes.compiled import BLOCK
from separatrix.passes.on_device import Block
from separatrix.passes.summaries import (
    Both,
    Columns,
    Combination,
    Criterion,
    Extremes,
    Moments,
    Piece,
    Shape,
    Sides,
    Slope,
)
from separatrix.space import Space, Vector, norm, per_length

if TYPE_CHECKING:
    from separatrix.passes.plain_patterns import Patterns

Pass = Callable[..., Any]  # a function of in_memory.py: from a block and the number of its first pattern to a summary
ON_DEVICE: dict[Pass, Pass] = {
    in_memory.shape: Block.shape,
    in_memory.extremes: Block.extremes,
    in_memory.sides: Block.sides,
    in_memory.piece: Block.piece,
    in_memory.slope: Block.slope,
    in_memory.moments: Block.moments,
    in_memory.total: Block.total,
    in_memory.columns: Block.columns,
}
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

    # Passes.

    @abstractmethod
    def run(self, work: Pass, *args: Any) -> Any:
        """Run a pass over every block and merge the summaries in the order of the blocks."""

    def run_at(self, a: Vector, work: Pass, *args: Any) -> Any:
        """Run a pass at a vector. The last of ``args`` says how much of the summary is needed."""
        return self.run(work, np.ascontiguousarray(a, dtype=np.float64), *args)

    @cached_property
    def shape(self) -> Shape:
        return self.run(in_memory.shape)

    def extremes(self, a: Vector, k: int) -> Extremes:
        """Return the smallest margins, and the numbers of the k patterns that have them."""
        return self.run_at(a, in_memory.extremes, k)

    def sides(self, a: Vector, k: int) -> Sides:
        """Return the smallest margins of each class."""
        return self.run_at(a, in_memory.sides, k)

    def smallest(self, a: Vector) -> float:
        """min a.y_k, without the extension."""
        return self.extremes(a, 1).minimum

    def piece(self, a: Vector, hessian: bool = True) -> Piece:
        """Value, gradient and Hessian of the criterion of a soft margin."""
        return self.run_at(a, in_memory.piece, hessian)

    def slope(self, a: Vector, criterion: Criterion, hessian: bool = False) -> Slope:
        """Value, gradient and, where asked for, Hessian of a criterion of `separatrix.theory`."""
        return self.run_at(a, in_memory.slope, criterion, hessian)

    def sum(self) -> Combination:
        """sum y_k, and their number."""
        return self.run(in_memory.total)

    def column_range(self) -> Columns:
        """Sums and extremes of the columns of the data."""
        return self.run(in_memory.columns)

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
        with np.errstate(over="ignore"):  # of an unpenalized intercept: such a vector proves nothing
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
    """How the rows of a source are seen: of which class against the rest, or of all classes jointly; in which space."""

    space: Space
    positive: int | None
    n_classes: int = 2

    def patterns(self, block: MemoryRows) -> "Patterns":
        from separatrix.passes.kesler_patterns import KeslerPatterns
        from separatrix.passes.plain_patterns import Patterns

        block = block.here()
        assert block.codes is not None
        if self.positive is None:
            return KeslerPatterns(block.storage, block.codes, self.n_classes, self.space, block.weight)
        found = Patterns(block.storage, np.where(block.codes == self.positive, 1.0, -1.0), self.space, block.weight)
        found.long_sums = False  # bounds on rounding errors of out-of-core rows know of blocks alone
        return found

    def work(self, work: Pass, args: tuple[Any, ...], block: Any) -> Any:
        """Run a pass over a block, where the block is. A device computes those of hyperplanes; the rows of a joint
        problem are brought into memory."""
        if isinstance(block, DeviceRows) and self.positive is not None:
            return ON_DEVICE[work](Block(block, self.positive, self.space), block.first, *args)
        patterns = self.patterns(block)
        return work(patterns, block.first * patterns.per_row, *args)

    def moments(self, block: Any) -> Moments:
        """Return the moments of the classes of a block."""
        codes = block.codes if isinstance(block, DeviceRows) else block.here().codes
        return self._replace(positive=1).work(in_memory.moments, (codes, self.n_classes), block)

    def two_works(self, works: Any, block: MemoryRows) -> Both:
        """Run two passes over a block in one."""
        return Both(*(self.work(work, args, block) for work, args in works))


class PassedPatterns(PatternSet):
    """The patterns of out-of-core rows. ``positive``: the number of the class against the rest, or None for a
    linear machine of all classes."""

    here = False

    def __init__(self, home: RowSource, positive: int | None, space: Space):
        self.home, self.positive, self.space = home, positive, space
        self.n_classes = 2 if positive is not None else len(home.classes)
        self.seen = Seen(space, positive, self.n_classes)
        self._known: dict[Pass, tuple[Any, Any, Any]] = {}  # of each pass the last vector, what was needed, the summary

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

    def run(self, work: Pass, *args: Any) -> Any:
        if work is in_memory.shape or "shape" in vars(self):
            return self.home.run(partial(self.seen.work, work, args))
        works = ((work, args), (in_memory.shape, ()))  # the first pass brings the shape with it
        summary, self.shape = self.home.run(partial(self.seen.two_works, works))
        return summary

    def run_at(self, a: Vector, work: Pass, *args: Any) -> Any:
        """A pass is expensive: the last summary at a vector answers again if it holds all that is needed."""
        a, needed = np.ascontiguousarray(a, dtype=np.float64), min(args[-1], self.n)
        question, known = (a.tobytes(), *args[:-1]), self._known.get(work)
        if known is None or known[0] != question or known[1] < needed:
            self._known[work] = known = question, args[-1], super().run_at(a, work, *args)
        return known[2]

    def moments(self) -> Moments:
        """Of the rows of all classes, in one pass."""
        return self.home.run(self.seen._replace(n_classes=len(self.home.classes)).moments)

    def smallest(self, a: Vector) -> float:
        known = (self._known.get(work) for work in (in_memory.piece, in_memory.slope))
        minima = [k[2].minimum for k in known if k is not None and k[0][0] == a.tobytes()]
        return minima[0] if minima else self.extremes(a, 1).minimum

    def peak(self) -> float:
        """max |y_ki|, the radius that matters to Winnow."""
        columns = self.column_range()
        return max(float(np.abs([columns.smallest, columns.largest]).max(initial=0.0)), self.space.rho)

    def sample(self, rows: np.ndarray) -> "Patterns":
        return self.seen.patterns(self.home.take(rows))

    def few(self, index: np.ndarray) -> tuple["Patterns", np.ndarray]:
        rows, which = np.divmod(np.asarray(index, dtype=np.int64), self.per_row)
        return self.sample(rows), np.arange(len(rows)) * self.per_row + which

    def distance(self, a: Vector, margins: Vector | None = None) -> float:
        """The geometric margin: the smallest distance from a border, negative for an error."""
        if self.positive is None:
            return self.run(in_memory.distance, a).value
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
