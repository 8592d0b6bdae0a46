"""How long work hears a word to stop: foreign code that lets go of the interpreter, and proofs after a solve."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

STEP = 0.1  # seconds between two looks
SOON = 1e8  # multiplications of large matrices that are over before that


class StoppedError(Exception):
    """Whoever was asked wants no result any more; it ends with the fit that asked."""


class _Asked:
    """Whether to stop, asked a few times a second."""

    def __init__(self, stop: Callable[[], Any]):
        self.stop, self.last = stop, time.perf_counter()

    def look(self) -> None:
        if time.perf_counter() - self.last >= STEP:
            stop, self.last = self.stop(), time.perf_counter()
            if stop:
                raise StoppedError


_asked: ContextVar[_Asked | None] = ContextVar("asked", default=None)


@contextmanager
def asking(stop: Callable[[], Any]) -> Iterator[None]:
    """Within it, calls that are made aside or that `heed` end with `StoppedError` when ``stop`` says so."""
    token = _asked.set(_Asked(stop))
    try:
        yield
    finally:
        _asked.reset(token)


@contextmanager
def by_itself() -> Iterator[None]:
    """Within it only those are heard who ask within: not a fit around this one, whose callback may have called it, nor
    one that is over, whose `asking` an interrupt has kept from taking back its word."""
    token = _asked.set(None)
    try:
        yield
    finally:
        _asked.reset(token)


def heed() -> None:
    """To be called between steps of at most some tenths of a second, by work that nobody watches otherwise."""
    asked = _asked.get()
    if asked is not None:
        asked.look()


def aside(work: Callable[[], T], cost: float = math.inf) -> T:
    """``work()`` in a thread, waited for in steps: signals, and whoever may stop it, are heard between two of them.

    ``cost``: its multiplications; where they are few it is over before anybody would ask. Nobody can stop HiGHS or
    LAPACK from outside: the thread ends when they do, and its result is dropped.
    """
    if cost < SOON:
        return work()
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = work()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(STEP)
        heed()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]
