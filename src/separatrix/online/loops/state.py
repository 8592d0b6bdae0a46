"""Where a fit stands: the state that all loops share, and the end of an epoch."""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.online.loops.order import draw
from separatrix.rules.base import UNWRAPPED, negligible

RUNNING, CONVERGED, EXHAUSTED = 0, 1, 2
LACKING = 3  # an update needs what is not in memory
FACTOR, NORM2, TOTAL, SPREAD, DOUBT = 0, 1, 2, 3, 4  # places in State.real
POSITION, FRESH, UPDATES, VISITS, EPOCHS, RUN, PLACE = 0, 1, 2, 3, 4, 5, 6  # places in State.counts


# Called instead of inlined, a helper gets the arrays of its arguments over the stack, word by word.
inlined = register_jitable(forceinline=True, **UNWRAPPED)


class Frame(NamedTuple):
    """The space as a kernel needs it: patterns are ``scale * l * (x, rho)``, extended by sqrt(delta2)."""

    rho: float
    delta2: float
    scale: float
    radius2: float


class State(NamedTuple):
    v: np.ndarray  # d + 1; a = c v
    alpha: np.ndarray  # n multiples of patterns in units of v, or empty: not kept
    memory: Any  # see averaging.py
    real: np.ndarray  # c, |a^ext|^2; sum alpha and, if extended, |alpha|^2 in units of v; doubt about |a^ext|^2
    counts: np.ndarray  # position in the epoch, its updates so far, updates, visits, epochs, visits since an update,
    # and the rival at which a row that was left half-way goes on (rivals.py)


@inlined
def count_update(rule, m, s, count, max_updates):
    """Count an update by a pattern with ``m = a.y``; return EXHAUSTED if it was the last."""
    count[UPDATES] += 1
    count[RUN] = 0
    if not negligible(rule, m, s):
        count[FRESH] += 1
    return EXHAUSTED if count[UPDATES] >= max_updates else RUNNING


@register_jitable(**UNWRAPPED)
def end_epoch(count, order, status):
    """Start the next epoch; the fit has converged if this one passed without an update that counts."""
    if count[FRESH] == 0:
        status = CONVERGED
    count[POSITION] = 0
    count[FRESH] = 0
    count[EPOCHS] += 1
    draw(order, count[EPOCHS])
    return status


@inlined
def not_negative(x):
    """max(x, 0), which numba would compile apart, for each kernel in 20 ms."""
    return 0.0 if x < 0.0 else x


@inlined
def add_multiplier(state, i, g):
    """Add g to the multiplier of pattern i."""
    if state.alpha.shape[0] > 0:
        state.alpha[i] += g
    state.real[TOTAL] += g


@inlined
def squared_length(v):
    s = 0.0
    for j in range(v.shape[0]):
        s += v[j] * v[j]
    return s


@inlined
def copy(source, target):
    """``target[:] = source``; written so, numba would compile for two seconds what to say if the lengths differed."""
    for j in range(target.shape[0]):
        target[j] = source[j]


@inlined
def rescale(v, c):
    """v <- c v, without binding the name v again: that would cost reference counting in every visit of a loop."""
    for j in range(v.shape[0]):
        v[j] *= c
