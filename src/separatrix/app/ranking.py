"""Algorithms on several data sets: average ranks, whether they differ at all, and by how much they have to.

The best algorithm on a data set has rank 1 there, and equal ones share the mean of their ranks. With R_j the average
rank of algorithm j of k over N data sets (Demsar 2006, section 3.2.2):

    Friedman           chi2 = 12 N / (k (k + 1)) (sum R_j^2 - k (k + 1)^2 / 4)
    Iman, Davenport    F = (N - 1) chi2 / (N (k - 1) - chi2), with k - 1 and (k - 1)(N - 1) degrees of freedom
    Nemenyi            CD = q sqrt(k (k + 1) / (6 N)), q the Studentised range of k means divided by sqrt(2)

Two algorithms whose average ranks differ by at least the critical difference CD are distinguished; others are not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from separatrix.errors import DataError


@dataclass(frozen=True, eq=False)
class Ranking:
    """``ranks``: the average rank of each of ``names``; ``p_value``: of Iman and Davenport's test that all are equal.

    ``groups`` holds those that are not distinguished.
    """

    names: list[str]
    ranks: np.ndarray
    data_sets: int
    statistic: float  # Friedman's chi2
    p_value: float
    critical_difference: float
    level: float

    @property
    def order(self) -> np.ndarray:
        """The places of the algorithms, the best first."""
        return np.argsort(self.ranks, kind="stable")

    @property
    def groups(self) -> list[list[int]]:
        """The largest sets of algorithms that are not distinguished, as places, the best first; no set of one."""
        order, found = self.order, list[list[int]]()
        ranks, reached = self.ranks[order], 0
        for first in range(len(order)):
            last = int(np.searchsorted(ranks, ranks[first] + self.critical_difference, side="left"))
            if last - first > 1 and last > reached:
                found.append(order[first:last].tolist())
            reached = max(reached, last)
        return found

    def as_dict(self) -> dict[str, Any]:
        return {
            "ranks": {self.names[j]: float(self.ranks[j]) for j in self.order},
            "data_sets": self.data_sets,
            "friedman": self.statistic,
            "p_value": self.p_value,
            "critical_difference": self.critical_difference,
            "level": self.level,
            "groups": [[self.names[j] for j in group] for group in self.groups],
        }


def ranked(names: Sequence[str], scores: ArrayLike, level: float = 0.05) -> Ranking:
    """Rank algorithms by scores of shape (data sets, algorithms).

    Larger is better. NaN stands for an algorithm that has no answer on a data set: it is last there.

    >>> ranked(["A", "B", "C"], [[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]]).ranks
    array([1.25, 1.75, 3.  ])
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise DataError(f"Scores of shape {values.shape} are no table with a column for each of {len(names)} names.")
    n, k = values.shape
    if n < 2 or k < 2:
        raise DataError(f"Ranks need at least two data sets and two algorithms, not {n} and {k}.")
    if not 0.0 < level < 1.0:
        raise DataError(f"The level of significance lies between 0 and 1; {level} does not.")
    ranks = stats.rankdata(-np.where(np.isnan(values), -np.inf, values), axis=1).mean(axis=0)
    chi2 = max(12.0 * n / (k * (k + 1)) * float(np.sum(np.square(ranks - (k + 1) / 2))), 0.0)
    rest = n * (k - 1) - chi2
    p = float(stats.f.sf((n - 1) * chi2 / rest, k - 1, (k - 1) * (n - 1))) if rest > 1e-9 * n * k else 0.0
    return Ranking(list(names), ranks, n, chi2, p, critical_difference(k, n, level), level)


def critical_difference(algorithms: int, data_sets: int, level: float = 0.05) -> float:
    """Nemenyi's: by how much average ranks have to differ.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    return float(_critical_value(algorithms, level) * np.sqrt(algorithms * (algorithms + 1) / (6.0 * data_sets)))


@cache
def _critical_value(algorithms: int, level: float) -> float:
    return float(stats.studentized_range.ppf(1.0 - level, algorithms, np.inf)) / np.sqrt(2.0)
