"""The one door: what is asked of data before anything reads them."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.errors import DataError


def check_structure(X: Any) -> None:
    """Refuse a sparse matrix whose indices point outside of it: scipy's own products would read or write there."""
    if not sp.issparse(X):
        return
    if X.format in ("csr", "csc", "bsr"):
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            raise DataError(f"X is not a valid {X.format.upper()} matrix: {error}.") from error
        broken = bool(np.any(np.diff(X.indptr) < 0))  # scipy does not look where the last value is 0
    elif X.format == "coo":
        lengths = {len(X.data), *(len(i) for i in X.coords)}
        broken = len(lengths) > 1 or any(
            np.any(i < 0) or np.any(i >= n) for i, n in zip(X.coords, X.shape, strict=True)
        )
    else:
        return
    if broken:
        raise DataError(f"X is not a valid {X.format.upper()} matrix: its indices point outside of it.")


def check_integers(X: Any) -> None:
    """Refuse integers that float64 cannot hold: rounded, they would be other data, and proofs would be about these."""
    values = getattr(X, "data", None) if sp.issparse(X) else X  # DOK has no array of values
    if isinstance(values, (list, tuple)):
        try:
            values = np.asarray(values)
        except ValueError:
            return  # ragged: another check says so
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuO" or values.dtype.itemsize < 8:
        return
    if values.dtype.kind == "O":
        wrong = np.array([isinstance(v, int) and int(float(v)) != v if _finite(v) else False for v in values.flat])
        wrong = wrong.reshape(values.shape)
    else:
        large = values > 2**53 if values.dtype.kind == "u" else (values > 2**53) | (values < -(2**53))
        if not large.any():
            return
        wrong = large & (values.astype(np.float64).astype(object) != values.astype(object))
    if wrong.any():
        place = np.argwhere(wrong)[0]
        where = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"stored value {place[0]}"
        raise DataError(
            f"X holds an integer that float64 cannot hold: {where} is {values[tuple(place)]}. Subtract what the column "
            "has in common, or leave it out if it only names the rows."
        )


def _finite(v: Any) -> bool:
    return not isinstance(v, int) or abs(v) < 2**1023
