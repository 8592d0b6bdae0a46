"""Data quality warnings and remarks on the result, with numbers and what to do."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.app.tables.prepare import kinds
from separatrix.app.tables.table import Table
from separatrix.app.workflows.out_of_fold import Answers
from separatrix.errors import DataError

ENOUGH_ROWS = 20  # rows from which the content of a column says something
UNIQUE = 0.5  # share of different texts from which a column tells rows apart, not classes
RARE = 0.05  # share of a class from which on accuracy hides it
UNEVEN = 1e3  # ratio of spreads of columns from which --scale is worth a word
NUMBERED = ("id", "index", "nr", "no", "number", "row", "key")  # names of columns that count


def advise(table: Table, raw: Any, X: Any, *, folds: int, scaled: bool, weighted: bool = False) -> list[str]:
    """Sentences about the data, before a fit; ``raw`` and ``X``: the rows before and after their preparation."""
    parts = []
    if table.n >= ENOUGH_ROWS:
        parts += _identifiers(table) + _giveaways(table, raw) + _time(table)
    parts += _constant(table) + _contradictions(table)
    if X.shape[1] >= table.n:
        parts.append(
            f"There are {X.shape[1]:,} columns of numbers and {table.n:,} rows: with so many columns nearly any labels "
            "are separable. Trust the cross-validated accuracy, not the training accuracy."
        )
    parts += _rare(table, folds, weighted)
    return parts + ([] if scaled else _uneven(table, raw))


def raise_if_strict(parts: list[str], strict: bool) -> list[str]:
    """The sentences; an error that holds them all where they are to be taken seriously."""
    if strict and parts:
        raise DataError("--strict: " + " ".join(f"({k}) {words}" for k, words in enumerate(parts, 1)))
    return parts


def about_answers(answers: Answers, weighted: bool) -> list[str]:
    """Sentences about out-of-fold answers: classes that are never predicted."""
    never = [c for c in answers.by_class if c.rows and c.recall == 0.0]
    if not never:
        return []
    names = _listed([f"{c.name!r} ({c.rows:,} rows)" for c in never])
    balanced = "Try --class-weight balanced, and --score balanced."
    return [f"No row of {names} is recognized. {'More rows or other features may help.' if weighted else balanced}"]


def about_unseen(unseen: dict[str, list[Any]], table: Table) -> list[str]:
    """Sentences about texts that a model did not know."""
    parts = []
    for column, values in unseen.items():
        shown = ", ".join(f"{value!r} {count:,}" for value, count in Counter(values).most_common(3))
        parts.append(
            f"{len(values):,} of {table.n:,} rows have a value in the column {column!r} that was not among the data of "
            f"the fit ({shown}{', ...' if len(set(values)) > 3 else ''}): they count as none of the known ones. "
            "Predictions for them are less certain; fit again with such rows."
        )
    return parts


def about_filled(missing: dict[str, np.ndarray], table: Table) -> list[str]:
    """A sentence about missing values that a model fills in; ``missing``: the rows, by column."""
    if not missing:
        return []
    columns = _listed([f"{name!r} {len(rows):,}" for name, rows in missing.items()], 5)
    whole = len(np.unique(np.concatenate(list(missing.values()))))
    return [
        f"{whole:,} of {table.n:,} rows lack values, which are filled in by what the fit saw (the median of "
        f"numbers, the most frequent text): {columns}."
    ]


def _listed(names: list[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _identifiers(table: Table) -> list[str]:
    found = []
    for name, column in _columns(table):
        if column.dtype.is_float():
            values = column.to_numpy()
            whole = bool(np.all(np.isfinite(values))) and bool(np.all(values == np.round(values)))
            if not whole or column.n_unique() < len(values):
                continue
            counts = values.max() - values.min() == len(values) - 1
            named = name.lower().replace("_", " ").split()[-1:] in [[word] for word in NUMBERED]
            if counts or named:
                found.append(f"{name!r}, different in every row")
        elif (different := column.n_unique()) > UNIQUE * table.n:
            found.append(f"{name!r}, {different:,} texts in {table.n:,} rows")
    if not found:
        return []
    return [
        f"Identifiers? The values of {_listed(found)} tell rows apart, not classes. Such columns make anything "
        "separable and say nothing of new rows: leave them out with --drop, or name one with --id."
    ]


def _giveaways(table: Table, raw: Any) -> list[str]:
    """Columns that alone distinguishes all classes, where there are others."""
    if table.d < 2:
        return []
    return [
        f"The column {name!r} alone tells the classes apart. Is it known before the class is? If not, --drop {name!r}."
        for name in _deciding(table, raw)[:3]
    ]


def _deciding(table: Table, raw: Any) -> list[str]:
    classes, codes = np.unique(table.y, return_inverse=True)
    numbers, X = _numbers(table, raw)
    found = []
    if len(numbers):
        low, high = (np.array([f(X[codes == k], axis=0) for k in range(len(classes))]) for f in (np.nanmin, np.nanmax))
        order = np.argsort(low, axis=0)
        low, high = (np.take_along_axis(a, order, axis=0) for a in (low, high))
        found = [numbers[int(j)] for j in np.flatnonzero(np.all(high[:-1] < low[1:], axis=0))]
    for name, column in _columns(table):
        if not column.dtype.is_float() and column.n_unique() <= UNIQUE * table.n:
            values = column.fill_null("").to_numpy()
            pairs = len(set(zip(values, codes.tolist(), strict=True)))
            if pairs == len(set(values)):
                found.append(name)
    return found


def _time(table: Table) -> list[str]:
    if not table.dates:
        return []
    return [
        f"The column {table.dates[0]!r} holds dates. Cross-validation mixes the past with the future; to see how a "
        "model fares with what comes later, keep the newest rows in another file and name it with --test."
    ]


def _constant(table: Table) -> list[str]:
    if table.framed:
        found = [repr(name) for name, column in _columns(table) if column.n_unique() == 1]
    elif hasattr(table.X, "indptr"):
        found = []
    else:
        found = [repr(table.names[int(j)]) for j in np.flatnonzero(np.all(table.X == table.X[:1], axis=0))]
    if not found:
        return []
    what = "The column" if len(found) == 1 else "The columns"
    return [f"{what} {_listed(found)} hold{'s' if len(found) == 1 else ''} one value only: that says nothing (--drop)."]


def _contradictions(table: Table) -> list[str]:
    """Rows that are the same but for their class."""
    import polars as pl

    X = table.X
    if hasattr(X, "indptr"):  # rows with the same entries have the same product, bit for bit
        marks = X @ np.random.default_rng(0).normal(size=X.shape[1])
    else:
        marks = (X if table.framed else pl.from_numpy(np.asarray(X))).hash_rows().to_numpy()
    _, group = np.unique(marks, return_inverse=True)
    classes, codes = np.unique(table.y, return_inverse=True)
    pairs, counts = np.unique(group * len(classes) + codes, return_counts=True)
    owners = pairs // len(classes)
    several = np.bincount(owners) > 1
    rows = np.flatnonzero(several[group])
    if not len(rows):
        return []
    best = np.zeros(len(several), dtype=np.int64)
    np.maximum.at(best, owners, counts)
    return [
        f"{len(rows):,} rows have the same features as a row of another class ({table.places(rows)}): no model can "
        f"have more than {100 * best.sum() / table.n:.1f}% of these data right."
    ]


def _rare(table: Table, folds: int, weighted: bool) -> list[str]:
    classes, counts = np.unique(table.y, return_counts=True)
    parts = []
    few = [f"{c} ({n:,})" for c, n in zip(classes, counts, strict=True) if n < folds]
    if few:
        used = min(folds, int(counts.min()))
        done = f"it uses {used} folds" if used > 1 else "there is none"
        parts.append(
            f"Classes with fewer rows than the {folds} folds of the cross-validation: {_listed(few)}. So {done}. "
            "Add rows of them, or leave them out."
        )
    rare = np.flatnonzero(counts < RARE / max(len(classes) - 1, 1) * counts.sum())
    if len(rare) and not weighted:
        rare = rare[np.argsort(counts[rare], kind="stable")]
        share = 100 * (1 - counts[rare].sum() / counts.sum())
        names = _listed([f"{classes[k]} ({counts[k]:,} of {table.n:,} rows)" for k in rare])
        parts.append(
            f"Rare: {names}. A model that never predicts {'it' if len(rare) == 1 else 'them'} has up to {share:.1f}% "
            "accuracy. Look at the recall, and try --class-weight balanced and --score balanced."
        )
    return parts


def _uneven(table: Table, raw: Any) -> list[str]:
    """Columns of numbers whose sizes differ so much that only the largest would count."""
    numbers, X = _numbers(table, raw)
    if len(numbers) < 2:
        return []
    spread = np.nanstd(X, axis=0)
    order = np.argsort(np.where(spread > 0, spread, np.inf))
    small, large = int(order[0]), int(np.argmax(spread))
    if not 0 < UNEVEN * spread[small] < spread[large]:
        return []
    return [
        f"The numbers of {numbers[large]!r} spread {spread[large] / spread[small]:,.0f} times as wide as those of "
        f"{numbers[small]!r}, so that the margin looks at the first alone. --scale gives them the same weight."
    ]


def _numbers(table: Table, raw: Any) -> tuple[Sequence[str], Any]:
    """Names and values of the columns of numbers; none of a sparse matrix, in which few values stand."""
    if hasattr(raw, "indptr"):
        return [], raw
    names = kinds(table)[0]
    return names, raw.select(names).to_numpy() if hasattr(raw, "get_columns") else raw


def _columns(table: Table) -> list[tuple[str, Any]]:
    return [(column.name, column) for column in table.X.get_columns()] if table.framed else []
