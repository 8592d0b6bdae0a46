"""A data file as features and labels, or an error that says what is wrong with it and where."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.io.data.arrays import read_arff, read_libsvm, read_npy, read_npz
from separatrix.io.data.source import FORMATS, Source, sniff
from separatrix.io.data.text_formats import layout_of, read_text

FEW = 20  # classes that are never too many


class Numbered(Sequence):
    """The names "feature 1", "feature 2", ..., made where they are asked for: there may be millions."""

    def __init__(self, count: int, base: int = 1):
        self.size, self.base = count, base

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(self.size)[place]]
        return f"feature {range(self.size)[place] + self.base}"


@dataclass(frozen=True)
class Table:
    """Rows of a file: ``X`` is a polars frame, an array or a CSR matrix; ``y`` the labels, None without any."""

    source: str
    format: str
    digest: str
    X: Any
    y: Any = None
    target: str | None = None
    lines: np.ndarray | None = None  # the line of the file in which each row stands
    named: bool = False  # columns have names of their own
    base: int = 1  # the number of the first feature, where they have numbers

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def framed(self) -> bool:
        return hasattr(self.X, "get_columns")

    @property
    def names(self) -> Sequence[str]:
        """Names of the features; numbers from 1 where the file gives none."""
        return list(self.X.columns) if self.framed else Numbered(self.d, self.base)

    @property
    def nbytes(self) -> int:
        """Memory that the features take."""
        if self.framed:
            return int(self.X.estimated_size())
        if hasattr(self.X, "indptr"):
            return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes)
        return int(self.X.nbytes)

    def place(self, row: int) -> str:
        """Where a row stands, for messages."""
        return f"row {row + 1}" if self.lines is None else f"line {int(self.lines[row])}"

    def places(self, rows: Any, most: int = 3) -> str:
        """Where the first of several rows stand."""
        shown = [int(row) for row in rows[:most]]
        word = "row" if self.lines is None else "line"
        numbers = [row + 1 if self.lines is None else int(self.lines[row]) for row in shown]
        more = ", ..." if len(rows) > most else ""
        return f"{word}{'s' if len(rows) > 1 else ''} {', '.join(map(str, numbers))}{more}"


def read_table(
    where: str | Path,
    target: str | None = None,
    *,
    format: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    drop: Sequence[str] = (),
    labels: str = "required",
    base: int | None = None,
    width: int | None = None,
) -> Table:
    """Read CSV, TSV, Parquet, NDJSON, JSON, LIBSVM, ARFF, npy or npz, also with gzip, or standard input ("-").

    Columns of a CSV file that have no name and are empty, or count the rows, are left out.

    Parameters
    ----------
    where : str or Path
        The file; "-" is standard input.
    target : str or None, default=None
        The column with the labels, by name or by number (1 is the first, -1 the last).
    format, separator, header : default=None
        Told by the content where they are None.
    drop : sequence of str, default=()
        Columns to leave out.
    labels : {"required", "optional", "ignored"}, default="required"
        "required": an error without at least two classes of them. "optional": ``y`` is None where the target is not
        among the columns. "ignored": the target is left out, whatever it holds.
    base : 0, 1 or None, default=None
        The index of the first feature of a LIBSVM file; None: 0 if the file has such an index, else 1.
    width : int or None, default=None
        The number of features, where it is known: columns without names that are just as many hold no labels.

    Returns
    -------
    Table

    Notes
    -----
    A small file that asks for much memory is refused: compressed content of more than 1 GiB and a hundred times its
    file, and sparse matrices with more than ten million features and a hundred times the values that the file holds.
    The environment variables ``SEPARATRIX_MAX_UNPACKED`` (bytes) and ``SEPARATRIX_MAX_FEATURES`` set other limits.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from separatrix.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight,kind\\n150,apple\\n120,apple\\n9,cherry\\n")
    ...     table = read_table(path, target="kind")
    >>> table.names, table.y.tolist()
    (['weight'], ['apple', 'apple', 'cherry'])
    """
    if format is not None and format not in FORMATS:
        raise DataError(f"The format {format!r} is not known; known are {', '.join(FORMATS)}.")
    source = Source.of(where)
    found = format or sniff(source)
    if not source.head().strip():
        raise DataError(f"{source.name} is empty.")
    if found in ("libsvm", "npz"):
        arrays = read_libsvm(source, base) if found == "libsvm" else read_npz(source, target)
        table = Table(source.name, found, source.digest, arrays.X, arrays.y, arrays.target, base=arrays.base)
        if labels == "required" and table.y is None:
            raise DataError(f"{source.name} holds no labels: save them as y, or name the array with --target.")
    else:
        table = _frame(source, found, separator, header)
        if table.named or table.d != width:
            table = _split(table, target, labels == "required")
    if drop:
        table = _without(table, drop)
    if table.n == 0:
        raise DataError(f"{source.name} has no rows.")
    if table.d == 0:
        raise DataError(f"{source.name} has no column besides the target {table.target!r}, so no features.")
    if table.y is None or labels == "ignored":
        return replace(table, y=None)
    table = replace(table, y=_labels(table))
    if labels == "required":
        _check_classes(table)
    return table


def _frame(source: Source, found: str, separator: str | None, header: bool | None) -> Table:
    """The whole file as one table, labels among the columns."""
    import polars as pl

    if found in ("csv", "tsv"):
        layout = layout_of(source, separator or ("\t" if found == "tsv" else None), header)
        frame, lines = read_text(source, layout)
        kind = "tsv" if layout.separator == "\t" else "csv"
        return Table(source.name, kind, source.digest, frame, lines=lines, named=layout.header)
    if found == "npy":
        return Table(source.name, found, source.digest, read_npy(source).X)
    if found == "arff":
        return Table(source.name, found, source.digest, read_arff(source), named=True)
    readers = {"parquet": pl.scan_parquet, "ndjson": pl.scan_ndjson, "json": pl.read_json}
    try:
        if found == "ndjson":
            frame = pl.scan_ndjson(source.polars, infer_schema_length=None).collect()
        else:
            frame = readers[found](source.polars).lazy().collect(engine="streaming")
    except (Exception, pl.exceptions.PanicException) as error:  # polars does not take every damage calmly
        where = _bad_json_line(source) if found == "ndjson" else ""
        words = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{source.name}{where} cannot be read as {found}: {words}.") from error
    if frame.height == 0:
        raise DataError(f"{source.name} has no rows.")
    numbers = np.arange(1, frame.height + 1) if found == "ndjson" else None
    return Table(source.name, found, source.digest, frame, lines=numbers, named=True)


def _bad_json_line(source: Source) -> str:
    import json

    with source.open() as file:
        for number, line in enumerate(file, 1):
            try:
                value = json.loads(line) if line.strip() else {}
            except ValueError as error:
                return f", line {number} ({error})"
            if not isinstance(value, dict):
                return f", line {number} (expected an object {{...}})"
    return ""


def _split(table: Table, target: str | None, required: bool) -> Table:
    """Take the labels out of the columns."""
    names = table.names
    if target is None:
        if not required:
            return table
        if table.format == "arff":
            target = next((n for n in names if n.lower() in ("class", "target", "label")), names[-1])
        else:
            raise DataError(
                f"{table.source}: which column holds the labels? Name it with --target; there are "
                f"{_listed(names)}. (--target -1 is the last one.)"
            )
    place = _column(names, target)
    if place is None:
        if not required:
            return table
        raise DataError(f"{table.source} has no column {target!r}{suggestion(target, names)}")
    if table.framed:
        return replace(table, X=table.X.drop(names[place]), y=table.X[names[place]], target=names[place])
    return replace(table, X=np.delete(table.X, place, axis=1), y=table.X[:, place], target=str(place + 1))


def _column(names: Sequence[str], wanted: str) -> int | None:
    """The place of a column, by name or by number."""
    if wanted in names:
        return names.index(wanted)
    try:
        number = int(wanted)
    except ValueError:
        return None
    if 1 <= number <= len(names):
        return number - 1
    return len(names) + number if -len(names) <= number < 0 else None


def suggestion(wanted: str, names: Sequence[str]) -> str:
    near = get_close_matches(wanted, names, 3, 0.5)
    lowered = [name for name in names if name.lower() == wanted.lower()]
    if lowered or near:
        return f". Did you mean {' or '.join(repr(name) for name in (lowered or near))}?"
    return f"; there are {_listed(names)}."


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def _without(table: Table, drop: Sequence[str]) -> Table:
    if not table.framed:
        raise DataError(f"{table.source}: columns can be dropped from tables with named columns.")
    for name in drop:
        if name not in table.X.columns:
            raise DataError(f"--drop: {table.source} has no column {name!r}{suggestion(name, table.names)}")
    return replace(table, X=table.X.drop(list(drop)))


def _labels(table: Table) -> np.ndarray:
    """Labels as an array of text, integers or truth values."""
    y = table.y
    where = f"{table.source}: the target column {table.target!r}"
    if hasattr(y, "null_count"):
        import polars as pl

        if y.dtype.is_float():
            y = y.fill_nan(None)
        missing = np.flatnonzero(y.is_null().to_numpy())
        if len(missing):
            raise DataError(
                f"{where} has no label in {len(missing)} of {table.n} rows ({table.places(missing)}). "
                "Remove these rows."
            )
        if not (y.dtype.is_numeric() or y.dtype in (pl.String, pl.Boolean)):
            y = y.cast(pl.String)
        y = np.array(y.to_list()) if y.dtype == pl.String else y.to_numpy()
    y = np.asarray(y)
    if y.dtype.kind == "f":
        if not np.all(np.isfinite(y)):
            raise DataError(
                f"{where} has labels that are not finite ({table.places(np.flatnonzero(~np.isfinite(y)))})."
            )
        if np.any(y != np.round(y)):
            row = int(np.flatnonzero(y != np.round(y))[0])
            raise DataError(
                f"{where} holds fractions ({y[row]:g} in {table.place(row)}): it looks like a quantity, not "
                "like classes."
            )
        y = y.astype(np.int64) if np.abs(y).max(initial=0) < 2**53 else y
    return y


def _check_classes(table: Table) -> None:
    """At least two classes, and not as many as there are rows."""
    y, where = table.y, f"{table.source}: the target column {table.target!r}"
    classes = np.unique(y)
    if len(classes) < 2:
        raise DataError(f"{where} holds one class only, {classes[0]!s}: there is nothing to separate.")
    if len(classes) > max(FEW, len(y) // 2):
        raise DataError(
            f"{where} has {len(classes)} different values in {len(y)} rows: it looks like a quantity or an identifier, "
            "not like classes."
        )
