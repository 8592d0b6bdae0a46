"""Problems with a known exact answer: what `separability` and every estimator claim of them is never false.

A problem is drawn from its number alone. `oracle_simplex` knows nothing of the package. On every run 2,000 problems are
asked of `separability`, each of one estimator too; with ``-m slow`` 100,000.
"""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
import oracle_simplex as oracle
import pytest
import scipy.sparse as sp
from cases import BATCH, ESTIMATORS, KERNELISED

from separatrix import MaxMargin, NotSeparableError, SeparatrixError, separability

pytestmark = pytest.mark.filterwarnings("ignore")

PARTS, EACH = 10, 200
INF = float("inf")
REFUSALS = re.compile("has no|not support|only one class")


class Problem(NamedTuple):
    number: int
    X: np.ndarray  # float64 values, those of float32 where that is the type
    y: np.ndarray
    fit_intercept: bool
    layout: str

    @property
    def data(self):
        X = self.X.astype(np.float32) if "float32" in self.layout else self.X
        if "csr" not in self.layout:
            return X
        stored = X != 0
        if self.number % 3 == 0:  # a zero that is stored
            stored.flat[np.flatnonzero(~stored)[:1]] = True
        return sp.csr_matrix((X[stored], np.nonzero(stored)), shape=X.shape)

    def patterns(self, which=slice(None), labels=None, rho=1.0):
        y = self.y if labels is None else labels
        codes = np.unique(y[which], return_inverse=True)[1]
        return oracle.patterns(self.X[which], codes, rho if self.fit_intercept else 0.0)


def _integers(rng, n, d):
    return rng.integers(-3, 4, (n, d)).astype(float)


def _one_hot(rng, n, d):
    X = np.zeros((n, 3 * d))
    for j in range(d):
        X[np.arange(n), 3 * j + rng.integers(0, 3, n)] = 1.0
    return X


def _doubled_columns(rng, n, d):
    X = _integers(rng, n, d)
    return np.column_stack([X, X[:, rng.integers(0, d, 2)] * [1.0, -2.0]])


def _low_rank(rng, n, d):
    return rng.integers(-2, 3, (n, 2)).astype(float) @ rng.integers(-2, 3, (2, d + 2))


