"""Rows on a device, as an array of the array API standard (torch, CuPy, or any other that has ``__array_namespace__``).

Data stay where they are: work travels to slices of them, summaries and few rows come back. Numbers are computed in
float64 on the device, whatever the type of the rows: a pass waits for memory, not for arithmetic, and bounds on
rounding errors are those of memory.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.data.base import RowSource, S
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError, MissingExtraError

BLOCK_VALUES = 1 << 24  # values of a block: what a pass needs beside the data is a few times their size in float64
MOST_CLASSES = 127  # that a byte can number


class DeviceRows(RowSource):
    """``X``: an array of shape (n, d), float32 or float64. ``codes``: numbers of the rows' classes, 8-bit integers on
    the same device. ``weight``: one per row, or None. ``first``: the number of the first row of a block of others."""

    def __init__(self, X: Any, codes: Any, weight: Any = None, *, classes: np.ndarray | None = None, first: int = 0):
        self.X, self.codes, self.weight, self.first = X, codes, weight, first
        self.xp = namespace(X)
        self.n, self.width = (int(size) for size in X.shape)
        self.sparse = False
        if classes is not None:
            self.classes = classes

    @classmethod
    def of(cls, X: Any, y: Any, weight: Any = None) -> "DeviceRows":
        """Data as a user has them, looked at without a pass over X: the first pass tells whether they are finite."""
        xp = namespace(X)
        check_matrix(X, xp)
        codes, classes = _codes(y, X, xp)
        if weight is not None:
            weight = xp.astype(_beside(weight, X, xp, "sample_weight"), xp.float64)
        return cls(X, codes, weight, classes=classes)

    @property
    def device(self) -> Any:
        return device_of(self.X)

    @cached_property
    def borders(self) -> list[tuple[int, int]]:
        """First row and end of each block: they depend on the shape alone."""
        step = max(BLOCK_VALUES // max(self.width, 1), 1)
        return [(first, min(first + step, self.n)) for first in range(0, self.n, step)] or [(0, 0)]

    def part(self, first: int, end: int) -> "DeviceRows":
        """The rows from ``first`` to ``end``, not copied."""
        codes = None if self.codes is None else self.codes[first:end]
        weight = None if self.weight is None else self.weight[first:end]
        return DeviceRows(self.X[first:end, :], codes, weight, first=self.first + first)

    def blocks(self) -> Iterator[Any]:
        for border in self.borders:
            yield self.part(*border)

    def run(self, work: Callable[[Any], S]) -> S:
        with self.room():
            return super().run(work)

    @contextmanager
    def room(self) -> Iterator[None]:
        """Say in words that the device has no memory left."""
        try:
            yield
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            raise DataError(
                f"The device {self.device} ran out of memory in a pass over {self.n:,} x {self.width} values. A pass "
                f"needs about {40 * BLOCK_VALUES >> 20} MiB beside the data: free what else is there, or use float32."
            ) from error

    @property
    def one_piece(self) -> bool:
        """Do the rows lie one behind the other in the memory of a CUDA device, as torch's arrays do?"""
        return type(self.X).__module__.partition(".")[0] == "torch" and self.X.is_cuda and self.X.is_contiguous()

    def take(self, index: np.ndarray) -> MemoryRows:
        return self.rows_at(self.xp.asarray(np.asarray(index, dtype=np.int64), device=self.device))

    def rows_at(self, index: Any) -> MemoryRows:
        """`take` with numbers that are on the device."""
        codes, weight = (
            None if v is None else to_numpy(self.xp.take(v, index, axis=0)) for v in (self.codes, self.weight)
        )
        codes = None if codes is None else codes.astype(np.int64)
        return MemoryRows(to_numpy(self.xp.take(self.X, index, axis=0)), codes, weight)

    def here(self) -> MemoryRows:
        """All of these rows, brought here."""
        codes = None if self.codes is None else to_numpy(self.codes).astype(np.int64)
        weight = None if self.weight is None else to_numpy(self.weight)
        return MemoryRows(to_numpy(self.X), codes, weight, first=self.first)

    def scaled(self, centre: np.ndarray, size: np.ndarray) -> "DeviceRows":
        """``(x - centre) / size``."""
        X = self.xp.astype(self.X, self.xp.float64)
        X = (X - self.vector(centre)) / self.vector(size)
        return DeviceRows(X, self.codes, self.weight, first=self.first)

    def vector(self, v: np.ndarray) -> Any:
        """A vector of this process as one of the device, in float64."""
        return self.xp.asarray(np.ascontiguousarray(v, dtype=np.float64), device=self.device)


