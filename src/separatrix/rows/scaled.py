"""Rows of another home with every column moved and scaled, block by block as a pass comes to them."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from separatrix.rows.base import Rows, S
from separatrix.rows.memory import MemoryRows


class ScaledRows(Rows):
    """``(x - centre) / size``; a centre other than 0 writes sparse rows out."""

    def __init__(self, home: Rows, centre: np.ndarray, size: np.ndarray):
        self.home, self.centre, self.size = home, centre, size
        self.n, self.width, self.classes, self.names = home.n, home.width, home.classes, home.names

    def blocks(self) -> Iterator[MemoryRows]:
        return (block.scaled(self.centre, self.size) for block in self.home.blocks())

    def take(self, index: np.ndarray) -> MemoryRows:
        return self.home.take(index).scaled(self.centre, self.size)

    def run(self, work: Callable[[MemoryRows], S]) -> S:
        """The scaling travels with the work."""
        return self.home.run(partial(_on_scaled, work, self.centre, self.size))


def _on_scaled(work: Callable[[MemoryRows], S], centre: np.ndarray, size: np.ndarray, block: MemoryRows) -> S:
    return work(block.scaled(centre, size))
