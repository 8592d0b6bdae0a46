"""Compiled kernels that are found again by other processes.

A kernel is made by a factory; its closure holds a digest of everything outside the kernel's own file that shapes its
machine code. Closure cells are part of numba's cache key, so an edit of a rule or of the row functions compiles again,
and nothing else does. (Jitted functions as arguments, closures over dispatchers and jitclasses do not cache.) A cache
that is damaged, or cannot be written, costs time and never a fit.

A kernel that is not in the cache runs as Python until its loops have made as many rounds as take about the time of
compiling it. So a small first fit does not wait for the compiler, and other work takes at most about twice as long as
if the better form were known before. Rounds are counted; no clock is read. ``SEPARATRIX_COMPILE=always`` compiles at
once, which results that are bitwise identical need; ``never`` runs everything as Python.
"""

import hashlib
import os
import pickle
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial, wraps
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from separatrix.rules.base import UNWRAPPED, digest

# A kernel may inline functions of these rooms, and constants: an edit of any file in them compiles all kernels again.
INLINED = (
    "online/loops",
    "solvers/loops",
    "passes/compiled.py",
    "data/access.py",
    "rules/base.py",
    "rules/aggressive.py",
)
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


Kernel = Callable[..., Any]  # compiled code, called with arrays, numbers and tuples of them


def on_first_use(make: Callable[[str], Kernel]) -> Callable[[], Kernel]:
    """Decorator of a kernel's factory: the kernel is made when it is first asked for.

    The factory's ``key`` has to be mentioned in the kernel: it becomes a closure cell, and so part of the cache key.
    """

    @cache
    @wraps(make)
    def get() -> Kernel:
        return make(shared_digest())

    return get


def one_per_rule(make: Callable[[str], Kernel]) -> Callable[[type], Kernel]:
    """The same for a loop that allocates nothing, a kernel for each class of rules: their formulas are compiled in."""

    @cache
    @wraps(make)
    def get(rule_class: type) -> Kernel:
        key = digest(rule_class)
        run = make(shared_digest() + key)
        # Files and symbols of compiled code are called by this name: rules of one name stay apart.
        run.__qualname__ = f"run-{rule_class.__qualname__}-{key[:12]}"
        return compiled(run, importable(rule_class), allocates=False, at_once=True)

    return get


def compiled(
    function: Callable,
    cacheable: bool = True,
    any_order: bool = False,
    allocates: bool = True,
    extremes: bool = False,
    at_once: bool | None = False,
) -> Any:
    """``njit`` with the options of all kernels; where no cache folder can be written, without a cache.

    ``any_order``: sums may be taken in any order, which lets them run in vector registers; ``extremes``: maxima too,
    because no value is nan and the sign of 0 does not matter. A kernel that makes no array
    (``allocates=False``) need not count references, which costs more than a correction does. ``at_once``: Python does
    not take its place, because where it ends depends on the last bit of a sum, as the path of an online rule. None:
    Python may take it even within `at_once`, because it returns the same bits.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": allocates, **UNWRAPPED}
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
                _kernels.append(kernel)
                # Where a later numba keeps its cache in another way, its own will do.
                with suppress(ImportError, AttributeError):
                    kernel._cache = _entries()(function)
                    kernel._compile_for_args = Tiers(kernel, at_once)
            return kernel
    kernel = njit(**options)(function)
    if hasattr(kernel, "_compile_for_args"):
        kernel._compile_for_args = Tiers(kernel, at_once)
    return kernel


class Forms(NamedTuple):
    """Compiled forms of this process, one for each kernel and types of its arguments."""

    loaded: int
    compiled: int
    folder: str  # of the cache


_kernels: list[Any] = []


def forms() -> Forms:
    """Count what this process has loaded and compiled so far."""
    loaded = sum(sum(kernel.stats.cache_hits.values()) for kernel in _kernels)
    compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in _kernels)
    return Forms(loaded, compiled, os.path.commonpath([kernel._cache.cache_path for kernel in _kernels] or ["."]))


@cache
def _entries() -> type:
    """Numba's cache, with files that damage and other processes cannot turn into wrong code, and quicker to find.

    A file holds one compiled form, its whole key and a checksum: what does not fit is compiled again and written over.
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

        def holds(self, sig: Any, target_context: Any) -> bool:
            return os.path.exists(self._cache_file.path(self._index_key(sig, target_context.codegen())))

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
        f"separatrix cannot write compiled code {why}, so every process compiles again (about a second per algorithm). "
        "Set NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=3,
    )


def importable(cls: type) -> bool:
    """Can another process find this class by name? Only then can its kernel be cached."""
    return cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__


# When a kernel is compiled.

MODES = ("always", "auto", "never")
ROUNDS_PER_BYTE = 1500  # rounds of interpreted loops in the time that compiling a byte of Python's code takes
ROUNDS_PER_CALL = 8  # in the time of a call of another function, such as a product with a row
VALUES_PER_ROUND = 100  # values that are copied in the time of a round
PASSES = 8  # over its values, which a kernel is expected to make at least

