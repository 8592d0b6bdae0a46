"""Kernels: rules in the dual form, and the maximum margin in the space of a kernel."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from cases import ADDITIVE, HAVE_KERNELS
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.svm import SVC

from separatrix import (
    CRAMMA,
    LMS,
    ROMMA,
    DataError,
    DynamicMargin,
    FuzzyPerceptron,
    GreedyPerceptron,
    KernelMaxMargin,
    KernelPerceptron,
    MaxMargin,
    NotSeparableError,
    Perceptron,
    separability,
)
from separatrix.data.memory import as_rows
from separatrix.passes.gram_rows import GramRows
from separatrix.passes.kernel_functions import Kernel
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.solvers import kernel_decomposition as kernelised
from separatrix.space import Space

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, 0, 0])
SQUARE = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
MOONS = make_moons(80, noise=0.15, random_state=0)
IRIS = load_iris(return_X_y=True)


def phi(X):
    """The map of DHS example 2: 1, sqrt2 x1, sqrt2 x2, sqrt2 x1 x2, x1^2, x2^2."""
    a, b = X[:, 0], X[:, 1]
    r = np.sqrt(2)
    return np.column_stack([np.ones(len(X)), r * a, r * b, r * a * b, a**2, b**2])


@pytest.mark.parametrize("sparse", [False, True])
def test_values_of_the_kernels(sparse):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    for name, options in (
        ("linear", {}),
        ("rbf", {"gamma": 0.7}),
        ("poly", {"gamma": 0.7, "degree": 2, "coef0": 1.5}),
        ("sigmoid", {"gamma": 0.7, "coef0": -0.2}),
    ):
        kernel = Kernel(name, **options)
        left, right = (sp.csr_matrix(A), sp.csr_matrix(B)) if sparse else (A, B)
        np.testing.assert_allclose(kernel.values(left, right), pairwise_kernels(A, B, metric=name, **options))
        np.testing.assert_allclose(kernel.diagonal(left), np.diag(pairwise_kernels(A, metric=name, **options)))


QUICK = (Perceptron, DynamicMargin, CRAMMA, ROMMA)  # each other rule compiles a loop of its own, and so does a table
DUAL = [*ADDITIVE, *(case for case in HAVE_KERNELS if "average" not in case.parameters)]
COSTLY = [case for case in ADDITIVE if case.estimator not in QUICK or case.table]


@quiet
@pytest.mark.nojit
@pytest.mark.parametrize("case", [pytest.param(c, marks=pytest.mark.slow) if c in COSTLY else c for c in DUAL], ids=str)
@pytest.mark.parametrize("delta", [0.0, 0.6])
def test_a_rule_in_dual_form_is_the_rule(case, delta):
    rule = case.estimator(**case.parameters | {"until": "accurate"})
    X, y = MOONS
    X = np.round(X, 3)
    weight = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    theorem = {"max_iter": 8, "delta": delta, "until": "separated"}
    direct = clone(rule).set_params(**theorem).fit(X, y, weight)
    dual = KernelPerceptron(rule, kernel="linear", **theorem).fit(X, y, weight)
    assert dual.n_updates_ == direct.n_updates_
    scores = direct.decision_function(X)
    np.testing.assert_allclose(dual.decision_function(X), scores, atol=1e-9 * np.abs(scores).max())
    assert dual.certificate_.upper == pytest.approx(direct.certificate_.upper, rel=1e-7)
    assert dual.certificate_.lower == pytest.approx(direct.certificate_.lower, rel=1e-6)
    assert dual.certificate_.verify(X, y)
    assert dual.geometric_margin_ == pytest.approx(direct.geometric_margin_, rel=1e-6)
    assert dual.directional_margin_ == pytest.approx(direct.directional_margin_, rel=1e-6)


@quiet
def test_averages_in_dual_form():
    X, y = MOONS
    direct = Perceptron(average=True, max_iter=5).fit(X, y)
    dual = KernelPerceptron(average=True, kernel="linear", max_iter=5).fit(X, y)
    np.testing.assert_allclose(dual.decision_function(X), direct.decision_function(X), atol=1e-10)


@quiet
@pytest.mark.parametrize("rule", [GreedyPerceptron(), FuzzyPerceptron(fuzz=0.01)], ids=str)
def test_greedy_and_fuzzy_rules_in_the_space_of_a_kernel(rule):
    """Losses, class means and distances are those of the mapped rows."""
    X, y = make_moons(60, noise=0.2, random_state=1)
    direct = clone(rule).set_params(max_iter=10).fit(phi(X), y)
    dual = KernelPerceptron(rule, max_iter=10, **SQUARE).fit(X, y)
    assert dual.n_updates_ == direct.n_updates_
    np.testing.assert_allclose(dual.decision_function(X), direct.decision_function(phi(X)), rtol=1e-8, atol=1e-8)
    theories = [m.certificate_.theory for m in (dual, direct)]
    assert theories[0].theorem == theories[1].theorem
    assert theories[0].least_bound == pytest.approx(theories[1].least_bound, rel=1e-6)


def test_a_kernel_is_its_map():
    X = make_moons(60, noise=0.05, random_state=1)[0]
    direct = DynamicMargin(0.2, max_iter=10_000, until="separated").fit(phi(X), X[:, 0] ** 2 > X[:, 1])
    dual = KernelPerceptron(DynamicMargin(0.2), max_iter=10_000, until="separated", **SQUARE).fit(
        X, X[:, 0] ** 2 > X[:, 1]
    )
    assert dual.n_updates_ == direct.n_updates_
    assert dual.certificate_.separable
    assert dual.certificate_.ratio >= 0.8
    np.testing.assert_allclose(dual.decision_function(X), direct.decision_function(phi(X)), rtol=1e-8, atol=1e-8)


@quiet
def test_the_cache_changes_nothing():
    X, y = make_moons(300, noise=0.2, random_state=2)
    models = [KernelPerceptron(cache_size=size, max_iter=20, kernel="linear").fit(X, y) for size in (1e-6, 0.05, 100)]
    for model in models[1:]:
        assert model.n_updates_ == models[0].n_updates_
        np.testing.assert_allclose(model.decision_function(X), models[0].decision_function(X), rtol=1e-9)
    patterns = KernelPatterns(as_rows(X), np.ones(300), Space(1.0), Kernel("rbf", 0.5))
    gram = GramRows(patterns, 8 * 300 * 5 / 1e6)
    assert gram.rows.shape == (5, 300)
    for i in (7, 3, 7, 250, 9, 11, 3, 250, 0):
        np.testing.assert_allclose(gram.row(i), rbf_kernel(X[[i]], X, gamma=0.5)[0] + 1.0)
    owned = gram.owner[gram.owner >= 0]
    assert all(gram.owner[gram.slot[i]] == i for i in owned)


@quiet
def test_resuming_in_dual_form():
    X, y = MOONS
    whole = KernelPerceptron(CRAMMA(2.0), max_iter=9, until="separated").fit(X, y)
    parts = KernelPerceptron(CRAMMA(2.0), max_iter=3, until="separated", warm_start=True)
    for _ in range(3):
        parts.fit(X, y)
    np.testing.assert_array_equal(parts.dual_coef_, whole.dual_coef_)
    with pytest.raises(DataError, match="same data only"):
        parts.fit(X[:50], y[:50])


@quiet
@pytest.mark.parametrize("cls", [KernelPerceptron, KernelMaxMargin])
def test_ways_to_give_a_kernel(cls):
    X, y = MOONS
    weight = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    new = np.random.default_rng(3).normal(size=(9, 2))
    model = cls(gamma=0.5).fit(X, y, weight)
    assert model.certificate_.verify(X, y)
    by_function = cls(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X, y, weight)
    K = rbf_kernel(X, gamma=0.5)
    precomputed = cls(kernel="precomputed").fit(K, y, weight)
    sparse = cls(gamma=0.5).fit(sp.csr_matrix(X), y, weight)
    small = cls(gamma=0.5).fit(X.astype(np.float32).astype(np.float64), y, weight)
    single = cls(gamma=0.5).fit(X.astype(np.float32), y, weight)
    expected = model.decision_function(new)
    np.testing.assert_allclose(by_function.decision_function(new), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        precomputed.decision_function(rbf_kernel(new, X, gamma=0.5)), expected, rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(sparse.decision_function(sp.csr_matrix(new)), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(single.decision_function(new), small.decision_function(new), rtol=1e-6, atol=1e-8)
    assert by_function.certificate_.verify(X, y)
    assert precomputed.certificate_.verify(K, y)
    assert sparse.certificate_.verify(sp.csr_matrix(X), y)
    with pytest.raises(DataError, match="square matrix"):
        cls(kernel="precomputed").fit(K[:, :-1], y)
    with pytest.raises(DataError, match="take two matrices"):
        cls(kernel=lambda A, B: np.zeros(3)).fit(X, y)


@quiet
@pytest.mark.parametrize("cls", [KernelPerceptron, KernelMaxMargin])
@pytest.mark.parametrize("mode", ["ovr", "ovo"])
def test_several_classes(cls, mode):
    X, y = IRIS
    model = cls(multi_class=mode, n_jobs=2).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.dual_coef_.shape == (3, len(model.support_))
    for k, certificate in enumerate(model.certificates_):
        assert certificate.verify(X, y if mode == "ovo" else y == k)
    alone = cls(multi_class=mode).fit(X, y)
    np.testing.assert_array_equal(alone.dual_coef_, model.dual_coef_)
    K = rbf_kernel(X, gamma=model._kernel_.gamma)
    precomputed = cls(multi_class=mode, kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(precomputed.predict(K), model.predict(X))
    if cls is KernelMaxMargin and mode == "ovo":
        rows = y != 2
        pair = cls(gamma=model._kernel_.gamma).fit(X[rows], y[rows])
        np.testing.assert_allclose(pair.dual_coef_[0], model.dual_coef_[0, np.isin(model.support_, pair.support_)])


@quiet
def test_early_stopping_with_a_kernel():
    X, y = make_moons(200, noise=0.3, random_state=0)
    model = KernelPerceptron(early_stopping=True).fit(X, y)
    assert len(model.validation_rows_) == 20
    assert not np.any(np.isin(model.support_, model.validation_rows_))
    assert model.certificate_.verify(X, y)


def test_what_a_kernel_cannot_do():
    X, y = MOONS
    for model, why in (
        (KernelPerceptron(LMS()), "has no dual form"),
        (KernelPerceptron(GreedyPerceptron(), average=True), "no mean"),
    ):
        with pytest.raises(ValueError, match=why):
            model.fit(X, y)
    with pytest.raises(ValueError, match="rule="):
        KernelPerceptron("perceptron").fit(X, y)
    with pytest.raises(ValueError, match="no coef_init"):
        KernelPerceptron().fit(X, y, coef_init=[[1.0, 2.0]])
    with pytest.raises(ValueError, match="linear machine"):
        KernelPerceptron(multi_class="joint").fit(*IRIS)
    assert not hasattr(KernelPerceptron(), "partial_fit")
    with pytest.raises(AttributeError, match="space of its kernel"):
        _ = KernelPerceptron().fit(X, y).signed_distance
    with pytest.raises(DataError, match="no inner product"):
        KernelMaxMargin(kernel="sigmoid", gamma=1.0, coef0=-5.0).fit(X, y)


# The maximum margin


def best_margin(K, y, C, mode):
    """The maximum margin by quadprog, on patterns whose inner products are K, extended where C is finite."""
    values, vectors = np.linalg.eigh(K)
    delta = 0.0 if np.isinf(C) else (2 * C) ** -0.5
    F = np.column_stack([vectors * np.sqrt(np.maximum(values, 0)), delta * np.diag(oracle.labels(y))])
    if mode == "unpenalized":
        return oracle.max_geometric_margin(F, y)[0]
    return oracle.max_margin(oracle.patterns(F, y, float(mode)))[0]


@settings(max_examples=50, derandomize=True)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.3, 5.0, np.inf]),
    st.sampled_from(["unpenalized", True, False]),
    st.sampled_from(["rbf", "poly"]),
)
def test_it_agrees_with_a_quadratic_program(seed, C, mode, name):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60))
    X = rng.normal(size=(n, 3))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0) if name == "rbf" else (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0)
    y[:2] = False, True
    options = {"gamma": 1.0} if name == "rbf" else {"gamma": 1.0, "degree": 2, "coef0": 1.0}
    if name == "poly" and np.isinf(C):
        y = X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > np.sort(X[:, 0] * X[:, 1] + 0.3 * X[:, 2])[2]
    model = KernelMaxMargin(C, kernel=name, fit_intercept=mode, **options).fit(X, y)
    K = pairwise_kernels(X, metric=name, **options)
    best = best_margin(K, y, C, mode)
    assert model.certificate_.lower == pytest.approx(best, rel=1e-6)
    assert model.certificate_.upper == pytest.approx(best, rel=1e-6)
    assert model.certificate_.verify(X, y)
    assert model.converged_


@pytest.mark.parametrize("mode", ["unpenalized", True, False])
def test_example_2(mode):
    X, y = XOR
    model = KernelMaxMargin(np.inf, fit_intercept=mode, **SQUARE).fit(X, y)
    np.testing.assert_allclose(model.alphas_[0], 1 / 8)
    assert model.geometric_margin_ == pytest.approx(np.sqrt(2))
    new = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(model.decision_function(new), new[:, 0] * new[:, 1], atol=1e-12)
    assert model.certificate_.verify(X, y)
    explicit = MaxMargin(np.inf, fit_intercept=mode).fit(phi(X), y)
    assert explicit.certificate_.lower == pytest.approx(model.certificate_.lower)


def test_the_hard_margin_of_svc():
    X, y = IRIS
    for gamma in (0.5, 3.0):
        ours = KernelMaxMargin(np.inf, gamma=gamma).fit(X, y == 1)
        theirs = SVC(C=1e9, gamma=gamma, tol=1e-9).fit(X, y == 1)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-4)
        assert ours.geometric_margin_ == pytest.approx(np.abs(theirs.dual_coef_).sum() ** -0.5, rel=1e-5)


@pytest.mark.parametrize("mode", ["unpenalized", True])
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("face", [0, 3000])
def test_large_problems_come_to_the_same(mode, C, face, monkeypatch):
    X, y = make_moons(250, noise=0.15, random_state=0)
    options = {"fit_intercept": mode, "gamma": 8.0, "tol": 1e-5}
    exact = KernelMaxMargin(C, **options).fit(X, y)
    monkeypatch.setattr(kernelised, "ROWS_FACTORED", 10)
    monkeypatch.setattr(kernelised, "LARGEST_FACE", face)
    descended = KernelMaxMargin(C, cache_size=0.1, **options).fit(X, y)
    assert descended.certificate_.gap <= 2e-5
    assert descended.certificate_.verify(X, y)
    assert descended.certificate_.lower == pytest.approx(exact.certificate_.lower, rel=2e-5)


def test_no_hard_margin():
    X, y = XOR
    with pytest.raises(NotSeparableError, match="is 0 exactly") as caught:
        KernelMaxMargin(np.inf, kernel="linear").fit(X, y)
    assert caught.value.certificate.upper < 1e-5
    assert separability(X, y).separable is False
    with pytest.raises(NotSeparableError):
        KernelMaxMargin(np.inf).fit([[0.0], [0.0], [1.0]], [0, 1, 1])


def test_weights_are_prices_of_slack():
    X, y = make_moons(60, noise=0.4, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 60).astype(float)
    weighted = KernelMaxMargin().fit(X, y, weight)
    repeated = KernelMaxMargin().fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-7, atol=1e-9)
    assert weighted.certificate_.verify(X, y)
    balanced = KernelMaxMargin(class_weight="balanced").fit(X[:50], y[:50])
    factors = 50 / (2 * np.bincount(y[:50]))
    by_hand = KernelMaxMargin().fit(X[:50], y[:50], factors[y[:50]])
    np.testing.assert_allclose(balanced.decision_function(X), by_hand.decision_function(X))


def test_a_false_claim_is_refused():
    X, y = MOONS
    certificate = KernelMaxMargin(10.0).fit(X, y).certificate_
    assert certificate.verify(X, y)
    assert not replace(certificate, lower=certificate.lower * (1 + 1e-6)).verify(X, y)
    assert not replace(certificate, upper=certificate.upper * (1 - 1e-6)).verify(X, y)
    assert not certificate.verify(X, y[::-1])
    assert not replace(certificate, kernel=Kernel("rbf", 1.1 * certificate.kernel.gamma)).verify(X, y)
    with pytest.raises(DataError, match="about 80 rows"):
        certificate.verify(X[:40], y[:40])
