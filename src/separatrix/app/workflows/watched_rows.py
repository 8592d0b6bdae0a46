"""A home of rows that tells how far a pass is."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from separatrix.app.workflows.asked import Tell
from separatrix.callbacks import Callback
from separatrix.data.base import RowSource, S
from separatrix.data.memory import MemoryRows


class WatchedRows(RowSource):
    """The rows of another home. ``tell`` is called after every block: the pass, the share of its blocks that is done,
    and in words blocks, speed and the gap so far. How many passes there will be nobody knows, so that the time that is
    left is that of this pass."""

    def __init__(self, home: RowSource, tell: Tell | None):
        self.home, self.tell = home, tell
        self.n, self.width, self.classes, self.names = home.n, home.width, home.classes, home.names
        self.block_count, self.prefers_mixing = home.block_count, home.prefers_mixing
        self.sparse = getattr(home, "sparse", False)
        self.passes, self.gap = 0, np.inf

    @property
    def fingerprint(self) -> str:
        return self.home.fingerprint

    def blocks(self) -> Iterator[MemoryRows]:
        return self.blocks_from(0)

    def blocks_from(self, number: int) -> Iterator[MemoryRows]:
        watch = self._watch(number)
        for done, block in enumerate(self.home.blocks_from(number), number + 1):
            yield block
            watch(done)

    def take(self, index: np.ndarray) -> MemoryRows:
        return self.home.take(index)

    def merged(self, work: Callable[[MemoryRows], S], done: int = 0, whole: S | None = None) -> Iterator[tuple[int, S]]:
        watch = self._watch(done)
        for done, whole in self.home.merged(work, done, whole):  # noqa: B020
            watch(done)
            yield done, whole

    def _watch(self, already: int) -> Callable[[int], None]:
        self.passes += 1
        clock, blocks, tell = time.perf_counter(), self.block_count, self.tell
        stage = f"Pass {self.passes}"
        if tell is None:
            return lambda done: None
        tell(stage, None if blocks is None else already / blocks, self._note(already, 0.0))

        def watch(done: int) -> None:
            seconds = max(time.perf_counter() - clock, 1e-9)
            speed = 0.0 if blocks is None else (done - already) / blocks * self.n / seconds
            tell(stage, None if blocks is None else done / blocks, self._note(done, speed))

        return watch

    def _note(self, done: int, speed: float) -> str:
        words = [f"block {done:,}" + (f" of {self.block_count:,}" if self.block_count else "")]
        words += [f"{speed:,.0f} rows/s"] if speed else []
        words += [f"gap {self.gap:.1e}"] if self.gap < np.inf else []
        return ", ".join(words)


class GapSoFar(Callback):
    """Callback that hands the gap of a fit to the rows that tell it."""

    def __init__(self, rows: WatchedRows):
        self.rows = rows

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        gap = (getattr(context, "measures", None) or {}).get("gap")
        if gap is not None and 0 <= gap < np.inf:
            self.rows.gap = gap