_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


@contextmanager
def at_once(now: bool = True) -> Iterator[None]:
    """Compile the kernels that are called within it, also as a decorator: what they return decides the path of a rule.
    ``now=False``: not necessarily, as for the certificate after that path."""
    token = _at_once.set(now)
    try:
        yield
    finally:
        _at_once.reset(token)


def compile_mode() -> str:
    mode = os.environ.get("SEPARATRIX_COMPILE", "auto")
    if mode not in MODES:
        raise ValueError(f"SEPARATRIX_COMPILE: unknown value {mode!r}. Set it to 'always', 'auto' or 'never'.")
    return mode


class Tiers:
    """Called by numba with the arguments of a kernel that has no compiled form for their types; returns what is to be
    called: a compiled form, which numba remembers, or Python's."""

    def __init__(self, kernel: Any, at_once: bool | None):
        self.kernel, self.function, self.at_once = kernel, kernel.py_func, at_once
        self.compile = kernel._compile_for_args
        self.left: dict[Any, int] = {}  # rounds until each form is compiled
        self.of_thread = threading.local()

    def __call__(self, *arguments: Any) -> Callable:
        mode = compile_mode()
        if mode == "never":
            return partial(self._interpret, None)
        if mode == "always" or self.at_once or (_at_once.get() and self.at_once is not None):
            return self.compile(*arguments)
        form = form_of(arguments)
        if form not in self.left:
            self.left[form] = 0 if self._in_cache(arguments) else self._counted()[1]
        if self.left[form] <= PASSES * sum(array.size for array in arrays_in(arguments)):
            return self.compile(*arguments)
        return partial(self._interpret, form)

    def _in_cache(self, arguments: tuple) -> bool:
        from numba.core.typing.typeof import Purpose, typeof

        signature = tuple(typeof(argument, Purpose.argument) for argument in arguments)
        holds = getattr(self.kernel._cache, "holds", None)
        return holds is not None and holds(signature, self.kernel.targetctx)

    def _counted(self) -> tuple[Callable, int, "Rounds"]:
        """This thread's form of the function that counts rounds, how many take the time of compiling, and the count."""
        if not hasattr(self.of_thread, "counted"):
            rounds, counted = Rounds(), dict[FunctionType, FunctionType]()
            function = rounds.counting(self.function, counted)
            size = sum(len(each.__code__.co_code) for each in counted)
            self.of_thread.counted = function, ROUNDS_PER_BYTE * size, rounds
        return self.of_thread.counted

    def _interpret(self, form: Any, *arguments: Any) -> Any:
        """Run it as Python. If that fails or takes too many rounds, compiled code begins again with arrays as they
        were.

        They are put back after an interrupt too, because callers never see a kernel half-way.
        """
        before = [(array, array.copy()) for array in arrays_in(arguments) if array.flags.writeable]
        function, _, rounds = (self.function, 0, None) if form is None else self._counted()
        if rounds is not None:
            rounds.left = self.left[form] - sum(array.size for array, _ in before) // VALUES_PER_ROUND
        try:
            with np.errstate(all="ignore"):
                value = function(*arguments)
        except BaseException as error:
            for array, values in before:
                array[...] = values
            if rounds is None or not isinstance(error, Exception):
                raise
        else:
            if rounds is not None:
                self.left[form] = rounds.left
            return value
        self.left[form] = 0
        return self.kernel(*arguments)


class TooManyRoundsError(Exception):
    """What a kernel still has to do is work for compiled code."""


class Rounds:
    """Counts the rounds of ``for`` loops over ``range`` in functions of this package, and calls of other functions."""

    left = 0

    def charge(self, rounds: int) -> None:
        self.left -= rounds
        if self.left < 0:
            raise TooManyRoundsError

    def range(self, *bounds: Any) -> range:
        rounds = range(*bounds)
        self.charge(len(rounds) + 1)
        return rounds

    def counting(self, function: FunctionType, forms: dict[FunctionType, FunctionType]) -> FunctionType:
        """A form of a function, and of all that it calls, which is counted."""
        if function not in forms:
            names = function.__globals__ | {"range": self.range}
            code, defaults = function.__code__, function.__defaults__
            forms[function] = FunctionType(code, names, function.__name__, defaults, function.__closure__)
            for name in code.co_names:
                called = names.get(name)
                if isinstance(called, FunctionType) and called.__module__.startswith(__package__):
                    names[name] = self._charged(self.counting(called, forms))
        return forms[function]

    def _charged(self, function: Callable) -> Callable:
        def call(*arguments: Any) -> Any:
            self.charge(ROUNDS_PER_CALL)
            return function(*arguments)

        return call


def form_of(value: Any) -> Any:
    """What compiled code of this value depends on."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable
    if isinstance(value, tuple):
        return type(value), *(form_of(part) for part in value)
    return type(value)


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_in(part)
