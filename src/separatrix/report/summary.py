"""What is said of a fit: titles, rows and values, from which text, Markdown, HTML and JSON are written."""

import math
from typing import Any

import numpy as np

from separatrix.io.model.apply import classifier_of, weight_names
from separatrix.proof.certificate import Verification
from separatrix.proof.separability import Separability
from separatrix.workflows.fitting import Fit
from separatrix.workflows.verifying import vector_names

MOST_WEIGHTS = 10
STEEP = 1e4  # R/margin from which scaling the features is worth a word


def title(fit: Fit) -> str:
    classes = [str(c) for c in fit.separator.classes_]
    asked = " or ".join(classes) if len(classes) <= 4 else f"{len(classes)} classes"
    return f"{_name(fit.table.source)} ({fit.table.n:,} rows, {counted(fit.table.d, 'feature')}): {asked}?"


def class_sizes(fit: Fit) -> dict[str, int]:
    values, counts = np.unique(fit.table.y, return_counts=True)
    return {str(v): int(c) for v, c in zip(values, counts, strict=True)}


def rows_of(fit: Fit) -> list[tuple[str, str]]:
    """The report as pairs of a label and a text."""
    separator, classes = fit.separator, class_sizes(fit)
    shown = [f"{name} {count:,}" for name, count in list(classes.items())[:6]]
    rows = [("interrupted", "this is the best that was found so far")] if fit.interrupted else []
    rows += [
        ("data", f"{fit.table.n:,} rows, {counted(fit.table.d, 'feature')}, {megabytes(fit.table.nbytes)}"),
        ("classes", ", ".join(shown) + (", ..." if len(classes) > 6 else "")),
    ]
    if fit.prepared:
        rows.append(("prepared", fit.prepared))
    rows += separability_rows(fit.answer)
    rows.append(("separator", fit.how))
    rows += certificate_rows(separator)
    rows.append(("rows on their side", f"{round(fit.train_accuracy * fit.table.n):,} of {fit.table.n:,}"))
    if fit.cv is not None:
        rows.append(("cross-validated accuracy", str(fit.cv)))
    rows.append(("certificate, recomputed from the data", verdict(fit.verification)))
    rows += work_rows(separator, fit.seconds)
    return rows


def as_dict(fit: Fit) -> dict[str, Any]:
    """The report as JSON values."""
    separator = fit.separator
    return {
        "data": {
            "source": _name(fit.table.source),
            "format": fit.table.format,
            "sha256": fit.table.digest,
            "rows": fit.table.n,
            "features": fit.table.d,
            "target": fit.table.target,
            "index_base": fit.table.base,
            "classes": class_sizes(fit),
            "bytes": fit.table.nbytes,
        },
        "prepared": fit.prepared,
        "separability": separability_dict(fit.answer),
        "separator": {"name": type(separator).__name__, "how": fit.how, "parameters": _plain(separator)},
        "certificates": certificates_dict(separator),
        "geometric_margin": number(getattr(separator, "geometric_margin_", None)),
        "support_vectors": support_count(separator),
        "largest_weights": {name: dict(pairs) for name, pairs in largest_weights(fit.model)},
        "train_accuracy": fit.train_accuracy,
        "cross_validated_accuracy": None
        if fit.cv is None
        else {
            "mean": fit.cv.mean,
            "standard_deviation": fit.cv.spread,
            "folds": fit.cv.folds,
            "best_of": fit.cv.chose or 1,
        },
        "verified": all(bool(v) for v in fit.verification.values()),
        "interrupted": fit.interrupted,
        "converged": bool(getattr(separator, "converged_", True)),
        "seconds": fit.seconds,
        "notes": notes(fit),
    }


def provenance(fit: Fit) -> dict[str, Any]:
    """What a model file tells of its data and its making."""
    told = as_dict(fit)
    kept = ("data", "prepared", "separator", "train_accuracy", "cross_validated_accuracy")
    answer = {k: told["separability"][k] for k in ("separable", "explanation")}
    return {**{name: told[name] for name in kept}, "separability": answer}


