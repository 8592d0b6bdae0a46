"""What is said of a fit: titles, rows and values, from which text, Markdown, HTML and JSON are written."""

import math
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from separatrix.app.report.table_rows import class_sizes, counted, file_name, table_rows
from separatrix.app.saved_models import weight_names
from separatrix.app.workflows.cross_validation import CrossValidated
from separatrix.app.workflows.fitting import Fit
from separatrix.app.workflows.out_of_fold import Answers, shown
from separatrix.app.workflows.verifying import vector_names
from separatrix.certificates.certificate import Verification
from separatrix.certificates.separability import Separability
from separatrix.estimators.max_margin import MaxMargin
from separatrix.estimators.max_margin_cv import MaxMarginCV
from separatrix.fit.separator import is_complete
from separatrix.persistence.files import classifier_of

MOST_WEIGHTS = 10
MOST_CLASSES = 8  # that are listed one by one
_CLAIMS = {
    "lower": "margin achieved",
    "upper": "proven upper bound",
    "separable": "separability",
    "radius": "longest row",
}
_SOFT_CLAIMS = {**_CLAIMS, "lower": "objective achieved", "upper": "proven lower bound of the objective"}
_YES = {True: "yes", False: "no", None: "undecided"}
LONGER = 60.0  # seconds for a question that a fit left undecided
SHORT = {"accuracy": "accuracy", "balanced": "balanced acc.", "f1": "F1", "auc": "AUC", "log-loss": "log loss"}
STEEP = 1e4  # R/margin from which scaling the features is worth a word


def rows_of(fit: Fit) -> list[tuple[str, str]]:
    """The report as pairs of a label and a text, in the order in which they become known."""
    return [row for part in PARTS for row in rows_of_part(part, fit)]


def rows_of_part(part: str, fit: Fit) -> list[tuple[str, str]]:
    """The rows of one of `PARTS`; none if it is not known."""
    return PARTS[part](fit)


def _model_rows(fit: Fit) -> list[tuple[str, str]]:
    if fit.model is None:
        return []
    separator = fit.separator
    rows = [("Model", "\n".join([fit.how, *fit.why]))]
    unseen = None if fit.cv is None else fit.cv.answers
    if fit.test is not None and not fit.tested_on_training:
        unseen = fit.test
    if unseen is not None and not unseen.has_learned:
        words = "this model does not tell the classes apart. Try other features."
        rows.insert(0, ("No better than", f"{baseline_in_words(unseen)}: {words}"))
    if fit.cv is not None:
        baseline = baseline_in_words(fit.cv.answers, fit.cv.score)
        rows.append((f"CV {SHORT.get(fit.cv.score, fit.cv.score)}", "; ".join(filter(None, (str(fit.cv), baseline)))))
        others = {name: value for name, value in fit.cv.answers.summary.items() if name != fit.cv.score}
        rows.append(("CV other", scores_line(others)))
    if not math.isnan(fit.train_accuracy):
        right = round(fit.train_accuracy * fit.table.n)
        rows.append(("Training accuracy", f"{percent(fit.train_accuracy)} ({right:,} of {fit.table.n:,})"))
    if fit.test is not None:
        parts = f"{np.sum(fit.test.truth == fit.test.predicted):,} of {len(fit.test.truth):,} correct"
        parts = f"{parts}: {scores_line(fit.test.summary)}; {baseline_in_words(fit.test)}"
        rows.append(("Training data again", parts) if fit.tested_on_training else ("Test data", parts))
    rows += _gap_rows(fit)
    count = support_count(separator)
    if count is not None:
        rows.append(("Support vectors", f"{count:,}"))
    return [*rows, ("Solver", _solver(separator, fit))]


def baseline_in_words(answers: Answers, score: str = "accuracy") -> str:
    """A score of always answering the commonest class; "" of scores that need more than answers."""
    constant = answers.baseline
    value = 0.5 if score == "auc" else constant.score(score)
    if math.isnan(value):
        return ""
    return f"always answering {str(answers.classes[constant.predicted[0]])!r}: {shown(score, value)}"


