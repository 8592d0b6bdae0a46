"""How far a row may move before its class changes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from separatrix import Hyperplane, KernelMaxMargin, LeastSquares, MaxMargin, Perceptron
from separatrix.errors import UnavailableError

NORMS = [1, 2, np.inf]


def farthest_move(w, norm):
    """The move of length 1 that raises w.x most."""
    if norm == 2:
        return w / np.linalg.norm(w)
    return np.sign(w) if norm == np.inf else np.eye(len(w))[np.argmax(np.abs(w))] * np.sign(w[np.argmax(np.abs(w))])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("model", [MaxMargin(), MaxMargin(multi_class="joint"), LeastSquares(), Perceptron()], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_class_changes_at_the_radius_and_not_before(model, norm, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model.fit(X, y)
    radius, predicted = model.radius(X, norm=norm), model.predict(X)
    W = model.coef_ if len(model.coef_) > 1 else np.vstack([-model.coef_, model.coef_])
    moves = [farthest_move(W[j] - W[c], norm) for c in range(len(W)) for j in range(len(W)) if j != c]
    changed = np.zeros(len(X), bool)
    for move in moves:
        assert np.array_equal(model.predict(X + 0.999 * radius[:, None] * move), predicted)
        changed |= model.predict(X + 1.001 * radius[:, None] * move) != predicted
    assert changed.all()
    np.testing.assert_allclose(model.radius(sp.csr_array(X), norm=norm), radius, rtol=1e-9)
    np.testing.assert_allclose(model.radius(X.astype(np.float32), norm=norm), radius, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("norm", NORMS)
def test_a_hyperplane_has_radii(norm):
    plane = Hyperplane([3.0, -4.0], 1.0)
    X = np.array([[1.0, 2.0], [0.0, 0.25]])
    expected = np.abs(X @ plane.w + plane.b) / {1: 4.0, 2: 5.0, np.inf: 7.0}[norm]
    np.testing.assert_allclose(plane.radius(X, norm=norm), expected)
    np.testing.assert_allclose(plane.radius(sp.csr_array(X), norm=norm), expected)


def test_what_has_no_radius_says_so():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="norm=3 must be 1, 2 or inf"):
        MaxMargin().fit(X, y).radius(X, norm=3)
    with pytest.raises(AttributeError, match="space of its kernel"):
        KernelMaxMargin().fit(X, y).radius(X)
    with pytest.raises(UnavailableError, match="one-vs-one"):
        MaxMargin(multi_class="ovo").fit(X, y).radius(X)


def test_a_class_that_does_not_depend_on_the_features_has_an_infinite_radius():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]), [0, 0, 1]
    model = MaxMargin(1e-9, penalty="l1", fit_intercept=False).fit(X, y)
    assert not model.coef_.any()
    assert np.array_equal(model.radius(X), [np.inf] * 3)
