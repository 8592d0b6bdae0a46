"""Exact answers for small data, by an integer simplex that shares nothing with the package.

Which patterns can be positive at once, while none is negative? One linear program in integers tells:

    maximise sum t_k  subject to  t_k <= a.y_k,  0 <= t_k <= 1,

since the set of such vectors is convex and may be scaled: an optimal t is 1 on these patterns and 0 on the others.
"""

from fractions import Fraction

import numpy as np


def patterns(X, codes, rho):
    """Patterns of exact fractions: y = l (x, rho) of two classes, Kesler's of more."""
    c = int(max(codes)) + 1
    rows = [[Fraction(v) for v in x] + ([Fraction(rho)] if rho else []) for x in np.asarray(X, float).tolist()]
    if c == 2:
        return [[v if k == 1 else -v for v in row] for row, k in zip(rows, codes, strict=True)]
    out, width = [], len(rows[0])
    for row, k in zip(rows, codes, strict=True):
        for j in range(c):
            if j != k:
                y = [Fraction(0)] * (c * width)
                y[k * width : (k + 1) * width] = row
                y[j * width : (j + 1) * width] = [-v for v in row]
                out.append(y)
    return out


def kind(Y):
    """ "complete", "quasi-complete" or "none"."""
    distinct = sorted(set(map(tuple, map(_primitive, Y))))
    if not distinct or all(not any(y) for y in distinct):
        return "none"
    positive = _positive([y for y in distinct if any(y)])
    some_zero = any(not any(y) for y in distinct)
    if all(positive) and not some_zero:
        return "complete"
    return "quasi-complete" if any(positive) else "none"