def _gap_rows(fit: Fit) -> list[tuple[str, str]]:
    """How good the model is for certain: its gap, or the margin that it achieves."""
    certificate, held = getattr(fit.separator, "certificate_", None), verdict(fit.verification)
    if certificate is None:
        return [("Optimality gap", "none: this algorithm proves nothing")]
    state = "verified" if held == "holds" else held if fit.verification else "not verified"
    gaps = [c.gap for c in fit.separator.certificates_]
    if (
        math.isfinite(certificate.upper)
        and certificate.gap is not None
        and isinstance(fit.separator, (MaxMargin, MaxMarginCV))
    ):
        return [("Optimality gap", f"{max(max(gaps), 0.0):.0e} (relative, {state})")]
    if certificate.lower is not None and certificate.lower <= 0:
        return [("Margin achieved", "none: some rows are misclassified")]
    upper = f"proven upper bound {certificate.upper:.6g}" if math.isfinite(certificate.upper) else "no upper bound"
    lower = "unknown" if certificate.lower is None else f"{certificate.lower:.6g}"
    return [("Margin achieved", f"{lower}, {upper} ({state})")]


def _solver(separator: Any, fit: Fit) -> str:
    done = [getattr(separator, "solver_", type(separator).__name__).split(" (")[0]]
    if hasattr(separator, "n_passes_"):
        done.append(f"{counted(round(separator.n_passes_), 'pass', 'es')} over the data")
    if hasattr(separator, "n_updates_"):
        done.append(f"{counted(separator.n_updates_, 'update')} in {counted(separator.n_epochs_, 'epoch')}")
    if fit.passes is not None:
        done.append(f"{counted(fit.passes, 'pass', 'es')} over the files")
    return ", ".join([*done, f"{fit.seconds:.1f} s in total"])


def _separability_rows(fit: Fit) -> list[tuple[str, str]]:
    return [] if fit.answer is None else [("Separability", separability_in_words(fit))]


def separability_in_words(fit: Fit) -> str:
    """The verdict with its proof, and what to do if time ended the search for it."""
    answer = fit.answer
    assert answer is not None
    later = f"undecided after {fit.budget:.2g} s; run `separatrix check --max-time {LONGER:g}`"
    if answer.one_vs_rest:
        joint = {True: "jointly separable", False: "not jointly separable (proved)", None: f"jointly {later}"}
        parts = [joint[answer.separable]]
        for name, answers in (("one-vs-rest", answer.one_vs_rest), ("one-vs-one", answer.one_vs_one)):
            verdicts = [a.separable for a in answers.values()]
            undecided = f", {verdicts.count(None)} undecided" if None in verdicts else ""
            parts.append(f"{name}: {verdicts.count(True):,} of {len(verdicts):,}{undecided}")
        return "; ".join(parts)
    if answer.separable is None:
        return later
    if answer.separable:
        return "linearly separable (proved)"
    parts = [] if answer.infeasibility_proof is None else [f"proof: {len(answer.infeasibility_proof.rows):,} rows"]
    kind = "not linearly separable" + (f" ({parts[0]})" if parts else "")
    if answer.kind == "quasi-complete":
        return f"{kind}, but quasi-completely separable. {answer.sentence()}".strip()
    return f"{kind}; quasi-complete separation undecided" if answer.kind == "undecided" else kind


def _hard_rows(fit: Fit) -> list[tuple[str, str]]:
    """The largest margin with every row correctly classified."""
    if fit.hard is None:
        return []
    certificate, held = fit.hard.certificate_, verdict(fit.hard_verification)
    if certificate.lower is None or not certificate.lower > 0:
        return [("Hard margin", f"not found in {fit.budget:.2g} s")]
    proven = "proven optimal" if held == "holds" and fit.hard.converged_ else "not proven optimal"
    bounds = f"bounds {certificate.lower:.6g} .. {certificate.upper:.6g}, relative gap {certificate.gap:.0e}"
    where = distance_in_words(fit.hard.geometric_margin_, fit.unit)
    parts = [bounds, *(["smallest of all classes"] if len(fit.hard.certificates_) > 1 else [])]
    if f"{certificate.lower:.2g}" != f"{fit.hard.geometric_margin_:.2g}" and len(fit.hard.classes_) == 2:
        parts.append("which count the intercept as one more feature")
    parts += [] if held == "holds" else [held]
    return [("Hard margin", f"{where}, {proven}\n({', '.join(parts)})")]


def _missing_rows(fit: Fit) -> list[tuple[str, str]]:
    if not fit.interrupted:
        return []
    kept = "this is the best that was found so far"
    return [("Interrupted", f"{kept}; missing: {', '.join(fit.missing)}" if fit.missing else kept)]


PARTS = {
    "table": lambda fit: table_rows(fit.table),
    "prepared": lambda fit: [("Prepared", fit.prepared)] if fit.prepared else [],
    "model": _model_rows,
    "separability": _separability_rows,
    "hard margin": _hard_rows,
    "missing": _missing_rows,
}


