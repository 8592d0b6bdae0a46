"""What each separator has reached, and whether a line separates at all, as HTML."""

from html import escape

import numpy as np

from separatrix.plots.interactive.canvas import INK
from separatrix.plots.static.style import COLOURS
from separatrix.studio.plane_figure import DASHES, LINES
from separatrix.studio.session import Shown
from separatrix.studio.stepping import Frame


def course_table(shown: Shown) -> str:
    """A row for each separator."""
    rows = []
    for k, frame in enumerate(shown.frames):
        cells = [_name(k, frame), _updates(k, shown), f"{frame.wrong:,}" if frame.model is not None else ""]
        cells += [_share(frame), _state(frame)]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    heads = "".join(
        f"<th>{name}</th>" for name in ("", "Updates / limit", "Misclassified", "% of optimal margin", "State")
    )
    return f'<table class="course" data-step="{shown.board.step}"><tr>{heads}</tr>{"".join(rows)}</table>'


def _name(k: int, frame: Frame) -> str:
    colour = "var(--ink)" if LINES[k] == INK else LINES[k]
    dash = "dashed" if DASHES[k] == "dotdash" else DASHES[k]
    swatch = f'<span class="swatch" style="border-top-style:{dash};border-top-color:{colour}"></span>'
    return swatch + escape(frame.separator.name)


def _updates(k: int, shown: Shown) -> str:
    frame, limit = shown.frames[k], shown.promises[k]
    if frame.unit == "solved":
        return ""
    if frame.unit == "epochs":
        return f"{frame.epochs:,} epochs"
    most = f" / {limit.bound:,.0f}" if limit is not None and np.isfinite(limit.bound) else ""
    return f"{frame.updates:,}{most}"


def _share(frame: Frame) -> str:
    if frame.lower is None or not 0 < frame.lower <= frame.upper < np.inf:
        return ""
    return f"{100 * frame.lower / frame.upper:.1f}%"


def _state(frame: Frame) -> str:
    if frame.error:
        return "Not fitted"
    if frame.end:
        return escape(frame.end[:1].upper() + frame.end[1:])
    return "Running" if frame.model is not None else ""


def _mean(count: int, name: str) -> str:
    """A point of the hull of a class, as the proof has it."""
    return f"a point of class {name}" if count == 1 else f"a weighted mean of {count} points of class {name}"


def verdict_words(shown: Shown) -> str:
    """Whether a line separates, and why not."""
    if shown.answer is None:
        return ""
    picture = shown.pictures[0]
    veiled = picture is not None and picture.doubtful is not None and bool(picture.doubtful.any())
    doubt = "<p>Chequered places are claimed by no class or by several.</p>" if veiled else ""
    if shown.meeting is None:
        return f'<p class="answer">{escape(str(shown.answer))}</p>{doubt}'
    first, second = (escape(str(name)) for name in shown.meeting.classes)
    x, y = shown.meeting.point
    positive = int(shown.meeting.positive.sum())
    negative = len(shown.meeting.rows) - positive
    return (
        f'<p class="answer"><b>No line separates class {first} from class {second}.</b> Their convex hulls meet at '
        f'<span style="color:{COLOURS[5]}">★</span> ({x:.4g}, {y:.4g}): {_mean(positive, second)} is exactly '
        f"{_mean(negative, first)}. Without a kernel or functions phi a Perceptron never comes to rest on such "
        f"points.</p>{doubt}"
    )
