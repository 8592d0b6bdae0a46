"""Which classes are taken for which, and how the answers trade one kind of error for another."""

from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, confusion_matrix, precision_recall_curve, roc_auc_score, roc_curve

from separatrix.errors import DataError
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
from separatrix.plots.static.style import COLOURS, MOST_WRITTEN

MOST_CURVES = 8  # classes that have a line of their own
MOST_STEPS = 400  # points of a curve


def confusion(truth: Any, predicted: Any, *, classes: Any = None, where: str = "") -> View:
    """How many rows of each class are taken for which.

    Parameters
    ----------
    truth, predicted : labels
    classes : array, default=None
        Their order; sorted without it.
    where : str, default=""
        On which data, for the title.

    Returns
    -------
    View

    Examples
    --------
    >>> from separatrix.plots import confusion
    >>> confusion(["a", "a", "b"], ["a", "b", "b"]).title
    '2 of 3 rows right (66.7%)'
    """
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
    told = [
        f"{plain(classes[i])} taken for {plain(classes[j])} ({wrong[i, j]:,})" for i, j in places if wrong[i, j] > 0
    ]
    return f"Most often wrong: {'; '.join(told)}." if told else ""


def roc(truth: Any, scores: Any, *, classes: Any = None, where: str = "") -> View:
    """The ROC curve: the share of positive rows found against the share of negative rows taken for positive.

    Parameters
    ----------
    truth : labels
    scores : decision values, (n,) for two classes or (n, c)
    classes : array, default=None
    where : str, default=""
        On which data, for the title.

    Returns
    -------
    View

    Examples
    --------
    >>> from separatrix.plots import roc
    >>> roc([0, 0, 1, 1], [-1.0, 0.5, 0.2, 2.0]).title
    'ROC curve: area 0.75'
    """
    figure = new_figure("share of other rows taken for the class", "share of the class found", height=380)
    line = figure.line([0, 1], [0, 1], line_color=INK, line_dash="dotted")
    line.glyph.tags = ["ink-line"]

    def curve(one: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        wrong, found, _ = roc_curve(one, values)
        return wrong, found, float(roc_auc_score(one, values))

    return _curves(figure, truth, scores, classes, curve, "ROC curve: area", where, [("chance", [line])])


def precision_recall(truth: Any, scores: Any, *, classes: Any = None, where: str = "") -> View:
    """The precision-recall curve: how many of the rows taken for a class belong to it, against how many are found.

    Parameters and result as in `roc`.

    Examples
    --------
    >>> from separatrix.plots import precision_recall
    >>> precision_recall([0, 0, 1, 1], [-1.0, 0.1, 0.2, 2.0]).title
    'Precision and recall: average precision 1'
    """
    figure = new_figure("recall: share of the class found", "precision: share that is right", height=380)
    figure.y_range.start, figure.y_range.end = -0.02, 1.05

    def curve(one: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        precision, recall, _ = precision_recall_curve(one, values)
        return recall[::-1], precision[::-1], float(average_precision_score(one, values))

    return _curves(figure, truth, scores, classes, curve, "Precision and recall: average precision", where, [])


def _curves(
    figure: Any, truth: Any, scores: Any, classes: Any, curve: Any, title: str, where: str, entries: list[Any]
) -> View:
    truth, scores = np.asarray(truth), np.asarray(scores)
    classes = np.unique(truth) if classes is None else np.asarray(classes)
    if scores.ndim == 1:
        problems = [(plain(classes[1]), 1, truth == classes[1], scores)]
    else:
        problems = [(plain(c), k, truth == c, scores[:, k]) for k, c in enumerate(classes)]
    measured = [(name, k, *curve(one, values)) for name, k, one, values in problems if 0 < one.sum() < len(one)]
    if not measured:
        raise DataError("A curve needs rows of the class and rows that do not belong to it.")
    measured.sort(key=lambda entry: entry[4])
    lines = []
    for name, k, x, y, value in measured[:MOST_CURVES]:
        keep = np.unique(np.linspace(0, len(x) - 1, MOST_STEPS).astype(int))
        dash = ["solid", "dashed", "dotdash"][(k // len(COLOURS)) % 3]
        line = figure.line(
            x[keep], y[keep], line_color=look(k)[0], line_width=2, line_dash=dash, name=f"{name}: {value:.4g}"
        )
        lines.append(line)
        entries.append((f"{name}: {value:.3f}" if len(measured) > 1 else name, [line]))
    hover(figure, lines, [("class", "$name"), ("at", "($x, $y)")])
    legend_below(figure, entries)
    value = float(np.mean([entry[4] for entry in measured]))
    several = " (mean over the classes)" if len(measured) > 1 else ""
    caption = "" if scores.ndim == 1 else "Each class against the rest."
    if len(measured) > MOST_CURVES:
        caption += f" Drawn are the {MOST_CURVES} of {len(measured)} classes with the smallest values."
    return View(figure, f"{title} {value:.4g}{several}{where and ', ' + where}", caption.strip())
