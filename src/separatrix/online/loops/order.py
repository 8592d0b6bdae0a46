"""The order of visits: epoch e of a fit is a permutation drawn from (seed, e), so a fit can be resumed anywhere.

Written here and not with numpy's generators because the loop draws at the end of an epoch without returning to
Python: seeding a numpy generator costs more than a whole epoch over a hundred rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.compile_cache import compiled, on_first_use
from separatrix.rules.base import UNWRAPPED

NO_SHUFFLE = -1


class Order(NamedTuple):
    sequence: np.ndarray  # int64, the rows in the order of this epoch
    seed: int  # NO_SHUFFLE: the order never changes
    blocks: np.ndarray  # int64, numbers of blocks in the order of this epoch; none: rows are shuffled one by one
    together: int  # rows of a block


def order_of(n: int, seed: int | None, together: int = 0) -> Order:
    """Of n rows: as they come where there is no seed, else shuffled, so many neighbours together where that is more
    than one."""
    blocks = np.arange(-(-n // together) + 1 if together > 1 else 0)  # one more: borders move from epoch to epoch
    return Order(np.arange(n), NO_SHUFFLE if seed is None else seed, blocks, together)


@register_jitable(**UNWRAPPED)
def _mix(z):
    """One output of SplitMix64 (Steele, Lea & Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@register_jitable(**UNWRAPPED)
def _shuffle(index, state):
    """Fisher-Yates from the identity; returns where the stream of random numbers stands."""
    for i in range(index.shape[0]):
        index[i] = i
    for i in range(index.shape[0] - 1, 0, -1):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        j = np.int64(_mix(state) % np.uint64(i + 1))
        index[i], index[j] = index[j], index[i]
    return state


@register_jitable(**UNWRAPPED)
def draw(order, epoch):
    """Put the permutation of this epoch into ``order.sequence``."""
    if order.seed < 0:
        return
    index, blocks, together = order.sequence, order.blocks, order.together
    state = _mix(_mix(np.uint64(order.seed)) ^ np.uint64(epoch))
    if blocks.shape[0] == 0:
        _shuffle(index, state)
        return
    state = _shuffle(blocks, state)
    before = np.int64(_mix(state + np.uint64(epoch)) % np.uint64(together))  # rows of the first block that are missing
    end = 0
    for b in blocks:
        for i in range(max(b * together - before, 0), min((b + 1) * together - before, index.shape[0])):
            index[end] = i
            end += 1


@on_first_use
def permutation(key: str) -> Any:
    """Put the order of an epoch into ``order.sequence``, as the loops do at the end of one."""

    def run(order, epoch):
        key  # noqa: B018
        draw(order, epoch)

    return compiled(run, at_once=None)
