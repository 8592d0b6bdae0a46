"""Progress bars: on a terminal, for what takes longer than a second, with the gap or the updates and an estimate."""

import threading
from typing import Any

PATIENCE = 1.0  # seconds of silence


class Progress:
    """What workflows tell: a bar for every stage, one after the other; None for ``with`` where nobody would see it."""

    def __init__(self, quiet: bool = False):
        from rich.console import Console

        self.console = Console(stderr=True)
        self.seen = self.console.is_terminal and not quiet
        self.stage = ""
        self.bar: Any = None
        self.task: Any = None
        self.timer: Any = None

    def __enter__(self) -> Any:
        return self if self.seen else None

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.timer.cancel()
            self.timer.join()
            self.bar.stop()
            self.stage, self.bar = "", None

    def __call__(self, stage: str, share: float | None = None, note: str = "") -> None:
        if stage != self.stage:
            self.__exit__()
            self._begin(stage)
        self.bar.update(self.task, completed=share or 0.0, total=None if share is None else 1.0, note=note)

    def _begin(self, stage: str) -> None:
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
        self.stage, self.bar, self.task = stage, bar, bar.add_task(stage, total=None, note="")
        self.timer = threading.Timer(PATIENCE, bar.start)
        self.timer.daemon = True
        self.timer.start()
