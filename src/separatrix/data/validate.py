"""The one door: what is asked of data before anything reads them."""

from copy import copy
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.errors import DataError


def check_structure(X: Any) -> None:
    """Refuse a sparse matrix whose indices point outside of it: scipy's own products would read or write there."""
    if not sp.issparse(X):
        return
    if X.format == "csr" and _sound(X):
        return
    if X.format in ("csr", "csc", "bsr"):
        try:
            copy(X).check_format(full_check=True)  # which cuts off what lies behind the last row
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


def _sound(X: Any) -> bool:
    """Does a CSR matrix pass scipy's full check, which takes longer than a small fit? Of others that says what is wrong
    with them."""
    data, indices, indptr = parts = X.data, X.indices, X.indptr
    if X.ndim != 2 or not all(isinstance(part, np.ndarray) for part in parts):
        return False
    if not (indices.dtype == indptr.dtype == np.int32 and data.dtype.isnative):
        return False
    if not (indptr.shape == (X.shape[0] + 1,) and data.shape == indices.shape == (indptr[-1],) and indptr[0] == 0):
        return False
    inside = not len(indices) or indices.view(np.uint32).max() < X.shape[1]  # a negative one is larger than all
    return bool(inside and (indptr[1:] >= indptr[:-1]).all())


def is_plain(X: Any) -> bool:
    """Is this a matrix of floats as compiled code wants it, of which scikit-learn's checks, which take longer than a
    small fit, would have nothing to say but whether it is finite?"""
    if type(X) is np.ndarray:
        fits = X.ndim == 2 and X.flags.c_contiguous
    else:
        fits = type(X) in (sp.csr_matrix, sp.csr_array) and X.ndim == 2 and X.indices.dtype == np.int32
    return bool(fits) and X.dtype.char in "fd" and X.dtype.isnative and min(X.shape) > 0


def check_numbers(X: Any) -> None:
    """Refuse what is no number that float64 holds: rounded, it would be other data, and proofs would be about these."""
    if sp.issparse(X):
        _check_array(X.tocoo().data if X.format in ("dok", "lil") else X.data)  # these two have no array of values
    elif hasattr(X, "get_columns"):  # of polars
        for j, column in enumerate(X.get_columns()):
            decimal = str(column.dtype).startswith("Decimal")
            _check_array(np.array(column.to_list(), dtype=object) if decimal else column.to_numpy(), j)
    elif hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:  # of pandas
        for j in range(X.shape[1]):
            _check_array(X.iloc[:, j].to_numpy(), j)
    elif isinstance(X, (list, tuple)):
        try:
            values = np.asarray(X)
            _check_array(np.array(X, dtype=object) if values.dtype.kind in "fO" else values)
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            return  # ragged: another check says so
    else:
        _check_array(X)


def _check_array(values: Any, column: int | None = None) -> None:
    if isinstance(values, np.ma.MaskedArray):
        raise DataError("X is a masked array: fill in what is missing, or leave those rows out.")
    if not isinstance(values, np.ndarray):
        return
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind in "mM" or (kind in "USV" and column is None):
        raise DataError(
            f"X holds {values.dtype.name}, which is not numeric: convert it, for example by X.astype(float)."
        )
    if kind == "O":
        wrong = np.array([isinstance(v, (Number, Decimal)) and not _held(v) for v in values.flat], dtype=bool)
        wrong = wrong.reshape(values.shape)
    elif kind in "iu" and size == 8:
        large = values > 2**53 if kind == "u" else (values > 2**53) | (values < -(2**53))
        if not large.any():
            return
        wrong = large & (values.astype(np.float64).astype(object) != values.astype(object))
    elif kind == "f" and size > 8:
        with np.errstate(over="ignore", invalid="ignore"):
            wrong = np.isfinite(values) & (values.astype(np.float64) != values)
    else:
        return
    if wrong.any():
        place = np.argwhere(wrong)[0].tolist()
        value = values[tuple(place)]
        place += [] if column is None else [column]
        where = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"stored value {place[0]}"
        raise DataError(
            f"X holds a number that float64 cannot hold: {where} is {_short(value)}. Subtract what the column has in "
            "common, leave it out if it only names the rows, or round it yourself by X.astype(float)."
        )


def _held(v: Any) -> bool:
    """Is there a float64 that equals it? What is not finite another check refuses."""
    try:
        x = float(v)
    except (TypeError, ValueError):
        return isinstance(v, complex)  # refused elsewhere
    except OverflowError:
        return False
    return x != x or bool(x == v)


def _short(value: Any) -> str:
    digits = isinstance(value, int) and abs(value) >= 10**40
    return "an integer of more than 40 digits" if digits else str(value)[:60]


def check_labels(y: Any) -> np.ndarray:
    """Labels as an array, in which those that differ still do: numpy makes one type of a list of several."""
    if isinstance(y, np.ma.MaskedArray):
        raise DataError("y is a masked array: leave out the rows whose label is missing.")
    if y is None:
        raise DataError("The labels are missing.")
    try:
        labels = np.asarray(y)
        same = not isinstance(y, (list, tuple)) or labels.ndim != 1 or labels.tolist() == list(y)
        np.unique(labels)
    except (TypeError, ValueError) as error:
        raise DataError(f"The labels cannot be distinguished: {error}.") from error
    if labels.ndim != 1 or not same or not np.all(labels == labels):
        raise DataError("y has to hold one label per row, all of one type, and none missing.")
    return labels
