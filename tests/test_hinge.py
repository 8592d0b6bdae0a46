"""The hinge loss: against quadratic programs and scikit-learn's solvers, its certificate, its manners."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import quadprog
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC
from test_max_margin import shapes

from separatrix import Certificate, MaxMargin, UnavailableError, data, max_margin_path
from separatrix.certificates.certify import upper_bound
from separatrix.certificates.verification import verify_apart
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import engine, newton_steps
from separatrix.space import Space

INF = float("inf")


def value(X, l, model, C, c=1.0, free=False):
    """P of a fitted hyperplane, from its definition."""
    w, b = model.coef_[0], model.intercept_[0]
    penalty = 0 if free or not model.fit_intercept else (b / model.intercept_scaling) ** 2
    return (w @ w + penalty) / 2 + C * np.sum(c * np.maximum(0, 1 - l * (X @ w + b)))


def reference(X, l, C, c, rho, free):
    """The minimum of P by quadprog: a, and slacks with a.y + xi >= 1; the ridges that it needs cost less than 1e-7."""
    n, d = X.shape
    Y = l[:, None] * np.column_stack([X, np.full(n, 1.0 if free else rho)])
    H = np.diag(np.concatenate([np.ones(d), [1e-9 if free else 1.0], np.full(n, 1e-8 * C)]))
    A = np.block([[Y.T, np.zeros((d + 1, n))], [np.eye(n), np.eye(n)]])
    linear = np.append(np.zeros(d + 1), C * c)
    a = quadprog.solve_qp(H, -linear, A, np.append(np.ones(n), np.zeros(n)))[0][: d + 1]
    return (a[:d] @ a[:d] + (0 if free else a[d] ** 2)) / 2 + C * np.sum(c * np.maximum(0, 1 - Y @ a))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 100.0])
def test_it_is_the_minimum_of_a_qp(seed, intercept, C):
    rng = np.random.default_rng(seed)
    for name, (X, l) in shapes(rng).items():
        if name == "coplanar":
            continue
        l = np.where(rng.random(len(l)) < 0.15, -l, l)
        l[0] = l[0] if len(np.unique(l)) == 2 else -l[0]
        c = rng.uniform(0.5, 2.0, len(l))
        free, rho = intercept == "unpenalized", 2.0 if intercept is True else 1.0
        model = MaxMargin(C, loss="hinge", fit_intercept=intercept, intercept_scaling=rho).fit(X, l, sample_weight=c)
        best = reference(X, l, C, c, rho if intercept is True else 0.0, free)
        reached = value(X, l, model, C, c, free)
        assert reached == pytest.approx(best, rel=1e-6), name
        assert model.certificate_.value == pytest.approx(reached, rel=1e-8), name
        assert model.certificate_.bound <= reached * (1 + 1e-12), name
        assert model.converged_, name
        assert model.dual_gap_ <= 1e-6 * reached, name
        assert model.certificate_.verify(X, l), name


def test_it_is_a_drop_in_for_linear_svc_and_svc():
    X, y = make_classification(200, 8, flip_y=0.1, random_state=0)
    theirs = LinearSVC(C=0.3, loss="hinge", tol=1e-10, intercept_scaling=2.0, max_iter=10**6).fit(X, y)
    ours = MaxMargin(0.3, loss="hinge", intercept_scaling=2.0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-7)
    svc = SVC(C=3.0, kernel="linear", tol=1e-9, class_weight="balanced").fit(X, y)
    free = MaxMargin(3.0, loss="hinge", fit_intercept="unpenalized", class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(free.coef_, svc.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(free.intercept_, svc.intercept_, rtol=1e-4)
    assert free.support_.tolist() == np.sort(svc.support_).tolist()
    assert free.n_support_.tolist() == svc.n_support_.tolist()
    np.testing.assert_allclose(free.dual_coef_ @ free.support_vectors_, free.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(free.dual_coef_[0], svc.dual_coef_[0, np.argsort(svc.support_)], rtol=1e-3, atol=1e-4)
    assert np.abs(free.dual_coef_).max() <= 3.0 * 200 / (2 * min(np.bincount(y)))


@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
def test_every_price_of_slack_ends_with_a_gap(intercept, C):
    """Well scaled, not scaled at all, separable, and all labels noise."""
    X, y = load_breast_cancer(return_X_y=True)
    iris, kind = load_iris(return_X_y=True)
    noise = np.random.default_rng(0).standard_normal((300, 5)), np.arange(300) % 2
    for rows_, labels in ((scale(X), y), (X, y), (iris, kind == 0), (iris, kind == 1), noise):
        model = MaxMargin(C, loss="hinge", fit_intercept=intercept).fit(rows_, labels)
        assert model.converged_
        assert model.certificate_.gap <= 1e-5
        assert model.certificate_.verify(rows_, labels)


@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
def test_without_slack_it_is_the_hard_margin(intercept):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0) if intercept is False else X
    try:
        hard = MaxMargin(INF, loss="hinge", fit_intercept=intercept).fit(X, y == 0)
    except ValueError:
        pytest.skip("no hyperplane through the mean")
    assert hard.certificate_.space.hinge == 0
    soft = MaxMargin(1e6, loss="hinge", fit_intercept=intercept).fit(X, y == 0)
    assert soft.certificate_.lower == pytest.approx(hard.certificate_.lower, rel=1e-7)
    assert soft.certificate_.separable


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
def test_layouts_and_types_agree(C, intercept):
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (80, 6)).astype(float)
    y = X @ [1, -1, 2, 0, 0, 1] + rng.standard_normal(80) > 0.5
    base = MaxMargin(C, loss="hinge", fit_intercept=intercept).fit(X, y)
    for other in (X.astype(np.float32), sp.csr_matrix(X), sp.csr_matrix(X, dtype=np.float32), np.asfortranarray(X)):
        model = MaxMargin(C, loss="hinge", fit_intercept=intercept).fit(other, y)
        np.testing.assert_allclose(model.coef_, base.coef_, rtol=1e-6, atol=1e-9)
        assert model.certificate_.verify(other, y)
        assert sp.issparse(model.support_vectors_) == sp.issparse(other)


@pytest.mark.parametrize("intercept", [True, "unpenalized"])
@pytest.mark.parametrize("C", [0.1, 100.0])
@pytest.mark.parametrize("sparse", [True, False])
def test_more_columns_than_rows(C, sparse, intercept):
    rng = np.random.default_rng(0)
    X = sp.random(300, 1600, density=0.02, format="csr", random_state=0)
    X.data[:] = 1.0
    y = X[:, :700].sum(axis=1).A1 + rng.standard_normal(300) > 15
    X = X if sparse else X.toarray()
    model = MaxMargin(C, loss="hinge", fit_intercept=intercept).fit(X, y)
    svc = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    assert model.certificate_.gap <= 1e-4
    assert model.certificate_.verify(X, y)
    if intercept == "unpenalized":
        dual = np.abs(svc.dual_coef_).sum() - np.sum(np.asarray(svc.coef_.todense() if sparse else svc.coef_) ** 2) / 2
        assert model.certificate_.value == pytest.approx(dual, rel=1e-4)


def test_conjugate_gradients_find_the_same(monkeypatch):
    X, y = make_classification(200, 30, flip_y=0.1, random_state=0)
    exact = MaxMargin(1.0, loss="hinge").fit(X, y)
    monkeypatch.setattr(newton_steps, "LARGEST_MATRIX", 3)
    monkeypatch.setattr(engine, "small_solution", lambda *_: None)
    model = MaxMargin(1.0, loss="hinge").fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("rows", "offset", "C"), [(76, 1e3, 100.0), (76, 1e4, 1e4), (27, 1e4, 1e12)])
def test_columns_far_from_zero_with_a_free_bias(rows, offset, C):
    """Where the compiled loop of few columns does not get there, its last multipliers are no good start."""
    for seed in range(1, 9):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((rows, 10 if rows > 30 else 1)) + offset
        model = MaxMargin(C, loss="hinge", fit_intercept="unpenalized", max_passes=5000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if C == 1e12 else "error", ConvergenceWarning)
            model.fit(X, rng.integers(0, 2, rows))
        assert model.n_passes_ < 5000


def test_weights():
    X, y = make_classification(120, 5, flip_y=0.1, random_state=1)
    balanced = MaxMargin(loss="hinge", class_weight="balanced").fit(X, y)
    by_hand = MaxMargin(loss="hinge").fit(X, y, sample_weight=(len(y) / (2 * np.bincount(y)))[y])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-8)
    repeated = MaxMargin(loss="hinge").fit(np.vstack([X, X[:40]]), np.append(y, y[:40]))
    doubled = MaxMargin(loss="hinge").fit(X, y, sample_weight=np.where(np.arange(120) < 40, 2.0, 1.0))
    np.testing.assert_allclose(doubled.coef_, repeated.coef_, rtol=1e-8)
    left_out = MaxMargin(loss="hinge").fit(X, y, sample_weight=np.arange(120) >= 40)
    np.testing.assert_allclose(left_out.coef_, MaxMargin(loss="hinge").fit(X[40:], y[40:]).coef_, rtol=1e-8)
    assert left_out.support_.min() >= 40
    assert left_out.certificate_.verify(X, y)


@pytest.mark.parametrize("mode", ["ovr", "ovo"])
def test_three_classes(mode):
    X, y = load_iris(return_X_y=True)
    model = MaxMargin(loss="hinge", fit_intercept="unpenalized", multi_class=mode).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.score(X, y) > (0.9 if mode == "ovr" else 0.95)
    assert model.dual_gap_.shape == (3,)
    assert model.n_support_.sum() == len(model.support_) == model.dual_coef_.shape[1]
    for k, certificate in enumerate(model.certificates_):
        assert certificate.verify(X, y if mode == "ovo" else y == k)
    if mode == "ovo":
        svc = SVC(kernel="linear", tol=1e-9).fit(X, y)
        np.testing.assert_allclose(np.abs(model.coef_), np.abs(svc.coef_), rtol=1e-4, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([True, False, "unpenalized"]), st.floats(-3, 6))
def test_bounds_hold_for_every_vector_and_multipliers(seed, intercept, power):
    """No vector has a smaller objective than the bound, also far from the solution and with an unpenalized
    intercept."""
    rng = np.random.default_rng(seed)
    n, d, C = int(rng.integers(2, 12)), int(rng.integers(1, 4)), 10.0**power
    X, l = rng.integers(-3, 4, (n, d)).astype(float), np.where(np.arange(n) % 2, 1.0, -1.0)
    weight = rng.choice([0.3, 1.0, 7.0], n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model = MaxMargin(C, loss="hinge", fit_intercept=intercept, max_passes=int(rng.integers(1, 30)))
            model.fit(X, l, sample_weight=weight)
        except ValueError:  # all rows are zero
            return
    bound = model.certificate_.bound
    for size in (0.0, 0.01, 1.0, 10.0):
        w, b = size * rng.standard_normal(d), 0.0 if intercept is False else size * rng.standard_normal()
        P = (w @ w + (b * b if intercept is True else 0)) / 2 + C * np.sum(weight * np.maximum(0, 1 - l * (X @ w + b)))
        assert bound <= P * (1 + 1e-12)
    assert bound <= value(X, l, model, C, weight, intercept == "unpenalized") * (1 + 1e-12)
    assert model.certificate_.verify(X, l)


def test_the_certificate_speaks_of_the_objective_and_travels():
    X, y = load_iris(return_X_y=True)
    model = MaxMargin(loss="hinge", fit_intercept="unpenalized").fit(X, y == 1)
    claim = model.certificate_
    assert str(claim).startswith("soft margin: objective 88.538, relative duality gap ")
    assert "hinge loss, C = 1" in str(claim)
    again = Certificate.from_json(claim.to_json())
    assert again.verify(X, y == 1)
    assert verify_apart(claim, X, y == 1)
    assert not replace(claim, lower=claim.lower * (1 + 1e-9)).verify(X, y == 1)
    assert not replace(claim, upper=claim.upper * (1 - 1e-9)).verify(X, y == 1)
    assert not replace(claim, space=claim.space._replace(hinge=0.99)).verify(X, y == 1)
    assert not replace(claim, alpha=claim.alpha * 1.001).verify(X, y == 1)


def test_a_path_is_its_fits():
    X, y = load_breast_cancer(return_X_y=True)
    for model in max_margin_path(scale(X), y, [10.0, 0.1, INF, 1.0], loss="hinge"):
        alone = MaxMargin(model.C, loss="hinge").fit(scale(X), y)
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-5, atol=1e-7)
        assert model.certificate_.gap <= 1e-6


def test_what_it_cannot_do_it_says():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="newton"):
        MaxMargin(loss="hinge", multi_class="joint", solver="newton").fit(X, y)
    with pytest.raises(UnavailableError, match="in memory"):
        MaxMargin(loss="hinge").fit(data.from_blocks([(X, y)]))
    with pytest.raises(ValueError, match="penalized intercept"):
        MaxMargin(loss="hinge", fit_intercept="unpenalized", solver="dual").fit(X, y)
    with pytest.raises(ValueError, match="loss"):
        MaxMargin(loss="log").fit(X, y)


@pytest.mark.parametrize("bias", [True, "unpenalized"])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_fewer_rows_than_columns_go_by_sweeps_and_products(bias, noise):
    """More than a loop without Python takes, and matrices large enough for conjugate gradients to be tried first."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((330, 340))
    y = np.where(X[:, 0] + noise * rng.standard_normal(330) > 0, 1, -1)
    model = MaxMargin(1.0, loss="hinge", fit_intercept=bias, tol=1e-4).fit(X, y)
    assert model.converged_
    assert model.certificate_.verify(X, y)
    exact = MaxMargin(1.0, loss="hinge", fit_intercept=bias, tol=1e-9).fit(X, y)
    assert model.certificate_.value <= exact.certificate_.value * (1 + 1.1e-4)


