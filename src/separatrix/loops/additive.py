"""The one loop: every additive rule, resumable after any number of visits, soft margin included.

    visit y = scale l (x, rho) with the extension Delta e_k;   m = a.y
    if the rule is violated:   a <- shrink (keep a + gain y)

``a = c v`` with a lazy factor c. ``alpha`` holds the multiples of the patterns in a, in units of v; it doubles as the
extension: a^ext.y_k^ext = a.y_k + Delta^2 alpha_k (CRAMMA section 4). An empty ``alpha`` is not kept.
"""

from functools import cache
from typing import Any

from separatrix.compile_cache import compiled, importable, shared_digest
from separatrix.loops.averaging import note
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
    squared_length,
)
from separatrix.rows.access import axpy, dot, prefetch, touch
from separatrix.rules.base import Scalars, digest, keep, negligible, shrink, violates, weighted_gain

LOOSE = 1e4  # |a|^2 is summed anew when its rounding error may be that many times the unit roundoff
LOOK_AHEAD = 6  # visits between asking for a row and using it, in shuffled epochs
STREAM = 32  # the same in epochs as the rows come, for the numbers that only corrections read


@cache
def additive_kernel(rule_class: type) -> Any:
    key = digest(rule_class)
    return _make(shared_digest() + key, importable(rule_class), f"{rule_class.__qualname__}-{key[:12]}")


def _make(key: str, cacheable: bool, name: str) -> Any:
    def run(rule, X, labels, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        v, alpha, real, count = state.v, state.alpha, state.real, state.counts
        d, n, keeping = v.shape[0] - 1, labels.shape[0], alpha.shape[0] > 0
        c, nn, total, spread, doubt = real[FACTOR], real[NORM2], real[TOTAL], real[SPREAD], real[DOUBT]
        position, fresh, epochs = count[POSITION], count[FRESH], count[EPOCHS]
        updates, visits, survived = count[UPDATES], count[VISITS], count[RUN]
        status = RUNNING
        while budget > 0 and status == RUNNING:
            # Visits up to the next correction: without a store into v, what depends on a alone leaves this loop.
            start, end, violated, m = position, min(n, position + budget), False, 0.0
            while position < end:
                i = position
                if order.seed >= 0:
                    i = order.sequence[position]
                    prefetch(X, order.sequence[min(position + LOOK_AHEAD, n - 1)])
                else:
                    touch(weight, position + STREAM)
                    touch(norm2, position + STREAM)
                    touch(alpha, position + STREAM)
                m = labels[i] * frame.scale * (dot(X, i, v) + frame.rho * v[d])
                if frame.delta2 > 0.0:
                    m += frame.delta2 * alpha[i]
                m *= c
                flat2 = max(nn - (c * v[d]) ** 2, 0.0)
                visit = float(visits + position - start + 1)
                s = Scalars(updates + 1.0, visit, nn, flat2, c * total, norm2[i], frame.radius2, weight[i])
                position += 1
                if violates(rule, m, s):
                    violated = True
                    break
            visits += position - start
            survived += position - start
            budget -= position - start
            if violated:
                i = position - 1
                if order.seed >= 0:
                    i = order.sequence[i]
                l = labels[i] * frame.scale
                flat2 = max(nn - (c * v[d]) ** 2, 0.0)
                s = Scalars(updates + 1.0, float(visits), nn, flat2, c * total, norm2[i], frame.radius2, weight[i])
                g = weighted_gain(rule, m, s)
                k = keep(rule, m, s)
                note(state.memory, X, labels, i, frame, v, c, g * l, visits, survived - 1)
                whole = k * k * nn + g * g * norm2[i]
                doubt = k * k * doubt + 2.0 * whole
                nn = max(whole + 2.0 * k * g * m, 0.0)
                c *= k
                if c == 0.0:
                    rescale(v, 0.0)
                    rescale(alpha, 0.0)
                    total, spread, c = 0.0, 0.0, 1.0
                axpy(g * l / c, X, i, v)
                v[d] += g * l / c * frame.rho
                if frame.delta2 > 0.0:
                    spread += (2.0 * alpha[i] + g / c) * g / c
                if keeping:
                    alpha[i] += g / c
                total += g / c
                # The sum for nn cancels, and keep and shrink would multiply its error from update to update.
                if k != 1.0 or doubt > LOOSE * nn:
                    nn, doubt = c * c * (squared_length(v) + frame.delta2 * spread), 0.0
                updates += 1
                survived = 0
                if not negligible(rule, m, s):
                    fresh += 1
                flat2 = max(nn - (c * v[d]) ** 2, 0.0)
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

    # numba keeps one index of compiled forms per qualified name, and reading it imports the rule classes in it: a
    # name per rule keeps a rule that is no longer there from spoiling all others.
    run.__qualname__ = f"run-{name}"
    return compiled(run, cacheable)