def percent(share: float) -> str:
    """Never 100% if a row is misclassified."""
    text = f"{100 * share:.1f}%"
    return "over 99.9%" if text == "100.0%" and share < 1 else text


def distance_in_words(distance: float, unit: str) -> str:
    shown = f"{distance:.3g}"
    return f"{shown} {unit if shown != '1' else unit.replace('units', 'unit').replace('deviations', 'deviation')}"


def scores_line(scores: dict[str, float]) -> str:
    words = {"balanced": "balanced accuracy", "f1": "F1", "auc": "AUC"}
    return ", ".join(f"{words.get(name, name)} {shown(name, value)}" for name, value in scores.items())


def as_dict(fit: Fit) -> dict[str, Any]:
    """The report as JSON values."""
    separator = fit.separator
    return {
        "data": {
            "source": file_name(fit.table.source),
            "format": fit.table.format,
            "sha256": fit.table.digest or None,
            "rows": fit.table.n,
            "features": fit.table.d,
            "target": fit.table.target,
            "index_base": fit.table.base,
            **({} if fit.table.encoding is None else {"encoding": fit.table.encoding}),
            **{name: value for name, value in fit.table.reading.items() if value or name == "units"},
            **({} if fit.table.ids is None else {"id": fit.table.ids.name}),
            "classes": class_sizes(fit.table),
            "bytes": fit.table.nbytes,
        },
        "prepared": fit.prepared,
        "separability": None if fit.answer is None else separability_dict(fit.answer),
        "largest_margin": None
        if fit.hard is None
        else {
            "certificates": certificates_dict(fit.hard),
            "geometric_margin": number(fit.hard.geometric_margin_),
            "verified": all(bool(v) for v in fit.hard_verification.values()),
        },
        "separator": {"name": type(separator).__name__, "how": fit.how, "parameters": _plain(separator)},
        "certificates": certificates_dict(separator) if hasattr(separator, "certificates_") else [],
        "geometric_margin": number(getattr(separator, "geometric_margin_", None)),
        "support_vectors": support_count(separator),
        "largest_weights": {name: dict(pairs) for name, pairs in largest_weights(fit.model)},
        "train_accuracy": number(fit.train_accuracy),
        "cross_validated_accuracy": None if fit.cv is None else _folds_dict(replace(fit.cv, score="accuracy")),
        "cross_validated_score": None if fit.cv is None else {"score": fit.cv.score, **_folds_dict(fit.cv)},
        "compared": compared(separator),
        "out_of_fold": None if fit.cv is None else answers_dict(fit.cv.answers),
        "held_out": None if fit.test is None else answers_dict(fit.test),
        "verified": bool(fit.verification) and all(bool(v) for v in fit.verification.values()),
        "interrupted": fit.interrupted,
        "missing": fit.missing,
        "separability_budget": number(fit.budget),
        "converged": bool(getattr(separator, "converged_", True)),
        **({} if fit.passes is None else {"passes": fit.passes}),
        "seconds": fit.seconds,
        "notes": notes(fit),
    }


def provenance(fit: Fit) -> dict[str, Any]:
    """What a model file tells of its data and its making."""
    parts = as_dict(fit)
    kept = ("data", "prepared", "separator", "train_accuracy", "cross_validated_accuracy")
    found = {name: parts[name] for name in kept}
    found["data"] = {**found["data"], "row_checksums": fit.table.row_digests()}
    if fit.answer is not None:
        found["separability"] = {"separable": fit.answer.separable, "explanation": verdict_of(fit.answer)}
    own = fit.cv is None or isinstance(fit.separator, MaxMarginCV)  # which has probabilities of its own
    calibration = None if own or fit.cv is None else fit.cv.answers.calibration()
    return found if calibration is None else {**found, "calibration": calibration.as_dict()}


def _folds_dict(cv: CrossValidated) -> dict[str, Any]:
    return {
        "mean": number(cv.mean),
        "standard_deviation": number(cv.spread),
        "folds": [number(value) for value in cv.folds],
        "best_of": cv.chose or 1,
    }


def compared(separator: Any) -> list[dict[str, Any]]:
    """The values of C that cross-validation compared, with their mean scores, as scikit-learn's scorers have them."""
    if not isinstance(separator, MaxMarginCV):
        return []
    means = separator.scores_.mean(axis=0).tolist()
    return [
        {"multi_class": separator.multi_class_, "C": number(C), "mean": number(mean), "taken": C == separator.C_}
        for C, mean in zip(separator.Cs_.tolist(), means, strict=True)
    ]


