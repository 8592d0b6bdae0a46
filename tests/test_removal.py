"""How far from separable: bounds that hold, against a search through all subsets."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import DataError, rows_to_remove, separability


def fewest(X, y):
    """All subsets, the small ones first."""
    for k in range(len(y)):
        for out in combinations(range(len(y)), k):
            rest = np.delete(np.arange(len(y)), out)
            if len(set(y[rest])) < 2 or separability(X[rest], y[rest]).separable:
                return k
    raise AssertionError


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans())
def test_bounds_hold(seed, sparse):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    X, y = rng.integers(-2, 3, (n, 2)).astype(float), rng.integers(0, 2, n)
    y[:2] = 0, 1
    answer = rows_to_remove(sp.csr_matrix(X) if sparse else X, y)
    assert answer.at_least == fewest(X, y) == answer.at_most == len(answer.rows)
    rest = np.setdiff1d(np.arange(n), answer.rows)
    assert len(set(y[rest])) < 2 or separability(X[rest], y[rest]).separable
    seen = np.concatenate([*answer.witnesses, np.zeros(0, int)])
    assert len(np.unique(seen)) == len(seen)
    for rows in answer.witnesses:
        assert separability(X[rows], y[rows]).separable is False


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
