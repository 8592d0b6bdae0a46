"""Rows as a figure needs them: their features in words, and a plane to draw them in."""

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.plots.interactive.canvas import plain
from separatrix.plots.static.style import dense

MOST_FEATURES = 6  # that are shown for a row
MOST_ROWS = 20_000  # from which principal directions are found


def about_rows(X: Any, names: Any) -> Callable[[np.ndarray], list[str]]:
    """A function that tells the features of some rows, one text each: the first few, or the largest of very many."""
    width = X.shape[1]
    more = f", and {width - MOST_FEATURES:,} more" if width > MOST_FEATURES else ""

    def parts(value: Any, j: int) -> str:
        number = isinstance(value, (float, np.floating))
        return f"{plain(names[j], 40)} = {f'{value:.4g}' if number else plain(value, 40)}"

    def tell(rows: np.ndarray) -> list[str]:
        if hasattr(X, "columns"):  # a frame, whose columns may be text
            part = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
            columns = [part[name].to_list() for name in list(X.columns)[:MOST_FEATURES]]
            return [", ".join(parts(v, j) for j, v in enumerate(row)) + more for row in zip(*columns, strict=True)]
        values = dense(X[rows])
        places = np.broadcast_to(np.arange(width), values.shape)
        if width > MOST_FEATURES:
            places = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :MOST_FEATURES]
        return [", ".join(parts(v[j], int(j)) for j in place) + more for place, v in zip(places, values, strict=True)]

    return tell


def feature_names_of(estimator: Any, X: Any, given: Any = None) -> Any:
    """Names of the columns of X, numbers where nobody gave names."""
    for names in (given, getattr(estimator, "feature_names_in_", None), getattr(X, "columns", None)):
        if names is not None:
            return list(names)
    from separatrix.app.tables.table import Numbered

    return Numbered(X.shape[1])


def inner_rows(estimator: Any, X: Any) -> Any:
    """What the separator at the end of a Pipeline sees."""
    inner = estimator[:-1].transform(X) if len(getattr(estimator, "steps", [])) > 1 else X
    return inner if hasattr(inner, "tocsr") else dense(inner)


def principal_plane(X: Any) -> np.ndarray:
    """Rows in the plane in which they, or a random part of very many, vary most."""
    from sklearn.decomposition import PCA

    if X.shape[1] == 1:
        return np.column_stack([dense(X), np.zeros(X.shape[0])])
    part = X
    if X.shape[0] > MOST_ROWS:
        part = X[np.sort(np.random.default_rng(0).choice(X.shape[0], MOST_ROWS, replace=False))]
    solver = "arpack" if hasattr(X, "tocsr") else "auto"
    if min(part.shape) <= 2 and solver == "arpack":
        X, part, solver = dense(X), dense(part), "auto"
    return np.asarray(PCA(2, svd_solver=solver, random_state=0).fit(part).transform(X))
