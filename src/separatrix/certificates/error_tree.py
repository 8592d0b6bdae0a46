"""A proof that every hyperplane has errors of at least some weight: a tree of cones, decided in integers.

An error is a row that is not strictly on its side. Rows with equal features are merged first: the smaller class of a
point is lost in any case. The rest are vectors b_i, one per point, in a basis in which columns are centered and scaled.

The tree begins with the 2^D orthants of w. It is a list of numbers, in preorder:

    2, k, l, p, q           the cone is split: 2^p g_k + 2^q g_l replaces g_k in one half and g_l in the other
    0, count, i, j, ...     the weight of rows <= 0 on all generators, and of pairs of rows that exclude each other
    1                       the same with the fewest errors on the other rows, which are few, by themselves

Whatever the numbers are, the least weight of all leaves is a bound: nothing in the tree is trusted.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from separatrix.certificates.witness import dense, integer_columns

MOST_SWEPT = 12  # rows of a leaf that are swept
LARGEST_SHIFT = 4096  # p and q: a tree that was made by a search has small ones


class BrokenTreeError(Exception):
    """Raised if numbers are no tree."""


def merged(
    X: np.ndarray, sign: np.ndarray, weight: list[int], intercept: bool
) -> tuple[np.ndarray, np.ndarray, list[int], int]:
    """Return one row per point, its class (-1 or 1), the weight by which that class is heavier, and the weight lost.

    Without an intercept every hyperplane has a row of zeros on it."""
    points, place = np.unique(X + 0.0, axis=0, return_inverse=True)  # -0.0 becomes 0.0
    plus, minus = [0] * len(points), [0] * len(points)
    for k, s, w in zip(place.ravel().tolist(), sign.tolist(), weight, strict=True):
        if s > 0:
            plus[k] += w
        else:
            minus[k] += w
    fixed: Any = (np.zeros(len(points), bool) if intercept else ~points.any(axis=1)).tolist()
    kept = [k for k in range(len(points)) if plus[k] != minus[k] and not fixed[k]]
    net = [plus[k] - minus[k] for k in kept]
    lost = sum(p + m if f else min(p, m) for p, m, f in zip(plus, minus, fixed, strict=True))
    return points[kept], np.sign(np.array(net, dtype=object)).astype(np.float64), [abs(v) for v in net], lost


def integer_weights(weight: np.ndarray) -> tuple[list[int], int]:
    """Return the weights as integers, and the factor that makes them so."""
    parts = [value.as_integer_ratio() for value in weight.tolist()]
    factor = lcm(*(q for _, q in parts)) if parts else 1
    return [p * (factor // q) for p, q in parts], factor


@dataclass(frozen=True, eq=False)
class ErrorTree:
    """The basis and the numbers of a tree.

    ``columns``: those that are independent; the number of columns of X stands for the intercept. ``dependent``: for
    each other column a denominator and the multipliers of these. ``center``, ``shift``: what is subtracted from a
    column, and the power of two by which it is multiplied.
    """

    columns: list[int]
    dependent: dict[int, list[int]]
    center: list[float]
    shift: list[int]
    numbers: np.ndarray = field(repr=False)

    def bound(self, X: np.ndarray, sign: np.ndarray, weight: list[int], intercept: bool) -> int:
        """Return the weight of errors that every hyperplane has; raise `BrokenTreeError` if this is no tree."""
        points, side, net, lost = merged(X, sign, weight, intercept)
        if not len(points):
            return lost
        table = self._in_basis(points, side, intercept)
        D = table.shape[1]
        reader, least = _Reader(self.numbers), sum(net)
        for orthant in range(2**D):
            signs = [1 if orthant >> c & 1 else -1 for c in range(D)]
            least = min(least, _least(reader, [table[:, c] * signs[c] for c in range(D)], table, net))
        if reader.at != len(reader.numbers):
            raise BrokenTreeError
        return lost + least

    def _in_basis(self, points: np.ndarray, side: np.ndarray, intercept: bool) -> np.ndarray:
        d = points.shape[1]
        Y = dense(points, intercept)
        table, factor = integer_columns(Y)
        names = self.columns
        if sorted([*names, *self.dependent]) != list(range(Y.shape[1])) or not len(names):
            raise BrokenTreeError
        if len(self.center) != len(names) or len(self.shift) != len(names):
            raise BrokenTreeError
        if (d in names) != intercept or any(type(x) is not int or abs(x) > LARGEST_SHIFT for x in self.shift):
            raise BrokenTreeError
        for j, (denominator, *multipliers) in self.dependent.items():
            if not denominator or len(multipliers) != len(names):
                raise BrokenTreeError
            powers = [max(factor) // factor[c] for c in (j, *names)]
            combined = table[:, j] * (-denominator * powers[0])
            for c, multiplier, q in zip(names, multipliers, powers[1:], strict=True):
                combined = combined + table[:, c] * (multiplier * q)
            if np.any(combined):
                raise BrokenTreeError
        basis, one = [], np.array([1] * len(Y), dtype=object)
        for c, center, shift in zip(names, self.center, self.shift, strict=True):
            middle = Fraction(center)
            if middle and (not intercept or c == d):
                raise BrokenTreeError
            column = table[:, c] * middle.denominator - one * (middle.numerator * factor[c])
            scale = Fraction(2) ** shift / (middle.denominator * factor[c])
            basis.append((column * scale.numerator, scale.denominator))
        common = lcm(*(q for _, q in basis))
        whole = [column * (common // q) for column, q in basis]
        return np.stack(whole, axis=1) * np.array([int(s) for s in side.tolist()], dtype=object)[:, None]


class _Reader:
    def __init__(self, numbers: Any):
        self.numbers, self.at = np.asarray(numbers).tolist(), 0

    def next(self, count: int) -> list[int]:
        found = self.numbers[self.at : self.at + count]
        if len(found) < count or any(type(x) is not int or x < 0 for x in found):
            raise BrokenTreeError
        self.at += count
        return found


def _least(reader: _Reader, products: list[np.ndarray], table: np.ndarray, net: list[int]) -> int:
    """Return the least weight of the leaves of one orthant."""
    weight = np.array(net, dtype=object)
    least, D = sum(net), len(products)
    values = np.stack(products)
    stack = [(values, _signs(values), np.arange(len(net)), 0)]
    while stack:
        values, signs, rows, errors = stack.pop()
        wrong, mixed = signs.max(axis=0) <= 0, (signs.max(axis=0) > 0) & (signs.min(axis=0) <= 0)
        errors += int(weight[rows[wrong]].sum())
        values, signs, rows = values[:, mixed], signs[:, mixed], rows[mixed]
        (kind,) = reader.next(1)
        if kind == 2:
            k, l, p, q = reader.next(4)
            if k >= D or l >= D or k == l or max(p, q) > LARGEST_SHIFT:
                raise BrokenTreeError
            middle = values[k] * (1 << p) + values[l] * (1 << q)
            sign = _signs(middle)
            for out in (k, l):
                own, own_signs = values.copy(), signs.copy()
                own[out], own_signs[out] = middle, sign
                stack.append((own, own_signs, rows, errors))
        elif kind == 0:
            (count,) = reader.next(1)
            pairs = reader.next(2 * count)
            least = min(least, errors + _of_pairs(values, rows, weight, pairs))
        elif kind == 1:
            if len(rows) > MOST_SWEPT:
                raise BrokenTreeError
            least = min(least, errors + fewest_on(table[rows].tolist(), [net[i] for i in rows.tolist()]))
        else:
            raise BrokenTreeError
    return least


def _signs(values: np.ndarray) -> np.ndarray:
    return (values > 0).astype(np.int8) - (values < 0).astype(np.int8)


def _of_pairs(values: np.ndarray, rows: np.ndarray, weight: np.ndarray, pairs: list[int]) -> int:
    """Return the weight of pairs that exclude each other, each row counted at most once."""
    place = {row: i for i, row in enumerate(rows.tolist())}
    left = {row: weight[row] for row in place}
    total = 0
    for i, j in zip(pairs[::2], pairs[1::2], strict=True):
        if i == j or max(i, j) >= len(weight):
            raise BrokenTreeError
        if i not in place or j not in place:
            continue  # rounding hid from the search that a row is an error on the whole cone
        if not excluded(values[:, place[i]].tolist(), values[:, place[j]].tolist()):
            raise BrokenTreeError
        f = min(left[i], left[j])
        left[i] -= f
        left[j] -= f
        total += f
    return total


def excluded(first: list[int], second: list[int]) -> bool:
    """Is second + t first <= 0 in all places for some t >= 0, or first <= 0?"""
    low, of_low, high, of_high = 0, 1, 1, 0
    for a, b in zip(first, second, strict=True):
        if b > 0:
            if a >= 0:
                return False
            if b * of_low > low * -a:
                low, of_low = b, -a
        elif a > 0 and -b * of_high < high * a:
            high, of_high = -b, a
    return low * of_high <= high * of_low


def fewest_on(rows: list[list[int]], weight: list[int], best: int | None = None, last: int = 1) -> int:
    """Return the least weight of errors on these rows, or ``best`` if it is less, exactly.

    Some best cell has a facet on the hyperplane of a row. That row and its multiples fall to their better side; the
    others are projected on its hyperplane, without fractions (Bareiss).
    """
    best = sum(weight) if best is None else best
    zero = sum(w for row, w in zip(rows, weight, strict=True) if not any(row))
    rest = [(row, w) for row, w in zip(rows, weight, strict=True) if any(row)]
    if zero >= best or not rest:
        return min(best, zero)
    if len(rest[0][0]) == 1:
        right = sum(w for row, w in rest if row[0] > 0)
        return min(best, zero + min(right, sum(w for _, w in rest) - right))
    for row, _ in rest:
        p = next(j for j, x in enumerate(row) if x)
        pivot, same, other = row[p], 0, 0
        projected, kept = [], []
        for z, w in rest:
            out = [
                (x * pivot - y * z[p]) * (1 if pivot > 0 else -1) // last
                for j, (x, y) in enumerate(zip(z, row, strict=True))
                if j != p
            ]
            if any(out):
                projected.append(out)
                kept.append(w)
            elif z[p] * pivot > 0:
                same += w
            else:
                other += w
        errors = zero + min(same, other)
        if errors < best:
            best = min(best, errors + fewest_on(projected, kept, best - errors, abs(pivot)))
    return best
