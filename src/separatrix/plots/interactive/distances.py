"""How far the rows lie on their sides: a histogram, and the nearest rows one by one."""

from typing import Any

import numpy as np

from separatrix.plots.interactive.canvas import (
    HATCHES,
    INK,
    RIGHT,
    WRONG,
    View,
    bokeh,
    hover,
    legend_below,
    look,
    new_figure,
    plain,
)
from separatrix.plots.interactive.rows_in_words import about_rows, feature_names_of
from separatrix.plots.static.margins import MarginDisplay

BINS = 50
MOST_NAMED = 8  # classes that are distinguished by colours
COUNTS = 'return tick < 0 || tick % 1 ? "" : tick.toLocaleString("en-US")'  # below 0 lie rows, not counts
MOST_NEAREST = 150  # rows that can be pointed at


def margins(estimator: Any, X: Any, y: Any, *, feature_names: Any = None) -> View:
    """The margins of the rows: the distance of each from the boundary, negative on the wrong side, as a histogram.

    Below it stand the rows with the smallest margins, each of which tells its number and its features.
    """
    bokeh()
    from bokeh.models import ColumnDataSource, CustomJSTickFormatter

    seen = MarginDisplay.computed(estimator, X, y)
    finite = np.isfinite(seen.margins)
    low, high = seen.margins[finite].min(), seen.margins[finite].max()
    room = max(1e-6 * abs(high), 1e-300) if high - low <= 1e-9 * abs(high) else 0.0  # all may lie at the same distance
    edges = np.linspace(low - room, high + room, BINS + 1)
    figure = new_figure(seen.unit, "rows", height=340)
    figure.yaxis.formatter = CustomJSTickFormatter(code=COUNTS)
    groups = [(plain(c, 22), seen.y == c, look(k)[0]) for k, c in enumerate(seen.classes)]
    if len(groups) > MOST_NAMED:
        groups = [("on its side", seen.margins > 0, RIGHT), ("on the wrong side", seen.margins <= 0, WRONG)]
    entries, below = [], np.zeros(len(edges) - 1)
    for k, (name, rows, colour) in enumerate(groups):
        counts = np.histogram(seen.margins[rows & finite], edges)[0]
        data = {"left": edges[:-1], "right": edges[1:], "bottom": below, "top": below + counts, "rows": counts}
        source = ColumnDataSource({**data, "name": [name] * len(counts)})
        bar = figure.quad(
            left="left",
            right="right",
            bottom="bottom",
            top="top",
            source=source,
            fill_color=colour,
            line_color="white",
            line_width=0.5,
            hatch_pattern=HATCHES[k % len(HATCHES)],
            hatch_color="white",
            hatch_alpha=0.6,
            hatch_scale=8,
        )
        bar.glyph.tags = ["paper-line"]
        entries.append((name, [bar]))
        below = below + counts
    hover(figure, [bar for _, (bar,) in entries], [("from", "@left"), ("to", "@right"), ("@name", "@rows rows")])
    entries += _nearest(figure, seen, about_rows(X, feature_names_of(estimator, X, feature_names)), float(below.max()))
    _upright(figure, 0.0, 2, "solid")
    drawn = seen.band is not None and 0 < seen.band <= high
    if drawn:
        _upright(figure, seen.band, 1, "dashed")
    legend_below(figure, entries)
    few = f"the {MOST_NEAREST:,} rows that are farthest to the left"
    below_them = "the rows themselves" if len(seen.margins) <= MOST_NEAREST else few
    caption = f"Right of 0 a row is on its side. Below the bars {below_them}."
    if drawn:
        caption += f" The dashed line is the edge of the band, at {seen.band:.3g}."
    elif seen.band is not None and seen.band > high:
        caption += f" All rows lie inside the band, whose edge is at {seen.band:.3g}."
    return View(figure, seen.title, caption)


def _nearest(figure: Any, seen: MarginDisplay, tell: Any, height: float) -> list[tuple[str, list[Any]]]:
    """The rows of the smallest margins below the axis, spread so that they do not hide each other."""
    from bokeh.models import ColumnDataSource

    rows = np.argsort(seen.margins, kind="stable")[:MOST_NEAREST]
    place = -height * (0.05 + 0.09 * np.random.default_rng(0).random(len(rows)))
    codes = np.searchsorted(seen.classes, seen.y[rows])
    source = ColumnDataSource(
        {
            "x": seen.margins[rows],
            "y": place,
            "row": rows,
            "label": [plain(v, 60) for v in seen.y[rows]],
            "about": tell(rows),
            "colour": [look(k)[0] for k in codes],
            "shape": [look(k)[1] for k in codes],
        }
    )
    drawn = figure.scatter("x", "y", source=source, marker="shape", fill_color="colour", line_color=INK, size=7)
    drawn.glyph.tags = ["ink-line"]
    tips = [("row", "@row"), ("margin", "@x"), ("class", "@label"), ("features", "@about")]
    hover(figure, [drawn], tips)
    return [("nearest rows", [drawn])]


def _upright(figure: Any, x: float, width: float, dash: str) -> None:
    from bokeh.models import Span

    figure.add_layout(
        Span(location=x, dimension="height", line_color=INK, line_width=width, line_dash=dash, tags=["ink-line"])
    )
