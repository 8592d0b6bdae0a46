"""The order of visits: epoch e of a fit is a permutation drawn from (seed, e), so a fit can be resumed anywhere.

Written here and not with numpy's generators because the loop draws at the end of an epoch without returning to
Python: seeding a numpy generator costs more than a whole epoch over a hundred rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.compile_cache import compiled, on_first_use

NO_SHUFFLE = -1


class Order(NamedTuple):
    sequence: np.ndarray  # int64, the rows in the order of this epoch
    seed: int  # NO_SHUFFLE: the order never changes


@register_jitable
def _mix(z):
    """One output of SplitMix64 (Steele, Lea & Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@register_jitable
def draw(order, epoch):
    """Put the permutation of this epoch into ``order.sequence`` (Fisher-Yates from the identity)."""
    if order.seed < 0:
        return
    index = order.sequence
    state = _mix(_mix(np.uint64(order.seed)) ^ np.uint64(epoch))
    for i in range(index.shape[0]):
        index[i] = i
    for i in range(index.shape[0] - 1, 0, -1):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        j = np.int64(_mix(state) % np.uint64(i + 1))
        index[i], index[j] = index[j], index[i]


@on_first_use
def permutation(key: str) -> Any:
    """Put the order of an epoch into ``order.sequence``, as the loops do at the end of one."""

    def run(order, epoch):
        key  # noqa: B018
        draw(order, epoch)

    return compiled(run)
