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
