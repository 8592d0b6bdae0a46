"""Perceptron and passive-aggressive steps in scikit-learn's order and with its stopping rule.

    visit row k:   m = l_k (w.x_k + b),  loss = max(0, threshold - m)
    constant rate: gain = eta where m <= threshold;   PA-I: min(eta, loss/|x|^2);   PA-II: loss/(|x|^2 + 1/(2 eta))
    w += gain c_k l_k x_k,   b += gain c_k l_k decay

What differs from loop.py: |x|^2 leaves the bias out, the order of an epoch is a shuffle of the one before by the
same 32-bit xorshift sequence, and the fit ends when the mean loss of an epoch has not fallen by ``tol`` for a number
of epochs. ``alpha`` holds the multiples of the patterns in (w, b).
"""

from typing import NamedTuple

import numpy as np

from separatrix.compile_cache import Kernel, compiled, on_first_use
from separatrix.data.access import axpy, dot

CONSTANT, PA1, PA2 = 0, 1, 2
BEST, STALE = 0, 1  # places in ``progress``: smallest mean loss, epochs in a row that did not lower it enough
RUNNING, STOPPED, OVERFLOW = 0, 1, 2


class Steps(NamedTuple):
    """What decides about a step and about the end."""

    kind: int  # CONSTANT, PA1 or PA2
    threshold: float
    eta: float
    decay: float  # of the bias; 0 where there is none
    tol: float  # -inf: never stop
    patience: float
    seed: int  # of the shuffle; -1 for none
    limit: float  # beyond it a weight has overflown


@on_first_use
def epochs(key: str) -> Kernel:
    def run(X, labels, weight, squares, steps, order, v, alpha, progress, budget):
        """At most ``budget`` epochs; returns how many were made, and RUNNING, STOPPED or OVERFLOW."""
        key  # noqa: B018  a closure cell, for numba's cache key
        n, d = order.shape[0], v.shape[0] - 1
        for epoch in range(budget):
            if steps.seed >= 0:
                state = np.uint32(steps.seed)
                if state == 0:
                    state = np.uint32(1)
                for i in range(n - 1):
                    state = np.uint32(state ^ np.uint32(state << np.uint32(13)))
                    state = np.uint32(state ^ np.uint32(state >> np.uint32(17)))
                    state = np.uint32(state ^ np.uint32(state << np.uint32(5)))
                    j = i + np.int64(state & np.uint32(0x7FFFFFFF)) % (n - i)
                    order[i], order[j] = order[j], order[i]
            total = 0.0
            for position in range(n):
                i = order[position]
                m = labels[i] * (dot(X, i, v) + v[d])
                loss = max(0.0, steps.threshold - m)
                total += loss
                gain = 0.0
                if steps.kind == CONSTANT:
                    if m <= steps.threshold:
                        gain = steps.eta
                elif steps.kind == PA1:
                    if squares[i] > 0.0:
                        gain = min(steps.eta, loss / squares[i])
                else:
                    gain = loss / (squares[i] + 0.5 / steps.eta)
                gain *= weight[i]
                if gain != 0.0:
                    axpy(gain * labels[i], X, i, v)
                    v[d] += gain * labels[i] * steps.decay
                    alpha[i] += gain
            for j in range(d + 1):
                if not abs(v[j]) <= steps.limit:
                    return epoch + 1, OVERFLOW
            total /= n
            if total > progress[BEST] - steps.tol:
                progress[STALE] += 1.0
            else:
                progress[STALE] = 0.0
            progress[BEST] = min(progress[BEST], total)
            if progress[STALE] >= steps.patience:
                return epoch + 1, STOPPED
        return budget, RUNNING

    return compiled(run, at_once=True)
