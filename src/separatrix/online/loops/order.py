"""The order of visits: epoch e of a fit is a permutation drawn from (seed, e), so a fit can be resumed anywhere.

Written here and not with numpy's generators because the loop draws at the end of an epoch without returning to
Python: seeding a numpy generator costs more than a whole epoch over a hundred rows.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.compile_cache import Kernel, compiled, on_first_use
from separatrix.rules.base import UNWRAPPED, verb

NO_SHUFFLE = -1


@register_jitable(**UNWRAPPED)
def mix(z):
    """Return one output of SplitMix64 (Steele, Lea & Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@register_jitable(**UNWRAPPED)
def shuffle(index, state):
    """Shuffle by Fisher-Yates from the identity; return the state of the random numbers."""
    for i in range(index.shape[0]):
        index[i] = i
    for i in range(index.shape[0] - 1, 0, -1):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        j = np.int64(mix(state) % np.uint64(i + 1))
        index[i], index[j] = index[j], index[i]
    return state


draw, scattered = verb("draw"), verb("scattered", False)


class Order(NamedTuple):
    """Rows as they come, or shuffled one by one. ``draw`` sets the sequence of an epoch."""

    sequence: np.ndarray  # int64, the rows in the order of this epoch
    seed: int  # NO_SHUFFLE: the order never changes

    def draw(self, epoch):
        if self.seed >= 0:
            shuffle(self.sequence, mix(mix(np.uint64(self.seed)) ^ np.uint64(epoch)))

    def scattered(self):
        return self.seed >= 0


class BlockOrder(NamedTuple):
    """Blocks of neighboring rows in shuffled order; their borders move from epoch to epoch."""

    sequence: np.ndarray
    seed: int
    blocks: np.ndarray  # int64, numbers of blocks in the order of this epoch
    together: int  # rows of a block

    def draw(self, epoch):
        index, together = self.sequence, self.together
        state = shuffle(self.blocks, mix(mix(np.uint64(self.seed)) ^ np.uint64(epoch)))
        missing = np.int64(mix(state + np.uint64(epoch)) % np.uint64(together))  # rows that the first block lacks
        end = 0
        for b in self.blocks:
            for i in range(max(b * together - missing, 0), min((b + 1) * together - missing, index.shape[0])):
                index[end] = i
                end += 1


def order_of(n: int, seed: int | None, together: int = 0) -> Order | BlockOrder:
    """Return the order of n rows: as they come if there is no seed, else shuffled, so many neighbors together if that
    is more than one."""
    if seed is None or together <= 1:
        return Order(np.arange(n), NO_SHUFFLE if seed is None else seed)
    return BlockOrder(np.arange(n), seed, np.arange(-(-n // together) + 1), together)


@on_first_use
def permutation(key: str) -> Kernel:
    """Put the order of an epoch into ``order.sequence``, as the loops do at the end of one."""

    def run(order, epoch):
        key  # noqa: B018
        draw(order, epoch)

    return compiled(run, at_once=None)
