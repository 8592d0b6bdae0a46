"""Numbers without a table: npy, npz, LIBSVM; and ARFF, whose reader is scipy's."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix.errors import DataError
from separatrix.io.data.limits import check_extent, check_unpacked
from separatrix.io.data.source import Source

FEATURES = ("X", "data", "x", "features")
LABELS = ("y", "target", "labels", "label")
SPARSE = ({"data", "indices", "indptr", "shape"}, {"data", "shape", "format"})  # what tells a sparse matrix


class Arrays(NamedTuple):
    X: Any  # (n, d), dense or CSR
    y: np.ndarray | None
    target: str | None
    base: int = 1  # the number of the first feature


def read_libsvm(source: Source, base: int | None) -> Arrays:
    """``base``: the index of the first feature; None: 0 if the file has such an index, else 1."""
    from sklearn.datasets import load_svmlight_file

    try:
        with source.open() as file:
            X, y = load_svmlight_file(file, dtype=np.float64, zero_based=True)
    except (ValueError, TypeError, OverflowError) as error:
        _find_bad_pair(source)
        raise DataError(f"{source.name} cannot be read as LIBSVM: {error}.") from error
    check_extent(source.name, "features", X.shape[1], X.nnz)
    has_zero = bool((X.indices == 0).any())
    base = (0 if has_zero else 1) if base is None else base
    if base and has_zero:
        raise DataError(f"{source.name} has a feature with the index 0, the data of the model count from 1.")
    return Arrays(X[:, 1:] if base else X, y, "label", base)


def _find_bad_pair(source: Source) -> None:
    with source.open() as file:
        for number, raw in enumerate(file, 1):
            words = raw.decode("utf-8", "replace").split("#")[0].split()
            last = 0
            for place, word in enumerate(words):
                if place == 0:
                    good, expected = _is_number(word), "a label that is a number"
                else:
                    index, _, value = word.partition(":")
                    good, expected = index == "qid" or (index.isdigit() and _is_number(value)), "index:value"
                    if good and index != "qid":
                        good, expected = int(index) > last or int(index) == 0, f"an index above {last}"
                        last = int(index)
                if not good:
                    raise DataError(f"{source.name}, line {number}: expected {expected}, found {word!r}.")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def read_npy(source: Source) -> Arrays:
    with _loaded(source) as array:
        if array.ndim != 2:
            raise DataError(f"{source.name} holds an array of shape {array.shape}; a table has 2 dimensions.")
        return Arrays(_numbers(source, "the array", array), None, None)


def read_npz(source: Source, target: str | None) -> Arrays:
    with _loaded(source) as archive:
        label = next((k for k in ([target] if target else LABELS) if k in archive.files), None)
        y = archive[label] if label else None
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
    return Arrays(X, y, label)


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


def read_arff(source: Source) -> Any:
    """A polars frame of the attributes; nominal ones become text."""
    import io

    import polars as pl
    from scipy.io import arff

    with source.open() as file:
        text = file.read().decode("utf-8", "replace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data, meta = arff.loadarff(io.StringIO(text))
    except Exception as error:  # scipy raises whatever the text led to
        words = str(error).splitlines()[0] if str(error) else type(error).__name__
        line = _arff_line(text)
        raise DataError(f"{source.name}{line} cannot be read as ARFF: {words}.") from error
    columns: dict[str, Any] = {}
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        values = data[name]
        if kind == "nominal":
            texts = [v.decode("utf-8", "replace").strip("'\"") for v in values]
            columns[name] = pl.Series(name, [None if v == "?" else v for v in texts], dtype=pl.String)
        else:
            columns[name] = pl.Series(name, np.asarray(values, dtype=np.float64))
    return pl.DataFrame(columns)


def _arff_line(text: str) -> str:
    """Where a data line has another number of fields than there are attributes."""
    lines = text.splitlines()
    count = sum(1 for line in lines if re.match(r"\s*@attribute", line, re.I))
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*@data", line, re.I)), len(lines))
    for number in range(start + 1, len(lines)):
        line = lines[number].strip()
        if line and not line.startswith("%") and line.count(",") + 1 != count:
            return f", line {number + 1} (expected {count} fields, found {line.count(',') + 1})"
    return ""
