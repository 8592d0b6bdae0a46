"""Rows of a file as features and labels, or an error that says what is wrong with them and where."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from separatrix.app.tables.native import READERS, rehearse
from separatrix.app.tables.source import Source
from separatrix.app.tables.spellings import MISSING
from separatrix.errors import DataError
from separatrix.persistence.limits import check_unpacked, most_unpacked

NEVER_TOO_MANY = 20  # classes that are never too many
ROWS_OF_A_CLASS = 10  # on average, so that whole numbers may be names of classes
MOST_NUMBERED = 1000  # classes that whole numbers without gaps may name
MOST_DIGESTS = 10_000  # rows whose checksums a model file keeps: about 100 KB
LONGEST_LABEL = 1000  # characters of a label: an array of text is as wide as its longest one


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
    ids: Any = None  # a column that tells the rows apart and is no feature
    dates: tuple[str, ...] = ()  # columns that hold dates
    spelled: tuple[tuple[str, str], ...] = ()  # columns whose texts became numbers, and what the texts are
    layout: tuple[str, bool, bool] | None = None  # of CSV without preamble: separator, whether names, decimal commas
    encoding: str | None = None  # of the text that was read, where it is not UTF-8
    notes: tuple[str, ...] = ()  # what was done to the content on the way, for users
    missing: tuple[str, ...] = ()  # words that mean missing, besides known ones
    not_missing: tuple[str, ...] = ()  # words that never mean missing
    words: dict[str, dict[str, int]] = field(default_factory=dict)  # words that mean missing, by column of numbers
    units: dict[str, str] = field(default_factory=dict)  # units and currencies, by column
    sheet: str | None = None  # of a workbook
    decimal_comma: bool = False  # numbers are written as 1.234,5

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
    def reading(self) -> dict[str, Any]:
        """How values were read, as new data for a model have to be."""
        words = {word for found in self.words.values() for word in found}
        return {
            "missing": sorted({*self.missing, *(word for word in words if word.lower() not in MISSING)}),
            "not_missing": list(self.not_missing),
            "units": self.units,
            "decimal_comma": self.decimal_comma,
        }

    def row_digests(self) -> list[int]:
        """A checksum of each row with its label, to tell which rows of another table differ; none of large tables."""
        if self.n > MOST_DIGESTS or self.y is None or not self.framed:
            return []
        labels = self.y.tolist()
        return [crc32(repr((*row, str(label))).encode()) for row, label in zip(self.X.iter_rows(), labels, strict=True)]

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
        return self.places([row])

    def places(self, rows: Any, most: int = 3) -> str:
        """Where the first of several rows stand."""
        shown = [int(row) for row in rows[:most]]
        word = "row" if self.lines is None else "line"
        numbers = [row + 1 if self.lines is None else int(self.lines[row]) for row in shown]
        more = ", ..." if len(rows) > most else ""
        return f"{word}{'s' if len(rows) > 1 else ''} {', '.join(map(str, numbers))}{more}"


@dataclass(frozen=True)
class Asked:
    """What is said about a file by whoever wants it read; None: its content tells."""

    target: str | None = None
    format: str | None = None
    separator: str | None = None
    header: bool | None = None
    base: int | None = None
    missing: tuple[str, ...] = ()  # more words that mean missing
    not_missing: tuple[str, ...] = ()
    sheet: str | None = None
    decimal_comma: bool = False


class Format(NamedTuple):
    """A file format: what tells it, and what reads it."""

    name: str
    holds: Callable[[Source], bool]
    read: Callable[[Source, Asked], Table]
    apart: bool = False  # labels do not stand among the columns
    binary: bool = False  # no text, so without an encoding


def unreadable(source: Source, kind: str, error: BaseException, where: str = "") -> DataError:
    words = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(f"{source.name}{where} cannot be read as {kind}: {words}.")


def read_natively(source: Source, kind: str, words: str, most: int | None = None, **how: Any) -> Any:
    """What one of `native.READERS` reads, after a process of its own has read it without harm.

    ``most``: bytes that it may take in memory; ``how``: options of the reader.
    """
    import polars as pl

    said = rehearse(kind, source.polars, source.size, most_unpacked(source.size) if most is None else most, how)
    if "error" in said:
        raise unreadable(source, words, ValueError(said["error"]))
    check_unpacked(source.name, said.get("size", 0), source.size)
    try:
        return READERS[kind](source.polars, lambda size: check_unpacked(source.name, size, source.size), **how)
    except DataError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # where there was no rehearsal
        raise unreadable(source, words, error) from error


def with_target(table: Table, target: str | None, required: bool) -> Table:
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
        where = f"the sheet {table.sheet!r} of {table.source}" if table.sheet else table.source
        raise DataError(f"{where} has no column {target!r}{suggestion(target, names)}")
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


def without(table: Table, drop: Sequence[str]) -> Table:
    for name in drop:
        named_column(table, name, "--drop")
    return replace(table, X=table.X.drop(list(drop)))


def named_column(table: Table, name: str, option: str) -> Any:
    """A column by its name, which an option gave."""
    if not table.framed:
        raise DataError(f"{option}: the columns of {table.source} have no names.")
    if name not in table.X.columns:
        raise DataError(f"{option}: {table.source} has no column {name!r}{suggestion(name, table.names)}")
    return table.X[name]


def labelled(table: Table) -> Table:
    """The rows that have a label, with a note of how many have none; all of them where none has one."""
    y = table.y
    if hasattr(y, "null_count"):
        missing = (y.fill_nan(None) if y.dtype.is_float() else y).is_null().to_numpy()
    else:
        y = np.asarray(y)
        missing = np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)
    rows = np.flatnonzero(missing)
    if not len(rows) or len(rows) == table.n:
        return table
    kept = np.flatnonzero(~missing)
    note = (
        f"{len(rows):,} of {table.n:,} rows have no label in {table.target!r} and are left out ({table.places(rows)})."
    )
    lines = kept + 1 if table.lines is None else table.lines[kept]
    ids = None if table.ids is None else table.ids[kept]
    return replace(table, X=table.X[kept], y=y[kept], lines=lines, ids=ids, notes=(*table.notes, note))


def labels_of(table: Table) -> np.ndarray:
    """Labels as an array of text, integers or truth values."""
    y = table.y
    where = f"{table.source}: the target column {table.target!r}"
    if hasattr(y, "null_count"):
        import polars as pl

        if y.dtype.is_float():
            y = y.fill_nan(None)
        missing = np.flatnonzero(y.is_null().to_numpy())
        if len(missing):
            raise DataError(f"{where} has no label in {len(missing)} of {table.n} rows ({table.places(missing)}).")
        # numpy has no integers of 128 bits
        if not (y.dtype.is_numeric() or y.dtype in (pl.String, pl.Boolean)) or str(y.dtype).endswith("Int128"):
            y = y.cast(pl.String)
        if y.dtype == pl.String and y.str.len_chars().max() > LONGEST_LABEL:
            row = int(np.argmax(y.str.len_chars().to_numpy()))
            raise DataError(f"{where} holds a text of {len(y[row]):,} characters ({table.place(row)}), not classes.")
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


def check_classes(table: Table, are_classes: bool = False) -> None:
    """Refuse fewer than two classes, and a target that looks like a quantity if nobody says that it names classes."""
    y, where = table.y, f"{table.source}: the target column {table.target!r}"
    classes = np.unique(y)
    if len(classes) < 2:
        raise DataError(f"{where} holds one class only, {classes[0]!s}: there is nothing to separate.")
    if are_classes:
        return
    if _is_quantity(classes, len(y)):
        raise DataError(
            f"{where} looks like a quantity: {len(classes)} values in {len(y):,} rows. Use --classes if they are "
            "labels."
        )
    cases = Counter(str(name).casefold() for name in classes)
    alike = [name for name in classes if cases[str(name).casefold()] > 1]
    if alike:
        counted = ", ".join(f"{str(name)!r} ({np.sum(y == name):,} rows)" for name in alike[:4])
        raise DataError(
            f"{where} has classes that differ in case only: {counted}. Write them in one way, or use --classes if they "
            "are different classes."
        )
    if len(classes) > max(NEVER_TOO_MANY, len(y) // 2):
        raise DataError(
            f"{where} has {len(classes)} different values in {len(y)} rows: it looks like a quantity or an identifier, "
            "not like classes."
        )


def _is_quantity(classes: np.ndarray, rows: int) -> bool:
    """Whether different whole numbers look measured or counted, not like the numbers 0 or 1 to k of classes."""
    if classes.dtype.kind not in "iuf" or len(classes) <= NEVER_TOO_MANY:
        return False
    numbered = classes[0] in (0, 1) and classes[-1] - classes[0] == len(classes) - 1 and len(classes) <= MOST_NUMBERED
    return not numbered or rows < ROWS_OF_A_CLASS * len(classes)
