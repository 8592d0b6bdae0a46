"""Where rows on disk are opened: `separatrix.data.open_files` and `from_blocks`."""

import re
from collections.abc import Callable, Iterable, Sequence
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.data.array_files import Archive, ArrayFile
from separatrix.data.file_rows import FileRows
from separatrix.data.libsvm_files import LibsvmFile
from separatrix.data.row_source import GivenBlocks, PartSource
from separatrix.data.table_files import SCANS, TableFile
from separatrix.errors import DataError

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
LIBSVM = (".libsvm", ".svm", ".svmlight", ".txt", ".gz")
MOST_VALUES = 1000  # different texts of a column that is encoded
LEAST = 50_000_000  # bytes of a budget that make sense


def open_files(
    paths: Any,
    *,
    target: Any = None,
    weight: Any = None,
    memory: str | int = "1GB",
    cache: str | Path | None = None,
    n_jobs: int = 1,
    encode: bool = False,
) -> FileRows:
    """Rows on disk, for `fit`, `predict`, `separability` and `verify`: read block after block, never all at once.

    Parameters
    ----------
    paths : str, path, list of these, or numpy.memmap
        Files, or patterns such as ``"data/*.parquet"``; files are read in the order of their names. Parquet, Arrow
        (``.arrow``, ``.feather``, ``.ipc``), CSV, TSV, NDJSON, LIBSVM text (``.libsvm``, ``.svm``, ``.txt``, ``.gz``),
        ``.npy`` and ``.npz``.
    target : str, int, path or array, default=None
        The column of the labels: its name or its number, by default the last one. For ``.npy`` also the path, or the
        pattern, of files with the labels alone; for ``.npz`` the name of an array in it, by default ``"y"``.
    weight : like ``target``, default=None
        Positive weights of the rows.
    memory : str or int, default="1GB"
        Bytes that may be used: blocks that are read ahead and rows that are fetched stay well below.
    cache : str or path, default=None
        A folder for a decoded copy of the rows. Later passes, and later openings of the same files, read this copy at
        the speed of the disk. It takes as much room as the rows have as numbers; `FileRows.remove_cache` removes it.
    n_jobs : int, default=1
        Threads that work on blocks. The result does not depend on it.
    encode : bool, default=False
        Make columns of text columns of 0 and 1, one for each of their values (one-hot), behind those of numbers. The
        values are looked for in all files before the first pass; at most 1000 different ones are allowed.

    Returns
    -------
    FileRows

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> import separatrix
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "X.npy", np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 4.0]]))
    >>> np.save(folder / "y.npy", np.array(["a", "a", "b"]))
    >>> rows = separatrix.data.open_files(folder / "X.npy", target=folder / "y.npy")
    >>> rows.n, rows.classes.tolist()
    (3, ['a', 'b'])
    >>> print(separatrix.separability(rows))
    Linearly separable: a hyperplane classifies every row correctly, the nearest at a distance of 2.12132.
    """
    budget = bytes_of(memory)
    if isinstance(paths, np.memmap):
        sources: list[PartSource] = [ArrayFile(paths, _label_files(target, 1)[0], _label_files(weight, 1)[0])]
    else:
        found = _found(paths)
        targets, weights = _label_files(target, len(found)), _label_files(weight, len(found))
        sources = []
        for path, labels, weighing in zip(found, targets, weights, strict=True):
            first = sources[0] if sources else None
            sources.append(_source(path, labels, weighing, first, encode))
        _encode([source for source in sources if isinstance(source, TableFile)])
    return FileRows(sources, budget, None if cache is None else Path(cache), n_jobs)


def from_blocks(
    make: Callable[[], Iterable[Any]] | Iterable[Any],
    *,
    memory: str | int = "1GB",
    cache: str | Path | None = None,
    n_jobs: int = 1,
) -> FileRows:
    """Rows that come in blocks ``(X, y)`` or ``(X, y, weight)``, from a function that starts a new iterator for every
    pass, or from an iterable such as a list. All passes have to get the same blocks,
    which is checked by their sizes. ``memory``, ``cache`` and ``n_jobs`` as in `open_files`.

    Examples
    --------
    >>> import numpy as np, separatrix
    >>> def make():
    ...     for k in range(3):
    ...         yield np.array([[k, 1.0], [k, -1.0]]), np.array([1, -1])
    >>> separatrix.data.from_blocks(make).n
    6
    """
    return FileRows([GivenBlocks(make)], bytes_of(memory), None if cache is None else Path(cache), n_jobs)


def bytes_of(memory: str | int) -> int:
    """A number of bytes from "1GB", "500 MiB" or a number."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", str(memory))
    unit = UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise DataError(f"memory={memory!r} is not a size: write for example '1GB', '500MB' or a number of bytes.")
    size = int(float(match[1]) * unit)
    if size < LEAST:
        raise DataError(f"memory={memory!r} is too little: {LEAST // 10**6} MB is the least that makes sense.")
    return size


def _found(paths: Any) -> list[Path]:
    """The files behind names and patterns."""
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    found: list[Path] = []
    for one in given:
        names = sorted(glob(str(one), recursive=True)) if not Path(one).exists() else [str(one)]
        if not names:
            raise DataError(f"There is no file {one}.")
        found += [Path(name) for name in names]
    folders = [path for path in found if path.is_dir()]
    if folders:
        raise DataError(f"{folders[0]} is a folder. Name its files, for example '{folders[0]}/*.parquet'.")
    return found


def _label_files(target: Any, count: int) -> Sequence[Any]:
    """The target of each of so many files: a file of its own where it names files of numpy."""
    if isinstance(target, Path) or (isinstance(target, str) and target.endswith(".npy")):
        found = _found(target)
        if len(found) != count:
            raise DataError(f"{target} are {len(found)} files of labels for {count} files of rows.")
        return found
    return [target] * count


def _encode(tables: list[TableFile]) -> None:
    """Agree on the values of columns of text."""
    texts = sorted({name for table in tables for name in table.texts})
    if not texts:
        return
    found: dict[str, set[str]] = {name: set() for name in texts}
    for table in tables:
        if table.height != 0 and table.texts != [name for name in table.columns if name in found]:
            wrong = next(name for name in texts if name not in table.texts)
            raise DataError(f"{table.name}: column {wrong!r} holds numbers, in another file it holds text.")
        for name, values in table.texts_found().items():
            found[name] |= values
    for name, values in found.items():
        if len(values) > MOST_VALUES:
            raise DataError(
                f"Column {name!r} has {len(values)} different texts, more than {MOST_VALUES}: leave it out, or encode "
                "it in another way."
            )
    agreed = {name: sorted(found[name]) for name in tables[0].columns if name in found}
    for table in tables:
        table.encode(agreed)


def _source(path: Path, target: Any, weight: Any, first: PartSource | None, encode: bool) -> PartSource:
    if path.suffix == ".npy":
        return ArrayFile(path, target, weight)
    if path.suffix == ".npz":
        return Archive(path, target, weight)
    if path.suffix in SCANS:
        return TableFile(path, target, weight, first.columns if isinstance(first, TableFile) else None, encode)
    if path.suffix in LIBSVM:
        if weight is not None:
            raise DataError(f"{path}: LIBSVM's text has no column of weights.")
        return LibsvmFile.of(path)
    known = ", ".join([*SCANS, ".npy", ".npz", *LIBSVM])
    raise DataError(f"{path}: the ending {path.suffix!r} says nothing about the format. Known are {known}.")
