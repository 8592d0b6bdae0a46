"""The decision boundary with its margin band and the rows that support it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError
from separatrix.plots.static.style import (
    COLOURS,
    INK,
    MOST_POINTS,
    as_text,
    axes_for,
    dense,
    look,
    of_numbers,
    separator_in,
    styled,
)

GRID = 300
POWER = 100  # steps of the power iteration
MOST_ROWS = 20_000  # that it looks at
CROWDED = 40  # marks from which they become small
BINS = 90  # of a density along each axis
MOST_MARKED = 60  # rows of each kind that are marked on top of a density
MOST_RINGED = 200  # rows of each kind that are all marked; more would hide the others
IN_A_COLUMN = 14  # names that a column of a legend holds


@dataclass(kw_only=True, eq=False, repr=False)
class BoundaryDisplay:
    """Decision boundary, margin band and support vectors.

    Two features are drawn as they are. More are projected: on the distance from the hyperplane, so that the boundary is
    exact, and on the first principal direction of what is left. Several classes of more than two features are projected
    on the plane in which their weight vectors vary most.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Where the rows are drawn.
    y, predicted : ndarray of shape (n,)
        Their labels, and what the estimator says.
    classes : ndarray
    support : ndarray of int
        Rows that are ringed.
    band : float or None
        Half the width of the margin band, in units of distance; None where there is none.
    grid : tuple or None
        Grids of x, of y and of the decision values, for a boundary in the plane itself.
    labels : tuple of str
        Names of the axes.
    title : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import MaxMargin
    >>> from separatrix.plots import BoundaryDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MaxMargin(C=float("inf")).fit(X[:, 2:], y == 0)
    >>> display = BoundaryDisplay.from_estimator(model, X[:, 2:], y == 0)
    """

    points: np.ndarray
    y: np.ndarray
    predicted: np.ndarray
    classes: np.ndarray
    support: np.ndarray
    band: float | None
    grid: Any
    labels: tuple[str, str]
    title: str

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, feature_names: Any = None) -> Any:
        """Draw a fitted separator, alone or at the end of a Pipeline, and the rows that it was fitted on."""
        return cls.computed(estimator, X, y, feature_names=feature_names).plot(ax=ax)

    @classmethod
    def computed(cls, estimator: Any, X: Any, y: Any, *, feature_names: Any = None, steps: int = GRID) -> Any:
        """The same without drawing it; ``steps``: points of the grid along each axis."""
        check_is_fitted(estimator)
        separator = separator_in(estimator)
        y, predicted = np.asarray(y), estimator.predict(X)
        names = feature_names if feature_names is not None else getattr(estimator, "feature_names_in_", None)
        support = _support(separator)
        if X.shape[1] == 2 and of_numbers(X):
            points, grid, band = dense(X), _grid(estimator, X, steps), None
            labels = ("first feature", "second feature") if names is None else (str(names[0]), str(names[1]))
        else:
            inner = estimator[:-1].transform(X) if len(getattr(estimator, "steps", [])) > 1 else X
            points, band, labels, grid = _projected(separator, inner, steps)
        return cls(
            points=points,
            y=y,
            predicted=predicted,
            classes=separator.classes_,
            support=support,
            band=band,
            grid=grid,
            labels=labels,
            title=_title(separator, predicted, y, support),
        )

    @property
    def drawn_band(self) -> float:
        """Half the width of the band, 0 where it is none or so wide that the rows would be a line in its midst."""
        reach = np.abs(self.points[:, 0]).max(initial=0.0)
        return self.band if self.band is not None and 0 < self.band <= reach else 0.0

    def plot(self, ax: Any = None) -> Any:
        with styled():
            ax = axes_for(ax)
            self._draw_boundary(ax)
            self._draw_rows(ax)
            ax.set(xlabel=as_text(self.labels[0]), ylabel=as_text(self.labels[1]))
            crowd = f" (density of {len(self.points):,} rows)" if len(self.points) > MOST_POINTS else ""
            ax.set_title(self.title + crowd)
            columns = 1 + len(self.classes) // IN_A_COLUMN
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, ncols=columns)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_boundary(self, ax: Any) -> None:
        if self.grid is None:
            if self.band is not None:
                band = self.drawn_band
                if band:
                    ax.axvspan(-band, band, color=INK, alpha=0.10, lw=0, label="band of the margin")
                    for edge in (-band, band):
                        ax.axvline(edge, color=INK, lw=0.9, ls="--")
                ax.axvline(0.0, color=INK, lw=1.6, label="hyperplane")
            return
        xs, ys, values, level = self.grid
        if values.ndim == 2:
            ax.contour(xs, ys, values, levels=[0.0], colors=INK, linewidths=1.6)
            ax.plot([], [], color=INK, lw=1.6, label="boundary")
            if level > 0:
                ax.contourf(xs, ys, values, levels=[-level, level], colors=[INK], alpha=0.10)
                ax.contour(xs, ys, values, levels=[-level, level], colors=INK, linewidths=0.9, linestyles="--")
                ax.plot([], [], color=INK, lw=0.9, ls="--", label="margin")
            return
        winner = values.argmax(axis=2)
        count = values.shape[2]
        shades = [look(k)["color"] for k in range(count)]
        ax.contourf(xs, ys, winner, levels=np.arange(count + 1) - 0.5, colors=shades, alpha=0.13)
        for lead in leads(values):
            if lead.min() < 0 < lead.max():
                ax.contour(xs, ys, lead, levels=[0.0], colors=INK, linewidths=1.0)

    def _draw_rows(self, ax: Any) -> None:
        """Draw every row, or the density of many, and mark support vectors and wrong rows, few of many."""
        many = len(self.points) > MOST_POINTS
        if many:
            image, low, high = density(self.points, self.y, self.classes)
            ax.imshow(image, extent=(low[0], high[0], low[1], high[1]), origin="lower", aspect="auto", zorder=0.5)
            ax.margins(0.03)
        for k, name in enumerate(self.classes):
            rows = self.points[:0] if many else self.points[self.y == name]
            ax.scatter(*rows.T, s=26, alpha=0.75, lw=0.4, edgecolors="white", label=as_text(name), **look(k))
        wrong = np.flatnonzero(self.predicted != self.y)
        ringed, crossed = (marked(rows, many) for rows in (self.support, wrong))
        rings: Any = {"s": 42, "lw": 0.6} if len(ringed) > CROWDED else {"s": 95, "lw": 1.1}
        crosses: Any = {"s": 16, "lw": 0.7, "alpha": 0.6} if len(crossed) > CROWDED else {"s": 70, "lw": 1.4}
        for rows, drawn, words, looks in (
            (self.support, ringed, "support vectors", {"facecolors": "none", "edgecolors": INK, **rings}),
            (wrong, crossed, "on the wrong side", {"marker": "x", "color": "black", **crosses}),
        ):
            if len(rows):
                part = "" if len(drawn) == len(rows) else f", {len(drawn)} marked" if len(drawn) else ", not marked"
                ax.scatter(*self.points[drawn].T, label=f"{len(rows):,} {words}{part}", **looks)


def marked(rows: np.ndarray, many: bool) -> np.ndarray:
    """Which rows are marked: of many, or on top of a density, a random part, so that the marks hide nothing."""
    most = MOST_MARKED if many else MOST_RINGED
    return rows if len(rows) <= most else np.sort(np.random.default_rng(0).choice(rows, MOST_MARKED, replace=False))


def density(points: np.ndarray, y: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return counts in small squares as a picture of bytes (RGBA) from its lowest row up, and its corners.

    The color mixes those of the classes in a square; the strength is the logarithm of their number.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    place = np.minimum((BINS * (points - low) / size).astype(np.int64), BINS - 1)
    cell = place[:, 1] * BINS + place[:, 0]
    counts = np.array([np.bincount(cell[y == name], minlength=BINS * BINS) for name in classes], dtype=np.float64)
    total = counts.sum(axis=0)
    colors = [COLOURS[k % len(COLOURS)] for k in range(len(classes))]
    shades = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in colors])
    mixed = (counts.T @ shades) / np.maximum(total, 1.0)[:, None]
    strength = np.where(total > 0, 0.25 + 0.75 * np.log1p(total) / np.log1p(max(total.max(), 1.0)), 0.0)
    image = np.column_stack([mixed, 255.0 * strength]).round().astype(np.uint8)
    return image.reshape(BINS, BINS, 4), low, low + size


def _support(separator: Any) -> np.ndarray:
    support = getattr(separator, "support_", np.zeros(0, np.int64))
    return np.unique(np.concatenate(support)) if isinstance(support, list) else np.asarray(support)


def leads(values: np.ndarray) -> np.ndarray:
    """How far each class is ahead of the best of the others, (c, ...): 0 on the border of its region."""
    count = values.shape[2]
    return np.array([values[:, :, k] - np.delete(values, k, axis=2).max(axis=2) for k in range(count)])


def mesh_around(points: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grids of x and y that hold the points and some room, and all their pairs."""
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.08 * np.where(high > low, high - low, 1.0)
    xs, ys = (np.linspace(a, b, steps) for a, b in zip(low - pad, high + pad, strict=True))
    return xs, ys, np.column_stack([part.ravel() for part in np.meshgrid(xs, ys)])


