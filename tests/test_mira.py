"""Passive-aggressive machines that correct all rivals of a row at once."""

import math

import numpy as np
import oracle
import oracle_kesler
import pytest
import scipy.sparse as sp
from cases import clouds, weights

from separatrix import PassiveAggressive, Perceptron, bounds
from separatrix.rules.aggressive import steps

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

HOW = {"until": "separated", "multi_class": "joint", "joint_update": "together", "shuffle": False, "max_iter": 6}
LAYOUTS = {
    "float64": np.asarray,
    "csr": sp.csr_matrix,
    "float32": lambda X: X.astype(np.float32),
    "csr-float32": lambda X: sp.csr_matrix(X.astype(np.float32)),
}


def assert_same(model, run, categories, d):
    want = run.a[: categories * (d + 1)].reshape(categories, d + 1)
    got = np.column_stack([model.coef_, model.intercept_])
    assert model.n_updates_ == run.updates
    assert model.converged_ == run.converged
    np.testing.assert_allclose(got - got.mean(axis=0), want, atol=1e-6 * np.abs(want).max())


@pytest.mark.nojit
@pytest.mark.parametrize(("C", "variant"), [(0.02, "I"), (math.inf, "I"), (0.1, "II")])
@pytest.mark.parametrize("spread", [0.5, 2.0])
def test_against_a_quadratic_program(C, variant, spread):
    X, y = clouds(c=4, n=24, spread=spread)
    run = oracle_kesler.mira(oracle_kesler.patterns(X, y), 3, C, variant, max_iter=6)
    assert_same(PassiveAggressive(C, variant, **HOW).fit(X, y), run, 4, 3)


@pytest.mark.parametrize("layout", [pytest.param(k, marks=pytest.mark.slow if "-" in k else ()) for k in LAYOUTS])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("delta", [0.0, 0.7])
def test_layouts_weights_and_the_extended_space(layout, weighted, delta):
    X, y = clouds(c=3, n=30, spread=1.5)
    weight = weights(y) if weighted else None
    Y = oracle_kesler.patterns(X, y, delta=delta)
    many = None if weight is None else np.repeat(weight, 2)
    run = oracle_kesler.mira(Y, 2, 0.05, weight=many, max_iter=6)
    model = PassiveAggressive(0.05, delta=delta, **HOW).fit(LAYOUTS[layout](X), y, sample_weight=weight)
    assert_same(model, run, 3, 3)
    assert model.certificate_.verify(X, y)


def test_updates_one_by_one():
    X, y = clouds(c=4, n=16, spread=1.0)
    path = oracle_kesler.mira(oracle_kesler.patterns(X, y), 3, 0.1, max_iter=2).path
    for updates in range(1, 12):
        model = PassiveAggressive(0.1, **{**HOW, "max_updates": updates}).fit(X, y)
        assert model.n_updates_ == updates
        want = path[model.n_visits_ - 1].reshape(4, 4)
        np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), want, atol=1e-8)


def test_the_steps_level_the_largest_losses():
    """The conditions of Kuhn and Tucker, for random losses."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        losses, square, delta2 = rng.normal(0.5, 1.0, 5), rng.uniform(0.5, 3), rng.choice([0.0, 0.4])
        losses[0] = 1.0
        cap, soften = (rng.uniform(0.05, 1), 0.0) if rng.random() < 0.5 else (np.inf, rng.uniform(0, 2))
        tau = np.empty(5)
        steps(losses, square, delta2, cap, soften, tau)
        left = losses - square * (tau.sum() + tau) - delta2 * tau  # what each loss is afterwards
        slack = soften * tau.sum() if np.isinf(cap) else max(0.0, left.max())
        assert np.all(tau >= 0)
        assert tau.sum() <= cap * (1 + 1e-12)
        assert np.all(left <= slack + 1e-9)
        np.testing.assert_allclose(left[tau > 0], slack, atol=1e-9)
        if slack > 1e-9 and np.isfinite(cap):
            assert tau.sum() == pytest.approx(cap)


@pytest.mark.parametrize(("C", "variant"), [(0.05, "I"), (math.inf, "I"), (0.1, "II")])
def test_the_theorem_holds_for_all_rivals_at_once(C, variant):
    X, y = clouds(c=4, n=40, spread=0.4)
    Y = oracle_kesler.patterns(X, y)
    gamma, _ = oracle.max_margin(Y)
    model = PassiveAggressive(C, variant, margin_tol=0.1, **{**HOW, "max_iter": 5000}).fit(X, y)
    assert model.converged_
    bound = bounds.passive_aggressive(oracle.radius(Y), gamma / (1 + 1e-6), C, variant, 0.1)
    assert model.n_updates_ <= bound
    theory = model.certificate_.theory
    assert theory.theorem == f"passive-aggressive {variant}"
    assert model.n_updates_ <= theory.bound


def test_a_step_that_is_too_small_breaks_the_theorem():
    """Mistakes with steps of at most 1e-5, against the bound for steps as large as the loss asks for."""
    X, y = clouds(c=4, n=40, spread=0.4)
    Y = oracle_kesler.patterns(X, y)
    allowed = bounds.passive_aggressive(oracle.radius(Y), oracle.max_margin(Y)[0], math.inf, "I", 1.0)
    timid = PassiveAggressive(1e-5, margin_tol=1e-3, **{**HOW, "max_iter": 2000}).fit(X, y)
    assert timid.n_updates_ > allowed


def test_it_is_the_strongest_rival_where_there_is_one():
    X, y = clouds(c=3, n=30, spread=1.0)
    both = [
        PassiveAggressive(0.1, **{**HOW, "joint_update": rivals}).fit(X[y != "c"], y[y != "c"]).coef_
        for rivals in ("strongest", "together")
    ]
    np.testing.assert_array_equal(*both)


def test_averages_and_going_on():
    X, y = clouds(c=3, n=30, spread=1.5)
    path = oracle_kesler.mira(oracle_kesler.patterns(X, y), 2, 0.05, max_iter=6).path
    mean = np.mean(path, axis=0).reshape(3, 4)
    model = PassiveAggressive(0.05, average=True, **HOW).fit(X, y)
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), mean, atol=1e-8)
    whole = PassiveAggressive(0.05, **HOW).fit(X, y)
    parts = PassiveAggressive(0.05, warm_start=True, **{**HOW, "max_iter": 3}).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    blocks = PassiveAggressive(0.05, **HOW).partial_fit(X, y, classes=["a", "b", "c"])
    np.testing.assert_allclose(blocks.coef_, PassiveAggressive(0.05, **{**HOW, "max_iter": 1}).fit(X, y).coef_)


def test_other_rules_have_no_such_step():
    with pytest.raises(ValueError, match="joint_update"):
        Perceptron(joint_update="together").fit(*clouds())
