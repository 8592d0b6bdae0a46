"""What the fit of a problem comes to, and how the results of all problems become the attributes of an estimator."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from separatrix.certificates.certificate import Certificate

UNKNOWN = (np.nan, np.nan)  # margins that are not measured


ORDER = {"interrupted": 0, "callback": 1, "max_time": 2, "stalled": 4, "converged": 5}  # the worst first


class Result(NamedTuple):
    """One problem: a class against the rest, a pair of classes, or all classes at once."""

    predicting: dict[str, Any]  # the attributes that scores are computed from, of this problem alone
    reason: str  # "converged", or why it ended
    certificate: Certificate | None
    margins: tuple[float, float] | None = UNKNOWN  # directional and geometric; None if no vector predicts
    own: dict[str, Any] = {}  # other attributes, which the estimator's `_joins` join


def why_stopped(reasons: Sequence[str]) -> str:
    """How a fit of several problems ended: as the one that ended worst."""
    return min(reasons, key=lambda reason: ORDER.get(reason, 3)) if len(reasons) > 1 else reasons[0]


# Ways to join the values of all problems.


total, first = sum, itemgetter(0)


def each(values: list[Any]) -> Any:
    """A list of them, of one problem its value."""
    return values[0] if len(values) == 1 else values


def union(values: list[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate(values))


def joined(values: list[Any]) -> Any:
    """One array, or one list."""
    if len(values) == 1:
        return values[0]
    return [item for value in values for item in value] if isinstance(values[0], list) else np.concatenate(values)


def joined_duals(rows: list[np.ndarray], duals: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows that support any of several problems, in order, and a line of multiples of them for each."""
    if len(rows) == 1:
        order = rows[0].argsort(kind="stable")
        return rows[0][order], duals[0][:, order]
    supports = np.zeros(max(int(numbers.max(initial=-1)) for numbers in rows) + 1, dtype=bool)
    for numbers in rows:
        supports[numbers] = True
    support = np.flatnonzero(supports)
    table = np.zeros((len(rows), len(support)))
    for line, numbers, values in zip(table, rows, duals, strict=True):
        line[np.searchsorted(support, numbers)] = values[0]
    return support, table
