"""First-order methods for the nearest point of the convex hull: their limit, their steps, their bounds."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import MaxMargin, NearestPoint, bounds
from separatrix.data.memory import as_rows
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.hull_descent import METHODS, RescaledPerceptron
from separatrix.space import Space

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NEAREST = [m for m in METHODS if m not in ("smooth", "rescaled")]


def separable(seed, n=60, d=4, gap=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 0] += np.where(X[:, 0] > 0, gap, -gap)
    return X, (X[:, 0] > 0).astype(int)


def oracle(Y, method, steps):
    """The formulas, one line each; v starts at the shortest pattern."""
    lam = np.zeros(len(Y))
    lam[np.argmin((Y * Y).sum(axis=1))] = 1.0
    for _ in range(steps):
        v = lam @ Y
        m = Y @ v
        s, l = np.argmin(m), np.flatnonzero(lam)[np.argmax(m[lam > 0])]
        if method == "gilbert" or (method == "away" and v @ v - m[s] >= m[l] - v @ v):
            to = np.eye(len(Y))[s] - lam
            most = 1.0
        elif method == "away":
            to, most = lam - np.eye(len(Y))[l], lam[l] / (1 - lam[l])
        else:
            to, most = np.eye(len(Y))[s] - np.eye(len(Y))[l], lam[l]
        d = to @ Y
        lam = np.maximum(lam + min(most, -(v @ d) / (d @ d)) * to, 0.0)
    return lam @ Y


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("method", ["gilbert", "away", "mdm"])
def test_steps_are_those_of_the_formulas(method, layout):
    """Ten of them: a step of mdm leaves ties, which rounding breaks in its own way."""
    X, y = separable(0)
    Y = np.where(y == 1, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(X))])
    model = NearestPoint(method, tol=0.0, max_iter=11).fit(layout(X), y)
    lengths = [np.linalg.norm(oracle(Y, method, steps)) for steps in range(11)]
    np.testing.assert_allclose(np.sqrt(2.0 * model.criterion_values_), lengths, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("method", "tol"), [("mdm", 1e-6), ("away", 1e-6), ("gilbert", 0.02), ("kozinec", 0.05)])
def test_bounds_meet_in_the_maximum_margin(method, tol, dtype):
    X, y = separable(1)
    X = X.astype(dtype)
    best = MaxMargin(np.inf, tol=1e-9).fit(X, y).certificate_
    model = NearestPoint(method, tol=tol, max_iter=20_000).fit(X, y)
    certificate = model.certificate_
    assert model.converged_
    assert certificate.lower <= best.upper
    assert certificate.upper >= best.lower
    assert certificate.lower >= (1.0 - 1.01 * tol) * certificate.upper
    assert certificate.verify(X, y)


@pytest.mark.parametrize("seed", range(5))
def test_the_smooth_perceptron_keeps_its_theorem(seed):
    X, y = separable(seed, n=200, gap=0.02)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = NearestPoint("smooth", tol=1.0, fit_intercept=False, max_iter=10_000).fit(X, y)
    gamma = MaxMargin(np.inf, fit_intercept=False, tol=1e-6).fit(X, y).certificate_.upper
    assert model.converged_
    assert model.certificate_.separable
    assert model.n_updates_ <= bounds.smooth_perceptron(gamma, len(X))


def thin(margin, d=3):
    """Patterns all around, which one direction alone has on one side, by so little."""
    rng = np.random.default_rng(0)
    side = rng.normal(size=(12, d - 1))
    side = np.vstack([side, -side.mean(axis=0)]) / np.linalg.norm(side, axis=1).max()
    Y = np.column_stack([np.full(len(side), margin), side]) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    l = np.where(np.arange(len(Y)) % 2, 1.0, -1.0)
    return l[:, None] * Y, (l > 0).astype(int)


def rescaled_oracle(Y, steps):
    """Dunagan & Vempala with their stretched patterns written out; z after so many passes, in the space of Y."""
    d, rng = Y.shape[1], np.random.default_rng(0)
    M, z, x, made = np.eye(d), np.zeros(d), None, 0
    for _ in range(steps):
        A = Y @ M.T / np.linalg.norm(Y @ M.T, axis=1, keepdims=True)
        if x is None:
            z, made, wrong = z + A[np.argmin(A @ z)], made + 1, (A @ z).min() <= 0
            if made >= 32 * d * d and wrong:
                x, made = rng.standard_normal(d), 0
        elif (A @ x).min() >= -np.linalg.norm(x) / (32 * d):
            x = x / np.linalg.norm(x)
            M, z, x, made = (np.eye(d) + np.outer(x, x)) @ M, np.zeros(d), None, 0
        else:
            k = np.argmin(A @ x)
            x, made = x - (A[k] @ x) * A[k], made + 1
    return M.T @ z


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_the_rescaled_perceptron_step_by_step(layout):
    X, y = thin(1e-4, d=3)
    patterns = Patterns(as_rows(layout(X)), np.where(y == 1, 1.0, -1.0), Space(0.0))
    solver = RescaledPerceptron(patterns, np.ones(len(X)), 1.0)
    Y = np.where(y == 1, 1.0, -1.0)[:, None] * np.column_stack([X, np.zeros(len(X))])
    for steps in range(1, 1300):
        if solver.step() is not None:
            break
        if steps % 97 == 0 and solver.x is None:
            want = rescaled_oracle(Y, steps)
            np.testing.assert_allclose(solver.M.T @ solver.z, want, rtol=1e-6, atol=1e-9 * np.abs(want).max())
    assert solver.rescalings >= 1


def test_the_rescaled_perceptron_needs_the_logarithm_of_the_margin():
    """A margin of 1e-6: the Perceptron would make up to 1e12 updates, and so many more for a thousandth of it."""
    epochs = []
    for margin in (1e-3, 1e-6, 1e-9):
        X, y = thin(margin, d=3)
        model = NearestPoint("rescaled", tol=1.0, fit_intercept=False, max_iter=100_000).fit(X, y)
        assert model.converged_
        assert model.certificate_.separable
        assert model.certificate_.verify(X, y)
        epochs.append(model.n_epochs_)
    assert epochs[2] - epochs[1] < 3 * (epochs[1] - epochs[0]) + 2000


def test_the_rescaled_perceptron_without_a_solution():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    model = NearestPoint("rescaled", tol=1.0, max_iter=2000).fit(X, y)
    assert not model.converged_
    assert model.certificate_.separable is not True
    assert model.certificate_.upper < 0.05
    assert model.certificate_.verify(X, y)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("method", ["mdm", "away"])
def test_where_no_hyperplane_separates_the_combination_proves_it(method):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    model = NearestPoint(method, max_iter=5000).fit(X, y)
    assert model.certificate_.separable is False
    assert model.certificate_.verify(X, y)


def test_no_start_is_taken():
    X, y = separable(0)
    with pytest.raises(ValueError, match="no coef_init"):
        NearestPoint().fit(X, y, coef_init=np.ones((1, 4)))
