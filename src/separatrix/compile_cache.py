"""Compiled kernels that are found again by other processes.

A kernel is made by a factory; its closure holds a digest of everything outside the kernel's own file that shapes its
machine code. Closure cells are part of numba's cache key, so an edit of a rule or of the row functions compiles anew,
and nothing else does. (Jitted functions as arguments, closures over dispatchers and jitclasses do not cache.)
"""

import hashlib
import warnings
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

from numba import njit

from separatrix.rules.base import digest

# A kernel may inline functions of these rooms, and constants: an edit of any file in them compiles all kernels anew.
INLINED = ("loops", "passes", "rows", "rules/base.py")


@cache
def shared_digest() -> str:
    """A fingerprint of the files whose functions every kernel inlines."""
    package = Path(__file__).parent
    files = [
        file
        for place in INLINED
        for file in ([package / place] if place.endswith(".py") else (package / place).rglob("*.py"))
    ]
    text = b"".join(file.read_bytes() for file in sorted(files))
    return hashlib.sha256(text).hexdigest()


def on_first_use(make: Callable[[str], Any]) -> Callable[[], Any]:
    """Decorator of a kernel's factory: the kernel is made when it is first asked for.

    The factory's ``key`` has to be mentioned in the kernel: it becomes a closure cell, and so part of the cache key.
    """

    @cache
    @wraps(make)
    def get() -> Any:
        return make(shared_digest())

    return get


def one_per_rule(make: Callable[[str], Callable]) -> Callable[[type], Any]:
    """The same for a loop that allocates nothing, a kernel for each class of rules: their formulas are compiled in."""

    @cache
    @wraps(make)
    def get(rule_class: type) -> Any:
        key = digest(rule_class)
        run = make(shared_digest() + key)
        # numba keeps one index of compiled forms per qualified name, and reading it imports the rule classes in it: a
        # name per rule keeps a rule that is no longer there from spoiling all others.
        run.__qualname__ = f"run-{rule_class.__qualname__}-{key[:12]}"
        return compiled(run, importable(rule_class), allocates=False)

    return get


def compiled(function: Callable, cacheable: bool = True, any_order: bool = False, allocates: bool = True) -> Any:
    """``njit`` with the options of all kernels; where no cache folder can be written, without a cache.

    ``any_order``: sums may be taken in any order, which lets them run in vector registers. A kernel that makes no array
    (``allocates=False``) need not count references, which costs more than a correction does.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": allocates}
    if any_order:
        options["fastmath"] = {"reassoc", "contract"}
    if cacheable:
        try:
            kernel = njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "locator" not in str(error):
                raise
            _warn_uncached()
        else:
            if hasattr(kernel, "_cache"):  # not where numba is switched off
                kernel._cache = _quick_cache()(function)
            return kernel
    return njit(**options)(function)


@cache
def _quick_cache() -> type:
    """Numba's cache, without what a kernel that is found there does not need.

    Numba brings up all its registries before it looks into the cache, a fifth of a second in every process. They serve
    compilation, which brings them up itself where nothing is found; to run, a kernel needs the memory manager only.
    """
    from numba.core.caching import FunctionCache

    try:
        from numba.core.runtime import rtsys
    except ImportError:  # no part of numba's interface: a later version may keep it elsewhere
        return FunctionCache

    class QuickCache(FunctionCache):
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)

    return QuickCache


@cache
def _warn_uncached() -> None:
    warnings.warn(
        "separatrix cannot write compiled code next to the package nor in the home folder, so every process compiles "
        "anew (about a second per algorithm). Set NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=3,
    )


def importable(cls: type) -> bool:
    """Can another process find this class by name? Only then can its kernel be cached."""
    return cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__
