"""Sparse data with few columns that occur are solved in these: nothing but the time it takes may show it."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import MaxMargin, max_margin_path, separability
from separatrix.data.memory import MemoryRows
from separatrix.dropin import LinearSVC

WIDE = 5000
RNG = np.random.default_rng(7)
OCCUR = np.sort(RNG.choice(WIDE, 12, replace=False))
SMALL = RNG.standard_normal((40, 12)) * (RNG.random((40, 12)) < 0.6)
LABELS = np.where(SMALL @ RNG.standard_normal(12) > 0, "b", "a")
CODES = np.argmax(SMALL @ RNG.standard_normal((12, 3)), axis=1)


def spread(small):
    X = sp.csr_matrix(small)
    return sp.csr_matrix((X.data, OCCUR[X.indices].astype(np.int32), X.indptr), (X.shape[0], WIDE))


X = spread(SMALL)


@pytest.mark.parametrize(
    "params",
    [
        {"C": 1.0},
        {"C": np.inf},
        {"C": 1.0, "loss": "hinge"},
        {"C": 10.0, "fit_intercept": "unpenalized"},
        {"C": 1.0, "multi_class": "joint"},
        {"C": 1.0, "multi_class": "ovo"},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_as_without_the_empty_columns(params, dtype):
    y = CODES if "multi_class" in params else LABELS
    if "multi_class" not in params and np.isinf(params["C"]):
        y = np.where(SMALL @ np.arange(12.0) > 0.3, 1, 0)
    wide, narrow = X.astype(dtype), sp.csr_matrix(SMALL.astype(dtype))
    weight = np.r_[0.0, np.ones(len(y) - 1)]
    model, small = (MaxMargin(**params).fit(Z, y, weight) for Z in (wide, narrow))
    assert model.coef_.shape == (len(small.coef_), WIDE)
    assert np.allclose(model.coef_[:, OCCUR], small.coef_, rtol=1e-6, atol=1e-9)
    assert np.count_nonzero(model.coef_) == np.count_nonzero(small.coef_)
    assert model.support_vectors_.shape[1] == WIDE
    assert (model.support_vectors_ != wide[model.support_]).nnz == 0
    assert np.array_equal(model.predict(wide), small.predict(narrow))
    for certificate in model.certificates_ if params.get("multi_class") == "ovo" else [model.certificate_]:
        verification = certificate.verify(wide, y)
        assert verification, verification
        assert not verification.unchecked


def test_starts_and_paths():
    model = MaxMargin(C=1.0, tol=1e-10).fit(X, LABELS)
    again = MaxMargin(C=1.0, tol=1e-10).fit(X, LABELS, coef_init=model.coef_, intercept_init=model.intercept_)
    path = max_margin_path(X, LABELS, [0.1, 1.0], tol=1e-10)
    for other in (again, path[1], LinearSVC(tol=1e-8).fit(X, LABELS)):
        assert np.allclose(other.coef_, model.coef_, atol=1e-5)
    assert path[1].n_features_in_ == WIDE


def test_separability_speaks_of_all_columns():
    y = np.where(SMALL @ np.arange(12.0) > 0.3, 1, 0)
    answer = separability(X, y)
    assert answer.separable
    assert answer.certificate.verify(X, y)
    assert np.array_equal(answer.hyperplane.signed_distance(X) > 0, y == 1)
    twice = sp.vstack([X, X[:1]]).tocsr()
    none = separability(twice, np.r_[y, 1 - y[0]])
    assert none.separable is False
    assert none.certificate.verify(twice, np.r_[y, 1 - y[0]])
    touching = sp.csr_matrix(([-1.0, 1.0], ([0, 1], [3, 3])), (4, 100))
    weak = separability(touching, [0, 1, 0, 1])
    assert weak.kind == "quasi-complete"
    assert np.array_equal(weak.hyperplane.signed_distance(touching), [-1.0, 1.0, 0.0, 0.0])


def test_only_where_most_columns_are_empty():
    rows = MemoryRows(X)
    narrow = rows.without_empty_columns()
    assert narrow.width == 12
    assert np.array_equal(narrow.columns, OCCUR)
    assert narrow.take(np.arange(3)).values(np.array([1])).shape == (1, WIDE)
    many = sp.random(60, WIDE, 0.004, format="csr", random_state=0)
    crowded = MemoryRows(many).without_empty_columns()
    assert np.array_equal(crowded.columns, np.unique(many.indices))
    assert (crowded.values(np.arange(60)) != many).nnz == 0
    table = RNG.standard_normal((2, 13))
    whole = narrow.in_all_columns(table)
    assert whole.shape == (2, WIDE + 1)
    assert np.array_equal(narrow.in_these_columns(whole), table)
    for other in (MemoryRows(sp.csr_matrix(SMALL)), MemoryRows(SMALL), MemoryRows(sp.csr_matrix((3, 50)))):
        assert other.without_empty_columns() is other


@pytest.mark.parametrize("stored", [3, 40])  # few values, and so many that they are not gathered one by one
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_some_rows_are_those_of_scipy(stored, dtype):
    whole = sp.random(600, 100, stored / 100, format="csr", random_state=0, dtype=dtype)
    most = np.delete(np.arange(500), [3, 4, 77])
    for rows in (MemoryRows(whole), MemoryRows(whole).part(100, 600)):
        matrix = whole[600 - rows.n :]
        for index in (most, RNG.permutation(most), np.append(most, most[:5]), np.arange(0, 500, 2), most[:0]):
            some = rows.matrix(index)
            assert some.dtype == np.float64
            assert some.shape == (len(index), 100)
            assert np.array_equal(some.toarray(), matrix[index].toarray())
