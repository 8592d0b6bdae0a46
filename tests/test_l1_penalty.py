"""The l1 penalty: against linear programs and LIBLINEAR, with certificates that the checker accepts."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

import separatrix.data
from separatrix import MaxMargin, load, max_margin_path, save
from separatrix.errors import UnavailableError

CANCER = scale(load_breast_cancer().data), load_breast_cancer().target


def problem(rng):
    while True:
        n, d = int(rng.integers(4, 60)), int(rng.integers(1, 30))
        X = rng.normal(size=(n, d))
        X = np.round(X) if rng.random() < 0.3 else X
        y = (X[:, 0] - X[:, -1] + rng.normal(size=n) * rng.choice([0.1, 1.0]) > 0).astype(int)
        if len(np.unique(y)) == 2:
            return X, y


def optimum(X, y, C, intercept, scaling, weight):
    """The minimum for the hinge loss, by HiGHS."""
    k = 0 if intercept is False else 1
    Y = (2.0 * y - 1.0)[:, None] * np.hstack([X, (scaling if intercept is True else 1.0) * np.ones((len(y), k))])
    cost = np.ones(Y.shape[1])
    cost[X.shape[1] :] = 0.0 if intercept == "unpenalized" else 1.0
    n, price = len(y), C * weight
    bounds = [(0, None)] * (2 * Y.shape[1] + n)
    return linprog(
        np.concatenate([cost, cost, price]), A_ub=-np.hstack([Y, -Y, np.eye(n)]), b_ub=-np.ones(n), bounds=bounds
    ).fun


def objective(model, X, y, weight):
    a = np.append(model.coef_[0], model.intercept_ / model.intercept_scaling if model.fit_intercept is True else 0.0)
    slack = np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * model.decision_function(X))
    return np.abs(a).sum() + model.C * float(weight @ (slack if model.loss == "hinge" else slack**2))


@pytest.mark.parametrize("seed", range(6))
def test_gap_is_certified_and_the_minimum_is_that_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        X, y = problem(rng)
        weight = rng.integers(1, 4, len(y)) / 2.0
        C, loss = float(rng.choice([0.03, 0.3, 1.0, 30.0])), str(rng.choice(["hinge", "squared_hinge"]))
        intercept, scaling = [True, False, "unpenalized"][rng.integers(3)], float(rng.choice([1.0, 5.0]))
        model = MaxMargin(
            C, penalty="l1", loss=loss, fit_intercept=intercept, intercept_scaling=scaling, tol=1e-8
        )  # fmt: skip
        model.fit(sp.csr_array(X) if rng.random() < 0.3 else X, y, sample_weight=weight)
        certificate, reached = model.certificate_, objective(model, X, y, weight)
        assert certificate.gap <= 1e-8
        assert reached <= certificate.value * (1.0 + 1e-12)
        assert certificate.bound <= reached * (1.0 + 1e-12)
        assert certificate.verify(X, y)
        if loss == "hinge":
            assert reached == pytest.approx(optimum(X, y, C, intercept, scaling, weight), rel=3e-8, abs=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_paths_starts_classes_and_types(loss, tmp_path):
    X, y = CANCER
    path = max_margin_path(X, y, [0.01, 0.1, 1.0], penalty="l1", loss=loss)
    count = [np.count_nonzero(model.coef_) for model in path]
    assert count[0] < count[2] < X.shape[1]
    assert all(model.certificate_.gap <= 1e-4 for model in path)
    cold = MaxMargin(1.0, penalty="l1", loss=loss).fit(X, y)
    warm = MaxMargin(1.0, penalty="l1", loss=loss).fit(X, y, coef_init=cold.coef_, intercept_init=cold.intercept_)
    assert warm.converged_
    save(warm, tmp_path / "model.sx")
    back = load(tmp_path / "model.sx")
    assert np.array_equal(back.predict(X), warm.predict(X))
    assert back.certificate_.verify(X, y)
    again = type(back.certificate_).from_json(back.certificate_.to_json())
    assert again.space.l1
    narrow = MaxMargin(1.0, penalty="l1", loss=loss).fit(X.astype(np.float32), y)
    assert narrow.certificate_.value == pytest.approx(cold.certificate_.value, rel=1e-3)
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    for way in ("ovr", "ovo"):
        model = MaxMargin(0.1, penalty="l1", loss=loss, multi_class=way).fit(X, three)
        assert model.certificate_.gap <= 1e-4
        assert np.count_nonzero(model.coef_ == 0.0) > model.coef_.size // 2


def test_a_strong_penalty_leaves_no_coefficient():
    X, y = CANCER
    for loss in ("hinge", "squared_hinge"):
        model = MaxMargin(1e-6, penalty="l1", loss=loss).fit(X, y)
        assert not model.coef_.any()
        assert model.certificate_.gap <= 1e-4
    X = np.random.default_rng(0).normal(size=(40, 300))  # more columns than rows, some of them equal
    X[:, 100:200] = X[:, :100]
    y = (X[:, 0] > 0).astype(int)
    for loss in ("hinge", "squared_hinge"):
        assert MaxMargin(penalty="l1", loss=loss, tol=1e-6).fit(X, y).certificate_.gap <= 1e-6


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2000))
    y = (X[:, 0] + rng.normal(size=100) > 0).astype(int)
    model = MaxMargin(10.0, penalty="l1").fit(X, y)
    assert model.certificate_.gap <= 1e-4
    assert np.count_nonzero(model.coef_) <= 101


def test_limits_and_what_cannot_be():
    X, y = CANCER
    with pytest.warns(ConvergenceWarning):
        stopped = MaxMargin(penalty="l1", max_time=1e-9).fit(X, y)
    assert stopped.stop_reason_ == "max_time"
    with pytest.raises(ValueError, match="needs a finite C"):
        MaxMargin(np.inf, penalty="l1").fit(X, y)
    with pytest.raises(ValueError, match="has no sign constraints"):
        MaxMargin(penalty="l1", positive=True).fit(X, y)
    with pytest.raises(ValueError, match="joint"):
        MaxMargin(penalty="l1", multi_class="joint").fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    with pytest.raises(ValueError, match="the l2 penalty"):
        MaxMargin(penalty="l1", solver="dual").fit(X, y)
    rows = separatrix.data.from_blocks(lambda: iter([(X, y)]))
    with pytest.raises(UnavailableError, match="in memory"):
        MaxMargin(penalty="l1").fit(rows)
