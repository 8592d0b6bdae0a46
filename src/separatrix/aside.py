"""Long calls of foreign code that let go of the interpreter, made so that Ctrl-C is heard while they run."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

STEP = 0.1  # seconds between two looks


def aside(work: Callable[[], T]) -> T:
    """``work()`` in a thread, waited for in steps: a signal is handled between two of them.

    Nobody can stop HiGHS or LAPACK from outside: after Ctrl-C the thread ends when they do, and its result is dropped.
    """
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
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]
