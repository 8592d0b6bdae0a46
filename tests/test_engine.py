"""The engine of soft margins: its sides, its stages, its limits."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from separatrix import MaxMargin
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import engine
from separatrix.solvers.hinge_problem import HingeProblem
from separatrix.solvers.newton_steps import MOST_PRODUCTS, NewtonSteps
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


def problem_of(X, y, C, loss, weight=None, **kind):
    price = {"hinge": C} if loss == "hinge" else {"delta": (2.0 * C) ** -0.5}
    space = Space(1.0, free=kind.pop("free", False), weighted=True, **price)
    return (HingeProblem if loss == "hinge" else Problem)(Patterns(X, y.astype(float), space, weight), C, **kind)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("C", "largest"), [(0.01, 1.0), (30.0, 1.0), (0.01, 300.0), (1.0, 300.0)])
def test_sparse_and_dense_rows_have_one_solution(largest, dtype, C, loss):
    """Weights count as copies of rows do."""
    X, y = rows(largest=largest)
    X, twice = X.astype(dtype), np.flatnonzero(np.arange(1500) % 3 == 0)
    model = MaxMargin(C, loss=loss, tol=1e-8).fit(X, y, sample_weight=1.0 + np.isin(np.arange(1500), twice))
    copies = np.append(np.arange(1500), twice)
    dense = MaxMargin(C, loss=loss, tol=1e-8).fit(X.toarray()[copies], y[copies])
    assert model.solver_.startswith("newton")
    assert model.converged_
    assert dense.certificate_.value == pytest.approx(model.certificate_.value, rel=1e-7)
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=0.01, atol=1e-3 * np.abs(dense.coef_).max())


SIDES = {"columns": (False, 0.0), "rows": (True, 0.0), "products": (False, float(MOST_PRODUCTS))}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_all_sides_find_the_same(C, loss, sparse, free, side, monkeypatch):
    X, y = rows(400, 60, 0.2)
    X = X if sparse else X.toarray()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 400)
    monkeypatch.setattr(engine, "small_solution", lambda *_: None)
    chosen = problem_of(X, y, C, loss, weight, tol=1e-8, free=free)
    engine.solve(chosen)
    assert chosen.gap <= 1e-8
    monkeypatch.setattr(NewtonSteps, "_sides", lambda self, count: SIDES[side])
    forced = problem_of(X, y, C, loss, weight, tol=1e-6, free=free)
    engine.solve(forced)
    assert forced.gap <= 1e-6
    assert forced.lower == pytest.approx(chosen.lower, rel=1e-6)


@pytest.mark.parametrize("free", [False, True])
def test_the_compiled_loop_starts_from_a_vector(monkeypatch, free):
    """On a path each small problem is solved without Python, from the solution for the C before it."""
    X, y = rows(400, 20, 0.5)
    small = problem_of(X.toarray(), y, 1.0, "squared_hinge", np.ones(400), tol=1e-8, free=free)
    engine.solve(small)
    near = problem_of(X.toarray(), y, 3.0, "squared_hinge", np.ones(400), tol=1e-8, free=free)
    monkeypatch.setattr(engine.Engine, "_newton", None)
    engine.solve(near, small.a)
    assert near.gap <= 1e-8


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("C", [1e-3, 1e3, 1e6])
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_sizes_of_rows_are_a_matter_of_the_price(factor, C, loss):
    """Rows t times as long with C/t^2 (with the intercept scaled too) have the same scores."""
    X, y = rows(300, 20, 0.3)
    X = X.toarray()
    plain = MaxMargin(C, loss=loss, tol=1e-7).fit(X, y)
    scaled = MaxMargin(C / factor**2, loss=loss, tol=1e-7, intercept_scaling=factor).fit(factor * X, y)
    assert plain.converged_
    assert scaled.converged_
    scores = plain.decision_function(X)
    np.testing.assert_allclose(scaled.decision_function(factor * X), scores, atol=1e-3 * np.abs(scores).max())


def test_limits_are_heeded():
    X, y = rows(20_000)
    model = MaxMargin(100.0, tol=1e-6, max_passes=5)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert not model.converged_
    assert model.n_passes_ <= 12
    assert 0 < model.certificate_.gap < 1


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_whoever_watches_sees_how_far_it_is(loss):
    X, y = rows(largest=10.0)
    gaps = []
    problem = problem_of(X, y, 10.0, loss, tol=1e-6, watch=lambda p: gaps.append(p.gap) or p.gap < 0.5)
    engine.solve(problem)
    assert problem.stopped
    assert problem.gap == gaps[-1] < 0.5
    assert np.any(problem.a)
    assert all(a >= b for a, b in pairwise(gaps))


@pytest.mark.parametrize(("n", "d", "density", "C", "seed"), [(300, 300, 0.3, 1e5, 2), (500, 500, 0.01, 1e6, 4)])
def test_nearly_hard_margins_of_sparse_rows_converge(n, d, density, C, seed):
    """Newton's steps alone stall: rows change sides one by one."""
    X, y = barely_inseparable(n, d, density, seed)
    model = MaxMargin(C, tol=1e-6, solver="newton").fit(X, y)
    assert model.converged_
    assert model.certificate_.gap <= 1e-6


@pytest.mark.parametrize("dense", [False, True])
def test_both_sides_agree_on_nearly_hard_margins(dense):
    """More rows than their rank and next to no slack."""
    X, y = barely_inseparable(500, 500, 0.01, 4)
    X = X.toarray() if dense else X
    model = MaxMargin(1e6, tol=1e-6, solver="newton").fit(X, y)
    other = MaxMargin(1e6, tol=1e-9, solver="dual").fit(X, y)
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
def test_starts_are_used_if_they_are_near(bias, factor):
    X, y = rows(n=6000, d=2000, density=0.004)
    first, start = MaxMargin(1.0, fit_intercept=bias).fit(X, y), {}
    if factor is not None:
        start = {"coef_init": factor * first.coef_, "intercept_init": factor * first.intercept_}
    cold = MaxMargin(2.0, fit_intercept=bias).fit(X, y)
    model = MaxMargin(2.0, fit_intercept=bias).fit(X, y, **start)
    assert model.converged_
    assert model.certificate_.verify(X, y)
    if factor == 1.0:
        assert model.n_passes_ < cold.n_passes_


@pytest.mark.parametrize(
    ("n", "d", "values"), [(5000, 8000, 3), (5000, 8000, 60), (1000, 5000, 3), (9000, 4000, 8), (5000, 4000, 8)]
)
@pytest.mark.parametrize("C", [0.1, 10.0, 400.0])
def test_sparse_rows_of_few_and_many_values(n, d, values, C):
    X, y = rows(n, d, values / d)
    model = MaxMargin(C, tol=1e-3).fit(X, y)
    assert model.solver_.startswith("dual" if n <= 2 * d else "newton")
    assert model.certificate_.gap <= 1e-3
    assert model.certificate_.verify(X, y)
