"""Row sources: blocks with fixed borders, summaries that merge, and single rows that are fetched.

A row source defines its blocks and how to fetch single rows. Work travels to the blocks: `RowSource.run` calls
it on every block and merges what comes back in the order of the blocks, so that a result does not depend on how many
threads or workers there are, bit for bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from separatrix.errors import DataError

if TYPE_CHECKING:
    from separatrix.data.memory import MemoryRows


class Summary(Protocol):
    """What a pass returns of a block: numbers whose size does not depend on the number of rows."""

    def merge(self, other: Any) -> Any:
        """The summary of this block and of the one behind it; associative."""


S = TypeVar("S", bound=Summary)


class RowSource(ABC):
    """Rows with their labels, read block by block, wherever they are stored.

    Blocks are `MemoryRows`, with the class numbers of the rows, a weight per row or None, and the number of the first
    row. A source of your own needs `blocks` and `take`.

    Attributes
    ----------
    n : int
        Number of rows.
    width : int
        Number of columns.
    classes : ndarray
        The sorted classes.
    """

    n: int
    width: int
    classes: np.ndarray
    names: list[str] | None = None  # of the columns, where they have any
    block_count: int | None = None  # where it is known
    prefers_mixing = False  # whether visits in order would bring every block here

    @abstractmethod
    def blocks(self) -> Iterator["MemoryRows"]:
        """The blocks, in order; each call starts again."""

    @abstractmethod
    def take(self, index: np.ndarray) -> "MemoryRows":
        """A few rows, brought here, in the order of their numbers in ``index``."""

    def blocks_from(self, number: int) -> Iterator["MemoryRows"]:
        """The blocks behind the first ``number`` ones."""
        return islice(self.blocks(), number, None)

    @property
    def fingerprint(self) -> str:
        """A digest that tells these rows from others; what a checkpoint is guarded by."""
        raise DataError(f"{type(self).__name__} have no fingerprint, so that no checkpoint of them can be kept.")

    def run(self, work: Callable[["MemoryRows"], S]) -> S:
        """Call ``work`` on every block and merge the summaries in the order of the blocks."""
        whole = None
        for _, whole in self.merged(work):  # noqa: B007
            pass
        if whole is None:
            raise ValueError("The data have no blocks to note in a checkpoint.")
        return whole

    def merged(
        self, work: Callable[["MemoryRows"], S], done: int = 0, whole: S | None = None
    ) -> Iterator[tuple[int, S]]:
        """A pass on its way: after a block the number of blocks that are done, and the summary of all these. A pass
        that was broken off behind ``done`` blocks goes on from its ``whole``, bit for bit."""
        for block in self.blocks_from(done):
            part = work(block)
            done, whole = done + 1, part if whole is None else whole.merge(part)
            yield done, whole


def evenly(n: int, k: int) -> np.ndarray:
    """Numbers of at most k rows of n, evenly spread."""
    k = min(k, n)
    return np.arange(k) * (n - 1) // max(k - 1, 1)
