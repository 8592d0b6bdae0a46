"""From columns to numbers: what is filled in, encoded and scaled, as steps of one scikit-learn Pipeline."""

import shlex
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.app.tables.spellings import MOSTLY, ORIGIN, Reading, as_number, days
from separatrix.app.tables.table import Table
from separatrix.errors import DataError

EXACT_IN_FLOAT64 = 2**53  # integers up to here are float64 numbers
QUANTITY = 100  # different numbers from which a column of texts is no list of categories
MOST_VALUES = 200  # columns that a text column is encoded by; the rarest texts share one
OFTEN = 2  # rows that a text needs to get a column of its own
MOST_TOLD = 3  # columns that are listed by name
MOST_TRIED = 1000  # different texts that are read one by one, to name those that are no numbers
MOST_WAYS = 6  # spellings of numbers that are listed
LIKE_A_NUMBER = (
    r"^[^\p{L}0-9]{0,4}[0-9][0-9.,'\x{2019} \x{a0}\x{202f}]*([eE][-+]?[0-9]+)?[^\p{L}0-9]{0,4}(\p{L}{2,4})?$"
)


def normalised(table: Table, text: Collection[str] = (), numbers: Collection[str] = ()) -> Table:
    """Make every column of a frame either floats, missing ones NaN, or text.

    Numbers as people write them, and dates, become floats, also with words between them that mean missing; ``notes``,
    ``dates``, ``words`` and ``units`` of the table say which. Columns of ``text`` are text; those of ``numbers`` are
    numbers, even if every value is missing.
    """
    if not table.framed:
        return table
    import polars as pl

    columns, spelled, dates, words, units = [], {}, [], {}, {}
    for column in table.X.get_columns():
        kind, found = column.dtype, Reading()
        if column.name in text:
            column = column.cast(pl.String)
        elif kind.is_nested() or kind == pl.Binary:
            raise DataError(
                f"{table.source}: the column {column.name!r} holds values of the type {kind}, which are no feature. "
                f"Leave it out with --drop {column.name!r}."
            )
        elif column.null_count() == len(column):
            column = pl.Series(column.name, np.full(len(column), np.nan))
        elif kind == pl.Float32 or kind == pl.Float64:
            column = column.fill_null(float("nan")) if column.null_count() else column
        elif kind.is_numeric() or kind == pl.Boolean:
            if kind.is_integer() and max(-column.min(), column.max()) > EXACT_IN_FLOAT64:
                warnings.warn(
                    f"{table.source}: the column {column.name!r} holds integers beyond 2^53, which are rounded to "
                    "float64.",
                    stacklevel=2,
                )
            column = column.cast(pl.Float64).fill_null(float("nan"))
        elif kind.is_temporal():
            column, found = days(column).fill_null(float("nan")), Reading(how="dates")
        else:
            where = f"{table.source}: the column {column.name!r}"
            found = as_number(
                column.cast(pl.String), where, table.not_missing, column.name in numbers, table.decimal_comma
            )
            column = column.cast(pl.String) if found.numbers is None else found.numbers.fill_null(float("nan"))
        how = found.how
        if found.is_date:
            dates.append(column.name)
            how += f", became days since {ORIGIN:%Y-%m-%d}"
        if how:
            spelled[column.name] = how
        if found.words:
            words[column.name] = found.words
        if found.unit:
            units[column.name] = found.unit
        columns.append(column)
    lines = _spellings_told(spelled)
    lines += [
        f"Words between the numbers of the column {name!r} count as missing values: {_counted(times)}."
        for name, times in list(words.items())[:MOST_TOLD]
    ]
    if len(words) > MOST_TOLD:
        others = _named(list(words)[MOST_TOLD:])
        lines.append(f"Words between the numbers of {others} count as missing values, too.")
    for name, times in words.items():
        spelled[name] = "; ".join(part for part in (spelled.get(name), f"missing values as {_counted(times)}") if part)
    comma = table.decimal_comma or any("decimal commas" in how for how in spelled.values())
    if comma and not table.decimal_comma:  # one column settles how the others are read: 1,234 is no thousand
        return normalised(replace(table, decimal_comma=True), text, numbers)
    known: dict[str, Any] = {
        "decimal_comma": comma,
        "dates": tuple(dates),
        "spelled": tuple(spelled.items()),
        "words": words,
        "units": units,
    }
    return replace(table, X=pl.DataFrame(columns), **known, notes=(*table.notes, *lines))


def _spellings_told(spelled: dict[str, str]) -> list[str]:
    """Sentences about how columns are read, one for all that are read in the same way."""
    ways: dict[str, list[str]] = {}
    for name, how in spelled.items():
        ways.setdefault(how, []).append(name)
    lines = [
        f"The column{'s' if len(names) > 1 else ''} {_named(names)} hold{'' if len(names) > 1 else 's'} {how}."
        for how, names in list(ways.items())[:MOST_WAYS]
    ]
    others = [name for names in list(ways.values())[MOST_WAYS:] for name in names]
    return lines + (
        [f"The numbers of {_named(others)} are written in other ways; --json lists them."] if others else []
    )


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return ", ".join(repr(name) for name in names[:MOST_TOLD]) + more


