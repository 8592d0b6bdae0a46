"""The shortest vector over some rows: the dual active set method against Lawson and Hanson's, in every shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import MaxMargin, NotSeparableError
from separatrix.solvers.least_distance import _by_least_squares
from separatrix.solvers.nearest_point import block_pivoting, nearest_point, span_coordinates
from separatrix.solvers.nearest_with_bias import nearest_with_bias

INF = float("inf")


def rows(n, d, seed, margin=0.05, condition=1.0):
    """Patterns with a margin, and their labels."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d)) * np.logspace(0.0, -np.log10(condition), d)
    s = X @ w
    labels = np.where(s > 0, 1.0, -1.0)
    labels[0], labels[-1] = 1.0, -1.0
    X += np.outer(labels * (np.abs(s) + margin) - s, w)
    return labels[:, None] * X, labels


def is_shortest(V, right, found, tolerance=1e-9):
    """Karush, Kuhn and Tucker's conditions, which are sufficient."""
    assert np.all(found.u >= 0)
    np.testing.assert_allclose(found.w, found.u @ V, rtol=0, atol=tolerance * np.linalg.norm(found.w))
    margins = V @ found.w
    assert np.all(margins >= right - tolerance * np.maximum(1.0, np.abs(right)))
    assert np.all(np.abs((margins - right)[found.u > 0]) <= tolerance * np.maximum(1.0, np.abs(right)).max())


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 60), d=st.integers(1, 60), seed=st.integers(0, 10**6), condition=st.sampled_from([1.0, 1e3]),
    guess=st.booleans(), own=st.booleans(),
)  # fmt: skip
def test_it_satisfies_the_conditions_of_optimality(n, d, seed, condition, guess, own):
    V, _ = rows(n, d, seed, condition=condition)
    rng = np.random.default_rng(seed)
    right = rng.uniform(0.5, 1.5, n) if own else np.ones(n)
    found = nearest_point(V, right, rng.permutation(n)[: n // 2 + 1] if guess else None)
    assert found is not None
    assert found.optimal
    assert found.feasible
    is_shortest(V, right, found)
    if not own:
        w, _ = _by_least_squares(V, 0.1, lambda: False)
        assert np.linalg.norm(found.w) == pytest.approx(np.linalg.norm(w), rel=1e-8)


@pytest.mark.parametrize("shape", [(40, 5), (8, 5), (6, 5)])
def test_rows_that_no_vector_satisfies(shape):
    V, _ = rows(*shape, 1)
    V = np.vstack([V, -V[:3].sum(axis=0)])
    found = nearest_point(V, np.ones(len(V)))
    assert found is not None
    assert not found.feasible
    assert np.linalg.norm(found.u @ V) <= 1e-12 * found.u.sum() * np.linalg.norm(V, axis=1).max()


def test_repeated_and_dependent_rows():
    V, _ = rows(30, 4, 2)
    V = np.repeat(V, 5, axis=0)
    found = nearest_point(V, np.ones(len(V)))
    assert found is not None
    is_shortest(V, np.ones(len(V)), found)
    wide = np.hstack([V[:60], np.zeros((60, 200))])
    again = nearest_point(wide, np.ones(60))
    assert again is not None
    is_shortest(wide, np.ones(60), again)


def test_it_stops_when_asked_to():
    V, _ = rows(3000, 300, 3, margin=1e-4)
    found = nearest_point(V, np.ones(len(V)), stop=lambda: True)
    assert found is not None
    assert not found.optimal
    assert np.all(found.u >= 0)


def test_coordinates_keep_inner_products():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) @ rng.normal(size=(3, 50))
    L = span_coordinates(X @ X.T)
    assert L.shape[1] < 20
    np.testing.assert_allclose(L @ L.T, X @ X.T, atol=1e-10)


def test_block_pivoting_finds_the_tight_rows():
    V, _ = rows(50, 80, 4)
    tight, u = block_pivoting(V @ V.T, np.ones(50))
    found = nearest_point(V, np.ones(50))
    assert found is not None
    assert u is not None
    np.testing.assert_array_equal(tight, np.flatnonzero(found.u))


@settings(max_examples=30, deadline=None)
@given(n=st.integers(3, 50), d=st.integers(1, 60), seed=st.integers(0, 10**6), shift=st.sampled_from([0.0, 100.0]))
def test_a_free_bias(n, d, seed, shift):
    Z, labels = rows(n, d, seed)
    Z = Z + shift * labels[:, None]
    found = nearest_with_bias(Z, labels)
    assert found is not None
    w, u = found
    assert np.all(u >= 0)
    assert u @ labels == pytest.approx(0.0, abs=1e-12 * u.sum())
    np.testing.assert_allclose(u @ Z, w, atol=1e-7 * np.linalg.norm(w))
    scores = labels * (Z @ w)
    gap = scores[labels > 0].min() - scores[labels < 0].max()
    assert gap == pytest.approx(2.0, rel=1e-8)  # min over + of w.x less max over - of w.x: both are tight


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
