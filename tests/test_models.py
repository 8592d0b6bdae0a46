"""Models in files: everything comes back, and a damaged or hostile file is an error that runs nothing."""

import json
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import skops.io
from cases import EVERYONE, blobs_2d, overlapping
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as pack
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import separatrix
from separatrix import MaxMargin, ModelError, Perceptron, PerceptronLike, load, save
from separatrix.persistence import read_model
from separatrix.persistence.encoding import Decoder, encode
from separatrix.persistence.files import _digest

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(cls, y=None, **params):
    X, labels = blobs_2d()
    if "max_iter" in cls().get_params():
        params.setdefault("max_iter", 5)
    return cls(**params).fit(X, labels if y is None else y), X


def same(a, b):
    """Equality of whatever an estimator may hold."""
    if isinstance(a, np.ndarray):
        layout = a.flags.f_contiguous == b.flags.f_contiguous
        return layout and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if sp.issparse(a):
        return (a != b).nnz == 0
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and np.isnan(a):
        return np.isnan(b)
    if hasattr(a, "__dict__") and not isinstance(a, type):
        return type(a) is type(b) and same(vars(a), vars(b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("cls", EVERYONE, ids=lambda c: c.__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_every_estimator_comes_back_whole(tmp_path, cls, classes):
    y = np.array(["ant", "bee", "cat"])[np.arange(30) % classes]
    model, X = fitted(cls, y)
    path = tmp_path / "model.sx"
    save(model, path)
    again = load(path)
    assert type(again) is cls
    whole = {name: value for name, value in vars(model).items() if name not in getattr(cls, "_not_saved", ())}
    assert same(vars(again), whole)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("cls", EVERYONE, ids=lambda c: c.__name__)
def test_skops_loads_every_estimator(cls):
    model, X = fitted(cls)
    content = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=content)
    assert all(name.startswith("separatrix.") for name in unknown)
    again = skops.io.loads(content, trusted=unknown)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert same(vars(again).get("certificate_"), vars(model).get("certificate_"))


def test_the_certificate_still_proves(tmp_path):
    model, X = fitted(MaxMargin, C=np.inf)
    save(model, tmp_path / "model.sx")
    assert load(tmp_path / "model.sx").certificate_.verify(X, blobs_2d()[1], exact=True)


def test_a_fit_goes_on_where_it_was_saved(tmp_path):
    X, y = overlapping()
    whole = Perceptron(max_iter=20, until="separated").fit(X, y)
    half = Perceptron(max_iter=10, warm_start=True, until="separated").fit(X, y)
    save(half, tmp_path / "half.sx")
    again = load(tmp_path / "half.sx").fit(X, y)
    np.testing.assert_array_equal(again.coef_, whole.coef_)
    assert again.n_updates_ == whole.n_updates_


def test_pipelines_with_preparation(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=40), "b": rng.choice(["x", "y", "z"], 40).tolist()})
    y = np.where(frame["a"].to_numpy() > 0, "up", "down")
    columns = ColumnTransformer([("n", StandardScaler(), ["a"]), ("t", OneHotEncoder(handle_unknown="ignore"), ["b"])])
    model = make_pipeline(columns, MaxMargin()).fit(frame, y)
    save(model, tmp_path / "model.sx", {"data": {"rows": 40}})
    file = read_model(tmp_path / "model.sx")
    assert file.provenance["data"] == {"rows": 40}
    assert file.provenance["versions"]["separatrix"] == separatrix.__version__
    np.testing.assert_array_equal(file.model.decision_function(frame), model.decision_function(frame))
    np.testing.assert_array_equal(file.model.feature_names_in_, ["a", "b"])
    clone(file.model).fit(frame, y)


def test_meta_estimators_and_odd_parameters(tmp_path):
    X, _ = blobs_2d()
    y = np.arange(30) % 3
    for model in (
        OneVsOneClassifier(Perceptron(max_iter=3)),
        Perceptron(random_state=np.random.RandomState(3), max_iter=3),
        MaxMargin(class_weight={0: 1.0, 1: 2.0, 2: 0.5}),
    ):
        model.fit(X, y)
        save(model, tmp_path / "m.sx")
        np.testing.assert_array_equal(load(tmp_path / "m.sx").predict(X), model.predict(X))


class Mine(NamedTuple):
    margin: float

    def violates(self, m, s):
        return m <= self.margin

    def gain(self, m, s):
        return 1.0


