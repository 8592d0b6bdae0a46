"""Rows of another source that are changed block by block in each pass: scaled columns, other weights."""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from separatrix.data.base import RowSource, S
from separatrix.data.memory import MemoryRows


class WrappedRows(RowSource):
    """A row source in front of another one."""

    def __init__(self, source: RowSource):
        self.source = source
        self.n, self.width, self.classes, self.names = source.n, source.width, source.classes, source.names
        self.block_count, self.prefers_mixing = source.block_count, source.prefers_mixing

    @property
    def fingerprint(self) -> str:
        return self.source.fingerprint

    def blocks(self) -> Iterator[MemoryRows]:
        return self.blocks_from(0)

    def take(self, index: np.ndarray) -> MemoryRows:
        return self.source.take(index)


class ChangedRows(WrappedRows):
    """Rows that are changed block by block; the change travels with the work."""

    @property
    @abstractmethod
    def change(self) -> Callable[[MemoryRows], MemoryRows]:
        """What is done to a block; it can be pickled."""

    @property
    @abstractmethod
    def numbers(self) -> tuple[np.ndarray, ...]:
        """What the change depends on."""

    @property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(v).tobytes() for v in self.numbers)).hexdigest()[:16]
        return f"{self.source.fingerprint} {type(self).__name__} {digest}"

    def blocks_from(self, number: int) -> Iterator[MemoryRows]:
        return map(self.change, self.source.blocks_from(number))

    def take(self, index: np.ndarray) -> MemoryRows:
        return self.change(self.source.take(index))

    def run(self, work: Callable[[MemoryRows], S]) -> S:
        return self.source.run(partial(_on_changed, work, self.change))

    def merged(self, work: Callable[[MemoryRows], S], done: int = 0, whole: S | None = None) -> Iterator[tuple[int, S]]:
        return self.source.merged(partial(_on_changed, work, self.change), done, whole)


def _on_changed(work: Callable[[MemoryRows], S], change: Callable[[MemoryRows], MemoryRows], block: MemoryRows) -> S:
    return work(change(block))


class ScaledRows(ChangedRows):
    """``(x - centre) / size``; a centre other than 0 writes sparse rows out."""

    def __init__(self, source: RowSource, centre: np.ndarray, size: np.ndarray):
        super().__init__(source)
        self.centre, self.size = centre, size

    @property
    def numbers(self) -> tuple[np.ndarray, ...]:
        return self.centre, self.size

    @property
    def change(self) -> Callable[[MemoryRows], MemoryRows]:
        return partial(_scaled, self.centre, self.size)


def _scaled(centre: np.ndarray, size: np.ndarray, block: MemoryRows) -> MemoryRows:
    return block.scaled(centre, size)


class WeightedRows(ChangedRows):
    """Weights times a factor for each class."""

    def __init__(self, source: RowSource, factors: np.ndarray):
        super().__init__(source)
        self.factors = factors

    @property
    def numbers(self) -> tuple[np.ndarray, ...]:
        return (self.factors,)

    @property
    def change(self) -> Callable[[MemoryRows], MemoryRows]:
        return partial(_weighted, self.factors)


def _weighted(factors: np.ndarray, block: MemoryRows) -> MemoryRows:
    block = block.here()
    assert block.codes is not None
    weight = factors[block.codes] if block.weight is None else block.weight * factors[block.codes]
    return MemoryRows(block.storage, block.codes, weight, first=block.first)


class AgainstRest(ChangedRows):
    """One class against all others: what a certificate of one-vs-rest speaks of."""

    def __init__(self, source: RowSource, positive: int):
        super().__init__(source)
        self.positive, self.classes = positive, np.array([False, True])

    @property
    def numbers(self) -> tuple[np.ndarray, ...]:
        return (np.array([self.positive]),)

    @property
    def change(self) -> Callable[[MemoryRows], MemoryRows]:
        return partial(_against_rest, self.positive)


def _against_rest(positive: int, block: MemoryRows) -> MemoryRows:
    block = block.here()
    return MemoryRows(block.storage, np.asarray(block.codes == positive, np.int64), block.weight, first=block.first)
