"""What kernels may claim: bounds need an inner product, and what cannot be done is refused, not dropped."""

import time
import weakref
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from separatrix import (
    CRAMMA,
    ROMMA,
    Certificate,
    DataError,
    DynamicMargin,
    KernelMaxMargin,
    KernelPerceptron,
    MarginFuzzyPerceptron,
    NotSeparableError,
    Perceptron,
    Pocket,
    VotedPerceptron,
)
from separatrix.data.memory import as_rows
from separatrix.errors import UnavailableError
from separatrix.estimators import kernel_max_margin
from separatrix.online import kernel_training as kernelised
from separatrix.passes import kernel_patterns as gram
from separatrix.passes.gram_rows import GramRows
from separatrix.passes.kernel_functions import Kernel
from separatrix.passes.kernel_patterns import definiteness
from separatrix.solvers import face_minimum as optimum
from separatrix.solvers import kernel_decomposition
from separatrix.theory import Space

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X6, Y6 = np.random.default_rng(18).normal(size=(6, 2)), np.array([0, 0, 0, 1, 1, 1])
SIGMOID = {"kernel": "sigmoid", "gamma": 1.0, "coef0": 0.5}
IRIS = load_iris(return_X_y=True)


def matrix(rng, lowest, n=8):
    """A symmetric matrix with the smallest eigenvalue ``lowest`` and others of about 1."""
    vectors = np.linalg.qr(rng.normal(size=(n, n)))[0]
    K = (vectors * np.append(rng.uniform(0.1, 2.0, n - 1), lowest)) @ vectors.T
    return (K + K.T) / 2


def certificates(K, y, **options):
    found = []
    for rule in (None, DynamicMargin(0.2)):
        for seed in range(2):
            model = KernelPerceptron(rule, fit_intercept=False, max_iter=20, random_state=seed, **options)
            with suppress(DataError):  # where the vector itself has a negative square
                found.append(model.fit(K, y).certificate_)
    return found


@quiet
def test_an_indefinite_kernel_bounds_nothing():
    assert np.linalg.eigvalsh(np.tanh(X6 @ X6.T + 0.5))[0] < -0.01
    found = certificates(X6, Y6, **SIGMOID)
    assert found
    for certificate in found:
        assert certificate.upper == np.inf
        assert certificate.verify(X6, Y6)
        forged = replace(certificate, upper=5.0, alpha_index=np.arange(6), alpha=np.ones(6))
        assert "upper" in forged.verify(X6, Y6).failed[0]
    skew = np.array([[1.0, 0.5], [-0.5, 1.0]])
    assert KernelPerceptron(kernel="precomputed").fit(skew, [0, 1]).certificate_.upper == np.inf


@quiet
@settings(max_examples=25, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([-0.5, -1e-3, -1e-5, -1e-7, -1e-12, 0.0, 0.1]))
def test_certificates_do_not_contradict_each_other(seed, lowest):
    rng = np.random.default_rng(seed)
    K, y = matrix(rng, lowest), np.arange(8) % 2
    assume(np.diag(K).min() > 0)
    found = certificates(K, y, kernel="precomputed")
    assert all(certificate.verify(K, y) for certificate in found)
    assert max((c.lower for c in found), default=0.0) <= min((c.upper for c in found), default=0.0)
    if lowest >= -1e-12:
        assert len(found) == 4
        assert np.isfinite(found[0].upper)
    if lowest <= -1e-3:
        assert all(np.isinf(c.upper) for c in found)


@pytest.mark.parametrize("lowest", [-1.0, -1e-3, -1e-6, -1e-9, -1e-14, 0.0, 1.0])
def test_definiteness(lowest):
    for seed in range(5):
        K = matrix(np.random.default_rng(seed), lowest, n=30)
        found = definiteness(K)
        assert found.holds is (lowest > -1e-5)
        if found.holds:
            assert np.linalg.eigvalsh(K)[0] >= -found.shift
            assert found.shift <= 200.0 * max(-lowest, 3e-15)
    K[0, 1] += 0.01
    assert definiteness(K).holds is False
    assert definiteness(np.full((3, 3), np.nan)).holds is False
    assert definiteness(np.zeros((3, 3))).holds


