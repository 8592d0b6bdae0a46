"""Soft margins of sparse rows without a matrix, and those whose C leaves next to no slack."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from separatrix import MaxMargin
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers import newton, truncated_newton
from separatrix.solvers.problem import Problem
from separatrix.space import Space


def rows(n=1500, d=250, density=0.02, largest=1.0, seed=0):
    """Sparse rows, their columns of many sizes, with labels of which some are wrong."""
    rng, sizes = np.random.default_rng(seed), np.geomspace(1.0, largest, d)
    X = sp.csr_array(sp.random(n, d, density, "csr", rng=rng) @ sp.diags_array(sizes))
    return X, np.where(X @ (rng.normal(size=d) / sizes) + 0.1 * rng.normal(size=n) > 0, 1, -1)


def barely_inseparable(n, d, density, seed):
    """Rows of a hyperplane with three wrong labels."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density, "csr", random_state=seed)
    score = X @ rng.normal(size=d)
    y = np.where(score > np.median(score), 1, -1)
    y[rng.choice(n, 3, replace=False)] *= -1
    return X, y


def no_matrix(*_args):
    raise AssertionError("a Hessian was formed")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("C", "largest"), [(0.01, 1.0), (30.0, 1.0), (0.01, 300.0), (1.0, 300.0)])
def test_sparse_rows_need_no_matrix(largest, dtype, C, monkeypatch):
    """The solution is that of the same rows as a dense matrix; weights count as copies of rows do."""
    X, y = rows(largest=largest)
    X, weight = X.astype(dtype), np.where(np.arange(1500) % 3, 1.0, 2.0)
    dense = MaxMargin(C, tol=1e-6).fit(X.toarray(), y, sample_weight=weight)
    monkeypatch.setattr(newton.Hessian, "at", no_matrix)
    monkeypatch.setattr(newton, "minimiser", no_matrix)
    model = MaxMargin(C, tol=1e-6).fit(X, y, sample_weight=weight)
    assert model.solver_.startswith("newton")
    assert model.converged_
    assert model.certificate_.verify(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=0.01, atol=3e-3 * np.abs(dense.coef_).max())


@pytest.mark.parametrize("factor", [1.0, 1e150, 1e-150])
@pytest.mark.parametrize(("largest", "without"), [(1.0, True), (100.0, False)])
def test_few_columns_need_a_matrix_where_they_differ(largest, without, factor):
    """Even columns make a Hessian of similar eigenvalues: a few products do."""
    X, y = rows(9000, 150, largest=largest)
    problem = Problem(Patterns(factor * X, y.astype(float), Space(1.0)), 1.0, tol=1e-4)
    assert not truncated_newton.avoids_a_matrix(problem)
    assert truncated_newton.suits(problem) is without


def test_pauses_change_nothing(monkeypatch):
    X, y = rows(largest=10.0)
    whole = MaxMargin(10.0, tol=1e-6).fit(X, y)
    monkeypatch.setattr(truncated_newton, "VISITED", 1)
    assert np.array_equal(MaxMargin(10.0, tol=1e-6).fit(X, y).coef_, whole.coef_)


def test_limits_are_heeded():
    X, y = rows()
    model = MaxMargin(100.0, tol=1e-6, max_passes=5)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert not model.converged_
    assert model.n_passes_ <= 12
    assert 0 < model.certificate_.gap < 1


def test_a_matrix_where_products_are_too_many(monkeypatch):
    X, y = rows()
    monkeypatch.setattr(truncated_newton, "HESSIANS", 0.0)
    formed = []
    monkeypatch.setattr(newton, "is_small", lambda problem: False)
    monkeypatch.setattr(
        newton.Hessian, "at", lambda *args, wanted=newton.Hessian.at: formed.append(args) or wanted(*args)
    )
    model = MaxMargin(100.0, tol=1e-6).fit(X, y)
    assert formed
    assert model.converged_


@pytest.mark.parametrize(("n", "d", "density", "C", "seed"), [(300, 300, 0.3, 1e5, 2), (500, 500, 0.01, 1e6, 4)])
def test_nearly_hard_margins_of_sparse_rows_converge(n, d, density, C, seed):
    """Newton's steps alone stall: rows change sides one by one."""
    X, y = barely_inseparable(n, d, density, seed)
    model = MaxMargin(C, tol=1e-6, solver="newton").fit(X, y)
    assert model.converged_
    assert model.certificate_.gap <= 1e-6


