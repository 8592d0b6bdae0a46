"""What notebooks show of a result without its data: small pictures in SVG, which need no package and no script."""

import math
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from separatrix.app.saved_models import weight_names
from separatrix.app.workflows.verifying import vector_names
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.separability import Separability
from separatrix.errors import DataError
from separatrix.persistence.files import classifier_of
from separatrix.plots.static.style import COLOURS, look

MOST = 10  # bars, rows of a proof, or vectors that are drawn
LONGEST = 24  # characters of a name
WIDTH, ROW, NAMES = 560, 18, 170  # pixels
BARS = 330  # room for bars


@dataclass(frozen=True)
class Drawing:
    """An SVG figure that notebooks display.

    Attributes
    ----------
    svg : str
        The figure.
    title, caption : str
        Its texts.
    """

    svg: str
    title: str
    caption: str = ""

    def _repr_html_(self) -> str:
        words = f"<b>{escape(self.title)}</b>"
        more = f'<div style="opacity:.75">{escape(self.caption)}</div>' if self.caption else ""
        return f'<div style="font:14px sans-serif;margin:.4em 0;max-width:{WIDTH}px">{words}{self.svg}{more}</div>'


def html_of(result: Any) -> str:
    """Return the pictures of a result as HTML, "" if there are none."""
    return "".join(drawing._repr_html_() for drawing in drawings_of(result))


@singledispatch
def drawings_of(result: Any) -> list[Drawing]:
    """Draw the weights of a fitted estimator, and what its certificate claims."""
    certificate = getattr(result, "certificate_", None)
    shown = [] if certificate is None else drawings_of(certificate)
    try:
        return [*shown, weights(result)]
    except DataError:  # no weights of features
        return shown


@drawings_of.register
def _(result: Certificate) -> list[Drawing]:
    if result.separable is False and result.alpha is not None and result.alpha_index is not None:
        return [_witness(result.alpha_index, result.alpha)]
    return [_interval(result)] if result.lower is not None and 0 < result.upper < math.inf else []


@drawings_of.register
def _(result: Separability) -> list[Drawing]:
    if result.infeasibility_proof is not None:
        return [_witness(result.infeasibility_proof.rows, result.infeasibility_proof.weight)]
    return [] if result.certificate is None else drawings_of(result.certificate)


def _interval(certificate: Certificate) -> Drawing:
    """Between 0 and the upper bound: what is achieved, and what is undecided."""
    lower, upper = max(certificate.lower or 0.0, 0.0), certificate.upper
    share = lower / upper
    inside = _rect(0, 4, WIDTH * share, 16, COLOURS[0], f"margin achieved: {lower:.9g}")
    inside += (
        f'<rect x="0.5" y="4" width="{WIDTH - 1}" height="16" fill="none" stroke="currentColor">'
        f"<title>proven upper bound {upper:.9g}</title></rect>"
    )
    title = f"The best margin lies between {lower:.6g} and {upper:.6g}"
    return Drawing(_svg(24, inside), title, f"Filled: {100 * share:.2f}% of it is achieved." if share else "")


def _witness(rows: np.ndarray, weight: np.ndarray) -> Drawing:
    """The rows that prove that no hyperplane separates, and their weights."""
    order = np.argsort(-weight, kind="stable")[:MOST]
    bars = _bars([f"row {rows[k]}" for k in order], weight[order], [COLOURS[0]] * len(order))
    caption = "With these weights the rows combine to 0, so no hyperplane separates them."
    if len(rows) > MOST:
        caption += f" The {MOST} largest of {len(rows):,} weights are drawn."
    return Drawing(bars, f"Not linearly separable: {len(rows):,} rows prove it", caption)


def weights(model: Any) -> Drawing:
    """Draw the largest weights of a fitted separator, alone or at the end of a Pipeline."""
    separator = classifier_of(model)
    coef = getattr(separator, "coef_", None)
    if coef is None:
        raise DataError(f"{type(separator).__name__} has no weights of features.")
    chosen = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:MOST]
    known = weight_names(model)
    names = [str(known[j]) for j in chosen]
    caption = f"The {MOST} largest of {coef.shape[1]:,} weights are drawn. " if coef.shape[1] > MOST else ""
    if len(coef) == 1:
        positive, negative = (_short(separator.classes_[k]) for k in (1, 0))
        bars = _bars(names, coef[0, chosen], [look(int(w > 0))["color"] for w in coef[0, chosen]])
        sides = f"Bars to the right count for {positive}, bars to the left for {negative}."
        return Drawing(bars, f"Weights, positive for {positive}", caption + sides)
    vectors = np.argsort(-np.linalg.norm(coef, axis=1), kind="stable")[:MOST]
    vectors.sort()
    columns = [vector_names(separator)[k] for k in vectors]
    if len(vectors) < len(coef):
        caption += f"Of {len(coef):,} weight vectors the {MOST} longest are drawn. "
    caption += f"From left to right: {', '.join(map(_short, columns))}. Full: positive. Empty: negative."
    return Drawing(_marks(names, coef[np.ix_(vectors, chosen)]), "Weights of the features", caption)


def _bars(names: list[str], values: np.ndarray, colours: list[str]) -> str:
    """Bars from their common zero, with names and numbers."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    scale, inside = BARS / ((high - low) or 1.0), ""
    for k, (name, value, colour) in enumerate(zip(names, values.tolist(), colours, strict=True)):
        left, length = NAMES + scale * (min(value, 0.0) - low), scale * abs(value)
        inside += _text(NAMES - 6, k, name, "end") + _rect(left, ROW * k + 3, length, ROW - 5, colour, "")
        inside += _text(NAMES + BARS + 6, k, f"{value:.3g}", "start")
    return _svg(ROW * len(names), inside)


def _marks(names: list[str], coef: np.ndarray) -> str:
    """A square for each feature and vector, in two paths; its area is the size of the weight."""
    most = float(np.abs(coef).max()) or 1.0
    paths, inside = {True: "", False: ""}, "".join(_text(NAMES - 6, k, name, "end") for k, name in enumerate(names))
    for i, j in np.ndindex(*coef.shape):
        side = (ROW - 4) * math.sqrt(abs(coef[i, j]) / most)
        x, y = NAMES + 22 * i + 11 - side / 2, ROW * j + (ROW - side) / 2
        paths[bool(coef[i, j] > 0)] += f"M{x:.1f} {y:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z"
    inside += f'<path d="{paths[True]}" fill="currentColor"/>'
    return _svg(ROW * len(names), f'{inside}<path d="{paths[False]}" fill="none" stroke="currentColor"/>')


def _svg(height: float, inside: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="100%" style="display:block;margin:.3em 0" role="img" '
        f'font-size="12" fill="currentColor">{inside}</svg>'
    )


def _text(x: float, row: int, words: str, anchor: str) -> str:
    return f'<text x="{x}" y="{ROW * row + 13}" text-anchor="{anchor}">{escape(_short(words))}</text>'


def _rect(x: float, y: float, width: float, height: float, colour: str, parts: str) -> str:
    title = f"<title>{escape(parts)}</title>" if parts else ""
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}">{title}</rect>'


def _short(name: Any) -> str:
    words = "".join(c if c.isprintable() else " " for c in str(name))
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
