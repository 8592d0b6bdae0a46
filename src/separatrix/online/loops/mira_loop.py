"""The loop of linear machines that correct all rivals of a row at once: passive-aggressive steps by rules/mira.py."""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import scores
from separatrix.online.loops.kesler_loop import RivalPairs
from separatrix.online.loops.state import (
    EXHAUSTED,
    FACTOR,
    FRESH,
    NORM2,
    POSITION,
    RUN,
    RUNNING,
    TOTAL,
    UPDATES,
    VISITS,
    next_row,
)
from separatrix.online.loops.update import correct
from separatrix.rules.aggressive import steps
from separatrix.rules.base import Scalars, violates

UNBOUNDED = 2**62


class Step(NamedTuple):
    """A correction of a known size, as the one correction of update.py asks for it."""

    size: float

    def weighted_gain(self, m, s):
        return self.size


@on_first_use
def together_kernel(key: str) -> Any:
    """``rule``: a `PassiveAggressiveRule`. An update corrects a row, whatever the number of its rivals."""

    def run(rule, X, codes, order, weight, norm2, frame, state, budget, max_updates, scratch):
        key  # noqa: B018  a closure cell, for numba's cache key
        alpha, real, count = state.alpha, state.real, state.counts
        n_classes = scratch.shape[1]
        rivals, out = n_classes - 1, scratch[0]
        V = state.v.reshape((n_classes, state.v.shape[0] // n_classes))
        patterns = RivalPairs(X, codes, norm2, V, out, scratch[1], frame)
        losses, tau = np.empty(rivals), np.empty(rivals)
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[count[POSITION]]
            code, first, c = codes[i], i * rivals, real[FACTOR]
            budget -= 1
            count[VISITS] += 1
            count[RUN] += 1
            scores(X, i, V, frame.rho, out)
            t, visit, smallest = count[UPDATES] + 1.0, float(count[VISITS]), np.inf
            for r in range(rivals):
                m = (out[code] - out[r if r < code else r + 1]) * frame.scale
                if frame.delta2 > 0.0:
                    m += frame.delta2 * alpha[first + r]
                losses[r] = 1.0 - c * m
                smallest = min(smallest, c * m)
            s = Scalars(t, visit, real[NORM2], 0.0, c * real[TOTAL], norm2[i], frame.radius2, weight[i])
            if violates(rule, smallest, s):
                square = 0.5 * (norm2[i] - frame.delta2)
                steps(losses, square, frame.delta2, rule.cap * weight[i], rule.soften / weight[i], tau)
                made, fresh = count[UPDATES], count[FRESH]
                for r in range(rivals):
                    if tau[r] > 0.0:
                        rival = r if r < code else r + 1
                        m = (out[code] - out[rival]) * frame.scale
                        if frame.delta2 > 0.0:
                            m += frame.delta2 * alpha[first + r]
                        now = Scalars(t, visit, real[NORM2], 0.0, c * real[TOTAL], norm2[i], frame.radius2, weight[i])
                        at, step = (i, code, rival), Step(tau[r])
                        correct(step, patterns, at, first + r, c * m, now, frame.delta2, state, UNBOUNDED)
                count[UPDATES], count[FRESH] = made + 1, fresh + 1
                status = EXHAUSTED if made + 1 >= max_updates else RUNNING
            status = next_row(count, order, status)
        return status

    return compiled(run, at_once=True)