def _grid(estimator: Any, X: Any, steps: int) -> Any:
    xs, ys, mesh = mesh_around(dense(X), steps)
    values = _scores(estimator, mesh)
    return xs, ys, values.reshape(steps, steps, *values.shape[1:]), _level(separator_in(estimator))


def _scores(estimator: Any, points: np.ndarray) -> np.ndarray:
    """Decision values; an estimator that was fitted to columns with names gets such columns."""
    names, rows = getattr(estimator, "feature_names_in_", None), points
    if names is not None:
        import polars as pl

        rows = pl.DataFrame({str(name): points[:, j] for j, name in enumerate(names)})
    return np.asarray(estimator.decision_function(rows))


def _level(separator: Any) -> float:
    """The decision value at the edge of the band: 1 for a maximum margin, else that of the nearest row."""
    if hasattr(separator, "support_"):
        return 1.0
    margin = getattr(separator, "geometric_margin_", 0.0)
    length = float(np.linalg.norm(separator.coef_[0])) if hasattr(separator, "coef_") else 0.0
    return margin * length if margin > 0 else 0.0


def _projected(separator: Any, X: Any, steps: int) -> tuple[np.ndarray, float | None, tuple[str, str], Any]:
    """Points in a plane that shows the hyperplane edge-on, the band, the names of the axes, and a grid of regions."""
    coef = getattr(separator, "coef_", None)
    if coef is None:
        raise DataError(f"{type(separator).__name__} has no weight vector to project on: draw it on two features.")
    X = X if hasattr(X, "tocsr") else dense(X)
    mean = np.asarray(X.mean(axis=0)).ravel()
    if len(coef) > 1:
        directions = np.linalg.svd(coef - coef.mean(axis=0), full_matrices=False)[2][:2]
        points = np.asarray(X @ directions.T) - mean @ directions.T
        if points.shape[1] == 1:
            points = np.column_stack([points, _jitter(len(points))])
            return points, None, ("direction of the weights", "(spread to be seen)"), None
        labels = ("first direction of the weights", "second direction of the weights")
        return points, None, labels, _plane_grid(separator, mean, directions, points, steps)
    length = float(np.linalg.norm(coef[0])) or 1.0
    distance = (np.asarray(X @ coef[0]) + separator.intercept_[0]) / length
    band = _level(separator) / length
    if X.shape[1] == 1:
        spread = _jitter(len(distance))
        return np.column_stack([distance, spread]), band, ("distance from the boundary", "(spread to be seen)"), None
    labels = ("distance from the hyperplane", "first principal direction within it")
    return np.column_stack([distance, _across(X, mean, coef[0] / length)]), band, labels, None


