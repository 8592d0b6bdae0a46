"""Progress bars: on a terminal, for what takes longer than a second, with the gap or the updates and an estimate."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from separatrix.callbacks import Callback

PATIENCE = 1.0  # seconds of silence


class Stage(Callback):
    """One task on the bar; also a callback for estimators."""

    def __init__(self, bar: Any, task: Any, tol: float):
        self.bar, self.task, self.tol = bar, task, tol

    def update(self, share: float | None = None, note: str = "") -> None:
        if self.bar is not None:
            self.bar.update(self.task, completed=share or 0.0, total=None if share is None else 1.0, note=note)

    def watch(self, estimator: Any) -> Any:
        """The estimator, reporting to this stage as well."""
        if self.bar is None:
            return estimator
        return estimator.set_callbacks(*getattr(estimator, "_skl_callbacks", ()), self)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        measures = getattr(context, "measures", None) or {}
        gap = measures.get("gap")
        if gap is not None and 0 < gap < math.inf:
            share = math.log(min(gap, 1.0)) / math.log(min(self.tol, 0.5)) if self.tol > 0 else None
            self.update(None if share is None else min(max(share, 0.0), 1.0), f"gap {gap:.1e}")
        elif measures.get("updates") is not None:
            epochs, most = measures.get("epochs") or 0, getattr(estimator, "max_epochs", None)
            self.update(epochs / most if most else None, f"{measures['updates']:,} updates")


class Progress:
    """Stages, one after the other; silent where standard error is not a terminal."""

    def __init__(self, quiet: bool = False):
        from rich.console import Console

        self.console = Console(stderr=True)
        self.seen = self.console.is_terminal and not quiet

    @contextmanager
    def stage(self, title: str, tol: float = 1e-6) -> Iterator[Stage]:
        if not self.seen:
            yield Stage(None, None, tol)
            return
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
        )
        task = bar.add_task(title, total=None, note="")
        timer = threading.Timer(PATIENCE, bar.start)
        timer.daemon = True
        timer.start()
        try:
            yield Stage(bar, task, tol)
        finally:
            timer.cancel()
            timer.join()
            bar.stop()
