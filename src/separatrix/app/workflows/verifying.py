"""The proof again, from the data alone: the claims that a fitted separator makes, each with what it is about."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.app.saved_models import prepared, read_classifier, read_for, used
from separatrix.app.tables.table import Table
from separatrix.app.workflows.own_claims import UNPROVED, about_what_predicts, against_the_rest, misfit, problem_names
from separatrix.certificates.certificate import Certificate, Verification
from separatrix.certificates.verification import verify_apart
from separatrix.errors import DataError
from separatrix.persistence.files import classifier_of


@dataclass(frozen=True)
class Verified:
    """What was recomputed: whether the data are those of the fit, and every claim."""

    table: Table
    same_data: bool
    differing: int | None  # rows that are not among those of the fit, None if that is not known
    fitted_rows: int | None
    reordered: bool  # they are the rows of the fit in another order
    left_out: int  # rows that a certificate gives the weight 0: it says nothing of them
    claims: dict[str, Verification]
    separator: Any  # whose claims they are
    notes: tuple[str, ...] = ()  # what a reader has to know besides

    @property
    def holds(self) -> bool:
        return bool(self.claims) and all(bool(v) for v in self.claims.values())


def verify(model: str | Path, data: Any, independent: bool = False, **reading: Any) -> Verified:
    """Prove the certificate of a model file again; options as in `read_table`.

    ``independent``: by a process that runs certificates/checker.py and has nothing else of this library.
    """
    file = read_classifier(model, certified=True)
    with used(model):
        table = read_for(file, data, labels="optional", **reading)
        if table.y is None:
            raise DataError(f"{table.source} has no column {table.target!r} with the labels: name it with --target.")
        separator = classifier_of(file.model)
        words, known = label_words(table.y), label_words(separator.classes_)
        unknown = np.setdiff1d(words, known)
        if len(unknown):
            raise DataError(f"{table.source} has rows of the class {unknown[0]}, which the model does not know.")
        absent = np.setdiff1d(known, words)
        if len(absent):
            raise DataError(
                f"{table.source} has no rows of the class {absent[0]}: the certificate is about all classes."
            )
        X, y = prepared(file.model, table.X), known_labels(separator.classes_, table.y)
        judge = verify_apart if independent else Certificate.verify
        claims, notes = verified(separator, X, y, judge), tuple(table.notes)
        wrong = misfit(separator)
        own = {} if wrong else about_what_predicts(separator, X, y, judge)
        if wrong:
            claims["the model"] = Verification((), (wrong,), ())
        elif own is None:
            notes += (UNPROVED,)
        else:
            claims |= {f"{name}, by what predicts": found for name, found in own.items()}
        weights = [c.sample_weight for c in separator.certificates_ if c.sample_weight is not None]
        left_out = max((int(np.sum(np.asarray(w) == 0)) for w in weights), default=0)
    origin = file.provenance.get("data") or {}
    same, rows = origin.get("sha256") == table.digest, origin.get("rows")
    found, fitted = table.row_digests(), origin.get("row_checksums") or []
    differing = 0 if same else sum((Counter(found) - Counter(fitted)).values()) if found and fitted else None
    reordered = differing == 0 and not same and len(found) == len(fitted) and found != fitted
    return Verified(table, same, differing, rows, reordered, left_out, claims, separator, notes)


def vector_names(separator: Any) -> list[str]:
    """What speaks for what each weight vector points to."""
    if len(separator.coef_) == 1:
        return [str(separator.classes_[1])]
    if not hasattr(separator, "certificates_"):  # several vectors for each class
        return [f"{separator.classes_[k]}, a piece of it" for k in separator.owners_]
    names = problem_names(separator)
    pairs = len(names) == len(separator.coef_) and not against_the_rest(separator)
    return names if pairs else [str(c) for c in separator.classes_]


def label_words(labels: np.ndarray) -> np.ndarray:
    """Labels as they read, whatever type a file gives them: 2 is "2", as an integer, a float or a text."""
    if labels.dtype.kind == "f" and np.all(np.abs(labels) < 2.0**53) and np.all(labels == np.round(labels)):
        labels = labels.astype(np.int64)
    return labels.astype(str)


def known_labels(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The labels as the model has them; every one reads as one of the classes does.

    The classes' own order is what their certificates are about: 2 comes before 10, and "10" before "2".
    """
    words = label_words(classes)
    order = np.argsort(words)
    return classes[order[np.searchsorted(words, label_words(y), sorter=order)]]


def verified(
    separator: Any, X: Any, y: np.ndarray, judge: Callable[..., Verification] | None = None
) -> dict[str, Verification]:
    """Every claim, recomputed from the data alone: that of one class against the rest is about two labels.

    None where there is no certificate, as of a machine whose problem is not convex. Without a judge the claims are of a
    fit to these rows, and a pair of classes is checked with its rows alone: of many classes they are few.
    """
    found: dict[str, Verification] = {}
    if separator is None or not hasattr(separator, "certificates_"):
        return found
    rest = against_the_rest(separator)
    classes, codes = np.unique(y, return_inverse=True)
    codes, known = codes.astype(np.min_scalar_type(len(classes))), classes.tolist()
    for k, (name, claim) in enumerate(zip(problem_names(separator), separator.certificates_, strict=True)):
        labels = y == separator.classes_[k] if rest else y
        if judge is not None:
            found[name] = judge(claim, X, labels)
        elif claim.class_pair is None or claim.kernel is not None:
            found[name] = claim.verify(X, labels)
        else:
            i, j = map(known.index, claim.class_pair)
            rows = np.flatnonzero((codes == i) | (codes == j))
            found[name] = _with_rows(claim, rows).verify(X[rows], y[rows])
    return found


def _with_rows(claim: Certificate, rows: np.ndarray) -> Certificate:
    """The certificate for a table of these rows alone, which are all that take part."""
    index, weight = claim.alpha_index, claim.sample_weight
    return replace(
        claim,
        alpha_index=None if index is None else np.searchsorted(rows, index),
        sample_weight=None if weight is None else np.asarray(weight)[rows],
    )
