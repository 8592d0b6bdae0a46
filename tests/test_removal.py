"""How far from separable: bounds that hold, against all subsets in exact arithmetic."""

import numpy as np
import oracle_removal
import oracle_simplex
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import DataError, rows_to_remove


def problem(seed):
    """Tiny data of few values: ties, equal rows of both classes, rows of zeros, small classes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    most = int(rng.choice([1, 2, 9]))
    X = rng.integers(-most, most + 1, (n, d)).astype(float)
    X[rng.random(n) < rng.choice([0.0, 0.3])] = 0.0
    X = X[rng.integers(0, n, n)] if rng.random() < 0.3 else X
    y = (rng.random(n) < rng.choice([0.2, 0.5])).astype(int)
    y[:2] = 0, 1
    return X * 2.0 ** int(rng.choice([0, 0, 0, 530, -530, -1060])), y


def check(answer, X, y, fit_intercept, exactly=True):
    """Every sentence of the answer is true; small problems are searched to the end, so the number is found."""
    witnesses = oracle_removal.smallest_witnesses(oracle_removal.patterns(X, y, fit_intercept))
    true = oracle_removal.fewest(witnesses, len(y))
    assert answer.at_least <= true <= answer.at_most == len(answer.rows)
    assert answer.at_least == answer.at_most or not exactly
    assert ("Exactly" in str(answer)) == (0 < answer.at_least == answer.at_most)
    assert oracle_removal.may_stay(witnesses, {*range(len(y))} - {*answer.rows.tolist()})
    seen = np.concatenate([*answer.witnesses, np.zeros(0, int)])
    assert len(np.unique(seen)) == len(seen)
    for rows in answer.witnesses:
        assert not oracle_removal.may_stay(witnesses, rows.tolist())


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_bounds_hold(seed, fit_intercept, sparse):
    X, y = problem(seed)
    answer = rows_to_remove(sp.csr_matrix(X) if sparse else X, y, fit_intercept=fit_intercept)
    check(answer, X, y, fit_intercept)


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_bounds_hold_of_many(fit_intercept):
    for seed in range(1000):
        X, y = problem(seed)
        check(rows_to_remove(X, y, fit_intercept=fit_intercept), X, y, fit_intercept)


def test_bounds_hold_without_time_for_the_search():
    for seed in range(30):
        X, y = problem(seed)
        for fit_intercept in (True, False):
            answer = rows_to_remove(X, y, fit_intercept=fit_intercept, max_time=1e-9)
            check(answer, X, y, fit_intercept, exactly=False)


@pytest.mark.parametrize(
    ("X", "y", "number"),
    [
        ([[1.0], [-1.0], [2.0], [-2.0], [3.0], [-3.0], [5.0]], [1, 1, 1, 1, 1, 1, 0], 3),
        ([[0.0], [-2.0], [2.0]], [1, 0, 0], 2),  # a pattern of zeros, and a class that no side of 0 holds
        ([[0.0], [0.0]], [0, 1], 2),  # every row has to go
        ([[1.0, 0.0], [-1.0, 0.0]], [0, 1], 0),
    ],
)
def test_one_class_is_not_always_separable_through_the_origin(X, y, number):
    answer = rows_to_remove(X, y, fit_intercept=False)
    assert answer.at_least == answer.at_most == number
    check(answer, X, y, False)


def test_the_oracle_agrees_with_another():
    for seed in range(100):
        X, y = problem(seed)
        for fit_intercept in (True, False):
            Y = oracle_removal.patterns(X, y, fit_intercept)
            separable = not oracle_removal.smallest_witnesses(Y)
            assert separable == (oracle_simplex.kind(oracle_simplex.patterns(X, y, int(fit_intercept))) == "complete")


def test_words():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    assert "No row" in str(rows_to_remove(X, y))
    y[[0, 5]] = 1, 0
    answer = rows_to_remove(X, y)
    assert str(answer) == "Exactly 2 rows have to be removed until a hyperplane separates the rest."
    with pytest.raises(DataError, match="two classes"):
        rows_to_remove(X, [0, 1, 2, 0, 1, 2])


def test_flipped_labels_are_found():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 5))
    X[:, 0] += np.where(X[:, 0] > 0, 1.0, -1.0)
    y = X[:, 0] > 0
    flipped = np.sort(rng.choice(500, 4, replace=False))
    y[flipped] = ~y[flipped]
    answer = rows_to_remove(X, y)
    assert 1 <= answer.at_least <= 4
    np.testing.assert_array_equal(answer.rows, flipped)
