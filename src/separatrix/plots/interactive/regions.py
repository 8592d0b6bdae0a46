"""The boundary in the plane: regions, margin band, and the rows or their density."""

from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.plots.interactive.canvas import INK, View, hover, legend_below, look, new_figure, plain
from separatrix.plots.interactive.rows_in_words import about_rows, feature_names_of, inner_rows, principal_plane
from separatrix.plots.static.boundary import MOST_MARKED, MOST_RINGED, BoundaryDisplay, density, leads
from separatrix.plots.static.style import COLOURS, MOST_POINTS

STEPS = 140  # points of a grid along each axis
CROWDED = 60  # marks from which they are small and thin
MOST_NAMED = 8  # classes that a legend names; more of them are named where they lie


def boundary(estimator: Any, X: Any, y: Any, *, feature_names: Any = None) -> View:
    """The decision boundary of a fitted estimator with its margin band and support vectors, and the rows.

    Two features are drawn as they are, more are projected; the caption says how. Above 5,000 rows it is their density.
    """
    try:
        seen = BoundaryDisplay.computed(estimator, X, y, feature_names=feature_names, steps=STEPS)
    except DataError:  # no weight vector to project on
        seen = _by_principal_directions(estimator, X, y)
    figure = new_figure(*seen.labels, height=420)
    entries: list[tuple[str, list[Any]]] = []
    entries += draw_regions(figure, seen.grid, seen.classes)
    entries += _draw_band(figure, seen)
    caption = [_about_the_plane(seen, X.shape[1])]
    if seen.band is not None and seen.band > 0 and not seen.drawn_band:
        caption.append(f"All rows lie inside the band, whose edges are at a distance of {seen.band:.3g}.")
    if len(seen.support) > MOST_RINGED:
        caption.append(f"{len(seen.support):,} rows are support vectors, too many to ring.")
        seen.support = seen.support[:0]
    if len(seen.points) > MOST_POINTS:
        entries += _draw_density(figure, seen)
        caption.append(
            f"Density of all {len(seen.points):,} rows; the stronger the colour, the more. Marked on top are at most "
            f"{MOST_MARKED} rows on the wrong side, drawn at random."
        )
    else:
        entries += _draw_rows(figure, seen, about_rows(X, feature_names_of(estimator, X, feature_names)))
    if len(seen.classes) > MOST_NAMED:
        _name_in_place(figure, seen)
        entries = [(name, glyphs) for name, glyphs in entries if name not in {plain(c, 22) for c in seen.classes}]
        caption.append("Each class is named at the median of its rows.")
    legend_below(figure, entries)
    return View(figure, seen.title, " ".join(part for part in caption if part))


def draw_regions(figure: Any, grid: Any, classes: np.ndarray) -> list[tuple[str, list[Any]]]:
    """Regions of the classes, tinted, and their borders; of two classes the edges of the margin band too."""
    if grid is None:
        return []
    from bokeh.models import LinearColorMapper

    xs, ys, values, level = grid
    winner = (values > 0).astype(np.uint8) if values.ndim == 2 else values.argmax(axis=2).astype(np.uint8)
    shades = [look(k)[0] for k in range(len(classes))]
    figure.image(
        image=[winner],
        x=xs[0],
        y=ys[0],
        dw=xs[-1] - xs[0],
        dh=ys[-1] - ys[0],
        color_mapper=LinearColorMapper(palette=shades, low=-0.5, high=len(shades) - 0.5),
        global_alpha=0.16,
        level="image",
    )
    if values.ndim == 3:
        lines = [contour for lead in leads(values) for contour in contours(xs, ys, lead, 0.0)]
        return [("boundary", [draw_lines(figure, lines, line_width=1.4)])] if lines else []
    entries = [("boundary", [draw_lines(figure, contours(xs, ys, values, 0.0), line_width=2)])]
    edges = contours(xs, ys, values, level) + contours(xs, ys, values, -level) if level > 0 else []
    if edges:  # none where the band is wider than the picture
        entries.append(("edge of the band", [draw_lines(figure, edges, line_dash="dashed")]))
    return entries


def contours(xs: np.ndarray, ys: np.ndarray, values: np.ndarray, level: float) -> list[np.ndarray]:
    """Lines on which values interpolated between the points of a grid have a level."""
    from contourpy import contour_generator

    return [np.asarray(line) for line in contour_generator(xs, ys, values).lines(level)]


def draw_lines(figure: Any, lines: list[np.ndarray], **looks: Any) -> Any:
    places = [line[:, 0].tolist() for line in lines], [line[:, 1].tolist() for line in lines]
    drawn = figure.multi_line(*places, line_color=INK, **{"line_width": 1.0, **looks})
    drawn.glyph.tags = ["ink-line"]
    return drawn


ROW_TIPS = [("row", "@row"), ("class", "@label"), ("predicted", "@predicted"), ("features", "@about")]


def row_source(rows: np.ndarray, points: np.ndarray, y: np.ndarray, predicted: np.ndarray, tell: Any) -> Any:
    from bokeh.models import ColumnDataSource

    return ColumnDataSource(
        {
            "x": points[rows, 0],
            "y": points[rows, 1],
            "row": rows,
            "label": [plain(v, 60) for v in y[rows]],
            "predicted": [plain(v, 60) for v in predicted[rows]],
            "about": tell(rows),
        }
    )


def _draw_rows(figure: Any, seen: BoundaryDisplay, tell: Any) -> list[tuple[str, list[Any]]]:
    entries, wrong = [], seen.predicted != seen.y
    for k, name in enumerate(seen.classes):
        rows = np.flatnonzero(seen.y == name)
        colour, shape = look(k)
        source = row_source(rows, seen.points, seen.y, seen.predicted, tell)
        drawn = _scatter(figure, source, shape, colour, size=8)
        entries.append((plain(name, 22), [drawn]))
    hover(figure, [drawn for _, (drawn,) in entries], ROW_TIPS)
    return entries + _marks(figure, seen.points, seen.support, np.flatnonzero(wrong))


