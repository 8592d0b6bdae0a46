"""Two equal rows of different classes: of all proofs that nothing separates two classes the shortest.

Every row gets a mark, the sum modulo 2^64 of its values' bits times a multiplier for each column: exact, whatever the
order in which a sparse row is stored. Rows with the same mark are compared.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from separatrix.data.access import CSR, Storage
from separatrix.space import Vector

VALUES_AT_ONCE = 1 << 20  # between two looks at the clock
COMPARED = 1000  # pairs of rows with the same mark: one is enough but for accidents
ONE, TWO, THREE = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))  # SplitMix64


def conflicting_duplicates(
    rows: Storage, labels: Vector, look: Callable[[], None] = lambda: None
) -> tuple[int, int] | None:
    """The numbers of two such rows; 0 equals -0, and a zero that is stored one that is not. ``look``: called now and
    then, to look at a clock."""
    marks = _marks(rows, look)
    in_order = np.sort(marks)
    repeated = in_order[:-1][in_order[1:] == in_order[:-1]]
    look()
    if not len(repeated):
        return None
    places = np.minimum(np.searchsorted(repeated, marks), len(repeated) - 1)
    some = np.flatnonzero(repeated[places] == marks)
    look()
    some = some[np.lexsort((labels[some], marks[some]))]
    before, after = some[:-1], some[1:]
    found = np.flatnonzero((marks[before] == marks[after]) & (labels[before] != labels[after]))
    for k in found[:COMPARED].tolist():
        i, j = sorted((int(before[k]), int(after[k])))
        if _equal(rows, i, j):
            return i, j
    return None


def _marks(rows: Storage, look: Callable[[], None]) -> NDArray[np.uint64]:
    if isinstance(rows, CSR):
        marks = np.zeros(len(rows.indptr) - 1, np.uint64)
        step = max(1, VALUES_AT_ONCE * len(marks) // max(rows.data.size, 1))
        for first in range(0, len(marks), step):
            look()
            ends = rows.indptr[first : first + step + 1]
            part = slice(int(ends[0]), int(ends[-1]))
            sums = np.zeros(part.stop - part.start + 1, np.uint64)
            np.cumsum(_bits(rows.data[part]) * _multipliers(rows.indices[part]), out=sums[1:])
            marks[first : first + step] = np.diff(sums[ends - ends[0]])
        return marks
    n, d = rows.data.shape
    multipliers, step = _multipliers(np.arange(d)), max(1, VALUES_AT_ONCE // max(d, 1))
    marks = np.zeros(n, np.uint64)
    for first in range(0, n, step):
        look()
        part = slice(first, first + step)
        marks[part] = (_bits(rows.data[part]) * multipliers).sum(axis=1, dtype=np.uint64)
    return marks


def _bits(values: np.ndarray) -> NDArray[np.uint64]:
    """Those of the floats, of which the lower half are often zeros: the upper half is added to it."""
    bits = np.ascontiguousarray(values + 0.0, dtype=np.float64).view(np.uint64)  # -0 becomes 0
    return bits ^ (bits >> np.uint64(32))


def _multipliers(columns: np.ndarray) -> NDArray[np.uint64]:
    """Odd numbers without a pattern."""
    z = (columns.astype(np.uint64) + np.uint64(1)) * ONE
    z = (z ^ (z >> np.uint64(30))) * TWO
    z = (z ^ (z >> np.uint64(27))) * THREE
    return z | np.uint64(1)


def _equal(rows: Storage, i: int, j: int) -> bool:
    if not isinstance(rows, CSR):
        return np.array_equal(rows.data[i], rows.data[j])
    first, second = (_entries(rows, k) for k in (i, j))
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def _entries(rows: CSR, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns of a row's values, in order, and the values; no zeros."""
    part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
    columns, values = rows.indices[part], rows.data[part]
    order = np.argsort(columns, kind="stable")
    order = order[values[order] != 0]
    return columns[order], values[order]
