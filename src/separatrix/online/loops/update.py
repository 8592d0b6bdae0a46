"""The one correction of all additive rules, for patterns however they are stored.

    a <- shrink (keep a + gain y_k),   a = c v with a lazy factor c

``alpha`` holds the multiples of the patterns in a, in units of v; it doubles as the extension: a^ext.y_k^ext = a.y_k +
Delta^2 alpha_k (CRAMMA section 4). An empty ``alpha`` is not kept. |a|^2, sum alpha and |alpha|^2 are carried along.

Each loop says with a ``NamedTuple`` how it stores patterns, and the correction asks it:

``add(self, at, g, c, v)``
    v += g y / c, y being the pattern at this place.
``remember(self, at, g, times, late)``
    late += times g y, for a mean of the vectors.
``fold(self, state, times, base)``
    base += times v, in the form of ``late`` (v itself unless defined).
``length2(self, state, multiplied)``
    |v|^2 summed anew; ``multiplied``: a was not only added to.
``bias2(self, c, v)``
    the square of a's bias coordinate, the last one unless defined.
``errors(self, v)``
    the number of rows on the wrong side.
``rescale_rest(self, factor)``
    multiply what else is kept in units of v (nothing unless defined).
"""

from separatrix.online.loops.state import (
    DOUBT,
    EXHAUSTED,
    FACTOR,
    FRESH,
    NORM2,
    RUN,
    RUNNING,
    SPREAD,
    TOTAL,
    UPDATES,
    VISITS,
    inlined,
    rescale,
)
from separatrix.rules.base import ALLOCATES, Scalars, keep, negligible, shrink, verb, weighted_gain

LOOSE = 1e4  # |a|^2 is summed anew when its rounding error may be that many times the unit roundoff
SMALLEST, LARGEST = 1e-100, 1e100  # the factor c is taken into v beyond these


def _last2(self, c, v):
    b = c * v[v.shape[0] - 1]
    return b * b


def nothing(self, *arguments):
    return None


def _fold_v(self, state, times, base):
    for j in range(base.shape[0]):
        base[j] += times * state.v[j]


add, remember, length2, errors = verb("add"), verb("remember"), verb("length2"), verb("errors")
bias2, rescale_rest = verb("bias2", _last2), verb("rescale_rest", nothing)
fold = verb("fold", _fold_v)
# Of what a fit remembers besides its vector: averaging.py
note, enter, set_aside = verb("note", nothing, **ALLOCATES), verb("enter", nothing), verb("set_aside", nothing)


@inlined
def change_units(patterns, state, factor):
    """v <- factor v, and all that is measured in units of v with it."""
    set_aside(state.memory, patterns, state)
    rescale(state.v, factor)
    rescale(state.alpha, factor)
    rescale_rest(patterns, factor)
    state.real[TOTAL] *= factor
    state.real[SPREAD] = state.real[SPREAD] * factor * factor
    state.real[FACTOR] = 1.0


@inlined
def correct(rule, patterns, at, k, m, s, delta2, state, max_updates):
    """One update by the pattern with the multiplier ``alpha[k]``, where ``m = a.y``; EXHAUSTED when it was the last."""
    v, alpha, real, counts = state.v, state.alpha, state.real, state.counts
    g, kept = weighted_gain(rule, m, s), keep(rule, m, s)
    note(state.memory, patterns, counts[VISITS], counts[RUN] - 1, v, real[FACTOR], s.norm2)
    whole = kept * kept * s.norm2 + g * g * s.yy
    real[DOUBT] = kept * kept * real[DOUBT] + 2.0 * whole
    real[NORM2] = max(whole + 2.0 * kept * g * m, 0.0)
    real[FACTOR] *= kept
    if real[FACTOR] == 0.0:
        change_units(patterns, state, 0.0)
    c = real[FACTOR]
    if g != 0.0:
        enter(state.memory, patterns, at, g / c)
        add(patterns, at, g, c, v)
        if delta2 > 0.0:
            real[SPREAD] += (2.0 * alpha[k] + g / c) * g / c
        if alpha.shape[0] > 0:
            alpha[k] += g / c
        real[TOTAL] += g / c
    # The sum for |a|^2 cancels, and keep and shrink would multiply its error from update to update.
    if (kept != 1.0 and g != 0.0) or real[DOUBT] > LOOSE * real[NORM2]:
        real[NORM2] = c * c * (length2(patterns, state, kept != 1.0) + delta2 * real[SPREAD])
        real[DOUBT] = 0.0
    counts[UPDATES] += 1
    counts[RUN] = 0
    if not negligible(rule, m, s):
        counts[FRESH] += 1
    nn = real[NORM2]
    flat2 = max(nn - bias2(patterns, c, v), 0.0)
    after = Scalars(s.t + 1.0, s.visit, nn, flat2, c * real[TOTAL], s.yy, s.radius2, s.weight)
    factor = shrink(rule, after)
    if factor != 1.0:
        real[FACTOR] *= factor
        real[NORM2] *= factor * factor
        real[DOUBT] *= factor * factor
    if real[FACTOR] < SMALLEST or real[FACTOR] > LARGEST:
        change_units(patterns, state, real[FACTOR])
    return EXHAUSTED if counts[UPDATES] >= max_updates else RUNNING