def test_which_kernels_are_inner_products_of_themselves():
    for kernel in (Kernel("linear"), Kernel("rbf", 0.0), Kernel("poly", degree=2), Kernel("poly", coef0=1.0)):
        assert kernel.mercer
    for kernel in (Kernel("sigmoid"), Kernel("precomputed"), Kernel(np.dot), Kernel("poly", coef0=-1.0)):
        assert not kernel.mercer
    assert not Kernel("poly", degree=2.5).mercer


def test_more_rows_than_are_looked_at(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    K, y = X @ X.T, X[:, 0] > 0
    options = {"kernel": "precomputed", "fit_intercept": False}
    certificate = KernelPerceptron(**options).fit(K, y).certificate_
    assert certificate.upper < np.inf
    assert certificate.verify(K, y)
    for module in (gram, kernel_max_margin):
        monkeypatch.setattr(module, "LARGEST_CHECKED", 10)
    unknown = KernelPerceptron(**options).fit(K, y).certificate_
    assert unknown.upper == np.inf
    assert unknown.lower > 0
    verification = certificate.verify(K, y)
    assert not verification
    assert not verification.failed
    assert "upper" in verification.unchecked[0]
    with pytest.warns(ConvergenceWarning, match="up to 10 rows"):
        model = KernelMaxMargin(**options).fit(K, y)
    assert not model.converged_
    assert np.isinf(model.certificate_.upper)


def test_the_maximum_margin_needs_an_inner_product():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0
    for C in (1.0, np.inf):
        with pytest.raises(DataError, match="not positive semi-definite"):
            KernelMaxMargin(C, kernel="sigmoid").fit(X, y)
    with pytest.raises(DataError, match="not positive semi-definite"):
        optimum.nonnegative_minimum(np.array([[1.0, -2.0], [-2.0, 1.0]]), np.zeros(2), None, np.ones(2))


def test_rounding_errors_of_a_singular_matrix_are_no_reason_to_give_up():
    for error in (1e-12, 1e-6):
        singular = np.ones((2, 2)) - error * np.eye(2)
        x = optimum.nonnegative_minimum(singular, np.zeros(2), None, np.ones(2))
        assert x.sum() == pytest.approx(1.0, abs=1e-3)
    X = np.random.default_rng(0).normal(size=(40, 3))
    X, y = X[np.abs(X[:, 0]) > 0.3], X[np.abs(X[:, 0]) > 0.3, 0] > 0
    K = X @ X.T
    assert np.linalg.eigvalsh(K.astype(np.float32).astype(np.float64))[0] < -1e-8
    options = {"kernel": "precomputed", "fit_intercept": False, "tol": 1e-2}
    exact = KernelMaxMargin(np.inf, **options).fit(K, y).certificate_
    rough = KernelMaxMargin(np.inf, **options).fit(K.astype(np.float32), y).certificate_
    assert exact.gap < 1e-6
    assert exact.verify(K, y)
    assert rough.gap < 1e-2
    assert rough.verify(K.astype(np.float32), y)


@quiet
def test_time_is_heeded_by_small_problems():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), rng.integers(0, 2, 600)
    KernelMaxMargin(np.inf, gamma=50.0).fit(X[:20], y[:20])  # to compile is no part of it
    clock = time.perf_counter()
    model = KernelMaxMargin(np.inf, gamma=50.0, max_time=0.01).fit(X, y)
    assert time.perf_counter() - clock < 5.0
    assert not model.converged_
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("labels", [None, np.where(np.arange(60) % 2 == 0, 1.0, -1.0)])
@pytest.mark.parametrize("diagonal", [0.0, 0.01])
def test_a_minimum_that_is_interrupted(labels, diagonal):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(60, 30))
    asked = []

    def stop():
        asked.append(None)
        return len(asked) >= 2

    x = optimum.nonnegative_minimum(Z @ Z.T, np.full(60, diagonal), labels, np.zeros(60), stop)
    assert len(asked) == 2
    assert x.min() >= 0
    assert x.sum() > 0
    assert labels is None or x @ labels == pytest.approx(0.0, abs=1e-12 * x.sum())


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        (Perceptron(average=True), "average"),
        (Perceptron(delta=1.0), "delta"),
        (DynamicMargin(intercept_scaling=2.0, max_iter=7), "intercept_scaling, max_iter"),
        (DynamicMargin(until="separated"), "until"),
        (Pocket(), "last vector"),
        (VotedPerceptron(), "last vector"),
        (MarginFuzzyPerceptron(), "last vector"),
    ],
)
def test_what_a_lender_cannot_lend(rule, lost):
    with pytest.raises(ValueError, match=lost):
        KernelPerceptron(rule).fit(X6, Y6)


