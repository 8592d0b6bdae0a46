"""Compiled kernels that are found again by other processes.

A kernel is made by a factory; its closure holds a digest of everything outside the kernel's own file that shapes its
machine code. Closure cells are part of numba's cache key, so an edit of a rule or of the row functions compiles anew,
and nothing else does. (Jitted functions as arguments, closures over dispatchers and jitclasses do not cache.) A cache
that is damaged, or cannot be written, costs time and never a fit.
"""

import hashlib
import os
import pickle
import uuid
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any

from numba import njit

from separatrix.rules.base import digest

# A kernel may inline functions of these rooms, and constants: an edit of any file in them compiles all kernels anew.
INLINED = ("online/loops", "solvers/loops", "passes/compiled.py", "data/access.py", "rules/base.py", "rules/mira.py")
CHECKSUM = 32  # bytes of SHA-256 at the head of a file


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
        # Files and symbols of compiled code are called by this name: rules of one name stay apart.
        run.__qualname__ = f"run-{rule_class.__qualname__}-{key[:12]}"
        return compiled(run, importable(rule_class), allocates=False)

    return get


def compiled(
    function: Callable,
    cacheable: bool = True,
    any_order: bool = False,
    allocates: bool = True,
    extremes: bool = False,
) -> Any:
    """``njit`` with the options of all kernels; where no cache folder can be written, without a cache.

    ``any_order``: sums may be taken in any order, which lets them run in vector registers; ``extremes``: maxima too,
    because no value is nan and the sign of 0 does not matter. A kernel that makes no array
    (``allocates=False``) need not count references, which costs more than a correction does.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": allocates}
    if any_order:
        options["fastmath"] = {"reassoc", "contract"} | ({"nnan", "nsz"} if extremes else set())
    if cacheable:
        try:
            kernel = njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "locator" not in str(error):
                raise
            _warn_uncached("next to the package nor in the home folder")
        else:
            if hasattr(kernel, "_cache"):  # not where numba is switched off
                # Where a later numba keeps its cache in another way, its own will do.
                with suppress(ImportError, AttributeError):
                    kernel._cache = _entries()(function)
            return kernel
    return njit(**options)(function)


@cache
def _entries() -> type:
    """Numba's cache, with files that damage and other processes cannot turn into wrong code, and quicker to find.

    A file holds one compiled form, its whole key and a checksum: what does not fit is compiled anew and written over.
    Numba's own index of numbered files, written by two processes at once, may lead from one kernel to another's code.
    """
    import numba
    from numba.core.caching import FunctionCache
    from numba.core.runtime import rtsys
    from numba.core.serialize import dumps

    class Files:
        """In place of numba's index and data files."""

        def __init__(self, base: str, stamp: Any):
            self.base, self.stamp = base, stamp

        def path(self, key: Any) -> str:
            signature, machine, _ = key
            name = hashlib.sha256(repr((str(signature), machine, numba.__version__)).encode()).hexdigest()
            return f"{self.base}.{name[:24]}.nbc"

        def load(self, key: Any) -> Any:
            try:
                content = Path(self.path(key)).read_bytes()
            except OSError:
                return None
            if hashlib.sha256(content[CHECKSUM:]).digest() != content[:CHECKSUM]:
                return None
            try:
                stamp, whole_key, form = pickle.loads(content[CHECKSUM:])
            except Exception:  # it was written by a version whose classes were in other modules
                return None
            return form if (stamp, whole_key) == (self.stamp, key) else None

        def save(self, key: Any, form: Any) -> None:
            content = dumps((self.stamp, key, form))
            path = self.path(key)
            own = f"{path}.{uuid.uuid4().hex[:16]}"
            try:
                Path(own).write_bytes(hashlib.sha256(content).digest() + content)
                os.replace(own, path)
            finally:
                Path(own).unlink(missing_ok=True)

    class Entries(FunctionCache):
        def __init__(self, function: Callable):
            super().__init__(function)
            base = os.path.join(self.cache_path, self._impl.filename_base)
            self._cache_file = Files(base, self._impl.locator.get_source_stamp())

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            # Numba brings up all its registries here, a fifth of a second in every process. They serve compilation,
            # which brings them up itself where nothing is found; to run, a kernel needs the memory manager only.
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except OSError as error:
                _warn_uncached(f"({error.strerror})")

    return Entries


@cache
def _warn_uncached(why: str) -> None:
    warnings.warn(
        f"separatrix cannot write compiled code {why}, so every process compiles anew (about a second per algorithm). "
        "Set NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=3,
    )


def importable(cls: type) -> bool:
    """Can another process find this class by name? Only then can its kernel be cached."""
    return cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__
