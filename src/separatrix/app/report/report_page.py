"""The report as one HTML page: a summary for everybody, figures, and details that unfold.

With Bokeh the figures are those of `separatrix.plots`; without it they are static pictures.
"""

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import numpy as np
from sklearn.base import clone

import separatrix
from separatrix import plots
from separatrix.app.report import figures, self_check
from separatrix.app.report.page_style import SCRIPT, STYLE
from separatrix.app.report.summary import largest_weights, notes, percent, rows_of
from separatrix.app.report.table_rows import title
from separatrix.app.saved_models import prepared, weight_names
from separatrix.app.workflows.fitting import Fit, without_search
from separatrix.app.workflows.out_of_fold import Answers, decisions
from separatrix.errors import DataError, MissingExtraError, SeparatrixError
from separatrix.plots.interactive.canvas import FOLLOW_THEME, View, blocks, components, scripts

MOST_LISTED = 100  # weights of each class in a table
SECONDS_REPEATED = 5.0  # seconds of a fit that is repeated without each fold
VALUES_REPEATED = 3_000_000  # numbers in the data up to which a second fit shows how the bounds close


def report_page(fit: Fit, interactive: bool = False) -> str:
    """Write the page, with everything inside.

    ``interactive``: with figures of Bokeh. Their scripts make functions from text, so the policy of such a page cannot
    restrict which scripts run; it still forbids to load or to send anything.
    """
    head, figures, foot = _interactive(fit) if interactive else ("", _static(fit), "")
    check, scripts = self_check.section(fit)
    allowed = self_check.policy(() if interactive else (*scripts, SCRIPT), "" if interactive else STYLE)
    parts = [
        f"<h1>{escape(title(fit.table))}</h1>",
        _summary(fit),
        _numbers(fit),
        *[f'<p class="note">{escape(note)}</p>' for note in notes(fit)],
        *figures,
        "<h2>Details</h2>",
        _unfolds("Everything that is known of this fit", _pairs(rows_of(fit)), opened=True),
        _unfolds("Rows of each class", _classes(fit)),
        *_scores(fit),
        _unfolds("The largest weights", _all_weights(fit)),
        "<h2>Check it yourself</h2>",
        check,
        f"<footer>separatrix {separatrix.__version__}. Data: sha256 {escape(str(fit.table.digest))}.</footer>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title(fit.table))}</title><style>{STYLE}</style>{head}</head><body>\n"
        + "\n".join(parts)
        + f"\n{foot}{''.join(f'<script>{text}</script>' for text in (*scripts, SCRIPT))}</body></html>\n"
    )


def _summary(fit: Fit) -> str:
    """What happened in words that need no theory."""
    separable = None if fit.answer is None else fit.answer.separable
    said = [
        {
            True: "Yes: straight boundaries tell the classes apart without a single error on these data.",
            False: "No straight boundary tells the classes apart without error, and this is proved.",
            None: "Whether a straight boundary can tell the classes apart without error was not decided.",
        }[separable]
    ]
    right = round(fit.train_accuracy * fit.table.n)
    if fit.hard is not None and fit.hard is not fit.separator:
        said.append("The model below has a soft margin, which may misclassify training rows.")
    said.append(f"It classifies {right:,} of {fit.table.n:,} training rows correctly ({percent(fit.train_accuracy)}).")
    unseen = _unseen(fit)
    if unseen is not None:
        said.append(
            f"For rows that it had not seen, expect about {percent(unseen[0].score('accuracy'))}.{_chance(unseen[0])}"
        )
    leading = [name for name, _ in (largest_weights(fit.model, 3) or [("", [])])[0][1]]
    if leading and len(fit.separator.classes_) == 2:
        said.append(f"What counts most: {', '.join(leading)}.")
    return f'<p class="verdict{"" if separable is True else " no"}">{escape(" ".join(said))}</p>'


def _chance(answers: Answers) -> str:
    """A warning if always answering the largest class does as well."""
    if answers.has_learned:
        return ""
    name, share = answers.classes[answers.baseline.predicted[0]], answers.baseline.score("accuracy")
    return f" That is no better than to answer {name} always, which is right for {percent(share)}."


