"""The hinge loss with a kernel: the problem of SVC, at once and by decomposition."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from separatrix import KernelMaxMargin, MaxMargin, dropin
from separatrix.data.memory import as_rows
from separatrix.passes.gram_rows import GramRows
from separatrix.passes.kernel_patterns import Kernel, KernelPatterns
from separatrix.solvers import gram_pairs, kernel_decomposition
from separatrix.space import Space

KERNELS = [{"gamma": 0.7}, {"kernel": "poly", "coef0": 1.0, "gamma": 0.5}, {"kernel": "linear"}, {"gamma": 5.0}]
MOONS = make_moons(200, noise=0.25, random_state=0)


@pytest.mark.parametrize("options", KERNELS, ids=str)
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("at_once", [True, False])
def test_it_is_svc(options, C, at_once, monkeypatch):
    X, y = MOONS
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    if not at_once:
        monkeypatch.setattr(kernel_decomposition, "ROWS_FACTORED", 10)
        monkeypatch.setattr(kernel_decomposition, "WORKING", 20)
    tol = 1e-7 if at_once else 1e-6
    theirs = SVC(C=C, tol=1e-7, **options).fit(X, y, sample_weight=weight)
    ours = KernelMaxMargin(C, loss="hinge", tol=tol, **options).fit(X, y, sample_weight=weight)
    assert ours.certificate_.gap <= 2e-6
    assert ours.certificate_.verify(X, y)
    far = 1e-3 if at_once else 2e-2
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-3, atol=far)
    if at_once:
        assert ours.n_support_.tolist() == theirs.n_support_.tolist()
        assert ours.support_.tolist() == np.sort(theirs.support_).tolist()
    f = theirs.decision_function(X) - theirs.intercept_
    slack = np.maximum(0, 1 - np.where(y == 1, 1, -1) * theirs.decision_function(X))
    value = theirs.dual_coef_[0] @ f[theirs.support_] / 2 + C * weight @ slack
    assert ours.certificate_.bound <= value
    assert ours.certificate_.value == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
def test_with_the_linear_kernel_it_is_max_margin(intercept, C):
    X, y = make_classification(120, 5, flip_y=0.1, random_state=1)
    linear = MaxMargin(C, loss="hinge", fit_intercept=intercept, intercept_scaling=2.0).fit(X, y)
    kernel = KernelMaxMargin(C, loss="hinge", fit_intercept=intercept, intercept_scaling=2.0, kernel="linear").fit(X, y)
    assert kernel.converged_
    assert kernel.certificate_.value == pytest.approx(linear.certificate_.value, rel=1e-4 if C > 1e5 else 1e-6)
    assert kernel.certificate_.verify(X, y)


@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_decomposition_finds_what_is_found_at_once(intercept, loss, monkeypatch):
    """With a cache of few rows, and none that ends exactly."""
    X, y = MOONS
    options = {"loss": loss, "fit_intercept": intercept, "gamma": 4.0, "tol": 1e-6}
    exact = KernelMaxMargin(10.0, **options).fit(X, y)
    monkeypatch.setattr(kernel_decomposition, "ROWS_FACTORED", 10)
    monkeypatch.setattr(kernel_decomposition, "LARGEST_FACE", 0)
    model = KernelMaxMargin(10.0, cache_size=0.05, **options).fit(X, y)
    assert model.certificate_.gap <= 2e-6
    assert model.certificate_.lower == pytest.approx(exact.certificate_.lower, rel=1e-6)
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("C", [1e-3, 1e3, 1e6])
def test_every_price_of_slack_ends_with_a_gap(C):
    model = KernelMaxMargin(C, loss="hinge").fit(*MOONS)
    assert model.converged_
    assert model.certificate_.gap <= 1e-4
    assert np.all(np.abs(model.dual_coef_) <= C)


@pytest.mark.parametrize("mode", ["ovo", "ovr"])
def test_three_classes_and_other_forms_of_data(mode):
    X, y = load_iris(return_X_y=True)
    options = {"loss": "hinge", "multi_class": mode, "gamma": 0.5}
    model = KernelMaxMargin(**options).fit(X, y)
    assert model.score(X, y) > 0.95
    for other in (sp.csr_matrix(X), X.astype(np.float32)):
        np.testing.assert_allclose(
            KernelMaxMargin(**options).fit(other, y)._scores_of_rows(X), model._scores_of_rows(X), atol=1e-4
        )
    if mode == "ovo":
        svc = SVC(gamma=0.5, tol=1e-8).fit(X, y)
        assert model.n_support_.tolist() == svc.n_support_.tolist()
        assert model.support_.tolist() == np.sort(svc.support_).tolist()
    K = rbf_kernel(X, gamma=0.5)
    given = KernelMaxMargin(loss="hinge", multi_class=mode, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), model.decision_function(X), atol=1e-6)
    for k, certificate in enumerate(given.certificates_):
        assert certificate.verify(K, y if mode == "ovo" else y == k)


def test_rows_that_are_wanted_together_are_there_together():
    X, y = MOONS
    patterns = KernelPatterns(as_rows(X), np.where(y == 1, 1.0, -1.0), Space(0.5), Kernel("rbf", 2.0))
    gram = GramRows(patterns, 8e-6 * 200 * 12)
    Q = patterns.labels[:, None] * (rbf_kernel(X, gamma=2.0) + 0.25) * patterns.labels
    rng = np.random.default_rng(0)
    for _ in range(50):
        index = rng.choice(200, 6, replace=False)
        gram.bring(index)
        np.testing.assert_allclose(gram.rows[gram.slot[index]], Q[index], atol=1e-12)
    assert np.count_nonzero(gram.slot >= 0) <= 12


def test_rows_that_are_left_out_take_their_columns_with_them():
    X, y = MOONS
    patterns = KernelPatterns(as_rows(X), np.where(y == 1, 1.0, -1.0), Space(1.0, free=True), Kernel("rbf", 2.0))
    gram, K = GramRows(patterns, 8e-6 * 200 * 20, signed=False), rbf_kernel(X, gamma=2.0)
    rng = np.random.default_rng(0)
    gram.bring(rng.choice(200, 10, replace=False))
    beta = np.where(gram.slot >= 0, rng.normal(size=200), 0.0)
    np.testing.assert_allclose(gram.combination(beta), beta @ K, atol=1e-12)
    assert gram.combination(np.ones(200)) is None
    for size in (120, 90, 31):
        there = gram.members[gram.slot >= 0]
        kept = np.sort(rng.choice(len(gram.members), size, replace=False))
        members = gram.members[kept]
        gram.narrow(kept)
        np.testing.assert_array_equal(gram.members, members)
        np.testing.assert_array_equal(members[gram.slot >= 0], np.intersect1d(there, members))
        gram.bring(rng.choice(size, 10, replace=False))
        here = np.flatnonzero(gram.slot >= 0)
        np.testing.assert_allclose(gram.rows[gram.slot[here]], K[np.ix_(members[here], members)], atol=1e-12)
        np.testing.assert_array_equal(gram.owner[gram.slot[here]], here)
        for index in (members[here], members, rng.permutation(200)[:5]):
            np.testing.assert_allclose(
                gram.among(np.sort(index)), K[np.ix_(np.sort(index), np.sort(index))], atol=1e-12
            )
    assert gram.combination(np.zeros(200)) is None
    gram.widen(np.arange(200))
    assert not np.any(gram.slot >= 0)


def test_rows_that_were_left_out_are_asked_before_the_end(monkeypatch):
    """Where the others are done just when some are left out, the next round makes no step, and this is not the end."""
    smaller = {"WORTH_COPYING": 0.8, "STEPS_BETWEEN_LOOKS": 3, "ROWS_TOGETHER": 0, "ROWS_FOR_SAMPLE": 200}
    for name, value in smaller.items():
        monkeypatch.setattr(gram_pairs, name, value)
    apart, settle = [], gram_pairs.Pairs.settle

    def watched(pairs, enough):
        settled = settle(pairs, enough)
        if settled:
            pairs.bring_up_to_date()
            apart.append(pairs._apart() - enough)
        return settled

    monkeypatch.setattr(gram_pairs.Pairs, "settle", watched)
    for seed in range(20, 40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((400, 5))
        y = X[:, 0] + 0.3 * rng.standard_normal(400) > 0
        dropin.SVC(C=float(10 ** rng.uniform(-2, 2))).fit(X, y)
    assert max(apart) <= 1e-4
