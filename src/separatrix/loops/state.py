"""Where a fit stands: the state that all loops share, and the end of an epoch."""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.loops.order import draw

RUNNING, CONVERGED, EXHAUSTED = 0, 1, 2
FACTOR, NORM2, TOTAL, SPREAD, DOUBT = 0, 1, 2, 3, 4  # places in State.real
POSITION, FRESH, UPDATES, VISITS, EPOCHS, RUN, PLACE = 0, 1, 2, 3, 4, 5, 6  # places in State.counts


class Frame(NamedTuple):
    """The space as a kernel needs it: patterns are ``scale * l * (x, rho)``, extended by sqrt(delta2)."""

    rho: float
    delta2: float
    scale: float
    radius2: float


class State(NamedTuple):
    v: np.ndarray  # d + 1; a = c v
    alpha: np.ndarray  # n multiples of patterns in units of v, or empty: not kept
    memory: Any  # see memory.py
    real: np.ndarray  # c, |a^ext|^2; sum alpha and, if extended, |alpha|^2 in units of v; doubt about |a^ext|^2
    counts: np.ndarray  # position in the epoch, its updates so far, updates, visits, epochs, visits since an update,
    # and the rival at which a row that was left half-way goes on (machine.py)


@register_jitable
def end_visit(count, order):
    """Count a visit; at the end of the epoch start the next one and tell whether it passed without an update."""
    count[VISITS] += 1
    count[POSITION] += 1
    if count[POSITION] < order.sequence.shape[0]:
        return RUNNING
    status = CONVERGED if count[FRESH] == 0 else RUNNING
    count[POSITION] = 0
    count[FRESH] = 0
    count[EPOCHS] += 1
    draw(order, count[EPOCHS])
    return status


@register_jitable
def add_multiple(state, i, g):
    """Enter an update by g times pattern i into the books."""
    if state.alpha.shape[0] > 0:
        state.alpha[i] += g
    state.real[TOTAL] += g
    state.counts[UPDATES] += 1
    state.counts[FRESH] += 1


@register_jitable
def squared_length(v):
    s = 0.0
    for j in range(v.shape[0]):
        s += v[j] * v[j]
    return s


@register_jitable
def rescale(v, c):
    """v <- c v, without binding the name v anew: that would cost reference counting in every visit of a loop."""
    for j in range(v.shape[0]):
        v[j] *= c