def test_a_rule_of_ones_own_is_loaded_if_trusted(tmp_path):
    model, _ = fitted(PerceptronLike, rule=Mine(0.5))
    save(model, tmp_path / "m.sx")
    with pytest.raises(ModelError, match="trusted="):
        load(tmp_path / "m.sx")
    assert load(tmp_path / "m.sx", trusted=[Mine]).rule == Mine(0.5)


def test_what_cannot_be_saved_says_so(tmp_path):
    path = tmp_path / "m.sx"
    model, _ = fitted(Perceptron, eta=lambda k: 1.0 / k)
    with pytest.raises(ModelError, match=r"model\.eta is a function"):
        save(model, path)
    assert list(tmp_path.iterdir()) == []


def test_text_that_no_file_holds(tmp_path):
    for model in (MaxMargin(), Perceptron()):
        model.fit([[0.0], [1.0]], ["a", "\ud800"])
        with pytest.raises(ModelError, match=r"cannot encode.*ud800.*Use other labels"):
            save(model, tmp_path / "model.sx")
    assert not list(tmp_path.iterdir())


def test_writing_is_atomic(tmp_path, monkeypatch):
    path = tmp_path / "m.sx"
    path.write_bytes(b"the old one")

    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(ModelError, match="cannot be written: disk full"):
        save(fitted(MaxMargin)[0], path)
    assert path.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [path]


# Hostile and damaged files.


def forged(path, document, arrays=None, **metadata):
    """A file with the right digest and whatever inside."""
    text = document if isinstance(document, str) else json.dumps(document)
    arrays = arrays or {}
    shown = {
        "format": "separatrix",
        "format_version": "1",
        "document": text,
        "digest": _digest(text, arrays),
        **metadata,
    }
    path.write_bytes(pack(arrays, shown))
    return path


def thing(name, **fields):
    return {"!": "object", "class": name, "fields": fields}


HOSTILE = [
    thing("os.system", command="echo"),
    thing("subprocess.Popen", args=["echo"]),
    thing("builtins.eval", source="1"),
    thing("separatrix.app.cli.main"),
    thing("separatrix.app.cli.__main__.x"),
    thing("separatrix.fit.training_data.hashlib"),
    thing("separatrix.fit.training_data.fingerprint"),
    thing("separatrix.fit.separator.Patterns"),
    thing("separatrix.nowhere.Nothing"),
    thing("sklearn.preprocessing._function_transformer.FunctionTransformer", func={"!": "function"}),
    thing("sklearn.feature_extraction.text.TfidfVectorizer"),
    thing("separatrix.space.Space", rho=1.0),
    thing("separatrix.certificates.certificate.Certificate", lower=1.0),
    {"!": "array", "name": "0"},
    {"!": "pickle", "data": "gASV"},
    {"!": "dtype", "name": "V8"},
    {"no": "kind"},
    [[[]]],
    None,
]


