"""Whether certificates are about what predicts: else a true proof would stand beside a model that predicts anything."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.certificates.certificate import Certificate, Verification
from separatrix.certificates.certify import joint_certificate
from separatrix.passes.binary_problems import pairs
from separatrix.space import Space

ROUNDING, SCALING = 1e-9, 1e-14  # of a margin, and of the radius: what rounding the vector that predicts may cost
UNPROVED = "Nothing is proved of what predicts: it is no vector that a certificate is about"
Judge = Callable[..., Verification]


def against_the_rest(separator: Any) -> bool:
    """Whether its certificates are about each class against the rest."""
    first, count = separator.certificates_[0], len(separator.classes_)
    return count > 2 and len(separator.certificates_) == count and first.class_pair is None and first.n_classes == 2


def problem_names(separator: Any) -> list[str]:
    """What each certificate is about: two classes, each class against the rest, each pair, or one machine for all."""
    classes, certificates = separator.classes_, separator.certificates_
    names: list[str] = []
    for k, certificate in enumerate(certificates):
        pair = certificate.class_pair or (classes if len(classes) == 2 else None)
        if pair is not None:
            name = f"{pair[1]} against {pair[0]}"
        elif against_the_rest(separator):
            name = f"{classes[k]} against the rest"
        else:
            name = "all classes by one machine"
        names.append(f"{name} ({k + 1})" if name in names else name)  # classes may be called anything
    return names


def misfit(separator: Any) -> str:
    """How certificates, classes and the way of predicting contradict each other; "" if they do not."""
    claims, classes = separator.certificates_, separator.classes_.tolist()
    if not type(separator).__module__.startswith("separatrix."):
        return f"a {type(separator).__name__} has no certificate of its own"
    if len({type(c) for c in classes}) != 1 or not all(a < b for a, b in pairwise(classes)):
        return "its classes are not of one type and in order"
    count, between = len(classes), [c.class_pair for c in claims]
    class_pairs = [(classes[i], classes[j]) for i, j in pairs(count)]
    shapes = {  # how it predicts: what its certificates are about
        "ovo": between == class_pairs and all(c.n_classes == 2 for c in claims),
        "ovr": against_the_rest(separator),
        "joint": len(claims) == 1 and between == [None] and claims[0].n_classes == count,
    }
    if count == 2:
        fits = len(claims) == 1 and claims[0].n_classes == 2 and between[0] in (None, class_pairs[0])
    else:
        fits = shapes.get(getattr(separator, "multi_class_", ""), any(shapes.values()))
    if not fits:
        return "its certificates are not those of its classes"
    parts, joint = getattr(separator, "certificate_", None), joint_certificate(claims)
    same = isinstance(parts, Certificate) and all(
        getattr(parts, name) == getattr(joint, name) for name in ("lower", "upper", "separable", "radius", "space")
    )
    return "" if same else "the certificate that it shows is another than those that are checked"


def about_what_predicts(separator: Any, X: Any, y: np.ndarray, judge: Judge) -> dict[str, Verification] | None:
    """The claims about a vector, of the vectors that predict: None where it does not predict by such.

    ``lower`` may be missed by what rounding costs. ``separable`` may not.
    """
    own: dict[str, Verification] = {}
    kernel = "_kernel_" in vars(separator)
    if not kernel and "coef_" not in vars(separator):
        return None
    rest, row = against_the_rest(separator), 0
    for k, (name, claim) in enumerate(zip(problem_names(separator), separator.certificates_, strict=True)):
        labels = y == separator.classes_[k] if rest else y
        if claim.lower is None and claim.separable is not True:
            return None
        count = claim.n_classes if claim.n_classes > 2 else 1
        if kernel:
            asked = _by_kernel(separator, k, claim, X, labels)
        else:
            rows = slice(row, row + count)
            asked = _by_hyperplane(claim, separator.coef_[rows], separator.intercept_[rows])
            row += count
        for one in asked if asked is not None else []:
            found = judge(one, X, labels)
            if not found:
                own[name] = found
        if asked is None:
            own[name] = Verification((), ("what predicts is no vector of the certificate's space",), ())
    if not kernel and row != len(separator.coef_):
        own["the model"] = Verification((), (f"{len(separator.coef_)} vectors predict, {row} are certified",), ())
    return own


def _bare(claim: Certificate, direction: np.ndarray, **claims: Any) -> Certificate:
    """Only claims about a direction."""
    empty = {"upper": np.inf, "alpha": None, "alpha_index": None, "slack_vector": None, "radius": None}
    return replace(claim, direction=direction, **{"lower": None, "separable": None, **empty, **claims})


def _space(claim: Certificate) -> Space:
    """Where slack has a price, what counts is the objective of the vector that predicts, not of a multiple of it."""
    return claim.space._replace(fixed_length=claim.space.weighted)


def _reached(claim: Certificate) -> float | None:
    if claim.lower is None:
        return None
    return claim.lower - ROUNDING * abs(claim.lower) - SCALING * (claim.radius or 0.0)


def _by_hyperplane(claim: Certificate, coef: np.ndarray, intercept: np.ndarray) -> list[Certificate] | None:
    space, asked = claim.space, []
    if space.rho == 0 and np.any(intercept != 0):
        return None
    if claim.lower is not None:
        joined = np.concatenate([space.join(w, b) for w, b in zip(coef, intercept, strict=True)])
        asked.append(_bare(claim, joined, lower=_reached(claim), space=_space(claim)))
    if claim.separable is True:
        plain = np.column_stack([coef, intercept]).ravel()
        asked.append(_bare(claim, plain, separable=True, space=Space(1.0)))
    return asked


def _by_kernel(separator: Any, k: int, claim: Certificate, X: Any, y: np.ndarray) -> list[Certificate] | None:
    """The vector is a combination of rows, which have to be those of the data."""
    weight = claim.sample_weight
    part = np.ones(len(y), dtype=bool) if weight is None else np.asarray(weight) > 0
    if claim.class_pair is not None:
        part &= np.isin(y, list(claim.class_pair))
    kept, support, beta = np.flatnonzero(part), np.asarray(separator.support_), np.asarray(separator.dual_coef_[k])
    used = beta != 0
    if claim.kernel is None or claim.kernel != separator._kernel_ or not np.all(np.isin(support[used], kept)):
        return None
    if claim.kernel.name != "precomputed":
        rows, parts = (
            M.toarray() if sp.issparse(M) else np.asarray(M) for M in (X[support], separator.support_vectors_)
        )
        if rows.shape != parts.shape or not np.array_equal(rows, parts):
            return None
    vector = np.zeros(len(kept) + 1)
    vector[np.searchsorted(kept, support[used])] = beta[used]
    constant = 0.0 if claim.space.free else claim.space.rho**2
    bias = float(separator.intercept_[k]) - constant * beta.sum()
    size = abs(float(separator.intercept_[k])) + constant * np.abs(beta).sum()
    if not claim.space.free:
        if abs(bias) > ROUNDING * size:
            return None
        bias = 0.0
    vector[-1] = bias
    separable = True if claim.separable is True else None
    return [_bare(claim, vector, lower=_reached(claim), separable=separable, space=_space(claim))]
