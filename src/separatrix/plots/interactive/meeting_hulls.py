"""The proof that no hyperplane separates, as a picture: the point in which two convex hulls meet.

Gordan's theorem: weights > 0 of some rows combine their patterns to 0. With a bias the weights of both classes have the
same sum. Divided by it, the weighted mean of the rows of one class is that of the other: a point of both convex hulls.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from separatrix.certificates.separability import Separability
from separatrix.errors import DataError
from separatrix.plots.interactive.canvas import INK, REST, View, hover, legend_below, look, new_figure, plain
from separatrix.plots.interactive.rows_in_words import about_rows, feature_names_of
from separatrix.plots.static.style import COLOURS, dense

MOST_ROWS = 5000  # other rows that are drawn faintly


@dataclass(frozen=True)
class Meeting:
    """Rows of two classes, their weights (each class sums to 1), and the point that both weighted means are."""

    classes: tuple[Any, Any]
    numbers: tuple[int | None, int | None]  # of the two among all classes; None: all that are not the other one
    rows: np.ndarray
    positive: np.ndarray
    weight: np.ndarray
    point: np.ndarray
    others: np.ndarray  # rows of the two classes that take no part


def meeting_of(answer: Separability, X: Any, y: Any) -> Meeting:
    """The meeting that proves two classes inseparable; of several classes that of the pair with the fewest rows.

    Where every pair is separable, that of one class against the rest.
    """
    y = np.asarray(y)
    classes = np.unique(y)
    if len(classes) == 2:
        return _meeting(answer, X, y == classes[1], np.arange(len(y)), (classes[0], classes[1]), (0, 1))
    pairs = {pair: a for pair, a in answer.one_vs_one.items() if a.infeasibility_proof is not None}
    if pairs:
        pair = min(pairs, key=lambda p: _rows(pairs[p]))
        kept = np.flatnonzero((y == pair[0]) | (y == pair[1]))
        first, second = np.searchsorted(classes, pair).tolist()
        return _meeting(pairs[pair], X, y == pair[1], kept, pair, (first, second))
    total = {c: a for c, a in answer.one_vs_rest.items() if a.infeasibility_proof is not None}
    if not total:
        raise DataError("No two classes, and no class and the rest, are proved inseparable: there is no point to draw.")
    one = min(total, key=lambda c: _rows(total[c]))
    number = int(np.searchsorted(classes, one))
    return _meeting(total[one], X, y == one, np.arange(len(y)), ("the rest", one), (None, number))


def _rows(answer: Separability) -> int:
    return 0 if answer.infeasibility_proof is None else len(answer.infeasibility_proof.rows)


def _meeting(
    answer: Separability, X: Any, positive: np.ndarray, kept: np.ndarray, classes: Any, numbers: Any
) -> Meeting:
    witness = answer.infeasibility_proof
    if witness is None:
        raise DataError("There is no proof of inseparability to draw: " + answer.explanation)
    if answer.certificate is not None and answer.certificate.space.rho == 0:
        raise DataError("Hyperplanes through the origin: the proof is no point in which two hulls meet.")
    rows = kept[witness.rows]
    side = positive[rows]
    weight = np.array(witness.weight)
    for part in (side, ~side):
        weight[part] /= weight[part].sum()
    point = weight[side] @ dense(X[rows[side]])
    return Meeting(classes, numbers, rows, side, weight, point, np.setdiff1d(kept, rows))


def proof(answer: Separability, X: Any, y: Any, *, feature_names: Any = None) -> View:
    """Why no hyperplane separates: the rows of the proof, their weights, and the point in which the two hulls meet.

    More than two features are projected on the plane in which these rows vary most. Hulls and their point are projected
    alike, so they meet in the picture as well.

    Parameters
    ----------
    answer : Separability
        Of data that are not separable.
    X, y : the rows and labels that it is about
    feature_names : sequence of str, default=None

    Returns
    -------
    View

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import separability
    >>> from separatrix.plots import proof
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    >>> proof(separability(X, y), X, y).title
    'Not separable: the convex hulls of 0 and 1 meet'
    """
    X = X if hasattr(X, "tocsr") else dense(X)
    found = meeting_of(answer, X, y)
    y, draws = np.asarray(y), np.random.default_rng(0)
    others = found.others if len(found.others) <= MOST_ROWS else draws.choice(found.others, MOST_ROWS, replace=False)
    names = feature_names_of(None, X, feature_names)
    if X.shape[1] == 2:
        labels = (names[0], names[1])
        place = np.eye(2)
        centre = np.zeros(2)
    else:
        labels = ("first principal direction of the proof", "second principal direction")
        place, centre = _plane(dense(X[found.rows]), found.point)
    figure = new_figure(*labels, height=420)
    negative_name, positive_name = (plain(c, 22) for c in found.classes)
    rest = (np.asarray(X[others] @ place.T) - place @ centre) if len(others) else np.zeros((0, 2))
    entries: list[tuple[str, list[Any]]] = []
    tell = about_rows(X, names)
    is_positive = y == found.classes[1]
    for k, name, side in zip(found.numbers, (negative_name, positive_name), (False, True), strict=True):
        colour, shape = REST if k is None else look(k)
        faint = rest[is_positive[others] == side]
        drawn = [figure.scatter(*faint.T, marker=shape, size=5, color=colour, alpha=0.25)]
        mine = found.positive == side
        points = dense(X[found.rows[mine]]) @ place.T - place @ centre
        drawn += _hull(figure, points, colour)
        drawn += [_weighted(figure, points, found, mine, colour, shape, tell)]
        entries.append((name, drawn))
    point = place @ (found.point - centre)
    star = figure.scatter([point[0]], [point[1]], marker="star", size=22, fill_color=COLOURS[5], line_color=INK)
    star.glyph.tags = ["ink-line"]
    entries.append(("both hulls hold this", [star]))
    legend_below(figure, entries)
    title = f"Not separable: the convex hulls of {negative_name} and {positive_name} meet"
    caption = (
        f"{len(found.rows):,} rows carry the proof; the larger a mark, the larger the weight of its row. The weighted "
        f"mean of the {int((~found.positive).sum()):,} rows of {negative_name} is exactly that of the "
        f"{int(found.positive.sum()):,} rows of {positive_name}: the star. A hyperplane between the classes would have "
        "it on both sides."
    )
    if X.shape[1] > 2:
        caption += f" {X.shape[1]:,} features are projected on the plane in which these rows vary most."
    if len(found.others) > MOST_ROWS:
        caption += f" Of the other {len(found.others):,} rows {MOST_ROWS:,} are drawn, by lot."
    return View(figure, title, caption)


def _plane(points: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    directions = np.linalg.svd(points - point, full_matrices=False)[2][:2]
    if len(directions) < 2:
        directions = np.vstack([directions, np.zeros((2 - len(directions), points.shape[1]))])
    return directions, point


def hull_border(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of points in the plane, in their order; two where they lie on a line."""
    if len(points) < 3:
        return points
    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        along = points @ np.linalg.svd(points - points.mean(axis=0))[2][0]
        return points[[along.argmin(), along.argmax()]]


def _hull(figure: Any, points: np.ndarray, colour: str) -> list[Any]:
    """The convex hull of some points: a polygon, a line or nothing."""
    border = hull_border(points)
    if len(border) < 2:
        return []
    if len(border) == 2:
        return [figure.line(*border.T, line_color=colour, line_width=2.5)]
    return [figure.patch(*border.T, fill_color=colour, fill_alpha=0.2, line_color=colour, line_width=2)]


def _weighted(
    figure: Any, points: np.ndarray, found: Meeting, mine: np.ndarray, colour: str, shape: str, tell: Any
) -> Any:
    from bokeh.models import ColumnDataSource

    weight, rows = found.weight[mine], found.rows[mine]
    source = ColumnDataSource(
        {
            "x": points[:, 0],
            "y": points[:, 1],
            "row": rows,
            "weight": weight,
            "size": 9 + 16 * np.sqrt(weight / weight.max()),
            "about": tell(rows),
        }
    )
    drawn = figure.scatter("x", "y", source=source, size="size", marker=shape, fill_color=colour, line_color=INK)
    drawn.glyph.tags = ["ink-line"]
    hover(figure, [drawn], [("row", "@row"), ("weight", "@weight"), ("features", "@about")])
    return drawn
