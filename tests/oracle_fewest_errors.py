"""Which rows have to be removed until a hyperplane separates the rest: all subsets, in fractions, for tiny data.

It shares nothing with the package. Some vector has a.y > 0 for all patterns unless 0 lies in their convex hull; then 0
lies already in that of at most one pattern more than there are columns (Caratheodory). So a set of rows may stay if it
contains none of these smallest sets.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np


def patterns(X, y, fit_intercept):
    """l (x, 1), or l x for hyperplanes through the origin; l is +1 for the larger label, else -1."""
    rows = [[Fraction(v) for v in x] + [Fraction(1)] * fit_intercept for x in np.asarray(X, float).tolist()]
    return [[v if label == max(y) else -v for v in row] for row, label in zip(rows, y, strict=True)]


def smallest_witnesses(Y):
    """The sets of numbers of patterns that positive weights combine to 0, without those that contain another one.

    Such a set has one combination that vanishes, up to a factor.
    """
    found = []
    for size in range(1, min(len(Y), len(Y[0]) + 1) + 1):
        for rows in combinations(range(len(Y)), size):
            weight = _vanishing([Y[k] for k in rows])
            if weight is not None and all(w > 0 for w in weight):
                found.append(set(rows))
    return found


def may_stay(witnesses, rows):
    """Are the patterns of these rows strictly separable? No rows are."""
    return not any(witness <= set(rows) for witness in witnesses)


def fewest(witnesses, n, weight=None):
    """The smallest weight of rows whose removal leaves separable ones."""
    weight = [1] * n if weight is None else weight
    everything = set(range(n))
    subsets = [out for k in range(n + 1) for out in combinations(range(n), k)]
    subsets.sort(key=lambda out: sum(weight[k] for k in out))
    return next(sum(weight[k] for k in out) for out in subsets if may_stay(witnesses, everything - {*out}))


def _vanishing(Y):
    """The weights, with one of them 1, of the only combination that vanishes; None where there is none, or several."""
    columns = [list(column) for column in zip(*Y, strict=True)]
    pivots = []
    for k in range(len(Y)):  # Gauss and Jordan
        at = next((i for i in range(len(pivots), len(columns)) if columns[i][k]), None)
        if at is None:
            continue
        here = len(pivots)
        columns[here], columns[at] = columns[at], columns[here]
        columns[here] = [v / columns[here][k] for v in columns[here]]
        for i, row in enumerate(columns):
            if i != here and row[k]:
                columns[i] = [v - row[k] * p for v, p in zip(row, columns[here], strict=True)]
        pivots.append(k)
    if len(pivots) != len(Y) - 1:
        return None
    left = next(k for k in range(len(Y)) if k not in pivots)
    weight = [Fraction(0)] * len(Y)
    weight[left] = Fraction(1)
    for row, k in zip(columns, pivots, strict=False):
        weight[k] = -row[left]
    return weight
