"""The loop of additive rules on patterns that are known by their inner products alone.

``state.v`` holds a.y_k of all patterns, in units of the factor c, and the bias coordinate behind them; a visit costs
nothing, an update one row of the Gram matrix. Where that row is not in the cache the loop returns and asks for it.
"""

from functools import cache
from typing import Any

from numba.extending import overload

from separatrix.compile_cache import compiled, importable, shared_digest
from separatrix.loops.averaging import Mean, Nothing
from separatrix.loops.order import draw
from separatrix.loops.state import (
    CONVERGED,
    DOUBT,
    EPOCHS,
    EXHAUSTED,
    FACTOR,
    FRESH,
    NORM2,
    POSITION,
    RUN,
    RUNNING,
    SPREAD,
    TOTAL,
    UPDATES,
    VISITS,
    rescale,
)
from separatrix.rules.base import Scalars, digest, keep, negligible, shrink, violates, weighted_gain

LACKING = 3  # a status besides those of epochs.py: the row at hand is not in the cache
LOOSE = 1e4


def note(memory, i, g, visits):
    """Before an update by g times the row i: what an average has to remember."""
    if isinstance(memory, Mean):
        memory.late[i] += g * (visits - 1)


@overload(note)
def _note(memory, i, g, visits):
    if memory.instance_class is Nothing:
        return lambda memory, i, g, visits: None

    def impl(memory, i, g, visits):
        memory.late[i] += g * (visits - 1)

    return impl


@cache
def kernelised_kernel(rule_class: type) -> Any:
    key = digest(rule_class)
    return _make(shared_digest() + key, importable(rule_class), f"{rule_class.__qualname__}-{key[:12]}")


def _make(key: str, cacheable: bool, name: str) -> Any:
    def run(rule, rows, slot, labels, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        v, alpha, real, count, delta2 = state.v, state.alpha, state.real, state.counts, frame.delta2
        n = labels.shape[0]
        c, nn, total, spread, doubt = real[FACTOR], real[NORM2], real[TOTAL], real[SPREAD], real[DOUBT]
        position, fresh, epochs = count[POSITION], count[FRESH], count[EPOCHS]
        updates, visits, survived = count[UPDATES], count[VISITS], count[RUN]
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[position]
            m = v[i]
            if delta2 > 0.0:
                m += delta2 * alpha[i]
            m *= c
            flat2 = max(nn - (c * v[n]) ** 2, 0.0)
            s = Scalars(updates + 1.0, visits + 1.0, nn, flat2, c * total, norm2[i], frame.radius2, weight[i])
            wrong = violates(rule, m, s)
            if wrong and slot[i] < 0:
                status = LACKING
                break
            budget -= 1
            visits += 1
            survived += 1
            if wrong:
                g = weighted_gain(rule, m, s)
                k = keep(rule, m, s)
                note(state.memory, i, g * labels[i] * frame.scale, visits)
                whole = k * k * nn + g * g * norm2[i]
                doubt = k * k * doubt + 2.0 * whole
                nn = max(whole + 2.0 * k * g * m, 0.0)
                c *= k
                if c == 0.0:
                    rescale(v, 0.0)
                    rescale(alpha, 0.0)
                    total, spread, c = 0.0, 0.0, 1.0
                step, row = g / c, slot[i]
                for j in range(n):
                    v[j] += step * rows[row, j]
                v[n] += step * labels[i] * frame.scale * frame.rho
                if delta2 > 0.0:
                    spread += (2.0 * alpha[i] + step) * step
                alpha[i] += step
                total += step
                if k != 1.0 or doubt > LOOSE * nn:
                    nn = 0.0
                    for j in range(n):
                        nn += alpha[j] * v[j]
                    nn, doubt = c * c * (max(nn, 0.0) + delta2 * spread), 0.0
                updates += 1
                survived = 0
                if not negligible(rule, m, s):
                    fresh += 1
                flat2 = max(nn - (c * v[n]) ** 2, 0.0)
                after = Scalars(updates + 1.0, float(visits), nn, flat2, c * total, norm2[i], frame.radius2, weight[i])
                k = shrink(rule, after)
                if k != 1.0:
                    c *= k
                    nn *= k * k
                    doubt *= k * k
                if c < 1e-100 or c > 1e100:
                    rescale(v, c)
                    rescale(alpha, c)
                    total, spread, c = total * c, spread * c * c, 1.0
                if updates >= max_updates:
                    status = EXHAUSTED
            position += 1
            if position == n:
                position = 0
                epochs += 1
                if fresh == 0:
                    status = CONVERGED
                fresh = 0
                draw(order, epochs)
        real[FACTOR], real[NORM2], real[TOTAL], real[SPREAD], real[DOUBT] = c, nn, total, spread, doubt
        count[POSITION], count[FRESH], count[EPOCHS] = position, fresh, epochs
        count[UPDATES], count[VISITS], count[RUN] = updates, visits, survived
        return status

    run.__qualname__ = f"run-{name}"
    return compiled(run, cacheable)
