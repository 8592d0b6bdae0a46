"""Descent on the dual of the maximum margin over a working set of rows, whose Gram matrix Q is at hand.

    minimise alpha.Q.alpha/2 + sum alpha_k^2 diagonal_k/2 + sum alpha_k s_k,   0 <= alpha <= cap

with a gradient that other rows have a part in; a free bias keeps sum alpha_k l_k as it is. Without one, the coordinate
with the largest gain is moved to its minimum; with one, a pair, the first by its gradient and the second by its gain
(second-order selection, Fan, Chen & Lin 2005). Squared slack has diagonal = 1/(2 C c) and cap = inf, plain slack
diagonal = 0 and cap = C c.
"""

from typing import Any

from separatrix.compile_cache import compiled, on_first_use

FLAT = 1e-12  # of the largest |y|^2: a curvature below it is one of rounding errors


@on_first_use
def descend(key: str) -> Any:
    def run(Q, labels, diagonal, cap, alpha, gradient, enough, budget):
        """At most ``budget`` steps, until no gradient exceeds ``enough``; returns the number of steps."""
        key  # noqa: B018
        q = alpha.shape[0]
        flat = 0.0
        for k in range(q):
            flat = max(flat, FLAT * Q[k, k])
        for step in range(budget):
            best, i, to = 0.0, -1, 0.0
            for k in range(q):
                g = gradient[k]
                if g >= -enough and (alpha[k] == 0.0 or g <= enough):
                    continue
                curvature = max(Q[k, k] + diagonal[k], flat)
                target = min(max(alpha[k] - g / curvature, 0.0), cap[k])
                move = target - alpha[k]
                gain = -move * (g + 0.5 * curvature * move)
                if gain > best:
                    best, i, to = gain, k, target
            if i < 0:
                return step
            move = to - alpha[i]
            alpha[i] = to
            for k in range(q):
                gradient[k] += move * Q[i, k]
            gradient[i] += move * diagonal[i]
        return budget

    return compiled(run)


@on_first_use
def descend_pairs(key: str) -> Any:
    def run(Q, labels, diagonal, cap, alpha, gradient, enough, budget):
        key  # noqa: B018
        q = alpha.shape[0]
        flat = 0.0
        for k in range(q):
            flat = max(flat, FLAT * Q[k, k])
        for step in range(budget):
            top, i = -1e300, -1
            bottom = 1e300
            for k in range(q):
                slope = -labels[k] * gradient[k]
                grows, falls = alpha[k] < cap[k], alpha[k] > 0.0
                if (grows if labels[k] > 0.0 else falls) and slope > top:
                    top, i = slope, k
                if (falls if labels[k] > 0.0 else grows) and slope < bottom:
                    bottom = slope
            if i < 0 or top - bottom <= enough:
                return step
            best, j = 0.0, -1
            own = Q[i, i] + diagonal[i]
            for k in range(q):
                slope = top + labels[k] * gradient[k]
                if slope <= 0.0 or not (alpha[k] > 0.0 if labels[k] > 0.0 else alpha[k] < cap[k]):
                    continue
                curvature = max(own + Q[k, k] + diagonal[k] - 2.0 * labels[i] * labels[k] * Q[i, k], flat)
                gain = slope * slope / curvature
                if gain > best:
                    best, j = gain, k
            if j < 0:
                return step
            curvature = max(own + Q[j, j] + diagonal[j] - 2.0 * labels[i] * labels[j] * Q[i, j], flat)
            move = (top + labels[j] * gradient[j]) / curvature
            room_i = cap[i] - alpha[i] if labels[i] > 0.0 else alpha[i]
            room_j = alpha[j] if labels[j] > 0.0 else cap[j] - alpha[j]
            move = min(move, room_i, room_j)
            if move <= 0.0:
                return step
            up, down = labels[i] * move, -labels[j] * move
            # at a bound exactly, so that the row is known to be there
            alpha[i] = (cap[i] if up > 0.0 else 0.0) if move == room_i else alpha[i] + up
            alpha[j] = (cap[j] if down > 0.0 else 0.0) if move == room_j else alpha[j] + down
            for k in range(q):
                gradient[k] += up * Q[i, k] + down * Q[j, k]
            gradient[i] += up * diagonal[i]
            gradient[j] += down * diagonal[j]
        return budget

    return compiled(run)


@on_first_use
def add_rows(key: str) -> Any:
    """``f += sum_s change[s] rows[slots[s]]``, so many columns at a time that they stay in the cache."""

    def run(rows, slots, change, f):
        key  # noqa: B018
        for first in range(0, f.shape[0], 2048):
            end = min(first + 2048, f.shape[0])
            for s in range(slots.shape[0]):
                c, row = change[s], slots[s]
                for k in range(first, end):
                    f[k] += c * rows[row, k]

    return compiled(run, any_order=True)
