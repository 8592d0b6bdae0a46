"""Margins of sparse rows with many columns: sweeps, then Newton's steps on the face of the dual."""

import os
from pathlib import Path

import numpy as np
import pytest
import quadprog
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from separatrix import MaxMargin, NotSeparableError, separability
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers import face_factor, face_newton
from separatrix.solvers.face_factor import FaceFactor
from separatrix.solvers.hinge_problem import HingeProblem
from separatrix.solvers.problem import Problem
from separatrix.space import Space

INF = float("inf")


def text(n=120, d=300, seed=0, dtype=np.float64, noise=0.0):
    """Rows of few frequent and many rare words, of length 1, and their labels; ``noise``: share of wrong labels."""
    rng = np.random.default_rng(seed)
    words = (rng.pareto(1.0, size=(n, 25)) * d / 20).astype(int) % d
    X = sp.csr_matrix((rng.random(words.size) + 0.2, (np.repeat(np.arange(n), 25), words.ravel())), shape=(n, d))
    X = sp.diags(1.0 / np.sqrt(X.multiply(X).sum(axis=1).A1)) @ X
    score = X @ rng.normal(size=d)
    y = np.where(score > np.quantile(score, 0.7), 1.0, -1.0)
    y[rng.random(n) < noise] *= -1.0
    return X.astype(dtype).tocsr(), y


def optimum(X, y, C, loss, rho, weight):
    """The smallest objective, by Goldfarb and Idnani's method on the dual; of a hard margin |a|^2/2."""
    Y = y[:, None] * np.hstack([X.toarray().astype(float), np.full((len(y), 1), rho)])
    n, squared = len(y), loss == "squared_hinge"
    G = Y @ Y.T + np.diag(1.0 / (2.0 * C * weight) if squared else np.zeros(n))
    A, b = np.eye(n), np.zeros(n)
    if not squared:
        A, b = np.hstack([A, -A]), np.append(b, -C * weight)
    return -quadprog.solve_qp(G, np.ones(n), A, b)[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("C", "loss"), [
    (INF, "squared_hinge"), (1e3, "squared_hinge"), (1e6, "squared_hinge"), (1e3, "hinge"), (1e6, "hinge"),
])  # fmt: skip
def test_the_objective_is_that_of_another_solver(C, loss, intercept, dtype):
    X, y = text(60, 150, dtype=dtype, noise=0.0 if C == INF else 0.05)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = MaxMargin(C, loss=loss, tol=1e-9, fit_intercept=intercept, solver="dual")
    model.fit(X, y, sample_weight=weight)
    assert model.converged_
    assert model.certificate_.verify(X, y, sample_weight=weight)
    best = optimum(X, y, C, loss, 1.0 if intercept else 0.0, weight)
    if C == INF:
        assert 0.5 / model.certificate_.lower**2 == pytest.approx(best, rel=1e-8)
    else:
        assert model.certificate_.value == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("C", "loss"), [
    (INF, "squared_hinge"), (1e3, "squared_hinge"), (1e6, "squared_hinge"), (1e3, "hinge"), (1e6, "hinge"),
])  # fmt: skip
def test_text_is_solved_by_default(C, loss, seed):
    X, y = text(900, 2500, seed=seed)
    model = MaxMargin(C, loss=loss, tol=1e-9).fit(X, y)
    assert model.solver_.startswith("dual")
    assert model.converged_
    assert model.certificate_.gap <= 1e-9


@pytest.mark.parametrize(("C", "loss"), [(INF, "squared_hinge"), (1e6, "squared_hinge"), (1e6, "hinge")])
def test_duplicates_make_singular_matrices(C, loss):
    X, y = text(100, 400)
    once = MaxMargin(C, loss=loss, tol=1e-9).fit(X, y)
    often = MaxMargin(C, loss=loss, tol=1e-9).fit(sp.vstack([X, X, X]), np.tile(y, 3))
    assert once.converged_
    assert often.converged_
    np.testing.assert_allclose(often.coef_, once.coef_, atol=1e-4 * np.abs(once.coef_).max())


@pytest.mark.parametrize(
    ("C", "loss"), [(1e3, "squared_hinge"), (1e6, "squared_hinge"), (1e3, "hinge"), (1e6, "hinge")]
)
def test_rows_of_both_labels(C, loss):
    X, y = text(200, 600)
    X, y = sp.vstack([X, X[:5]]).tocsr(), np.append(y, -y[:5])
    with pytest.raises(NotSeparableError) as caught:
        MaxMargin(INF).fit(X, y)
    assert caught.value.certificate.verify(X, y)
    model = MaxMargin(C, loss=loss, tol=1e-9).fit(X, y)
    assert model.converged_
    assert model.certificate_.verify(X, y)


