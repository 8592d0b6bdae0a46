"""Several classes, least squares, linear programs, support vector machines and the worked examples."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sources.naive import STEPS, as_printed, close, labels, machine, patterns, problem, vector

from separatrix import KernelMaxMargin, LeastSquares, LinearProgram, MaxMargin, Perceptron, Relaxation, bounds

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])
SEPARABLE = pytest.mark.parametrize("separable", [True, False])
INF = float("inf")


@pytest.fixture(params=[(40, 15, 2, 3), (45, 30, 3, 4), (47, 40, 4, 3)], ids=str)
def several(request):
    """Rows (x, 1) and classes that a drawn linear machine tells apart."""
    seed, n, d, c = request.param
    while True:
        rng = np.random.default_rng(seed)
        X, W = rng.normal(size=(n, d)).round(3), rng.normal(size=(c, d + 1))
        scores = np.column_stack([X, np.ones(n)]) @ W.T
        top = np.sort(scores, axis=1)
        kept = top[:, -1] - top[:, -2] > 0.25
        if len(np.unique(scores[kept].argmax(axis=1))) == c:
            return X[kept], scores[kept].argmax(axis=1), c
        seed += 100


def rivals_of(own, scores, which):
    others = [j for j in range(len(scores)) if j != own]
    return others if which == "all" else [others[int(np.argmax(scores[others]))]]


@pytest.mark.parametrize("which", ["strongest", "all"])
def test_eq_115(several, which):
    X, y, c = several
    Z = np.column_stack([X, np.ones(len(X))])
    for most in STEPS:
        A, k, clean, i = np.zeros((c, Z.shape[1])), 0, 0, 0
        while clean < len(Z) and k != most:
            z, own = Z[i % len(Z)], y[i % len(Z)]
            i, clean = i + 1, clean + 1
            for j in rivals_of(own, A @ z, which):
                if A[own] @ z <= A[j] @ z and k != most:
                    A[own], A[j], k, clean = A[own] + z, A[j] - z, k + 1, 0
        model = as_printed(Perceptron, multi_class="joint", joint_update=which, max_updates=most).fit(X, y)
        assert model.n_updates_ == k
        close(A, machine(model))


def test_kesler_s_construction_written_out(several):
    X, y, c = several
    long = []
    for z, own in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
        for j in rivals_of(own, np.zeros(c), "all"):
            row = np.zeros((c, len(z)))
            row[own], row[j] = z, -z
            long.append(row.ravel())
    a, k, clean, i = np.zeros(c * (X.shape[1] + 1)), 0, 0, 0
    while clean < len(long):
        q = long[i % len(long)]
        i, clean = i + 1, clean + 1
        if a @ q <= 0:
            a, k, clean = a + q, k + 1, 0
    model = as_printed(Perceptron, multi_class="joint", joint_update="all").fit(X, y)
    assert model.n_updates_ == k
    close(a, machine(model).ravel())


@pytest.mark.parametrize("most", [1, 2, 5, 20])
def test_relaxation_of_a_machine(several, most):
    X, y, c = several
    Z = np.column_stack([X, np.ones(len(X))])
    A, k = np.zeros((c, Z.shape[1])), 0
    for i in range(100 * len(Z)):
        z, own = Z[i % len(Z)], y[i % len(Z)]
        (j,) = rivals_of(own, A @ z, "strongest")
        m = (A[own] - A[j]) @ z
        if m <= 1.0 and k != most:
            step = 1.3 * (1.0 - m) / (2.0 * z @ z) * z
            A[own], A[j], k = A[own] + step, A[j] - step, k + 1
    model = as_printed(Relaxation, 1.0, 1.3, 0.0, multi_class="joint", max_iter=100, max_updates=most).fit(X, y)
    close(A, machine(model))


@pytest.mark.parametrize("which", ["strongest", "all"])
def test_relaxation_of_a_machine_without_margin(which):
    """Exercise 12 as it is asked: b = 0, from a start."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 10)
    X, start = rng.normal(size=(40, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y], rng.normal(size=(4, 3))
    Z = np.column_stack([X, np.ones(40)])
    for most in (1, 2, 3, 10, 100, 1000):
        A, k = start.copy(), 0
        for i in range(200 * 40):
            z, own = Z[i % 40], y[i % 40]
            for j in rivals_of(own, A @ z, which):
                m = (A[own] - A[j]) @ z
                if m <= 0.0 and k != most:
                    step = 1.5 * (0.0 - m) / (2.0 * z @ z) * z
                    A[own], A[j], k = A[own] + step, A[j] - step, k + 1
        options = {"multi_class": "joint", "joint_update": which, "max_iter": 200, "max_updates": most}
        model = as_printed(Relaxation, 0.0, 1.5, 0.0, **options)
        model.fit(X, y, coef_init=start[:, :2], intercept_init=start[:, 2])
        B = machine(model)
        assert model.n_updates_ == k
        close(A - A[0], B - B[0], 1e-7)


def test_eqs_116_to_122(several):
    X, y, c = several
    Z = np.column_stack([X, np.ones(len(X))])
    inverse, one_of = np.linalg.pinv(Z), np.eye(c)[y]
    losses = np.random.default_rng(c).uniform(0.0, 2.0, (c, c))
    for targets, options in (
        (one_of, {"target": "indicator"}),
        (2.0 * one_of - 1.0, {"target": "ones"}),
        (-losses[:, y].T, {"loss": losses}),
    ):
        A, model = (inverse @ targets).T, LeastSquares(**options).fit(X, y)
        close(A, machine(model), 1e-7)
        np.testing.assert_array_equal((Z @ A.T).argmax(axis=1), model.predict(X))


@SEEDS
@SEPARABLE
def test_eqs_46_to_54(seed, separable):
    X, y = problem(seed, separable)
    Y, n = patterns(X, y), len(X)
    b = np.random.default_rng(seed).uniform(0.3, 2.0, n)
    close(np.linalg.pinv(Y) @ np.ones(n), vector(LeastSquares().fit(X, y)), 1e-8)
    close(np.linalg.pinv(Y) @ b, vector(LeastSquares(target=b).fit(X, y)), 1e-8)
    singular = np.column_stack([X, X[:, 0], X[:, 0] - X[:, 1]])
    close(np.linalg.pinv(patterns(singular, y)) @ b, vector(LeastSquares(target=b).fit(singular, y)), 1e-7)
    one, two = X[y == 1], X[y == 0]
    apart = one.mean(axis=0) - two.mean(axis=0)
    scatter = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in (one, two))
    toward = np.linalg.solve(scatter, apart)
    alpha = 1.0 / (1.0 + len(one) * len(two) / n * apart @ toward)  # problem 20
    w = alpha * n * toward
    close(np.append(w, -X.mean(axis=0) @ w), vector(LeastSquares(target="fisher").fit(X, y)), 1e-8)


