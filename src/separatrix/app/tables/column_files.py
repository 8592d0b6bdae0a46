"""Tables with names and types of their columns, which polars reads: Parquet, Arrow (Feather), NDJSON and JSON."""

import json
import re
from typing import Any

import numpy as np

from separatrix.app.tables.source import Source
from separatrix.app.tables.table import Asked, Format, Table, read_natively, unreadable
from separatrix.errors import DataError


def read_parquet(source: Source, asked: Asked) -> Table:
    return _table(source, "parquet", read_natively(source, "parquet", "Parquet")[0])


def read_arrow(source: Source, asked: Asked) -> Table:
    return _table(source, "arrow", read_natively(source, "arrow", "Arrow")[0])


def read_ndjson(source: Source, asked: Asked) -> Table:
    import polars as pl

    with source.open() as file:  # not its name, in which polars would look for wildcards
        return _parsed(source, "ndjson", lambda: pl.scan_ndjson(file, infer_schema_length=None).collect())


def read_json(source: Source, asked: Asked) -> Table:
    import polars as pl

    if not source.head.lstrip().startswith((b"[", b"{")):  # what polars would hold twice before it sees that
        raise DataError(f"{source.name} cannot be read as JSON: it begins with neither [ nor {{.")
    return _parsed(source, "json", lambda: pl.read_json(source.polars))


ARROW = Format("arrow", lambda source: source.head.startswith(b"ARROW1"), read_arrow, binary=True)
PARQUET = Format("parquet", lambda source: source.head.startswith(b"PAR1"), read_parquet, binary=True)
NDJSON = Format("ndjson", lambda source: source.lines[0].lstrip().startswith("{"), read_ndjson)
JSON = Format("json", lambda source: bool(re.match(r"\s*\[\s*([\[{\]]|$)", source.lines[0])), read_json)


def _table(source: Source, kind: str, frame: Any) -> Table:
    lines = np.arange(1, frame.height + 1) if kind == "ndjson" else None
    return Table(source.name, kind, source.digest, frame, lines=lines, named=True)


def _parsed(source: Source, kind: str, read: Any) -> Table:
    import polars as pl

    try:
        frame = read()
    except (Exception, pl.exceptions.PanicException) as error:  # polars does not take every damage calmly
        raise unreadable(source, kind, error, _bad_line(source) if kind == "ndjson" else "") from error
    return _table(source, kind, frame)


def _bad_line(source: Source) -> str:
    with source.open() as file:
        for number, line in enumerate(file, 1):
            try:
                value = json.loads(line) if line.strip() else {}
            except (ValueError, RecursionError) as error:
                return f", line {number} ({error})"
            if not isinstance(value, dict):
                return f", line {number} (expected an object {{...}})"
    return ""
