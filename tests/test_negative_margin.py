"""The margin of classes that nothing separates: bounds that hold, against all directions of the plane."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from separatrix import DataError, negative_margin, separability

ANGLES = np.linspace(0.0, 2.0 * np.pi, 20_001)
DIRECTIONS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans())
def test_bounds_hold_in_the_plane(seed, sparse):
    """With a bias the patterns of one feature are in the plane."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    X, y = rng.normal(size=(n, 1)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    assume(separability(X, y).separable is False)
    l = np.where(y == 1, 1.0, -1.0)
    Y = l[:, None] * np.column_stack([X, np.full(n, 0.5)])
    best = (DIRECTIONS @ Y.T).min(axis=1).max()
    answer = negative_margin(sp.csr_matrix(X) if sparse else X, y, intercept_scaling=0.5)
    near = 1e-3 * np.linalg.norm(Y, axis=1).max()  # of the grid
    assert answer.lower <= best + near
    assert answer.upper >= best - 1e-12
    assert answer.lower == pytest.approx((Y @ answer.direction).min())
    assert np.linalg.norm(answer.direction) == pytest.approx(1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_ball_in_a_cross_polytope(dtype):
    """The patterns +-e_j: the largest ball has the radius 1/sqrt(d), and both bounds find it."""
    for d in (2, 3, 5):
        X = np.vstack([np.eye(d), np.eye(d)]).astype(dtype)
        answer = negative_margin(X, np.repeat([1, 0], d), fit_intercept=False)
        assert answer.lower == pytest.approx(-1 / np.sqrt(d), rel=1e-6)
        assert answer.upper == pytest.approx(-1 / np.sqrt(d), rel=1e-6)
        assert answer.lower <= answer.upper


def test_random_directions_never_do_better():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
    answer = negative_margin(X, y)
    Y = np.where(y == 1, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(60)])
    U = rng.normal(size=(20_000, 5))
    reached = (U @ Y.T).min(axis=1) / np.linalg.norm(U, axis=1)
    assert reached.max() <= answer.lower <= answer.upper < 0


@pytest.mark.parametrize("second", [[0.0, 1.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0]])
def test_flat_hulls_that_are_separable_are_refused(second):
    with pytest.raises(DataError, match="A hyperplane separates"):
        negative_margin(np.column_stack([[0.0, 1.0, 3.0, 4.0], second]), [0, 0, 1, 1])


def test_flat_and_touching_hulls_have_no_ball():
    flat = negative_margin([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], [0, 1, 0, 1])
    assert flat.upper == 0.0
    assert flat.lower == pytest.approx(0.0, abs=1e-12)
    touching = negative_margin([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert touching.upper == 0.0
    assert touching.lower <= 0.0


def test_words_and_errors():
    X = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]
    assert "none beyond 0.577" in str(negative_margin(X, [1, 1, 0, 0]))
    with pytest.raises(DataError, match="MaxMargin finds it"):
        negative_margin([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    with pytest.raises(DataError, match="two classes"):
        negative_margin(X, [0, 1, 2, 0])
    with pytest.raises(DataError, match="at most 5,000,000"):
        negative_margin(sp.csr_matrix((6, 1_000_000)), [0, 1, 0, 1, 0, 1])
    rng = np.random.default_rng(0)  # a margin below what floats resolve
    X, y = rng.normal(size=(200, 40)), np.arange(200) % 2
    X[:, 0] = np.where(y, 1e-15, -1e-15)
    turned = X @ np.linalg.qr(rng.normal(size=(40, 40)))[0]
    with pytest.raises(DataError, match="Raise max_time"):
        negative_margin(turned, y, max_time=1e-9)


SIZES = [2.0**-1060, 2.0**-600, 2.0**530, 2.0**1018]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_data_of_any_size(size, fit_intercept):
    """Powers of two change no bit, but for the digits that a subnormal number does not hold."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-4, 5, (12, 2)).astype(float), np.arange(12) % 2
    one = negative_margin(X, y, fit_intercept=fit_intercept)
    other = negative_margin(size * X, y, fit_intercept=fit_intercept, intercept_scaling=size)
    np.testing.assert_array_equal(other.direction, one.direction)
    assert other.lower <= other.upper <= 0
    assert Fraction(other.lower) <= Fraction(size) * Fraction(one.lower)
    assert Fraction(other.upper) >= Fraction(size) * Fraction(one.upper)
    assert other.lower == pytest.approx(size * one.lower, rel=1e-15, abs=1e-323)
    assert other.upper == pytest.approx(size * one.upper, rel=1e-15, abs=1e-323)


def test_bounds_hold_of_columns_of_very_different_sizes():
    """In fractions: what the direction reaches, and that no direction along an axis does better than the upper bound;
    with a rho that vanishes beside the data the best margin is -rho at least, as that of the bias alone is."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(-2, 3, (8, 2)) * rng.choice([1e-310, 1e-200, 1.0, 1e160, 1e300], 2), np.arange(8) % 2
        rho = float(rng.choice([1e-300, 1.0, 1e300]))
        if separability(X, y).separable:
            continue
        answer = negative_margin(X, y, intercept_scaling=rho)
        Y = [[l * Fraction(v) for v in (*x, rho)] for x, l in zip(X.tolist(), (2 * y - 1).tolist(), strict=True)]
        u = [*map(Fraction, answer.direction.tolist())]
        reached, length2 = min(sum(a * b for a, b in zip(u, r, strict=True)) for r in Y), sum(v * v for v in u)
        assert answer.lower <= answer.upper <= 0
        assert np.isinf(answer.lower) or reached**2 <= Fraction(answer.lower) ** 2 * length2 or reached >= 0
        for j in range(3):
            for sign in (-1, 1):
                assert min(sign * r[j] for r in Y) <= Fraction(answer.upper)


def test_rows_of_zeros_only():
    answer = negative_margin(np.zeros((3, 2)), [0, 1, 1], fit_intercept=False)
    assert -1e-150 < answer.lower <= answer.upper == 0.0
    assert np.linalg.norm(answer.direction) == pytest.approx(1.0)


@pytest.mark.parametrize("rho", [np.nan, -1.0, 0.0, np.inf])
def test_rho_is_positive_and_finite(rho):
    with pytest.raises(ValueError, match=r"intercept_scaling=.* must be positive and finite"):
        negative_margin([[0.0], [1.0], [0.5]], [0, 0, 1], intercept_scaling=rho)
