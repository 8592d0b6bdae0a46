"""Few rows: loops without Python, steps in the span of the rows, and pairs of multipliers with an exact end."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from separatrix import KernelMaxMargin, MaxMargin
from separatrix.data.memory import MemoryRows
from separatrix.passes.patterns import PassedPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import augmented_lagrangian, kernel_decomposition, newton, small_problem
from separatrix.solvers.loops.box_minimum import box_minimum
from separatrix.solvers.problem import Problem
from separatrix.space import Space


def rows(seed, n, d, repeated=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if repeated:
        X[n // 2 :] = X[: n - n // 2]  # the Gram matrix is singular beyond its rank
    l = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    l[:2] = 1.0, -1.0
    return X, l


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 80), st.integers(-2, 3), st.booleans())
def test_the_minimum_in_a_box_fulfils_its_conditions(seed, n, d, power, repeated):
    X, l = rows(seed, n, d, repeated)
    Y = l[:, None] * np.column_stack([X, np.ones(n)])
    G, alpha = Y @ Y.T, np.zeros(n)
    cap = 10.0**power * np.random.default_rng(seed).uniform(0.5, 2.0, n)
    assert box_minimum()(G, cap, alpha, 200)
    assert np.all((alpha >= 0) & (alpha <= cap))
    gradient, size = G @ alpha - 1.0, np.abs(G) @ alpha + 1.0
    assert np.all(gradient[alpha < cap] >= -1e-9 * size[alpha < cap])
    assert np.all(gradient[alpha > 0] <= 1e-9 * size[alpha > 0])


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("shape", [(40, 3), (25, 60), (100, 20)])
def test_few_rows_with_plain_slack_end_where_many_would(monkeypatch, C, shape):
    X, l = rows(1, *shape)
    few = MaxMargin(C, loss="hinge").fit(X, l)
    monkeypatch.setattr(augmented_lagrangian, "COMPILED_ROWS", 0)
    many = MaxMargin(C, loss="hinge").fit(X, l)
    assert few.certificate_.gap < 1e-8
    assert few.certificate_.value == pytest.approx(many.certificate_.value, rel=1e-9)
    np.testing.assert_allclose(few.coef_, many.coef_, rtol=1e-5, atol=1e-7 * np.abs(many.coef_).max())


def test_multipliers_that_are_not_yet_there_are_where_newtons_steps_begin(monkeypatch):
    X, l = rows(2, 60, 10)
    right = MaxMargin(10.0, loss="hinge").fit(X, l)
    monkeypatch.setattr(augmented_lagrangian, "COMPILED_ROUNDS", 1)
    monkeypatch.setattr(augmented_lagrangian, "CORRECTIONS", 1)
    rough = MaxMargin(10.0, loss="hinge").fit(X, l)
    assert rough.n_passes_ > right.n_passes_
    assert rough.certificate_.value == pytest.approx(right.certificate_.value, rel=1e-9)


@pytest.mark.parametrize("C", [0.1, 100.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_step_in_the_span_of_the_rows_is_newtons(C, sparse):
    X, l = rows(3, 30, 100)
    space = Space(rho=1.0, delta=(2.0 * C) ** -0.5)
    patterns = Patterns(sp.csr_matrix(X) if sparse else X, l, space, np.linspace(0.5, 2.0, 30))
    problem = Problem(patterns, C, tol=1e-9)
    a = 0.1 * np.random.default_rng(0).standard_normal(101)
    m = problem.margins(a)
    index, alpha = problem.slack_multipliers(m)
    gradient = a - patterns.combine(index, alpha)
    assert newton._in_span(problem)
    step = newton.SpanSteps(problem).step(m < 1.0, a, gradient)
    exact = newton.Hessian(problem, np.ones(101)).step(m < 1.0, a, gradient)
    np.testing.assert_allclose(step, exact, rtol=1e-6, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("shape", [(30, 400), (90, 400)])
def test_fewer_rows_than_columns_reach_the_same_minimum_from_either_side(monkeypatch, C, shape):
    X, l = rows(4, *shape)
    inside = MaxMargin(C).fit(X, l)
    monkeypatch.setattr(newton, "SPAN", np.inf)
    monkeypatch.setattr(small_problem, "MOST_MULTIPLICATIONS", 0)
    outside = MaxMargin(C).fit(X, l)
    assert inside.certificate_.gap < 1e-9
    np.testing.assert_allclose(inside.coef_, outside.coef_, rtol=1e-6, atol=1e-9 * np.abs(outside.coef_).max())


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_pairs_of_multipliers_end_exactly(monkeypatch, C):
    X, y = make_classification(300, 8, n_informative=5, flip_y=0.1, random_state=0)
    weight = np.linspace(0.5, 2.0, 300)
    pairs = KernelMaxMargin(C, loss="hinge", gamma=0.1).fit(X, y, weight)
    monkeypatch.setattr(kernel_decomposition, "_by_pairs", lambda problem: False)
    features = KernelMaxMargin(C, loss="hinge", gamma=0.1).fit(X, y, weight)
    assert pairs.certificate_.gap < 1e-6
    assert pairs.certificate_.value == pytest.approx(features.certificate_.value, rel=1e-6)
    np.testing.assert_allclose(pairs.decision_function(X), features.decision_function(X), atol=1e-4)


def test_pairs_that_take_too_long_hand_over(monkeypatch):
    X, y = make_classification(200, 8, n_informative=5, flip_y=0.1, random_state=0)
    right = KernelMaxMargin(100.0, loss="hinge", gamma=0.1).fit(X, y)
    monkeypatch.setattr(kernel_decomposition, "MOST_STEPS", 10)
    monkeypatch.setattr(kernel_decomposition, "STEPS_OF_ROW", 0)
    other = KernelMaxMargin(100.0, loss="hinge", gamma=0.1).fit(X, y)
    assert other.n_steps_ != right.n_steps_
    assert other.certificate_.value == pytest.approx(right.certificate_.value, rel=1e-6)


def test_a_combination_of_very_wide_rows_is_right_within_its_bound():
    """Summed without blocks, whose columns would cost more than the rows: against exact sums."""
    rng = np.random.default_rng(5)
    narrow = sp.random(1200, 40, density=0.1, format="csr", random_state=0)
    places = np.sort(rng.choice(500_000, 40, replace=False))
    wide = sp.csr_matrix((narrow.data, places[narrow.indices], narrow.indptr), (1200, 500_000))
    l, alpha = np.where(rng.random(1200) > 0.5, 1.0, -1.0), rng.random(1200)
    exact = [math.fsum(column * l * alpha) for column in narrow.toarray().T] + [math.fsum(l * alpha)]
    for X, columns in ((narrow, slice(None)), (wide, np.append(places, 500_000))):
        patterns = Patterns(X, l, Space(rho=1.0))
        found = patterns.combine(np.arange(1200), alpha)
        assert np.linalg.norm(found[columns] - exact) <= patterns.combination_error(alpha) <= 1e-9
        assert np.count_nonzero(found) <= 41
    assert patterns.block_rows > 1200


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("n", "d"), [(75, 211), (133, 166)])
@pytest.mark.parametrize("C", [100.0, 1e4])
def test_rows_that_contradict_each_other_at_a_large_price(layout, n, d, C):
    """Their multipliers are 10^10 times those of the others, whose digits are lost in a matrix of rows by rows."""
    rng = np.random.default_rng(n)
    X = 1e3 * rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)
    X[n // 2 :] = X[: n - n // 2]
    y = rng.random(n) < 0.5
    model = MaxMargin(C, fit_intercept=False).fit(layout(X), y)
    assert model.converged_
    assert model.certificate_.gap <= 1e-4
    assert model.certificate_.verify(layout(X), y)


def test_a_free_bias_at_a_large_price_is_in_balance():
    """Slacks of 1e-12 lose the digits that keep sum alpha_k l_k at 0; a solver that did not count it ended too soon."""
    rng = np.random.default_rng(1)
    X, y = 1e3 * rng.normal(size=(120, 200)), rng.random(120) < 0.5
    model = MaxMargin(1e4, fit_intercept="unpenalized").fit(X, y, sample_weight=rng.choice([0.5, 1.0, 3.0], 120))
    assert model.converged_


def test_sums_of_wide_rows_elsewhere_are_within_their_bound():
    """One large multiplier first, and 65,000 that each are lost beside it: the most that a sum without blocks loses."""
    n, d, rng = 65_536, 2000, np.random.default_rng(0)
    X = sp.csr_matrix((np.full(n, 1e-3), rng.integers(0, d, n), np.arange(n + 1)), (n, d))
    codes = np.ones(n, int)
    codes[-1] = 0
    patterns = PassedPatterns(MemoryRows(X, codes, None, classes=np.arange(2)), 1, Space(rho=1.0))
    alpha = np.full(n, 0.99 * 2.0**-53)
    alpha[0] = 1.0
    exact = math.fsum(np.where(codes == 1, 1.0, -1.0) * alpha)
    assert abs(patterns.combine(np.arange(n), alpha)[-1] - exact) <= patterns.combination_error(alpha) < 1e-12


@pytest.mark.parametrize("bias", [True, "unpenalized"])
def test_rounding_errors_are_no_reason_to_go_on(bias):
    """Columns of many sizes: the bounds meet but for rounding errors, at which no more rounds are made."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(1000, 30)), rng.normal(size=30)
    y = np.where(X @ w > 0, 1, -1)
    X = (X + np.outer(0.05 * y, w / np.linalg.norm(w))) * np.geomspace(1.0, 100.0, 30)
    model = MaxMargin(np.inf, fit_intercept=bias).fit(X, y)
    assert model.converged_
    assert model.n_passes_ <= 20  # 67 with a free bias, if it went on
    assert model.certificate_.verify(X, y)


def test_a_fit_that_is_stopped_at_once_is_no_worse_than_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 400))
    y = np.where(X @ rng.normal(size=400) > 0, 1, -1)
    with pytest.warns(ConvergenceWarning):
        model = MaxMargin(np.inf, max_time=1e-6).fit(X, y)
    assert model.score(X, y) >= np.mean(y * (X @ (y @ X)) > 0)
