"""Interactive figures of results that come without their data."""

import math
from functools import singledispatch
from typing import Any

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.separability import Separability
from separatrix.errors import DataError
from separatrix.plots.interactive.canvas import INK, View, hover, new_figure
from separatrix.plots.interactive.feature_weights import weights
from separatrix.plots.static.style import COLOURS

MOST = 20  # rows of a proof that are drawn


@singledispatch
def views_of(result: Any) -> list[View]:
    """Of a fitted estimator: its weights, and what its certificate says."""
    certificate = getattr(result, "certificate_", None)
    shown = [] if certificate is None else views_of(certificate)
    try:
        return [*shown, weights(result)]
    except DataError:  # no weights of features
        return shown


@views_of.register
def _(result: Certificate) -> list[View]:
    if result.separable is False and result.alpha is not None and result.alpha_index is not None:
        return [witness(result.alpha_index, result.alpha)]
    return [interval(result)] if result.lower is not None and 0 < result.upper < math.inf else []


@views_of.register
def _(result: Separability) -> list[View]:
    if result.infeasibility_proof is not None:
        return [witness(result.infeasibility_proof.rows, result.infeasibility_proof.weight)]
    return [] if result.certificate is None else views_of(result.certificate)


def interval(certificate: Certificate) -> View:
    """Where the best margin is: above what is reached, below what is proved."""
    lower, upper = max(certificate.lower or 0.0, 0.0), certificate.upper
    figure = new_figure("margin", "", height=130, tools="", y_range=(-0.6, 0.6))
    reached = figure.hbar(y=[0], left=[0.0], right=[lower], height=0.7, fill_color=COLOURS[0], line_color=None)
    looks = {"fill_color": None, "line_color": INK, "hatch_color": "#888888"}
    open_ = figure.hbar(y=[0], left=[lower], right=[upper], height=0.7, hatch_pattern="right_diagonal_line", **looks)
    open_.glyph.tags = ["ink-line"]
    hover(figure, [reached], [("margin achieved", f"{lower:.9g}")])
    hover(figure, [open_], [("proven upper bound", f"{upper:.9g}")])
    figure.yaxis.visible = figure.ygrid.visible = False
    share = (
        ""
        if certificate.ratio is None or certificate.ratio <= 0
        else f"{100 * certificate.ratio:.2f}% of it is certain"
    )
    title = f"The best margin lies between {lower:.6g} and {upper:.6g}"
    return View(figure, title, share and f"Blue is reached: {share}. Hatched is undecided.")


def witness(rows: np.ndarray, weight: np.ndarray) -> View:
    """The rows that prove that no hyperplane separates, and their weights."""
    from bokeh.models import ColumnDataSource

    order = np.argsort(-weight, kind="stable")[:MOST]
    names = [f"row {rows[k]}" for k in order]
    figure = new_figure("weight in the proof", "", height=90 + 20 * len(names), tools="", y_range=names[::-1])
    source = ColumnDataSource({"name": names, "weight": weight[order]})
    bars = figure.hbar(y="name", right="weight", height=0.7, source=source, fill_color=COLOURS[0], line_color=None)
    hover(figure, [bars], [("", "@name"), ("weight", "@weight")])
    figure.ygrid.grid_line_color = None
    caption = "With these weights the rows combine to 0, so no hyperplane separates them."
    if len(rows) > MOST:
        caption += f" The {MOST} largest of {len(rows):,} weights are drawn."
    return View(figure, f"Not linearly separable: {len(rows):,} rows prove it", caption)
