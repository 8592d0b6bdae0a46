"""Two equal rows of different classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import MaxMargin, separability
from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates import conflicting_duplicates as module
from separatrix.certificates import gordan
from separatrix.certificates.conflicting_duplicates import conflicting_duplicates
from separatrix.data.access import CSR
from separatrix.data.memory import as_rows
from separatrix.errors import NotSeparableError


def there_are(X, labels):
    """The oracle: every pair."""
    return any(
        labels[i] != labels[j] and np.array_equal(X[i], X[j]) for i in range(len(X)) for j in range(i + 1, len(X))
    )


@settings(max_examples=150, deadline=None)
@given(
    table=st.lists(
        st.tuples(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e300, 5e-324])] * 2), st.booleans()),
        min_size=2,
        max_size=12,
    ),
    dtype=st.sampled_from([np.float64, np.float32]),
    sparse=st.booleans(),
    at_once=st.sampled_from([1, 5, 1 << 20]),
)
def test_found_where_there_are_some(table, dtype, sparse, at_once):
    with np.errstate(over="ignore"):
        X = np.array([row for row, _ in table]).astype(dtype)
    labels = np.array([1.0 if label else -1.0 for _, label in table])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "VALUES_AT_ONCE", at_once)
        pair = conflicting_duplicates(as_rows(sp.csr_matrix(X) if sparse else X), labels)
    assert (pair is not None) == there_are(X, labels)
    if pair is not None:
        i, j = pair
        assert i < j
        assert labels[i] != labels[j]
        np.testing.assert_array_equal(X[i], X[j])


def test_the_order_of_a_sparse_row_and_its_zeros_do_not_matter():
    rows = CSR(
        np.array([3.0, 2.0, 2.0, 3.0, 0.0, 7.0]),
        np.array([4, 1, 1, 4, 5, 0], np.uint32),
        np.array([0, 2, 2, 5, 6]),
        9,
    )
    assert conflicting_duplicates(rows, np.array([1.0, 1.0, -1.0, -1.0])) == (0, 2)
    assert conflicting_duplicates(rows, np.array([1.0, -1.0, 1.0, -1.0])) is None


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_they_are_the_proof(layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = (rng.random(300) < 0.5).astype(int)
    X[211], y[211], y[57] = X[57], 1, 0
    found = separability(layout(X), y)
    assert found.separable is False
    np.testing.assert_array_equal(found.infeasibility_proof.rows, [57, 211])
    assert found.certificate.verify(layout(X), y)
    with pytest.raises(NotSeparableError, match="a combination of 2 patterns") as error:
        MaxMargin(C=np.inf).fit(layout(X), y)
    np.testing.assert_array_equal(error.value.certificate.alpha_index, [57, 211])


def test_many_rows_are_not_looked_through_for_a_proof_of_few(monkeypatch):
    def looked_for(*_):
        raise AssertionError("this would take longer than the proof that it saves")

    monkeypatch.setattr(gordan, "conflicting_duplicates", looked_for)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 2))
    assert separability(X, X[:, 0] + rng.normal(size=100_000) > 0).separable is False


def test_the_clock_is_looked_at():
    with pytest.raises(OutOfTimeError):
        conflicting_duplicates(as_rows(np.ones((4, 2))), np.ones(4), Clock(0.0).look)
