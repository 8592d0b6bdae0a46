"""Cancellation: the deadline of a call, stop requests during it, and waiting for code that cannot be stopped.

A public call with ``max_time`` runs within `limited`. Everything below looks at that one deadline: the solvers of all
classes and pairs, the proofs after them, and the threads of ``n_jobs``, to which a copy of the context is given.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

STEP = 0.1  # seconds between two looks
SOON = 1e8  # multiplications of large matrices that are over before that


class StoppedError(Exception):
    """Raised within a call whose result is no longer wanted; the call itself catches it."""


class OutOfTimeError(StoppedError):
    """Raised within a call whose deadline has passed."""


class _Request:
    """A stop request, asked for a few times a second."""

    def __init__(self, stop: Callable[[], Any]):
        self.stop, self.last = stop, time.perf_counter()

    def check(self) -> None:
        if time.perf_counter() - self.last >= STEP:
            stop, self.last = self.stop(), time.perf_counter()
            if stop:
                raise StoppedError


class _Call(NamedTuple):
    """What may end the present call: a deadline, and a stop request."""

    end: float = math.inf
    request: _Request | None = None


_ENDLESS = _Call()
_call: ContextVar[_Call] = ContextVar("call", default=_ENDLESS)


@contextmanager
def limited(max_time: float | None = None) -> Iterator[None]:
    """Run a public call, for ``max_time`` seconds at most.

    Neither the deadline nor the stop request of a call around this one, whose callback may have made it, is heard; nor
    those of a call that is over, if an interrupt has kept it from taking them back.
    """
    token = _call.set(_Call(math.inf if max_time is None else time.perf_counter() + max_time))
    try:
        yield
    finally:
        _call.reset(token)


@contextmanager
def stoppable(stop: Callable[[], Any]) -> Iterator[None]:
    """Within it, `check_cancelled` raises `StoppedError` if ``stop`` returns something true."""
    token = _call.set(_call.get()._replace(request=_Request(stop)))
    try:
        yield
    finally:
        _call.reset(token)


def out_of_time() -> bool:
    """Whether the deadline of the present call has passed."""
    return time.perf_counter() >= _call.get().end


def check_cancelled() -> None:
    """Raise if the present call is to end. Call it between steps of at most some tenths of a second."""
    if out_of_time():
        raise OutOfTimeError
    request = _call.get().request
    if request is not None:
        request.check()


class Clock:
    """A deadline in ``max_time`` seconds, and no later than that of the present call."""

    def __init__(self, max_time: float = math.inf):
        self.end = min(time.perf_counter() + max_time, _call.get().end)

    @property
    def left(self) -> float:
        """Seconds, at least a millisecond."""
        return max(self.end - time.perf_counter(), 1e-3)

    @property
    def expired(self) -> bool:
        return time.perf_counter() >= self.end

    def look(self) -> None:
        """Raise if the deadline has passed, or if the present call is to end."""
        check_cancelled()
        if self.expired:
            raise OutOfTimeError


def run_in_thread(work: Callable[[], T], cost: float = math.inf) -> T:
    """Return ``work()``, made in a thread: signals, deadlines and stop requests are answered while it runs.

    ``cost``: its multiplications; if they are few there is no thread. HiGHS and LAPACK cannot be stopped from outside:
    after a cancellation the thread ends when they do, and its result is dropped. The end of the process waits for it if
    the call has a deadline, which HiGHS knows: a process that ends while HiGHS runs is aborted.
    """
    if cost < SOON:
        return work()
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = work()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, daemon=math.isinf(_call.get().end))
    thread.start()
    while thread.is_alive():
        thread.join(STEP)
        check_cancelled()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]
