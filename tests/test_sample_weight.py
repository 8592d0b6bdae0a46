"""Sample weights: 0 is the row removed, bit for bit; how others enter each rule; certificates do not see them."""

import numpy as np
import pytest
import scipy.sparse as sp
from cases import LAYOUTS, ONLINE, ONLINE_VARIANTS, each_layout, online
from fits import vectors
from sklearn.base import clone

from separatrix import (
    ALMA,
    CRAMMA,
    LMS,
    MICRA,
    ROMMA,
    BalancedWinnow,
    DynamicMargin,
    FixedMargin,
    FuzzyPerceptron,
    GreedyPerceptron,
    MarginFuzzyPerceptron,
    MarginPerceptron,
    MaxMargin,
    PassiveAggressive,
    Perceptron,
    Pocket,
    RecursiveLeastSquares,
    Relaxation,
    VotedPerceptron,
    data,
    max_margin_path,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
VARIANTS = [
    *ONLINE_VARIANTS,
    DynamicMargin(delta=0.5),
    Perceptron(early_stopping=True, validation_fraction=0.3),
]

rng = np.random.default_rng(21)
X = np.round(rng.normal(size=(50, 3)) * 8) / 8
Y = {2: (rng.random(50) < 0.5).astype(int), 3: np.arange(50) % 3}
SIDES = 2.0 * Y[2] - 1
OUT = rng.random(50) < 0.3


def assert_same(one, other, rows=None):
    """Bit for bit; ``rows``: where the rows of ``other`` are among those of ``one``."""
    np.testing.assert_array_equal(vectors(one), vectors(other))
    np.testing.assert_array_equal(one.classes_, other.classes_)
    for name in ("n_updates_", "n_visits_", "n_epochs_", "converged_", "stop_reason_"):
        assert getattr(one, name) == getattr(other, name)
    for a, b in zip(one.certificates_, other.certificates_, strict=True):
        assert (a.lower, a.upper, a.separable, a.radius) == (b.lower, b.upper, b.separable, b.radius)
        assert (a.alpha is None) == (b.alpha is None)
        if a.alpha is not None:
            np.testing.assert_array_equal(a.alpha, b.alpha)
            np.testing.assert_array_equal(a.alpha_index, b.alpha_index if rows is None else rows[b.alpha_index])


@pytest.mark.parametrize("classes", [2, 3])
@each_layout
@pytest.mark.parametrize("shuffle", [True, False])
def test_weight_zero_is_the_row_removed(shuffle, layout, classes, rng):
    data, y = LAYOUTS[layout](X), Y[classes]
    weight = np.where(OUT, 0.0, rng.uniform(0.5, 2.0, 50))
    kept = np.flatnonzero(~OUT)
    for model in VARIANTS:
        model = clone(model).set_params(shuffle=shuffle, max_iter=7)
        with_zeros = clone(model).fit(data, y, sample_weight=weight)
        removed = clone(model).fit(data[kept], y[kept], sample_weight=weight[kept])
        assert_same(with_zeros, removed, kept)
        plain = clone(model).fit(data, y, sample_weight=(~OUT).astype(float))
        assert_same(plain, clone(model).fit(data[kept], y[kept]), kept)
        for k, certificate in enumerate(with_zeros.certificates_):
            assert certificate.verify(data, y if classes == 2 else y == k)


@online
def test_rows_of_weight_zero_may_be_anything(cls):
    """They count neither for R nor for the classes."""
    odd, y = np.vstack([X, [[1e300] * 3, [-1e300] * 3]]), np.append(Y[2], [7, 8])
    model = cls(max_iter=5).fit(odd, y, sample_weight=np.append(np.ones(50), [0, 0]))
    assert_same(model, cls(max_iter=5).fit(X, Y[2]))
    gone = cls(max_iter=5).fit(X, Y[3], sample_weight=Y[3] != 1)
    assert list(gone.classes_) == [0, 2]


@online
def test_ones_are_no_weights(cls):
    plain = cls(max_iter=5).fit(X, Y[3])
    weight = np.ones(50, dtype=np.float32)
    for ones in (np.ones(50), [1] * 50, weight, np.ones(50, dtype=int)):
        assert_same(plain, cls(max_iter=5).fit(X, Y[3], sample_weight=ones))
    np.testing.assert_array_equal(weight, 1)


def test_least_squares_takes_weights_as_copies(rng):
    copies = rng.integers(0, 5, 50)
    weighted = RecursiveLeastSquares(ridge=0.2).fit(X, Y[2], sample_weight=copies)
    repeated = RecursiveLeastSquares(ridge=0.2).fit(np.repeat(X, copies, axis=0), np.repeat(Y[2], copies))
    np.testing.assert_allclose(vectors(weighted), vectors(repeated), rtol=1e-12)
    weight = rng.uniform(0.01, 100.0, 50)
    A = np.column_stack([X, np.ones(50)])
    a = np.linalg.solve(0.2 * np.eye(5 - 1) + A.T @ (weight[:, None] * A), A.T @ (weight * SIDES))
    found = RecursiveLeastSquares(ridge=0.2).fit(X, Y[2], sample_weight=weight)
    np.testing.assert_allclose(vectors(found)[0], a, rtol=1e-10)
    scaled = RecursiveLeastSquares(ridge=0.8).fit(X, Y[2], sample_weight=4 * weight)
    np.testing.assert_allclose(vectors(scaled), vectors(found), rtol=1e-12)


def first_step(model, weight, row=3):
    """The vector after one update, which is on ``row``: the first row by its order, of weight ``weight``."""
    order = np.append(row, np.delete(np.arange(50), row))
    weights = np.append(weight, np.ones(49))
    model.set_params(shuffle=False, max_updates=1, max_iter=1)
    model.fit(X[order], Y[2][order], sample_weight=weights)
    assert model.n_updates_ == 1
    return vectors(model)[0], SIDES[row] * np.append(X[row], 1.0)


@pytest.mark.parametrize("c", [0.25, 1.0, 3.0, 17.5])
@pytest.mark.parametrize(
    "model",
    [
        Perceptron(eta=0.5, until="separated"),
        Perceptron(eta="k", until="separated"),
        MarginPerceptron(until="separated"),
        DynamicMargin(until="separated"),
        VotedPerceptron(until="separated"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_weights_multiply_increments(model, c):
    a, y = first_step(model, c)
    eta = 0.5 if getattr(model, "eta", None) == 0.5 else 1.0
    if isinstance(model, VotedPerceptron):
        a = np.append(model.voters_[0][-1], model.voter_intercepts_[0][-1])
    np.testing.assert_allclose(a, c * eta * y, rtol=1e-15)


def test_the_perceptron_by_hand():
    weight = 1.0 + np.arange(50) % 4
    a, updates = np.zeros(4), 0
    for _ in range(6):
        for y, c in zip(SIDES[:, None] * np.column_stack([X, np.ones(50)]), weight, strict=True):
            if a @ y <= 0:
                a += c * y
                updates += 1
    model = Perceptron(shuffle=False, max_iter=6, until="separated").fit(X, Y[2], sample_weight=weight)
    np.testing.assert_array_equal(vectors(model)[0], a)  # all numbers are multiples of 1/8
    assert model.n_updates_ == updates


@pytest.mark.parametrize("eta", [0.3, 1.0, 1.7])
@pytest.mark.parametrize("c", [1, 2, 5])
def test_relaxation_takes_weights_as_repeated_steps(eta, c):
    a, y = first_step(Relaxation(margin=2.0, eta=eta), c)
    by_hand = np.zeros(4)
    for _ in range(c):
        by_hand += eta * (2.0 - by_hand @ y) / (y @ y) * y
    np.testing.assert_allclose(a, by_hand, rtol=1e-13)
    half, _ = first_step(Relaxation(margin=2.0, eta=eta), 0.5)
    share = half @ y / 2.0
    if eta < 1:
        assert share == pytest.approx(1 - np.sqrt(1 - eta))
    assert 0 < share <= max(1.0, eta)


@pytest.mark.parametrize("eta", [0.4, 1.0, 1.9])
@pytest.mark.parametrize("c", [1, 2, 5])
def test_lms_takes_weights_as_repeated_steps(eta, c):
    a, y = first_step(LMS(eta=eta), c)
    radius2 = np.max(np.sum(X * X, axis=1)) + 1.0
    by_hand = np.zeros(4)
    for _ in range(c):
        by_hand += eta / radius2 * (1 - by_hand @ y) * y
    np.testing.assert_allclose(a, by_hand, rtol=1e-12)
    a, y = first_step(LMS(eta=lambda k: 0.05), c)
    np.testing.assert_allclose(a, (1 - (1 - 0.05 * (y @ y)) ** c) / (y @ y) * y, rtol=1e-12)


@pytest.mark.parametrize("c", [0.1, 1.0, 4.0])
def test_passive_aggressive_takes_weights_into_its_cap(c):
    for C in (0.01, 0.3, 100.0):
        a, y = first_step(PassiveAggressive(C=C, until="separated"), c)
        np.testing.assert_allclose(a, min(C * c, 1 / (y @ y)) * y, rtol=1e-13)
        a, y = first_step(PassiveAggressive(C=C, variant="II", until="separated"), c)
        np.testing.assert_allclose(a, y / (y @ y + 1 / (2 * C * c)), rtol=1e-13)


@pytest.mark.parametrize("c", [0.1, 1.0, 4.0])
def test_rules_with_a_direction_multiply_the_step(c):
    data = np.array([[4.0, 1.0], [3.0, -1.0]])  # the second is on the wrong side of the first
    a, b = np.append(data[0], 1.0), -np.append(data[1], 1.0)
    size = np.sqrt(max(a @ a, b @ b))
    start = a / np.linalg.norm(a)
    for model, eta in [
        (CRAMMA(beta=0.1, eta0=0.02, decay=1.0), 0.02 / 0.1),
        (FixedMargin(eta=0.3), 0.3),
    ]:
        assert start @ a / size > model.beta  # so the first visit changes nothing
        model.set_params(shuffle=False, max_updates=1).fit(data, [1, 0], sample_weight=[1.0, c])
        u = start + eta * 2 * c / (1 + c) * b / size  # weights count by what they are of their mean
        np.testing.assert_allclose(vectors(model)[0], u / np.linalg.norm(u), rtol=1e-12)
    alma = ALMA(alpha=0.9, shuffle=False, max_updates=1).fit(data, [1, 0], sample_weight=[c, 1.0])
    share = 2 * c / (1 + c)
    w = np.sqrt(2) * share * a / size
    expected = w / max(1.0, np.linalg.norm(w))
    found = vectors(alma)[0]
    np.testing.assert_allclose(found / np.linalg.norm(found), expected / np.linalg.norm(expected), rtol=1e-12)
    assert np.linalg.norm(found) == pytest.approx(min(1.0, np.sqrt(2) * share * np.linalg.norm(a) / size))


def test_winnow_multiplies_the_exponent():
    a, y = first_step(BalancedWinnow(alpha=1.5), 2.5)
    expected = 2 * np.sinh(np.log(1.5) * 2.5 * y)
    np.testing.assert_allclose(a / np.abs(a).max(), expected / np.abs(expected).max(), rtol=1e-12)


@pytest.mark.parametrize(
    "cls",
    [Perceptron, DynamicMargin, MarginPerceptron, FuzzyPerceptron, MarginFuzzyPerceptron, GreedyPerceptron, Pocket],
    ids=lambda cls: cls.__name__,
)
@pytest.mark.parametrize("scale", [2.0**-40, 0.25, 2.0**30])
def test_a_common_factor_only_scales(cls, scale, rng):
    """From a = 0 and without margin nothing else depends on the size of a; powers of two leave every bit alone."""
    weight = rng.uniform(0.5, 2.0, 50)
    one = cls(max_iter=10).fit(X, Y[2], sample_weight=weight)
    other = cls(max_iter=10).fit(X, Y[2], sample_weight=scale * weight)
    np.testing.assert_array_equal(vectors(other), scale * vectors(one))
    assert one.n_updates_ == other.n_updates_
    assert one.certificate_.upper == other.certificate_.upper
    assert one.certificate_.lower == other.certificate_.lower


@pytest.mark.parametrize(
    "model",
    [MICRA(), CRAMMA(), FixedMargin(), ALMA(), ROMMA(), ROMMA(aggressive=True)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_common_factor_makes_no_difference(model, classes, rng):
    """Where a step has a size of its own: equal weights are none, bit for bit, and only ratios count."""
    model = model.set_params(max_iter=10)
    plain = clone(model).fit(X, Y[classes])
    for factor in (1 / 50, 0.1, 7.0):
        assert_same(plain, clone(model).fit(X, Y[classes], sample_weight=np.full(50, factor)))
    weight = rng.uniform(0.5, 2.0, 50)
    one = clone(model).fit(X, Y[classes], sample_weight=weight)
    other = clone(model).fit(X, Y[classes], sample_weight=weight / 64)
    np.testing.assert_array_equal(vectors(one), vectors(other))
    assert one.n_updates_ == other.n_updates_
    blocks = data.from_blocks([(X[:20], Y[classes][:20], weight[:20]), (X[20:], Y[classes][20:], weight[20:])])
    there = clone(model).set_params(shuffle=False).fit(blocks)
    here = clone(model).set_params(shuffle=False).fit(X, Y[classes], sample_weight=weight)
    np.testing.assert_allclose(vectors(there), vectors(here), rtol=1e-6)


@pytest.mark.parametrize(
    "cls", [cls for cls in ONLINE if cls not in (Relaxation, ROMMA, Pocket)], ids=lambda cls: cls.__name__
)
def test_weights_pull_the_boundary(cls, rng):
    """Two clouds that overlap: the heavier class is predicted more often, or at least as often.

    Not so where a step reaches its goal at once, or where the best is reported by unweighted errors.
    """
    clouds = np.vstack([rng.normal(-0.5, 1.0, (80, 2)), rng.normal(0.5, 1.0, (80, 2))])
    y = np.repeat([0, 1], 80)
    shares = []
    for heavy in (0, 1):
        weight = np.where(y == heavy, 8.0, 1.0)
        fits = [cls(max_iter=20, random_state=s).fit(clouds, y, sample_weight=weight) for s in range(10)]
        shares.append(np.mean([model.predict(clouds).mean() for model in fits]))
    assert shares[0] <= shares[1] + 0.02


@online
def test_certificates_are_about_unweighted_margins(cls, rng):
    side = np.array([1.0, -1.0, 0.5])
    y = (X @ side > 0.1).astype(int)
    far = X + np.outer(2 * y - 1, side)
    wrong = np.array([4, 9])
    y[wrong] = 1 - y[wrong]
    weight = rng.uniform(0.5, 3.0, 50)
    weight[wrong] = 0
    model = cls(max_iter=2000).fit(far, y, sample_weight=weight)
    certificate = model.certificate_
    np.testing.assert_array_equal(certificate.sample_weight, weight)
    assert certificate.verify(far, y)
    assert certificate.verify(far, y, weight)
    assert certificate.verify(far, y, weight > 0)  # their size says nothing
    best = DynamicMargin(epsilon=0.01, max_iter=10**5).fit(far, y, sample_weight=weight > 0).certificate_
    assert certificate.upper >= best.lower > 0.3
    if certificate.lower is not None:
        a = vectors(model)[0]
        kept = weight > 0
        margins = (2 * y[kept] - 1) * (np.column_stack([far, np.ones(50)])[kept] @ a) / np.linalg.norm(a)
        assert certificate.lower == pytest.approx(margins.min(), abs=1e-9)
    if certificate.separable:
        everything = certificate.verify(far, y, np.ones(50))
        assert not everything
        assert any(claim.startswith("separable") for claim in everything.failed)
    with pytest.raises(ValueError, match="weights"):
        certificate.verify(far[:40], y[:40])
    with pytest.raises(ValueError, match="weights"):
        certificate.verify(far, y, weight[:40])


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_a_hard_margin_goes_its_way_whatever_weights_are(factor):
    X = sp.random_array((600, 4000), density=5e-3, format="csr", rng=np.random.default_rng(0))
    y = (X @ np.random.default_rng(1).normal(size=4000) > 0).astype(int)
    plain = MaxMargin(np.inf).fit(X, y)
    weighted = MaxMargin(np.inf).fit(X, y, sample_weight=np.full(600, factor))
    assert plain.converged_
    assert weighted.n_iter_ == plain.n_iter_
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)


@pytest.mark.parametrize("factor", [1e-6, 1 / 400, 1e3])
def test_the_hard_margin_of_a_path_is_found_whatever_weights_are(factor):
    rng = np.random.default_rng(2)
    X = sp.random_array((400, 3200), density=6e-3, format="csr", rng=rng)
    y = (X @ rng.normal(size=3200) + 0.05 * rng.normal(size=400) > 0).astype(int)
    (model,) = max_margin_path(X, y, [np.inf], sample_weight=np.full(400, factor))
    assert model.converged_
