"""The formats of data files, and how one becomes a table: a new format is a file with its reader and a line here."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from separatrix.app.tables.arff import ARFF
from separatrix.app.tables.arrays import NPY, NPZ
from separatrix.app.tables.column_files import ARROW, JSON, NDJSON, PARQUET
from separatrix.app.tables.delimited import CSV, TSV
from separatrix.app.tables.excel import EXCEL
from separatrix.app.tables.libsvm import LIBSVM
from separatrix.app.tables.prepare import normalised, without_empty
from separatrix.app.tables.source import MARK, Source
from separatrix.app.tables.table import (
    Asked,
    Format,
    Table,
    check_classes,
    labelled,
    labels_of,
    named_column,
    with_target,
    without,
)
from separatrix.errors import DataError

# In the order in which they are asked whether a file is theirs; every text is CSV.
FORMATS = {format.name: format for format in (PARQUET, ARROW, EXCEL, NPY, NPZ, NDJSON, JSON, ARFF, LIBSVM, TSV, CSV)}


def as_table(data: Any, **reading: Any) -> Table:
    """A table as it is, or the one that `read_table` reads."""
    return data if isinstance(data, Table) else read_table(data, **reading)


def read_table(
    where: str | Path | None,
    target: str | None = None,
    *,
    format: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    drop: Sequence[str] = (),
    labels: str = "required",
    base: int | None = None,
    width: int | None = None,
    id: str | None = None,
    encoding: str | None = None,
    known_encoding: str | None = None,
    missing: Sequence[str] = (),
    not_missing: Sequence[str] = (),
    sheet: str | None = None,
    classes: bool = False,
    decimal_comma: bool = False,
) -> Table:
    """Read CSV, TSV, Excel, Parquet, Feather, NDJSON, JSON, LIBSVM, ARFF, npy or npz, also with gzip, or "-".

    Columns of a CSV file that have no name and are empty, or count the rows, are left out, and so are rows without a
    label. With the labels "required", as for a fit, every column is of floats, missing ones NaN, or of text: dates
    become days since 2000-01-01, thousands separators and percent signs are understood, columns without any value are
    left out. ``notes`` of the table say what was done.

    Parameters
    ----------
    where : str, Path or None
        The file; "-" is standard input, None scikit-learn's breast cancer data.
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
    id : str or None, default=None
        A column that tells rows apart; it is no feature but ``ids`` of the table.
    encoding : str or None, default=None
        How text is written, by Python's name of it, for example "cp1252". None: UTF-8, or what a mark at the beginning
        of the file tells, as UTF-16 has one.
    known_encoding : str or None, default=None
        The encoding that such files had before, for text that is not UTF-8.
    missing : sequence of str, default=()
        More words that mean a missing value, in every column.
    not_missing : sequence of str, default=()
        Words that are values. Without them, a column of numbers may hold words such as "unknown", "." or "n/a", and up
        to three other words that occur repeatedly: they are missing values, which ``words`` of the table counts.
    sheet : str or None, default=None
        The sheet of a workbook, by name or by number. None: the first one that has the target.
    decimal_comma : bool, default=False
        Whether 1.234 is a thousand and 0,5 a half, as in the table that a model was fitted on. If False, the content of
        the table decides.
    classes : bool, default=False
        Whether whole numbers with many different values are labels. If False, such a target is refused.

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
    >>> from separatrix.app.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight,kind\\n150,apple\\n120,apple\\n9,cherry\\n")
    ...     table = read_table(path, target="kind")
    >>> table.names, table.y.tolist()
    (['weight'], ['apple', 'apple', 'cherry'])
    """
    if where is None:
        return _breast_cancer()
    if format is not None and format not in FORMATS:
        raise DataError(f"The format {format!r} is not known; known are {', '.join(FORMATS)}.")
    asked = Asked(target, format, separator, header, base, tuple(missing), tuple(not_missing), sheet, decimal_comma)
    try:
        source, written = _text(Source.of(where), encoding, known_encoding)
        kind, table = _read(source, asked)
    except MemoryError as error:
        raise DataError(
            f"{where} does not fit into memory. `separatrix.data.open_files` reads a file block by block, as does "
            "`separatrix fit --memory 1GB`."
        ) from error
    if sheet is not None and kind is not EXCEL:
        raise DataError(f"{source.name} is no workbook but {kind.name}: --sheet says nothing of it.")
    table = replace(table, encoding=written, missing=tuple(missing), not_missing=tuple(not_missing))
    table = replace(table, decimal_comma=table.decimal_comma or decimal_comma)
    table = _tidied(table)
    if table.n == 0:
        raise DataError(f"{source.name} has no rows.")
    if not kind.apart and (table.named or table.d != width):
        table = with_target(table, target, labels == "required")
    elif labels == "required" and table.y is None:
        raise DataError(f"{source.name} holds no labels: save them as y, or name the array with --target.")
    if id is not None:
        table = replace(table, ids=named_column(table, id, "--id"), X=table.X.drop(id))
    if drop:
        table = without(table, drop)
    if table.d == 0:
        raise DataError(f"{source.name} has no column besides the target {table.target!r}, so no features.")
    if table.y is None or labels == "ignored":
        return replace(table, y=None)
    table = labelled(table)
    table = replace(table, y=labels_of(table))
    if labels == "required":
        check_classes(table, classes)
        table = without_empty(normalised(table))
    return table


def _tidied(table: Table) -> Table:
    """The table with texts without blanks around them; empty ones and words that mean missing are missing."""
    if not table.framed:
        return table
    import polars as pl

    texts = pl.col(pl.String).str.strip_chars()
    kept = pl.when(texts.is_in(["", *table.missing])).then(None).otherwise(texts).name.keep()
    return replace(table, X=table.X.with_columns(kept))


def _read(source: Source, asked: Asked) -> tuple[Format, Table]:
    if not source.head.removeprefix(MARK).strip():
        raise DataError(f"{source.name} is empty.")
    kind = FORMATS[asked.format] if asked.format else format_of(source)
    return kind, kind.read(source, asked)


def _text(source: Source, encoding: str | None, known: str | None) -> tuple[Source, str | None]:
    """The source with its text in UTF-8, and the encoding that it had, None where it was UTF-8 or is no text."""
    binary = next((format for format in FORMATS.values() if format.binary and format.holds(source)), None)
    if binary is not None:
        if encoding is not None:
            raise DataError(f"{source.name} is no text but {binary.name}: --encoding says nothing of it.")
        return source, None
    name = encoding or source.marked or (known if known is not None and not source.is_utf8 else None)
    return (source, None) if name is None else (source.in_utf8(name), name)


def format_of(source: Source) -> Format:
    """The format of the content; text that looks like nothing else is CSV."""
    return next(format for format in FORMATS.values() if format.holds(source))


def _breast_cancer() -> Table:
    import polars as pl
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    frame = pl.DataFrame({str(name): data.data[:, j] for j, name in enumerate(data.feature_names)})
    digest = hashlib.sha256(data.data.tobytes() + data.target.tobytes()).hexdigest()
    labels = data.target_names[data.target]
    return Table("breast cancer", "scikit-learn", digest, frame, labels, "diagnosis", named=True)
