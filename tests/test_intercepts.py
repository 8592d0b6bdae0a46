"""The intercept of the hinge loss is the middle of the optimal ones, and scores are those of coef_ and intercept_."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale
from test_same_predictions import optimal_intercepts

from separatrix import (
    DataError,
    KernelMaxMargin,
    MaxMargin,
    UnavailableError,
    data,
    dropin,
    load,
    max_margin_path,
    save,
)

IRIS = scale(load_iris().data), load_iris().target
LAYOUTS = {"dense": np.asarray, "csr": sp.csr_matrix, "float32": lambda X: X.astype(np.float32)}
FREE = {"loss": "hinge", "fit_intercept": "unpenalized"}
LINEAR = [MaxMargin(1e-3, **FREE), KernelMaxMargin(1e-3, kernel="linear", **FREE)]


def balanced(seed, d=3):
    """Rows of two classes of the same size, among which a small C brings every multiplier to its cap."""
    rng = np.random.default_rng(seed)
    each = int(rng.integers(5, 50))
    return rng.normal(size=(2 * each, d)), np.repeat([0, 1], each)


def assert_middle(model, X, y, c):
    """The intercept is the middle of an interval, and the certificate is true of what is returned."""
    l, f = np.where(y == model.classes_[1], 1.0, -1.0), np.asarray(X @ model.coef_[0], dtype=float).ravel()
    low, high = optimal_intercepts(f, l, c)
    assert high - low > 0.1
    assert model.intercept_[0] == pytest.approx((low + high) / 2, abs=1e-9)
    value = model.coef_[0] @ model.coef_[0] / 2 + model.C * (c @ np.maximum(0, 1 - l * (f + model.intercept_[0])))
    claim = model.certificate_
    assert claim.bound <= value * (1 + 1e-12)
    assert value <= claim.value <= value * (1 + 1e-11)
    assert claim.verify(X, y)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("model", LINEAR, ids=["linear", "kernel"])
def test_the_intercept_is_the_middle_of_the_optimal_ones(model, layout):
    for seed in range(5):
        X, y = balanced(seed)
        X = LAYOUTS[layout](X)
        assert_middle(model.set_params(class_weight=None).fit(X, y), X, y, np.ones(len(y)))
        y[:3] = 1 - y[0]  # classes of other sizes, whose caps have equal sums but for rounding errors
        model.set_params(class_weight="balanced").fit(X, y)
        assert_middle(model, X, y, (len(y) / (2 * np.bincount(y)))[y])


@pytest.mark.parametrize("model", LINEAR, ids=["linear", "kernel"])
def test_sample_weights_of_equal_sums_have_an_interval(model):
    X, y = balanced(0)
    weight = np.random.default_rng(1).uniform(0.3, 3.0, len(y))
    weight[y == 1] *= weight[y == 0].sum() / weight[y == 1].sum()
    weight[[0, -1]] = 0.0
    weight[1], weight[-2] = weight[1] + weight[y == 1].sum() - weight[y == 0].sum() + 1.0, weight[-2] + 1.0
    assert_middle(model.set_params(class_weight=None).fit(X, y, weight), X, y, weight)


@pytest.mark.parametrize("model", LINEAR, ids=["linear", "kernel"])
def test_pairs_and_classes_against_the_rest_have_middles(model):
    X, y = IRIS
    model.set_params(C=1e-4, class_weight=None, multi_class="ovo").fit(X, y)
    theirs = sklearn.svm.SVC(kernel="linear", C=1e-4, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.intercept_, -theirs.intercept_, atol=1e-8)
    assert model.score(X, y) == theirs.score(X, y) > 0.85
    assert all(claim.verify(X, y) for claim in model.certificates_)
    doubled = np.concatenate([X, X[y == 0]]), np.append(y, np.zeros(50, int))  # as many of class 0 as of the others
    rest = model.set_params(multi_class="ovr").fit(*doubled)
    two = MaxMargin(1e-4, **FREE).fit(doubled[0], doubled[1] == 0)
    assert_middle(two, doubled[0], doubled[1] == 0, np.ones(200))
    np.testing.assert_allclose(rest.intercept_[0], two.intercept_[0], atol=1e-9)
    model.set_params(C=1e-3, multi_class="ovr")


def test_paths_and_starts_end_in_the_middle():
    X, y = balanced(3)
    for model in max_margin_path(X, y, [1e-3, 1e-4], **FREE):
        assert_middle(model, X, y, np.ones(len(y)))
    start = {"coef_init": np.ones((1, 3)), "intercept_init": [0.9]}
    assert_middle(MaxMargin(1e-3, **FREE).fit(X, y, **start), X, y, np.ones(len(y)))


def test_large_problems_have_a_middle_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30_000, 8)), np.tile([0, 1], 15_000)  # not to machine precision
    X[:, 0] += y
    model = MaxMargin(1e-6, **FREE).fit(X, y)
    assert model.intercept_[0] == pytest.approx(
        np.mean(optimal_intercepts_of_many(X @ model.coef_[0], np.where(y == 1, 1.0, -1.0))), abs=1e-6
    )  # fmt: skip
    assert model.converged_
    assert model.certificate_.verify(X, y)


def optimal_intercepts_of_many(f, l):
    """Of equal weights: between the two kinks in the middle, as many on the left as there are positive rows."""
    kinks, positive = np.sort(l - f), int(np.count_nonzero(l > 0))
    return kinks[positive - 1 : positive + 1]


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_svc_has_the_intercept_of_libsvm(kernel, layout):
    for seed in range(12):
        X, y = balanced(seed)
        C = 10.0 ** np.random.default_rng(seed).uniform(-4, -2)
        X = LAYOUTS["dense" if kernel == "precomputed" else layout](X @ X.T if kernel == "precomputed" else X)
        ours, theirs = (m.SVC(kernel=kernel, C=C, tol=1e-8).fit(X, y) for m in (dropin, sklearn.svm))
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
        assert ours.solver_.startswith("separatrix")
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_svc_at_a_small_c_on_iris():
    for C in (1e-3, 1e-4, 1e-5, 1e-6):
        ours, theirs = (m.SVC(kernel="linear", C=C).fit(*IRIS) for m in (dropin, sklearn.svm))
        assert ours.score(*IRIS) == theirs.score(*IRIS) > 0.85
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


def test_a_multiplier_within_rounding_of_its_cap_does_not_move_the_intercept():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([0, 0, 0, 1])
    for kernel in ("linear", "rbf"):
        ours = dropin.SVC(kernel=kernel, C=0.1, class_weight="balanced", gamma=1.0).fit(X, y)
        np.testing.assert_array_equal(ours.predict(X), y)


@pytest.mark.parametrize("X", [np.zeros((4, 2)), sp.csr_matrix((4, 2))], ids=["dense", "csr"])
@pytest.mark.parametrize("model", LINEAR, ids=["linear", "kernel"])
def test_rows_of_zeros_have_an_intercept(model, X):
    model.set_params(C=1.0, class_weight=None)
    for y, b in (([0, 1, 1, 1], 1.0), ([0, 0, 0, 1], -1.0), ([0, 0, 1, 1], 0.0)):
        model.fit(X, y)
        assert not model.coef_.any()
        assert model.intercept_ == pytest.approx([b], abs=1e-12)
        assert model.certificate_.value == pytest.approx(2.0 * min(np.bincount(y)), rel=1e-12)
        assert model.converged_
        assert not model.certificate_.verify(X, y).failed
    assert model.set_params(multi_class="ovr").fit(X, [0, 1, 2, 2]).intercept_ == pytest.approx([-1.0, -1.0, 0.0])
    model.set_params(C=1e-3)
    for other in (MaxMargin(loss="hinge", fit_intercept=False), MaxMargin(C=np.inf, fit_intercept="unpenalized")):
        with pytest.raises(DataError, match="All rows are zero"):
            other.fit(X, [0, 0, 1, 1])


def test_out_of_core_rows_are_refused_and_predicted():
    X, y = balanced(0)
    with pytest.raises(UnavailableError, match="a multiplier for every row"):
        MaxMargin(1e-3, **FREE).fit(data.from_blocks([(X, y)]))
    for model in LINEAR:
        model.fit(X, y)
        np.testing.assert_array_equal(model.predict(data.from_blocks([(X, y)])), model.predict(X))


@pytest.mark.parametrize("cls", [dropin.LinearSVC, MaxMargin])
def test_classes_that_nothing_tells_from_the_rest_have_equal_scores(cls):
    """Their vectors are 0, and rounding errors do not decide which of them is predicted."""
    equal = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
        model = cls(C=1.0, loss="hinge").fit(X, y)
        zero = np.abs(model.coef_).max(axis=1) < 1e-9
        assert not model.coef_[zero].any()
        np.testing.assert_array_equal(model.intercept_[zero], -1.0)
        equal += np.count_nonzero(zero) > 1
        assert np.all(np.asarray(model.dual_gap_) < 1e-9)
        assert all(c.verify(X, y == k) for k, c in enumerate(model.certificates_))
    assert equal > 3


def test_a_small_c_leaves_the_vector():
    X, y = balanced(0)
    model = MaxMargin(1e-16, **FREE).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], 1e-16 * np.where(y == 1, 1.0, -1.0) @ X, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # inner products lose their digits
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("params", [{"C": np.inf}, {"loss": "hinge"}, {"multi_class": "ovo"}, {"fit_intercept": True}])
def test_a_linear_kernel_predicts_with_its_coefficients(params, layout, tmp_path):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, offset = (4, 1) if "C" in params else (20, rng.integers(0, 5))
        X = LAYOUTS[layout](rng.normal(size=(n, 2)) * 100 + 10.0**offset)
        y = np.tile([0, 1], n // 2) if "C" in params else rng.integers(0, 3, n)
        try:
            model = KernelMaxMargin(kernel="linear", **params).fit(X, y)
        except ValueError:  # nothing separates
            continue
        double = X.astype(np.float64)
        scores = model._scores(X)
        expected = np.asarray(double @ model.coef_.T + model.intercept_)
        np.testing.assert_allclose(scores, expected.ravel() if scores.ndim == 1 else expected, rtol=1e-12, atol=1e-12)
        if layout == "dense" and scores.ndim == 1:
            np.testing.assert_array_equal(model.decision_function(X), expected.ravel())
            assert model.certificate_.verify(X, y)
        save(model, tmp_path / "m.sx")
        np.testing.assert_array_equal(load(tmp_path / "m.sx").decision_function(X), model.decision_function(X))
