"""The proof again, from the data alone: the claims that a fitted separator makes, each with what it is about."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.io.data.table import Table
from separatrix.io.model.apply import classifier_of, prepared, read_classifier, read_for, used
from separatrix.proof.certificate import Certificate, Verification
from separatrix.proof.verification import verify_apart


@dataclass(frozen=True)
class Verified:
    """What was recomputed: whether the data are those of the fit, and every claim."""

    table: Table
    same_data: bool
    left_out: int  # rows that a certificate gives the weight 0: it says nothing of them
    claims: dict[str, Verification]
    separator: Any  # whose claims they are

    @property
    def holds(self) -> bool:
        return bool(self.claims) and all(bool(v) for v in self.claims.values())


def verify(model: str | Path, data: Any, independent: bool = False, **reading: Any) -> Verified:
    """Prove the certificate of a model file again; options as in `read_table`.

    ``independent``: by a process that runs proof/checker.py and has nothing else of this library.
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
        claims = verified(separator, X, y, verify_apart if independent else Certificate.verify)
        if not _about_its_own(separator):
            claims["the model"] = Verification((), ("its hyperplane is another than that of the certificate",), ())
        weights = [c.sample_weight for c in separator.certificates_ if c.sample_weight is not None]
        left_out = max((int(np.sum(np.asarray(w) == 0)) for w in weights), default=0)
    same = (file.provenance.get("data") or {}).get("sha256") == table.digest
    return Verified(table, same, left_out, claims, separator)


def _about_its_own(separator: Any) -> bool:
    """Whether the certificates are about the vectors that a linear separator predicts with, up to their lengths."""
    directions = [c.direction for c in separator.certificates_]
    if "coef_" not in vars(separator) or any(a is None for a in directions):
        return True
    own, claimed = [], []
    rows = iter(np.column_stack([separator.coef_, separator.intercept_]))
    for certificate, direction in zip(separator.certificates_, directions, strict=True):
        vectors = direction.reshape(-1, separator.coef_.shape[1] + 1)  # one, or those of a machine
        claimed.append(_unit([np.append(*certificate.space.split(a)) for a in vectors]))
        own.append(_unit([next(rows) for _ in vectors]))
    return next(rows, None) is None and np.allclose(np.vstack(own), np.vstack(claimed), rtol=0.0, atol=1e-9)


def _unit(vectors: list[np.ndarray]) -> np.ndarray:
    return np.array(vectors) / (np.linalg.norm(vectors) or 1.0)


def problem_names(separator: Any) -> list[str]:
    """What each certificate is about: two classes, each class against the rest, each pair, or one machine for all."""
    classes, certificates = separator.classes_, separator.certificates_
    names = []
    for k, certificate in enumerate(certificates):
        pair = certificate.between or (classes if len(classes) == 2 else None)
        if pair is not None:
            names.append(f"{pair[1]} against {pair[0]}")
        elif len(certificates) == len(classes):
            names.append(f"{classes[k]} against the rest")
        else:
            names.append("all classes by one machine")
    return names


def vector_names(separator: Any) -> list[str]:
    """What speaks for what each weight vector points to."""
    if len(separator.coef_) == 1:
        return [str(separator.classes_[1])]
    if not hasattr(separator, "certificates_"):  # several vectors for each class
        return [f"{separator.classes_[k]}, a piece of it" for k in separator.owners_]
    names = problem_names(separator)
    pairs = len(names) == len(separator.coef_) and not names[0].endswith(" against the rest")
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
    separator: Any, X: Any, y: np.ndarray, judge: Callable[..., Verification] = Certificate.verify
) -> dict[str, Verification]:
    """Every claim, recomputed from the data alone: that of one class against the rest is about two labels.

    None where there is no certificate, as of a machine whose problem is not convex.
    """
    found: dict[str, Verification] = {}
    if separator is None or not hasattr(separator, "certificates_"):
        return found
    for k, (name, certificate) in enumerate(zip(problem_names(separator), separator.certificates_, strict=True)):
        labels = y == separator.classes_[k] if name.endswith(" against the rest") else y
        found[name] = judge(certificate, X, labels)
    return found