def test_many_rows_that_contradict_each_other_converge():
    """Rows change sides one by one, and bounds do not move for dozens of steps: that is not the end of progress."""
    rng = np.random.default_rng(122)
    X = rng.normal(size=(300, 150))
    y = np.where(X @ rng.normal(size=150) + 0.1 * rng.normal(size=300) > 0, 1, -1)
    X, y = np.vstack([X, X[:66]]), np.append(y, -y[:66])
    model = MaxMargin(1e3, loss="hinge", tol=1e-3, fit_intercept="unpenalized").fit(X, y)
    assert model.converged_
    assert model.certificate_.gap <= 1e-3


def test_multipliers_out_of_balance_prove_no_more_than_they_do():
    """x^2 + 2 e R x >= D2 with e R far above D2: the root, computed as a difference, would lose all digits."""
    X, labels = np.array([[0.0], [0.0], [1e8]]), np.array([1.0, -1.0, 1.0])
    patterns = Patterns(X, labels, Space(1.0, 0.0, True, hinge=10.0))
    upper = Fraction(upper_bound(patterns, np.arange(2), np.array([2.0, 1.0]), slack=1.0))
    x, lean, D2 = 1 / upper, 1, 2 * 3 - 2 * 1
    assert x * x + 2 * lean * Fraction(10) ** 8 * x <= D2
    assert upper < 6e7


