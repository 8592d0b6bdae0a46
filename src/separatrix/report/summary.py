"""What is said of a fit: one structure, from which text, Markdown, HTML and JSON are written."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.io.data.table import Table
from separatrix.io.model.apply import separator_of, weight_names
from separatrix.proof.certificate import Verification
from separatrix.proof.separability import Separability
from separatrix.report.proof_words import problem_names

MOST_WEIGHTS = 10
STEEP = 1e4  # R/margin from which scaling the features is worth a word


@dataclass
class Accuracy:
    """Accuracies of the folds of a cross-validation; ``chose``: the best of so many values of C, chosen by it."""

    folds: list[float]
    chose: int = 0

    @property
    def mean(self) -> float:
        return float(np.mean(self.folds))

    @property
    def spread(self) -> float:
        return float(np.std(self.folds))

    def __str__(self) -> str:
        best = f", the best of {self.chose} values of C" if self.chose else ""
        return f"{100 * self.mean:.1f}% ± {100 * self.spread:.1f} ({len(self.folds)} folds{best})"


@dataclass
class Summary:
    """A fit, told."""

    table: Table
    model: Any
    answer: Separability | None
    how: str
    prepared: str
    train_accuracy: float
    cv: Accuracy | None
    verification: dict[str, Verification]
    seconds: float
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def separator(self) -> Any:
        return separator_of(self.model)

    @property
    def title(self) -> str:
        classes = [str(c) for c in self.separator.classes_]
        asked = " or ".join(classes) if len(classes) <= 4 else f"{len(classes)} classes"
        return f"{_name(self.table.source)} ({self.table.n:,} rows, {counted(self.table.d, 'feature')}): {asked}?"

    @property
    def classes(self) -> dict[str, int]:
        values, counts = np.unique(self.table.y, return_counts=True)
        return {str(v): int(c) for v, c in zip(values, counts, strict=True)}

    def weights(self) -> list[tuple[str, list[tuple[str, float]]]]:
        """The largest weights, by class if there are several hyperplanes."""
        return largest_weights(self.model)

    def rows(self) -> list[tuple[str, str]]:
        """The report as pairs of a label and a text."""
        separator = self.separator
        shown = [f"{name} {count:,}" for name, count in list(self.classes.items())[:6]]
        rows = [("interrupted", "this is the best that was found so far")] if self.interrupted else []
        rows += [
            ("data", f"{self.table.n:,} rows, {counted(self.table.d, 'feature')}, {megabytes(self.table.nbytes)}"),
            ("classes", ", ".join(shown) + (", ..." if len(self.classes) > 6 else "")),
        ]
        if self.prepared:
            rows.append(("prepared", self.prepared))
        if self.answer is not None:
            rows += separability_rows(self.answer)
        rows.append(("separator", self.how))
        rows += certificate_rows(separator)
        rows.append(("rows on their side", f"{round(self.train_accuracy * self.table.n):,} of {self.table.n:,}"))
        if self.cv is not None:
            rows.append(("cross-validated accuracy", str(self.cv)))
        rows.append(("certificate, recomputed from the data", verdict(self.verification)))
        rows += work_rows(separator, self.seconds)
        return rows

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        separator = self.separator
        return {
            "data": {
                "source": _name(self.table.source),
                "format": self.table.format,
                "sha256": self.table.digest,
                "rows": self.table.n,
                "features": self.table.d,
                "target": self.table.target,
                "index_base": self.table.base,
                "classes": self.classes,
                "bytes": self.table.nbytes,
            },
            "prepared": self.prepared,
            "separability": None if self.answer is None else separability_dict(self.answer),
            "separator": {"name": type(separator).__name__, "how": self.how, "parameters": _plain(separator)},
            "certificates": certificates_dict(separator),
            "geometric_margin": number(getattr(separator, "geometric_margin_", None)),
            "support_vectors": support_count(separator),
            "largest_weights": {name: dict(pairs) for name, pairs in self.weights()},
            "train_accuracy": self.train_accuracy,
            "cross_validated_accuracy": None
            if self.cv is None
            else {
                "mean": self.cv.mean,
                "standard_deviation": self.cv.spread,
                "folds": self.cv.folds,
                "best_of": self.cv.chose or 1,
            },
            "verified": all(bool(v) for v in self.verification.values()),
            "interrupted": self.interrupted,
            "converged": bool(getattr(separator, "converged_", True)),
            "seconds": self.seconds,
            "notes": self.notes,
        }


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
    separator = separator_of(model)
    coef = getattr(separator, "coef_", None)
    if coef is None:
        return []
    names, found = weight_names(model), []
    for label, w in zip(_vector_names(separator), coef, strict=True):
        order = np.argsort(-np.abs(w), kind="stable")[:most]
        found.append((label, [(names[j], float(w[j])) for j in order if w[j] != 0]))
    return found


def _vector_names(separator: Any) -> list[str]:
    """What speaks for what each weight vector points to."""
    if len(separator.coef_) == 1:
        return [str(separator.classes_[1])]
    names = problem_names(separator)
    pairs = len(names) == len(separator.coef_) and not names[0].endswith(" against the rest")
    return names if pairs else [str(c) for c in separator.classes_]


def advice(separator: Any, scaled: bool) -> list[str]:
    """What would help, where something would."""
    certificate, notes = separator.certificate_, []
    lower = certificate.lower
    if not scaled and lower is not None and lower > 0 and certificate.radius > STEEP * lower:
        notes.append("The margin is tiny beside the size of the rows: --scale may help.")
    if not getattr(separator, "converged_", True):
        notes.append("The fit did not converge; the certificate tells how far it came.")
    return notes


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