@SEEDS
@SEPARABLE
def test_both_linear_programs_as_printed(seed, separable):
    """With a = a+ - a- and all variables not negative."""
    X, y = problem(seed, separable)
    Y = patterns(X, y)
    n, k = Y.shape
    b = np.random.default_rng(seed).uniform(0.3, 2.0, n)
    one = linprog(np.r_[np.zeros(2 * k), 1.0], A_ub=-np.column_stack([Y, -Y, np.ones(n)]), b_ub=-b)
    model = LinearProgram("minimax", margin=b).fit(X, y)
    close(one.fun, model.criterion_values_[-1], 1e-7)
    close(max(0.0, (b - Y @ vector(model)).max()), model.tau_, 1e-7)
    many = linprog(np.r_[np.zeros(2 * k), np.ones(n)], A_ub=-np.column_stack([Y, -Y, np.eye(n)]), b_ub=-b)
    model = LinearProgram("perceptron", margin=b).fit(X, y)
    close(many.fun, model.criterion_values_[-1], 1e-7)
    close(np.maximum(0.0, b - Y @ vector(model)), model.tau_, 1e-7)
    close(many.fun, np.sum(model.tau_), 1e-7)


@SEEDS
@pytest.mark.parametrize("free", [False, True])
def test_eqs_108_to_110(seed, free):
    """Primal and dual, with the bias in the norm and without."""
    X, y = problem(seed)
    Y, d, signs = patterns(X, y), X.shape[1], labels(y)
    counted = np.append(np.ones(d), 0.0 if free else 1.0)
    first = vector(Perceptron(until="separated").fit(X, y))
    found = minimize(
        lambda a: 0.5 * np.sum(counted * a * a),
        first / np.min(Y @ first),
        jac=lambda a: counted * a,
        constraints=[{"type": "ineq", "fun": lambda a: Y @ a - 1.0, "jac": lambda a: Y}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    model = MaxMargin(C=INF, fit_intercept="unpenalized" if free else True, tol=1e-9).fit(X, y)
    close(found.x, vector(model), 2e-5)
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_.ravel() * signs[model.support_]
    close((alpha @ Y)[:d], vector(model)[:d], 1e-5)
    close((alpha * signs).sum(), 0.0 if free else vector(model)[d], 1e-5)
    value = alpha.sum() - 0.5 * np.sum((alpha @ Y)[: d if free else d + 1] ** 2)
    close(value, 0.5 * np.sum(counted * vector(model) ** 2), 1e-5)


@SEEDS
@pytest.mark.parametrize("delta", [0.5, 1.0, 2.0])
def test_the_soft_margin_is_the_hard_margin_of_the_extended_space(seed, delta):
    X, y = problem(seed, separable=False)
    Y = patterns(X, y)
    long = np.column_stack([Y, delta * np.eye(len(Y))])
    model = MaxMargin(C=1.0 / (2.0 * delta**2), tol=1e-9).fit(X, y)
    a = vector(model)
    slack = np.maximum(0.0, 1.0 - Y @ a)
    found = minimize(
        lambda u: 0.5 * u @ u,
        np.append(a, slack / delta),
        jac=lambda u: u,
        constraints=[{"type": "ineq", "fun": lambda u: long @ u - 1.0, "jac": lambda u: long}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    ).x
    least = a @ a + np.sum(slack**2) / delta**2  # J at gamma = 1/|a|, eq. 20
    close(least**-0.5, 1.0 / np.linalg.norm(found), 1e-5)
    close(least**-0.5, model.certificate_.lower, 1e-5)
    assert least**-0.5 >= bounds.extended_floor(delta, len(Y)) - 1e-9


def test_worked_examples():
    model = LeastSquares().fit([[1, 2], [2, 0], [3, 1], [2, 3]], [1, 1, 0, 0])
    close([-4 / 3, -2 / 3, 11 / 3], vector(model))
    flipped = LeastSquares().fit([[1, 2], [2, 0], [3, 1], [2, 3]], [1, 1, 2, 2])  # the second class is positive
    close([4 / 3, 2 / 3, -11 / 3], vector(flipped))
    X, root = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]), np.sqrt(2.0)
    mapped = np.column_stack([root * X, root * X[:, 0] * X[:, 1], X**2])
    model = MaxMargin(C=INF).fit(mapped, [1, 0, 1, 0])
    close([0, 0, 1 / root, 0, 0, 0], vector(model), 1e-8)
    close([0.125] * 4, abs(model.dual_coef_).ravel(), 1e-8)
    close(root, model.directional_margin_, 1e-8)
    by_kernel = KernelMaxMargin(kernel="poly", degree=2, gamma=1, coef0=1, C=INF).fit(X, [1, 0, 1, 0])
    close([1, -1, 1, -1], by_kernel.decision_function(X), 1e-6)
