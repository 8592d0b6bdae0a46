"""numpy's files: npy, and npz with features and labels, dense or sparse."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.app.tables.source import Source
from separatrix.app.tables.table import Asked, Format, Table
from separatrix.data.array_files import FEATURES, LABELS
from separatrix.errors import DataError
from separatrix.persistence.limits import check_extent, check_unpacked

SPARSE = ({"data", "indices", "indptr", "shape"}, {"data", "shape", "format"})  # what tells a sparse matrix


def read_npy(source: Source, asked: Asked) -> Table:
    with _loaded(source) as array:
        if array.ndim != 2:
            raise DataError(f"{source.name} holds an array of shape {array.shape}; a table has 2 dimensions.")
        return Table(source.name, "npy", source.digest, _numbers(source, "the array", array))


def read_npz(source: Source, asked: Asked) -> Table:
    with _loaded(source) as archive:
        label = next((k for k in ([asked.target] if asked.target else LABELS) if k in archive.files), None)
        y = archive[label] if label else None
        if isinstance(y, bytes):  # an entry that does not begin as arrays do
            raise DataError(f"{source.name}: {label} is no array.")
        if any(parts <= set(archive.files) for parts in SPARSE):
            features, X = "data", _sparse(source, archive)
        else:
            features = next((k for k in FEATURES if k in archive.files), "")
            if not features:
                raise DataError(f"{source.name} holds {', '.join(archive.files)}; the features are expected as X.")
            X = _numbers(source, features, archive[features])
    if X.ndim != 2:
        raise DataError(f"{source.name}: {features} has shape {X.shape}; a table has 2 dimensions.")
    if y is not None and y.shape != X.shape[:1]:
        raise DataError(f"{source.name}: {label} has shape {y.shape}, {features} has {X.shape[0]} rows.")
    return Table(source.name, "npz", source.digest, X, y, label)


def _is_npz(source: Source) -> bool:
    """Whether a zip archive is one of arrays; another one is an error."""
    if not source.head.startswith(b"PK\x03\x04"):
        return False
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise DataError(f"{source.name}: the archive is damaged or cut off ({error}).") from error
    if "[Content_Types].xml" in names:
        raise DataError(f"{source.name} is a document, not a table. Export its table as CSV.")
    if not names or not all(name.endswith(".npy") for name in names):
        raise DataError(f"{source.name} is a zip archive, not a table: unpack it.")
    return True


NPY = Format("npy", lambda source: source.head.startswith(b"\x93NUMPY"), read_npy, binary=True)
NPZ = Format("npz", _is_npz, read_npz, apart=True, binary=True)


def _sparse(source: Source, archive: Any) -> sp.csr_matrix:
    """What scipy.sparse.save_npz wrote, or the parts of a CSR matrix by their names."""
    kind = archive["format"].item() if "format" in archive.files else "csr"
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if kind not in ("csr", "csc"):
        raise DataError(
            f"{source.name} holds a sparse matrix in the format {kind!r}; csr and csc are read. Save it with "
            "scipy.sparse.save_npz(path, matrix.tocsr())."
        )
    data, indices, indptr = _numbers(source, "data", archive["data"]), archive["indices"], archive["indptr"]
    if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
        raise DataError(f"{source.name}: indices of the types {indices.dtype}, {indptr.dtype}; integers are needed.")
    shape = tuple(int(n) for n in archive["shape"])
    for what, count in zip(("rows", "features"), shape, strict=True):
        check_extent(source.name, what, count, data.size + indptr.size)
    X = (sp.csr_matrix if kind == "csr" else sp.csc_matrix)((data, indices, indptr), shape=shape)
    X.check_format(full_check=True)  # scipy and numba check no bounds
    return X.tocsr()


@contextmanager
def _loaded(source: Source) -> Iterator[Any]:
    """An array or an archive of arrays, open; whatever goes wrong with it is an error about the file."""
    try:
        with source.open() as file:
            content = np.load(file, allow_pickle=False)
            with content if hasattr(content, "files") else nullcontext():
                if hasattr(content, "files"):
                    unpacked = sum(entry.file_size for entry in content.zip.infolist())
                    check_unpacked(source.name, unpacked, source.size)
                yield content
    except DataError:
        raise
    except Exception as error:  # numpy parses the header of a damaged file with whatever errors come of it
        raise DataError(f"{source.name} cannot be read: {error}. Arrays of Python objects are not.") from error


def _numbers(source: Source, what: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "fiub":
        raise DataError(f"{source.name}: {what} has the type {array.dtype}; numbers are needed.")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
