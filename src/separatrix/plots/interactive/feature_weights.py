"""The weights of the features: bars for one hyperplane, a chart of marks for several."""

from typing import Any

import numpy as np

from separatrix.app.saved_models import weight_names
from separatrix.app.workflows.verifying import vector_names
from separatrix.errors import DataError
from separatrix.persistence.files import classifier_of
from separatrix.plots.interactive.canvas import HATCHES, INK, View, distinct, hover, look, new_figure, plain

MOST = 20  # features that are drawn
MOST_VECTORS = 30  # of classes or of pairs of them: 26 classes have 325 pairs


def weights(model: Any, *, folds: Any = None, most: int = MOST) -> View:
    """The largest weights of a fitted separator, alone or at the end of a Pipeline."""
    separator = classifier_of(model)
    coef = getattr(separator, "coef_", None)
    if coef is None:
        raise DataError(f"{type(separator).__name__} has no weights of features.")
    names = weight_names(model)
    chosen = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:most]
    labels = distinct([plain(names[j]) for j in chosen])
    caption = "" if coef.shape[1] <= most else f"The {most} largest of {coef.shape[1]:,} weights are drawn. "
    if len(coef) == 1:
        return _bars(separator, coef[0, chosen], labels, _spread(folds, chosen), caption)
    vectors = np.sort(np.argsort(-np.linalg.norm(coef, axis=1), kind="stable")[:MOST_VECTORS])
    if len(vectors) < len(coef):
        caption += f"Of {len(coef):,} weight vectors the {MOST_VECTORS} longest are drawn. "
    named = vector_names(separator)
    each = "pair of classes" if getattr(separator, "multi_class", "") == "ovo" else "class"
    return _marks([named[k] for k in vectors], coef[np.ix_(vectors, chosen)], labels, caption, each)


def _spread(folds: Any, chosen: np.ndarray) -> np.ndarray | None:
    if folds is None or len(folds) < 2:
        return None
    values = np.array([np.asarray(fold)[0, chosen] for fold in folds])
    return np.array([values.min(axis=0), values.max(axis=0)])


def _bars(separator: Any, w: np.ndarray, labels: list[str], spread: np.ndarray | None, caption: str) -> View:
    figure = new_figure("weight", "", height=90 + 22 * len(labels), y_range=labels[::-1])
    figure.xaxis.ticker.desired_num_ticks = 4  # small weights have long numbers, and a telephone is narrow
    from bokeh.models import ColumnDataSource

    positive, negative = (plain(separator.classes_[k], 40) for k in (1, 0))
    data = {
        "name": labels,
        "w": w,
        "towards": [positive if value > 0 else negative for value in w],
        "colour": [look(int(value > 0))[0] for value in w],
        "hatch": [HATCHES[int(value > 0)] for value in w],
    }
    bars = figure.hbar(
        y="name",
        right="w",
        height=0.7,
        source=ColumnDataSource(data),
        fill_color="colour",
        line_color=None,
        hatch_pattern="hatch",
        hatch_color="white",
        hatch_alpha=0.6,
        hatch_scale=8,
    )
    hover(figure, [bars], [("feature", "@name"), ("weight", "@w"), ("speaks for", "@towards")])
    if spread is not None:
        whiskers = figure.segment(y0=labels, y1=labels, x0=spread[0], x1=spread[1], line_color=INK, line_width=2)
        whiskers.glyph.tags = ["ink-line"]
        caption += (
            "A thin line reaches from the smallest to the largest weight over the folds of the cross-validation. "
        )
    figure.ygrid.grid_line_color = None
    sides = f"Bars to the right speak for {positive}, those to the left for {negative}."
    return View(figure, f"Weights, positive for {positive}", caption + sides)


def _marks(vectors: list[str], coef: np.ndarray, labels: list[str], caption: str, each: str) -> View:
    """A mark for each feature and vector: full for it, empty against it, the size is that of the weight."""
    columns = distinct([plain(name, 14) for name in vectors])
    figure = new_figure("", "", height=120 + 22 * len(labels), x_range=columns, y_range=labels[::-1])
    from bokeh.models import ColumnDataSource

    flat = coef.ravel()
    size = np.sqrt(np.abs(flat) / (np.abs(flat).max() or 1.0))
    data = {
        "vector": np.repeat(columns, len(labels)),
        "name": np.tile(labels, len(columns)),
        "w": flat,
        "side": 0.92 * size,
        "full": np.where(flat > 0, 0.8, 0.0),
    }
    marks = figure.rect(
        "vector",
        "name",
        width="side",
        height="side",
        source=ColumnDataSource(data),
        fill_color=INK,
        fill_alpha="full",
        line_color=INK,
        line_width=1.5,
    )
    marks.glyph.tags = ["ink-line", "ink-fill"]
    hover(figure, [marks], [("feature", "@name"), ("for", "@vector"), ("weight", "@w")])
    figure.xaxis.major_label_orientation = 0.9
    figure.grid.grid_line_color = None
    return View(
        figure,
        f"Weights of the features for each {each}",
        f"{caption}The larger a mark, the larger the weight. A full one is positive, an empty one negative."
        if each != "class"
        else f"{caption}The larger a mark, the larger the weight. A full one speaks for the class, an empty one "
        "against it.",
    )