@pytest.mark.parametrize("dense", [False, True])
def test_steps_that_stall_hand_over_to_faces(dense):
    """More rows than their rank and next to no slack: rows change sides one by one."""
    X, y = barely_inseparable(500, 500, 0.01, 4)
    X = X.toarray() if dense else X
    model = MaxMargin(1e6, tol=1e-6, solver="newton").fit(X, y)
    other = MaxMargin(1e6, tol=1e-9, solver="dual-coordinates").fit(X, y)
    assert model.converged_
    assert model.certificate_.lower == pytest.approx(other.certificate_.lower, rel=1e-6)


@pytest.mark.parametrize("bias", [True, "unpenalized"])
def test_nearly_hard_margins_have_one_value(bias):
    X, y = barely_inseparable(200, 60, 0.2, 3)
    sparse = MaxMargin(1e4, tol=1e-9, fit_intercept=bias, solver="newton").fit(X, y)
    dense = MaxMargin(1e4, tol=1e-9, fit_intercept=bias).fit(X.toarray(), y)
    assert sparse.converged_
    assert dense.certificate_.lower == pytest.approx(sparse.certificate_.lower, rel=1e-8)


@pytest.mark.parametrize("bias", [True, "unpenalized"])
@pytest.mark.parametrize("factor", [None, 1.0, 1000.0, 1e200])
def test_no_matrix_for_a_free_bias_nor_from_a_start(bias, factor, monkeypatch):
    X, y = rows(n=6000, d=2000, density=0.004)
    monkeypatch.setattr(newton.Hessian, "at", no_matrix)
    first, start = MaxMargin(1.0, fit_intercept=bias).fit(X, y), {}
    if factor is not None:
        start = {"coef_init": factor * first.coef_, "intercept_init": factor * first.intercept_}
    model = MaxMargin(2.0, fit_intercept=bias).fit(X, y, **start)
    assert model.converged_
    assert model.certificate_.verify(X, y)


def test_whoever_watches_sees_how_far_it_is(monkeypatch):
    X, y = rows(largest=10.0)
    monkeypatch.setattr(truncated_newton, "VISITED", 1)
    monkeypatch.setattr("separatrix.solvers.problem.SECONDS_BETWEEN_LOOKS", 0.0)
    gaps = []
    patterns = Patterns(X, y.astype(float), Space(1.0, 20.0**-0.5))
    problem = Problem(patterns, 10.0, tol=1e-6, watch=lambda p: gaps.append(p.gap) or p.gap < 0.5)
    newton.follow(problem)
    assert problem.stopped
    assert problem.gap == gaps[-1] < 0.5
    assert np.any(problem.a)
    assert all(a >= b for a, b in pairwise(gaps))


@pytest.mark.parametrize(("values", "solver"), [(3, "newton"), (60, "dual-coordinates")])
def test_rows_of_many_values_are_swept_where_slack_is_cheap(values, solver):
    X, y = rows(n=5000, d=8000, density=values / 8000)
    patterns = Patterns(X, y.astype(float), Space(1.0, 0.2**-0.5))
    assert solvers.choose(Problem(patterns, 0.1, tol=1e-4))[0] == solver


@pytest.mark.parametrize(
    ("n", "d", "values", "C", "solver"),
    [(1000, 1000, 3, 80.0, "newton"), (1000, 1000, 3, 400.0, "dual-coordinates"),
     (1000, 3000, 3, 10.0, "newton"), (1000, 5000, 3, 10.0, "dual-coordinates"),
     (1000, 1000, 8, 20.0, "dual-coordinates"), (5000, 4000, 8, 20.0, "newton")],
)  # fmt: skip
def test_rows_of_few_values_are_not_swept_up_to_a_larger_price(n, d, values, C, solver):
    X, y = rows(n, d, values / d)
    model = MaxMargin(C, tol=1e-3).fit(X, y)
    assert model.solver_.startswith(solver)
    assert model.certificate_.gap <= 1e-3
    assert model.certificate_.verify(X, y)
