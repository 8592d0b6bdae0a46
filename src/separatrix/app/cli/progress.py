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
    """One bar for all stages of a workflow; None for ``with`` if nobody would see it."""

    def __init__(self, quiet: bool = False):
        from rich.console import Console

        self.console = Console(stderr=True)
        self.seen = self.console.is_terminal and not quiet
        self.bar: Any = None
        self.task: Any = None
        self.timer: Any = None
        self.started = time.monotonic()
        self.end: float | None = None  # seconds from the start, as estimated

    def __enter__(self) -> Any:
        return self if self.seen else None

    def __exit__(self, *error: object) -> None:
        self.pause()

    def pause(self) -> None:
        """Take the bar away, for lines that stay; the next call brings it back."""
        if self.bar is not None:
            self.timer.cancel()
            self.timer.join()
            self.bar.stop()
            self.bar = None

    def __call__(self, stage: str, share: float | None = None, note: str = "") -> None:
        if self.bar is None:
            self._begin()
        elapsed = time.monotonic() - self.started
        self.end = elapsed / share if share is not None and share >= KNOWN else None
        total = None if share is None else 1.0
        self.bar.update(self.task, description=stage, completed=share or 0.0, total=total, note=note)

    def above(self, line: str) -> None:
        """A line that stays, above the bar."""
        self.console.print(line, markup=False, highlight=False)

    def time_words(self) -> str:
        """The time so far, and what is left by the last estimate."""
        elapsed = time.monotonic() - self.started
        return time_words(elapsed, None if self.end is None else min(elapsed / max(self.end, 1e-9), 1.0))

    def _begin(self) -> None:
        from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Bar
        from rich.text import Text

        shown = self

        class Times(ProgressColumn):
            def render(self, task: Any) -> Any:
                return Text(shown.time_words())

        bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[note]}"),
            Times(),
            console=self.console,
            transient=True,
        )
        self.bar, self.task = bar, bar.add_task("", total=None, note="")
        self.timer = threading.Timer(PATIENCE, bar.start)
        self.timer.daemon = True
        self.timer.start()
