"""One thread for BLAS while solvers run, and no warnings of linear algebra where a function of it may warn.

Both are settings of the whole process, and fits run in several threads. Interleaved contexts would restore each other's
settings: only one thread at a time makes them, and the same one takes them back; to others they are given for as long
as it lasts.
"""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any

from scipy.linalg import LinAlgWarning
from threadpoolctl import ThreadpoolController


class _Shared:
    """A context of the whole process: the thread that finds it free enters it, all others pass by."""

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]):
        self.make, self.lock, self.owner, self.depth, self.stack = make, threading.Lock(), 0, 0, ExitStack()

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self.lock:
            if self.depth == 0:
                self.owner = me
                self.stack.enter_context(self.make())
            if self.owner == me:
                self.depth += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            if self.depth > 0 and self.owner == threading.get_ident():
                self.depth -= 1
                if self.depth == 0:
                    self.stack.close()


@cache
def _blas() -> list[Any]:
    """What controls each BLAS of the process, whose libraries are looked through once."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


@contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        yield


@contextmanager
def _limit() -> Iterator[None]:
    """BLAS with one thread. What threadpoolctl's own context does, without the inventory that it makes each time."""
    before = [(library, library.get_num_threads()) for library in _blas()]
    several = [(library, threads) for library, threads in before if threads != 1]
    for library, _ in several:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, threads in several:
            library.set_num_threads(threads)


one_blas_thread = _Shared(_limit)
no_warnings = _Shared(_without_warnings)  # of scipy's linear algebra, where a function of it may warn
