"""The margin of the vector that predicts lies between the bounds of its certificate: random fits of the estimators that
certify a margin, judged by formulas that share nothing with the package. `test_returned_vectors` has those that certify
an objective."""

from collections import Counter

import numpy as np
import pytest
from cases import ESTIMATORS
from oracle_objective import EPS, SLACK, labels, problems_of, source, table, weights
from scipy.optimize import nnls

from separatrix import DataError, UnavailableError

EACH = 500
APART = ("MaxMargin", "MaxMarginCV", "VotedPerceptron")  # an objective is certified, or there is no coef_
OTHERS = [cls for cls in ESTIMATORS if cls.__name__ not in APART]
FITS = 2 * len(OTHERS)


def augmented(X, l, rho):
    return l[:, None] * np.column_stack([X, np.full(len(X), rho)])


def rivals(X, codes, classes, rho):
    """The patterns of one machine for all classes: a row in the block of its class, less itself in that of a rival."""
    x = np.column_stack([X, np.full(len(X), rho)])
    kept = np.eye(classes)
    blocks = [
        np.kron(kept[i] - kept[j], row) for row, i in zip(x, codes, strict=True) for j in range(classes) if j != i
    ]
    return np.array(blocks)


def reached(Y, a, delta):
    """The margin of a in the extended space, J^(-1/2) of its best multiple, and its rounding error."""
    length = np.linalg.norm(a)
    if length == 0:
        return (0.0 if not delta else delta / np.sqrt(len(Y))), 0.0
    margins, error = Y @ (a / length), SLACK * EPS * np.linalg.norm(Y, axis=1).max()
    plain = margins.min()
    if not delta:
        return plain, error

    best = len(Y) / delta**2  # J(s) = s^2 + sum max(0, 1 - s m)^2 / delta^2 at s = 0
    ordered, positive = np.sort(margins), margins[margins > 0]
    sums, squares = np.cumsum(ordered), np.cumsum(ordered**2)
    for s in (*(1.0 / positive), *(sums / (delta**2 + squares))):  # the kinks, and the minimum of each piece
        if s > 0:
            best = min(best, s * s + np.sum(np.maximum(0.0, 1.0 - s * margins) ** 2) / delta**2)
    return max(best**-0.5, plain), error + 1e-12 * best**-0.5


def largest(Y, delta):
    """A margin that some vector reaches in the extended space: the best, as nearly as NNLS finds it."""
    size = np.linalg.norm(Y, axis=1).max()
    if not 0 < size < np.inf:
        return 0.0
    extended = np.column_stack([Y / size, delta / size * np.eye(len(Y))]) if delta else Y / size
    A = np.vstack([extended.T, np.ones(len(Y))])
    try:
        u, _ = nnls(A, np.append(np.zeros(A.shape[0] - 1), 1.0), maxiter=50 * len(Y))
    except RuntimeError:
        return -np.inf
    x = A[:-1] @ u
    margins = extended @ x
    return size * margins.min() / np.linalg.norm(x) if x.any() else -np.inf


def settings_of(cls, rng):
    known, chosen = cls().get_params(), {}
    chosen["fit_intercept"] = bool(rng.random() < 0.75)
    chosen["intercept_scaling"] = float(rng.choice([1.0, 1.0, 0.1, 7.0]))
    chosen["multi_class"] = str(rng.choice(["ovr", "ovo", "joint"]))
    if "delta" in known and rng.random() < 0.4:
        chosen["delta"] = float(10.0 ** rng.uniform(-1, 1))
    if "max_iter" in known:
        chosen["max_iter"] = int(rng.integers(1, 60))
    for name, values in {"average": [True, False], "random_state": [0], "method": None}.items():
        if name in known and values:
            chosen[name] = values[rng.integers(len(values))]
    return chosen


def fitted(cls, chosen, data, y, more):
    """The model, or None where the estimator refuses this mode, source or data."""
    try:
        return cls(**chosen).fit(data, y, **more)
    except (DataError, UnavailableError):
        return None
    except (ValueError, TypeError) as error:
        if any(words in str(error) for words in ("multi_class", "linear machine", "joint", "sample_weight", "delta")):
            return None
        raise


def assert_fit(number, folder):
    rng = np.random.default_rng([number, 11])
    cls = OTHERS[number % len(OTHERS)]
    X = table(rng)
    classes = int(rng.choice([2, 2, 3, 4])) if len(X) >= 8 else 2
    codes = labels(X, classes, rng)
    weight = weights(codes, classes, rng)
    chosen = settings_of(cls, rng)
    kind, data, y, more, seen = source(X, codes, weight, rng, folder)
    model = fitted(cls, chosen, data, y, more)
    if model is None:
        return "refused"
    kept = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
    part, codes = seen[kept], codes[kept]
    rho, delta = chosen["intercept_scaling"] if chosen["fit_intercept"] else 0.0, chosen.get("delta", 0.0)
    if classes > 2 and chosen["multi_class"] == "joint":
        vectors = [np.column_stack([model.coef_, model.intercept_ / rho if rho else model.intercept_]).ravel()]
        tables = [rivals(part, codes, classes, rho)]
    else:
        vectors = [np.append(w, b / rho if rho else b) for w, b in zip(model.coef_, model.intercept_, strict=True)]
        tables = [augmented(part[rows], l, rho) for rows, l in problems_of(codes, classes, chosen["multi_class"])]
    assert len(model.certificates_) == len(vectors) == len(tables)
    name = f"{cls.__name__} {kind} {chosen['multi_class'] if classes > 2 else ''}"
    for claim, a, Y in zip(model.certificates_, vectors, tables, strict=True):
        margin, rounding = reached(Y, a, delta)
        best = largest(Y, delta)
        where = (number, name, chosen, claim.lower, margin, rounding, best, claim.upper)
        assert claim.lower is not None, where
        assert claim.lower <= margin + rounding, where
        assert margin - rounding <= claim.upper, where
        assert best - 1e-9 * abs(best) - SLACK * EPS * np.abs(Y).max() <= claim.upper, where
    return name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_predicts_reaches_what_is_certified(tmp_path):
    outcomes = Counter(assert_fit(number, tmp_path) for number in range(FITS))
    assert outcomes["refused"] < FITS // 3, outcomes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part", range(20))
def test_what_predicts_reaches_what_is_certified_of_10_000(part, tmp_path):
    for number in range(part * EACH, (part + 1) * EACH):
        assert_fit(number, tmp_path)
