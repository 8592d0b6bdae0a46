"""Which classes are taken for which, and how the answers trade one kind of error for another."""

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from separatrix.plots.interactive.canvas import (
    INK,
    RIGHT,
    WRONG,
    View,
    distinct,
    hover,
    legend_below,
    look,
    new_figure,
    plain,
)
from separatrix.plots.static.curves import LABELS, MOST_CURVES, PRECISION_RECALL, ROC, CurvesDisplay
from separatrix.plots.static.style import COLOURS, MOST_WRITTEN

MOST_STEPS = 400  # points of a curve


def confusion(truth: Any, predicted: Any, *, classes: Any = None, where: str = "") -> View:
    """How many rows of each class are taken for which."""
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    classes = np.unique(np.concatenate([truth, predicted])) if classes is None else np.asarray(classes)
    counts = confusion_matrix(truth, predicted, labels=classes)
    names = distinct([plain(c, 14 if len(classes) <= MOST_WRITTEN else 8) for c in classes])
    height = 150 + min(40 * len(names), 620)
    figure = new_figure("predicted", "true", height=height, x_range=names, y_range=names[::-1])
    from bokeh.models import ColumnDataSource

    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    right = np.eye(len(classes), dtype=bool)
    data = {
        "predicted": np.tile(names, len(names)),
        "true": np.repeat(names, len(names)),
        "count": counts.ravel(),
        "words": [f"{c:,}" if c else "" for c in counts.ravel()],
        "share": [f"{100 * s:.1f}%" for s in share.ravel()],
        "colour": np.where(right.ravel(), RIGHT, WRONG),
        "alpha": np.where(counts.ravel() > 0, 0.12 + 0.88 * np.sqrt(share.ravel()), 0.0),
    }
    source = ColumnDataSource(data)
    squares = figure.rect(
        "predicted",
        "true",
        width=0.96,
        height=0.96,
        source=source,
        fill_color="colour",
        fill_alpha="alpha",
        line_color=None,
    )
    if len(classes) <= MOST_WRITTEN:
        size = "10pt" if len(classes) <= 6 else "8pt"
        looks = {"text_align": "center", "text_baseline": "middle", "text_font_size": size}
        strong = np.sqrt(share.ravel()) > 0.6
        for colour, rows in (("#ffffff", strong), (INK, ~strong)):
            part = ColumnDataSource({name: np.asarray(data[name])[rows] for name in ("predicted", "true", "words")})
            words = figure.text("predicted", "true", text="words", source=part, text_color=colour, **looks)
            words.glyph.tags = ["ink-text"] if colour == INK else []
    hover(figure, [squares], [("true", "@true"), ("predicted", "@predicted"), ("rows", "@words (@share of the class)")])
    figure.grid.grid_line_color = None
    if len(names) > 4:
        figure.xaxis.major_label_orientation = 0.9
    n, good = int(counts.sum()), int(np.trace(counts))
    title = f"{good:,} of {n:,} rows right ({100 * good / max(n, 1):.1f}%){where and ', ' + where}"
    return View(figure, title, f"Grey is right, red is wrong. {_worst(counts, classes)}".strip())


def _worst(counts: np.ndarray, classes: np.ndarray) -> str:
    """The most frequent confusions in words."""
    wrong = counts * (1 - np.eye(len(counts), dtype=counts.dtype))
    order = np.argsort(-wrong, axis=None, kind="stable")[:3]
    places = [np.unravel_index(k, wrong.shape) for k in order]
    parts = [
        f"{plain(classes[i])} taken for {plain(classes[j])} ({wrong[i, j]:,})" for i, j in places if wrong[i, j] > 0
    ]
    return f"Most often wrong: {'; '.join(parts)}." if parts else ""


def roc(truth: Any, scores: Any, *, classes: Any = None, where: str = "") -> View:
    """Draw the ROC curve of each class."""
    figure = new_figure(*LABELS[ROC], height=380)
    line = figure.line([0, 1], [0, 1], line_color=INK, line_dash="dotted")
    line.glyph.tags = ["ink-line"]
    seen = CurvesDisplay.computed(ROC, truth, scores, classes=classes, where=where)
    return _curves(figure, seen, np.ndim(scores) == 1, [("chance", [line])])


def precision_recall(truth: Any, scores: Any, *, classes: Any = None, where: str = "") -> View:
    """Draw the precision-recall curve of each class."""
    figure = new_figure(*LABELS[PRECISION_RECALL], height=380)
    figure.y_range.start, figure.y_range.end = -0.02, 1.05
    seen = CurvesDisplay.computed(PRECISION_RECALL, truth, scores, classes=classes, where=where)
    return _curves(figure, seen, np.ndim(scores) == 1, [])


def _curves(figure: Any, seen: CurvesDisplay, single: bool, entries: list[Any]) -> View:
    lines = []
    for name, k, x, y, value in seen.curves[:MOST_CURVES]:
        name = plain(name)
        keep = np.unique(np.linspace(0, len(x) - 1, MOST_STEPS).astype(int))
        dash = ["solid", "dashed", "dotdash"][(k // len(COLOURS)) % 3]
        line = figure.line(
            x[keep], y[keep], line_color=look(k)[0], line_width=2, line_dash=dash, name=f"{name}: {value:.4g}"
        )
        lines.append(line)
        entries.append((f"{name}: {value:.3f}" if len(seen.curves) > 1 else name, [line]))
    hover(figure, lines, [("class", "$name"), ("at", "($x, $y)")])
    legend_below(figure, entries)
    caption = "" if single else "Each class against the rest."
    if len(seen.curves) > MOST_CURVES:
        caption += f" Drawn are the {MOST_CURVES} of {len(seen.curves)} classes with the smallest values."
    return View(figure, seen.title, caption.strip())
