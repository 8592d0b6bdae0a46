"""A step in words: the formula with the numbers of this step, the theorem that bounds it, and the same in Python."""

import math
from html import escape
from typing import Any

import numpy as np

from separatrix.certificates.theory import Theory
from separatrix.studio.board import Board
from separatrix.studio.stepping import Frame, last_of, prepared_estimator


def formula(frame: Frame, before: Frame | None, board: Board) -> str:
    """The rule, and what it did at this step, as HTML."""
    about = _rule_of(frame)
    parts = [f"<p><b>{escape(frame.separator.name)}</b>: {about}</p>"]
    if frame.error:
        parts.append(f'<p class="error">{escape(frame.error)}</p>')
    elif frame.model is None:
        parts.append("<p>Not begun: press <i>one update</i> or <i>play</i>.</p>")
    elif len(frame.corrected):
        parts += [_correction(int(row), frame, before, board) for row in frame.corrected]
    elif frame.end:
        parts.append(f"<p>{_end_in_words(frame)}</p>")
    if frame.model is not None:
        parts.append(_vectors(frame, before))
    return "".join(parts)


def _end_in_words(frame: Frame) -> str:
    """Why the fit has no step left."""
    left = f"{frame.wrong:,} row{' is' if frame.wrong == 1 else 's are'} still misclassified."
    if frame.end == "converged":
        return "A whole epoch passed without an update: converged." if frame.unit == "updates" else "Converged."
    if frame.end == "not separable":
        return (
            "Not linearly separable: the error vector has no positive component, which proves that no hyperplane "
            f"separates the classes. {left}"
        )
    if frame.end == "solved":
        return f"Solved without steps. {left}" if frame.wrong else "Solved without steps."
    return f"{frame.end[:1].upper()}{frame.end[1:]}: not converged, {left}"


def _rule_of(frame: Frame) -> str:
    """The first line of the rule's docstring, else that of the estimator."""
    estimator = frame.separator.estimator()
    model = None if frame.model is None else last_of(frame.model)
    records = getattr(model, "_records_", None)
    words = type(estimator).__doc__ or ""
    if records:
        words = type(model._recipe(records[0]).rule).__doc__ or words  # type: ignore[union-attr]
    first = words.strip().split("\n\n")[0]
    pieces = escape(" ".join(first.split()), quote=False).split("``")
    return "".join(f"<code>{piece}</code>" if k % 2 else piece for k, piece in enumerate(pieces))


def _correction(row: int, frame: Frame, before: Frame | None, board: Board) -> str:
    x = ", ".join(f"{v:.4g}" for v in board.points[row])
    label = board.labels[row]
    notes = f"<p>Update {frame.step}: row {row} at ({x}), class {escape(str(label))}"
    model = last_of(frame.model)
    if len(model.classes_) == 2:
        sign = 1 if label == model.classes_[1] else -1
        m = 0.0
        if before is not None and before.model is not None:
            m = sign * float(before.model.decision_function(board.points[row : row + 1])[0])
        now = sign * float(frame.model.decision_function(board.points[row : row + 1])[0])
        notes += (
            f", so <i>l</i> = {sign:+d}. It had <i>l</i> (w.x + b) = {m:.4g}; after the correction it has {now:.4g}."
        )
    else:
        notes += " was corrected."
    return notes + "</p>"


def _vectors(frame: Frame, before: Frame | None) -> str:
    model = last_of(frame.model)
    if not hasattr(model, "coef_"):
        count = len(getattr(model, "support_", ()))
        return f"<p>The vector is a combination of {count} rows.</p>" if count else ""
    former = None if before is None or before.model is None else last_of(before.model)
    lines = []
    for k, (w, b) in enumerate(zip(model.coef_, model.intercept_, strict=True)):
        old = "" if former is None or former.coef_.shape != model.coef_.shape else f"{_vector(former.coef_[k])}, " \
            f"{former.intercept_[k]:.4g} &rarr; "  # fmt: skip
        name = "" if len(model.coef_) == 1 else f" for {escape(str(_name(model, k)))}"
        lines.append(f"<li>(w, b){name}: {old}{_vector(w)}, {b:.4g}</li>")
    return f'<ul class="vectors">{"".join(lines)}</ul>'


def _name(model: Any, k: int) -> Any:
    return model.classes_[k] if len(model.coef_) == len(model.classes_) else f"pair {k + 1}"


def _vector(w: np.ndarray) -> str:
    return "(" + ", ".join(f"{v:.4g}" for v in w[:9]) + (", …)" if len(w) > 9 else ")")


def theorem(frame: Frame, promise: Theory | None) -> str:
    """How far the updates are towards the limit, as HTML."""
    if frame.error:
        return ""
    if frame.unit == "solved":
        return "<p>It is solved at once: there are no updates that a theorem would bound.</p>"
    if promise is None:
        return "<p>No theorem of this library bounds its updates.</p>"
    head = f"<p><b>{escape(promise.theorem)}</b>: at most {escape(promise.statement)}"
    if not math.isfinite(promise.bound):
        why = "these points have no margin" if promise.gamma[0] <= 0 else "its condition is not certain here"
        return f"{head}. No limit, as {why}. {frame.updates:,} updates so far.</p>"
    share = min(100.0 * frame.updates / max(promise.bound, 1.0), 100.0)
    return (
        f"{head} = <b>{promise.bound:,.0f}</b> updates. {frame.updates:,} so far.</p>"
        f'<div class="meter" role="meter" aria-label="updates of the limit" aria-valuenow="{share:.0f}">'
        f'<div style="width:{share:.1f}%"></div></div>'
    )


def same_in_python(frame: Frame, board: Board) -> str:
    """Code that gives exactly this fit."""
    name = frame.separator.name
    estimator = last_of(prepared_estimator(frame.separator, max(frame.step, 1), 1))
    defaults = type(estimator)().get_params(deep=False)
    given = {k: v for k, v in estimator.get_params(deep=False).items() if v is not defaults[k] and v != defaults[k]}
    made = f"{name}({', '.join(f'{k}={_literal(v)}' for k, v in given.items())})"
    lines = ["import numpy as np", f"from separatrix import {name}"]
    if board.degree > 1:
        lines += ["from sklearn.pipeline import make_pipeline", "from sklearn.preprocessing import PolynomialFeatures"]
        made = f"make_pipeline(PolynomialFeatures({board.degree}, include_bias=False), {made})"
    rows = ",\n    ".join(str(p) for p in board.points.tolist())
    lines += [
        "",
        f"X = np.array([\n    {rows},\n])",
        f"y = np.array({board.labels.tolist()!r})",
        f"model = {made}.fit(X, y)",
    ]
    certified = getattr(None if frame.model is None else last_of(frame.model), "certificate_", None) is not None
    step = "model[-1]" if board.degree > 1 else "model"
    lines.append(f"print({step}.certificate_)" if certified else "print(model.predict(X))")
    return "\n".join(lines)


def _literal(value: Any) -> str:
    return 'float("inf")' if isinstance(value, float) and math.isinf(value) else repr(value)
