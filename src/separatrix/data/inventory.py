"""What has to be known of rows on disk before the first pass: how many, how wide, which classes, where blocks end."""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.libsvm_files import LibsvmFile
from separatrix.data.memory import rows_of_block
from separatrix.data.row_source import GivenBlocks, Part, PartSource, check_values
from separatrix.errors import DataError

FIRST_STEP = 8192  # rows at a time where nothing is known yet
MOST_CLASSES = 10_000


@dataclass(frozen=True)
class Inventory:
    """``lengths``: the rows of each block of each source. ``step``: the rows of a block that is not the last.
    ``block_bytes``: the size of the largest block. ``based``: the first column of LIBSVM's text. ``digest``: of the
    content, where it was asked for."""

    width: int
    classes: np.ndarray
    dtype: np.dtype
    sparse: bool
    weighted: bool
    step: int
    lengths: list[list[int]]
    block_bytes: int
    based: int
    digest: str

    @property
    def n(self) -> int:
        return sum(map(sum, self.lengths))

    def first_of(self, source: int) -> int:
        """The number of a source's first row."""
        return sum(map(sum, self.lengths[:source]))

    def to_json(self) -> dict[str, Any]:
        """Everything but the classes."""
        return {k: v for k, v in asdict(self).items() if k != "classes"} | {"dtype": self.dtype.str}

    @classmethod
    def from_json(cls, known: dict[str, Any], classes: np.ndarray) -> "Inventory":
        return cls(**known | {"dtype": np.dtype(known["dtype"]), "classes": classes})

    def settle(self, sources: list[PartSource]) -> None:
        """Tell sources what only all of them together know."""
        for source in sources:
            if isinstance(source, LibsvmFile):
                source.width, source.based = self.width, self.based


class _Tally:
    """What reading a source tells: rows, columns, stored values, the lengths of its parts."""

    def __init__(self, source: PartSource, digest: Any):
        self.source, self.digest = source, digest
        self.n = self.width = self.stored = 0
        self.lengths: list[int] = []

    def labels(self) -> Iterator[np.ndarray]:
        """The labels, block by block; at the end the tally is complete."""
        alone = self.source.labels(FIRST_STEP * 16) if self.digest is None else None
        if alone is not None:
            yield from alone
            self.n, self.width = self.source.height or 0, self.source.width or 0
            self.stored = self.n * self.width
        else:
            for part in self.source.parts(FIRST_STEP):
                self._count(part)
                yield part.y

    def _count(self, part: Part) -> None:
        check_values(part, self.source.name, self.n)
        arrays = (part.X.data, part.X.indices, part.X.indptr) if sp.issparse(part.X) else (part.X,)
        self.n, self.width = self.n + part.n, max(self.width, part.X.shape[1])
        self.stored += arrays[0].size
        self.lengths.append(part.n)
        if self.digest is not None:
            for array in (*arrays, np.asarray(part.y), *([] if part.weight is None else [part.weight])):
                self.digest.update(repr((array.dtype.str, array.shape)).encode())
                self.digest.update(np.ascontiguousarray(array).tobytes() if array.dtype.hasobject else array.tobytes())


def take_inventory(sources: list[PartSource], content: bool = False) -> Inventory:
    """Read what is needed, the labels alone where that is possible; all where the ``content`` is to be digested."""
    digest = hashlib.sha256() if content else None
    classes, found = None, []
    for source in sources:
        tally = _Tally(source, digest)
        seen = 0
        for labels in tally.labels():
            classes = joined_classes(classes, labels, source.name, seen)
            seen += len(labels)
        found.append(tally)
    n, stored = sum(tally.n for tally in found), sum(tally.stored for tally in found)
    if classes is None or n == 0:
        raise DataError(f"{sources[0].name}{' and the other files' if len(sources) > 1 else ''}: there are no rows.")
    texts = [source for source in sources if isinstance(source, LibsvmFile)]
    based = int(bool(texts) and all(source.smallest >= 1 for source in texts))
    width = max(tally.width for tally in found) - based
    sparse, weighted = sources[0].sparse, sources[0].weighted
    for source, tally in zip(sources, found, strict=True):
        if tally.n and (source.sparse != sparse or (not texts and tally.width != width)):
            raise DataError(f"{source.name} has {tally.width} columns, {sources[0].name} {width}; all need the same.")
    if width == 0:
        raise DataError(f"{sources[0].name}: there are no columns of features.")
    single = all(source.dtype == np.float32 for source in sources)
    dtype = np.dtype(np.float32 if single else np.float64)
    per_row = stored / n if sparse else width
    step = rows_of_block(per_row)
    lengths = [
        tally.lengths if isinstance(source, GivenBlocks) else _cut(tally.n, step)
        for source, tally in zip(sources, found, strict=True)
    ]
    longest = max(length for blocks in lengths for length in blocks)
    size = int(longest * ((dtype.itemsize + (4 if sparse else 0)) * per_row + 16))
    name = digest.hexdigest()[:32] if digest is not None else ""
    inventory = Inventory(width, classes, dtype, sparse, weighted, step, lengths, size, based, name)
    inventory.settle(sources)
    return inventory


def _cut(n: int, step: int) -> list[int]:
    return [min(step, n - first) for first in range(0, n, step)]


def joined_classes(classes: np.ndarray | None, labels: np.ndarray, name: str, first: int) -> np.ndarray:
    """The classes so far and those of more labels."""
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise DataError(f"{name}: labels have shape {labels.shape}; one label per row is needed.")
    if labels.dtype.kind == "O":
        labels = labels.astype(str)
    missing = np.isnan(labels) if labels.dtype.kind == "f" else labels == "" if labels.dtype.kind == "U" else None
    if missing is not None and np.any(missing):
        raise DataError(f"{name}, row {first + int(np.argmax(missing))} (counted from 0): the label is missing.")
    new = np.unique(labels)
    if classes is None:
        return new
    if (classes.dtype.kind in "US") != (new.dtype.kind in "US"):
        raise DataError(f"{name} has labels such as {new[0]!r}, before there were {classes[0]!r}: texts and numbers.")
    both = np.union1d(classes, new)
    if len(both) > MOST_CLASSES:
        raise DataError(f"{name}: more than {MOST_CLASSES} different labels. Is the target a class?")
    return both