def _unseen(fit: Fit) -> tuple[Answers, str] | None:
    """Answers for rows that the model was not fitted on, and where they come from."""
    if fit.test is not None:
        return fit.test, "on the held-out rows"
    return None if fit.cv is None else (fit.cv.answers, "on rows left out, fold by fold")


def _numbers(fit: Fit) -> str:
    separator = fit.separator
    texts = [
        ("rows", f"{fit.table.n:,}"),
        ("features", f"{fit.table.d:,}"),
        ("classes", f"{len(separator.classes_):,}"),
    ]
    texts.append(("right on these data", percent(fit.train_accuracy)))
    unseen = _unseen(fit)
    if unseen is not None:
        texts.append(("right on unseen rows", percent(unseen[0].score("accuracy"))))
    certificate = getattr(separator, "certificate_", None)
    if (
        certificate is not None
        and certificate.gap is not None
        and certificate.upper < np.inf
        and not np.isnan(certificate.gap)
    ):
        texts.append(("optimality gap", f"{max(certificate.gap, 0.0):.0e}"))
    texts.append(
        (
            "proof of the model",
            "holds" if fit.verification and all(map(bool, fit.verification.values())) else "see details",
        )
    )
    tiles = [f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for name, value in texts]
    return f'<div class="numbers">{"".join(tiles)}</div>'


def figures_of(fit: Fit, interactive: bool) -> Iterator[tuple[str, Any]]:
    """Draw the figures of a fit, each with a heading; a figure that has nothing to show is left out."""
    model, X, y = fit.model, fit.table.X, fit.table.y
    names = list(fit.table.names) if fit.table.named or fit.table.framed else None
    small = fit.table.n * fit.table.d <= VALUES_REPEATED
    solved = fit.separator if fit.hard is None else fit.hard
    answers, where = _unseen(fit) or (_on_the_data(fit), "on the data of the fit")
    classes = answers.classes
    truth = classes[answers.truth]
    texts: dict[str, Any] = {"classes": classes, "where": where if interactive else ""}  # else the heading has it
    made: list[tuple[str, Any]] = [("The boundary", partial(plots.boundary, model, X, y, feature_names=names))]
    if fit.answer is not None and fit.answer.separable is False:
        rows = prepared(model, X)
        made.append(("The proof", partial(plots.proof, fit.answer, rows, y, feature_names=weight_names(model))))
    made.append(("The margins", partial(plots.margins, model, X, y, feature_names=names)))
    if interactive:  # beside static figures the table of weights is enough
        made.append(("The weights", partial(plots.weights, model, folds=_weights_of_folds(fit) if small else None)))
    made.append((f"Right and wrong, {where}", partial(plots.confusion, truth, classes[answers.predicted], **texts)))
    if answers.decision is not None:
        ranked = list(answers.rankings().values())
        scores = ranked[0] if len(ranked) == 1 else np.column_stack(ranked)
        made.append((f"ROC curve, {where}", partial(plots.roc, truth, scores, **texts)))
        made.append((f"Precision and recall, {where}", partial(plots.precision_recall, truth, scores, **texts)))
    if small and hasattr(solved, "certificates_") and hasattr(solved, "set_callbacks"):
        made.append(("The bounds of the margin", partial(plots.bounds, solved, prepared(model, X), y)))
    for heading, draw in made:
        with suppress(DataError):
            yield heading, draw(interactive=True) if interactive else draw(ax=figures.fresh_axes())


def views_of(fit: Fit) -> list[View]:
    """Interactive figures of a fit, with titles that name what they show."""
    whose = {
        "The boundary": "The model",
        "The bounds of the margin": "The model" if fit.hard is None else "The hard margin",
    }
    again, found = " It was fitted once more for this picture, from its beginning.", []
    for heading, made in figures_of(fit, True):
        title = re.sub(r"^\w+: ", f"{whose[heading]}: ", made.title) if heading in whose else made.title
        caption = made.caption + (again if heading == "The bounds of the margin" else "")
        found.append(replace(made, title=title, caption=caption.strip()))
    return found


def _on_the_data(fit: Fit) -> Answers:
    classes = fit.separator.classes_
    truth, predicted = (np.searchsorted(classes, labels) for labels in (fit.table.y, fit.model.predict(fit.table.X)))
    return Answers(classes, truth, predicted, decisions(fit.model, fit.table.X))


