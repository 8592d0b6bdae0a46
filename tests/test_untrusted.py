"""Files from strangers: models whose parts do not fit together, and data that ask for more memory than there is."""

import gzip
import io
import zlib

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from cases import blobs_2d
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from separatrix import DataError, MaxMargin, ModelError, Perceptron, VotedPerceptron, load, save
from separatrix.app.tables import read_table
from separatrix.app.tables.prepare import kinds, normalised, preparation
from separatrix.persistence import limits

WORDS = np.array([["a", "u"], ["b", "v"], ["c", "u"], ["a", "v"], ["a", "u"], ["b", "v"]], dtype=object)
Y = np.array([0, 1, 0, 1, 0, 1])


def encoded(**params):
    return make_pipeline(OneHotEncoder(**params), MaxMargin()).fit(WORDS, Y)


def refused(tmp_path, model):
    save(model, tmp_path / "m.sx")
    with pytest.raises(ModelError) as caught:
        load(tmp_path / "m.sx")
    return str(caught.value)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"drop": "first"},
        {"drop": "if_binary"},
        {"drop": np.array(["b", "u"], dtype=object)},
        {"handle_unknown": "ignore"},
        {"handle_unknown": "infrequent_if_exist", "min_frequency": 3},
        {"max_categories": 2, "drop": "first"},
        {"sparse_output": False},
    ],
    ids=str,
)
def test_honest_encoders_come_back(tmp_path, params):
    model = encoded(**params)
    save(model, tmp_path / "m.sx")
    np.testing.assert_array_equal(load(tmp_path / "m.sx").decision_function(WORDS), model.decision_function(WORDS))


def test_honest_numbers_as_categories(tmp_path):
    X = np.array([[1.0, 5], [2, np.nan], [np.nan, 5], [3, 7]])
    for encoder in (OneHotEncoder(), OneHotEncoder(min_frequency=2), OrdinalEncoder(encoded_missing_value=-1)):
        model = make_pipeline(encoder, MaxMargin()).fit(X, [0, 1, 0, 1])
        save(model, tmp_path / "m.sx")
        np.testing.assert_array_equal(load(tmp_path / "m.sx").predict(X), model.predict(X))
    rare = OrdinalEncoder(max_categories=2, encoded_missing_value=-1)
    save(make_pipeline(rare, MaxMargin()).fit(X, [0, 1, 0, 1]), tmp_path / "m.sx")
    assert load(tmp_path / "m.sx").predict(X).shape == (4,)


def test_numbers_of_columns_are_those_of_the_categories(tmp_path):
    """A wrong one makes a sparse matrix whose indices point outside of it."""
    for outs in ([3, 2_000_000], [3, 1], [1, 1], [5], [-3, 2], "32"):
        model = encoded(handle_unknown="ignore")
        model[0]._n_features_outs = outs
        assert "_n_features_outs does not fit its 2 features" in refused(tmp_path, model)


@pytest.mark.parametrize("place", [7, 2, 3, -1, "a", 1.5])
def test_dropped_categories_exist(tmp_path, place):
    model = encoded(drop="first")
    model[0]._drop_idx_after_grouping = np.array([0, place], dtype=object)
    assert "_drop_idx_after_grouping" in refused(tmp_path, model)


def test_infrequent_categories_exist(tmp_path):
    params = {"handle_unknown": "infrequent_if_exist", "min_frequency": 3}
    for codes in (np.array([0, 9, 1]), np.array([0, -1, 1]), np.array([0, 1]), np.array([0.0, 1.0, 1.0]), "011"):
        model = encoded(**params)
        model[0]._default_to_infrequent_mappings[0] = codes
        refused(tmp_path, model)
    for rare in (np.array([1, 1]), np.array([-1]), np.array([3]), np.array([], dtype=int), None):
        model = encoded(**params)
        model[0]._infrequent_indices[0] = rare
        refused(tmp_path, model)


def test_categories_that_are_numbers_grow(tmp_path):
    """They are found by bisection, which among others ends behind the last of them."""
    for values in ([1, 3, 2], [3, 2, 1], [np.nan, 1, 2], [1, 1, 2]):
        model = make_pipeline(OneHotEncoder(), MaxMargin()).fit([[1.0], [2.0], [3.0]], [0, 1, 0])
        model[0].categories_[0] = np.array(values, dtype=float)
        assert "categories_ does not fit" in refused(tmp_path, model)


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (StandardScaler(), "mean_"),
        (StandardScaler(), "scale_"),
        (MinMaxScaler(), "min_"),
        (MaxAbsScaler(), "max_abs_"),
        (RobustScaler(), "center_"),
        (SimpleImputer(), "statistics_"),
    ],
    ids=str,
)
def test_one_number_per_feature(tmp_path, step, name):
    model = make_pipeline(step, MaxMargin()).fit(*blobs_2d())
    save(model, tmp_path / "m.sx")
    np.testing.assert_array_equal(load(tmp_path / "m.sx").predict(blobs_2d()[0]), model.predict(blobs_2d()[0]))
    setattr(step, name, np.zeros(5))
    assert f"{name} does not fit its 2 features" in refused(tmp_path, model)


