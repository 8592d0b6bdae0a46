"""Row sources from which single rows are fetched; the last ones are kept, because solvers need them again."""

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix.data.access import CSR, Dense
from separatrix.data.base import RowSource
from separatrix.data.memory import MemoryRows
from separatrix.data.row_source import Part, joined
from separatrix.errors import DataError


class FetchedRows(RowSource):
    """``most_kept``: bytes of fetched rows that may be kept."""

    most_kept = 200_000_000
    _fetched: "_Fetched | None" = None

    @abstractmethod
    def _fetch(self, numbers: np.ndarray) -> Part:
        """Rows by their increasing numbers, at least one, with the numbers of their classes as labels."""

    def take(self, index: np.ndarray) -> MemoryRows:
        if len(index) == 0:
            return self.take(np.zeros(1, np.int64)).take(np.zeros(0, np.int64))
        numbers, back = np.unique(np.asarray(index, dtype=np.int64), return_inverse=True)
        if numbers[0] < 0 or numbers[-1] >= self.n:
            wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
            raise DataError(f"There is no row {wrong}: these are {self.n} rows.")
        fetched = self._fetched
        missing = numbers if fetched is None else np.setdiff1d(numbers, fetched.numbers, assume_unique=True)
        if fetched is None or len(missing):
            new = _Fetched(missing, self._fetch(missing))
            if fetched is None or len(missing) == len(numbers):
                both = new
            else:
                known = np.intersect1d(numbers, fetched.numbers, assume_unique=True)
                both = _together(fetched.of(known), new)
            self._keep(fetched, both)
            fetched = both
        part = fetched.of(numbers).part.rows(back)
        return MemoryRows(part.X, part.y, part.weight)

    def _keep(self, before: "_Fetched | None", now: "_Fetched") -> None:
        """Remember what was fetched, with what was before where both fit."""
        most = self.most_kept
        if before is not None and before.size + now.size <= most:
            rest = np.setdiff1d(before.numbers, now.numbers, assume_unique=True)
            now = _together(before.of(rest), now) if len(rest) else now
        if now.size <= most:
            self._fetched = now


class _Fetched(NamedTuple):
    """Rows that are here, with their increasing numbers."""

    numbers: np.ndarray
    part: Part

    @property
    def size(self) -> int:
        X = self.part.X
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes

    def of(self, numbers: np.ndarray) -> "_Fetched":
        if len(numbers) == len(self.numbers):
            return self
        return _Fetched(numbers, self.part.rows(np.searchsorted(self.numbers, numbers)))


def _together(one: _Fetched, other: _Fetched) -> _Fetched:
    numbers = np.concatenate([one.numbers, other.numbers])
    order = np.argsort(numbers)
    return _Fetched(numbers[order], joined([one.part, other.part]).rows(order))


def part_of(rows: MemoryRows) -> Part:
    """The rows as a matrix, in their own type of numbers."""
    assert rows.codes is not None
    if isinstance(rows.storage, Dense):
        return Part(rows.storage.data, rows.codes, rows.weight)
    assert isinstance(rows.storage, CSR)
    X = rows.matrix(np.arange(rows.n)).astype(rows.storage.data.dtype, copy=False)
    return Part(X, rows.codes, rows.weight)