def separability_rows(answer: Separability) -> list[tuple[str, str]]:
    rows = [("linearly separable", str(answer))]
    if answer.total:
        words = {True: "yes", False: "no", None: "undecided"}
        rows.append(
            ("each class against the rest", ", ".join(f"{c}: {words[a.separable]}" for c, a in answer.total.items()))
        )
    return rows


def certificate_rows(separator: Any) -> list[tuple[str, str]]:
    certificate = separator.certificate_
    rows = []
    if certificate.lower is not None:
        several = " (smallest over the classes)" if len(separator.certificates_) > 1 else ""
        rows.append(("margin reached", f"{certificate.lower:.9g}{several}"))
    bound = f"{certificate.upper:.9g}" if math.isfinite(certificate.upper) else "nothing bounds it"
    rows.append(("no margin above", bound))
    if certificate.gap is not None and math.isfinite(certificate.upper):
        rows.append(("certified gap", f"{max(c.gap for c in separator.certificates_):.1e}"))
    rows.append(("space", certificate.space.describe()))
    margin = getattr(separator, "geometric_margin_", None)
    if margin is not None and math.isfinite(margin):
        side = " (negative: a row on the wrong side)" if margin < 0 else ""
        rows.append(("geometric margin", f"{margin:.9g}{side}"))
    count = support_count(separator)
    if count is not None:
        rows.append(("support vectors", f"{count:,}"))
    return rows


def work_rows(separator: Any, seconds: float) -> list[tuple[str, str]]:
    rows = []
    if hasattr(separator, "solver_"):
        rows.append(("solver", separator.solver_))
    done = []
    if hasattr(separator, "n_passes_"):
        done.append(f"{separator.n_passes_:.0f} passes over the data")
    if hasattr(separator, "n_updates_"):
        done.append(f"{separator.n_updates_:,} updates in {counted(separator.n_epochs_, 'epoch')}")
    rows.append(("time", ", ".join([f"{seconds:.2f} s", *done])))
    return rows


def verdict(verification: dict[str, Verification]) -> str:
    if all(bool(v) for v in verification.values()):
        return "holds"
    failed = {name: v for name, v in verification.items() if not v}
    return "; ".join(f"{name}: {v}" for name, v in failed.items())


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
    certificate, told = fit.separator.certificate_, []
    lower = certificate.lower
    if not fit.options.scale and lower is not None and lower > 0 and certificate.radius > STEEP * lower:
        told.append("The margin is tiny beside the size of the rows: --scale may help.")
    if not getattr(fit.separator, "converged_", True):
        told.append("The fit did not converge; the certificate tells how far it came.")
    return told


def separability_dict(answer: Separability) -> dict[str, Any]:
    return {
        "separable": answer.separable,
        "kind": answer.kind,
        "exact": answer.exact,
        "explanation": answer.explanation,
        "margin": number(answer.margin),
        "witness": None
        if answer.gordan is None
        else {"rows": answer.gordan.rows.tolist(), "weights": answer.gordan.weight.tolist()},
        "against_the_rest": {str(c): separability_dict(a) for c, a in answer.total.items()},
        "pairwise": {f"{a} | {b}": separability_dict(found) for (a, b), found in answer.pairwise.items()},
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


def _plain(separator: Any) -> dict[str, Any]:
    kinds = (str, int, bool, type(None))
    return {
        k: number(v) if isinstance(v, float) else v if isinstance(v, kinds) else str(v)
        for k, v in separator.get_params().items()
    }


def number(value: float | None) -> float | str | None:
    """A number that JSON can hold; infinite ones as text, nan as nothing."""
    if value is None or math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else str(float(value))


def counted(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def megabytes(n: int) -> str:
    return f"{n / 1e9:.2f} GB" if n >= 1e9 else f"{n / 1e6:.1f} MB"


def _name(source: str) -> str:
    name = source.replace("\\", "/").rsplit("/", 1)[-1]
    return name[:1].upper() + name[1:] if name == "breast cancer" else name
