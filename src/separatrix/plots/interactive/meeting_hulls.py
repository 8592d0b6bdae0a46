"""The proof that no hyperplane separates, as an interactive picture: the point in which two convex hulls meet."""

from typing import Any

import numpy as np

from separatrix.certificates.separability import Separability
from separatrix.plots.interactive.canvas import INK, REST, View, hover, legend_below, look, new_figure, plain
from separatrix.plots.interactive.rows_in_words import about_rows, feature_names_of
from separatrix.plots.static.hulls import MOST_ROWS, Meeting, hull_border, meeting_of, plane
from separatrix.plots.static.style import COLOURS, dense


def proof(answer: Separability, X: Any, y: Any, *, feature_names: Any = None) -> View:
    """Why no hyperplane separates: the rows of the proof, their weights, and the point in which the two hulls meet.

    More than two features are projected on the plane in which these rows vary most. Hulls and their point are projected
    alike, so they meet in the picture as well.
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
        place, centre = plane(dense(X[found.rows]), found.point)
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
    title = f"Not linearly separable: the convex hulls of {negative_name} and {positive_name} meet"
    caption = (
        f"{len(found.rows):,} rows carry the proof; the larger a mark, the larger the weight of its row. The weighted "
        f"mean of the {int((~found.positive).sum()):,} rows of {negative_name} is exactly that of the "
        f"{int(found.positive.sum()):,} rows of {positive_name}: the star. A hyperplane between the classes would have "
        "it on both sides."
    )
    if X.shape[1] > 2:
        caption += f" {X.shape[1]:,} features are projected on the plane in which these rows vary most."
    if len(found.others) > MOST_ROWS:
        caption += f" Of the other {len(found.others):,} rows {MOST_ROWS:,} are drawn, at random."
    return View(figure, title, caption)


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