def answers_dict(answers: Answers) -> dict[str, Any]:
    """Scores of answers that a model gave for rows that it had not seen."""
    return {
        **{name.replace(" ", "_"): number(value) for name, value in answers.summary.items()},
        "classes": {c.name: {k: v for k, v in vars(c).items() if k != "name"} for c in answers.by_class},
        "confusion": answers.confusion.tolist(),
    }


def verdict_of(answer: Separability) -> str:
    """The verdict without the distance of a hyperplane that only decided it: the largest margin is another's."""
    if answer.separable and answer.hyperplane is not None and not answer.one_vs_rest:
        return "Linearly separable: a hyperplane classifies every row correctly."
    return str(answer)


def separability_rows(answer: Separability, everything: bool = False, brief: bool = False) -> list[tuple[str, str]]:
    """The verdict; of several classes each against the rest, and with ``everything`` each pair, the worst first."""
    rows = [("linearly separable", verdict_of(answer) if brief else str(answer))]
    if answer.one_vs_rest and (everything or len(answer.one_vs_rest) <= MOST_CLASSES):
        parts = ", ".join(f"{c}: {_YES[a.separable]}" for c, a in answer.one_vs_rest.items())
        rows.append(("each class against the rest", parts))
    if everything:
        order = sorted(
            answer.one_vs_one.items(), key=lambda item: (item[1].margin or 0.0) if item[1].separable else -1.0
        )
        rows += [(f"{a} | {b}", str(found)) for (a, b), found in order]
    return rows


def margin_rows(separator: Any, unit: str = "units of the prepared columns") -> list[tuple[str, str]]:
    """What the certificate of a model says of its margin, in words; nothing where there is none."""
    certificate = getattr(separator, "certificate_", None)
    if certificate is None:
        return []
    bounded, gaps = math.isfinite(certificate.upper), [c.gap for c in separator.certificates_]
    gap = f"{max(gaps):.1e}" if bounded and certificate.gap is not None else ""
    rows = []
    if is_soft(certificate):
        if gap:
            rows.append(("optimality gap", f"{gap} (relative duality gap of the soft margin)"))
    elif certificate.lower is not None and certificate.lower <= 0:
        rows.append(("margin achieved", "none: some rows are misclassified"))
    else:
        if certificate.lower is not None:
            rows.append(("margin achieved", f"{certificate.lower:.9g}{_measured(separator)}"))
        rows.append(("proven upper bound", f"{certificate.upper:.9g}" if bounded else "none"))
        if gap:
            rows.append(("optimality gap", gap))
        distance = getattr(separator, "geometric_margin_", math.nan)
        if distance > 0:
            rows.append(("nearest row", f"{distance_in_words(distance, unit)} from the boundary"))
    return rows + support_rows(separator)


def is_soft(certificate: Any) -> bool:
    """Return whether the certificate is about the objective of a soft margin."""
    return bool(certificate.space.delta or certificate.space.hinge)


def support_rows(separator: Any) -> list[tuple[str, str]]:
    count = support_count(separator)
    return [] if count is None else [("support vectors", f"{count:,} rows")]


def _measured(separator: Any) -> str:
    """Why the margin and the distance of the nearest row are two numbers, where they are."""
    lower, distance = separator.certificate_.lower, separator.geometric_margin_
    parts = ["the smallest of all classes"] if len(separator.certificates_) > 1 else []
    if lower is not None and f"{lower:.3g}" != f"{distance:.3g}" and distance > 0:
        if len(separator.classes_) > 2 and len(separator.certificates_) == 1:
            parts.append("that of all classes' vectors together, as if they were one")
        elif lower < distance:
            parts.append("smaller than that distance, because it counts the bias as one more feature")
    return f" ({'; '.join(parts)})" if parts else ""


def claims_in_words(certificate: Any, verification: Verification) -> str:
    """Which claims hold, in the words of a fit's output, and which do not."""
    if not verification:
        names = _SOFT_CLAIMS if is_soft(certificate) else _CLAIMS
        failed, held = (
            ", ".join(names.get(claim.split(" (")[0], claim) for claim in claims)
            for claims in ((*verification.failed, *verification.unchecked), verification.checked)
        )
        return f"FAILS: {failed}" + (f". Holds: {held}" if held else "")
    claims = {claim.split(" (")[0] for claim in verification.checked}
    bounds = {"lower", "upper"} <= claims and math.isfinite(certificate.upper)
    if is_soft(certificate):
        parts = ["the objective of this soft margin"] if bounds else []
        parts = [f"{words} is {certificate.value:.6g}, proven lower bound {certificate.bound:.6g}" for words in parts]
    else:
        parts = [f"margin achieved {certificate.lower:.9g}"] if "lower" in claims else []
        parts += [f"proven upper bound {certificate.upper:.9g}"] if bounds else []
    if "separable" in claims:
        parts.append("linearly separable" if certificate.separable else "not linearly separable")
    return ". ".join(["holds" + (f": {'; '.join(parts)}" if parts else ""), *verification.notes])