def _plane_grid(separator: Any, mean: np.ndarray, directions: np.ndarray, points: np.ndarray, steps: int) -> Any:
    """Scores on the plane through the mean of the rows.

    Only differences of scores decide. Those of three classes vary along two directions alone, so their regions are the
    same wherever the plane lies; of more classes they are those of the rows that lie on it.
    """
    xs, ys, mesh = mesh_around(points, steps)
    if len(separator.coef_) != len(separator.classes_):
        values = _scores(separator, mean + mesh @ directions)
    else:
        centre = separator.coef_ @ mean + separator.intercept_
        values = mesh @ (separator.coef_ @ directions.T).T + centre
    return xs, ys, values.reshape(steps, steps, *values.shape[1:]), 0.0


def _across(X: Any, mean: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Coordinates along the first principal direction of the rows without their part along w.

    By power iteration with passes over the rows, or a random part of very many; they may be sparse.
    """

    def within(v: np.ndarray) -> np.ndarray:
        return v - (v @ w) * w

    draws = np.random.default_rng(0)
    v = within(draws.normal(size=len(w)))
    part = X[np.sort(draws.choice(X.shape[0], MOST_ROWS, replace=False))] if X.shape[0] > MOST_ROWS else X
    for _ in range(POWER):
        v /= np.linalg.norm(v) or 1.0
        along = np.asarray(part @ v) - mean @ v
        v = within(np.asarray(part.T @ along).ravel() - mean * along.sum())
    v = v / (np.linalg.norm(v) or 1.0)
    v = v if v[np.argmax(np.abs(v))] >= 0 else -v
    return np.asarray(X @ v) - mean @ v


def _jitter(n: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1.0, 1.0, n)


def _title(separator: Any, predicted: np.ndarray, y: np.ndarray, support: np.ndarray) -> str:
    wrong = int(np.sum(predicted != y))
    margin = getattr(separator, "geometric_margin_", float("nan"))
    name = type(separator).__name__
    if wrong:
        return f"{name}: {wrong:,} of {len(y):,} rows on the wrong side"
    reached = f", the nearest at {margin:.3g}" if margin > 0 else ""
    return f"{name}: every row classified correctly{reached}"
