"""The claims that a fitted separator makes, each with the data that it is about."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from separatrix.certificate import Certificate, Verification


class Claim(NamedTuple):
    """A certificate and the binary problem that it speaks of."""

    name: str
    certificate: Certificate
    X: Any
    y: np.ndarray

    def verify(self) -> Verification:
        return self.certificate.verify(self.X, self.y, exact=True)


def claims(separator: Any, X: Any, y: np.ndarray) -> list[Claim]:
    """One claim per binary problem: two classes, each class against the rest, or each pair.

    A certificate of another kind of machine stands without a problem that could be written with two labels; it makes
    no claim here, and `verified` says so.
    """
    classes, certificates = separator.classes_, getattr(separator, "certificates_", [separator.certificate_])
    if len(classes) == 2 and len(certificates) == 1:
        return [Claim(f"{classes[1]} against {classes[0]}", certificates[0], X, y == classes[1])]
    if len(certificates) == len(classes) and getattr(separator, "multi_class", "ovr") == "ovr":
        return [Claim(f"{c} against the rest", p, X, y == c) for c, p in zip(classes, certificates, strict=True)]
    pairs = list(combinations(classes, 2))
    if len(certificates) == len(pairs) and getattr(separator, "multi_class", "ovr") == "ovo":
        found = []
        for (a, b), certificate in zip(pairs, certificates, strict=True):
            rows = np.flatnonzero((y == a) | (y == b))
            found.append(Claim(f"{b} against {a}", certificate, X[rows], y[rows] == b))
        return found
    return []


def verified(separator: Any, X: Any, y: np.ndarray) -> dict[str, Verification]:
    """Every claim, recomputed from the data alone."""
    found = claims(separator, X, y)
    if not found:
        text = f"the certificate of {type(separator).__name__} with these parameters"
        return {"certificate": Verification((), (), (text,))}
    return {claim.name: claim.verify() for claim in found}
