"""Bounds of the margin while a fit runs, and the path of its weight vector."""

import math
from typing import Any

import numpy as np

from separatrix.callbacks import MarginTrace
from separatrix.plots.interactive.canvas import INK, View, hover, legend_below, new_figure, plain
from separatrix.plots.static.bound_trace import BoundsDisplay
from separatrix.plots.static.style import COLOURS
from separatrix.plots.static.weight_path import PathDisplay

FAR = 100  # times the updates that were made: a limit beyond is reported and not drawn


def bounds(estimator: Any, X: Any, y: Any, *, problem: int = 0) -> View:
    """Fit a clone of the estimator, and draw its lower and upper bound against updates, or passes where it makes none.

    Where a theorem bounds the updates, that many are marked by a line.
    """
    return _drawn(BoundsDisplay.computed(estimator, X, y, problem=problem))


def bounds_of_trace(trace: MarginTrace, *, name: str = "", problem: int = 0) -> View:
    """The same from what a `MarginTrace` has recorded."""
    return _drawn(BoundsDisplay(rows=[row for row in trace.rows if row["problem"] == problem], name=name))


def _drawn(seen: BoundsDisplay) -> View:
    steps, lower = seen.measured[:, 0], np.maximum.accumulate(seen.measured[:, 1])
    finite = np.isfinite(seen.upper)
    at, upper = seen.steps[finite], seen.upper[finite]
    limit = seen.theory.bound if seen.theory is not None and seen.unit == "updates" else math.inf
    wide = seen.unit == "updates" and len(at) > 0 and at.max() > 50
    figure = new_figure(seen.unit, seen.what, height=360, x_axis_type="log" if wide else "auto")
    entries, tips = [], [(seen.unit, "@x"), ("margin", "@y")]
    if wide:
        first = max(1.0, float(at[at > 0].min()))
        at, steps = np.maximum(at, first), np.maximum(steps, first)
    above = figure.step(at, upper, mode="after", color=COLOURS[1], line_width=2.5)
    below = figure.step(steps, lower, mode="after", color=COLOURS[0], line_width=2.5, line_dash="dashed")
    dots = figure.scatter(steps, lower, color=COLOURS[0], size=5)
    ends = figure.scatter(at[-1:], upper[-1:], color=COLOURS[1], size=7)
    entries += [("proven upper bound", [above, ends]), ("margin achieved", [below, dots])]
    if len(at) and len(steps):
        known = lower[np.maximum(np.searchsorted(steps, at, side="right") - 1, 0)]
        area = figure.varea_step(x=at, y1=known, y2=upper, step_mode="after", fill_color="#888888", fill_alpha=0.12)
        entries.append(("the best one is here", [area]))
        best = float(upper.min())
        figure.y_range.start = max(float(lower.min()), -0.4 * best) - 0.05 * best
        figure.y_range.end = max(min(3.0 * best, float(upper.max())), 1.02 * best)
    hover(figure, [above, ends, dots], tips)
    caption = ""
    if seen.theory is not None:
        caption = str(seen.theory) + "."
        if len(at) and limit <= FAR * max(at.max(), 1.0):
            _limit(figure, limit)
            caption = "The dotted line is the most that theory allows. " + caption
    legend_below(figure, entries)
    if seen.soft:
        caption += " The bounds are those of 1/sqrt(2P), where P is the criterion of the soft margin."
    return View(figure, seen.title, caption.strip())


def _limit(figure: Any, x: float) -> None:
    """A dotted line that the range holds."""
    low, high = figure.y_range.start, figure.y_range.end
    line = figure.line([x, x], [low, high], line_color=INK, line_dash="dotted", line_width=2)
    line.glyph.tags = ["ink-line"]


def path(estimator: Any, X: Any, y: Any, *, problem: int = 0, feature_names: Any = None) -> View:
    """Fit a clone of the estimator and draw the way of its weight vector.

    Two features: the vector as it is. More: its part along the last one, and along the main direction across it.
    """
    seen = PathDisplay.computed(estimator, X, y, problem=problem, feature_names=feature_names)
    figure = new_figure(*(plain(label, 60) for label in seen.labels), height=380)
    line = figure.line(*seen.path.T, line_color=COLOURS[0], line_width=1.8)
    dots = figure.scatter(*seen.path.T, size=5, line_color=None, fill_color=COLOURS[0])
    start = figure.scatter(*seen.path[:1].T, size=12, fill_color=None, line_color=INK, line_width=2)
    start.glyph.tags = ["ink-line"]
    end = figure.scatter(*seen.path[-1:].T, marker="star", size=18, fill_color=COLOURS[5], line_color=INK)
    end.glyph.tags = ["ink-line"]
    hover(figure, [dots], [("seen", "$index"), ("at", "($x, $y)")])
    legend_below(figure, [("path", [line, dots]), ("start", [start]), ("end", [end])])
    parts = f"{seen.name}: the path of the weight vector, seen {len(seen.path) - 1} times"
    return View(figure, parts, "The vectors are divided by the length of the last one.")
