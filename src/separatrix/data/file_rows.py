"""Rows on disk: read block after block, ahead of the work, within a budget of memory."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix.data.base import S
from separatrix.data.block_store import BlockStore, DamagedError
from separatrix.data.fetched import FetchedRows, part_of
from separatrix.data.inventory import Inventory, take_inventory
from separatrix.data.memory import MemoryRows
from separatrix.data.read_ahead import read_ahead
from separatrix.data.row_source import Part, PartSource, check_values, codes_of, joined
from separatrix.errors import DataError

AHEAD = 4  # blocks that are read before they are wanted
SHARE = 4  # of the budget, one part in so many is for blocks, and one for rows that were fetched


class FileRows(FetchedRows):
    """The rows of several sources one after the other, as `separatrix.data.open_files` and `blocks` make them.

    Nothing of length n is kept. ``cache``: a folder for a decoded copy. ``n_jobs``: threads that work on blocks;
    results do not depend on them.
    """

    def __init__(self, sources: list[PartSource], memory: int, cache: Path | None = None, n_jobs: int = 1):
        self.sources, self.memory, self.cache, self.n_jobs = sources, memory, cache, n_jobs
        self.store: BlockStore | None = None
        self.most_kept = memory // SHARE
        notes = _fingerprint(sources)  # None: only the content tells these rows from others
        if cache is not None and notes is not None:
            self.store = BlockStore.find(cache, notes)
        if self.store is not None:
            inventory = Inventory.from_json(self.store.about["inventory"], self.store.classes)
            inventory.settle(sources)
        else:
            inventory = take_inventory(sources, content=notes is None)
        self._digest = notes if notes is not None else inventory.digest
        self.inventory = inventory
        self.n, self.width, self.classes = inventory.n, inventory.width, inventory.classes
        self.names = sources[0].names
        self.dtype, self.sparse = inventory.dtype, inventory.sparse
        self.places = list(_places(inventory))
        self.block_count = len(self.places)
        self._firsts = np.array([place.first for place in self.places])
        self._clean = np.zeros(len(self.places), dtype=bool)  # blocks whose values have been looked at
        self.depth = self._depth()
        if cache is not None and self.store is None:
            self.store = BlockStore.find(cache, self.fingerprint) or self._copied()

    @property
    def fingerprint(self) -> str:
        return self._digest

    def __repr__(self) -> str:
        names = self.sources[0].name + (f" and {len(self.sources) - 1} more" if len(self.sources) > 1 else "")
        return f"FileRows({names}: {self.n:,} rows of {self.width} columns in {len(self.places)} blocks)"

    def _depth(self) -> int:
        """Blocks read ahead, as many as the budget allows."""
        block = max(self.inventory.block_bytes, 1)
        depth = min(AHEAD, self.memory // (SHARE * block) - 1 - self.n_jobs)
        if depth < 1:
            needed = SHARE * block * (2 + self.n_jobs)
            raise DataError(f"memory={self.memory} bytes is too little: blocks of these rows need {needed} bytes.")
        return int(depth)

    # Blocks

    def blocks(self) -> Iterator[MemoryRows]:
        return self.blocks_from(0)

    def blocks_from(self, number: int) -> Iterator[MemoryRows]:
        read = self._decoded if self.store is None else self._copies
        return read_ahead(read(number), self.depth)

    def _decoded(self, number: int) -> Iterator[MemoryRows]:
        """Blocks from the sources themselves."""
        while number < len(self.places):
            place = self.places[number]
            source = self.sources[place.source]
            source.check_unchanged()
            for part in source.parts(self.inventory.step, place.within):
                if part.n == 0:
                    continue
                if number == len(self.places) or self.places[number].source != place.source:
                    raise DataError(f"{source.name} has more rows than before: it has changed while it was read.")
                here = self.places[number]
                if part.n != here.n:
                    raise DataError(f"{source.name} has other rows than before: it has changed while it was read.")
                yield self._block(part, here, number)
                number += 1
                source.check_unchanged()
            if number < len(self.places) and self.places[number].source == place.source:
                raise DataError(f"{source.name} has fewer rows than before: it has changed while it was read.")

    def _block(self, part: Part, place: "Place", number: int) -> MemoryRows:
        source = self.sources[place.source]
        if not self._clean[number]:
            check_values(part, source.name, place.within)
            self._clean[number] = True
        return MemoryRows(
            self._typed(part.X), codes_of(part.y, self.classes, source.name), part.weight, first=place.first
        )

    def _typed(self, X: Any) -> Any:
        if X.dtype != self.dtype:
            X = X.astype(self.dtype)
        if sp.issparse(X) and X.shape[1] < self.width:
            X.resize(X.shape[0], self.width)
        return X

    def _copied(self) -> BlockStore:
        assert self.cache is not None
        about = {"sparse": self.sparse, "width": self.width, "inventory": self.inventory.to_json()}
        blocks = read_ahead(self._decoded(0), self.depth)
        return BlockStore.write(self.cache, self.fingerprint, blocks, self.classes, about)

    def _copies(self, number: int) -> Iterator[MemoryRows]:
        """Blocks from the decoded copy; a damaged one is made again from the sources."""
        for source in self.sources:
            source.check_unchanged()
        for b in range(number, len(self.places)):
            yield self._from_copy(methodcaller("read", b))

    def _from_copy(self, read: Callable[[BlockStore], MemoryRows]) -> MemoryRows:
        assert self.store is not None
        try:
            return read(self.store)
        except DamagedError:
            self.store = self._copied()
        try:
            return read(self.store)
        except DamagedError as error:
            raise DataError(f"The copy in {self.cache} is damaged again after it was written again.") from error

    def remove_cache(self) -> None:
        """Remove the decoded copy; later passes read the sources."""
        if self.store is not None:
            self.store.remove()
        self.store = None

    # Passes

    def merged(self, work: Callable[[MemoryRows], S], done: int = 0, whole: S | None = None) -> Iterator[tuple[int, S]]:
        if self.n_jobs == 1:
            yield from super().merged(work, done, whole)
            return
        with ThreadPoolExecutor(self.n_jobs) as pool:
            waiting: deque[Future[S]] = deque()
            blocks = self.blocks_from(done)
            more = True
            while more or waiting:
                while more and len(waiting) <= self.n_jobs:
                    block = next(blocks, None)
                    more = block is not None
                    if block is not None:
                        waiting.append(pool.submit(work, block))
                    del block
                if waiting:
                    part = waiting.popleft().result()
                    done, whole = done + 1, part if whole is None else whole.merge(part)
                    yield done, whole

    # A few rows

    def _fetch(self, numbers: np.ndarray) -> Part:
        """Rows by their increasing numbers, with the numbers of their classes."""
        found = []
        owner = np.searchsorted(self._firsts, numbers, side="right") - 1
        if self.store is not None:
            for b in np.unique(owner):
                index = numbers[owner == b] - self._firsts[b]
                rows = self._from_copy(methodcaller("take", int(b), index))
                found.append(part_of(rows))
        else:
            owners = np.array([place.source for place in self.places])[owner]
            for s in np.unique(owners):
                source = self.sources[s]
                source.check_unchanged()
                index = numbers[owners == s] - self.inventory.first_of(s)
                part = source.take(index, self.inventory.step)
                check_values(part, source.name, index)
                rows = MemoryRows(self._typed(part.X), codes_of(part.y, self.classes, source.name), part.weight)
                found.append(part_of(rows))
                source.check_unchanged()
        return joined(found)


class Place(NamedTuple):
    """Where a block stands: number of the source, first row there, number of rows, first row of all."""

    source: int
    within: int
    n: int
    first: int


def _places(inventory: Inventory) -> Iterator[Place]:
    first = 0
    for source, lengths in enumerate(inventory.lengths):
        within = 0
        for n in lengths:
            if n:
                yield Place(source, within, n, first)
            within, first = within + n, first + n


def _fingerprint(sources: list[PartSource]) -> str | None:
    """Of names, sizes, times and schemas of files; None where there are none."""
    if not all(source.paths for source in sources):
        return None
    digest = hashlib.sha256()
    for source in sources:
        paths = [str(path.resolve()) for path in source.paths]
        digest.update(repr((paths, source.stamps, source.schema)).encode())
    return digest.hexdigest()[:32]
