"""One thread for BLAS while solvers run, and no warnings of linear algebra where a function of it may warn.

Both are settings of the whole process, and fits run in several threads. Interleaved contexts would restore each other's
settings: only one thread at a time makes them, and the same one takes them back; to others they are given for as long
as it lasts.
"""

import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import Any

from scipy.linalg import LinAlgWarning
from threadpoolctl import ThreadpoolController


class _Shared:
    """A context of the whole process: the thread that finds it free enters it, all others pass by.

    ``begin`` makes the setting and returns what takes it back."""

    def __init__(self, begin: Callable[[], Callable[[], Any]]):
        self.begin, self.lock, self.owner, self.depth = begin, threading.Lock(), 0, 0
        self.take_back: Callable[[], Any] = lambda: None

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self.lock:
            if self.depth == 0:
                self.owner = me
                self.take_back = self.begin()
            if self.owner == me:
                self.depth += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            if self.depth > 0 and self.owner == threading.get_ident():
                self.depth -= 1
                if self.depth == 0:
                    self.take_back()


@cache
def _blas() -> list[Any]:
    """What controls each BLAS of the process, whose libraries are looked through once."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _without_warnings() -> Callable[[], Any]:
    stack = ExitStack()
    stack.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore", LinAlgWarning)
    return stack.close


def _limit() -> Callable[[], Any]:
    """BLAS with one thread. What threadpoolctl's own context does, without the inventory that it makes each time."""
    before = [(library, library.get_num_threads()) for library in _blas()]
    several = [(library, threads) for library, threads in before if threads != 1]
    for library, _ in several:
        library.set_num_threads(1)

    def take_back() -> None:
        for library, threads in several:
            library.set_num_threads(threads)

    return take_back


one_blas_thread = _Shared(_limit)
no_warnings = _Shared(_without_warnings)  # of scipy's linear algebra, where a function of it may warn
