"""The order of visits: epoch e of a fit is a permutation drawn from (seed, e), so a fit can be resumed anywhere.

Written here and not with numpy's generators because the loop draws at the end of an epoch without returning to
Python: seeding a numpy generator costs more than a whole epoch over a hundred rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.compile_cache import compiled, on_first_use

NO_SHUFFLE = -1
LOOK_AHEAD = 6  # visits, where rows are shuffled freely
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the step of SplitMix64


class Order(NamedTuple):
    sequence: np.ndarray  # int64, the rows in the order of this epoch
    seed: int  # NO_SHUFFLE: the order never changes
    blocks: np.ndarray  # int64, blocks of neighbours in the order of this epoch; one block: rows are shuffled freely
    ahead: int  # visits between asking memory for a row and using it


def order_of(n: int, seed: int | None, block: int = 0) -> Order:
    """Of n rows: as they come where there is no seed, else shuffled, in blocks of at most so many where that is given."""
    blocks = max(-(-n // block), 1) if block else 1
    ahead = LOOK_AHEAD if blocks == 1 else block  # the next block comes into the cache while this one is visited
    return Order(np.arange(n), NO_SHUFFLE if seed is None else seed, np.arange(blocks), ahead)


@register_jitable
def _mix(z):
    """One output of SplitMix64 (Steele, Lea & Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@register_jitable
def _shuffle(index, state):
    """Fisher-Yates."""
    for i in range(index.shape[0] - 1, 0, -1):
        state = state + GOLDEN
        j = np.int64(_mix(state) % np.uint64(i + 1))
        index[i], index[j] = index[j], index[i]


@register_jitable
def _shuffle_fast(index, state):
    """Fisher-Yates for less than 2^31 numbers: a product of 32 bits instead of a division, which costs a third of a
    visit. Returns where the stream of random numbers stands."""
    for i in range(index.shape[0] - 1, 0, -1):
        state = state + GOLDEN
        j = np.int64(((_mix(state) >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
        index[i], index[j] = index[j], index[i]
    return state


@register_jitable
def draw(order, epoch):
    """Put the permutation of this epoch into ``order.sequence``: blocks in random order, random order within each."""
    if order.seed < 0:
        return
    index, n, blocks = order.sequence, order.sequence.shape[0], order.blocks
    state = _mix(_mix(np.uint64(order.seed)) ^ np.uint64(epoch))
    if blocks.shape[0] == 1:
        for i in range(n):
            index[i] = i
        _shuffle(index, state)
        return
    size = (n + blocks.shape[0] - 1) // blocks.shape[0]
    for b in range(blocks.shape[0]):
        blocks[b] = b
    state = _shuffle_fast(blocks, state)
    end = 0
    for b in blocks:
        start = end
        for i in range(b * size, min((b + 1) * size, n)):
            index[end] = i
            end += 1
        state = _shuffle_fast(index[start:end], state)


@on_first_use
def permutation(key: str) -> Any:
    """Put the order of an epoch into ``order.sequence``, as the loops do at the end of one."""

    def run(order, epoch):
        key  # noqa: B018
        draw(order, epoch)

    return compiled(run)
