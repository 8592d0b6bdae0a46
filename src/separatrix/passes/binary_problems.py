"""Many categories from two: which binary problems to solve (DHS 5.2.2), and what their answers together say."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from separatrix.space import Vector


def binary_labels(codes: np.ndarray, n_classes: int) -> list[Vector]:
    """One-vs-rest: labels -1 and +1 of each problem, from the numbers of classes. Of two classes the second is +1."""
    if n_classes == 2:
        return [2.0 * codes - 1.0]
    return [np.where(np.arange(n_classes) == k, 1.0, -1.0)[codes] for k in range(n_classes)]


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """One-vs-one: numbers of the classes of each problem; the second is +1."""
    return list(combinations(range(n_classes), 2))


def pair_votes(scores: NDArray[np.float64], n_classes: int) -> NDArray[np.bool_]:
    """``won[k, i, j]``: does row k belong to i rather than to j? A score of 0 is won by neither."""
    won = np.zeros((len(scores), n_classes, n_classes), dtype=bool)
    for p, (i, j) in enumerate(pairs(n_classes)):
        won[:, j, i] = scores[:, p] > 0
        won[:, i, j] = scores[:, p] < 0
    return won


def claims_by_pairs(scores: NDArray[np.float64], n_classes: int) -> NDArray[np.bool_]:
    """Which category wins against every other class; there is one at most."""
    return pair_votes(scores, n_classes).sum(axis=2) == n_classes - 1


def votes(scores: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """PairFits that each category wins, ties broken by the sum of scores squeezed into (-1/2, 1/2)."""
    won, sums = np.zeros((2, n_classes, len(scores)))
    for pair, (i, j) in zip(np.ascontiguousarray(scores.T), pairs(n_classes), strict=True):  # a line is read at once
        positive = pair > 0
        won[j] += positive
        won[i] += ~positive
        sums[j] += pair
        sums[i] -= pair
    return (won + sums / (3.0 * (np.abs(sums) + 1.0))).T.copy()
