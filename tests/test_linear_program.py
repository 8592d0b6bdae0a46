"""Separation by linear programming, against the book's own formulation."""

import numpy as np
import oracle
import oracle_batch
import pytest
from cases import LAYOUTS, PAIRS, PROBLEM_25, PROBLEMS, as_seen, categories, each_layout, weights
from fits import vector
from sklearn.exceptions import ConvergenceWarning

from separatrix import DataError, LinearProgram, MaxMargin, separability
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import linear_program
from separatrix.space import Space

each_criterion = pytest.mark.parametrize("criterion", ["minimax", "perceptron"])


@each_criterion
@pytest.mark.parametrize("problem", PROBLEMS)
@each_layout
@pytest.mark.parametrize("intercept", [True, False])
def test_the_minimum(problem, layout, criterion, intercept):
    X, y = problem()
    c, b = weights(y), 0.5 + np.random.default_rng(1).random(len(y))
    Y = oracle.patterns(as_seen(X, layout), y, 2.0 if intercept else 0.0)
    model = LinearProgram(criterion, b, intercept_scaling=2.0, fit_intercept=intercept)
    model.fit(LAYOUTS[layout](X), y, sample_weight=c)
    minimum = oracle_batch.linear_program(Y, c, b, criterion == "minimax")
    assert model.criterion_values_[0] == pytest.approx(minimum, rel=1e-6, abs=1e-7)
    m = Y @ vector(model)
    short = np.maximum(b - m, 0.0)
    assert (short.max() if criterion == "minimax" else c @ short) == pytest.approx(minimum, rel=1e-5, abs=1e-6)
    answer = separability(LAYOUTS[layout](X), y, fit_intercept=intercept)
    assert model.certificate_.separable is answer.separable
    assert model.certificate_.verify(LAYOUTS[layout](X), y, sample_weight=c)
    assert model.converged_
    assert model.n_iter_ >= 0


@each_criterion
@pytest.mark.parametrize("pair", PAIRS)
def test_the_table(pair, criterion):
    X, y = categories(*pair)
    model = LinearProgram(criterion).fit(X, y)
    assert model.certificate_.separable is (pair != (1, 3))
    assert separability(X, y).separable is (pair != (1, 3))
    assert model.certificate_.verify(X, y)
    assert (model.criterion_values_[0] < 1e-7) == (pair != (1, 3))
    if criterion == "minimax" and pair == (1, 3):
        assert model.criterion_values_[0] == pytest.approx(1.0)  # 0 or exactly the margin


@each_criterion
def test_problem_25(criterion):
    model = LinearProgram(criterion).fit(*PROBLEM_25)
    assert model.certificate_.separable is False
    assert model.certificate_.verify(*PROBLEM_25)


def test_the_duals_are_the_gordan_vector():
    X, y = categories(1, 3)
    patterns = Patterns(X, oracle.labels(y), Space(1.0))
    for criterion in ("minimax", "perceptron"):
        solver = linear_program.LinearProgram(patterns, np.ones(20), np.ones(20), criterion, lambda a: True)
        assert solver.step() == "positive"
        assert np.all(solver.alpha >= 0)
        assert solver.alpha.sum() == pytest.approx(solver.values[0])  # duality, b = 1
        np.testing.assert_allclose(solver.alpha @ oracle.patterns(X, y), 0.0, atol=1e-9)


