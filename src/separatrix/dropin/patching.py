"""Puts the drop-in classes in the place of scikit-learn's, for code that cannot be edited."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from separatrix.dropin.linear_svc import LinearSVC
from separatrix.dropin.sequential import PassiveAggressiveClassifier, Perceptron
from separatrix.dropin.svc import SVC

REPLACED: dict[type, type] = {
    next(base for base in cls.__mro__ if base.__module__.startswith("sklearn.")): cls
    for cls in (LinearSVC, SVC, Perceptron, PassiveAggressiveClassifier)
}
PUBLIC = ("sklearn.svm", "sklearn.linear_model")
_lock = threading.Lock()
_places: list[tuple[ModuleType, str, type]] = []  # where a class of scikit-learn stood


def patch() -> None:
    """Put the drop-in classes in the place of scikit-learn's, until `unpatch`.

    The names in ``sklearn.svm`` and ``sklearn.linear_model``, and in every module of scikit-learn that has imported
    them, mean the drop-in classes afterwards. Call it before your own modules import these names: what they hold
    already stays what it was. A second call changes nothing.

    Examples
    --------
    >>> from separatrix import dropin
    >>> dropin.patch()
    >>> from sklearn.svm import LinearSVC
    >>> LinearSVC is dropin.LinearSVC
    True
    >>> dropin.unpatch()
    """
    with _lock:
        if _places:
            return
        for name in PUBLIC:
            import_module(name)
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] != "sklearn" or not isinstance(module, ModuleType):
                continue
            for attribute, value in list(vars(module).items()):
                if isinstance(value, type) and value in REPLACED and name != value.__module__:
                    setattr(module, attribute, REPLACED[value])
                    _places.append((module, attribute, value))


def unpatch() -> None:
    """Give scikit-learn's classes their places back.

    Examples
    --------
    >>> from separatrix import dropin
    >>> dropin.unpatch()  # nothing happens where nothing was patched
    """
    with _lock:
        while _places:
            module, attribute, value = _places.pop()
            setattr(module, attribute, value)


@contextmanager
def patched() -> Iterator[None]:
    """`patch` for the length of a ``with`` block; where it was in force before, it stays so.

    Yields
    ------
    None
        Nothing; the block runs with the drop-in classes in place.

    Examples
    --------
    >>> from separatrix import dropin
    >>> with dropin.patched():
    ...     from sklearn.svm import LinearSVC
    >>> LinearSVC.__module__.startswith("separatrix")
    True
    """
    before = bool(_places)
    patch()
    try:
        yield
    finally:
        if not before:
            unpatch()