@pytest.mark.parametrize("tree", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_document_is_an_error(tmp_path, tree):
    with pytest.raises(ModelError):
        load(forged(tmp_path / "m.sx", {"model": tree, "provenance": {}}))


def test_methods_are_not_replaced(tmp_path):
    arrays = {}
    tree = encode(fitted(MaxMargin)[0], arrays)
    tree["fields"]["predict"] = 1
    with pytest.raises(ModelError, match="method predict"):
        load(forged(tmp_path / "m.sx", {"model": tree, "provenance": {}}, arrays))


def test_what_an_older_version_did_not_have_is_the_default(tmp_path):
    arrays = {}
    tree = encode(fitted(MaxMargin)[0], arrays)
    del tree["fields"]["solver"]
    del tree["fields"]["certificate_"]["fields"]["sample_weight"]
    again = load(forged(tmp_path / "m.sx", {"model": tree, "provenance": {}}, arrays))
    assert again.solver == "auto"
    assert again.certificate_.sample_weight is None
    del tree["fields"]["certificate_"]["fields"]["upper"]
    with pytest.raises(ModelError, match="without upper"):
        load(forged(tmp_path / "m.sx", {"model": tree, "provenance": {}}, arrays))


@pytest.mark.parametrize("name", ["coef_", "intercept_"])
def test_weights_have_to_fit(tmp_path, name):
    """Compiled code checks no bounds."""
    model, _ = fitted(Perceptron)
    setattr(model, name, np.zeros((1, 1)))
    save(model, tmp_path / "m.sx")
    with pytest.raises(ModelError, match="do not fit its 2 features"):
        load(tmp_path / "m.sx")


def test_a_state_has_to_fit(tmp_path):
    model, _ = fitted(Perceptron)
    record = model._records_[0]
    model._records_ = [replace(record, state=record.state._replace(v=np.zeros(1)))]
    save(model, tmp_path / "m.sx")
    with pytest.raises(ModelError, match="state does not fit"):
        load(tmp_path / "m.sx")


def test_a_pipeline_has_no_memory_folder(tmp_path):
    """scikit-learn would unpickle what it finds there."""
    model = make_pipeline(StandardScaler(), MaxMargin(), memory=str(tmp_path)).fit(*blobs_2d())
    arrays = {}
    tree = encode(model, arrays)
    tree["fields"]["memory"] = str(tmp_path)
    assert load(forged(tmp_path / "m.sx", {"model": tree, "provenance": {}}, arrays)).memory is None


@pytest.mark.parametrize("document", ["", "[", "{}", "null", '{"model": 1}', "[" * 5000 + "]" * 5000, '{"model": NaN}'])
def test_a_malformed_document_is_an_error(tmp_path, document):
    with pytest.raises(ModelError):
        load(forged(tmp_path / "m.sx", document))


def test_other_files_are_no_models(tmp_path):
    path = tmp_path / "m.sx"
    for content in (b"", b"hello", np.random.default_rng(0).bytes(1000), pack({"a": np.ones(3)}), b"\xff" * 16):
        path.write_bytes(content)
        with pytest.raises(ModelError, match="not a separatrix model"):
            load(path)
    with pytest.raises(ModelError, match="folder"):
        load(tmp_path)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "good.sx"
    save(make_pipeline(StandardScaler(), MaxMargin(C=np.inf)).fit(*blobs_2d()), path)
    return path.read_bytes()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_is_seen(tmp_path, good, data):
    """Bytes changed, cut off, put in or left out: an error, or a file that means the same."""
    content = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        how = data.draw(st.sampled_from(["change", "cut", "insert", "remove"]))
        if how == "change":
            content[place] ^= data.draw(st.integers(1, 255))
        elif how == "cut":
            del content[place:]
            break
        elif how == "insert":
            content[place:place] = data.draw(st.binary(min_size=1, max_size=8))
        else:
            del content[place : place + 4]
    path = tmp_path / "damaged.sx"
    path.write_bytes(bytes(content))
    X, _ = blobs_2d()
    try:
        model = load(path)
    except ModelError:
        return
    (tmp_path / "good.sx").write_bytes(good)
    np.testing.assert_array_equal(model.decision_function(X), load(tmp_path / "good.sx").decision_function(X))


leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8))
names = st.sampled_from(
    ["separatrix.space.Space", "separatrix.certificates.certificate.Certificate", "sklearn.pipeline.Pipeline",
     "separatrix.estimators.max_margin.MaxMargin", "separatrix.space.Hyperplane", "os.system"]
)  # fmt: skip
kinds = st.sampled_from(
    [
        "object",
        "tuple",
        "dict",
        "array",
        "text",
        "csr",
        "scalar",
        "slice",
        "float",
        "dtype",
        "number type",
        "random state",
    ]
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.fixed_dictionaries(
            {"!": kinds},
            optional={
                "class": names,
                "fields": st.dictionaries(st.sampled_from(["rho", "delta", "w", "b", "C", "steps"]), inner, max_size=3),
                "items": st.lists(inner, max_size=3),
                "value": inner,
                "name": st.sampled_from(["0", "1", "float64", "O"]),
                "shape": st.lists(st.integers(-1, 3), max_size=2),
                "kind": st.sampled_from(["U", "O"]),
                "data": inner,
                "indices": inner,
                "indptr": inner,
                "array": st.booleans(),
                "state": inner,
            },
        ),
    ),
    max_leaves=8,
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=trees)
def test_any_tree_is_a_model_or_an_error(tmp_path, tree):
    path = forged(tmp_path / "m.sx", {"model": tree, "provenance": {}}, {"0": np.arange(3.0)})
    try:
        model = load(path)
    except ModelError:
        return
    assert hasattr(model, "get_params")


values = st.recursive(
    st.one_of(
        leaves,
        st.floats(),
        st.binary(max_size=0).map(lambda _: np.float32(1.5)),
        st.sampled_from(
            [
                np.arange(6).reshape(2, 3),
                np.array(["a", "ü"]),
                np.zeros((0, 2)),
                np.array(True),
                np.arange(6.0).reshape(2, 3).T,
            ]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


@settings(max_examples=150)
@given(value=values)
def test_values_come_back(value):
    arrays = {}
    tree = json.loads(json.dumps(encode(value, arrays), allow_nan=False))
    assert same(Decoder(arrays).decode(tree), value)