DEGENERATE = [_integers, _one_hot, _doubled_columns, _low_rank]
SHAPES = [
    *DEGENERATE,
    lambda rng, n, d: _integers(rng, n, d) * 5e-324,
    lambda rng, n, d: _integers(rng, n, d) * 10.0 ** rng.integers(-320, 300, d),  # every column its own scale
    lambda rng, n, d: _integers(rng, n, d) * 10.0 ** rng.integers(-320, 300, (n, 1)),  # and every row
    lambda rng, n, d: _integers(rng, n, d) * 10.0 ** rng.integers(-12, 12, (n, d)),
    lambda rng, n, d: 1e9 + _integers(rng, n, d),
    lambda rng, n, d: rng.standard_normal((n, d)),
    lambda rng, n, d: rng.standard_normal((max(n // 3, 2), 3 * d)),  # fewer rows than columns
    lambda rng, n, d: np.repeat(_integers(rng, max(n // 2, 2), d), 2, axis=0),  # duplicates
    lambda rng, n, d: _integers(rng, n, d) * (rng.random((n, 1)) < 0.7),  # rows of zeros
    lambda rng, n, d: rng.integers(0, 2, (n, d)) * 2.0**26 + _integers(rng, n, d),
]
LAYOUTS = ["dense", "csr", "float32", "csr-float32"]


def problem(number, shapes=SHAPES, largest=7):
    rng = np.random.default_rng(number)
    n, d = int(rng.integers(2, largest + 1)), int(rng.integers(1, 4))
    X = shapes[number % len(shapes)](rng, n, d)
    layout = LAYOUTS[int(rng.integers(4))]
    if "float32" in layout:
        with np.errstate(over="ignore"):
            X = X.astype(np.float32).astype(np.float64)
        X[~np.isfinite(X)] = 1e38
        X = X.astype(np.float32).astype(np.float64)
    c = int(rng.choice([2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 5]))
    if rng.random() < 0.4:  # by a hyperplane, or nearly
        with np.errstate(all="ignore"):
            y = (np.nan_to_num(X @ rng.integers(-2, 3, X.shape[1])) > 0).astype(int)
    else:
        y = rng.integers(0, c, len(X))
    y[0], y[1] = 0, 1
    return Problem(number, X, y, bool(rng.random() < 0.7), layout)


def assert_separability(p):
    """Every answer, of two classes, of one machine, of each class against the rest and of each pair."""
    answer = separability(p.data, p.y, fit_intercept=p.fit_intercept)
    asked = [(answer, p.patterns())]
    for name, part in answer.one_vs_rest.items():
        asked.append((part, p.patterns(labels=(p.y == name).astype(int))))
    for (i, j), part in answer.one_vs_one.items():
        asked.append((part, p.patterns(which=np.flatnonzero((p.y == i) | (p.y == j)))))
    for part, Y in asked:
        expected = oracle.kind(Y)
        assert part.kind == expected, (p, part)
        assert part.separable is (expected == "complete"), (p, part)
        assert part.exact
        assert_witness(p, part, Y)
    return answer.kind


def assert_witness(p, answer, Y):
    """What comes with an answer proves it."""
    if answer.separable:
        a = answer.certificate.direction if answer.vector is None else answer.vector
        assert oracle.margins(Y, a, p.fit_intercept).count(True) == len(Y), p
    else:
        weight = dict(zip(answer.infeasibility_proof.rows.tolist(), answer.infeasibility_proof.exact, strict=True))
        assert min(weight.values()) > 0
        assert all(sum(w * Y[k][j] for k, w in weight.items()) == 0 for j in range(len(Y[0]))), p


@pytest.mark.parametrize("part", range(PARTS))
def test_separability_is_right(part):
    kinds = Counter(assert_separability(problem(i)) for i in range(part * EACH, (part + 1) * EACH))
    assert min(kinds[k] for k in ("complete", "quasi-complete", "none")) > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100))
def test_separability_is_right_of_100_000(part):
    for i in range(part * 1000, (part + 1) * 1000):
        assert_separability(problem(i))


@pytest.mark.parametrize("number", range(4))
def test_degenerate_sets(number):
    """One-hot, integers, doubled columns, low rank: dense and CSR agree, and with the oracle."""
    for i in range(25):
        assert_degenerate(number * 25 + i)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_5000_degenerate_sets(part):
    for i in range(part * 500, (part + 1) * 500):
        assert_degenerate(i)


def assert_degenerate(number):
    p = problem(number, DEGENERATE, largest=14)
    for layout in ("dense", "csr"):
        assert_separability(p._replace(layout=layout))


# Estimators: each problem is given to one of them, in one layout for each, since every layout compiles again.

SOFT = {
    "MaxMargin": [
        {"C": INF},
        {"C": 1.0},
        {"C": 1e6},
        {"C": INF, "fit_intercept": "unpenalized"},
        {"multi_class": "joint"},
    ]
}
FITS = [(cls, kw) for cls in [*ESTIMATORS, *KERNELISED] for kw in SOFT.get(cls.__name__, [{}])]


def settings_of(cls, kw, p, rng):
    known = cls().get_params()
    chosen = dict(kw)
    if not p.fit_intercept and "fit_intercept" in known:
        chosen["fit_intercept"] = False
    if "max_iter" in known:
        chosen["max_iter"] = 20
    if "delta" in known and rng.random() < 0.3:
        chosen["delta"] = 0.5
    if "kernel" in known:
        chosen["kernel"] = "linear"
    return chosen


def weights_of(p, rng):
    """None, or weights with zeros and ratios of 1e12, with both classes left."""
    if rng.random() < 0.6:
        return None
    weight = rng.choice([0.0, 1.0, 2.0, 1e-6, 1e6], len(p.y))
    weight[:2] = 1.0
    return weight


def assert_claims(number):
    """Fit one estimator; returns what was claimed, or how it refused."""
    rng = np.random.default_rng([number, 1])
    cls, kw = FITS[number % len(FITS)]
    p = problem(number)._replace(layout="csr" if cls in BATCH and number % 2 else "dense")
    chosen, weight = settings_of(cls, kw, p, rng), weights_of(p, rng)
    takes_part = np.arange(len(p.y)) if weight is None else np.flatnonzero(weight > 0)
    model, refused = None, None
    try:
        model = cls(**chosen).fit(p.data, p.y, **({} if weight is None else {"sample_weight": weight}))
    except (SeparatrixError, ValueError) as error:
        refused = error
    if isinstance(refused, NotSeparableError):
        assert {oracle.kind(Y) for Y in problems_of(p, chosen, takes_part)} != {"complete"}, (p, refused)
        return "not separable"
    if refused is not None:
        assert isinstance(refused, SeparatrixError) or REFUSALS.search(str(refused)), (p, cls, refused)
        return "refused"
    if getattr(model, "certificate_", None) is None:
        return "no certificate"
    certificates = getattr(model, "certificates_", [model.certificate_])
    for certificate, Y in zip(certificates, problems_of(p, chosen, takes_part), strict=True):
        assert_certificate(p, certificate, Y, takes_part, weight, cls)
    return "claimed"


def problems_of(p, chosen, takes_part):
    rho = chosen.get("intercept_scaling", 1.0)
    y = p.y[takes_part]
    classes = np.unique(y)
    part = p._replace(X=p.X[takes_part], y=y, fit_intercept=chosen.get("fit_intercept", True) is not False)
    if len(classes) == 2 or chosen.get("multi_class") == "joint":
        return [part.patterns(rho=rho)]
    return [part.patterns(labels=(y == c).astype(int), rho=rho) for c in classes]


def assert_certificate(p, claim, Y, takes_part, weight, cls):
    where = (p, cls.__name__, claim)
    assert not np.isnan(claim.upper), where
    assert claim.lower is None or claim.lower <= claim.upper, where
    if claim.separable is not None:
        assert claim.separable is (oracle.kind(Y) == "complete"), where
    if claim.kernel is not None:
        return  # their bounds are those of test_gram_proofs.py
    space, per_row = claim.space, len(Y) // len(takes_part)
    extension = None
    if space.delta:
        own = np.ones(len(takes_part)) if weight is None or not space.weighted else weight[takes_part]
        extension = [oracle.Fraction(space.delta) ** 2 / oracle.Fraction(c) for c in np.repeat(own, per_row).tolist()]
    if claim.lower is not None and claim.direction is not None:
        a = oracle.shortened(claim.direction, Y, bool(space.rho))
        reached = oracle.soft_reaches(Y, a, claim.lower, extension, space.free) if extension else None
        hard = oracle.reaches(Y, a, claim.lower, space.free)
        assert reached or hard, where
    if np.isfinite(claim.upper) and claim.alpha is not None:
        assert np.all(np.isfinite(claim.alpha)), where
        place = {k: i for i, k in enumerate((takes_part[:, None] * per_row + np.arange(per_row)).ravel().tolist())}
        index = [place[k] for k in claim.alpha_index.tolist()]
        assert oracle.bounds(Y, index, claim.alpha, claim.upper, extension, space.free), where


@pytest.mark.parametrize("part", range(PARTS))
def test_estimators_claim_nothing_false(part):
    outcomes = Counter(assert_claims(i) for i in range(part * EACH, (part + 1) * EACH))
    assert outcomes["claimed"] > EACH // 3, outcomes


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100))
def test_estimators_claim_nothing_false_of_100_000(part):
    for i in range(part * 1000, (part + 1) * 1000):
        assert_claims(i)


@pytest.mark.parametrize("number", [1168, 1502, 8826, 18135, 20907, 72260, 94827])
def test_fits_that_broke_once(number):
    """Squares, multiples and bounds that overflow."""
    assert assert_claims(number) in ("claimed", "refused", "not separable")


def test_a_question_that_broke_once():
    assert_separability(problem(66939))


def test_the_oracle_knows_the_textbook():
    line = [[0.0], [1.0], [2.0]]
    assert oracle.kind(oracle.patterns(line, [0, 0, 1], 1)) == "complete"
    assert oracle.kind(oracle.patterns(line, [0, 1, 0], 1)) == "none"
    assert oracle.kind(oracle.patterns([[0.0], [1.0], [1.0]], [0, 0, 1], 1)) == "quasi-complete"
    xor = [[0.0, 0], [1, 1], [0, 1], [1, 0]]
    assert oracle.kind(oracle.patterns(xor, [0, 0, 1, 1], 1)) == "none"
    best = MaxMargin(INF).fit(line, [0, 0, 1]).certificate_
    Y = oracle.patterns(line, [0, 0, 1], 1)
    assert oracle.reaches(Y, best.direction, best.lower)
    assert not oracle.reaches(Y, best.direction, 1.001 * best.lower)
    assert not oracle.bounds(Y, best.alpha_index.tolist(), best.alpha, 0.999 * best.upper)