def _weights_of_folds(fit: Fit) -> list[np.ndarray] | None:
    """Weights of the same model fitted without each fold, of two classes."""
    fold = None if fit.cv is None else fit.cv.answers.fold
    if fold is None or fit.seconds > SECONDS_REPEATED or np.shape(getattr(fit.separator, "coef_", ()))[:1] != (1,):
        return None
    X, found = prepared(fit.model, fit.table.X), []
    with warnings.catch_warnings(), suppress(SeparatrixError):
        warnings.simplefilter("ignore")  # how far each came does not matter here
        for k in np.unique(fold):
            rows = np.flatnonzero(fold != k)
            found.append(clone(without_search(fit.separator)).fit(X[rows], fit.table.y[rows]).coef_)
    return found


def _interactive(fit: Fit) -> tuple[str, list[str], str]:
    views = views_of(fit)
    script, places = components(views)
    return scripts([v.figure for v in views]), blocks(views, places), f"{script}<script>{FOLLOW_THEME}</script>"


def _static(fit: Fit) -> list[str]:
    try:
        pictures = [(heading, figures.embedded(made)) for heading, made in figures_of(fit, False)]
    except MissingExtraError as error:
        return [f"<p>There are no pictures: {escape(str(error))}</p>"]
    return [f'<h2>{escape(name)}</h2><img alt="{escape(name)}" src="{url}">' for name, url in pictures]


def _unfolds(name: str, content: str, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{escape(name)}</summary>{content}</details>"


def _pairs(rows: list[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><th scope=row>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in rows)
    return f'<table class="pairs">{lines}</table>'


def _table(heads: list[str], rows: list[list[str]]) -> str:
    """A table that is sorted by a click on its heads; its cells are HTML already."""
    top = "".join(f'<th scope=col><button type="button">{escape(head)}</button></th>' for head in heads)
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return f'<div class="wide"><table class="sorts"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _classes(fit: Fit) -> str:
    right = fit.model.predict(fit.table.X) == fit.table.y
    rows = []
    for value, count in zip(*np.unique(fit.table.y, return_counts=True), strict=True):
        good = int(right[fit.table.y == value].sum())
        rows.append(
            [
                _text(str(value)),
                _number(count, f"{count:,}"),
                _number(good / count, f"{good:,} ({percent(good / count)})"),
            ]
        )
    return _table(["class", "rows", "right on these data"], rows)


def _scores(fit: Fit) -> list[str]:
    """Precision and recall of each class on rows that the model had not seen."""
    unseen = _unseen(fit)
    if unseen is None:
        return []
    rows = []
    for c in unseen[0].by_class:
        shares = [_number(value, f"{100 * value:.1f}%") for value in (c.precision, c.recall, c.f1)]
        rows.append([_text(c.name), *shares, _number(c.rows, f"{c.rows:,}")])
    table = _table(["class", "precision", "recall", "F1", "rows"], rows)
    words = "<p>Precision: of the rows taken for a class, the share of it. Recall: of its rows, those found.</p>"
    return [_unfolds(f"Scores of each class, {unseen[1]}", words + table)]


def _all_weights(fit: Fit) -> str:
    lists = [(f"Weights for {name}", _weights(pairs)) for name, pairs in largest_weights(fit.model, MOST_LISTED)]
    if not lists:
        return "<p>This model has no weights of features.</p>"
    return lists[0][1] if len(lists) == 1 else "".join(_unfolds(name, table) for name, table in lists)


def _weights(pairs: list[tuple[str, float]]) -> str:
    largest = max((abs(w) for _, w in pairs), default=1.0) or 1.0
    rows = []
    for feature, w in pairs:
        bar = f'<svg class="bar{"" if w > 0 else " minus"}" width="{100 * abs(w) / largest:.1f}%" height="11"></svg>'
        rows.append([_text(feature), _number(w, f"{w:+.4g}"), f'<td data-sort="{abs(w)!r}" class="room">{bar}</td>'])
    more = f"<p>The {MOST_LISTED} largest.</p>" if len(pairs) == MOST_LISTED else ""
    return more + _table(["feature", "weight", "size"], rows)


def _text(words: str) -> str:
    return f"<td>{escape(words)}</td>"


def _number(value: float, words: str) -> str:
    return f'<td class="number" data-sort="{value!r}">{escape(words)}</td>'
