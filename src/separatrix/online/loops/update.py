"""The one update of all additive rules, for patterns however they are stored (rows.py).

    a <- shrink (keep a + gain y_k),   a = c v with a lazy factor c

``alpha`` holds the multiples of the patterns in a, in units of v; it doubles as the extension: a^ext.y_k^ext = a.y_k +
Delta^2 alpha_k (CRAMMA section 4). An empty ``alpha`` is not kept. |a|^2, sum alpha and |alpha|^2 are carried along.
"""

from separatrix.online.loops.rows import add, bias2, length2, nothing, number, rescale_rest
from separatrix.online.loops.state import DOUBT, FACTOR, NORM2, SPREAD, TOTAL, inlined, not_negative, rescale
from separatrix.rules.base import ALLOCATES, Scalars, keep, shrink, verb, verb_of_rules_with, weighted_gain

LOOSE = 1e4  # |a|^2 is summed again when its rounding error may be that many times the unit roundoff
SMALLEST, LARGEST = 1e-100, 1e100  # the factor c is taken into v beyond these

# What a fit remembers besides its vector: averaging.py
note, enter, set_aside = verb("note", nothing, **ALLOCATES), verb("enter", nothing), verb("set_aside", nothing)


@inlined
def change_units(rows, state, factor):
    """v <- factor v, and all that is measured in units of v with it."""
    set_aside(state.memory, rows, state)
    rescale(state.v, factor)
    rescale(state.alpha, factor)
    rescale_rest(rows, factor)
    state.real[TOTAL] *= factor
    state.real[SPREAD] = state.real[SPREAD] * factor * factor
    state.real[FACTOR] = 1.0


def _keep_part(rule, rows, state, kept):
    state.real[FACTOR] *= kept
    if state.real[FACTOR] == 0.0:
        change_units(rows, state, 0.0)


def _shrink_vector(rule, rows, state, s):
    real = state.real
    c, nn = real[FACTOR], real[NORM2]
    flat2 = not_negative(nn - bias2(rows, c, state.v))
    after = Scalars(s.t + 1.0, s.visit, nn, flat2, c * real[TOTAL], s.yy, s.radius2, s.weight)
    factor = shrink(rule, after)
    if factor != 1.0:
        real[FACTOR] *= factor
        real[NORM2] *= factor * factor
        real[DOUBT] *= factor * factor
    if real[FACTOR] < SMALLEST or real[FACTOR] > LARGEST:
        change_units(rows, state, real[FACTOR])


# A rule that only adds has no code for them: its factor stays 1.
keep_part = verb_of_rules_with(("keep",), _keep_part)
shrink_vector = verb_of_rules_with(("keep", "shrink"), _shrink_vector)


@inlined
def correct(memory, rule, rows, at, m, s, state):
    """Update by the pattern at this place, with ``m = a.y``."""
    alpha, real, delta2, k = state.alpha, state.real, rows.frame.delta2, number(rows, at)
    g, kept = weighted_gain(rule, m, s), keep(rule, m, s)
    whole = kept * kept * s.norm2 + g * g * s.yy
    real[DOUBT] = kept * kept * real[DOUBT] + 2.0 * whole
    real[NORM2] = not_negative(whole + 2.0 * kept * g * m)
    keep_part(rule, rows, state, kept)
    c = real[FACTOR]
    if g != 0.0:
        enter(memory, rows, at, g / c)
        add(rows, at, g, c, state.v)
        if delta2 > 0.0:
            real[SPREAD] += (2.0 * alpha[k] + g / c) * g / c
        if alpha.shape[0] > 0:
            alpha[k] += g / c
        real[TOTAL] += g / c
    # The sum for |a|^2 cancels, and keep and shrink would multiply its error from update to update.
    if (kept != 1.0 and g != 0.0) or real[DOUBT] > LOOSE * real[NORM2]:
        real[NORM2] = c * c * (length2(rows, state, kept != 1.0) + delta2 * real[SPREAD])
        real[DOUBT] = 0.0
    shrink_vector(rule, rows, state, s)
