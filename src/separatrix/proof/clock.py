"""A limit in time for work that is done in small steps."""

import time

import numpy as np

from separatrix.aside import heed


class OutOfTimeError(Exception):
    """Work in small steps met its limit; nobody outside of `separatrix.proof` sees it."""


class Clock:
    """``max_time`` seconds from now."""

    def __init__(self, max_time: float = np.inf):
        self.end = time.perf_counter() + max_time

    @property
    def left(self) -> float:
        """Seconds, at least a few milliseconds."""
        return max(self.end - time.perf_counter(), 1e-3)

    def look(self) -> None:
        """To be called between steps of at most some tenths of a second; heeds a word to stop as well."""
        heed()
        if time.perf_counter() >= self.end:
            raise OutOfTimeError
