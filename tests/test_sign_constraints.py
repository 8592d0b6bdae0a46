"""Coefficients with given signs: against quadratic and linear programs, with certificates that the checker accepts."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, minimize
from sklearn.exceptions import ConvergenceWarning

import separatrix.data
from separatrix import MaxMargin, NotSeparableError, load, max_margin_path, save
from separatrix.errors import DataError

INTERCEPTS = [True, False, "unpenalized"]


def problem(rng, noise=(0.01, 1.0, 3.0)):
    """Rows, labels and signs: some rows have ties, and some signs are wrong."""
    while True:
        n, d = int(rng.integers(5, 40)), int(rng.integers(1, 12))
        X = rng.normal(size=(n, d))
        X = np.round(X) if rng.random() < 0.3 else X
        y = (X @ np.abs(rng.normal(size=d)) + rng.normal(size=n) * rng.choice(noise) > 0).astype(int)
        if len(np.unique(y)) == 2:
            return X, y, rng.choice([-1, 0, 1, 1, 1], d)


def value(w, b, X, y, C, loss, intercept):
    slack = np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * (X @ w + b))
    penalty = b * b if intercept is True else 0.0
    return (w @ w + penalty) / 2.0 + C * (slack.sum() if loss == "hinge" else (slack**2).sum())


def by_quadprog(X, y, C, loss, intercept, signs):
    """The minimum by Goldfarb and Idnani's method, with a variable for every slack."""
    quadprog = pytest.importorskip("quadprog", reason="quadprog is not installed")
    n, d = X.shape
    k = 0 if intercept is False else 1
    G, q = np.zeros((d + k + n, d + k + n)), np.zeros(d + k + n)
    G[:d, :d] = np.eye(d)
    if k:
        G[d, d] = 1.0 if intercept is True else 1e-11
    if loss == "hinge":
        q[d + k :] = C
        G[d + k :, d + k :] = 1e-11 * np.eye(n)
    else:
        G[d + k :, d + k :] = 2.0 * C * np.eye(n)
    Y = (2.0 * y - 1.0)[:, None] * np.hstack([X, np.ones((n, k))])
    signed = np.flatnonzero(signs)
    S = np.zeros((len(signed), d + k + n))
    S[np.arange(len(signed)), signed] = signs[signed]
    A = np.vstack([np.hstack([Y, np.eye(n)]), np.hstack([np.zeros((n, d + k)), np.eye(n)]), S])
    try:
        a = quadprog.solve_qp(G, -q, A.T, np.concatenate([np.ones(n), np.zeros(n + len(signed))]))[0]
    except ValueError:  # its arithmetic breaks down
        return np.inf
    w = np.where(a[:d] * signs < 0, 0.0, a[:d])
    return value(w, a[d] if k else 0.0, X, y, C, loss, intercept)


@pytest.mark.parametrize("seed", range(10))
def test_minimum_is_that_of_a_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        X, y, signs = problem(rng)
        C, loss = float(rng.choice([0.01, 1.0, 100.0])), str(rng.choice(["hinge", "squared_hinge"]))
        intercept = INTERCEPTS[rng.integers(3)]
        rows = sp.csr_array(X) if rng.random() < 0.3 else X
        model = MaxMargin(C, loss=loss, fit_intercept=intercept, positive=signs).fit(rows, y)
        w, certificate = model.coef_[0], model.certificate_
        best = by_quadprog(X, y, C, loss, intercept, signs)
        assert value(w, model.intercept_[0], X, y, C, loss, intercept) <= best * (1.0 + 1e-9)
        assert certificate.bound <= best * (1.0 + 1e-9)
        assert certificate.gap < 1e-9
        assert (w * signs >= 0).all()
        assert certificate.verify(X, y)


@pytest.mark.parametrize("seed", range(3))
def test_hard_margin_separates_with_the_signs_or_proves_that_nothing_does(seed):
    rng, found = np.random.default_rng(seed), []
    for _ in range(40):
        X, y, signs = problem(rng, noise=(0.0, 0.0, 1.0))
        intercept = INTERCEPTS[rng.integers(3)]
        ones = np.ones((len(y), 0 if intercept is False else 1))
        Y = (2.0 * y - 1.0)[:, None] * np.hstack([X, ones])
        limits = {1: (0, None), -1: (None, 0), 0: (None, None)}
        bounds = [*(limits[s] for s in signs.tolist()), *[(None, None)] * ones.shape[1]]
        separable = linprog(np.zeros(Y.shape[1]), A_ub=-Y, b_ub=-np.ones(len(y)), bounds=bounds).status == 0
        try:
            model = MaxMargin(np.inf, positive=signs, fit_intercept=intercept).fit(X, y)
            certificate = model.certificate_
            assert model.converged_
            assert (model.coef_[0] * signs >= 0).all()
        except NotSeparableError as error:
            certificate = error.certificate
        assert certificate.separable is separable
        assert certificate.verify(X, y)
        found.append(separable)
    assert {*found} == {True, False}


