"""What the sources ask for beside the rules themselves: false theorems, printed readings, quantities behind a fit."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from separatrix import (
    BalancedWinnow,
    BatchPerceptron,
    FuzzyPerceptron,
    GreedyPerceptron,
    HoKashyap,
    KernelPerceptron,
    LinearProgram,
    MarginFuzzyPerceptron,
    MaxMargin,
    Perceptron,
    Pocket,
    Relaxation,
    bounds,
)
from separatrix.rules.perceptrons import membership

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("corrects", ["beyond", "errors"])
def test_theorem_24_is_false(corrects):
    """Three points, a band of 0.5: the theorem promises an end after (R/eps)^2 = 72 updates; there is none."""
    X, y = [[-2.0, -2.0], [-3.0, 3.0], [-3.0, -2.0]], [0, 0, 1]
    radius2 = max(a * a + b * b for a, b in X)
    assert round(radius2 / 0.5**2) == 72
    model = MarginFuzzyPerceptron(
        0.5, corrects=corrects, fit_intercept=False, shuffle=False, until="separated", max_iter=10**6
    )
    model.set_params(max_updates=20_000).fit(X, y)
    assert not model.converged_
    assert model.n_updates_ == 20_000
    angle = np.linspace(0.0, 2.0 * np.pi, 10_000)
    Y = np.array(X) * [[-1.0], [-1.0], [1.0]]
    best = (Y @ [np.cos(angle), np.sin(angle)]).min(axis=0).max()
    assert best == pytest.approx(-0.312, abs=1e-3)  # so that a narrower band would do


def test_the_greedy_perceptron_keeps_the_order_of_its_increments():
    X, y = make_blobs(80, centers=2, cluster_std=1.5, random_state=9758)
    counts = [
        GreedyPerceptron(etas, fit_intercept=False, shuffle=False).fit(X, y).n_updates_
        for etas in ([0.5, 1.0, 2.0, 4.0], [4.0, 2.0, 1.0, 0.5])
    ]
    assert counts == [49, 4]


def test_memberships_are_those_of_definition_21():
    X, y = np.array([[0.0], [1.0], [2.6], [1.4], [3.0], [4.0]]), np.array([0, 0, 0, 1, 1, 1])
    model = FuzzyPerceptron(fuzz=0.2).fit(X, y)
    means = [X[y == k].mean() for k in (0, 1)]
    own, other = (np.abs(X[:, 0] - np.where(y == k, means[0], means[1])) for k in (0, 1))
    expected = membership(own, other, abs(means[1] - means[0]), 1.0)
    np.testing.assert_allclose(model.memberships_, expected, rtol=1e-12)
    np.testing.assert_array_equal(model.fuzzy_rows_, np.abs(expected - 0.5) <= 0.2)
    X, y = load_iris(return_X_y=True)
    assert [len(p) for p in FuzzyPerceptron().fit(X, y).memberships_] == [150] * 3
    assert [len(p) for p in FuzzyPerceptron(multi_class="ovo").fit(X, y).memberships_] == [100] * 3


def test_the_pocket_counts_its_replacements():
    X, y = make_blobs(300, centers=2, cluster_std=3.0, random_state=2)
    often = Pocket("run", max_iter=20).fit(X, y).n_replacements_
    seldom = Pocket(max_iter=20).fit(X, y).n_replacements_
    assert often >= seldom >= 1
    X, y = load_iris(return_X_y=True)
    assert Pocket(multi_class="ovo", max_iter=20).fit(X, y).n_replacements_ >= 3


def test_the_two_vectors_of_winnow():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]]), np.array([0, 0, 1, 1])
    model = BalancedWinnow(1.5).fit(X, y)
    difference = np.exp(model.log_weights_[0]) - np.exp(-model.log_weights_[0])
    vector = np.append(model.coef_[0], model.intercept_[0])
    np.testing.assert_allclose(difference / np.linalg.norm(difference), vector / np.linalg.norm(vector), rtol=1e-12)


@pytest.mark.parametrize("criterion", ["minimax", "perceptron"])
def test_the_tau_of_a_linear_program(criterion):
    X = np.array([[1.0, 2.0], [2.0, -4.0], [-3.0, -1.0], [2.0, 4.0], [-1.0, -5.0], [5.0, 0.0]])
    y = np.array([1, 1, 1, 2, 2, 2])
    model = LinearProgram(criterion).fit(X, y)
    m = np.where(y == 2, 1.0, -1.0) * model.decision_function(X)
    short = np.maximum(1.0 - m, 0.0)
    assert np.all(m + model.tau_ >= 1.0 - 1e-9)
    assert np.max(model.tau_) == pytest.approx(short.max())
    assert np.sum(model.tau_) == pytest.approx(model.criterion_values_[-1], rel=1e-6)


def test_relaxation_without_a_margin_needs_a_start():
    X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="coef_init"):
        Relaxation(0.0).fit(X, y)
    model = Relaxation(0.0, eta=1.5).fit(X, y, coef_init=[[-1.0]], intercept_init=[0.5])
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("eta", ["1/k", "k"])
def test_variable_increments_keep_their_theorem(eta, rng):
    for _ in range(20):
        X = rng.normal(size=(30, 3))
        y = X[:, 0] > 0
        X[:, 0] += np.where(y, 0.5, -0.5)
        model = Perceptron(eta=eta, max_iter=10_000).fit(X, y)
        theory = model.certificate_.theory
        assert model.converged_
        assert theory.theorem == "variable increments"
        assert model.n_updates_ <= theory.bound
    with pytest.raises(ValueError, match="1/k and k"):
        bounds.power_increments(1.0, 0.1, -2.0)


def test_theory_in_the_spaces_of_machines_and_kernels():
    X, y = make_blobs(60, centers=[(0.0, 0.0), (6.0, 0.0), (0.0, 6.0)], random_state=0)
    two = KernelPerceptron().fit(X[y > 0], y[y > 0])
    machine = Perceptron(multi_class="joint").fit(X, y)
    for theory in (two.certificate_.theory, machine.certificate_.theory):
        assert theory.theorem == "Novikoff"
        assert theory.updates <= theory.bound
    assert Perceptron(multi_class="joint", joint_update="all").fit(X, y).certificate_.theory is None


def test_the_batch_perceptron_stops_on_a_short_correction():
    """Algorithm 3 with theta: the first correction eta(k) sum y that is shorter is the last."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.1, 0.4], [2.1, 1.0]]), np.array([0, 1, 0, 1])
    Y = np.column_stack([X, np.ones(4)]) * np.where(y == 1, 1.0, -1.0)[:, None]
    a, k, change = np.zeros(3), 0, np.full(3, np.inf)
    while np.linalg.norm(change) >= 0.3:
        k += 1
        change = Y[Y @ a <= 0].sum(axis=0) / k
        a = a + change
    model = BatchPerceptron(eta="1/k", theta=0.3, max_iter=10_000, until="separated").fit(X, y)
    assert model.converged_
    assert model.n_updates_ == k
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), a, rtol=1e-12)
    assert k > 3
    assert BatchPerceptron(eta="1/k", max_iter=100).fit(X, y).n_updates_ > k