def _counted(words: dict[str, int]) -> str:
    lines = sorted(words.items(), key=lambda item: -item[1])
    more = f" and {len(lines) - MOST_TOLD} more" if len(lines) > MOST_TOLD else ""
    return ", ".join(f"{word!r} {count:,}" for word, count in lines[:MOST_TOLD]) + more


def without_empty(table: Table) -> Table:
    """The table without columns that have no value at all, and a note of their names."""
    if not table.framed:
        return table
    empty = [name for name, rows in missing_rows(table).items() if len(rows) == table.n]
    if not empty or len(empty) == table.d:
        return table
    named = ", ".join(repr(name) for name in empty[:MOST_TOLD]) + (", ..." if len(empty) > MOST_TOLD else "")
    note = f"Left out, as there is no value in {'it' if len(empty) == 1 else 'them'}: {named}."
    return replace(table, X=table.X.drop(empty), notes=(*table.notes, note))


def preparation(table: Table, *, scale: bool = False, encode: bool = False, impute: bool = False) -> list[Any]:
    """The steps before the separator, not fitted: ``[(name, transformer), ...]``, none where none is needed.

    Text needs ``encode`` and missing values need ``impute``; without them an error names the columns and rows.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    checked(table, encode=encode, impute=impute)
    numbers, text = kinds(table)
    steps: list[Any] = []
    if impute and numbers:
        steps.append(("impute", SimpleImputer(strategy="median")))
    if scale and numbers:
        steps.append(("scale", StandardScaler(with_mean=not hasattr(table.X, "indptr"))))
    if not text:
        return steps
    rare = {"min_frequency": OFTEN, "max_categories": MOST_VALUES}
    words: list[Any] = [("encode", OneHotEncoder(handle_unknown="infrequent_if_exist", **rare))]
    if impute:
        words.insert(0, ("impute", SimpleImputer(strategy="most_frequent", missing_values=None)))
    parts: list[Any] = [("text", Pipeline(words), text)]
    if numbers:
        parts.insert(0, ("numbers", Pipeline(steps) if steps else "passthrough", numbers))
    return [("columns", ColumnTransformer(parts, verbose_feature_names_out=False))]


def prepare(table: Table, **asked: bool) -> tuple[Any, Any, list[Any]]:
    """The features before and after the steps of `preparation`, as arrays in rows or sparse matrices, and the steps.

    A frame becomes an array here, once; with text it stays one until the steps have made numbers of it.
    """
    from sklearn.pipeline import Pipeline

    steps = preparation(table, **asked)
    raw = table.X.to_numpy(order="c") if table.framed and not kinds(table)[1] else table.X
    X = Pipeline(steps).fit_transform(raw) if steps else raw
    return raw, X.tocsr() if hasattr(X, "tocsr") else np.ascontiguousarray(X), steps


def prepared_names(table: Table, steps: list[Any], width: int) -> list[str] | None:
    """Return the names of the columns after the steps; None if they are unknown."""
    from sklearn.pipeline import Pipeline

    if not table.framed:
        return None
    names: Any = table.names
    if steps:
        try:
            names = Pipeline(steps).get_feature_names_out(np.array(names, dtype=object))
        except (AttributeError, ValueError):
            return None
    return [str(name) for name in names] if len(names) == width else None


def checked(table: Table, *, encode: bool, impute: bool) -> Table:
    """The table, if its values can be used."""
    _check_text(
        table,
        kinds(table)[1],
        encode,
        "If a column is meant to be text, --encode makes numbers of it, a column of 0 and 1 for each text; --drop "
        "COLUMN leaves it out.",
    )
    found = missing_rows(table)
    empty = [name for name, rows in found.items() if len(rows) == table.n]
    if empty:
        raise DataError(f"{table.source}: the column {empty[0]!r} has no value at all. Use --drop {empty[0]!r}.")
    if not impute:
        _check_missing(
            table, "Use --impute to fill in the median of numbers and the most frequent text, or --drop COLUMN."
        )
    _check_finite(table)
    return table


def checked_for_model(table: Table, text: Collection[str], fills: bool) -> Table:
    """The table, if a model can take it: ``text`` are its columns of text, ``fills`` whether it fills in values."""
    numbers = [name for name in kinds(table)[1] if name not in text]
    for name in numbers:
        _check_number(table, name)
    if not fills:
        _check_missing(table, "The model does not fill them in; one that was fitted with --impute does.")
    _check_finite(table)
    return table


def kinds(table: Table) -> tuple[Sequence[str], list[str]]:
    """Names of the columns of numbers and of text."""
    if not table.framed:
        return table.names, []
    found: dict[bool, list[str]] = {True: [], False: []}
    for column in table.X.get_columns():
        found[column.dtype.is_float()].append(column.name)
    return found[True], found[False]


def _check_number(table: Table, name: str) -> None:
    """Name the first value of a column that the model takes as numbers and that is none."""
    column = table.X[name]
    for row, value in enumerate(column.to_list()):
        if value is None:
            continue
        found = as_number(column[row : row + 1], f"{table.source}: the column {name!r}", table.not_missing, True)
        if found.numbers is None:
            raise DataError(
                f"{table.source}, {table.place(row)}: expected a number in the column {name!r}, found {value!r}. "
                f"Correct it, or use --missing {shlex.quote(value.strip())} if it means missing."
            )
    raise DataError(
        f"{table.source}: the column {name!r} holds numbers that are written in several ways, such as "
        f"{', '.join(map(repr, column.drop_nulls().unique(maintain_order=True)[:3].to_list()))}. Write them in one way."
    )


def _check_text(table: Table, text: list[str], encode: bool, advice: str) -> None:

    if not text:
        return
    lines = []
    for name in text:
        column = table.X[name]
        values = column.drop_nulls()
        like = values.str.contains(LIKE_A_NUMBER)
        share, numbers = like.mean() or 0.0, values.filter(like).n_unique()
        quantity = share >= 0.5 and values.n_unique() >= QUANTITY
        bad = _unreadable(column, table.not_missing) if quantity or (share >= MOSTLY and not encode) else []
        if len(bad):
            wrong = column[bad[0]]
            found = f"expected a number in the column {name!r}, found {wrong!r}"
            raise DataError(
                f"{table.source}, {table.place(bad[0])}: {found}"
                + (f" ({len(bad)} such values in all)." if len(bad) > 1 else ".")
                + f" The column looks like numbers: {share:.0%} of its values are, {numbers:,} different ones. If "
                f"{wrong!r} means missing, use --missing {shlex.quote(wrong)}. "
                + ("Else correct it, or leave the column out with --drop." if quantity else advice)
            )
        different = values.n_unique()
        shown = ", ".join(repr(v) for v in values.unique(maintain_order=True)[:3].to_list())
        lines.append(f"{name!r} ({different} values: {shown}{', ...' if different > 3 else ''})")
    if not encode:
        many = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
        raise DataError(
            f"{table.source} has text in the column{'s' if len(lines) > 1 else ''} "
            f"{'; '.join(lines[:5])}{many}. {advice}"
        )


def _unreadable(column: Any, text: Collection[str]) -> list[int]:
    """The rows of texts that are no numbers even alone; if there are none, those with rarer signs than others."""
    import polars as pl

    odd = column.filter(column.cast(pl.Float64, strict=False).is_null()).drop_nulls().unique(maintain_order=True)
    alone = [v for v in odd[:MOST_TRIED] if as_number(pl.Series([v]), "", text, True).numbers is None]
    numbers = odd.filter(odd.str.contains("[0-9]"))
    signs = numbers.str.replace_all(r"[^\p{L}\p{Sc}%]", "")  # the rarer ones are the mistake
    rarer = numbers.filter(signs != signs.mode()[0]) if len(numbers) else numbers
    wrong = column.is_in(alone or (rarer if len(rarer) else numbers))
    return np.flatnonzero(wrong.fill_null(False).to_numpy()).tolist()


def _rows_where(test: Callable[[np.ndarray], np.ndarray], table: Table) -> dict[str, np.ndarray]:
    """Rows with a number of which the test is true, by column, for the columns that have any."""
    if table.framed:
        numbers = (column for column in table.X.get_columns() if column.dtype.is_float())
        found = {column.name: np.flatnonzero(test(column.to_numpy())) for column in numbers}
        return {name: rows for name, rows in found.items() if len(rows)}
    if hasattr(table.X, "indptr"):
        bad = np.flatnonzero(test(table.X.data))
        owner, column = np.searchsorted(table.X.indptr, bad, side="right") - 1, table.X.indices[bad]
        return {table.names[int(j)]: owner[column == j] for j in np.unique(column)}
    flags = test(table.X)
    return {table.names[int(j)]: np.flatnonzero(flags[:, j]) for j in np.flatnonzero(flags.any(axis=0))}


def missing_rows(table: Table) -> dict[str, np.ndarray]:
    """Rows with a missing value, by column, for the columns that have any."""
    found, text = _rows_where(np.isnan, table), kinds(table)[1]
    found |= {name: np.flatnonzero(table.X[name].is_null().to_numpy()) for name in text}
    return {name: found[name] for name in table.names if len(found.get(name, ()))} if text else found


def _check_missing(table: Table, advice: str) -> None:
    found = missing_rows(table)
    if found:
        lines = [
            f"{name!r} {len(rows)} ({table.places(rows)}"
            + (f"; written {_counted(table.words[name])}" if name in table.words else "")
            + ")"
            for name, rows in list(found.items())[:5]
        ]
        many = f" and {len(found) - 5} more columns" if len(found) > 5 else ""
        raise DataError(f"{table.source} has missing values: {'; '.join(lines)}{many}. {advice}")


def _check_finite(table: Table) -> None:
    for name, rows in _rows_where(np.isinf, table).items():
        raise DataError(f"{table.source}, {table.place(int(rows[0]))}: the column {name!r} holds an infinite number.")
