"""Rows in the memory of this process, dense or CSR, as compiled code wants them; passes run in threads over blocks."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.rows.access import CSR, Dense, Storage, repeats_columns
from separatrix.rows.base import Rows, S
from separatrix.rows.validate import check_structure

BLOCK_VALUES = 1 << 21  # stored values in a block
CACHE_VALUES = 1 << 15  # stored values that a core's own cache holds with room to spare
BLOCK_ROWS = 512  # a block has a multiple of so many rows


class MemoryRows(Rows):
    """``X``: a matrix, or what `as_rows` made of one. ``codes``: numbers of the rows' classes. ``first``: the number of
    the first row where these are a block of others. ``n_jobs``: threads of a pass; results do not depend on them."""

    def __init__(
        self,
        X: Any,
        codes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        *,
        classes: np.ndarray | None = None,
        first: int = 0,
        n_jobs: int = 1,
    ):
        self.storage: Storage = X if isinstance(X, (Dense, CSR)) else as_rows(X)
        self.codes, self.weight, self.first, self.n_jobs = codes, weight, first, n_jobs
        self.sparse = isinstance(self.storage, CSR)
        self.n = len(self.storage.indptr) - 1 if isinstance(self.storage, CSR) else len(self.storage.data)
        self.width = self.storage.width if isinstance(self.storage, CSR) else self.storage.data.shape[1]
        if classes is not None:
            self.classes = classes

    @cached_property
    def stored(self) -> int:
        """Number of stored values."""
        if isinstance(self.storage, CSR):
            return int(self.storage.indptr[-1] - self.storage.indptr[0])
        return self.storage.data.size

    @cached_property
    def longest(self) -> int:
        """The largest number of stored values in a row."""
        return int(np.diff(self.storage.indptr).max(initial=0)) if isinstance(self.storage, CSR) else self.width

    @cached_property
    def borders(self) -> list[tuple[int, int]]:
        """First row and end of each block: they depend on the data alone."""
        step = rows_of_block(self.stored / max(self.n, 1))
        return [(first, min(first + step, self.n)) for first in range(0, self.n, step)] or [(0, 0)]

    def part(self, first: int, end: int) -> "MemoryRows":
        """The rows from ``first`` to ``end``, not copied."""
        rows = slice(first, end)
        if isinstance(self.storage, CSR):
            storage: Storage = self.storage._replace(indptr=self.storage.indptr[first : end + 1])
        else:
            storage = Dense(self.storage.data[rows])
        codes = None if self.codes is None else self.codes[rows]
        weight = None if self.weight is None else self.weight[rows]
        return MemoryRows(storage, codes, weight, first=self.first + first)

    def blocks(self) -> Iterator["MemoryRows"]:
        if len(self.borders) == 1:
            yield self
        else:
            for border in self.borders:
                yield self.part(*border)

    def run(self, work: Callable[["MemoryRows"], S]) -> S:
        if self.threads == 1:
            return super().run(work)
        with ThreadPoolExecutor(self.threads) as pool:
            parts = list(pool.map(work, self.blocks()))
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.merge(part)
        return whole

    @property
    def threads(self) -> int:
        """Threads that a pass is worth."""
        return 1 if self.n_jobs == 1 else min(self.n_jobs, len(self.borders))

    def each_block(self, work: Callable[[int, int], None]) -> None:
        """Call ``work(first, end)`` for the borders of every block, in threads: for passes that fill arrays."""
        if self.threads == 1:
            for first, end in self.borders:
                work(first, end)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(lambda border: work(*border), self.borders))

    def sum_of(self, part: Callable[[int], Any], size: int, step: int, zero: Any) -> Any:
        """The sum of ``part(first)`` over first = 0, step, ... < size, in this order; in threads."""
        firsts = range(0, size, step)
        threads = min(self.n_jobs, len(firsts))
        if threads <= 1:
            for first in firsts:
                zero += part(first)
            return zero
        with ThreadPoolExecutor(threads) as pool:
            for summand in pool.map(part, firsts):
                zero += summand
        return zero

    def column_extremes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sum, smallest and largest value of each column."""
        if isinstance(self.storage, CSR):
            matrix = _scipy(self.storage)
            total = np.asarray(matrix.sum(axis=0, dtype=np.float64)).ravel()
            return total, matrix.min(axis=0).toarray().ravel(), matrix.max(axis=0).toarray().ravel()
        X = self.storage.data
        return X.sum(axis=0, dtype=np.float64), X.min(axis=0), X.max(axis=0)

    @property
    def whole(self) -> Any:
        """The rows as numpy or scipy have them, not copied."""
        return _scipy(self.storage) if isinstance(self.storage, CSR) else self.storage.data

    def take(self, index: np.ndarray) -> "MemoryRows":
        codes = None if self.codes is None else self.codes[index]
        weight = None if self.weight is None else self.weight[index]
        return MemoryRows(take_rows(self.storage, index), codes, weight)

    def here(self) -> "MemoryRows":
        """All of these rows, in the memory of this process: where they are."""
        return self

    def scaled(self, centre: np.ndarray, size: np.ndarray) -> "MemoryRows":
        """``(x - centre) / size``; a centre other than 0 writes sparse rows out."""
        everything = np.arange(self.n)
        if self.sparse and not np.any(centre):
            X = self.matrix(everything)
            X.data /= size[X.indices]
        else:
            X = (self.dense(everything) - centre) / size
        return MemoryRows(X, self.codes, self.weight, first=self.first)

    def values(self, index: np.ndarray) -> Any:
        """Some rows as they are; sparse ones as a float64 matrix."""
        return self.matrix(index) if isinstance(self.storage, CSR) else np.array(self.storage.data[index])

    def dense(self, index: np.ndarray) -> NDArray[np.float64]:
        """Some rows, written out."""
        if isinstance(self.storage, CSR):
            return self.matrix(index).toarray()
        return self.storage.data[index].astype(np.float64)

    def matrix(self, index: np.ndarray) -> sp.csr_matrix:
        """Some rows of CSR data as a float64 matrix."""
        assert isinstance(self.storage, CSR)
        return _scipy(self.storage)[index].astype(np.float64)


