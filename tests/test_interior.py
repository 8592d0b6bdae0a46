"""Weights of many rows that are proved to exist by floats: none where a hyperplane separates, and `verify` agrees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import HoKashyap
from separatrix.certificates import gordan
from separatrix.certificates.gordan import overlapping_rows
from separatrix.certificates.logistic_witness import overlapping_weights


def overlapping(rng, n, d, whole=False):
    X = rng.integers(-3, 4, (n, d)).astype(float) if whole else rng.standard_normal((n, d))
    return X, np.where(rng.random(n) < 0.5, 1, -1)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(0, 10**6), st.sampled_from([0.0, 1e-300, 1e-18, 1e-9, 1e-3]), st.booleans())
def test_nothing_is_claimed_where_a_vector_separates(d, seed, margin, whole):
    """With a margin of 0 it separates weakly: then nothing positive vanishes either, unless all rows are on it."""
    rng = np.random.default_rng(seed)
    V = rng.integers(-3, 4, (12 * d, d)).astype(float) if whole else rng.standard_normal((12 * d, d))
    V[:, 0] = np.abs(V[:, 0]) * margin**0.5 + margin
    V[0, 0] = max(margin, 1e-300)
    start = rng.standard_normal(d)
    assert overlapping_weights(V, V @ start) is None


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.integers(0, 10**6), st.booleans(), st.integers(-200, 200))
def test_overlapping_rows_are_found_whatever_their_units(d, seed, whole, power):
    rng = np.random.default_rng(seed)
    X, y = overlapping(rng, 30 * d, d, whole)
    V = X * y[:, None] * 2.0 ** rng.integers(-abs(power), abs(power) + 1, d)
    weight = overlapping_weights(V, np.zeros(len(V)))
    assert weight is not None
    assert weight.min() > 0
    np.testing.assert_allclose(weight.sum(), 1.0)
    assert np.all(np.abs(weight @ V) <= 1e-12 * np.abs(V).max(axis=0))


def test_what_floats_cannot_prove_is_not_claimed():
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 80, 3)
    V = X * y[:, None]
    start = np.zeros(80)
    assert overlapping_weights(V, start) is not None
    assert overlapping_weights(np.column_stack([V, V[:, 0] + V[:, 1]]), start) is None  # columns depend on each other
    assert overlapping_weights(np.column_stack([V, V[:, 0] * (1.0 + 1e-14)]), start) is None
    assert overlapping_weights(np.where(np.arange(3) == 1, np.nan, V), start) is None
    assert overlapping_weights(V * np.array([1.0, np.inf, 1.0]), start) is None
    V[5, 1], V[6, 1] = 1e300, 1e-300
    assert overlapping_weights(V, start) is None


def test_rows_are_those_among_which_the_vector_has_no_say():
    m = np.concatenate([np.full(10, -1.0), np.linspace(0.1, 5.0, 200)])
    rows = overlapping_rows(m, 2)
    assert set(range(10)) >= set(rows[m[rows] < 0].tolist())
    assert len(rows) <= 20
    assert abs(m[rows].mean()) < 0.5


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fit_claims_what_verify_proves(monkeypatch, intercept, dtype):
    monkeypatch.setattr(gordan, "VALUES_FOR_MANY", 0)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = overlapping(rng, 200, 9, whole=seed % 2 == 1)
        X[:, 3] = 0.0  # a column of zeros takes no part
        certificate = HoKashyap(fit_intercept=intercept).fit(X.astype(dtype), y).certificate_
        assert certificate.separable is False
        assert len(certificate.alpha) > 11  # not a vertex
        verification = certificate.verify(X.astype(dtype), y)
        assert verification
        assert not verification.unchecked


def test_rows_of_a_claim_are_those_of_the_data(monkeypatch):
    """Rows of weight 0 take no part, and the certificate numbers the others as they were given."""
    monkeypatch.setattr(gordan, "VALUES_FOR_MANY", 0)
    rng = np.random.default_rng(3)
    X, y = overlapping(rng, 300, 5)
    weight = (np.arange(300) % 3 > 0).astype(float)
    certificate = HoKashyap().fit(X, y, weight).certificate_
    assert certificate.separable is False
    assert np.all(weight[certificate.alpha_index] > 0)
    assert certificate.verify(X, y)
