"""Weights that are proved to exist by floats: what they claim is what exact arithmetic finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import HoKashyap, data
from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates import gordan
from separatrix.certificates.exact import scaled_columns, vanishing_weights
from separatrix.certificates.logistic_witness import proved_weights
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space


def meeting(rng, k):
    """Rows of k - 1 columns, of which a combination with positive weights vanishes but for rounding errors."""
    V, weight = rng.standard_normal((k, k - 1)), rng.uniform(0.1, 1.0, k)
    V[-1] = -(weight[:-1] @ V[:-1]) / weight[-1]
    return V, weight / weight.sum()


def proved(V, alpha):
    """The weights of sum 1 that floats prove, or None."""
    A = scaled_columns(V)
    found = None if A is None else proved_weights(A, alpha)
    return None if found is None else found / found.sum()


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6), st.integers(-30, 30), st.booleans())
def test_what_floats_prove_is_so(k, seed, power, positive):
    rng = np.random.default_rng(seed)
    V, weight = meeting(rng, k)
    V *= 10.0 ** rng.integers(-power, power + 1, k - 1) if power > 0 else 1.0
    if not positive:
        V[0] = -V[0]
    found, exact = proved(V, weight), vanishing_weights(V, weight, Clock())
    if found is not None and positive:
        np.testing.assert_allclose(found, weight, rtol=1e-6)
    if found is not None:
        assert min(exact) > 0
        np.testing.assert_allclose(found, [w / sum(exact) for w in exact], rtol=1e-9)
    else:
        assert not positive or np.linalg.cond(V / np.abs(V).max(axis=0)) > 1e4


@pytest.mark.parametrize("small", [0.0, 1e-18, -1e-18, 1e-30])
def test_weights_as_small_as_rounding_errors_are_not_claimed(small):
    """The third weight of these is ``small``: too small for floats, or 0, or negative."""
    V = np.array([[1.0, 0.3], [-1.0, -0.3 - small], [0.1, 1.0]])
    assert proved(V, np.array([1.0, 1.0, max(small, 1e-30)])) is None


def test_what_cannot_be_proved_by_floats_is_left_to_fractions():
    V, weight = meeting(np.random.default_rng(0), 5)
    assert proved(V, weight) is not None
    assert proved(np.vstack([V, V[:1]]), np.append(weight, 0.1)) is not None  # more rows than a vertex has
    for other in (V * np.inf, np.column_stack([V[:, :3], V[:, 0]])):
        assert proved(other, weight) is None
    assert proved(V[:4], weight[:4]) is None
    V[2, 1] = 1e-300
    assert proved(V, weight) is None
    repeated = np.column_stack([V[:, :3], V[:, 0] + 1e-17])  # regular, if at all, by less than floats see
    assert proved(repeated, weight) is None


@pytest.mark.parametrize("intercept", [True, False])
def test_a_fit_claims_what_verify_proves(intercept):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 12))
    y = rng.random(150) < 0.5
    certificate = HoKashyap(fit_intercept=intercept).fit(X, y).certificate_
    assert certificate.separable is False
    assert len(certificate.alpha) == 13 + intercept
    verification = certificate.verify(X, y)
    assert verification
    assert not verification.unchecked


def test_a_value_that_underflows_beside_a_large_one_proves_nothing():
    assert proved(np.array([[1e308, 1.0], [-1e308, 1e-20], [1e-20, -1.0]]), np.ones(3)) is None


def test_no_fit_claims_more_than_verify_has_time_for(monkeypatch):
    monkeypatch.setattr(gordan, "ROWS_OF_A_FIT", 10)
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 12))
    assert HoKashyap().fit(X, rng.random(150) < 0.5).certificate_.separable is None


def test_a_proof_of_many_rows_is_verified_where_the_rows_live(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 50)), np.where(rng.random(1000) < 0.5, 1, -1)
    claim = HoKashyap().fit(X, y).certificate_
    assert claim.separable is False
    assert len(claim.alpha_index) > 51
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    assert claim.verify(X, y)
    outcome = claim.verify(data.open_files(str(tmp_path / "X.npy"), target=str(tmp_path / "y.npy")))
    assert outcome, outcome


def test_the_search_for_a_vertex_heeds_its_clock_and_its_size(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    patterns = Patterns(np.vstack([X, X]), np.repeat([1.0, -1.0], 200), Space(1.0))
    everything, ones = np.arange(400), np.ones(400)
    assert gordan.gordan(patterns, everything, ones, Clock(60.0), largest=30) is not None
    with pytest.raises(OutOfTimeError):
        gordan.gordan(patterns, everything, ones, Clock(0.0), largest=30)
    monkeypatch.setattr(gordan, "VERTEX", 100)
    assert gordan.gordan(patterns, everything, ones, Clock(60.0), largest=30) is None
