"""Few rows: loops without Python, steps in the span of the rows, and pairs of multipliers with an exact end."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from separatrix import KernelMaxMargin, MaxMargin
from separatrix.data.memory import MemoryRows
from separatrix.passes.patterns import PassedPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import kernel_decomposition, small_problem
from separatrix.space import Space


def rows(seed, n, d, repeated=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if repeated:
        X[n // 2 :] = X[: n - n // 2]  # the Gram matrix is singular beyond its rank
    l = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    l[:2] = 1.0, -1.0
    return X, l


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("shape", [(2, 1), (40, 3), (25, 60), (100, 20)])
def test_few_rows_with_hinge_loss_are_solved_to_machine_precision(shape, repeated, C):
    X, l = rows(1, *shape, repeated=repeated)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(l))
    model = MaxMargin(C, loss="hinge").fit(X, l, weight)
    assert model.certificate_.gap < 1e-8
    assert model.certificate_.verify(X, l, sample_weight=weight)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("shape", [(30, 400), (90, 400)])
def test_fewer_rows_than_columns_reach_the_same_minimum_from_either_side(monkeypatch, C, shape):
    X, l = rows(4, *shape)
    inside = MaxMargin(C).fit(X, l)
    monkeypatch.setattr(small_problem, "MOST_MULTIPLICATIONS", 0)
    outside = MaxMargin(C).fit(X, l)
    assert inside.certificate_.gap < 1e-9
    np.testing.assert_allclose(inside.coef_, outside.coef_, rtol=1e-6, atol=1e-9 * np.abs(outside.coef_).max())


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_pairs_of_multipliers_end_exactly(monkeypatch, C):
    X, y = make_classification(300, 8, n_informative=5, flip_y=0.1, random_state=0)
    weight = np.linspace(0.5, 2.0, 300)
    pairs = KernelMaxMargin(C, loss="hinge", gamma=0.1).fit(X, y, weight)
    monkeypatch.setattr(kernel_decomposition, "_by_pairs", lambda problem: False)
    features = KernelMaxMargin(C, loss="hinge", gamma=0.1).fit(X, y, weight)
    assert pairs.certificate_.gap < 1e-6
    assert pairs.certificate_.value == pytest.approx(features.certificate_.value, rel=1e-6)
    np.testing.assert_allclose(pairs.decision_function(X), features.decision_function(X), atol=1e-4)


def test_pairs_that_take_too_long_hand_over(monkeypatch):
    X, y = make_classification(200, 8, n_informative=5, flip_y=0.1, random_state=0)
    right = KernelMaxMargin(100.0, loss="hinge", gamma=0.1).fit(X, y)
    monkeypatch.setattr(kernel_decomposition, "MOST_STEPS", 10)
    monkeypatch.setattr(kernel_decomposition, "STEPS_OF_ROW", 0)
    other = KernelMaxMargin(100.0, loss="hinge", gamma=0.1).fit(X, y)
    assert other.n_steps_ != right.n_steps_
    assert other.certificate_.value == pytest.approx(right.certificate_.value, rel=1e-6)


def test_a_combination_of_very_wide_rows_is_right_within_its_bound():
    """Summed without blocks, whose columns would cost more than the rows: against exact sums."""
    rng = np.random.default_rng(5)
    narrow = sp.random(1200, 40, density=0.1, format="csr", random_state=0)
    places = np.sort(rng.choice(500_000, 40, replace=False))
    wide = sp.csr_matrix((narrow.data, places[narrow.indices], narrow.indptr), (1200, 500_000))
    l, alpha = np.where(rng.random(1200) > 0.5, 1.0, -1.0), rng.random(1200)
    exact = [math.fsum(column * l * alpha) for column in narrow.toarray().T] + [math.fsum(l * alpha)]
    for X, columns in ((narrow, slice(None)), (wide, np.append(places, 500_000))):
        patterns = Patterns(X, l, Space(rho=1.0))
        found = patterns.combine(np.arange(1200), alpha)
        assert np.linalg.norm(found[columns] - exact) <= patterns.combination_error(alpha) <= 1e-9
        assert np.count_nonzero(found) <= 41
    assert patterns.block_rows > 1200


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("n", "d"), [(75, 211), (133, 166)])
@pytest.mark.parametrize("C", [100.0, 1e4])
def test_rows_that_contradict_each_other_at_a_large_price(layout, n, d, C):
    """Their multipliers are 10^10 times those of the others, whose digits are lost in a matrix of rows by rows."""
    rng = np.random.default_rng(n)
    X = 1e3 * rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)
    X[n // 2 :] = X[: n - n // 2]
    y = rng.random(n) < 0.5
    model = MaxMargin(C, fit_intercept=False).fit(layout(X), y)
    assert model.converged_
    assert model.certificate_.gap <= 1e-4
    assert model.certificate_.verify(layout(X), y)


def test_a_free_bias_at_a_large_price_is_in_balance():
    """Slacks of 1e-12 lose the digits that keep sum alpha_k l_k at 0; a solver that did not count it ended too soon."""
    rng = np.random.default_rng(1)
    X, y = 1e3 * rng.normal(size=(120, 200)), rng.random(120) < 0.5
    model = MaxMargin(1e4, fit_intercept="unpenalized").fit(X, y, sample_weight=rng.choice([0.5, 1.0, 3.0], 120))
    assert model.converged_


def test_sums_of_wide_rows_elsewhere_are_within_their_bound():
    """One large multiplier first, and 65,000 that each are lost beside it: the most that a sum without blocks loses."""
    n, d, rng = 65_536, 2000, np.random.default_rng(0)
    X = sp.csr_matrix((np.full(n, 1e-3), rng.integers(0, d, n), np.arange(n + 1)), (n, d))
    codes = np.ones(n, int)
    codes[-1] = 0
    patterns = PassedPatterns(MemoryRows(X, codes, None, classes=np.arange(2)), 1, Space(rho=1.0))
    alpha = np.full(n, 0.99 * 2.0**-53)
    alpha[0] = 1.0
    exact = math.fsum(np.where(codes == 1, 1.0, -1.0) * alpha)
    assert abs(patterns.combine(np.arange(n), alpha)[-1] - exact) <= patterns.combination_error(alpha) < 1e-12


@pytest.mark.parametrize("bias", [True, "unpenalized"])
def test_rounding_errors_are_no_reason_to_go_on(bias):
    """Columns of many sizes: the bounds meet but for rounding errors, at which no more rounds are made."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(1000, 30)), rng.normal(size=30)
    y = np.where(X @ w > 0, 1, -1)
    X = (X + np.outer(0.05 * y, w / np.linalg.norm(w))) * np.geomspace(1.0, 100.0, 30)
    model = MaxMargin(np.inf, fit_intercept=bias).fit(X, y)
    assert model.converged_
    assert model.n_passes_ <= 20  # 67 with an unpenalized intercept, if it went on
    assert model.certificate_.verify(X, y)


def test_a_fit_that_is_stopped_at_once_is_no_worse_than_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 400))
    y = np.where(X @ rng.normal(size=400) > 0, 1, -1)
    with pytest.warns(ConvergenceWarning):
        model = MaxMargin(np.inf, max_time=1e-6).fit(X, y)
    assert model.score(X, y) >= np.mean(y * (X @ (y @ X)) > 0)
