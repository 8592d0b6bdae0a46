"""Hard margins against Lawson and Hanson's least squares, in every shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from separatrix import MaxMargin, NotSeparableError, separability
from separatrix.solvers.small_problem import span_coordinates
from separatrix.solvers.vertex import affine_vertex

INF = float("inf")


def rows(n, d, seed, margin=0.05, condition=1.0):
    """Rows with a margin, and their labels."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d)) * np.logspace(0.0, -np.log10(condition), d)
    s = X @ w
    labels = np.where(s > 0, 1.0, -1.0)
    labels[0], labels[-1] = 1.0, -1.0
    X += np.outer(labels * (np.abs(s) + margin) - s, w)
    return X, labels


def best_margin(V):
    """The distance of the rows' convex hull from the origin."""
    scale = np.abs(V).max()
    E = np.vstack([V.T / scale, np.ones(len(V))])
    u = nnls(E, np.append(np.zeros(V.shape[1]), 1.0), maxiter=100 * len(V))[0]
    return np.linalg.norm(u @ V) / u.sum()


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 60), d=st.integers(1, 60), seed=st.integers(0, 10**6), condition=st.sampled_from([1.0, 1e3]),
    bias=st.booleans(),
)  # fmt: skip
def test_it_reaches_the_best_margin(n, d, seed, condition, bias):
    X, labels = rows(n, d, seed, condition=condition)
    model = MaxMargin(INF, tol=1e-10, fit_intercept=bias).fit(X, labels)
    V = labels[:, None] * np.column_stack([X, np.full(n, float(bias))])
    assert model.certificate_.gap <= 1e-10
    assert model.certificate_.lower == pytest.approx(best_margin(V), rel=1e-7)
    assert model.certificate_.verify(X, labels)


@pytest.mark.parametrize("shape", [(40, 5), (8, 5), (6, 5), (900, 30), (60, 90)])
@pytest.mark.parametrize("bias", [True, False, "unpenalized"])
def test_rows_that_no_vector_separates(shape, bias):
    X, labels = rows(*shape, 1)
    X = np.rint(64.0 * X)
    X = np.vstack([X, X[labels > 0][:2].sum(axis=0) / 2.0, -X[0]])  # between two rows of the other class
    labels = np.append(labels, [-1.0, labels[0]])
    with pytest.raises(NotSeparableError) as caught:
        MaxMargin(INF, fit_intercept=bias).fit(X, labels)
    assert caught.value.certificate.verify(X, labels)
    assert len(caught.value.certificate.alpha) <= X.shape[1] + 2


def test_repeated_and_dependent_rows():
    X, labels = rows(30, 4, 2)
    X, labels = np.repeat(X, 5, axis=0), np.repeat(labels, 5)
    for Z in (X, np.hstack([X, X, np.zeros((len(X), 200))])):
        model = MaxMargin(INF, tol=1e-10).fit(Z, labels)
        assert model.certificate_.gap <= 1e-10
        assert model.certificate_.verify(Z, labels)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("bias", [True, "unpenalized"])
def test_a_working_set_of_many_rows(scale, bias):
    X, labels = rows(6000, 12, 3, margin=1e-3)
    model = MaxMargin(INF, tol=1e-8, fit_intercept=bias, intercept_scaling=scale).fit(scale * X, labels)
    assert model.certificate_.gap <= 1e-8
    assert model.certificate_.verify(scale * X, labels)


def test_coordinates_keep_inner_products():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) @ rng.normal(size=(3, 50))
    L = span_coordinates(X @ X.T)
    assert L.shape[1] < 20
    np.testing.assert_allclose(L @ L.T, X @ X.T, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 90), d=st.integers(1, 12), rank=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_a_vertex_has_the_combination_of_all_rows(n, d, rank, seed):
    rng = np.random.default_rng(seed)
    V, u = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)), rng.uniform(0.1, 1.0, n)
    few, weights = affine_vertex(V, u)
    assert len(few) <= min(n, rank, d) + 1
    assert np.all(weights > 0)
    np.testing.assert_allclose(weights @ V[few], u @ V, atol=1e-9 * n)
    assert weights.sum() == pytest.approx(u.sum())


@settings(max_examples=30, deadline=None)
@given(n=st.integers(3, 50), d=st.integers(1, 60), seed=st.integers(0, 10**6), shift=st.sampled_from([0.0, 100.0]))
def test_an_unpenalized_intercept(n, d, seed, shift):
    X, labels = rows(n, d, seed)
    X = X + shift
    model = MaxMargin(INF, tol=1e-9, fit_intercept="unpenalized").fit(X, labels)
    assert model.certificate_.gap <= 1e-8
    plus, minus = X[labels > 0], X[labels < 0]
    V = (plus[:, None] - minus).reshape(-1, d) / 2.0
    assert model.certificate_.lower == pytest.approx(best_margin(V), rel=1e-6)


def test_near_separable_rows_are_decided():
    X, labels = rows(2000, 10, 5, margin=1e-7)
    assert separability(X, labels).separable
    X[1999], labels[1999] = X[0], -labels[0]
    assert separability(X, labels).separable is False


@pytest.mark.parametrize("bias", [True, False, "unpenalized"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_fits_of_fewer_rows_than_columns_are_certified(bias, dtype, layout):
    import scipy.sparse as sp

    rng = np.random.default_rng(7)
    X = (rng.normal(size=(40, 250)) * (rng.random((40, 250)) < 0.3)).astype(dtype)
    y = rng.random(40) < 0.4
    X = sp.csr_matrix(X) if layout == "csr" else X
    for C in (INF, 10.0):
        model = MaxMargin(C=C, tol=1e-9, fit_intercept=bias).fit(X, y)
        assert model.certificate_.gap < 1e-8
        assert model.certificate_.verify(X, y)


def test_far_fewer_rows_than_columns_reach_their_gap():
    """A coarse and a fine gap bound the same margin; rows that no hyperplane separates have none."""
    rng = np.random.default_rng(8)
    X, labels = rng.normal(size=(40, 300)), np.arange(40) % 2
    rough, fine = (MaxMargin(INF, tol=tol).fit(X, labels) for tol in (1e-3, 1e-10))
    assert rough.dual_gap_ <= 1e-3
    assert fine.dual_gap_ <= 1e-10
    assert rough.certificate_.lower <= fine.certificate_.upper
    assert fine.certificate_.lower <= rough.certificate_.upper
    X[1] = X[0]
    with pytest.raises(NotSeparableError):
        MaxMargin(INF, tol=1e-3).fit(X, labels)
