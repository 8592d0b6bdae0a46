"""Rows in files of numpy: .npy, memory maps, and .npz archives, dense or sparse."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.npy_array import NpyArray, read_header
from separatrix.data.row_source import Part, PartSource
from separatrix.data.validate import check_numbers
from separatrix.errors import DataError

FEATURES = ("X", "data", "x", "features")  # names of the rows in an archive, and of the labels
LABELS = ("y", "target", "labels", "label")
SPARSE_MEMBERS = {"data", "indices", "indptr", "shape", "format"}
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class ArrayFile(PartSource):
    """An .npy file or a memory map of rows. Labels: a file of their own (`target` is its path), a column of the table,
    by default the last one, a field of a structured array, or an array in memory. Weights likewise."""

    def __init__(self, X: Path | np.memmap, target: Any = None, weight: Any = None):
        self.table = NpyArray.of_memmap(X) if isinstance(X, np.memmap) else NpyArray.of(X)
        paths = [self.table.path, *(p for p in (target, weight) if isinstance(p, Path))]
        super().__init__(str(self.table.path), paths)
        fields = self.table.dtype.names
        if len(self.table.shape) != (1 if fields else 2):
            raise DataError(f"{self.name} has shape {self.table.shape}; rows stand in a table of two dimensions.")
        self.height = self.table.n
        columns: list[Any] = list(fields) if fields else list(range(self.table.shape[1]))
        self._target = self._place(-1 if target is None else target, columns, "target")
        self._weight = None if weight is None else self._place(weight, columns, "weight")
        self.weighted = weight is not None
        taken = {place for place in (self._target, self._weight) if _plain(place)}
        self.kept = [column for column in columns if column not in taken]
        self.width = len(self.kept)
        kinds = [self.table.dtype[c] for c in self.kept] if fields else [self.table.dtype]
        if any(kind.kind not in "fiub" for kind in kinds):
            raise DataError(f"{self.name} holds {self.table.dtype}; features are numbers.")
        self.dtype = FLOATS[0] if all(kind == FLOATS[0] for kind in kinds) else FLOATS[1]

    @property
    def schema(self) -> str:
        return f"{super().schema} {self._target if _plain(self._target) else ''} {self.table}"

    def _place(self, where: Any, columns: list[Any], what: str) -> Any:
        """A column's number or name, or an array of its own."""
        if isinstance(where, Path):
            where = NpyArray.of(where)
        elif isinstance(where, np.memmap):
            where = NpyArray.of_memmap(where)
        if not _plain(where):
            if where.shape[0] != self.table.n or len(where.shape) != 1:
                raise DataError(f"{self.name} has {self.table.n} rows, its {what} shape {where.shape}.")
            return where
        if isinstance(where, (int, np.integer)) and -len(columns) <= where < len(columns):
            return columns[where]
        if where in columns:
            return where
        raise DataError(f"{self.name} has no column {where!r} for {what}; it has {_few(columns)}.")

    def _part(self, table: np.ndarray, rows: Any) -> Part:
        def of(where: Any) -> np.ndarray:
            if isinstance(where, NpyArray):
                return where.read(*rows) if isinstance(rows, tuple) else where.take(rows)
            if isinstance(where, np.ndarray):
                return where[slice(*rows)] if isinstance(rows, tuple) else where[rows]
            return table[where] if table.dtype.names else np.array(table[:, where])

        if table.dtype.names:
            X = np.empty((len(table), self.width or 0), self.dtype)
            for place, name in enumerate(self.kept):
                X[:, place] = _floats(table[name], self.dtype)
        elif len(self.kept) == table.shape[1]:
            X = table
        else:
            kept = slice(self.kept[0], self.kept[-1] + 1) if _successive(self.kept) else self.kept
            X = np.ascontiguousarray(table[:, kept])
        weight = None if self._weight is None else np.asarray(of(self._weight), dtype=np.float64)
        return Part(_floats(X, self.dtype), of(self._target), weight)

    def parts(self, step: int, first: int = 0) -> Iterator[Part]:
        for start in range(first, self.table.n, step):
            rows = (start, min(start + step, self.table.n))
            yield self._part(self.table.read(*rows), rows)

    def labels(self, step: int) -> Iterator[np.ndarray] | None:
        if _plain(self._target):
            return None
        where, n = self._target, self.table.n
        borders = ((a, min(a + step, n)) for a in range(0, n, step))
        return (where.read(a, b) if isinstance(where, NpyArray) else where[a:b] for a, b in borders)

    def take(self, index: np.ndarray, step: int) -> Part:
        return self._part(self.table.take(index), index)


