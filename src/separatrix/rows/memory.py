"""Rows in the memory of this process, dense or CSR, as compiled code wants them."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.compile_cache import compiled, on_first_use
from separatrix.errors import DataError
from separatrix.rows.access import CSR, Dense, Rows
from separatrix.rows.validate import check_structure


def as_rows(X: Any) -> Rows:
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


def take_rows(rows: Rows, index: np.ndarray) -> Rows:
    """A copy of some rows."""
    if isinstance(rows, Dense):
        return Dense(frozen(rows.data[index]))
    shape = (len(rows.indptr) - 1, rows.width)
    return as_rows(sp.csr_matrix((rows.data, rows.indices.astype(np.int64), rows.indptr), shape=shape)[index])


def frozen(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


@on_first_use
def repeats_columns(key: str) -> Any:
    """Does a row of CSR name a column twice? ``last``: one -1 per column."""

    def run(X, last):
        key  # noqa: B018
        for i in range(X.indptr.shape[0] - 1):
            for k in range(X.indptr[i], X.indptr[i + 1]):
                if last[X.indices[k]] == i:
                    return True
                last[X.indices[k]] = i
        return False

    return compiled(run)
