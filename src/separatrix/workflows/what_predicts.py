"""Whether the certificates of a model are about what it predicts with: a proof about something else proves nothing.

A model may come from elsewhere, so nothing of it is taken for granted: its classes and their order, how many problems
it has and between whom, and the vectors themselves, which may differ from those of the certificates by a positive
factor and by what rounding leaves of it.
"""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from separatrix.patterns.binary_problems import pairs
from separatrix.proof.certificate import Certificate, Verification
from separatrix.proof.certify import joint_certificate

ROUNDED = 1e-12  # by which a number may differ from its fellow, as a part of it
SUMMED = 1e-9  # the same for an intercept that is a sum over rows, as a part of the sum of their sizes
EXACTLY = ("lower", "upper", "separable", "radius", "space")  # of several claims together


def about_what_predicts(separator: Any, X: Any, y: np.ndarray) -> Verification:
    """``X``, ``y``: the data as the separator sees them, the labels among its classes."""
    wrong = _form(separator)
    if wrong is not None:
        return Verification((), (wrong,), ())
    notes: tuple[str, ...] = ()
    if "voters_" in separator._predicting:
        notes = ("It predicts by votes of all its vectors; the certificate speaks of the last of them",)
        tied = None
    elif "_kernel_" in separator._predicting:
        tied = _kernel_vectors(separator, X, y)
    else:
        tied = _vectors(separator)
    if any(c.direction is None for c in separator.certificates_):
        notes += ("Of a vector that predicts nothing is claimed",)
    if tied is not None:
        return Verification((), (tied,), (), notes)
    return Verification(("the certificates are about what predicts",), (), (), notes)


def with_own_vector(separator: Any, k: int) -> Certificate | None:
    """The claim that a hyperplane separates, by the vector itself that predicts; None where there is no such claim."""
    claim = separator.certificates_[k]
    if "coef_" not in vars(separator) or claim.direction is None or claim.separable is not True:
        return None
    planes = _planes(separator)
    planes = planes if claim.categories > 2 else planes[k : k + 1]
    if claim.space.rho == 0 and np.any(planes[:, -1]):
        return replace(claim, direction=np.zeros_like(claim.direction))  # an intercept that the space has not
    own = np.concatenate([claim.space.join(plane[:-1], plane[-1]) for plane in planes])
    if np.array_equal(own, claim.direction):
        return None
    bare = Certificate(None, np.inf, True, claim.space._replace(delta=0.0, hinge=0.0), claim.radius, own)
    return replace(bare, sample_weight=claim.sample_weight, categories=claim.categories, between=claim.between)


def kind_of(separator: Any) -> str:
    """ "two", "ovr", "ovo" or "kesler": what its certificates are about."""
    return "two" if len(separator.classes_) == 2 else separator._fitted_as()


def _form(separator: Any) -> str | None:
    """What is wrong with classes, number and order of the problems."""
    classes, claims = separator.classes_, separator.certificates_
    if type(separator).__module__.split(".")[0] != "separatrix" or not hasattr(separator, "_fitted_as"):
        return f"a {type(separator).__name__} predicts, of which the certificates do not speak"
    if classes.ndim != 1 or len(classes) < 2 or len({type(c) for c in classes.tolist()}) != 1:
        return "its classes are not labels of one type"
    if not all(a < b for a, b in zip(classes.tolist(), classes.tolist()[1:], strict=False)):
        return "its classes are not in their order"
    kind = kind_of(separator)
    duels = [(classes.tolist()[i], classes.tolist()[j]) for i, j in pairs(len(classes))]
    problems: dict[str, list[tuple[Any, int]]] = {
        "two": [(None, 2)],
        "ovr": [(None, 2)] * len(classes),
        "ovo": [(duel, 2) for duel in duels],
        "kesler": [(None, len(classes))],
    }
    found = [(c.between, c.categories) for c in claims]
    if found != problems.get(kind) and not (kind == "two" and found == [(duels[0], 2)]):
        return "its certificates are not one for each of its problems, in their order"
    whole, joint = separator.certificate_, joint_certificate(claims)
    if any(getattr(whole, f.name) != getattr(joint, f.name) for f in fields(joint) if f.name in EXACTLY):
        return "the certificate that it shows is not that of its problems together"
    return None


def _planes(separator: Any) -> np.ndarray:
    return np.column_stack([separator.coef_, separator.intercept_])


def _vectors(separator: Any) -> str | None:
    """What is wrong with coef_ and intercept_."""
    planes, claims = _planes(separator), separator.certificates_
    machine = claims[0].categories
    if len(planes) != (machine if machine > 2 else len(claims)):
        return "it has another number of vectors than its certificates"
    for k, claim in enumerate(claims):
        if claim.direction is None:
            continue
        own = planes.ravel() if machine > 2 else planes[k]
        parts = [claim.space.split(a) for a in claim.direction.reshape(-1, planes.shape[1])]
        if not _same(own, np.concatenate([np.append(w, b) for w, b in parts])):
            return "its hyperplane is another than that of the certificate"
    return None


def _kernel_vectors(separator: Any, X: Any, y: np.ndarray) -> str | None:
    """What is wrong with the multiples of rows, the rows themselves, and the kernel."""
    support, n = separator.support_, len(y)
    if support.ndim != 1 or np.any(np.diff(support) <= 0) or np.any((support < 0) | (support >= n)):
        return "its support vectors are no rows of these data"
    if separator.support_vectors_.shape[1]:
        rows = X[support]
        rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
        own = separator.support_vectors_
        own = own.toarray() if hasattr(own, "toarray") else np.asarray(own)
        if not np.array_equal(rows.astype(np.float64), own.astype(np.float64)):
            return "its support vectors are not those rows of these data"
    classes = separator.classes_
    for k, claim in enumerate(separator.certificates_):
        if claim.kernel != separator._kernel_:
            return "its kernel is another than that of the certificate"
        if claim.direction is None:
            continue
        part = np.ones(n, dtype=bool) if claim.sample_weight is None else np.asarray(claim.sample_weight) > 0
        if claim.between is not None:
            i, j = pairs(len(classes))[k]
            part &= (y == classes[i]) | (y == classes[j])
        if part.sum() != len(claim.direction) - 1:
            return "its certificate is about another number of rows"
        beta = np.zeros(n)
        beta[part] = claim.direction[:-1]
        own, bias = np.zeros(n), float(separator.intercept_[k])
        own[support] = separator.dual_coef_[k]
        if not _same(own, beta):
            return "its multiples of rows are others than those of the certificate"
        rho2 = 0.0 if claim.space.free else claim.space.rho**2
        largest = int(np.argmax(np.abs(beta)))
        factor = own[largest] / beta[largest] if beta[largest] else 1.0
        size = factor * (rho2 * np.abs(beta).sum() + abs(claim.direction[-1]))
        if not abs(bias - factor * (rho2 * beta.sum() + claim.direction[-1])) <= SUMMED * size:
            return "its intercept is another than that of the certificate"
    return None


def _same(own: np.ndarray, claimed: np.ndarray) -> bool:
    """The same up to a positive factor, every number to its own last digits, whatever the sizes of the others are."""
    if own.shape != claimed.shape or not (np.all(np.isfinite(own)) and np.all(np.isfinite(claimed))):
        return False
    a, b = own.astype(np.longdouble), claimed.astype(np.longdouble)  # whose exponents do not overflow here
    if not (np.any(a) and np.any(b)):
        return not (np.any(a) or np.any(b))
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return bool(np.all(np.abs(a - b) <= ROUNDED * np.minimum(np.abs(a), np.abs(b))))