def _draw_density(figure: Any, seen: BoundaryDisplay) -> list[tuple[str, list[Any]]]:
    entries = draw_density(figure, seen.points, seen.y, seen.classes)
    draws = np.random.default_rng(0)
    wrong = np.flatnonzero(seen.predicted != seen.y)
    support, errors = (draws.permutation(rows)[:MOST_MARKED] for rows in (seen.support, wrong))
    return entries + _marks(figure, seen.points, support, errors, (len(seen.support), len(wrong)))


def draw_density(figure: Any, points: np.ndarray, y: np.ndarray, classes: np.ndarray) -> list[tuple[str, list[Any]]]:
    """Draw counts in small squares, and a key for each class."""
    pixels, low, high = density(points, y, classes)
    image = np.ascontiguousarray(pixels).view(np.uint32)[:, :, 0]
    figure.image_rgba(image=[image], x=low[0], y=low[1], dw=high[0] - low[0], dh=high[1] - low[1])
    keys = []
    for k, name in enumerate(classes):  # nothing is drawn: it stands for its class in the legend
        key = figure.scatter([np.nan], [np.nan], marker="square", fill_color=look(k)[0], line_color=None, size=10)
        keys.append((plain(name, 22), [key]))
    return keys


def _scatter(figure: Any, source: Any, shape: str, colour: str, **looks: Any) -> Any:
    drawn = figure.scatter(
        "x", "y", source=source, marker=shape, fill_color=colour, line_color="white", line_width=0.5, **looks
    )
    drawn.glyph.tags = ["paper-line", *(["black-fill"] if colour == COLOURS[7] else [])]
    return drawn


def _marks(
    figure: Any, points: np.ndarray, support: np.ndarray, wrong: np.ndarray, counts: tuple[int, int] | None = None
) -> list[tuple[str, list[Any]]]:
    """Rings around support vectors and crosses on wrong rows, thin enough to show what lies under them."""
    entries = []
    parts = counts or (len(support), len(wrong))
    kinds = [("support vectors", "circle", 15, support), ("wrong", "x", 11, wrong)]
    for (name, shape, size, rows), count in zip(kinds, parts, strict=True):
        if len(rows):
            looks = {"size": 10, "line_width": 0.7} if len(rows) >= CROWDED else {"size": size, "line_width": 1.3}
            drawn = figure.scatter(*points[rows].T, marker=shape, fill_color=None, line_color=INK, **looks)
            drawn.glyph.tags = ["ink-line"]
            entries.append((f"{count:,} {name}", [drawn]))
    return entries


def _draw_band(figure: Any, seen: BoundaryDisplay) -> list[tuple[str, list[Any]]]:
    """The hyperplane edge-on, at 0, and the band around it."""
    if seen.band is None:
        return []
    from bokeh.models import BoxAnnotation

    low, high = seen.points[:, 1].min(), seen.points[:, 1].max()
    ends = np.array([low - 0.05 * (high - low), high + 0.05 * (high - low)])
    entries = [("boundary", [draw_lines(figure, [np.column_stack([[0.0, 0.0], ends])], line_width=2)])]
    band = seen.drawn_band
    if band:
        figure.add_layout(BoxAnnotation(left=-band, right=band, fill_color="#888888", fill_alpha=0.15))
        edges = [np.column_stack([[edge, edge], ends]) for edge in (-band, band)]
        entries.append(("edge of the band", [draw_lines(figure, edges, line_dash="dashed")]))
    return entries


def _name_in_place(figure: Any, seen: BoundaryDisplay) -> None:
    middles = np.array([np.median(seen.points[seen.y == name], axis=0) for name in seen.classes])
    drawn = figure.text(
        *middles.T,
        text=[plain(name, 12) for name in seen.classes],
        text_align="center",
        text_baseline="middle",
        text_font_style="bold",
        text_font_size="11pt",
        text_color=INK,
        text_outline_color="#888888",
    )
    drawn.glyph.tags = ["ink-text"]


def _about_the_plane(seen: BoundaryDisplay, width: int) -> str:
    if width <= 2:
        return ""
    if seen.band is not None:
        return (
            f"{width:,} features, seen along the hyperplane: from left to right the distance from it, so the boundary "
            "is exact, and upwards the direction within it in which the rows vary most."
        )
    if seen.grid is None:
        return (
            f"{width:,} features, projected on the two directions in which the rows vary most. The boundary is no "
            "line in this plane and is not drawn."
        )
    if len(seen.classes) == 3:
        return f"{width:,} features, projected on the plane in which the weights of the classes differ."
    return (
        f"{width:,} features, projected on the plane in which the weights of the classes differ most. The regions are "
        "those of this plane; a row that lies far from it may belong to another."
    )


def _by_principal_directions(estimator: Any, X: Any, y: Any) -> BoundaryDisplay:
    """Of an estimator without a weight vector, such as one with a kernel: where the rows vary most."""
    y, predicted = np.asarray(y), estimator.predict(X)
    return BoundaryDisplay(
        points=principal_plane(inner_rows(estimator, X)),
        y=y,
        predicted=predicted,
        classes=np.asarray(estimator.classes_),
        support=np.zeros(0, np.int64),
        band=None,
        grid=None,
        labels=("first principal direction", "second principal direction"),
        title=f"{type(estimator).__name__}: {int(np.sum(predicted != y)):,} of {len(y):,} rows on the wrong side",
    )
