"""Progress bars: on a terminal, for what takes longer than a second, with how far it is and what is left."""

import threading
import time
from typing import Any

PATIENCE = 1.0  # seconds of silence
KNOWN = 0.1  # share of the work from which on the rest can be estimated


def time_words(elapsed: float, share: float | None) -> str:
    """The time that has passed, and an estimate of what is left where a fair share of the work is done."""
    spent = f"{_clock(elapsed)} so far"
    if share is None or not KNOWN <= share < 1.0:
        return spent
    return f"{spent}, about {_clock(elapsed * (1.0 - share) / share)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


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
        self.started = 0.0

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
        told = time_words(time.monotonic() - self.started, share)
        self.bar.update(self.task, completed=share or 0.0, total=None if share is None else 1.0, note=note, time=told)

    def above(self, line: str) -> None:
        """A line that stays, above the bar."""
        self.console.print(line, markup=False, highlight=False)

    def _begin(self, stage: str) -> None:
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[note]}"),
            TextColumn("{task.fields[time]}"),
            console=self.console,
            transient=True,
        )
        self.stage, self.bar, self.task = stage, bar, bar.add_task(stage, total=None, note="", time="")
        self.started = time.monotonic()
        self.timer = threading.Timer(PATIENCE, bar.start)
        self.timer.daemon = True
        self.timer.start()
