"""The claims that a fitted separator makes, each with the data that it is about."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.errors import ModelError
from separatrix.proof.certificate import Certificate, Verification
from separatrix.proof.verification import verify_apart


class Claim(NamedTuple):
    """A certificate and the binary problem that it speaks of."""

    name: str
    certificate: Certificate
    X: Any
    y: np.ndarray

    def verify(self, independent: bool = False) -> Verification:
        return (
            verify_apart(self.certificate, self.X, self.y) if independent else self.certificate.verify(self.X, self.y)
        )


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


def claims(separator: Any, X: Any, y: np.ndarray) -> list[Claim]:
    """One claim per certificate. A certificate of one class against the rest is about two labels, others about all.

    A margin that is said to be reached is claimed of the vector that predicts, whatever the certificate calls it.
    """
    c, found = len(separator.classes_), []
    if len(separator.certificates_) not in (1, c, c * (c - 1) // 2):
        raise ModelError(f"The model has {len(separator.certificates_)} certificates for {c} classes.")
    for k, (name, certificate) in enumerate(zip(problem_names(separator), separator.certificates_, strict=True)):
        rest = name.endswith(" against the rest")
        claim = _of_what_predicts(separator, certificate, k)
        found.append(Claim(name, claim, X, y == separator.classes_[k] if rest else y))
    return found


def _of_what_predicts(separator: Any, certificate: Certificate, k: int) -> Certificate:
    if certificate.lower is None or certificate.kernel is not None or not hasattr(separator, "coef_"):
        return certificate
    rows = slice(None) if certificate.categories > 2 else slice(k, k + 1)
    w, b = np.asarray(separator.coef_)[rows], np.ravel(separator.intercept_)[rows]
    try:
        vectors = [certificate.space.join(*plane) for plane in zip(w, b, strict=True)]
    except ValueError as error:
        raise ModelError(f"The model's intercept is not one of its certificate's space: {error}") from error
    return replace(certificate, direction=np.concatenate(vectors))


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


def verified(separator: Any, X: Any, y: np.ndarray, independent: bool = False) -> dict[str, Verification]:
    """Every claim, decided from the data alone; ``independent``: by a process that runs nothing but the checker."""
    return {claim.name: claim.verify(independent) for claim in claims(separator, X, y)}
