"""Points from a file: two of its columns, or a projection of all of them."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.app.tables.formats import as_table
from separatrix.app.tables.table import Table
from separatrix.errors import DataError
from separatrix.plots.static.style import of_numbers
from separatrix.studio.board import MOST_CLASSES, MOST_POINTS

LARGEST_FILE = 5_000_000  # bytes that may be brought in
PROJECTED = "all columns, projected"


@dataclass(frozen=True, eq=False)
class Loaded:
    """A table with numbers, and what may be chosen from it."""

    table: Table
    columns: list[str]
    labels: list[str]  # columns that may hold the labels; none where a format keeps them apart
    again: Callable[[str], "Loaded"]  # the same file with another column of labels

    def points(self, x: str, y: str) -> tuple[np.ndarray, np.ndarray, tuple[str, str], tuple[str, ...], str]:
        """Places, numbers of classes, names of the axes and of the classes, and what was left out, in words."""
        classes, codes = np.unique(np.asarray(self.table.y), return_inverse=True)
        if not 2 <= len(classes) <= MOST_CLASSES:
            raise DataError(
                f"{self.table.source} has {len(classes)} classes in the column {self.table.target!r}; the studio takes "
                f"2 to {MOST_CLASSES}. Choose another column of labels."
            )
        values = (
            np.asarray(self.table.X, dtype=np.float64) if not hasattr(self.table.X, "tocsr") else self.table.X.toarray()
        )
        if not np.all(np.isfinite(values)):
            raise DataError(f"{self.table.source} has missing or infinite values.")
        parts = []
        if PROJECTED in (x, y):
            from sklearn.decomposition import PCA

            spread = values.std(axis=0)
            values = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
            places = (
                PCA(2, random_state=0).fit_transform(values) if values.shape[1] > 1 else np.hstack([values, 0 * values])
            )
            axes = ("first principal direction", "second principal direction")
            parts.append(f"{values.shape[1]} columns, standardised, are projected on their two principal directions.")
        else:
            places, axes = values[:, [self.columns.index(x), self.columns.index(y)]], (x, y)
        kept = np.arange(len(codes))
        if len(codes) > MOST_POINTS:
            kept = np.sort(np.random.default_rng(0).choice(len(codes), MOST_POINTS, replace=False))
            parts.append(f"{MOST_POINTS:,} of {len(codes):,} rows are taken, at random.")
        return places[kept], codes[kept], axes, tuple(str(c) for c in classes), " ".join(parts)


def load(path: str | Path, target: str | None = None) -> Loaded:
    """Read a file by its content; ``target``: the column of the labels, else the last."""
    table = as_table(str(path), target=target if target is not None else "-1")
    labels = [*map(str, table.names), str(table.target)] if table.named or table.framed else []
    if table.framed:
        numbers = [name for name in table.X.columns if of_numbers(table.X.select(name))]
        table = replace(table, X=table.X.select(numbers))
    if table.d == 0:
        raise DataError(f"{table.source} has no column of numbers besides the labels.")
    return Loaded(table, [str(name) for name in table.names], labels, partial(load, path))


def load_bytes(content: bytes, name: str, target: str | None = None) -> Loaded:
    """The same of a file that was brought in through the page."""
    if len(content) > LARGEST_FILE:
        raise DataError(f"{name} has {len(content) / 1e6:.1f} MB; the studio takes {LARGEST_FILE / 1e6:.0f} MB.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("brought_in" + "".join(Path(name).suffixes[-2:])[:20])
        path.write_bytes(content)
        try:
            loaded = load(path, target)
        except (ValueError, OSError) as error:
            raise DataError(str(error).replace(str(path), name).replace(path.name, name)) from error
        except Exception as error:  # whatever a broken file leads a reader to
            raise DataError(f"{name} cannot be read: {type(error).__name__}.") from error
    return replace(loaded, table=replace(loaded.table, source=name), again=partial(load_bytes, content, name))


def first_choice(loaded: Loaded) -> tuple[Any, Any]:
    """Two columns to begin with: the only two, else the projection."""
    return (loaded.columns[0], loaded.columns[1]) if len(loaded.columns) == 2 else (PROJECTED, PROJECTED)
