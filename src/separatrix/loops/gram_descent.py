"""Greedy descent on the dual of the maximum margin, with rows of the Gram matrix from a cache.

    minimise alpha.Q.alpha/2 + sum alpha_k^2 diagonal_k/2 - sum alpha_k,   alpha >= 0   (free bias: sum alpha_k l_k = 0)

Without a free bias the coordinate with the largest gain is moved to its minimum; with one, a pair, the first by its
gradient and the second by its gain (Fan, Chen & Lin 2005). ``f = Q alpha`` is kept up to date. Where a row is not in
the cache its number is returned, otherwise -1: the budget is used up, or -2: nothing is left to gain.
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use

SPENT, DONE = -1, -2


@on_first_use
def descend(key: str) -> Any:
    def run(rows, slot, labels, diagonal, norm2, alpha, f, budget, enough, count):
        """``enough``: a gradient that no longer matters. ``count[0]`` counts steps."""
        key  # noqa: B018
        n = alpha.shape[0]
        for _ in range(budget):
            best, i, step = 0.0, -1, 0.0
            for k in range(n):
                gradient = f[k] + diagonal[k] * alpha[k] - 1.0
                if gradient >= -enough and (alpha[k] == 0.0 or gradient <= enough):
                    continue
                curvature = norm2[k] + diagonal[k]
                move = max(-gradient / curvature, -alpha[k]) if curvature > 0.0 else 0.0
                gain = -move * (gradient + 0.5 * curvature * move)
                if gain > best:
                    best, i, step = gain, k, move
            if i < 0:
                return DONE
            if slot[i] < 0:
                return i
            alpha[i] += step
            row = slot[i]
            for k in range(n):
                f[k] += step * rows[row, k]
            count[0] += 1
        return SPENT

    return compiled(run)


@on_first_use
def descend_pairs(key: str) -> Any:
    def run(rows, slot, labels, diagonal, norm2, alpha, f, budget, enough, count):
        key  # noqa: B018
        n = alpha.shape[0]
        for _ in range(budget):
            top, i, bottom = -np.inf, -1, np.inf
            for k in range(n):
                slope = labels[k] * (1.0 - f[k] - diagonal[k] * alpha[k])
                if (labels[k] > 0.0 or alpha[k] > 0.0) and slope > top:
                    top, i = slope, k
                if (labels[k] < 0.0 or alpha[k] > 0.0) and slope < bottom:
                    bottom = slope
            if i < 0 or top - bottom <= 2.0 * enough:
                return DONE
            if slot[i] < 0:
                return i
            best, j, step, p = 0.0, -1, 0.0, slot[i]
            for k in range(n):
                if not (labels[k] < 0.0 or alpha[k] > 0.0):
                    continue
                slope = top - labels[k] * (1.0 - f[k] - diagonal[k] * alpha[k])
                if slope <= 0.0 or k == i:
                    continue
                curvature = norm2[i] + norm2[k] - 2.0 * labels[i] * labels[k] * rows[p, k] + diagonal[i] + diagonal[k]
                move = slope / max(curvature, 1e-12 * norm2[i])
                if labels[i] < 0.0:
                    move = min(move, alpha[i])
                if labels[k] > 0.0:
                    move = min(move, alpha[k])
                gain = move * (slope - 0.5 * curvature * move)
                if gain > best:
                    best, j, step = gain, k, move
            if j < 0:
                return DONE
            if slot[j] < 0:
                return j
            q = slot[j]
            up, down = labels[i] * step, labels[j] * step
            alpha[i] = max(alpha[i] + up, 0.0)
            alpha[j] = max(alpha[j] - down, 0.0)
            for k in range(n):
                f[k] += up * rows[p, k] - down * rows[q, k]
            count[0] += 1
        return SPENT

    return compiled(run)