def check_matrix(X: Any, xp: Any) -> None:
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimensions; it must have 2, rows and columns.")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise DataError(f"X has shape {tuple(X.shape)}: there is nothing to separate.")
    if X.dtype not in (xp.float32, xp.float64):
        raise DataError(f"X on a device must be float32 or float64; it is {X.dtype}. Convert it where it lies.")
    try:
        xp.zeros(1, dtype=xp.float64, device=device_of(X))
    except (TypeError, RuntimeError, ValueError) as error:
        raise DataError(
            f"The device {device_of(X)} has no float64, without which no bound is certain. Move X to another one."
        ) from error


def _codes(y: Any, X: Any, xp: Any) -> tuple[Any, np.ndarray]:
    """Numbers of the rows' classes, on the device of X, and the classes, here."""
    if not is_array(y) or isinstance(y, np.ndarray):
        classes, here = np.unique(np.asarray(y), return_inverse=True)
        _check_classes(len(classes))
        return _beside(here.astype(np.int8), X, xp, "y"), classes
    y = _beside(y, X, xp, "y")
    smallest, largest = xp.min(y), xp.max(y)
    codes = xp.astype(y == largest, xp.int8)
    values = xp.stack([smallest, largest])
    if bool(smallest == largest):
        values = values[:1]
    elif int(xp.count_nonzero(codes)) + int(xp.count_nonzero(y == smallest)) < y.shape[0]:  # else no sort is needed
        values = xp.sort(xp.unique_values(y))
        _check_classes(values.shape[0])
        codes = xp.zeros_like(codes)
        for k in range(1, values.shape[0]):  # a byte per row: a search in order would need eight
            codes = codes + xp.astype(y >= values[k], xp.int8)
    return codes, to_numpy(values)


def _check_classes(k: int) -> None:
    if k > MOST_CLASSES:
        raise DataError(f"y has {k} classes; on a device at most {MOST_CLASSES} are supported.")


def _beside(v: Any, X: Any, xp: Any, name: str) -> Any:
    """One number per row, on the device of X: brought there from this process, asked to be there if on another one."""
    if not is_array(v) or isinstance(v, np.ndarray):
        v = xp.asarray(np.asarray(v), device=device_of(X))
    elif namespace(v) is not xp or device_of(v) != device_of(X):
        raise DataError(
            f"X is on the device {device_of(X)} and {name} on {device_of(v)}: bring both to one device, or {name} here."
        )
    if v.shape != (X.shape[0],):
        raise DataError(f"X has {X.shape[0]} rows and {name} has shape {tuple(v.shape)}: they do not belong together.")
    return v


def is_array(X: Any) -> bool:
    """Is this an array of the array API? The types of numpy's scalars have its attributes too, and are none."""
    if isinstance(X, type):
        return False
    if hasattr(X, "__array_namespace__"):
        return True
    return type(X).__module__.partition(".")[0] in ("torch", "cupy", "jax") and hasattr(X, "shape")


def stays_there(X: Any) -> bool:
    """Is this an array of another library than numpy, and is scikit-learn configured to leave such arrays where they
    are?"""
    if isinstance(X, np.ndarray) or not is_array(X):
        return False
    sklearn = sys.modules.get("sklearn")  # rows do without it; a caller that has not imported it has not configured it
    return sklearn is not None and bool(sklearn.get_config()["array_api_dispatch"])


def namespace(X: Any) -> Any:
    """The functions of the array API for arrays like this one."""
    if hasattr(X, "__array_namespace__"):
        return X.__array_namespace__()
    return _compat().array_namespace(X)


def device_of(X: Any) -> Any:
    return X.device


def beside(v: np.ndarray, X: Any) -> Any:
    """An array of this process as one of the library and device of X; text, for which there is none, as it is."""
    if v.dtype.kind not in "biuf":
        return v
    return namespace(X).asarray(np.ascontiguousarray(v), device=device_of(X))


def to_numpy(X: Any) -> np.ndarray:
    """An array in the memory of this process."""
    if isinstance(X, (np.ndarray, np.generic)):
        return np.asarray(X)
    if hasattr(X, "get"):
        return np.asarray(X.get())  # CuPy
    if hasattr(X, "cpu"):
        return X.detach().cpu().numpy()  # torch
    return np.from_dlpack(X, device="cpu")


def _compat() -> Any:
    try:
        import array_api_compat
    except ImportError as error:
        raise MissingExtraError.of("array-api-compat", "gpu", "An array on a device") from error
    return array_api_compat


def out_of_memory(error: BaseException) -> bool:
    """Libraries have errors of their own for this."""
    return isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__ or "out of memory" in str(error)
