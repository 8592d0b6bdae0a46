"""Least squares for several classes: targets 0/1, and losses (DHS eqs. 116-122)."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from separatrix import DataError, LeastSquares

X, y = load_iris(return_X_y=True)


def pseudo_inverse(B, intercept=True):
    Y = np.column_stack([X, np.ones(len(X))]) if intercept else X
    return (np.linalg.pinv(Y) @ B).T


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("intercept", [True, False])
def test_targets_zero_and_one(layout, intercept):
    A = pseudo_inverse(np.eye(3)[y], intercept)  # eq. 120
    model = LeastSquares("indicator", fit_intercept=intercept).fit(layout(X), y)
    np.testing.assert_allclose(model.coef_, A[:, :4], atol=1e-9)
    if intercept:
        np.testing.assert_allclose(model.intercept_, A[:, 4], atol=1e-9)
        signs = LeastSquares().fit(layout(X), y)
        np.testing.assert_allclose(signs.decision_function(X), 2 * model.decision_function(X) - 1, atol=1e-9)
        np.testing.assert_array_equal(signs.predict(X), model.predict(X))
        np.testing.assert_allclose(signs.predict_proba(X), model.predict_proba(X), atol=1e-9)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert P.min() >= 0
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))
    for k, certificate in enumerate(model.certificates_):
        assert certificate.verify(layout(X), y == k)


def test_two_classes_are_the_same_either_way():
    a, b = (LeastSquares(target).fit(X, y > 0) for target in ("ones", "indicator"))
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_losses():
    losses = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 5.0], [1.0, 1.0, 0.0]])  # taking 2 for 1 is dear
    model = LeastSquares(loss=losses).fit(X, y)
    A = pseudo_inverse(-losses.T[y])  # eq. 121: row k of class j is -(lambda_1j, ..., lambda_cj)
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), A, atol=1e-9)
    plain = LeastSquares(loss=1 - np.eye(3)).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), LeastSquares("indicator").fit(X, y).predict(X))
    np.testing.assert_allclose(model.predict_proba(X), LeastSquares("indicator").fit(X, y).predict_proba(X), atol=1e-9)
    # the dear error is made less often
    dear = np.count_nonzero((y == 2) & (model.predict(X) == 1))
    assert dear < np.count_nonzero((y == 2) & (plain.predict(X) == 1))


def test_losses_of_two_classes():
    two = (y == 2).astype(int)
    rows = y > 0
    losses = np.array([[0.0, 4.0], [1.0, 0.0]])
    model = LeastSquares(loss=losses).fit(X[rows], two[rows])
    Y = np.column_stack([X[rows], np.ones(100)])
    G = (np.linalg.pinv(Y) @ (-losses.T[two[rows]])).T
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), G[1] - G[0], atol=1e-9)
    assert model.coef_.shape == (1, 4)
    assert np.count_nonzero(two[rows] & (model.predict(X[rows]) == 0)) == 0
    assert model.predict_proba(X[rows]).shape == (100, 2)
    assert model.certificate_.verify(X[rows], two[rows])


def test_wrong_losses():
    with pytest.raises(DataError, match="expected finite numbers of shape"):
        LeastSquares(loss=np.eye(2)).fit(X, y)
    with pytest.raises(ValueError, match="takes the place"):
        LeastSquares("fisher", loss=np.eye(3)).fit(X, y)
