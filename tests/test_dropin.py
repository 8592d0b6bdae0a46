"""The drop-in classes: scikit-learn's results, who solved the problem, certificates, and patching."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.calibration
import sklearn.linear_model
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.utils import compute_sample_weight

from separatrix import dropin
from separatrix.solvers import gram_pairs

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
CANCER = (scale(load_breast_cancer().data), load_breast_cancer().target)
LAYOUTS = {"dense": np.asarray, "csr": sp.csr_matrix, "float32": lambda X: X.astype(np.float32)}
SEQUENTIAL = [
    ("Perceptron", {}),
    ("Perceptron", {"eta0": 0.3, "class_weight": "balanced", "shuffle": False}),
    ("Perceptron", {"fit_intercept": False, "tol": None, "max_iter": 7}),
    ("PassiveAggressiveClassifier", {"random_state": 1}),
    ("PassiveAggressiveClassifier", {"loss": "squared_hinge", "C": 0.1, "class_weight": {1: 2.0}, "random_state": 1}),
]


def theirs_and_ours(name, **params):
    home = sklearn.svm if hasattr(sklearn.svm, name) else sklearn.linear_model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PassiveAggressiveClassifier is on its way out
        return getattr(home, name)(**params), getattr(dropin, name)(**params)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
@pytest.mark.parametrize(("name", "params"), SEQUENTIAL)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sequential_classes_take_the_same_steps(name, params, data, layout):
    X, y = LAYOUTS[layout](data[0]), data[1]
    theirs, ours = (model.fit(X, y) for model in theirs_and_ours(name, **params))
    exact = layout != "float32"  # theirs adds in float32
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=(1e-9 if exact else 1e-4) * abs(ours.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-9 if exact else 1e-3)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
    assert (ours.coef_.dtype, ours.intercept_.dtype) == (theirs.coef_.dtype, theirs.intercept_.dtype)
    assert ours.solver_.startswith("separatrix")
    assert all(c.verify(X, y == k) for k, c in enumerate(ours.certificates_)) or len(ours.classes_) == 2


def test_partial_fit_and_warm_start_go_on_as_theirs():
    X, y = IRIS
    theirs, ours = theirs_and_ours("Perceptron")
    for block in (slice(0, None, 2), slice(1, None, 2)):
        for model in (theirs, ours):
            model.partial_fit(X[block], y[block], classes=[0, 1, 2])
    np.testing.assert_allclose(ours.coef_, theirs.coef_)
    assert ours.solver_.startswith("separatrix")
    assert not hasattr(ours, "certificate_")  # some of the rows were not at hand
    theirs, ours = theirs_and_ours("Perceptron", warm_start=True, max_iter=3, tol=None)
    for model in (theirs, ours):
        model.fit(X, y).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_)
    assert np.isinf(ours.certificate_.upper)  # the multipliers of the first fit are not in the second


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"C": 0.01, "intercept_scaling": 3.0},
        {"class_weight": "balanced"},
        {"fit_intercept": False, "dual": False},
        {"loss": "hinge", "C": 0.1},
    ],
    ids=str,
)
@pytest.mark.parametrize("data", [IRIS, CANCER, (scale(WINE[0]), WINE[1])], ids=["iris", "cancer", "wine"])
def test_linear_svc_is_the_same_minimum(data, params, sparse):
    X, y = sp.csr_matrix(data[0]) if sparse else data[0], data[1]
    weight = np.random.RandomState(0).rand(len(y)) + 0.5
    theirs, ours = theirs_and_ours("LinearSVC", **params)
    theirs.set_params(tol=1e-9, max_iter=1_000_000).fit(X, y, weight)
    ours.fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert max(c.gap for c in ours.certificates_) < (1e-9 if ours.loss == "squared_hinge" else 1e-4)
    assert ours.solver_.startswith("separatrix")
    assert isinstance(ours.n_iter_, int)
    clear = abs(theirs.decision_function(X)).min(axis=-1) > 1e-3 if len(ours.classes_) > 2 else slice(None)
    np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "params", [{}, {"C": 0.1, "class_weight": "balanced", "decision_function_shape": "ovo"}], ids=str
)
@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
def test_svc_with_a_linear_kernel_is_the_same_model(data, params, sparse):
    X, y = sp.csr_matrix(data[0]) if sparse else data[0], data[1]
    weight = np.random.RandomState(0).rand(len(y)) + 0.5
    theirs, ours = theirs_and_ours("SVC", kernel="linear", **params)
    theirs.set_params(tol=1e-8).fit(X, y, weight)
    ours.fit(X, y, weight)
    assert ours.solver_.startswith("separatrix")
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    for name in ("support_", "n_support_", "n_iter_", "dual_coef_", "intercept_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert (a.shape, a.dtype, type(a)) == (b.shape, b.dtype, type(b)), name
    for name in ("coef_", "dual_coef_"):
        a, b = (np.asarray(sp.csr_matrix(getattr(model, name)).todense()) for model in (ours, theirs))
        np.testing.assert_allclose(a, b, atol=2e-3 * abs(b).max())
    scores = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), scores, atol=0.01)
    clear = abs(scores).min(axis=-1) > 0.02 if scores.ndim > 1 else abs(scores) > 0.02
    np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])
    assert max(c.gap for c in ours.certificates_) < 1e-4
    assert all(c.verify(X, y) for c in ours.certificates_)


def _own_kernel(a, b):
    return (np.asarray(a) @ np.asarray(b).T + 1.0) ** 2


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"C": 100.0, "class_weight": "balanced", "decision_function_shape": "ovo"},
        {"kernel": "poly", "coef0": 1.0, "gamma": 0.1},
        {"kernel": "precomputed"},
        {"kernel": _own_kernel},
    ],
    ids=["rbf", "rbf, C=100", "poly", "precomputed", "own"],
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
def test_svc_with_a_kernel_is_the_same_model(data, sparse, params):
    X, y = data
    if params.get("kernel") == "precomputed":
        X = _own_kernel(X, X)
    elif sparse and not callable(params.get("kernel")):
        X = sp.csr_matrix(X)
    weight = np.random.RandomState(0).rand(len(y)) + 0.5
    theirs, ours = theirs_and_ours("SVC", **params)
    theirs.fit(X, y, weight)
    ours.fit(X, y, weight)
    assert ours.solver_ == "separatrix: pairs of multipliers"
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=0.03)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for name in ("support_", "n_support_", "n_iter_", "dual_coef_", "intercept_", "support_vectors_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert (a.shape, a.dtype, type(a)) == (b.shape, b.dtype, type(b)), name
    assert all(c.verify(X, y) for c in ours.certificates_)
    assert 0 <= ours.dual_gap_ == max(c.value - c.bound for c in ours.certificates_)


@pytest.mark.parametrize("megabytes", [200, 0.2, 1e-3])
def test_rows_of_the_gram_matrix_come_when_they_are_asked_for(megabytes, monkeypatch):
    """From a sample on, with a cache that holds all of them, some, and two."""
    X, y = make_classification(400, 10, flip_y=0.1, random_state=0)
    theirs, ours = theirs_and_ours("SVC", C=10.0, cache_size=megabytes)
    theirs.fit(X, y)
    monkeypatch.setattr(gram_pairs, "ROWS_FOR_SAMPLE", 100)
    monkeypatch.setattr(gram_pairs, "ROWS_TOGETHER", 50)
    monkeypatch.setattr(gram_pairs, "STEPS_BETWEEN_LOOKS", 100)
    monkeypatch.setattr(gram_pairs, "TOGETHER", 4000)
    ours.fit(X, y)
    assert ours.solver_ == "separatrix: pairs of multipliers"
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=0.01)
    assert ours.certificate_.verify(X, y)
    assert ours.certificate_.gap < 1e-3


def test_the_steps_of_pairs_leave_rows_out_and_take_them_back(monkeypatch):
    """Shrinking as soon and as often as can be: the same minimum."""
    X, y = make_classification(300, 10, flip_y=0.1, random_state=0)
    plain = dropin.SVC(C=100.0, tol=1e-6).fit(X, y)
    monkeypatch.setattr(gram_pairs, "STEPS_BETWEEN_LOOKS", 20)
    monkeypatch.setattr(gram_pairs, "WORTH_COPYING", 0.99)
    monkeypatch.setattr(gram_pairs, "ROWS_TOGETHER", 0)
    shrunk = dropin.SVC(C=100.0, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(shrunk.support_, plain.support_)
    np.testing.assert_allclose(shrunk.decision_function(X), plain.decision_function(X), atol=1e-4)
    assert shrunk.certificate_.gap < 1e-5


@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
@pytest.mark.parametrize(
    ("name", "params"),
    [("LinearSVC", {}), ("SVC", {"kernel": "linear"}), ("SVC", {"gamma": 0.1}), ("SVC", {"gamma": "auto"})],
)
def test_plain_data_take_a_shorter_way_to_the_same_model(name, params, data):
    """Arrays of the right type are not checked as lists are; attributes, results and a shared generator agree."""
    X, y = data
    theirs, ours = theirs_and_ours(name, **params)
    theirs.random_state, ours.random_state = np.random.RandomState(7), np.random.RandomState(7)
    theirs.fit(X, y)
    ours.fit(X, y)
    assert theirs.random_state.randint(10**6) == ours.random_state.randint(10**6)
    assert set(vars(theirs)) <= set(vars(ours))
    what = "coef_" if name == "LinearSVC" else "dual_coef_"
    for given in ((X.tolist(), y.tolist()), (X.tolist(), y.astype(str)), (X, y.astype(float) - 1)):
        other, known = clone(ours).fit(*given), clone(theirs).fit(*given)
        np.testing.assert_allclose(getattr(other, what), getattr(ours, what), rtol=1e-9)
        assert other.classes_.dtype == known.classes_.dtype
    named = clone(ours).fit(load_iris(as_frame=True).data, IRIS[1])
    assert hasattr(named, "feature_names_in_")
    assert not hasattr(named.fit(X, y), "feature_names_in_")
    with pytest.raises(ValueError, match="NaN"):
        clone(ours).fit(np.where(X == X[0, 0], np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(ours).fit(X, y[:-1])
    with pytest.raises(ValueError, match="Unknown label type"):
        clone(ours).fit(X, y + 0.5)
    with pytest.raises(ValueError, match="class"):
        clone(ours).fit(X, np.zeros(len(y)))


def test_parameters_are_checked_once_for_each_value():
    X, y = IRIS
    for cls in (dropin.LinearSVC, dropin.SVC):
        model = cls().fit(X, y).fit(X, y)
        for wrong in (
            {"C": -1.0},
            {"C": "1"},
            {"tol": 0},
            {"max_iter": 1.5},
            {"random_state": "a"},
            {"class_weight": 3},
        ):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                clone(model).set_params(**wrong).fit(X, y)
        assert clone(model).set_params(C=True).get_params()["C"] is True
        with pytest.raises(ValueError, match="tol"):
            clone(model).set_params(tol="small").fit(X, y)


def test_linear_svc_says_when_it_did_not_converge():
    X, y = make_classification(5000, 50, flip_y=0.1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Liblinear failed to converge"):
        model = dropin.LinearSVC(max_iter=2).fit(X, y)
    assert model.n_iter_ < 5
    assert model.dual_gap_ > 1e-4
    assert max(c.gap for c in model.certificates_) > 1e-4


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (dropin.LinearSVC(multi_class="crammer_singer"), 'multi_class="crammer_singer"'),
        (dropin.SVC(kernel="sigmoid"), "a kernel that is not positive semi-definite on these data"),
        (dropin.SVC(kernel="linear", max_iter=5), "max_iter=5"),
        (
            dropin.SVC(kernel=lambda a, b: -np.tanh(a @ b.T)),
            "a kernel that is not positive semi-definite on these data",
        ),
        (dropin.Perceptron(penalty="l2"), 'penalty="l2"'),
        (dropin.Perceptron(early_stopping=True), "early_stopping=True"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_rest_is_left_to_scikit_learn(model, why):
    X, y = IRIS
    ours = clone(model).set_params(random_state=0).fit(X, y)
    theirs = theirs_and_ours(type(model).__name__, **ours.get_params())[0]
    np.testing.assert_array_equal(ours.decision_function(X), theirs.fit(X, y).decision_function(X))
    assert ours.solver_ == f"scikit-learn: {why}"
    assert not hasattr(ours, "certificate_")


@pytest.mark.parametrize("weights", [None, "balanced"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_linear_svc_with_l1_penalty_reaches_liblinears_objective(weights):
    for X, y in (IRIS, CANCER):
        models = [
            m.set_params(penalty="l1", dual=False, tol=1e-6, max_iter=20_000, class_weight=weights).fit(X, y)
            for m in theirs_and_ours("LinearSVC", random_state=0)
        ]
        theirs, ours = models
        assert ours.solver_.startswith("separatrix")
        assert ours.dual_gap_ <= 1e-3
        assert len(ours.certificates_) < 3 or ours.certificates_[0].verify(X, y == 0)
        factors = np.ones(len(y)) if weights is None else compute_sample_weight("balanced", y)
        if len(ours.classes_) == 2:
            values = [l1_objective(m, X, 2.0 * y - 1.0, factors) for m in models]
            assert values[1] <= values[0] * (1.0 + 1e-6)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.02 * np.abs(theirs.coef_).max())


def l1_objective(model, X, labels, factors):
    slack = np.maximum(0.0, 1.0 - labels * model.decision_function(X))
    return np.abs(model.coef_).sum() + np.abs(model.intercept_).sum() + float(factors @ slack**2)


@pytest.mark.parametrize("settings", [{"loss": "hinge"}, {"dual": True}])
def test_what_liblinear_cannot_solve_with_l1_is_its_error(settings):
    with pytest.raises(ValueError, match="Unsupported set of arguments"):
        dropin.LinearSVC(penalty="l1", **settings).fit(*IRIS)


def test_what_was_proved_is_forgotten():
    X, y = IRIS
    model = dropin.LinearSVC(random_state=0).fit(X, y)
    assert model.certificate_ is not None
    model.set_params(multi_class="crammer_singer", tol=0.1, max_iter=100_000).fit(X, y)
    assert not any(hasattr(model, name) for name in ("certificate_", "certificates_", "dual_gap_"))


def test_errors_are_scikit_learns():
    X, y = IRIS
    for fit in (lambda m: m.fit(X, np.zeros(len(y))), lambda m: m.fit(X[:, :0], y), lambda m: m.fit(X, y, -np.ones(3))):
        words = []
        for model in theirs_and_ours("LinearSVC"):
            with pytest.raises(ValueError, match=r".") as error:
                fit(model)
            words.append(str(error.value))
        assert words[0] == words[1]


def test_data_that_the_solver_refuses_are_left_to_scikit_learn():
    X, y = IRIS
    theirs, ours = theirs_and_ours("LinearSVC", random_state=0)
    weight = (y != 1).astype(float)
    theirs.fit(X[:100], y[:100], weight[:100])
    ours.fit(X[:100], y[:100], weight[:100])
    assert ours.solver_.startswith("scikit-learn: ")
    assert "at least 2 classes" in ours.solver_
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)


def test_models_pickle_and_are_subclasses():
    X, y = IRIS
    for name in ("LinearSVC", "Perceptron", "SVC"):
        theirs, ours = theirs_and_ours(name)
        assert isinstance(ours, type(theirs))
        assert ours.get_params() == theirs.get_params()
        ours.fit(X, y)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).predict(X), ours.predict(X))


def test_patching():
    theirs = sklearn.svm.LinearSVC
    with dropin.patched():
        assert sklearn.svm.LinearSVC is dropin.LinearSVC
        assert sklearn.linear_model.Perceptron is dropin.Perceptron
        assert sklearn.calibration.LinearSVC is dropin.LinearSVC
        with dropin.patched():
            pass
        assert sklearn.svm.LinearSVC is dropin.LinearSVC  # the outer one is still in force
    assert sklearn.svm.LinearSVC is theirs
    assert sklearn.calibration.LinearSVC is theirs
    dropin.patch()
    dropin.patch()
    dropin.unpatch()
    assert sklearn.svm.LinearSVC is theirs