def rows_of_block(values_of_row: float) -> int:
    """How many rows make a block."""
    return max(int(BLOCK_VALUES / max(values_of_row, 1.0)) // BLOCK_ROWS, 1) * BLOCK_ROWS


def rows_in_cache(home: MemoryRows) -> int:
    """How many rows of them a core's own cache holds."""
    return max(int(CACHE_VALUES * max(home.n, 1) / max(home.stored, 1)), 1)


def as_rows(X: Any) -> Storage:
    """Data as the kernels want them: read-only, C order, unsigned 32-bit column numbers; every layout and float type
    compiles once. Dense input in C order and CSR with 32-bit indices are not copied."""
    if not sp.issparse(X):
        return Dense(frozen(np.ascontiguousarray(X)))
    check_structure(X)  # the kernels check no bounds
    X = X.tocsr()
    if X.shape[1] > np.iinfo(np.uint32).max:
        raise DataError(f"X has {X.shape[1]} columns; at most {np.iinfo(np.uint32).max} are supported.")
    rows = _csr_rows(X)
    if not X.has_canonical_format and (X.has_sorted_indices or _repeats_columns(rows)):
        X = X.copy()
        X.sum_duplicates()
        rows = _csr_rows(X)
    return rows


def _csr_rows(X: Any) -> CSR:
    indices = X.indices.view(np.uint32) if X.indices.dtype == np.int32 else X.indices.astype(np.uint32)
    return CSR(frozen(X.data), frozen(indices), frozen(X.indptr.astype(np.int64)), X.shape[1])


def _repeats_columns(rows: CSR) -> bool:
    """Does a row name a column twice? Unordered columns alone do no harm, and sorting them costs several passes."""
    if rows.width > max(rows.data.size, 1000):
        return True  # it may: the question would cost more memory than the answer is worth
    return bool(repeats_columns()(rows, np.full(rows.width, -1)))


def take_rows(rows: Storage, index: np.ndarray) -> Storage:
    """A copy of some rows."""
    if isinstance(rows, Dense):
        return Dense(frozen(rows.data[index]))
    return as_rows(_scipy(rows)[index])


def _scipy(rows: CSR) -> sp.csr_matrix:
    """The same as scipy's matrix, not copied; a block of others begins somewhere within their values."""
    first, end = int(rows.indptr[0]), int(rows.indptr[-1])
    indptr = rows.indptr if first == 0 else rows.indptr - first
    indices = rows.indices.view(np.int32) if rows.width <= np.iinfo(np.int32).max else rows.indices.astype(np.int64)
    return sp.csr_matrix((rows.data[first:end], indices[first:end], indptr), shape=(len(indptr) - 1, rows.width))


def frozen(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
