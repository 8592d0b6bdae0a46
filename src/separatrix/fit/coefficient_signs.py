"""Sign constraints of coefficients, as users give them."""

from typing import Any

import numpy as np

from separatrix.errors import DataError


def signs_of(positive: Any, columns: int) -> str:
    """Return the constraints as `separatrix.space.Space` has them, a character per column; "" if there are none.

    ``positive``: True, False, or +1, -1 or 0 for each column.
    """
    if isinstance(positive, (bool, np.bool_)):
        return "+" * columns if positive else ""
    given = np.asarray(positive)
    if given.shape != (columns,) or not np.isin(given, (-1, 0, 1)).all():
        raise DataError(
            f"positive: expected True, False or {columns} numbers +1, -1 or 0, one for each column (got an array of "
            f"shape {given.shape} and type {given.dtype}). Use 0 for a coefficient of any sign."
        )
    return "".join("0+-"[int(sign)] for sign in given) if given.any() else ""