def test_ho_kashyap_goes_on_until_the_error_is_small():
    """Algorithm 11 with b_min: |e| = |Y a - b| at the end."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.1, 0.4], [2.0, 1.0], [4.0, 1.0]]), np.array([0, 0, 1, 1, 1])
    Y = np.column_stack([X, np.ones(5)]) * np.where(y == 1, 1.0, -1.0)[:, None]
    updates = {}
    for b_min in (None, 0.1, 1e-3):
        for variant in ("standard", "descent"):
            model = HoKashyap(variant, b_min=b_min, max_iter=100_000).fit(X, y)
            assert model.outcome_ == "separable"
            error = Y @ np.append(model.coef_[0], model.intercept_) - model.margin_vector_
            assert b_min is None or np.linalg.norm(error) <= b_min * (1 + 1e-6)
            updates[variant, b_min] = model.n_updates_
    assert updates["standard", 1e-3] > updates["standard", 0.1] >= updates["standard", None]
    assert HoKashyap(b_min=1e-3).fit(X, [0, 1, 0, 1, 0]).outcome_ == "not separable"


def test_freund_schapire_at_its_best():
    """Over gamma nothing is better, and one pass stays within it on data that nothing separates."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        X = rng.normal(size=(60, 3))
        y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
        model = Perceptron(shuffle=False, max_iter=1).fit(X, y)
        Y = np.column_stack([X, np.ones(60)]) * np.where(y, 1.0, -1.0)[:, None]
        u = np.append(1.0, np.zeros(3))
        radius = np.linalg.norm(Y, axis=1).max()
        best, gamma = bounds.best_freund_schapire(Y @ u, radius)
        assert model.n_updates_ <= best
        assert best == pytest.approx(bounds.freund_schapire(radius, gamma, bounds.deviation(Y @ u, gamma)))
        for other in gamma * np.linspace(0.2, 5.0, 30):
            assert best <= bounds.freund_schapire(radius, other, bounds.deviation(Y @ u, other)) * (1 + 1e-9)


def test_the_geometric_margin_of_equation_2():
    X, y = make_blobs(60, centers=[(0.0, 0.0), (6.0, 3.0)], random_state=1)
    geometric = MaxMargin(float("inf"), fit_intercept="unpenalized").fit(X, y).geometric_margin_
    for rho in (1.0, 10.0):
        certificate = MaxMargin(float("inf"), intercept_scaling=rho).fit(X, y).certificate_
        low, high = bounds.geometric_margin(certificate.radius, rho, certificate.lower)
        assert low <= geometric * (1 + 1e-6)
        assert geometric <= high * (1 + 1e-6)


@pytest.mark.parametrize(("power", "warns"), [(0.5, False), (1.0, False), (2.0, True)])
def test_a_rate_whose_sum_is_finite_is_told(power, warns):
    """With 1/k^2 the vector comes to rest before it separates these; with slower rates it does not (DHS eqs. 28-30)."""
    X, y = np.array([[9.0, 1.0], [9.0, -1.0], [10.0, 1.0], [10.0, -1.0]]), np.array([1, 0, 1, 0])
    model = Perceptron(eta=lambda k: k**-power, until="separated", max_iter=500)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, coef_init=[[-3.0, -3.0]])
    assert any("eq. 29" in str(w.message) for w in caught) == warns