def test_a_combination_that_vanishes_without_duplicates():
    X, y = text(200, 600)
    X = sp.vstack([X, 0.5 * (X[0] + X[1]) if y[0] == y[1] else X[0]]).tocsr()
    y = np.append(y, -y[0])
    with pytest.raises(NotSeparableError) as caught:
        MaxMargin(INF, solver="dual").fit(X, y)
    assert caught.value.certificate.verify(X, y)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("C", [INF, 1e5])
def test_more_rows_on_the_face_than_their_rank(loss, C, sparse):
    """One-hot columns: few different rows of low rank, each several times."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=(300, 6))
    X = np.eye(4)[codes].reshape(300, 24)
    y = np.where(X @ rng.normal(size=24) > 0, 1, -1)
    X = sp.csr_matrix(X) if sparse else X
    expected = MaxMargin(C, loss=loss, tol=1e-9).fit(X, y)
    model = MaxMargin(C, loss=loss, tol=1e-9, solver="dual").fit(X, y)
    assert not expected.solver_.startswith("dual")
    assert model.converged_
    assert model.certificate_.lower == pytest.approx(expected.certificate_.lower, rel=1e-8)


def test_large_faces_go_by_products(monkeypatch):
    monkeypatch.setattr(face_newton, "LARGEST", 20)
    X, y = text(300, 900)
    model = MaxMargin(INF, tol=1e-7).fit(X, y)
    assert model.solver_.startswith("dual")
    assert model.converged_


@pytest.mark.parametrize(("C", "loss"), [(INF, "squared_hinge"), (1e4, "squared_hinge"), (1e4, "hinge")])
def test_a_solution_as_the_start_is_recognized(C, loss):
    X, y = text(900, 2500)
    cold = MaxMargin(C, loss=loss, tol=1e-6, solver="dual").fit(X, y)
    warm = MaxMargin(C, loss=loss, tol=1e-6, solver="dual")
    warm.fit(X, y, coef_init=cold.coef_, intercept_init=cold.intercept_)
    assert warm.converged_
    assert warm.n_passes_ < 0.5 * cold.n_passes_


@pytest.mark.parametrize(("C", "factor"), [(INF, 1e-150), (INF, 1e-20), (INF, 1e150), (1e52, 1e-20), (1e-28, 1e20)])
def test_short_and_long_rows(C, factor):
    X, y = text(60, 150)
    assert MaxMargin(C, fit_intercept=False).fit(factor * X, y).converged_


def test_an_unpenalized_intercept_goes_another_way():
    X, y = text()
    assert MaxMargin(INF, fit_intercept="unpenalized").fit(X, y).converged_
    with pytest.raises(ValueError, match="needs a penalized intercept"):
        MaxMargin(INF, fit_intercept="unpenalized", solver="dual").fit(X, y)


def problem_of(X, y, C, loss="squared_hinge", **limits):
    if loss == "hinge":
        return HingeProblem(Patterns(X, y, Space(1.0, hinge=C, weighted=True)), C, tol=1e-9, **limits)
    return Problem(Patterns(X, y, Space(1.0, delta=(2.0 * C) ** -0.5)), C, tol=1e-9, **limits)


@pytest.mark.parametrize("C", [INF, 1e4])
def test_stop_requests_are_heard_within_a_solve(C, monkeypatch):
    """Whenever the problem says stop, it is asked a few times more at most, and bounds are what was found before."""
    monkeypatch.setattr(face_factor, "SPARSE_WORK", 1e5)  # several steps for the inner products
    X, y = text(900, 2500)
    asked, after = [], 10**9

    def interrupted(problem):
        asked.append(len(asked) >= after)
        problem.stopped = problem.limited = asked[-1]
        return asked[-1]

    monkeypatch.setattr(Problem, "interrupted", interrupted)
    solvers.solve(problem_of(X, y, C), side="dual")
    everything = len(asked)
    assert everything > 30
    for after in range(0, everything, 3):  # noqa: B007
        asked.clear()
        problem = problem_of(X, y, C)
        solvers.solve(problem, side="dual")
        assert problem.limited
        assert sum(asked) <= 6
        assert problem.lower <= problem.upper * (1 + 1e-12)


@pytest.mark.parametrize("limit", [1, 5, 20])
def test_passes_are_limited(limit):
    X, y = text(900, 2500)
    with pytest.warns(ConvergenceWarning):
        model = MaxMargin(INF, tol=1e-9, max_passes=limit).fit(X, y)
    assert model.n_passes_ <= limit + 8


class TestFactor:
    """The kept factor against one from scratch."""

    @pytest.fixture(autouse=True)
    def small_blocks(self, monkeypatch):
        monkeypatch.setattr(face_factor, "BLOCK", 16)
        monkeypatch.setattr(face_factor, "SPARSE_WORK", 1e4)

    def parts(self, sparse=True, C=INF):
        X, y = text(140, 400)
        problem = problem_of(X if sparse else X.toarray(), y, C)
        Y = y[:, None] * np.hstack([X.toarray().astype(float), np.ones((len(y), 1))])
        return problem, Y @ Y.T

    @pytest.mark.parametrize("sparse", [True, False])
    @pytest.mark.parametrize("C", [INF, 10.0])
    def test_faces_that_change(self, C, sparse):
        problem, G = self.parts(C=C, sparse=sparse)
        rng, factor = np.random.default_rng(0), FaceFactor(problem, 100)
        face = rng.choice(140, 80, replace=False)
        for count in (0, 3, 30, 1, 79, 0, 8):
            kept = rng.permutation(face)[count:]
            others = np.setdiff1d(np.arange(140), face)
            face = np.append(kept, rng.choice(others, min(count, len(others)), replace=False))
            assert factor.of(face, rng.random(140), 1e-13)
            assert set(factor.rows) == set(face)
            A = G[np.ix_(factor.rows, factor.rows)] + np.diag(problem.diagonal[factor.rows])
            right = rng.normal(size=len(face))
            np.testing.assert_allclose(A @ factor.solve(right), right, atol=1e-7)
            assert len(factor.known) <= 100

    def test_a_singular_matrix_is_reported_and_forgotten(self):
        problem, G = self.parts()
        factor, everything = FaceFactor(problem, 140), np.arange(140)
        factor.norm2 = np.full(140, -1.0)
        assert not factor.of(everything, np.ones(140), 10.0)
        factor.norm2 = np.ones(140)
        assert factor.of(everything, np.ones(140), 1e-3)
        right = np.ones(140)
        np.testing.assert_allclose((G + 1e-3 * np.eye(140))[factor.rows][:, factor.rows] @ factor.solve(right), right)

    def test_time_that_is_up_in_a_factor(self):
        problem, G = self.parts()
        factor, answers = FaceFactor(problem, 140), []
        for calls in range(40):
            answers[:] = [False] * calls + [True]
            problem.interrupted = lambda: answers.pop(0) if answers else False
            done = factor.of(np.arange(90), np.ones(140), 1e-13)
            if done:
                assert answers
            problem.interrupted = lambda: False
            assert factor.of(np.arange(calls, 100), np.ones(140), 1e-13)
            right = np.ones(len(factor.rows))
            np.testing.assert_allclose(G[np.ix_(factor.rows, factor.rows)] @ factor.solve(right), right, atol=1e-8)


def svmlight(*names):
    path = Path(os.environ.get("SEPARATRIX_DATA", "")).joinpath(*names)
    if not path.exists():
        if os.environ.get("SEPARATRIX_REQUIRE_DATA"):
            pytest.fail(f"SEPARATRIX_REQUIRE_DATA is set, and {path} is missing")
        pytest.skip(f"{path} is missing")
    return load_svmlight_file(str(path))


@pytest.mark.slow
@pytest.mark.parametrize("label", [1, 2, 5, 60, 73])
def test_hard_margins_of_sector(label):
    X, y = svmlight("sector", "sector.scale")
    model = MaxMargin(INF, tol=1e-9).fit(X, y == label)
    assert model.converged_
    assert model.certificate_.verify(X, y == label)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("C", [1e3, 1e6])
def test_nearly_hard_margins_of_sector(C, loss):
    X, y = svmlight("sector", "sector.scale")
    assert MaxMargin(C, loss=loss, tol=1e-9).fit(X, y == 60).converged_


@pytest.mark.slow
@pytest.mark.parametrize("C", [INF, 1e6])
def test_mushrooms_by_faces_of_low_rank(C):
    X, y = svmlight("mushrooms", "mushrooms")
    assert MaxMargin(C, tol=1e-9, solver="dual").fit(X, y).converged_


def test_steps_end_although_they_come_nearer_and_nearer():
    """Rounding errors leave no vector that separates these rows; exact integers then decide."""
    X = 1e9 + np.array([[0.0, -1.0, -3.0], [0.0, 0.0, 0.0], [-2.0, -1.0, 0.0]])
    answer = separability(sp.csr_matrix(X), [0, 1, 0])
    assert answer.separable is True
    assert answer.exact