def test_proof_whose_columns_all_have_the_right_sign():
    X, y = np.array([[1.5, -0.1], [0.8, -1.1], [0.2, -1.9]]), [1, 1, 0]
    with pytest.raises(NotSeparableError, match="signs of the coefficients") as found:
        MaxMargin(np.inf, positive=[1, -1], fit_intercept=False).fit(X[1:], y[1:])
    certificate = found.value.certificate
    assert certificate.verify(X[1:], y[1:])
    assert not certificate.verify(-X[1:], y[1:])


def test_hard_margin_is_the_largest():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 3))
    y = (X @ [1.0, 2.0, 0.01] > 0.1).astype(int)
    model = MaxMargin(np.inf, positive=[1, 1, -1], fit_intercept=False).fit(X, y)
    Y = (2.0 * y - 1.0)[:, None] * X
    inside = {"type": "ineq", "fun": lambda w: Y @ w - 1.0}
    found = minimize(
        lambda w: w @ w, model.coef_[0] * 1.1, bounds=[(0, None), (0, None), (None, 0)], constraints=inside
    )
    assert model.coef_[0] @ model.coef_[0] == pytest.approx(found.fun, rel=1e-6)
    assert model.coef_[0, 2] == 0.0


@pytest.mark.parametrize("intercept", [True, "unpenalized"])
def test_rows_out_of_core(intercept):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(3000, 6)), rng.normal(size=6)
    y = (X @ w + rng.normal(size=3000) > 0).astype(int)
    rows = separatrix.data.from_blocks(lambda: ((X[i : i + 500], y[i : i + 500]) for i in range(0, 3000, 500)))
    model = MaxMargin(positive=True, fit_intercept=intercept, tol=1e-8).fit(rows)
    here = MaxMargin(positive=True, fit_intercept=intercept, tol=1e-8).fit(X, y)
    assert (model.coef_ >= 0).all()
    assert np.allclose(model.coef_, here.coef_, atol=1e-3 * np.abs(here.coef_).max())
    assert model.certificate_.gap <= 1e-8
    assert model.certificate_.verify(rows)
    y = (X @ np.abs(w) > 0).astype(int)
    rows = separatrix.data.from_blocks(lambda: ((X[i : i + 500], y[i : i + 500]) for i in range(0, 3000, 500)))
    model = MaxMargin(np.inf, positive=True, fit_intercept=intercept).fit(rows)
    assert model.certificate_.separable
    assert model.certificate_.verify(rows)


def test_several_classes_paths_weights_and_starts(tmp_path):
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(90, 4)).astype(np.float32), rng.integers(0, 3, 90).astype(float)
    y = X.argmax(axis=1) % 3
    for way in ("ovr", "ovo"):
        for loss in ("hinge", "squared_hinge"):
            model = MaxMargin(positive=[1, 0, -1, 1], multi_class=way, loss=loss).fit(X, y, sample_weight=weight)
            assert (model.coef_[:, [0, 3]] >= 0).all()
            assert (model.coef_[:, 2] <= 0).all()
            assert model.certificate_.gap < 1e-9
    copies = np.repeat(np.arange(90), weight.astype(int))
    y = (y == 0).astype(int)
    one = MaxMargin(positive=True).fit(X, y, sample_weight=weight)
    two = MaxMargin(positive=True).fit(X[copies], y[copies])
    assert np.allclose(one.coef_, two.coef_)
    save(one, tmp_path / "model.sx")
    back = load(tmp_path / "model.sx")
    assert np.array_equal(back.predict(X), one.predict(X))
    assert back.certificate_.verify(X, y)
    path = max_margin_path(X, y, [0.1, 1.0, 10.0], positive=True, loss="hinge")
    assert all(model.certificate_.gap <= 1e-4 and (model.coef_ >= 0).all() for model in path)
    assert MaxMargin(positive=True).fit(X, y, coef_init=-np.ones((1, 4))).converged_
    with pytest.warns(ConvergenceWarning):
        stopped = MaxMargin(positive=True, max_time=1e-9).fit(X, y)
    assert (stopped.coef_ >= 0).all()


def test_what_cannot_be_is_refused():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]), [0, 1, 1]
    for wrong in ([1], [1, 2], [0.5, 1], ["a", "b"], [[1, 1]]):
        with pytest.raises(DataError, match=r"positive: expected True, False or 2 numbers"):
            MaxMargin(positive=wrong).fit(X, y)
    with pytest.raises(ValueError, match="sign constraints"):
        MaxMargin(positive=True, multi_class="joint").fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match="coefficients of any sign"):
        MaxMargin(positive=True, solver="dual").fit(X, y)
    certificate = MaxMargin(positive=True).fit(X, y).certificate_
    with pytest.raises(DataError, match="features"):
        certificate.verify(np.hstack([X, X]), y)
    free = MaxMargin(positive=[0, 0]).fit(X, y)
    assert np.array_equal(free.coef_, MaxMargin().fit(X, y).coef_)


def test_certificates_survive_their_json_form():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]), [0, 1, 1]
    certificate = MaxMargin(positive=[1, -1]).fit(X, y).certificate_
    again = type(certificate).from_json(certificate.to_json())
    assert again.space.signs == "+-"
    assert again.verify(X, y)
