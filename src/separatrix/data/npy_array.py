"""An array in an .npy file, or in a part of any file, read in slices and in single rows without mapping it.

Pages of a mapped file count as memory of the process until the system wants them back; what is read here is what was
asked for.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from separatrix.errors import DataError

READ_THROUGH = 1 << 14  # bytes between two wanted rows that are read rather than skipped
LONGEST_READ = 1 << 22  # bytes of a run of neighbouring rows
READERS = 8  # reads that wait for the disk at once
_ONE_AT_A_TIME = Lock()


class NpyArray(NamedTuple):
    """An array of one or two dimensions in C order that begins at byte ``offset`` of a file."""

    path: Path
    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]

    @classmethod
    def of(cls, path: Path) -> "NpyArray":
        """The array of an .npy file; nothing but its header is read."""
        try:
            with path.open("rb") as file:
                shape, fortran, dtype = read_header(file)
                offset = file.tell()
        except ValueError as error:
            raise DataError(f"{path} is not a readable .npy file: {error}.") from error
        if dtype.hasobject:
            raise DataError(f"{path} holds Python objects, which are never read: they could run anything.")
        if fortran and len(shape) > 1 and min(shape) > 1:
            raise DataError(
                f"{path} is stored column by column, so that no row can be read alone. "
                "Save numpy.ascontiguousarray(X) instead."
            )
        array = cls(path, offset, dtype, shape)
        array.check_size()
        return array

    @classmethod
    def of_memmap(cls, X: np.memmap) -> "NpyArray":
        """The array behind a whole memory map of numpy."""
        if not X.flags.c_contiguous or X.filename is None:
            raise DataError("A memory map has to be in C order and to belong to a file: rows are read from there.")
        start = X.__array_interface__["data"][0]
        base = X
        while isinstance(base.base, np.memmap):
            base = base.base
        offset = base.offset + start - base.__array_interface__["data"][0]
        return cls(Path(X.filename), int(offset), X.dtype, X.shape)

    @property
    def n(self) -> int:
        return self.shape[0]

    @property
    def row_bytes(self) -> int:
        return self.dtype.itemsize * int(np.prod(self.shape[1:]))

    def check_size(self) -> None:
        """Refuse a file that is shorter than its header says."""
        size = self.path.stat().st_size
        needed = self.offset + self.n * self.row_bytes
        if size < needed:
            whole = max(0, size - self.offset) // max(self.row_bytes, 1)
            raise DataError(
                f"{self.path} is cut off: {self.n} rows take {needed} bytes, and the file has {size}, "
                f"which ends within row {whole}."
            )

    def read(self, first: int, end: int) -> np.ndarray:
        """Rows from ``first`` to ``end``."""
        out = np.empty((end - first, *self.shape[1:]), self.dtype)
        with self.path.open("rb", buffering=0) as file:
            self._fill(file, out, first)
        return out

    def _fill(self, file: Any, out: np.ndarray, first: int) -> None:
        """Fill an array with the rows from ``first`` on."""
        content: Any = out.reshape(-1).view(np.uint8)
        left, where = memoryview(content), self.offset + first * self.row_bytes
        while len(left):
            count = _read_at(file, left, where)
            if count == 0:
                done = (out.nbytes - len(left)) // max(self.row_bytes, 1)
                raise DataError(f"{self.path} ends within row {first + done}: it was cut off while it was read.")
            left, where = left[count:], where + count

    def take(self, index: np.ndarray) -> np.ndarray:
        """Some rows, in the order of ``index``; neighbours are read together, several runs at a time."""
        numbers, back = np.unique(index, return_inverse=True)
        out = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        with self.path.open("rb", buffering=0) as file, ThreadPoolExecutor(READERS) as pool:

            def fetch(run: tuple[int, int]) -> None:
                a, b = run
                first, end = int(numbers[a]), int(numbers[b - 1]) + 1
                rows = np.empty((end - first, *self.shape[1:]), self.dtype)
                self._fill(file, rows, first)
                out[a:b] = rows[numbers[a:b] - first]

            list(pool.map(fetch, self._runs(numbers)))
        return out[back]

    def _runs(self, numbers: np.ndarray) -> Iterator[tuple[int, int]]:
        """Places in ``numbers``, sorted, between which rows lie so near that one read brings them all."""
        gap, most = READ_THROUGH // max(self.row_bytes, 1) + 1, max(LONGEST_READ // max(self.row_bytes, 1), 1)
        for a, b in neighbours(numbers, gap):
            while b - a > 0:
                end = a + int(np.searchsorted(numbers[a:b], numbers[a] + most))
                yield a, end
                a = end


def read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether columns come first, and type of an array in numpy's format."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


def _read_at(file: Any, out: memoryview, where: int) -> int:
    """Read from a place of a file, without moving another thread's."""
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [out], where)
    with _ONE_AT_A_TIME:
        file.seek(where)
        return int(file.readinto(out))


def neighbours(numbers: np.ndarray, gap: int) -> list[tuple[int, int]]:
    """Places in a sorted array between which no two successive numbers are more than ``gap`` apart."""
    borders = np.flatnonzero(np.diff(numbers) > gap) + 1
    places = [0, *borders.tolist(), len(numbers)]
    return list(pairwise(places)) if len(numbers) else []
