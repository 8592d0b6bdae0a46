"""Rows in the memory of this process, dense or CSR, as compiled code wants them; passes run in threads over blocks."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.data.access import CSR, Dense, Storage, repeats_columns
from separatrix.data.base import RowSource, S
from separatrix.data.validate import check_structure
from separatrix.errors import DataError

BLOCK_VALUES = 1 << 21  # stored values in a block
BLOCK_ROWS = 512  # a block has a multiple of so many rows
TOGETHER, LEAST_PARTS = 1 << 15, 250  # stored values that stay together in a shuffle by blocks; blocks, at least
TABLE = 50  # times the stored values: columns up to which a table finds their numbers sooner than a sort
SOME = 10_000  # values of a few rows that numpy gathers sooner than scipy
FEW_JUMPS = 50  # between rows that do not follow each other, up to which it is quicker to copy what lies between them
MOST_INT32, MOST_UINT32 = np.iinfo(np.int32).max, np.iinfo(np.uint32).max
SPARE = 2  # times the stored values: columns from which most are empty, and it pays to leave those out


class MemoryRows(RowSource):
    """``X``: a matrix, or what `as_rows` made of one. ``codes``: numbers of the rows' classes. ``first``: the number of
    the first row where these are a block of others. ``n_jobs``: threads of a pass; results do not depend on them.

    ``stored``: the number of stored values. ``columns``: where empty columns of sparse data were left out, the numbers
    of the others among the ``data_width`` columns of the data."""

    columns: np.ndarray | None = None

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
        rows = self.storage = X if isinstance(X, (Dense, CSR)) else as_rows(X)
        self.codes, self.weight, self.first, self.n_jobs = codes, weight, first, n_jobs
        self.sparse = isinstance(rows, CSR)
        if isinstance(rows, CSR):
            self.n, self.width, self.stored = len(rows.indptr) - 1, rows.width, int(rows.indptr[-1] - rows.indptr[0])
        else:
            (self.n, self.width), self.stored = rows.data.shape, rows.data.size
        self.data_width = self.width
        if classes is not None:
            self.classes = classes

    def without_empty_columns(self) -> "MemoryRows":
        """The same rows in the columns in which one of them has a value, where these are few: vectors are as long as
        there are columns. What is found there belongs to the data by `in_all_columns`."""
        rows = self.storage
        if not isinstance(rows, CSR) or not 0 < SPARE * rows.indices.size <= rows.width:
            return self
        columns, place = _numbered(rows.indices, rows.width)
        storage = rows._replace(indices=frozen(place.astype(np.uint32, copy=False)), width=len(columns))
        narrow = MemoryRows(storage, self.codes, self.weight, first=self.first, n_jobs=self.n_jobs)
        narrow.columns, narrow.data_width = columns, rows.width
        return narrow

    def in_all_columns(self, table: np.ndarray) -> np.ndarray:
        """A table with a column for each of these, and perhaps more behind: with those left out, in which it is 0."""
        if self.columns is None:
            return table
        whole = np.zeros((len(table), self.data_width + table.shape[1] - self.width), table.dtype)
        for row, values in zip(whole, table[:, : self.width], strict=True):  # half the time of all rows at once
            row[self.columns] = values
        whole[:, self.data_width :] = table[:, self.width :]
        return whole

    def in_these_columns(self, table: np.ndarray) -> np.ndarray:
        """The way back."""
        if self.columns is None:
            return table
        return np.hstack([table[:, self.columns], table[:, self.data_width :]])

    @property
    def longest(self) -> int:
        """The largest number of stored values in a row."""
        return self._longest if self.sparse else self.width

    @cached_property
    def _longest(self) -> int:
        assert isinstance(self.storage, CSR)
        indptr = self.storage.indptr
        return int((indptr[1:] - indptr[:-1]).max(initial=0))

    @cached_property
    def borders(self) -> list[tuple[int, int]]:
        """First row and end of each block: they depend on the data alone."""
        step = rows_of_block(self.stored / max(self.n, 1))
        return [(first, min(first + step, self.n)) for first in range(0, self.n, step)] or [(0, 0)]

    def part(self, first: int, end: int) -> "MemoryRows":
        """The rows from ``first`` to ``end``, not copied."""
        if (first, end) == (0, self.n):
            return self
        rows = slice(first, end)
        if isinstance(self.storage, CSR):
            storage: Storage = self.storage._replace(indptr=self.storage.indptr[first : end + 1])
        else:
            storage = Dense(self.storage.data[rows])
        codes = None if self.codes is None else self.codes[rows]
        weight = None if self.weight is None else self.weight[rows]
        return self._of_the_same(MemoryRows(storage, codes, weight, first=self.first + first))

    def _of_the_same(self, rows: "MemoryRows") -> "MemoryRows":
        rows.columns, rows.data_width = self.columns, self.data_width
        return rows

    def blocks(self) -> Iterator["MemoryRows"]:
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
        return self._of_the_same(MemoryRows(take_rows(self.storage, index), codes, weight))

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
        """Some rows as they are; sparse ones as a float64 matrix, with all columns of the data."""
        if not isinstance(self.storage, CSR):
            return np.asarray(self.storage.data[index])  # a copy, and no memory map
        data, indices, indptr = self._parts(index)
        if self.columns is not None:
            indices = self.columns[indices].astype(indices.dtype if self.data_width < 2**31 else np.int64)
        return sp.csr_matrix((data, indices, indptr), shape=(len(index), self.data_width))

    def dense(self, index: np.ndarray) -> NDArray[np.float64]:
        """Some rows, written out."""
        if isinstance(self.storage, CSR):
            return self.matrix(index).toarray()
        return self.storage.data[index].astype(np.float64)

    def matrix(self, index: np.ndarray) -> sp.csr_matrix:
        """Some rows of CSR data as a float64 matrix."""
        return sp.csr_matrix(self._parts(index), shape=(len(index), self.width))

    def _parts(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values in float64, columns and row borders of some rows of CSR data."""
        rows = self.storage
        assert isinstance(rows, CSR)
        first, end = rows.indptr[index], rows.indptr[index + 1]
        counts = end - first
        stored, indptr = int(counts.sum()), np.zeros(len(index) + 1, dtype=np.int32)
        jumps = np.flatnonzero(first[1:] != end[:-1]) if stored > SOME else np.zeros(0, np.int64)
        if rows.width > MOST_INT32 or stored > MOST_INT32 or len(jumps) > FEW_JUMPS:
            some = _scipy(rows)[index].astype(np.float64, copy=False)
            return some.data, some.indices, some.indptr
        counts.cumsum(out=indptr[1:])
        if stored > SOME:  # rows that follow each other are copied as a whole
            runs = [slice(*run) for run in zip(first[[0, *(jumps + 1)]], end[[*jumps, -1]], strict=True)]
            data, indices = (np.concatenate([part[run] for run in runs]) for part in (rows.data, rows.indices))
        else:
            at = np.arange(stored) + (first - indptr[:-1]).repeat(counts)
            data, indices = rows.data[at], rows.indices[at]
        return data.astype(np.float64, copy=False), indices.view(np.int32), indptr


