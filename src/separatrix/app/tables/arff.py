"""ARFF, the format of Weka; scipy reads it."""

import csv
import io
import re
import warnings
from typing import Any

import numpy as np

from separatrix.app.tables.source import Source
from separatrix.app.tables.table import Asked, Format, Table, unreadable


def read_arff(source: Source, asked: Asked) -> Table:
    """Nominal attributes become text."""
    import polars as pl
    from scipy.io import arff

    with source.open() as file:
        text = file.read().decode("utf-8", "replace")
    longest = csv.field_size_limit()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data, meta = arff.loadarff(io.StringIO(text))
    except Exception as error:  # scipy raises whatever the text led to
        raise unreadable(source, "ARFF", error, _bad_line(text)) from error
    finally:
        csv.field_size_limit(longest)  # scipy raises it for the whole process
    columns: dict[str, Any] = {}
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        values = data[name]
        if kind == "nominal":
            texts = [v.decode("utf-8", "replace").strip("'\"") for v in values]
            columns[name] = pl.Series(name, [None if v == "?" else v for v in texts], dtype=pl.String)
        else:
            columns[name] = pl.Series(name, np.asarray(values, dtype=np.float64))
    return Table(source.name, "arff", source.digest, pl.DataFrame(columns), named=True)


def _has_a_relation(source: Source) -> bool:
    return any(line.lower().startswith("@relation") for line in source.lines[:200])


ARFF = Format("arff", _has_a_relation, read_arff)


def _bad_line(text: str) -> str:
    """Where a data line has another number of fields than there are attributes."""
    lines = text.splitlines()
    count = sum(1 for line in lines if re.match(r"\s*@attribute", line, re.I))
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*@data", line, re.I)), len(lines))
    for number in range(start + 1, len(lines)):
        line = lines[number].strip()
        if line and not line.startswith("%") and line.count(",") + 1 != count:
            return f", line {number + 1} (expected {count} fields, found {line.count(',') + 1})"
    return ""