def verdict(verification: dict[str, Verification]) -> str:
    if not verification:
        return "there is none: this algorithm proves nothing"
    if all(bool(v) for v in verification.values()):
        return "holds"
    failed = {name: v for name, v in verification.items() if not v}
    return "; ".join(f"{name}: {v}" for name, v in failed.items())


def recomputed(verification: dict[str, Verification]) -> str:
    return verdict(verification) + (" (recomputed from the data)" if verification else "")


def support_count(separator: Any) -> int | None:
    """Rows with a positive multiplier, over all problems."""
    support = getattr(separator, "support_", None)
    if support is None:
        return None
    return len(np.unique(np.concatenate(support))) if isinstance(support, list) else len(support)


def largest_weights(model: Any, most: int = MOST_WEIGHTS) -> list[tuple[str, list[tuple[str, float]]]]:
    """Weights of the largest size, largest first: one list per hyperplane."""
    separator = classifier_of(model)
    coef = getattr(separator, "coef_", None)
    if coef is None:
        return []
    names, found = weight_names(model), []
    for label, w in zip(vector_names(separator), coef, strict=True):
        order = np.argsort(-np.abs(w), kind="stable")[:most]
        found.append((label, [(names[j], float(w[j])) for j in order if w[j] != 0]))
    return found


def notes(fit: Fit) -> list[str]:
    """What would help, where something would."""
    parts = list(fit.notes)
    certificate: Any = getattr(fit.separator if fit.hard is None else fit.hard, "certificate_", None)
    steep = certificate is not None and certificate.lower is not None and 0 < STEEP * certificate.lower
    if steep and not fit.options.scale and certificate.radius > STEEP * certificate.lower:
        parts.append("The margin is tiny beside the size of the rows: --scale may help.")
    if not is_complete(fit.separator):
        parts.append("The fit did not converge; the certificate tells how far it came.")
    return parts


def separability_dict(answer: Separability) -> dict[str, Any]:
    return {
        "separable": answer.separable,
        "kind": answer.kind,
        "exact": answer.exact,
        "explanation": answer.explanation,
        "margin": number(answer.margin),
        "infinite_coefficients": answer.sentence() if answer.kind == "quasi-complete" else "",
        "infeasibility_proof": None
        if answer.infeasibility_proof is None
        else {"rows": answer.infeasibility_proof.rows.tolist(), "weights": answer.infeasibility_proof.weight.tolist()},
        "one_vs_rest": {str(c): separability_dict(a) for c, a in answer.one_vs_rest.items()},
        "one_vs_one": {f"{a} | {b}": separability_dict(found) for (a, b), found in answer.one_vs_one.items()},
    }


def certificates_dict(separator: Any) -> list[dict[str, Any]]:
    return [
        {
            "lower": number(c.lower),
            "upper": number(c.upper),
            "gap": number(c.gap),
            "separable": c.separable,
            "radius": number(c.radius),
            "space": c.space._asdict(),
            "statement": str(c),
        }
        for c in separator.certificates_
    ]


def changed(separator: Any) -> str:
    """Parameters that are not the defaults."""
    defaults = {k: p.default for k, p in signature(type(separator)).parameters.items()}
    others = {k: v for k, v in separator.get_params(deep=False).items() if repr(v) != repr(defaults.get(k))}
    others |= {"C_": separator.C_} if isinstance(separator, MaxMarginCV) else {}
    return ", ".join(f"{k}={v!r}" for k, v in others.items())


def described(separator: Any) -> str:
    return f"{type(separator).__name__}({changed(separator)})"


def _plain(separator: Any) -> dict[str, Any]:
    kinds = (str, int, bool, type(None))
    chosen = {"C": separator.C_} if isinstance(separator, MaxMarginCV) else {}
    return {
        k: number(v) if isinstance(v, float) else v if isinstance(v, kinds) else str(v)
        for k, v in {**separator.get_params(), **chosen}.items()
    }


def number(value: float | None) -> float | str | None:
    """A number that JSON can hold; infinite ones as text, nan as nothing."""
    if value is None or math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else str(float(value))


def megabytes(n: int) -> str:
    return f"{n / 1e9:.2f} GB" if n >= 1e9 else f"{n / 1e6:.1f} MB"