def test_polynomials_fill_their_columns(tmp_path):
    """Columns that nothing is written to would show what memory held before."""
    model = make_pipeline(PolynomialFeatures(3), MaxMargin()).fit(*blobs_2d())
    save(model, tmp_path / "m.sx")
    np.testing.assert_array_equal(load(tmp_path / "m.sx").predict(blobs_2d()[0]), model.predict(blobs_2d()[0]))
    model[0]._n_out_full = 1000
    assert "_n_out_full" in refused(tmp_path, model)


def test_steps_within_columns_are_checked(tmp_path):
    frame = pl.DataFrame({"x": [0.0, 1, 2, 3, 4, 5], "word": WORDS[:, 0].tolist()})
    columns = ColumnTransformer([("n", StandardScaler(), ["x"]), ("t", OneHotEncoder(), ["word"])])
    model = make_pipeline(columns, MaxMargin()).fit(frame, Y)
    columns.named_transformers_["t"]._n_features_outs = [10**6]
    assert "_n_features_outs" in refused(tmp_path, model)


@pytest.mark.parametrize("width", [np.int64(2), None, -1, 2.0])
def test_the_number_of_features_is_a_number(tmp_path, width):
    """The check of the weights is not left out for a number of another kind."""
    model = Perceptron().fit(*blobs_2d())
    model.n_features_in_, model.coef_ = width, np.zeros((1, 1))
    assert "number of features" in refused(tmp_path, model)


def test_voters_have_to_fit(tmp_path):
    """float32 is multiplied by compiled code."""
    X, y = blobs_2d()
    model = VotedPerceptron(max_iter=2).fit(X, y)
    model.voters_ = [voters[:, :1] for voters in model.voters_]
    save(model, tmp_path / "m.sx")
    with pytest.raises(DataError, match="X has 2 features, the weights are for 1"):
        load(tmp_path / "m.sx").predict(X.astype(np.float32))


def test_a_random_state_stays_within_its_table(tmp_path):
    model = Perceptron(random_state=np.random.RandomState(1)).fit(*blobs_2d())
    state = list(model.random_state.get_state(legacy=True))
    state[2] = 10**6
    model.random_state = Told(tuple(state))
    assert "RandomState" in refused(tmp_path, model)


class Told(np.random.RandomState):
    """A generator that tells another state than it has."""

    def __init__(self, state):
        super().__init__(0)
        self.state = state

    def get_state(self, legacy=True):
        return self.state


# What is not fitted, or no classifier.


def test_what_is_not_fitted_is_not_saved(tmp_path):
    for model in (MaxMargin(), make_pipeline(StandardScaler(), MaxMargin())):
        with pytest.raises(ModelError, match="is not fitted"):
            save(model, tmp_path / "m.sx")
    for model in (StandardScaler().fit([[1.0]]), make_pipeline(StandardScaler()).fit([[1.0]]), {}, 1):
        with pytest.raises(ModelError, match="predicts nothing"):
            save(model, tmp_path / "m.sx")
    assert list(tmp_path.iterdir()) == []


# Data.


def test_a_huge_index(tmp_path, monkeypatch):
    path = tmp_path / "data.txt"
    for index in (2_000_000_000, 10**13, 10**25):
        path.write_text(f"1 1:1 {index}:2\n-1 1:3\n")
        with pytest.raises(DataError) as caught:
            read_table(path)
        assert str(path) in str(caught.value)
    path.write_text("1 1:1 20000000:2\n-1 1:3\n")
    with pytest.raises(DataError, match=r"20,000,001 features and holds 3 values.*SEPARATRIX_MAX_FEATURES=20000001"):
        read_table(path)
    monkeypatch.setenv("SEPARATRIX_MAX_FEATURES", "2e7")
    with pytest.raises(DataError, match="20,000,001 features"):
        read_table(path)
    monkeypatch.setenv("SEPARATRIX_MAX_FEATURES", "20000001")
    assert read_table(path).d == 20_000_000
    monkeypatch.setenv("SEPARATRIX_MAX_FEATURES", "many")
    with pytest.raises(DataError, match="'many'; a number is needed"):
        read_table(path)


