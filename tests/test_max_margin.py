"""MaxMargin against a reference QP, its numbers on known data, and its manners."""

import numpy as np
import pytest
import quadprog
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC

from separatrix import MaxMargin, NotSeparableError, UnavailableError, max_margin_path
from separatrix.callbacks import MarginTrace
from separatrix.solvers import working_set

INF = float("inf")


def hard_reference(X, l, rho, free):
    """The largest margin: min |w| with a.y >= 1, or, with an unpenalized intercept, w.(x_i - x_j) >= 2 for all
    pairs."""
    if free:
        V = (X[l > 0][:, None] - X[l < 0][None]).reshape(-1, X.shape[1]) / 2
    else:
        V = l[:, None] * np.column_stack([X, np.full(len(X), rho)])
    w = quadprog.solve_qp(np.eye(V.shape[1]), np.zeros(V.shape[1]), V.T, np.ones(len(V)))[0]
    return 1 / np.linalg.norm(w)


def soft_reference(X, l, C, c, rho, free):
    """The minimum of P, from its dual: min alpha K alpha/2 - sum alpha, K = Y Y^t + 1/(2 C c)."""
    Y = l[:, None] * (X if free else np.column_stack([X, np.full(len(X), rho)]))
    K = Y @ Y.T + np.diag(1 / (2 * C * c))
    n, A = len(l), np.eye(len(l))
    if free:
        return -quadprog.solve_qp(K, np.ones(n), np.column_stack([l, A]), np.zeros(n + 1), meq=1)[1]
    return -quadprog.solve_qp(K, np.ones(n), A, np.zeros(n))[1]


def shapes(rng):
    """One random problem of each kind, separable and well scaled."""
    u = rng.standard_normal(4)
    u /= np.linalg.norm(u)
    few = rng.standard_normal((6, 9)), np.array([1.0, -1, 1, -1, 1, -1])
    X = rng.standard_normal((60, 4))
    X += np.sign(X @ u)[:, None] * u * 0.2
    many = X, np.sign(X @ u)
    doubled = np.vstack([X, X[:20]]), np.append(many[1], many[1][:20])
    flat = X.copy()
    flat[:, 1:] += 1e3 * np.outer(X[:, 0], [1.0, -1.0, 2.0])
    pair = np.vstack([u + 0.01 * rng.standard_normal((1, 4)), -u, 5 * u + rng.standard_normal((5, 4)) * 0.1])
    corner = np.vstack([pair, -5 * u + rng.standard_normal((5, 4)) * 0.1]), np.array([1.0, -1] + [1] * 5 + [-1] * 5)
    Z = rng.integers(-3, 4, (40, 3)).astype(float)
    side = Z @ np.array([1.0, -2.0, 1.0])
    ties = Z[side != 0], np.sign(side[side != 0])
    return {
        "n < d": few,
        "n > d": many,
        "duplicates": doubled,
        "coplanar": (flat, many[1]),
        "corner": corner,
        "ties": ties,
    }


@pytest.mark.parametrize("seed", range(17))
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_hard_margin_is_that_of_a_qp(seed, free, size):
    for name, (X, l) in shapes(np.random.default_rng(seed)).items():
        reference = hard_reference(X, l, 1.0, free)
        model = MaxMargin(INF, fit_intercept="unpenalized" if free else True, intercept_scaling=size).fit(size * X, l)
        certificate = model.certificate_
        assert certificate.lower == pytest.approx(size * reference, rel=1e-6), name
        assert certificate.upper == pytest.approx(size * reference, rel=1e-6), name
        assert model.converged_, name
        assert certificate.verify(size * X, l, exact=True), name
        assert np.min(l * model.decision_function(size * X)) == pytest.approx(1, rel=1e-6), name


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_soft_margin_is_that_of_a_qp(seed, free, C):
    rng = np.random.default_rng(seed)
    for name, (X, l) in shapes(rng).items():
        if name == "coplanar":
            continue
        l = np.where(rng.random(len(l)) < 0.15, -l, l)
        if len(np.unique(l)) < 2:
            l[0] = -l[0]
        c = rng.uniform(0.5, 2.0, len(l))
        reference = soft_reference(X, l, C, c, 1.0, free)
        model = MaxMargin(C, fit_intercept="unpenalized" if free else True).fit(X, l, sample_weight=c)
        w, b = model.coef_[0], model.intercept_[0]
        slack = np.maximum(0, 1 - l * (X @ w + b))
        primal = (w @ w + (0 if free else b * b)) / 2 + C * np.sum(c * slack**2)
        assert primal == pytest.approx(reference, rel=1e-6), name
        assert model.certificate_.gap <= 1e-6, name
        assert (2 * primal) ** -0.5 == pytest.approx(model.certificate_.lower, rel=1e-6), name
        assert model.certificate_.verify(X, l), name


