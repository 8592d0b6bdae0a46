"""The shortest vector with V w >= b: the dual active set method of Goldfarb & Idnani (1983), section 4.

    minimise |w|^2/2  subject to  v_i.w >= b_i;    w = sum u_i v_i,   u >= 0 on the tight rows A and 0 elsewhere

It holds the solution for the rows A and goes on to one more row that it violates: along z, the part of the new row that
is orthogonal to A, until the row is tight, or until the multiplier of a row of A is used up, which then leaves. Every
step lengthens w, so no A returns. The rows of A are kept as ``Q^t R``, Q with orthonormal rows: a row joins by Gram
and Schmidt, and leaves by rotations. Whatever is optimal for some rows is where the search for more rows goes on.
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use

OPTIMAL, INFEASIBLE, UNFINISHED = 0, 1, 2
DEPENDENT = 1e-12  # of a row's length: what is left of it beside A is rounding error
ORTHOGONAL = 0.5  # part of a row that is left beside A, from which one round of Gram and Schmidt is enough
LISTED = 12  # violated rows that are looked for at a time


@on_first_use
def dual_active_set(key: str) -> Any:
    """Up to ``steps`` searches for violated rows, of which up to LISTED join; returns how it ended and the size of A.

    ``V``: rows, ``norms``: their lengths, ``right``: b; ``w``, ``Q``, ``R``, ``active``, ``u``, ``size``: where it
    stands. ``slack``: what a product may lack of b, per length of row and vector. Where nothing satisfies all rows,
    ``active[:size + 1]`` and ``u`` are a combination that is as good as 0.
    """

    def run(V, norms, right, w, Q, R, active, u, size, slack, steps):
        key  # noqa: B018  a closure cell, for numba's cache key
        count, width = V.shape
        q, r, z = np.zeros(Q.shape[0]), np.zeros(Q.shape[0]), np.zeros(width)
        worst, depth = np.zeros(LISTED, np.int64), np.zeros(LISTED)
        tight = np.zeros(count, np.bool_)
        for j in range(size):
            tight[active[j]] = True
        for _ in range(steps):
            square = 0.0
            for c in range(width):
                square += w[c] * w[c]
            length = np.sqrt(square)
            # The rows that are farthest behind, in lengths of their own: several, where looking costs more than a step.
            most = min(max(count // (size + 8), 1), LISTED)
            listed = 0
            for i in range(count):
                if tight[i]:
                    continue
                m = 0.0
                for c in range(width):
                    m += V[i, c] * w[c]
                behind = (right[i] - m) / norms[i]
                if right[i] - m <= slack * (norms[i] * length + 1.0) or (listed == most and behind <= depth[most - 1]):
                    continue
                place = listed if listed < most else most - 1
                while place > 0 and depth[place - 1] < behind:
                    worst[place], depth[place] = worst[place - 1], depth[place - 1]
                    place -= 1
                worst[place], depth[place] = i, behind
                listed = min(listed + 1, most)
            if listed == 0:
                return OPTIMAL, size
            for number in range(listed):
                p = worst[number]
                m = 0.0
                for c in range(width):
                    m += V[p, c] * w[c]
                if right[p] - m <= slack * (norms[p] * length + 1.0):
                    continue
                own = 0.0  # the multiplier of row p
                while True:
                    # q = Q v,  z = v - Q^t q
                    before = norms[p] * norms[p]
                    left = before
                    for c in range(width):
                        z[c] = V[p, c]
                    for j in range(size):
                        q[j] = 0.0
                    for _round in range(3):
                        for j in range(size):
                            r[j] = 0.0
                        for j in range(size):
                            total = 0.0
                            for c in range(width):
                                total += Q[j, c] * z[c]
                            r[j] = total
                            q[j] += total
                        for j in range(size):
                            part = r[j]
                            for c in range(width):
                                z[c] -= part * Q[j, c]
                        left = 0.0
                        for c in range(width):
                            left += z[c] * z[c]
                        if left >= ORTHOGONAL * before:
                            break
                        before = left
                    independent = size < width and left > (DEPENDENT * norms[p]) ** 2
                    for i in range(size - 1, -1, -1):  # R r = q
                        total = q[i]
                        for j in range(i + 1, size):
                            total -= R[i, j] * r[j]
                        r[i] = total / R[i, i]
                    # How far the multipliers of A last, and how far the row is from being tight.
                    lasts, leaving = np.inf, -1
                    for j in range(size):
                        if r[j] > 0.0 and u[j] < lasts * r[j]:
                            lasts, leaving = u[j] / r[j], j
                    needed = (right[p] - m) / left if independent else np.inf
                    if leaving < 0 and not independent:
                        for j in range(size):
                            u[j] = max(-r[j], 0.0)
                        u[size], active[size] = 1.0, p
                        return INFEASIBLE, size
                    step = min(lasts, needed)
                    for j in range(size):
                        u[j] -= step * r[j]
                    own += step
                    if independent:
                        for c in range(width):
                            w[c] += step * z[c]
                        m += step * left
                    if needed <= lasts:
                        beside = np.sqrt(left)
                        for c in range(width):
                            Q[size, c] = z[c] / beside
                        for j in range(size):
                            R[j, size] = q[j]
                        R[size, size] = beside
                        active[size], u[size], tight[p] = p, own, True
                        size += 1
                        break
                    # Row number ``leaving`` leaves: its column goes, and rotations make the rest a triangle again.
                    tight[active[leaving]] = False
                    for j in range(leaving, size - 1):
                        active[j], u[j] = active[j + 1], u[j + 1]
                        for i in range(j + 2):
                            R[i, j] = R[i, j + 1]
                    size -= 1
                    for j in range(leaving, size):
                        hypotenuse = np.hypot(R[j, j], R[j + 1, j])
                        cosine, sine = R[j, j] / hypotenuse, R[j + 1, j] / hypotenuse
                        R[j, j], R[j + 1, j] = hypotenuse, 0.0
                        for i in range(j + 1, size):
                            upper, lower = R[j, i], R[j + 1, i]
                            R[j, i], R[j + 1, i] = cosine * upper + sine * lower, cosine * lower - sine * upper
                        for c in range(width):
                            upper, lower = Q[j, c], Q[j + 1, c]
                            Q[j, c], Q[j + 1, c] = cosine * upper + sine * lower, cosine * lower - sine * upper
        return UNFINISHED, size

    return compiled(run, any_order=True)