@each_criterion
def test_of_all_separating_vectors_the_one_with_the_smallest_sum(criterion):
    """So the order of rows, repeated rows and weights change nothing."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 30))
    y = np.arange(12) % 2
    model = LinearProgram(criterion).fit(X, y)
    a = np.append(model.coef_[0], model.intercept_[0])
    order = rng.permutation(np.repeat(np.arange(12), rng.integers(1, 3, 12)))
    again = LinearProgram(criterion).fit(X[order], y[order], sample_weight=1.0 + rng.random(len(order)))
    np.testing.assert_allclose(np.append(again.coef_[0], again.intercept_[0]), a, atol=1e-7)
    shortest = MaxMargin(C=np.inf).fit(X, y)
    units = np.append(np.abs(X).max(axis=0), 1.0)
    assert units @ np.abs(a) < units @ np.abs(np.append(shortest.coef_[0], shortest.intercept_[0]))
    assert np.count_nonzero(np.abs(a) > 1e-9) <= 12
    assert (oracle.patterns(X, y) @ a).min() > 1 - 1e-6


@pytest.mark.parametrize("problem", PROBLEMS)
@each_layout
@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
def test_the_soft_margin_of_the_1_norm(problem, layout, C):
    X, y = problem()
    c, b = weights(y), 0.5 + np.random.default_rng(1).random(len(y))
    Y = oracle.patterns(as_seen(X, layout), y, 2.0)
    model = LinearProgram("l1", b, C=C, intercept_scaling=2.0).fit(LAYOUTS[layout](X), y, sample_weight=c)
    minimum = oracle_batch.least_sum(Y, c, b, C)
    value = model.criterion_values_[0]
    assert value == pytest.approx(minimum, rel=1e-6, abs=1e-9)
    a = vector(model)
    assert np.abs(a).sum() + C * c @ np.maximum(b - Y @ a, 0.0) == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert 0 <= model.dual_gap_ <= 1e-6 * max(value, 1.0)
    assert model.converged_
    assert model.certificate_.verify(LAYOUTS[layout](X), y, sample_weight=c)


def test_the_max_norm_distance_and_pairs_of_classes():
    X = np.array([[0.0, 0.0], [0.5, 3.0], [4.0, 0.5], [4.5, 9.0], [2.0, 20.0], [2.5, 21.0]])
    y = np.repeat([0, 1, 2], 2)
    two = LinearProgram("l1", C=1e3, intercept_scaling=100.0).fit(X[:4], y[:4])
    w, bias = two.coef_[0], two.intercept_[0]
    assert np.count_nonzero(np.abs(w) > 1e-9) == 1
    distances = np.abs(X[:4] @ w + bias) / np.abs(w).sum()
    assert distances.min() == pytest.approx(1.75, rel=1e-2)  # half of 4.0 - 0.5 along the first feature
    for mode in ("ovr", "ovo"):
        several = LinearProgram("l1", C=10.0, multi_class=mode).fit(X, y)
        assert several.dual_gap_.shape == (3,)
        assert np.all(several.dual_gap_ <= 1e-6)
        assert several.score(X, y) == 1.0


def test_a_bound_is_a_bound():
    """Whatever multipliers: no vector gets below it."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 2, 30)
    patterns = Patterns(X, oracle.labels(y), Space(1.0))
    solver = linear_program.LinearProgram(patterns, np.ones(30), np.ones(30), "l1", lambda a: True, C=0.3)
    assert solver.step() == "converged"
    for _ in range(200):
        bound = solver._bound_of(np.minimum(rng.exponential(0.3, 30), 0.3))
        assert bound <= solver.least_sum(solver.a + rng.normal(scale=0.1, size=5))
        assert bound <= solver.bound * (1 + 1e-9)


def test_a_limit_of_time():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 20)), rng.integers(0, 2, 2000)
    with pytest.warns(ConvergenceWarning, match="LinearProgram stopped before .*max_time.* Raise max_time"):
        model = LinearProgram(max_time=1e-6).fit(X, y)
    assert model.stop_reason_ == "max_time"
    assert model.certificate_.verify(X, y)


def test_margins_that_are_none():
    X, y = categories(1, 2)
    for margin in (-np.ones(20), np.full(20, np.inf)):
        with pytest.raises(DataError, match="margin of row 0"):
            LinearProgram(margin=margin).fit(X, y)


@each_criterion
def test_a_working_set_finds_the_same(criterion, monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3))
    for y in (X[:, 0] > 0.1, X[:, 0] + rng.normal(size=400) > 0):
        whole = LinearProgram(criterion).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr(linear_program, "ALL_AT_ONCE", 10)
            patch.setattr(linear_program, "ADD", 5)
            part = LinearProgram(criterion).fit(X, y)
        np.testing.assert_allclose(part.coef_, whole.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(part.criterion_values_, whole.criterion_values_, rtol=1e-9)
        assert part.certificate_.separable is whole.certificate_.separable
        assert part.certificate_.verify(X, y)


@each_criterion
@each_layout
def test_small_columns_are_seen(criterion, layout):
    """HiGHS's tolerances are absolute: 1e-9 beside 1 would be nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * 1e-9
    y = X[:, 0] > 0
    beside_noise = np.column_stack([rng.normal(size=60), np.where(y, 1e-9, -1e-9)])
    for data in (X, beside_noise):
        model = LinearProgram(criterion).fit(LAYOUTS[layout](data), y)
        assert model.converged_
        assert model.certificate_.separable
        np.testing.assert_array_equal(model.criterion_values_, [0.0])
        np.testing.assert_array_equal(model.predict(LAYOUTS[layout](data)), y)
        assert model.certificate_.verify(LAYOUTS[layout](data), y)


@each_criterion
def test_units_of_columns_change_nothing(criterion):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 4))
    units = 2.0 ** np.array([-40, 0, 3, 35])
    for y in (X @ [1.0, 2.0, 0.0, -1.0] > 0.1, rng.integers(0, 2, 40)):
        plain, other = LinearProgram(criterion).fit(X, y), LinearProgram(criterion).fit(X * units, y)
        np.testing.assert_allclose(other.coef_ * units, plain.coef_, rtol=1e-9)
        np.testing.assert_allclose(other.criterion_values_, plain.criterion_values_)
        assert other.converged_
        np.testing.assert_array_equal(other.predict(X * units), plain.predict(X))
        assert plain.certificate_.separable is bool(plain.criterion_values_[0] == 0)


@each_criterion
def test_a_verdict_without_a_proof_is_a_failure(criterion):
    """Separable, by less than HiGHS resolves."""
    X = 1.0 + 1e-10 * np.arange(-20, 21)[:, None]
    y = np.arange(-20, 21) > 0
    with pytest.warns(ConvergenceWarning, match=r"LinearProgram stopped before .*failed.* separability\(X, y\)"):
        model = LinearProgram(criterion).fit(X, y)
    assert model.stop_reason_ == "failed"
    assert not model.converged_
    assert model.certificate_.separable is not False
    assert separability(X, y).separable