@pytest.mark.parametrize("name", ["predict_proba", "predict_log_proba"])
def test_probabilities_that_are_not_available(name):
    model = MaxMargin()
    assert not hasattr(model, name)
    with pytest.raises(UnavailableError, match=rf"MaxMargin has no {name}.*CalibratedClassifierCV"):
        getattr(model, name)


def test_known_margins(sonar, wbc, separable_wbc):
    assert MaxMargin(INF).fit(*sonar).certificate_.lower == pytest.approx(0.0084057373, abs=5e-11)
    assert MaxMargin(INF, intercept_scaling=30.0).fit(*separable_wbc).certificate_.lower == pytest.approx(
        0.0242503074, abs=5e-11
    )
    assert MaxMargin(0.5, intercept_scaling=10.0).fit(*wbc).certificate_.lower == pytest.approx(0.1303345, abs=5e-8)
    X, y = load_breast_cancer(return_X_y=True)
    assert MaxMargin(INF).fit(scale(X), y).certificate_.lower == pytest.approx(0.00139252, abs=5e-9)
    raw = MaxMargin(INF).fit(X, y).certificate_
    assert raw.lower == pytest.approx(4.137e-5, abs=5e-9)
    assert raw.gap <= 1e-3
    assert raw.verify(X, y, exact=True)


def test_it_is_a_drop_in_for_linear_svc_and_svc():
    X, y = make_classification(200, 8, flip_y=0.1, random_state=0)
    theirs = LinearSVC(C=0.3, dual=False, tol=1e-10, intercept_scaling=2.0).fit(X, y)
    ours = MaxMargin(0.3, intercept_scaling=2.0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-8)
    X, y = load_iris(return_X_y=True)
    svc = SVC(C=1e10, kernel="linear", tol=1e-10).fit(X, y == 0)
    free = MaxMargin(INF, fit_intercept="unpenalized").fit(X, y == 0)
    np.testing.assert_allclose(free.coef_, svc.coef_, rtol=1e-4)
    np.testing.assert_allclose(free.intercept_, svc.intercept_, rtol=1e-4)
    assert set(free.support_) == set(svc.support_)
    np.testing.assert_allclose(free.dual_coef_[0] @ free.support_vectors_, free.coef_[0], rtol=1e-6)


@pytest.mark.parametrize("C", [0.1, 10.0, INF])
@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
def test_layouts_and_types_agree(C, intercept):
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (80, 6)).astype(float)
    y = X @ np.array([1, -1, 2, 0, 0, 1]) > (0 if intercept is False else 0.5)
    X, y = (X[X @ np.array([1, -1, 2, 0, 0, 1]) != 0], y[X @ np.array([1, -1, 2, 0, 0, 1]) != 0])
    base = MaxMargin(C, fit_intercept=intercept).fit(X, y)
    for other in (X.astype(np.float32), sp.csr_matrix(X), sp.csr_matrix(X, dtype=np.float32), np.asfortranarray(X)):
        model = MaxMargin(C, fit_intercept=intercept).fit(other, y)
        np.testing.assert_allclose(model.coef_, base.coef_, rtol=1e-6, atol=1e-9)
        assert model.certificate_.verify(other, y)


def wide_text(n=400, d=5000, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.01, format="csr", random_state=seed)
    X.data[:] = 1.0
    return X, np.where(X[:, :1500].sum(axis=1).A1 + rng.standard_normal(n) > 15, 1, -1)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0, INF])