@quiet
def test_what_a_lender_lends():
    assert KernelPerceptron(Perceptron(margin=100.0, max_updates=3)).fit(X6, Y6).n_updates_ == 3
    for rule in (CRAMMA(), ROMMA()):
        KernelPerceptron(rule, average=True, max_iter=3).fit(X6, Y6)
    KernelPerceptron(Perceptron(margin=0.1), average=True, max_iter=3).fit(X6, Y6)


def test_no_certify_on_other_rows():
    model = KernelPerceptron().fit(X6, Y6)
    assert not hasattr(model, "certify")
    with pytest.raises(UnavailableError, match="rows of the fit"):
        _ = model.certify


@quiet
@pytest.mark.parametrize("jobs", [None, 3])
@pytest.mark.parametrize("mode", ["ovr", "ovo"])
@pytest.mark.parametrize("cls", [KernelPerceptron, KernelMaxMargin])
def test_the_cache_is_bounded_in_all_problems_together(cls, mode, jobs, monkeypatch):
    alive, most = weakref.WeakSet(), [0]

    class Counted(GramRows):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            alive.add(self)
            most[0] = max(most[0], sum(g.store.nbytes for g in list(alive)))

    monkeypatch.setattr(kernelised, "GramRows", Counted)
    monkeypatch.setattr(kernel_decomposition, "GramRows", Counted)
    monkeypatch.setattr(kernel_decomposition, "ROWS_FACTORED", 10)
    options = {"max_iter": 3} if cls is KernelPerceptron else {}
    cls(cache_size=0.03, multi_class=mode, n_jobs=jobs, **options).fit(*IRIS)
    assert 5_000 < most[0] <= 30_000


