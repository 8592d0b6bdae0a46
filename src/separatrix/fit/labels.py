"""Labels as numbers of classes, without sorting them."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from separatrix.errors import DataError

TABLE_SPAN = 1 << 16  # integers between the smallest and the largest label up to which a table finds their numbers
EXACT_IN_FLOAT32 = 2.0**24  # integers up to which floats of either type are exact
SUSPICIOUS = (
    20  # labels; of more, as many classes as half of them may be numbers to predict: scikit-learn looks at them
)
A_FEW = 1000  # labels, among which a third class shows as a rule
LABELS_AT_A_TIME = 1 << 16  # labels that are looked up at a time


def is_plain_vector(y: Any, n: int) -> bool:
    """Are these n labels of which scikit-learn's checks would have nothing to say?"""
    return type(y) is np.ndarray and y.shape == (n,) and (y.dtype.kind in "biu" or _are_whole(y))


def _are_whole(y: np.ndarray) -> bool:
    """Are these floats integers near each other? Neither nan nor infinity is."""
    if y.dtype.char not in "fd" or not len(y):
        return False
    low, high = math.inf, -math.inf
    for piece in _pieces(y):
        low, high = min(low, float(piece.min())), max(high, float(piece.max()))
        if not (high - low < TABLE_SPAN and abs(low) < EXACT_IN_FLOAT32 and (np.trunc(piece) == piece).all()):
            return False
    return True


def _pieces(y: np.ndarray) -> Iterator[np.ndarray]:
    """All labels, as many at a time as fit into the cache."""
    return (y[first : first + LABELS_AT_A_TIME] for first in range(0, len(y), LABELS_AT_A_TIME))


def classes_and_codes(y: np.ndarray, plain: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The classes in order, and the number of the class of each row. What holds no classes is refused.

    ``plain``: whether `is_plain_vector` has been asked and said so.
    """
    if len(y) and (plain or y.dtype.kind in "iub" or _are_whole(y)):
        low, high = int(y.min()), int(y.max())
        if high - low < TABLE_SPAN and high < 2**63:
            classes, codes = _of_two(y, low, high) or _by_table(
                y.view(np.uint8) if y.dtype.kind == "b" else y, low, high, y.dtype
            )
            if len(y) > SUSPICIOUS and 2 * len(classes) >= len(y):
                check_classification_targets(y)
            return classes, codes
    check_classification_targets(y)
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)  # return_inverse would sort all labels


def _of_two(y: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The same where all labels are one of these two, the smallest and the largest, and these differ."""
    if len(y) > A_FEW and _of_two(y[:A_FEW], low, high) is None:
        return None
    upper = y == high
    if low == high or np.count_nonzero(upper) + np.count_nonzero(y == low) < len(y):
        return None
    return np.array([low, high], dtype=y.dtype), upper.astype(np.int64)


def _by_table(y: np.ndarray, low: int, high: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """The same for integers between two that are near each other, a piece at a time."""
    occurs, codes = np.zeros(high - low + 1, dtype=bool), np.empty(len(y), dtype=np.int64)
    pieces = [slice(first, first + LABELS_AT_A_TIME) for first in range(0, len(y), LABELS_AT_A_TIME)]
    for piece in pieces:
        codes[piece] = place = y[piece].astype(np.int64) - low
        occurs[place] = True
    classes = (occurs.nonzero()[0] + low).astype(dtype)
    if len(classes) < len(occurs):
        number = occurs.cumsum() - 1
        for piece in pieces:
            codes[piece] = number[codes[piece]]
    return classes, codes


def codes_among(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The numbers of labels that have to be among given classes."""
    try:
        codes: Any = np.searchsorted(classes, y)
    except TypeError as error:
        raise DataError(f"y holds labels of another type than the classes {classes!r}.") from error
    known = codes < len(classes)
    known[known] = classes[codes[known]] == y[known]
    if not np.all(known):
        raise DataError(f"y holds the label {y[~known][0]!r}, which is not among the classes {classes!r}.")
    return codes