def _primitive(y):
    """A positive multiple in integers, without a common factor."""
    scale = 1
    for v in y:
        scale = scale * v.denominator // np.gcd.reduce(np.array([scale, v.denominator], dtype=object))
    whole = [int(v * scale) for v in y]
    common = 0
    for v in whole:
        common = int(np.gcd.reduce(np.array([common, v], dtype=object)))
    return [v // common for v in whole] if common else whole


def _positive(Y):
    """Which rows of integers can be positive at once: a condensed tableau, fraction-free, with Bland's rule.

    Variables: t_k, b_j >= 0 and e >= 0 with a_j = b_j - e; slacks of t_k - y_k.a <= 0 and of t_k <= 1.
    """
    n, m = len(Y), len(Y[0])
    A = np.array(Y, dtype=object)
    left = np.vstack([np.eye(n, dtype=object), np.eye(n, dtype=object)])
    middle = np.vstack([-A, np.zeros((n, m), dtype=object)])
    last = np.concatenate([A.sum(axis=1), np.zeros(n, dtype=object)])[:, None]
    right = np.array([0] * n + [1] * n, dtype=object)[:, None]
    T = np.vstack([np.hstack([left, middle, last, right]), np.zeros((1, n + m + 2), dtype=object)])
    T[-1, :n] = -1  # the value to maximise
    T = np.array([[int(v) for v in row] for row in T], dtype=object)
    basic, free, D = list(range(n + m + 1, 3 * n + m + 1)), list(range(n + m + 1)), 1
    while True:
        entering = [j for j in range(n + m + 1) if T[-1, j] < 0]
        if not entering:
            break
        s = min(entering, key=lambda j: free[j])
        r = -1
        for i in range(2 * n):
            if T[i, s] > 0:
                better = r < 0 or T[i, -1] * T[r, s] < T[r, -1] * T[i, s]
                tie = r >= 0 and T[i, -1] * T[r, s] == T[r, -1] * T[i, s] and basic[i] < basic[r]
                if better or tie:
                    r = i
        assert r >= 0, "the program is bounded"
        p, row, column = T[r, s], T[r].copy(), T[:, s].copy()
        T = (T * p - np.outer(column, row)) // D
        T[r], T[:, s], T[r, s] = row, -column, D
        T[r, s] = D
        D = p
        basic[r], free[s] = free[s], basic[r]
    value = dict.fromkeys(range(n), 0)
    value.update({b: T[i, -1] for i, b in enumerate(basic) if b < n})
    return [value[k] > 0 for k in range(n)]


def shortened(a, Y, bias):
    """A vector of the package, (w, b/rho) for each category, without the places of a bias that is not there."""
    a = np.asarray(a, dtype=object)
    if bias:
        return a.tolist()
    vectors = 1 if len(a) == len(Y[0]) + 1 else len(a) - len(Y[0])
    return a.reshape(vectors, -1)[:, :-1].ravel().tolist()


def margins(Y, a, bias):
    """Which y_k.a are positive, exactly."""
    a = [Fraction(v) for v in shortened(a, Y, bias)]
    return [sum(u * v for u, v in zip(y, a, strict=True)) > 0 for y in Y]


def reaches(Y, a, lower, free=False):
    """Is min y_k.a >= lower |a|, exactly? The last coordinate does not count in |a| where the bias is free."""
    a = [Fraction(v) for v in a]
    smallest = min(sum(u * v for u, v in zip(y, a, strict=True)) for y in Y)
    square = sum(v * v for v in (a[:-1] if free else a))
    lower = Fraction(lower)
    if not square:
        return lower <= 0
    if lower <= 0:
        return smallest >= 0 or smallest**2 <= lower**2 * square
    return smallest >= 0 and smallest**2 >= lower**2 * square


def bounds(Y, index, alpha, upper, extension=None, free=False):
    """Is |sum alpha_k y_k^ext| <= upper sum alpha_k, exactly? ``extension``: Delta_k^2 of each pattern."""
    alpha = [Fraction(v) for v in alpha]
    total = [sum(w * Y[k][j] for k, w in zip(index, alpha, strict=True)) for j in range(len(Y[0]))]
    if free:  # an unpenalized intercept is bounded by R: what is left of its coordinate counts that often
        radius = max(sum(v * v for v in y[:-1]) for y in Y)
        left, total = abs(total[-1] / Fraction(1)), total[:-1]
        own = sum((w * w * extension[k] for k, w in zip(index, alpha, strict=True)), Fraction(0)) if extension else 0
        right = Fraction(upper) * sum(alpha) - left * Fraction(float(radius) ** 0.5 * (1 + 1e-9))
        return right >= 0 and sum(v * v for v in total) + own <= right**2
    own = sum((w * w * extension[k] for k, w in zip(index, alpha, strict=True)), Fraction(0)) if extension else 0
    return sum(v * v for v in total) + own <= (Fraction(upper) * sum(alpha)) ** 2


def soft_reaches(Y, a, lower, extension, free=False):
    """Is lower^2 J <= 1 for some multiple v a: J = v^2 |a|^2 + sum max(0, 1 - v a.y_k)^2 / Delta_k^2, exactly?"""
    a = [Fraction(v) for v in a]
    m = [sum(u * v for u, v in zip(y, a, strict=True)) for y in Y]
    square = sum(v * v for v in (a[:-1] if free else a))

    def value(v):
        return v * v * square + sum(max(Fraction(0), 1 - v * x) ** 2 / e for x, e in zip(m, extension, strict=True))

    candidates = [Fraction(0)]
    v, f = 0.0, [float(x) for x in m]
    w = [1.0 / float(e) for e in extension]
    for _ in range(100):  # Newton's steps on a convex, piecewise quadratic function
        slack = [1.0 - v * x > 0 for x in f]
        slope = v * float(square) - sum(c * x * (1 - v * x) for c, x, s in zip(w, f, slack, strict=True) if s)
        bend = float(square) + sum(c * x * x for c, x, s in zip(w, f, slack, strict=True) if s)
        if not bend > 0 or abs(slope / bend) <= 1e-16 * abs(v):
            break
        v = max(v - slope / bend, 0.0)
        candidates.append(Fraction(v))
    return lower <= 0 or any(Fraction(lower) ** 2 * value(v) <= 1 for v in candidates[-3:])