def test_wide_sparse_data_go_the_dual_way(C):
    X, y = wide_text()
    model = MaxMargin(C, tol=1e-3).fit(X, y)
    assert model.solver_.startswith("dual")
    assert model.converged_
    assert model.certificate_.gap <= 1e-3
    assert model.certificate_.verify(X, y)
    if C < INF:
        newton = MaxMargin(C, tol=1e-6, solver="newton").fit(X, y)
        assert newton.certificate_.lower == pytest.approx(model.certificate_.lower, rel=1e-3)


@pytest.mark.parametrize("flipped", [0, 1])
def test_a_working_set_of_many_columns_finds_the_margin_or_the_proof(flipped, monkeypatch):
    monkeypatch.setattr(working_set, "ADD", 60)
    rng = np.random.default_rng(2)
    X, w = rng.normal(size=(3000, 60)), rng.normal(size=60)
    y = X @ w > 0
    y[:flipped] = ~y[:flipped]
    if flipped:
        with pytest.raises(NotSeparableError) as caught:
            MaxMargin(np.inf).fit(X, y)
        assert caught.value.certificate.verify(X, y)
    else:
        model = MaxMargin(np.inf).fit(X, y)
        assert model.certificate_.gap < 1e-6
        assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_few_sparse_rows_go_by_sweeps_to_the_accuracy_asked_for(C):
    """Machine precision costs nothing where rows are dense or columns few; the same rows as a dense matrix tell."""
    rng = np.random.default_rng(1)
    X = sp.random(80, 300, 0.03, "csr", rng=rng)
    y = rng.random(80) < 0.5
    rough, fine, dense = (
        MaxMargin(C, tol=tol).fit(rows, y) for rows, tol in ((X, 1e-3), (X, 1e-12), (X.toarray(), 1e-3))
    )
    for model in (rough, fine):
        assert model.solver_.startswith("dual")
    assert rough.certificate_.gap <= 1e-3
    assert max(fine.certificate_.gap, dense.certificate_.gap) <= 1e-11
    np.testing.assert_allclose(fine.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    assert rough.certificate_.verify(X, y)


def test_many_sparse_rows_of_many_columns_go_by_newton():
    rng, n, d, k = np.random.default_rng(0), 8000, 3500, 3
    X = sp.csr_array((rng.random(n * k) + 0.1, (np.repeat(np.arange(n), k), rng.integers(0, d, n * k))), (n, d))
    y = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0, 1, -1)
    model = MaxMargin(10.0, tol=1e-3).fit(X, y)
    assert model.solver_.startswith("newton")
    assert model.certificate_.gap <= 1e-3
    assert model.certificate_.verify(X, y)


def test_rows_with_little_in_common_are_done_by_a_few_sweeps():
    rng, n, k = np.random.default_rng(0), 1000, 30
    rows, columns = np.repeat(np.arange(n), k), rng.integers(0, 100_000, n * k)
    X = sp.csr_array((rng.random(n * k) + 0.1, (rows, columns)))
    model = MaxMargin(1e4, tol=1e-3, solver="dual").fit(X, rng.choice([-1, 1], n))
    assert model.certificate_.gap <= 1e-3
    assert model.n_passes_ <= 15


def test_data_that_are_not_separable_are_refused_with_a_proof():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotSeparableError, match="is 0 exactly") as caught:
        MaxMargin(INF).fit(X, y == 1)
    certificate = caught.value.certificate
    assert certificate.separable is False
    rows, weight = certificate.alpha_index, certificate.alpha
    Y = np.where(y == 1, 1, -1)[:, None] * np.column_stack([X, np.ones(150)])
    assert np.all(weight > 0)
    assert np.abs(weight @ Y[rows]).max() < 1e-12
    assert certificate.verify(X, y == 1)


def test_limits_keep_the_best_certified_solution():
    X, y = make_classification(500, 20, flip_y=0.2, random_state=0)
    big = np.tile(X, (30, 1)) + 1e-3 * np.random.default_rng(0).standard_normal((15_000, 20))
    with pytest.warns(ConvergenceWarning, match="max_passes"):
        model = MaxMargin(1000.0, max_passes=3, tol=1e-9).fit(big, np.tile(y, 30))
    assert not model.converged_
    assert model.certificate_.gap > 1e-9
    assert model.certificate_.verify(big, np.tile(y, 30))


