"""First-order methods for the nearest point of the convex hull: their limit, their steps, their bounds."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import MaxMargin, NearestPoint, bounds
from separatrix.descent.hull_descent import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NEAREST = [m for m in METHODS if m != "smooth"]


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
    model = NearestPoint(method, tol=0.0, max_epochs=11).fit(layout(X), y)
    lengths = [np.linalg.norm(oracle(Y, method, steps)) for steps in range(11)]
    np.testing.assert_allclose(np.sqrt(2.0 * model.criterion_values_), lengths, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("method", "tol"), [("mdm", 1e-6), ("away", 1e-6), ("gilbert", 0.02), ("kozinec", 0.05)])
def test_bounds_meet_in_the_maximum_margin(method, tol, dtype):
    X, y = separable(1)
    X = X.astype(dtype)
    best = MaxMargin(np.inf, tol=1e-9).fit(X, y).certificate_
    model = NearestPoint(method, tol=tol, max_epochs=20_000).fit(X, y)
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
    model = NearestPoint("smooth", tol=1.0, fit_intercept=False, max_epochs=10_000).fit(X, y)
    gamma = MaxMargin(np.inf, fit_intercept=False, tol=1e-6).fit(X, y).certificate_.upper
    assert model.converged_
    assert model.certificate_.separable
    assert model.n_updates_ <= bounds.smooth_perceptron(gamma, len(X))


@pytest.mark.parametrize("method", ["mdm", "away"])
def test_where_no_hyperplane_separates_the_combination_proves_it(method):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    model = NearestPoint(method, max_epochs=5000).fit(X, y)
    assert model.certificate_.separable is False
    assert model.certificate_.verify(X, y)


def test_no_start_is_taken():
    X, y = separable(0)
    with pytest.raises(ValueError, match="no coef_init"):
        NearestPoint().fit(X, y, coef_init=np.ones((1, 4)))