class Archive(PartSource):
    """An .npz archive: arrays X and y, or others of `FEATURES` and `LABELS`, or ``target``; or a sparse matrix as scipy
    saves it, with ``target`` the path of an .npy file of labels. Members are read from their beginning, packed or not.
    """

    def __init__(self, path: Path, target: Any = None, weight: Any = None):
        paths = [path, *(p for p in (target, weight) if isinstance(p, Path))]
        super().__init__(str(path), paths)
        self.path, self.weighted = path, weight is not None
        self.weight = weight
        with self._open() as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
            self.target = next((n for n in LABELS if n in names), LABELS[0]) if target is None else target
            self.sparse = names >= SPARSE_MEMBERS
            if self.sparse:
                kind = bytes(_Member(archive, "format").rest()[()]).decode()
                if kind != "csr":
                    raise DataError(f"{path} holds a matrix in the format {kind}; save X.tocsr() instead.")
                self.height, self.width = (int(k) for k in _Member(archive, "shape").rest())
                kept = _Member(archive, "data").dtype
                if any(_Member(archive, name).dtype.kind not in "iu" for name in ("indices", "indptr")):
                    raise DataError(f"{path} holds indices that are no integers. Save X.tocsr() again.")
            else:
                given = [t for t in (self.target, weight) if isinstance(t, str)]
                self.table = next(
                    (n for n in (*FEATURES, *sorted(names)) if n in names and n not in given), FEATURES[0]
                )
                for name in (self.table, *given):
                    if name not in names:
                        raise DataError(f"{path} has no array {name!r}; it has {_few(sorted(names))}.")
                table = _Member(archive, self.table)
                if len(table.shape) != 2:
                    raise DataError(f"{path}: {self.table} has shape {table.shape}; a table has two dimensions.")
                self.height, self.width = table.shape
                kept = table.dtype
        if kept.kind not in "fiub":
            raise DataError(f"{path} holds {kept}; features are numbers.")
        self.dtype = kept if kept in FLOATS else FLOATS[1]

    def _open(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, OSError) as error:
            raise DataError(f"{self.name}: the archive is damaged or cut off ({error}).") from error

    def parts(self, step: int, first: int = 0) -> Iterator[Part]:
        assert self.height is not None
        try:
            with self._open() as archive:
                names = ("data", "indices", "indptr") if self.sparse else (self.table,)
                members = [_Member(archive, name) for name in names]
                beside = [None if w is None else _column(archive, w) for w in (self.target, self.weight)]
                last = members[2].next(1) if self.sparse else None
                for start in range(0, self.height, step):
                    rows = min(step, self.height - start)
                    if last is not None:
                        indptr = np.concatenate([last, members[2].next(rows)])
                        count, last = int(indptr[-1] - indptr[0]), indptr[-1:]
                        data = _floats(members[0].next(count), self.dtype)
                        X = sp.csr_matrix((data, members[1].next(count), indptr - indptr[0]), (rows, self.width))
                    else:
                        X = _floats(members[0].next(rows), self.dtype)
                    y, weight = (None if column is None else column(start, rows) for column in beside)
                    assert y is not None
                    if start >= first:
                        yield Part(X, y, None if weight is None else weight.astype(np.float64))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise DataError(f"{self.name}: the archive is damaged or cut off ({error}).") from error


class _Member:
    """An array of an archive, read from its beginning on."""

    def __init__(self, archive: zipfile.ZipFile, name: str):
        self.file, self.name = archive.open(f"{name}.npy"), f"{archive.filename}: {name}"
        self.shape, fortran, self.dtype = read_header(self.file)
        if self.dtype.hasobject or (fortran and len(self.shape) > 1):
            raise DataError(f"{self.name} is stored column by column or holds Python objects; save it in C order.")

    def next(self, rows: int) -> np.ndarray:
        shape = (rows, *self.shape[1:])
        size = int(np.prod(shape)) * self.dtype.itemsize
        content = self.file.read(size)
        if len(content) < size:
            raise DataError(f"{self.name} is cut off.")
        return np.frombuffer(content, self.dtype).reshape(shape)

    def rest(self) -> np.ndarray:
        return np.frombuffer(self.file.read(), self.dtype).reshape(self.shape)


def _column(archive: zipfile.ZipFile, where: Any) -> Any:
    """A function that returns the next numbers of a column, which stands in the archive or in a file of its own."""
    if isinstance(where, Path):
        array = NpyArray.of(where)
        return lambda start, rows: array.read(start, start + rows)
    member = _Member(archive, where)
    return lambda start, rows: member.next(rows)


def _plain(where: Any) -> bool:
    return isinstance(where, (int, np.integer, str))


def _successive(columns: list[int]) -> bool:
    return columns == list(range(columns[0], columns[0] + len(columns))) if columns else False


def _few(names: list[Any]) -> str:
    return ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")


def _floats(values: np.ndarray, dtype: Any) -> np.ndarray:
    if values.dtype == dtype:
        return values
    check_numbers(values)
    return values.astype(dtype)
