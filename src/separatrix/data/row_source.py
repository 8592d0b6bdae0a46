"""A source of rows outside of memory: one file with its labels, read in parts, and any few rows of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix.data.validate import check_numbers
from separatrix.errors import DataError


class Part(NamedTuple):
    """Some successive rows as they stand in a source: features, labels as they are, weights or None."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None

    @property
    def n(self) -> int:
        return self.X.shape[0]

    def rows(self, which: Any) -> "Part":
        return Part(self.X[which], self.y[which], None if self.weight is None else self.weight[which])


class PartSource(ABC):
    """``height``, ``width``: rows and columns, None where only reading tells. ``dtype``: of the numbers as they are
    read. ``paths``: the files behind it, which must not change."""

    height: int | None = None
    width: int | None = None
    dtype: np.dtype = np.dtype(np.float64)
    sparse = False
    weighted = False

    def __init__(self, name: str, paths: list[Path]):
        self.name, self.paths = name, paths
        self.stamps = [_stamp(path) for path in paths]

    @property
    def names(self) -> list[str] | None:
        """Of the columns, where they have any."""
        return None

    @property
    def schema(self) -> str:
        """What is read of the files, in words; part of a fingerprint."""
        return f"{self.width} {self.dtype} {self.sparse} {self.weighted}"

    @abstractmethod
    def parts(self, step: int, first: int = 0) -> Iterator[Part]:
        """The rows from ``first``, ``step`` at a time, fewer only at the end."""

    def labels(self, step: int) -> Iterator[np.ndarray] | None:
        """The labels alone, where they can be read without the rest and the number of rows is known."""
        return None

    def take(self, index: np.ndarray, step: int) -> Part:
        """Some rows, given by increasing numbers. A source without a way to single rows reads all up to the last."""
        found, done = [], 0
        for part in self.parts(step):
            here = index[(index >= done) & (index < done + part.n)]
            if len(here):
                found.append(part.rows(here - done))
            done += part.n
            if len(index) == 0 or done > index[-1]:
                break
        return joined(found)

    def check_unchanged(self) -> None:
        """Refuse to go on with files that are no longer those of the beginning."""
        for path, stamp in zip(self.paths, self.stamps, strict=True):
            if _stamp(path) != stamp:
                raise DataError(
                    f"{path} has changed since it was opened. Rows of different versions prove nothing: "
                    "wait until it is complete, and open it again."
                )


class GivenBlocks(PartSource):
    """Blocks that a function or an iterable of the user makes, each ``(X, y)`` or ``(X, y, weight)``."""

    def __init__(self, make: Callable[[], Iterable[Any]] | Iterable[Any]):
        super().__init__("the given blocks", [])
        if not callable(make) and iter(make) is make:
            raise DataError(
                "An iterator can be read only once, and passes begin again. "
                "Give a function that returns a new iterator, or an iterable such as a list."
            )
        self.make = make

    def parts(self, step: int, first: int = 0) -> Iterator[Part]:
        """As they are cut by the user; ``step`` does not matter, and ``first`` is the border of a block."""
        done = 0
        for number, block in enumerate(self.make() if callable(self.make) else self.make):
            part = self._part(number, block)
            if done >= first:
                yield part
            done += part.n

    def _part(self, number: int, block: Any) -> Part:
        if not (isinstance(block, (tuple, list)) and 2 <= len(block) <= 3):
            raise DataError(f"Block {number} is {type(block).__name__}; a block is (X, y) or (X, y, weight).")
        X, y = block[0], np.asarray(block[1])
        X = X.tocsr() if sp.issparse(X) else np.asarray(X)
        weight = None if len(block) == 2 or block[2] is None else np.asarray(block[2], dtype=np.float64)
        if X.ndim != 2 or len(y) != X.shape[0] or (weight is not None and len(weight) != X.shape[0]):
            raise DataError(
                f"Block {number} has X of shape {X.shape} and {len(y)} labels; rows and labels go together."
            )
        if X.dtype not in (np.float32, np.float64):
            check_numbers(X)
            X = X.astype(np.float64)
        if self.width is None:
            self.width, self.dtype, self.sparse = X.shape[1], X.dtype, bool(sp.issparse(X))
            self.weighted = weight is not None
        if (X.shape[1], bool(sp.issparse(X)), weight is not None) != (self.width, self.sparse, self.weighted):
            raise DataError(
                f"Block {number} has {X.shape[1]} columns{' (sparse)' if sp.issparse(X) else ''}, the first one "
                f"{self.width}{' (sparse)' if self.sparse else ''}; all blocks are of one kind."
            )
        return Part(X, y, weight)


def joined(parts: list[Part]) -> Part:
    """One part of several."""
    if len(parts) == 1:
        return parts[0]
    X = [part.X for part in parts]
    weight = None if parts[0].weight is None else np.concatenate([part.weight for part in parts])
    stacked = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
    return Part(stacked, np.concatenate([part.y for part in parts]), weight)


def regrouped(parts: Iterable[Part], step: int) -> Iterator[Part]:
    """The same rows in parts of ``step``."""
    held: list[Part] = []
    count = 0
    for part in parts:
        held.append(part)
        count += part.n
        while count >= step:
            whole = joined(held)
            yield whole.rows(slice(0, step))
            count -= step
            held = [whole.rows(slice(step, None))] if count else []
    if count:
        yield joined(held)


def codes_of(y: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    """The numbers of the labels' classes, among those that were found before."""
    if len(classes) == 2 and y.dtype.kind in "biuf":
        codes = (y == classes[1]).astype(np.int64)
        known = codes + (y == classes[0]) == 1
    else:
        y = y.astype(str) if y.dtype.kind == "O" else y
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        known = classes[codes] == y
    if not np.all(known):
        raise DataError(f"{name} has a label {y[np.argmin(known)]!r} that was not there before: it has changed.")
    return codes


def check_values(part: Part, name: str, rows: Any) -> None:
    """Refuse a value or a weight that is not finite. ``rows``: the number of the first row, or of each."""
    stored = part.X.data if sp.issparse(part.X) else part.X
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(stored.sum())  # a sum that overflows is looked at again
    bad = None
    if suspicious:
        matrix = part.X.tocoo() if sp.issparse(part.X) else None
        wrong = np.flatnonzero(~np.isfinite(stored.ravel()))
        if len(wrong) and matrix is not None:
            bad = int(matrix.row[wrong[0]]), f"column {matrix.col[wrong[0]]} holds {matrix.data[wrong[0]]}"
        elif len(wrong):
            row, column = np.unravel_index(wrong[0], part.X.shape)
            bad = int(row), f"column {column} holds {part.X[row, column]}"
    if bad is None and part.weight is not None:
        wrong = np.flatnonzero(~((part.weight > 0) & np.isfinite(part.weight)))
        bad = (int(wrong[0]), f"the weight is {part.weight[wrong[0]]}, not positive") if len(wrong) else None
    if bad is not None:
        row = bad[0] + rows if np.ndim(rows) == 0 else rows[bad[0]]
        raise DataError(f"{name}, row {row} (counted from 0): {bad[1]}. Correct or leave out such rows.")


def _stamp(path: Path) -> tuple[int, int, int]:
    """Size and times of a file. That of its last change of any kind cannot be put back, as that of its content can."""
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}.") from error
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
