"""Tables in text: CSV and similar formats. polars reads them; what it cannot read is said here, with the line."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.app.tables.source import MARK, NOT_UTF8, Source
from separatrix.app.tables.spellings import CONTINENTAL
from separatrix.app.tables.table import Asked, Format, Table
from separatrix.errors import DataError
from separatrix.persistence.limits import check_unpacked

SEPARATORS = (",", "\t", ";", "|")
MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "?"]
NUMBER = re.compile(r"^\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?\s*$|^\s*[-+]?inf(inity)?\s*$", re.I)
DECIMAL_COMMA = re.compile(r"^\s*[-+]?\d+,\d+\s*$")
FRACTION = re.compile(r"^\s*[-+]?(0,\d+|\d+,(\d{1,2}|\d{4,}))\s*$")  # 1,234 may be a thousand
UNNAMED = "unnamed column "
SEP = re.compile(rb"^sep=(.)$", re.I)
RECORD = [("line", np.int64), ("missing", np.bool_)]
COLUMN = 5_000  # bytes of memory that a column of a table takes at least
SURE = 10_000  # rows from which polars takes the types, before it looks at all


@dataclass(frozen=True)
class Layout:
    """How a text file is cut into fields."""

    separator: str
    header: bool
    names: list[str]
    decimal_comma: bool = False
    missing: tuple[str, ...] = tuple(MISSING)
    origin: np.ndarray | None = None  # the line of the file that each line was, where some were taken out


def read_delimited(source: Source, asked: Asked) -> Table:
    separator = asked.separator or ("\t" if asked.format == "tsv" else None)
    source, parts, origin = _without_preamble(_with_line_feeds(source))
    source, above, origin = _without_title(source, separator or parts, origin)
    missing = tuple(word for word in MISSING if word.lower() not in {kept.lower() for kept in asked.not_missing})
    layout, twice = _layout(source, separator or parts, asked.header)
    comma = layout.decimal_comma or (asked.decimal_comma and layout.separator != ",")
    layout = replace(layout, origin=origin, missing=(*missing, *asked.missing), decimal_comma=comma)
    frame, lines = _read(source, layout)
    nameless = [name for name in frame.columns if name.startswith(UNNAMED)]
    idle = [name for name in nameless if _says_nothing(frame[name])]
    counting = [name for name in idle if frame[name].null_count() < len(frame)]
    notes = (*above, *twice, *(f"The {name} counts the rows and is left out." for name in counting))
    if layout.separator == ";" and not layout.decimal_comma and (name := _read_two_ways(frame)):
        notes += (
            f"The column {name!r} holds numbers that can be read in two ways: {frame[name].drop_nulls()[0]:.3f} is "
            "taken with a decimal point, not as thousands.",
        )
    kind = "tsv" if layout.separator == "\t" else "csv"
    table = Table(source.name, kind, source.digest, frame.drop(idle), lines=lines, named=layout.header, notes=notes,
        decimal_comma=comma,
    )  # fmt: skip
    plain = origin is None and layout.separator != " "
    return replace(table, layout=(layout.separator, layout.header, layout.decimal_comma) if plain else None)


CSV = Format("csv", lambda source: bool(source.lines), read_delimited)
TSV = Format("tsv", lambda source: False, read_delimited)


def _delimiter(lines: list[str]) -> str:
    """The separator that cuts the most lines into the same number of fields, and those into the most fields."""
    best, found = (0.0, 1, 0.0), " "  # spaces also stand within fields: they separate where nothing else does
    for separator in SEPARATORS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:  # a field of more than 128 KiB: not with this one
            continue
        usual = max(set(widths), key=widths.count, default=1)
        share = widths.count(usual) / len(widths) if widths else 0.0
        score = (round(share, 1), usual, share) if usual > 1 else (0.0, 1, 0.0)
        if score > best:
            best, found = score, separator
    return found if found != " " or any(" " in line.strip() for line in lines) else ","


def _read_two_ways(frame: Any) -> str | None:
    """Name a column whose numbers all have at most three decimals and one to three digits before them, if any.

    1.234 means a thousand in many places that separate fields by semicolons, because their decimal mark is the comma.
    """
    for column in frame.get_columns():
        if not column.dtype.is_float() or column.null_count() == len(column):
            continue
        values = np.abs(column.drop_nulls().to_numpy())
        thousandths = np.round(values * 1000)
        whole = np.abs(values * 1000 - thousandths) < 1e-6
        if np.all(whole & (values >= 1) & (values < 1000)) and np.any(thousandths % 10):
            return str(column.name)
    return None


def _numbered(names: list[str], source: str) -> tuple[list[str], tuple[str, ...]]:
    """Names of columns that are all different: the second "x" becomes "x_2". With a note that says so."""
    times, found, notes = Counter(names), list(names), []
    for name in [name for name, count in times.items() if count > 1]:
        places = [i for i, other in enumerate(names) if other == name]
        for number, i in enumerate(places[1:], 2):
            while f"{name}_{number}" in found:
                number += 1
            found[i] = f"{name}_{number}"
        renamed = ", ".join(repr(found[i]) for i in places[1:])
        columns = ", ".join(str(i + 1) for i in places)
        notes.append(
            f"The column name {name!r} occurs {len(places)} times (columns {columns}): the later ones are called "
            f"{renamed}."
        )
    return found, tuple(notes)


def _layout(source: Source, separator: str | None, header: bool | None) -> tuple[Layout, tuple[str, ...]]:
    """What the first lines tell, with notes; ``separator`` and ``header`` if they are not given."""
    lines = source.lines[:200]
    separator = separator or _delimiter(lines)
    try:
        rows = list(csv.reader(lines, delimiter=separator, skipinitialspace=separator == " "))
    except csv.Error as error:
        raise DataError(f"{source.name} cannot be read as CSV: {error}.") from error
    first, rest = [field.strip() for field in rows[0]], rows[1:]
    check_unpacked(source.name, COLUMN * len(first), source.size)
    notes: tuple[str, ...] = ()
    if header is None:
        header = any(first) and not any(NUMBER.match(field) or field in MISSING for field in first if field)
    if not header:
        names = [f"column_{i + 1}" for i in range(len(first))]
    else:
        names = [name or f"{UNNAMED}{i + 1}" for i, name in enumerate(first)]
        names, notes = _numbered(names, source.name)
        if not rest and lines[0].count('"') % 2:
            raise DataError(
                f"{source.name}, line 1: a quotation mark in the header is never closed: {lines[0][:60]!r}. "
                "Close it, or remove it."
            )
        if not rest:
            raise DataError(f"{source.name} has a header and no rows. Use --no-header if line 1 holds data.")
    fraction = DECIMAL_COMMA if separator == ";" else FRACTION
    comma = separator != "," and any(fraction.match(field) for row in rest[:50] for field in row)
    return Layout(separator, header, names, comma), notes


def _read(source: Source, layout: Layout) -> tuple[Any, np.ndarray]:
    """A polars frame, and the line of the file in which each row stands."""
    import polars as pl

    def read(rows: int | None) -> Any:
        scan = pl.scan_csv(
            _collapsed(source) if layout.separator == " " else source.polars,
            glob=False,
            has_header=layout.header,
            separator=layout.separator,
            null_values=list(layout.missing),
            infer_schema_length=rows,
            with_column_names=lambda names: layout.names[: len(names)] + names[len(layout.names) :],
            decimal_comma=layout.decimal_comma,
        )
        return scan.collect(engine="streaming")

    try:
        try:
            frame = read(SURE)
        except pl.exceptions.ComputeError as error:
            if "could not parse" not in str(error):
                raise
            try:
                frame = read(None)  # a column turned into text further down
            except pl.exceptions.ComputeError as still:
                if "could not parse" not in str(still):
                    raise
                frame = read(0)  # digits of other scripts: all columns are texts first
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        _find_fault(source, layout)
        raise DataError(f"{source.name} cannot be read as CSV: {str(error).splitlines()[0]}.") from error
    if frame.height == 0:
        raise DataError(f"{source.name} has no rows.")
    frame = _tidied(frame, layout)
    if frame[:, -1].null_count() and not _plainly_regular(source, layout):  # polars fills lines that are too short
        _find_fault(source, layout)
    lines = np.arange(frame.height) + (2 if layout.header else 1)
    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
    if empty.any() and frame.width > 1:
        frame, lines = _without_blank_lines(frame, lines, empty, source, layout)
    elif layout.origin is not None:
        lines = layout.origin[np.minimum(lines, len(layout.origin)) - 1]
    return frame, lines


def _with_line_feeds(source: Source) -> Source:
    """The source with the line ends of today if it has those of old Macs: carriage returns alone."""
    if b"\r" not in source.head or b"\n" in source.head:
        return source
    with source.open() as file:
        content = file.read()
    return Source(source.name, None, content.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), source.digest)


def _without_preamble(source: Source) -> tuple[Source, str | None, np.ndarray | None]:
    """The source without what stands before its table: blank lines, Excel's "sep=;", and comments that begin with #.

    With it the separator that it tells, and for each line that is left its number in the file, None where all are.
    A file that begins with a comment may have others further down. A first line "# a,b" with as many fields as the
    line below it has holds names.
    """
    first = source.head.removeprefix(MARK).split(b"\n", 1)[0].strip()
    parts = SEP.match(first)
    if first and not parts and not first.startswith(b"#"):
        return source, None, None
    with source.open() as file:
        lines = file.read().removeprefix(MARK).splitlines(keepends=True)
    separator = parts[1].decode("utf-8", "replace") if parts else None
    commented = next((line for line in lines if line.strip() and not SEP.match(line.strip())), b"").startswith(b"#")
    kept = [
        k for k, line in enumerate(lines)
        if not SEP.match(line.strip()) and not (commented and line.startswith(b"#"))
    ]  # fmt: skip
    kept = kept[next((i for i, k in enumerate(kept) if lines[k].strip()), len(kept)) :]
    content = [lines[k] for k in kept]
    if kept and commented and (names := _names_above(lines, kept[0])):
        content.insert(0, names)
        kept.insert(0, kept[0] - 1)
    if not content:
        raise DataError(f"{source.name} has no rows: every line is blank or a comment.")
    origin = np.array([k + 1 for k in kept])
    return Source(source.name, None, b"".join(content), source.digest), separator, origin


def _without_title(
    source: Source, separator: str | None, origin: np.ndarray | None
) -> tuple[Source, tuple[str, ...], np.ndarray | None]:
    """The source without lines of one field above its table, as reports have them; as `_without_preamble`, a note."""
    lines = source.lines[:200]
    separator = separator or _delimiter(lines)
    try:
        rows = list(csv.reader(lines, delimiter=separator)) if separator != " " else []
    except csv.Error:
        rows = []
    filled = [sum(bool(field.strip()) for field in row) for row in rows]
    usual = Counter(map(len, rows)).most_common(1)[0][0] if rows else 1
    first = next((k for k, row in enumerate(rows) if len(row) == usual and filled[k] > 1), 0)
    if usual < 2 or not 0 < first < len(rows) - 1 or len(rows) != len(lines) or any(k > 1 for k in filled[:first]):
        return source, (), origin
    with source.open() as file:
        content = file.read().removeprefix(MARK).splitlines(keepends=True)
    place = [k for k, line in enumerate(content) if line.strip()][first]
    numbers = np.arange(len(content)) + 1 if origin is None else origin
    note = f"What stands above the table is left out: {lines[0].strip(separator)[:60]!r}."
    return Source(source.name, None, b"".join(content[place:]), source.digest), (note,), numbers[place:]


def _names_above(lines: list[bytes], place: int) -> bytes | None:
    """The comment right above the first row, if it has as many fields: names of the columns."""
    if place == 0 or not lines[place - 1].startswith(b"#"):
        return None
    above, below = lines[place - 1].lstrip(b"# "), lines[place]
    same = [mark for mark in (b",", b";", b"\t", b"|") if 0 < above.count(mark) == below.count(mark)]
    numbers = any(NUMBER.match(part.decode("utf-8", "replace")) for mark in same[:1] for part in below.split(mark))
    return above if same and numbers else None


def _tidied(frame: Any, layout: Layout) -> Any:
    """The frame without blanks around its texts, as "a, b" has them; columns that are numbers then become numbers."""
    import polars as pl

    columns = []
    for column in frame.get_columns():
        if column.dtype == pl.String:
            text = column.str.strip_chars().alias("text").to_frame()
            known = pl.when(pl.col("text").is_in(layout.missing)).then(None).otherwise(pl.col("text"))
            text = text.select(known.alias(column.name)).to_series()
            numeral = _with_decimal_points(text) if layout.decimal_comma else text
            parsed = (numeral.cast(kind, strict=False) for kind in (pl.Int64, pl.Float64))
            column = next((numbers for numbers in parsed if numbers.null_count() == text.null_count()), text)
        columns.append(column)
    return pl.DataFrame(columns)


def _with_decimal_points(text: Any) -> Any:
    """Texts with decimal commas as texts with points; a column with points that are no thousands stays as it is."""
    if not text.drop_nulls().str.contains(CONTINENTAL).all():
        return text
    return text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)


def _without_blank_lines(
    frame: Any, lines: np.ndarray, empty: np.ndarray, source: Source, layout: Layout
) -> tuple[Any, np.ndarray]:
    """The rows that stand in the file, and their lines: one whose fields are all missing is a row, a blank line is not.

    polars makes the same of both, rows that are ``empty``.
    """
    parts = ((line, all(field.strip() in layout.missing for field in row)) for line, row in _records(source, layout))
    records = np.fromiter(parts, dtype=RECORD)[1 if layout.header else 0 :]
    missing, filled = records["missing"], np.flatnonzero(~empty)
    if np.count_nonzero(~missing) != len(filled):  # quotes that the two readers understand differently
        return frame, lines
    order = np.full(len(records), np.argmax(empty))
    order[~missing] = filled
    return frame[order], records["line"]


def _says_nothing(column: Any) -> bool:
    """Whether a column without a name is empty, or counts the rows: what spreadsheets and data frames leave behind."""
    if column.null_count() == len(column):
        return True
    if not column.dtype.is_integer() or column.null_count():
        return False
    numbers = column.to_numpy()
    return bool(np.array_equal(numbers - numbers[0], np.arange(len(numbers))))


def _collapsed(source: Source) -> bytes:
    """The content with runs of spaces as one: columns that are aligned by eye."""
    with source.open() as file:
        return re.sub(rb"(?m)^ +| +$", b"", re.sub(rb" +", b" ", file.read()))


def _plainly_regular(source: Source, layout: Layout) -> bool:
    """Whether every line has its number of separators: quick, and enough where none stands in quotes."""
    separator, expected = layout.separator.encode(), len(layout.names) - 1
    with source.open() as file:
        return layout.separator != " " and all(line.count(separator) == expected or not line.strip() for line in file)


def _find_fault(source: Source, layout: Layout) -> None:
    """Raise at the first line with another number of fields, or with bytes that are no text."""
    expected = len(layout.names)
    for line, row in _records(source, layout):
        if len(row) != expected:
            shown = layout.separator.join(row)
            shown = shown if len(shown) <= 60 else shown[:57] + "..."
            raise DataError(
                f"{source.name}, line {line}: expected {expected} fields separated by "
                f"{layout.separator!r}, found {len(row)}: {shown!r}."
            )


def _records(source: Source, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """The fields of every line that is not blank, with its number, of several lines that of the first."""
    with io.BytesIO(_collapsed(source)) if layout.separator == " " else source.open() as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        reader, line = csv.reader(text, delimiter=layout.separator), 1
        try:
            for row in reader:
                if len(row) > 1 or (row and row[0].strip()):
                    yield line if layout.origin is None else int(layout.origin[line - 1]), row
                line = reader.line_num + 1
        except UnicodeDecodeError as error:
            raise DataError(f"{source.name}, after line {reader.line_num}: {NOT_UTF8}") from error
        except csv.Error as error:
            raise DataError(f"{source.name}, line {reader.line_num}: {error}.") from error