def test_a_refusal_with_weights_is_verified():
    X, y = np.array([[1.0, 1.0], [-1.0, -1.0], [5.0, 5.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, 0, 0, 0])
    with pytest.raises(NotSeparableError) as caught:
        KernelMaxMargin(np.inf, kernel="linear").fit(X, y, [1.0, 2.0, 0.0, 1.0, 3.0])
    assert caught.value.certificate.verify(X, y)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("intercept", ["unpenalized", True, False])
def test_a_hard_margin_is_refused_with_a_proof(layout, intercept):
    """Equal rows, whatever the kernel; a linear and a polynomial one in integers."""
    X, y = layout(np.array([[0.1, 0.0], [0.3, 1.0], [0.1, -0.0], [2.0, 0.7]])), np.array([0, 0, 1, 1])
    circle = layout(np.array([[0.0, 0.0], [0.1, 0.3], [1.0, 0.2], [1.5, 0.3], [2.0, 0.2], [0.4, 0.1]]))
    rings = np.array([0, 0, 1, 0, 1, 0])
    cases = [(X, y, {"kernel": "rbf"}), (X, y, {"kernel": "poly"}), (X, y, {"kernel": "linear"})]
    many, noise = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    cases += [(layout(many), noise, {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": c}) for c in (0.0, 0.7)]
    for data, labels, options in cases:
        with pytest.raises(NotSeparableError, match="is 0 exactly") as caught:
            KernelMaxMargin(np.inf, fit_intercept=intercept, **options).fit(data, labels)
        certificate = caught.value.certificate
        assert certificate.separable is False
        said = certificate.verify(data, labels)
        assert said
        assert any("separable (False, exactly)" in text for text in said.checked)
        rows = certificate.alpha_index
        for other in (rows[1:], rows[:1], np.repeat(rows[:1], 2), rows + len(labels)):
            forged = replace(certificate, alpha_index=other, alpha=np.ones(len(other)), upper=np.inf)
            assert not any("separable" in text for text in forged.verify(data, labels).checked)
    assert KernelMaxMargin(np.inf, fit_intercept=intercept, gamma=1.0).fit(circle, rings).certificate_.separable


def test_a_vector_of_zeros_has_margins_of_zero():
    """Whose length is asked for among no rows, and then its margins among all."""
    X = np.array([[1.0], [2.0], [3.0]])
    patterns = gram.KernelPatterns(as_rows(X), np.array([-1.0, 1.0, -1.0]), Space(), Kernel("linear"))
    assert patterns.length(np.zeros(4)) >= 0
    assert patterns.margins(np.zeros(4)).tolist() == [0.0, 0.0, 0.0]


def test_forged_kernels_refute_nothing():
    """Of four rows that a line separates: kernels that are none, and data that are none."""
    X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    kernels = [Kernel("poly", 1.0, degree) for degree in (-1.0, -2.0, 2.5, np.nan, np.inf, 1e300)]
    kernels += [Kernel("poly", gamma, 2.0, c) for gamma, c in ((np.nan, 0), (np.inf, 0), (1.0, np.inf), (-1.0, 1.0))]
    kernels += [Kernel("rbf", gamma) for gamma in (1.0, np.nan, np.inf, -1.0)] + [Kernel("sigmoid"), Kernel("linear")]
    for kernel in kernels:
        for space in (Space(1.0), Space(1.0, free=True)):
            index = np.arange(4)
            claim = Certificate(None, np.inf, False, space, 1.0, alpha_index=index, alpha=np.ones(4), kernel=kernel)
            with np.errstate(all="ignore"), suppress(DataError):
                assert not any("separable" in text for text in claim.verify(X, y).checked), (kernel, space)
    for bad in (np.nan, np.inf):
        for layout in (np.asarray, sp.csr_matrix):
            assert claim.verify(layout(np.where(X == 4, bad, X)), y).failed == ("refused: X is not finite",)
    with pytest.raises(DataError, match="a column for every row"):
        replace(claim, kernel=Kernel("precomputed")).verify(X, y)


def test_what_is_not_proved_is_undecided():
    """A Gaussian kernel separates all rows that are different, by less than floats resolve: nothing is claimed."""
    X = np.linspace(0.0, 1.0, 40)[:, None]
    model = KernelMaxMargin(np.inf, gamma=1e-3)
    with pytest.warns(ConvergenceWarning, match="whether a hyperplane separates is undecided"):
        model.fit(X, np.arange(40) % 2)
    assert model.certificate_.separable is None
    assert not model.converged_


@quiet
@pytest.mark.parametrize("cls", [KernelPerceptron, KernelMaxMargin])
def test_a_sparse_matrix_of_a_precomputed_kernel(cls):
    X = np.abs(np.random.default_rng(0).normal(size=(30, 3)))
    K, y = X @ X.T, X[:, 0] > 0.7
    weight = np.where(np.arange(30) % 4 == 0, 0.0, 1.0)
    dense = cls(kernel="precomputed").fit(K, y, weight)
    sparse = cls(kernel="precomputed").fit(sp.csr_matrix(K), y, weight)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_matrix(K)), dense.decision_function(K), rtol=1e-9)
    assert sparse.certificate_.verify(sp.csr_matrix(K), y)


@pytest.mark.parametrize("cls", [KernelPerceptron, KernelMaxMargin])
def test_values_that_are_no_numbers(cls):
    with pytest.raises(DataError, match=r"no power of 2\.5"):
        cls(kernel="poly", degree=2.5, gamma=1.0).fit(X6, Y6)
    with pytest.raises(DataError, match="not finite"):
        cls(kernel=lambda A, B: np.where(np.eye(len(A), len(B)) > 0, 1.0, np.nan)).fit(X6, Y6)


@quiet
@pytest.mark.parametrize("degree", [0.5, 2.5])
def test_powers_of_positive_numbers(degree):
    X = np.abs(X6)
    model = KernelPerceptron(kernel="poly", degree=degree, gamma=1.0, max_iter=20).fit(X, Y6)
    assert np.isfinite(model.certificate_.lower)
    assert model.certificate_.verify(X, Y6)
    with pytest.raises(DataError, match="no power"):
        model.predict(-X)


def test_rounding_of_roots():
    slip = 1e-16
    assert Kernel("poly", degree=0.5).rounding(1.0, 3) >= np.sqrt(slip)
    assert 0 < Kernel("poly", degree=0.0).rounding(0.0, 3) < 1e-14


def test_multipliers_of_pairs():
    model = KernelMaxMargin(multi_class="ovo").fit(*IRIS)
    for alpha, beta in zip(model.alphas_, model.dual_coef_, strict=True):
        assert alpha.shape == model.support_.shape
        np.testing.assert_allclose(alpha, np.abs(beta), rtol=1e-9)