def timestamps():
    """A column of seconds since 1970 beside three of unit size."""
    rng = np.random.default_rng(0)
    X = np.c_[1.7e9 + rng.uniform(0, 3e7, 300), rng.normal(size=(300, 3))]
    return X, (X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype(int)


@pytest.mark.parametrize(("C", "best"), [(1.0, 96.8742), (100.0, 9353.67)])
def test_a_column_of_timestamps_is_no_obstacle(C, best):
    """The proximal term falls until multipliers can cross their boxes, however long the rows are."""
    X, y = timestamps()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rounding errors allow a gap of about 3e-4
        certificate = MaxMargin(C=C, loss="hinge").fit(X, y).certificate_
    assert certificate.value == pytest.approx(best, rel=1e-3)
    assert certificate.bound > 0.999 * certificate.value


def test_long_rows_far_from_the_origin_converge():
    rng = np.random.default_rng(5)
    X = (rng.normal(size=(100, 5)) + 1000) * 1e5
    y = X[:, 0] + 1e5 * rng.normal(size=100) > 1e8
    model = MaxMargin(C=1.0, loss="hinge").fit(X, y)
    assert model.converged_
    assert model.certificate_.value == pytest.approx(65.9997, rel=1e-4)
    X = (rng.normal(size=(400, 3)) + 100) * 1e4
    assert MaxMargin(C=1e4, loss="hinge").fit(X, X[:, 0] + 1e4 * rng.normal(size=400) > 1e6).n_passes_ < 2000


@pytest.mark.parametrize("solver", ["auto", "newton", "dual"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_rows_of_zeros_have_their_slack(solver, layout):
    X, y = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), [1, 0, 1, 0]
    model = MaxMargin(C=1.0, loss="hinge", fit_intercept=False, solver=solver).fit(layout(X), y)
    assert model.converged_
    assert model.certificate_.value == pytest.approx(2.5)
