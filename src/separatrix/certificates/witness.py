"""Rows with weights that combine to 0, in all columns or in some: checked in integers, from the data alone."""

from typing import Any

import numpy as np

from separatrix.certificates.exact import dot
from separatrix.certificates.integer_systems import Integers
from separatrix.space import Vector


def dense(X: Any, intercept: bool = False) -> np.ndarray:
    """Return rows as a dense table of float64, with a column of ones for an intercept."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    return np.hstack([X, np.ones((len(X), 1))]) if intercept else X


def integer_columns(Y: np.ndarray) -> tuple[np.ndarray, Integers]:
    """Return the table as Python's integers, and the power of two by which each column is multiplied."""
    columns, factor = [], []
    for column in Y.T.tolist():
        parts = [value.as_integer_ratio() for value in column]
        whole = max((q for _, q in parts), default=1)
        columns.append([p * (whole // q) for p, q in parts])
        factor.append(whole)
    out = np.empty(Y.shape, dtype=object)
    for j, values in enumerate(columns):
        out[:, j] = values
    return out, factor


def combined(X: Any, sign: Vector, rows: list[int], weight: Integers, intercept: bool) -> Integers:
    """Return sum_k weight_k y_k, each column times a power of two; the intercept is the last one.

    Raise ValueError unless the rows are distinct ones of the data, with integers > 0 as weights.
    """
    fits = len(set(rows)) == len(rows) == len(weight) > 0 and all(type(k) is int and 0 <= k < len(sign) for k in rows)
    if not fits or not all(type(w) is int and w > 0 for w in weight):
        raise ValueError
    index = np.array(rows)
    table = integer_columns(dense(X[index], intercept) * sign[index][:, None])[0]
    return [dot(weight, column) for column in table.T.tolist()]
