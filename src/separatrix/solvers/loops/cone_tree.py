"""A tree of cones in which every vector has at least K errors.

A cone is spanned by D vectors. Rows are known by their products v_k with these. A row is an error on the whole cone if
all of them are <= 0. Two rows cannot both be right on it if b + t a <= 0 for some t >= 0, with a and b their products:

    t >= b_k / |a_k| where a_k < 0 < b_k,   t <= |b_k| / a_k where b_k <= 0 < a_k,   never where a_k = 0 < b_k.

Disjoint pairs of rows add up. If errors and pairs are fewer than K, the cone is split: one of two generators is
replaced by 2^p v_k + 2^q v_l, in turns. Products are rounded; ``E`` bounds their errors and is 0 as long as they are
exact, so that a row or a pair is counted only if it surely is one.
"""

from typing import Any

import numpy as np
from numba.extending import register_jitable

from separatrix.compile_cache import compiled, on_first_use

OPEN, DONE, STUCK, ASKS, FULL = 0, 1, 2, 3, 4  # how `grow` ends
EPS = 2.0**-52
DEPTH, LEAST_DEPTH, STACK_VALUES = 500, 40, 4_000_000  # cones on the stack, and their values
SPLITTER = 134217729.0  # 2^27 + 1: Dekker's product


@register_jitable
def below(a, b, c, d):
    """Is a b <= c d? For products that are not negative, without rounding; in doubt no."""
    p, q = a * b, c * d
    if p != q or not 1e-250 < p < 1e250 or max(a, b, c, d) > 1e250:
        return p < q or (p == q == 0.0 and (a == 0.0 or b == 0.0) and (c == 0.0 or d == 0.0))
    return product_error(a, b, p) <= product_error(c, d, q)


@register_jitable
def product_error(a, b, p):
    """Return a b - p, exactly, for p = a b rounded (Dekker 1971)."""
    x, y = SPLITTER * a, SPLITTER * b
    ah, bh = x - (x - a), y - (y - b)
    al, bl = a - ah, b - bh
    return ((ah * bh - p) + ah * bl + al * bh) + al * bl


@register_jitable
def excluded(V, E, i, j):
    """Can rows i and j surely not both be right on a cone?"""
    D = len(V)
    low, of_low, high, of_high = 0.0, 1.0, 1.0, 0.0  # fractions: 0/1 and 1/0
    for k in range(D):
        a, b = V[k, i] + E[k], V[k, j] + E[k]
        if b > 0.0:
            if a >= 0.0:
                return False
            if b * of_low > low * -a:
                low, of_low = b, -a
        elif a > 0.0 and -b * of_high < high * a:
            high, of_high = -b, a
        if low * of_high > high * of_low * (1.0 + 8.0 * EPS):
            return False
    if low * of_high * (1.0 + 8.0 * EPS) < high * of_low:
        return True
    for k in range(D):  # nearly or exactly equal: all bounds from below against all from above
        a, b = V[k, i] + E[k], V[k, j] + E[k]
        if b > 0.0:
            for l in range(D):
                c, d = V[l, i] + E[l], V[l, j] + E[l]
                if d <= 0.0 and c > 0.0 and not below(b, c, -d, -a):
                    return False
    return low > 0.0