def test_many_features_have_names_when_asked(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("1 1:1 9000000:2\n-1 1:3\n")
    table = normalised(read_table(path))
    assert preparation(table) == []
    assert len(table.names) == len(kinds(table)[0]) == 9_000_000
    assert not isinstance(table.names, list)
    assert table.names[-1] == "feature 9000000"
    assert table.names[:2] == ["feature 1", "feature 2"]
    with pytest.raises(IndexError):
        table.names[9_000_000]


def test_gzip_is_unpacked_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_UNPACKED", 10_000)
    text = "a,y\n" + "1,u\n2,v\n" * 100_000
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert len(text) > 100 * path.stat().st_size
    with pytest.raises(DataError, match=r"unpacks to more than .*SEPARATRIX_MAX_UNPACKED"):
        read_table(path, "y")
    monkeypatch.setenv("SEPARATRIX_MAX_UNPACKED", "1e9")
    assert read_table(path, "y").n == 200_000
    monkeypatch.delenv("SEPARATRIX_MAX_UNPACKED")
    monkeypatch.setattr(limits, "PLENTY", 10_000)
    assert read_table(path, "y").n == 200_000


def test_gzip_stops_at_the_limit(tmp_path, monkeypatch):
    """It is not unpacked first and measured then."""
    path = tmp_path / "bomb.gz"
    packer = zlib.compressobj(9, wbits=31)
    piece = bytes(1 << 24)
    path.write_bytes(b"".join([packer.compress(piece) for _ in range(8)]) + packer.flush())
    monkeypatch.setattr(limits, "MOST_UNPACKED", 1 << 20)
    monkeypatch.setattr(limits, "PLENTY", 1)
    seen = []
    check = limits.check_unpacked
    monkeypatch.setattr(
        "separatrix.app.tables.source.check_unpacked", lambda *shown: (seen.append(shown[1]), check(*shown))
    )
    with pytest.raises(DataError, match="unpacks to more than"):
        read_table(path, "y")
    assert max(seen) < 1 << 23


def test_npz_is_unpacked_up_to_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=np.zeros((100_000, 2)), y=np.arange(100_000) % 2)
    assert read_table(path).n == 100_000
    monkeypatch.setattr(limits, "MOST_UNPACKED", 10_000)
    monkeypatch.setattr(limits, "PLENTY", 1)
    with pytest.raises(DataError, match="SEPARATRIX_MAX_UNPACKED"):
        read_table(path)


def saved(path, matrix, **more):
    """What scipy.sparse.save_npz writes, with more arrays."""
    file = io.BytesIO()
    sp.save_npz(file, matrix)
    file.seek(0)
    with np.load(file) as archive:
        np.savez(path, **{name: archive[name] for name in archive.files}, **more)


def test_sparse_matrices_as_scipy_writes_them(tmp_path):
    path, dense = tmp_path / "data.npz", np.array([[1.5, 0.0, 2.0], [0.0, 0.0, 4.0], [5.0, 6.0, 0.0]])
    for kind in ("csr", "csc"):
        saved(path, sp.csr_matrix(dense).asformat(kind), y=np.array([0, 1, 0]))
        table = read_table(path)
        assert table.X.format == "csr"
        np.testing.assert_array_equal(table.X.toarray(), dense)
    for kind in ("coo", "bsr", "dia"):
        saved(path, sp.csr_matrix(dense).asformat(kind), y=np.array([0, 1, 0]))
        with pytest.raises(DataError, match=f"in the format '{kind}'; csr and csc are read"):
            read_table(path)


def test_sparse_matrices_hold_numbers(tmp_path):
    path, matrix = tmp_path / "data.npz", sp.csr_matrix(np.eye(2))
    parts = {"indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape, "y": np.array([0, 1])}
    np.savez(path, data=np.array([1, 2]), **parts)
    assert read_table(path).X.dtype == np.float64
    for data in (np.array([1j, 2]), np.array(["a", "b"])):
        np.savez(path, data=data, **parts)
        with pytest.raises(DataError, match="numbers are needed"):
            read_table(path)
    np.savez(path, data=np.ones(2), **{**parts, "indices": np.array([0.0, 1.0])})
    with pytest.raises(DataError, match="integers are needed"):
        read_table(path)
    np.savez(path, data=np.ones(2), **{**parts, "indices": np.array([0, 7])})
    with pytest.raises(DataError, match="cannot be read"):
        read_table(path)
    np.savez(path, data=np.ones(2), **{**parts, "shape": (2, 10**9)})
    with pytest.raises(DataError, match="1,000,000,000 features"):
        read_table(path)
    np.savez(path, data=np.ones(2), **{**parts, "shape": (10**9, 2)}, format=np.array(b"csc"))
    with pytest.raises(DataError, match="1,000,000,000 rows"):
        read_table(path)