def rows_of_block(values_of_row: float) -> int:
    """How many rows make a block."""
    return max(int(BLOCK_VALUES / max(values_of_row, 1.0)) // BLOCK_ROWS, 1) * BLOCK_ROWS


def rows_together(home: MemoryRows) -> int:
    """Rows that stay together in a shuffle by blocks: so many that memory is read in sequence, and few of them all."""
    return min(int(TOGETHER * home.n / max(home.stored, 1)), home.n // LEAST_PARTS)


def as_rows(X: Any, checked: bool = False) -> Storage:
    """Data as the kernels want them: read-only, C order, unsigned 32-bit column numbers; every layout and float type
    compiles once. Dense input in C order and CSR with 32-bit indices are not copied. ``checked``: its structure was
    looked at."""
    if not sp.issparse(X):
        return Dense(frozen(np.ascontiguousarray(X)))
    if not checked:
        check_structure(X)  # the kernels check no bounds
    X = X.tocsr()
    if X.shape[1] > MOST_UINT32:
        raise DataError(f"X has {X.shape[1]} columns; at most {MOST_UINT32} are supported.")
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


def _numbered(indices: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns that occur, in order, and the number of each value's column among them."""
    if width > TABLE * indices.size:
        return np.unique(indices, return_inverse=True)
    at = indices.astype(np.intp)  # what numpy would make of it each time, slowly
    occurs, number = np.zeros(width, dtype=bool), np.empty(width, dtype=np.uint32)
    occurs[at] = True
    columns = occurs.nonzero()[0]
    number[columns] = np.arange(len(columns), dtype=np.uint32)
    return columns, number.take(at)


def take_rows(rows: Storage, index: np.ndarray) -> Storage:
    """A copy of some rows."""
    if isinstance(rows, Dense):
        return Dense(frozen(rows.data[index]))
    return as_rows(_scipy(rows)[index])


def _scipy(rows: CSR) -> sp.csr_matrix:
    """The same as scipy's matrix, not copied; a block of others begins somewhere within their values."""
    first, end = int(rows.indptr[0]), int(rows.indptr[-1])
    indptr = rows.indptr if first == 0 else rows.indptr - first
    indices = rows.indices.view(np.int32) if rows.width <= MOST_INT32 else rows.indices.astype(np.int64)
    return sp.csr_matrix((rows.data[first:end], indices[first:end], indptr), shape=(len(indptr) - 1, rows.width))


def frozen(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