@on_first_use
def grow(key: str) -> Any:
    """Work on a stack of cones until it is empty, a cone is stuck, one asks for a sweep, or ``work`` is used up.

    Writes (0, pairs, i, j, i, j, ...) for a cone that is done, (2, k, l, p, q) for a split. A cone of at most ``few``
    rows asks, unless it is the first one and ``asked``. Returns how it ended, the top of the stack (-1: empty), the
    size of the tree and the work that is left.
    """

    def run(G, V, E, I, M, N, top, W, K, unit, few, asked, work, tree, size):
        key  # noqa: B018
        D, depth = G.shape[1], len(M)
        left = np.empty(len(W))
        while top >= 0:
            m, neg = M[top], N[top]
            if work <= 0:
                return OPEN, top, size, work
            if size + 2 * m + 8 > len(tree):
                return FULL, top, size, work
            work -= 4 * D * m
            mixed = 0.0
            for t in range(m):
                left[t] = W[I[top, t]]
                mixed += left[t]
            if neg >= K or neg + 0.5 * mixed >= K:
                first, found = size, neg
                size += 2
                for i in range(m):
                    if found >= K:
                        break
                    for j in range(i + 1, m):
                        if left[i] <= 0.0 or found >= K:
                            break
                        if left[j] <= 0.0:
                            continue
                        work -= D
                        if excluded(V[top], E[top], i, j):
                            f = min(left[i], left[j])
                            left[i] -= f
                            left[j] -= f
                            found += f
                            tree[size], tree[size + 1] = I[top, i], I[top, j]
                            size += 2
                if found >= K:
                    tree[first], tree[first + 1] = 0, (size - first - 2) // 2
                    top -= 1
                    asked = False
                    continue
                size = first
                if m <= few and not asked:
                    return ASKS, top, size, work
            asked = False
            if m == 0 or top + 1 >= depth:
                return STUCK, top, size, work
            score, bk, bl = -1.0, 0, 1
            for k in range(D):
                for l in range(k + 1, D):
                    c = 0.0
                    for t in range(m):
                        if V[top, k, t] * V[top, l, t] < 0.0:
                            c += W[I[top, t]]
                    product, g, h = 0.0, 0.0, 0.0
                    for r in range(D):
                        product += G[top, k, r] * G[top, l, r]
                        g += G[top, k, r] ** 2
                        h += G[top, l, r] ** 2
                    c = (c + 1e-6) * (1.0 - product / np.sqrt(g * h) + 1e-18)
                    if c > score:
                        score, bk, bl = c, k, l
            p, q, nk, nl = 0, 0, 0.0, 0.0
            for r in range(D):
                nk += abs(G[top, bk, r])
                nl += abs(G[top, bl, r])
            while nk * 2.0**p * 1.5 < nl:
                p += 1
            while nl * 2.0**q * 1.5 < nk:
                q += 1
            tree[size], tree[size + 1], tree[size + 2], tree[size + 3], tree[size + 4] = 2, bk, bl, p, q
            size += 5
            work -= D * D * m
            P, Q, largest = 2.0**p, 2.0**q, 0.0
            G[top + 1] = G[top]
            E[top + 1] = E[top]
            for r in range(D):
                G[top + 1, bl, r] = G[top, bk, r] * P + G[top, bl, r] * Q
                G[top, bk, r] = G[top + 1, bl, r]
            for t in range(m):
                largest = max(largest, abs(V[top, bk, t] * P + V[top, bl, t] * Q))
            error = (E[top, bk] * P + E[top, bl] * Q) * (1.0 + 4.0 * EPS)
            error += 0.0 if largest <= unit else 4.0 * EPS * largest
            E[top + 1, bl] = error
            E[top, bk] = error
            m0, m1, n0, n1 = 0, 0, neg, neg
            for t in range(m):
                row, mid = I[top, t], V[top, bk, t] * P + V[top, bl, t] * Q
                some0, some1, all0, all1 = False, False, True, True  # whether products may be, and are positive
                for k in range(D):
                    v = V[top, k, t]
                    V[top + 1, k, m1] = v
                    V[top, k, m0] = v
                for k in range(D):
                    v1 = mid if k == bl else V[top + 1, k, m1]
                    v0 = mid if k == bk else V[top, k, m0]
                    some1 |= v1 + E[top + 1, k] > 0.0
                    some0 |= v0 + E[top, k] > 0.0
                    all1 &= v1 > 0.0
                    all0 &= v0 > 0.0
                V[top + 1, bl, m1] = mid
                V[top, bk, m0] = mid
                I[top + 1, m1] = I[top, m0] = row
                if not some1:
                    n1 += W[row]
                elif not all1:
                    m1 += 1
                if not some0:
                    n0 += W[row]
                elif not all0:
                    m0 += 1
            M[top], N[top], M[top + 1], N[top + 1] = m0, n0, m1, n1
            top += 1
        return DONE, top, size, work

    return compiled(run)


def empty_stack(n: int, D: int) -> tuple[np.ndarray, ...]:
    """Return G, V, E, I, M and N for n rows and cones of D generators."""
    depth = int(min(DEPTH, max(STACK_VALUES // max(n * D, 1), LEAST_DEPTH)))
    floats = np.zeros((depth, D, D)), np.zeros((depth, D, n)), np.zeros((depth, D))
    return *floats, np.zeros((depth, n), np.int64), np.zeros(depth, np.int64), np.zeros(depth)


def load(n: int, D: int) -> None:
    """Compile or load the kernel, if that is worth it for n rows, on a cone that needs no work."""
    *stack, errors = empty_stack(n, D)
    errors[0] = 1.0
    grow()(*stack, errors, 0, np.ones(n), 1.0, 1.0, 0, False, 1, np.zeros(16, np.int64), 0)
