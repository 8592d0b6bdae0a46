"""Progress of a fit and of its passes over files, and limits in time."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from separatrix.app.workflows.options import Tell
from separatrix.callbacks import Callback
from separatrix.data.base import RowSource, S
from separatrix.data.changed_rows import WrappedRows
from separatrix.data.memory import MemoryRows
from separatrix.estimators.max_margin_cv import MaxMarginCV
from separatrix.fit.batch import IterativeClassifier
from separatrix.fit.online import OnlineClassifier


class FitProgress(Callback):
    """Callback that shows the gap, as a share of the digits that are requested, or the updates."""

    def __init__(self, tell: Tell, stage: str, tol: float = 1e-6):
        self.tell, self.stage, self.tol = tell, stage, tol

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        measures = getattr(context, "measures", None) or {}
        gap, share = measures.get("gap"), measures.get("share")
        if share is not None:
            self.tell(self.stage, share, "")
        elif isinstance(estimator, MaxMarginCV):
            self.tell(self.stage, 1.0, "")  # its folds are solved
        elif gap is not None and 0 < gap < math.inf:
            digits = math.log(min(gap, 1.0)) / math.log(min(self.tol, 0.5)) if self.tol > 0 else None
            self.tell(self.stage, None if digits is None else min(max(digits, 0.0), 1.0), f"gap {gap:.1e}")
        elif measures.get("updates") is not None:
            epochs, most = measures.get("epochs") or 0, getattr(estimator, "max_iter", None)
            self.tell(self.stage, epochs / most if most else None, f"{measures['updates']:,} updates")


class Deadline(Callback):
    """Callback that ends a fit after so many seconds; it keeps what it has."""

    def __init__(self, seconds: float):
        self.seconds, self.start = seconds, time.perf_counter()

    def setup(self, estimator: Any, context: Any) -> None:
        self.start = time.perf_counter()

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        return time.perf_counter() - self.start > self.seconds


@contextmanager
def limited_and_shown(
    estimator: Any, max_time: float | None = None, progress: Callback | None = None
) -> Iterator[None]:
    """Limit the time of an estimator's fit and show its progress; the estimator keeps no trace of it."""
    callbacks: list[Callback] = [progress] if progress is not None else []
    if max_time is not None:
        if "max_time" in estimator.get_params():
            estimator.set_params(max_time=max_time)
        else:
            callbacks.append(Deadline(max_time))
    if callbacks and hasattr(estimator, "set_callbacks"):
        estimator.set_callbacks(*callbacks)
    try:
        yield
    finally:
        vars(estimator).pop("_skl_callbacks", None)


def can_be_limited(estimator: Any) -> bool:
    """Whether a fit returns to Python in between, or has a limit of its own; a fit in one call does neither."""
    return "max_time" in estimator.get_params() or isinstance(estimator, (OnlineClassifier, IterativeClassifier))


class PassProgress(WrappedRows):
    """A row source that shows how far each pass over it is: blocks, speed, and the gap so far.

    The number of passes is not known before the end, so the remaining time is that of the pass.
    """

    def __init__(self, source: RowSource, tell: Tell | None):
        super().__init__(source)
        self.tell, self.sparse = tell, getattr(source, "sparse", False)
        self.passes, self.gap = 0, math.inf

    def blocks_from(self, number: int) -> Iterator[MemoryRows]:
        show = self._begin_pass(number)
        for done, block in enumerate(self.source.blocks_from(number), number + 1):
            yield block
            show(done)

    def merged(self, work: Callable[[MemoryRows], S], done: int = 0, whole: S | None = None) -> Iterator[tuple[int, S]]:
        show = self._begin_pass(done)
        for done, whole in self.source.merged(work, done, whole):  # noqa: B020
            show(done)
            yield done, whole

    def _begin_pass(self, already: int) -> Callable[[int], None]:
        self.passes += 1
        start, blocks, tell = time.perf_counter(), self.block_count, self.tell
        stage = f"Pass {self.passes}"
        if tell is None:
            return lambda done: None
        tell(stage, None if blocks is None else already / blocks, self._note(already, 0.0))

        def show(done: int) -> None:
            seconds = max(time.perf_counter() - start, 1e-9)
            speed = 0.0 if blocks is None else (done - already) / blocks * self.n / seconds
            tell(stage, None if blocks is None else done / blocks, self._note(done, speed))

        return show

    def _note(self, done: int, speed: float) -> str:
        words = [f"block {done:,}" + (f" of {self.block_count:,}" if self.block_count else "")]
        words += [f"{speed:,.0f} rows/s"] if speed else []
        words += [f"gap {self.gap:.1e}"] if self.gap < math.inf else []
        return ", ".join(words)


class GapOfPasses(Callback):
    """Callback that adds the gap of a fit to the progress of its passes."""

    def __init__(self, passes: PassProgress):
        self.passes = passes

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        gap = (getattr(context, "measures", None) or {}).get("gap")
        if gap is not None and 0 <= gap < math.inf:
            self.passes.gap = gap