def test_a_callback_sees_the_gap_and_may_stop():
    X, y = load_breast_cancer(return_X_y=True)
    trace = MarginTrace(factor=1.01)
    MaxMargin(1e5).set_callbacks(trace).fit(scale(X), y)
    lowers = [row["lower"] for row in trace.rows if row["lower"] is not None]
    assert lowers == sorted(lowers)
    last = trace.rows[-1]["upper"]
    assert trace.rows[0]["upper"] >= last
    assert last >= lowers[-1] * (1.0 - 1e-12)  # on the way bounds are not rounded outwards


@pytest.mark.parametrize("C", [100.0, INF])
def test_ctrl_c_keeps_the_best_so_far(C):
    class Interrupt:
        rounds = 0

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            Interrupt.rounds += 1
            if Interrupt.rounds == (2 if C < INF else 1):
                raise KeyboardInterrupt

    X, y = load_iris(return_X_y=True)
    y = np.where(y == 0, 0, 1) if C == INF else y
    model = MaxMargin(C).set_callbacks(Interrupt())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not model.converged_
    assert model.coef_.shape == (1 if C == INF else 3, 4)
    assert len(model.predict(X)) == 150
    assert all(c.verify(X, y if C == INF else y == k) for k, c in enumerate(model.certificates_))


def test_weights():
    X, y = make_classification(120, 5, flip_y=0.1, random_state=1)
    balanced = MaxMargin(class_weight="balanced").fit(X, y)
    factors = len(y) / (2 * np.bincount(y))
    by_hand = MaxMargin().fit(X, y, sample_weight=factors[y])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-8)
    repeated = MaxMargin().fit(np.vstack([X, X[:40]]), np.append(y, y[:40]))
    doubled = MaxMargin().fit(X, y, sample_weight=np.where(np.arange(120) < 40, 2.0, 1.0))
    np.testing.assert_allclose(doubled.coef_, repeated.coef_, rtol=1e-8)
    assert doubled.certificate_.verify(X, y)


@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
@pytest.mark.parametrize("C", [0.1, 100.0, INF])
@pytest.mark.parametrize("shape", [(60, 8), (20, 50)])
def test_both_sides_find_the_same(shape, C, intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = X @ rng.normal(size=shape[1]) > 0
    newton = MaxMargin(C, tol=1e-9, fit_intercept=intercept, solver="newton").fit(X, y)
    assert newton.solver_.startswith("newton")
    if intercept == "unpenalized":
        with pytest.raises(ValueError, match="penalized intercept"):
            MaxMargin(C, fit_intercept=intercept, solver="dual").fit(X, y)
        return
    dual = MaxMargin(C, tol=1e-9, fit_intercept=intercept, solver="dual").fit(X, y)
    assert dual.solver_.startswith("dual")
    np.testing.assert_allclose(dual.coef_, newton.coef_, atol=1e-5 * np.abs(newton.coef_).max())


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    model = MaxMargin(1.0).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert len(model.certificates_) == 3
    assert model.score(X, y) > 0.9
    assert all(c.verify(X, y == k) for k, c in enumerate(model.certificates_))


@pytest.mark.parametrize("intercept", [True, "unpenalized"])
def test_a_path_is_its_fits(intercept):
    X, y = load_breast_cancer(return_X_y=True)
    X, Cs = scale(X), [10.0, 0.1, INF, 1.0]
    for C, model in zip(Cs, max_margin_path(X, y, Cs, fit_intercept=intercept), strict=True):
        alone = MaxMargin(C, fit_intercept=intercept).fit(X, y)
        assert model.C == C
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-5, atol=1e-7)
        assert model.certificate_.gap <= 1e-6
        assert model.predict(X[:5]).shape == (5,)


def test_a_path_needs_few_passes():
    X, y = make_classification(20_000, 30, flip_y=0.1, random_state=0)
    path = max_margin_path(X, y, np.geomspace(0.01, 10, 10))
    alone = MaxMargin(10.0).fit(X, y)
    assert sum(model.n_passes_ for model in path) < 6 * alone.n_passes_
    assert all(model.converged_ for model in path)
