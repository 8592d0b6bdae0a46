"""Algorithms 1 to 12 of chapter 5, eq. 90 and the recursive rule, after a few steps and at the end."""

import numpy as np
import pytest
from sources.naive import STEPS, as_printed, begin, close, labels, patterns, problem, vector

from separatrix import (
    LMS,
    BalancedWinnow,
    BatchPerceptron,
    BatchRelaxation,
    GradientDescent,
    HoKashyap,
    Perceptron,
    RecursiveLeastSquares,
    Relaxation,
)
from separatrix.theory import SquaredErrorCriterion

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")

SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])
STARTS = pytest.mark.parametrize("given", [False, True])
RATES = {
    "1": (1.0, lambda k: 1.0),
    "0.3": (0.3, lambda k: 0.3),
    "1/k": ("1/k", lambda k: 1.0 / k),
    "k": ("k", float),
    "function": (lambda k: k**-0.5, lambda k: k**-0.5),
}


def start_of(seed, width, given):
    """The vector, and what ``fit`` is given."""
    start = np.random.default_rng(99 + seed).normal(size=width) if given else np.zeros(width)
    return start, begin(start if given else None)


def perceptron(Y, a, b, eta, most):
    k, clean, i = 0, 0, 0
    while clean < len(Y) and k != most:
        q = Y[i % len(Y)]
        i, clean = i + 1, clean + 1
        if a @ q <= b:
            k, clean = k + 1, 0
            a = a + eta(k) * q
    return a, k


@SEEDS
@STARTS
@pytest.mark.parametrize("b", [0.0, 0.7])
@pytest.mark.parametrize("rate", RATES)
def test_algorithms_4_and_5(seed, given, b, rate):
    X, y = problem(seed)
    Y = patterns(X, y)
    start, options = start_of(seed, Y.shape[1], given)
    ours, eta = RATES[rate]
    for most in STEPS:
        a, k = perceptron(Y, start, b, eta, most)
        model = as_printed(Perceptron, b, ours, max_updates=most).fit(X, y, **options)
        assert model.n_updates_ == k
        close(a, vector(model))


@SEEDS
@STARTS
@pytest.mark.parametrize("b", [0.0, 0.5])
@pytest.mark.parametrize("theta", [0.0, 0.4])
@pytest.mark.parametrize("rate", ["1", "1/k", "k", "function"])
def test_algorithms_3_and_6(seed, given, b, theta, rate):
    X, y = problem(seed)
    Y = patterns(X, y)
    start, options = start_of(seed, Y.shape[1], given)
    ours, eta = RATES[rate]
    for steps in (1, 2, 5, 2000):
        a, k, change = start, 0, np.inf
        while k < steps and np.any(Y @ a <= b) and np.linalg.norm(change) >= theta:
            k += 1
            change = eta(k) * Y[Y @ a <= b].sum(axis=0)
            a = a + change
        printed = BatchPerceptron(margin=b, eta=ours, theta=theta, max_iter=steps, until="separated")
        model = printed.fit(X, y, **options)
        assert model.n_updates_ == k
        close(a, vector(model))


@SEEDS
@pytest.mark.parametrize("alpha", [1.05, 1.5, 2.0])
def test_algorithm_7(seed, alpha):
    X, y = problem(seed)
    Z, signs = np.column_stack([X, np.ones(len(X))]), labels(y)
    for most in STEPS:
        plus, minus, k, clean, i = np.ones(Z.shape[1]), np.ones(Z.shape[1]), 0, 0, 0
        while clean < len(Z) and k != most:
            z, sign = Z[i % len(Z)], signs[i % len(Z)]
            i, clean = i + 1, clean + 1
            if np.sign(plus @ z - minus @ z) != sign:
                k, clean = k + 1, 0
                plus, minus = plus * alpha ** (sign * z), minus * alpha ** (-sign * z)
        model = as_printed(BalancedWinnow, alpha, max_updates=most).fit(X, y)
        assert model.n_updates_ == k
        close(np.log(plus), model.log_weights_[0], 1e-7)
        close(-np.log(minus), model.log_weights_[0], 1e-7)


@SEEDS
@STARTS
@pytest.mark.parametrize("b", [0.1, 0.5])
def test_algorithm_8(seed, given, b):
    X, y = problem(seed)
    Y = patterns(X, y)
    n2 = np.sum(Y**2, axis=1)
    start, options = start_of(seed, Y.shape[1], given)
    for ours, eta in ((0.05, lambda k: 0.05), RATES["1/k"], (lambda k: 0.3 * k**-0.5, lambda k: 0.3 * k**-0.5)):
        for steps in (1, 2, 5, 50):
            a, k = start, 0
            while k < steps and np.any(Y @ a <= b):
                k, m = k + 1, Y @ a
                a = a + eta(k) * np.where(m <= b, (b - m) / n2, 0.0) @ Y
            model = BatchRelaxation(margin=b, eta=ours, margin_tol=0.0, max_iter=steps).fit(X, y, **options)
            assert model.n_updates_ == k
            close(a, vector(model))


@SEEDS
@STARTS
@pytest.mark.parametrize(("b", "eta"), [(0.1, 0.5), (0.5, 1.0), (0.5, 1.7), (0.0, 1.5)])
def test_algorithm_9(seed, given, b, eta):
    if b == 0.0 and not given:
        pytest.skip("with b = 0 from a = 0 nothing would move")
    X, y = problem(seed)
    Y = patterns(X, y)
    start, options = start_of(seed, Y.shape[1], given)
    for most in (1, 2, 3, 6, 40, None):
        a, k = start, 0
        for i in range(60 * len(Y)):
            q = Y[i % len(Y)]
            if a @ q <= b and k != most:
                a, k = a + eta * (b - a @ q) / (q @ q) * q, k + 1
        model = as_printed(Relaxation, b, eta, 0.0, max_iter=60, max_updates=most).fit(X, y, **options)
        close(a, vector(model), 1e-8)
        if eta > 1:  # otherwise it only approaches b, and rounding decides about the last ones
            assert model.n_updates_ == k


def pieces(criterion, Y, a, b):
    """Gradient and Hessian."""
    m = Y @ a
    violated = np.ones(len(Y), dtype=bool) if criterion == "squared-error" else m <= b
    if criterion == "perceptron":
        return -Y[violated].sum(axis=0), None
    c = np.full(len(Y), 2.0) if criterion != "relaxation" else 1.0 / np.sum(Y**2, axis=1)
    c = np.where(violated, c, 0.0)
    return (c * (m - b)) @ Y, (Y.T * c) @ Y


@SEEDS
@pytest.mark.parametrize("criterion", ["perceptron", "quadratic", "relaxation", "squared-error"])
@pytest.mark.parametrize("method", ["gradient", "optimal-step"])
def test_algorithm_1_and_eq_14(seed, criterion, method):
    if (criterion, method) == ("perceptron", "optimal-step"):
        pytest.skip("J_p has no Hessian")
    X, y = problem(seed, separable=False)
    Y = patterns(X, y)
    for steps in (1, 2, 3, 10):
        a = np.zeros(Y.shape[1])
        for k in range(1, steps + 1):
            g, H = pieces(criterion, Y, a, 1.0)
            a = a - (0.01 / k**0.5 if method == "gradient" else (g @ g) / (g @ H @ g)) * g
        rate = {"eta": lambda k: 0.01 / k**0.5} if method == "gradient" else {}
        model = GradientDescent(criterion, method=method, step_tol=0.0, max_iter=steps, **rate).fit(X, y)
        close(a, vector(model), 1e-7)


@SEEDS
@STARTS
@pytest.mark.parametrize("target", ["ones", "array"])
def test_algorithm_10(seed, given, target):
    X, y = problem(seed, separable=False)
    Y = patterns(X, y)
    n = len(Y)
    b = np.ones(n) if target == "ones" else np.random.default_rng(seed).uniform(0.5, 2.0, n)
    start, options = start_of(seed, Y.shape[1], given)
    top = np.sum(Y**2, axis=1).max()
    rates = (RATES["1/k"], (lambda k: 0.05 / k**0.6, lambda k: 0.05 / k**0.6))
    for ours, eta in (*rates, (0.8, lambda k: 0.8 / (top * (1 + (k - 1) / n)))):
        for most in (1, 2, 5, n, 3 * n):
            a = start
            for k in range(1, most + 1):
                q = Y[(k - 1) % n]
                a = a + eta(k) * (b[(k - 1) % n] - a @ q) * q
            goal = "ones" if target == "ones" else b
            model = as_printed(LMS, ours, 0.0, target=goal, max_updates=most, max_iter=10).fit(X, y, **options)
            close(a, vector(model), 1e-8)


@SEEDS
def test_batch_lms_has_half_the_rate_of_the_criterion(seed):
    X, y = problem(seed, separable=False)
    Y = patterns(X, y)
    b, a = np.random.default_rng(seed).uniform(0.5, 2.0, len(Y)), np.zeros(Y.shape[1])
    for k in range(1, 21):
        a = a - 0.02 / k * Y.T @ (Y @ a - b)
    criterion = SquaredErrorCriterion(margin=b)
    close(a, vector(GradientDescent(criterion, eta=lambda k: 0.01 / k, step_tol=0.0, max_iter=20).fit(X, y)))


@SEEDS
@pytest.mark.parametrize("most", [1, 3, None])
def test_eqs_71_to_73(seed, most):
    X, y = problem(seed, separable=False)
    a, R = np.zeros(X.shape[1] + 1), np.eye(X.shape[1] + 1) / 0.01
    for x, sign in list(zip(X, labels(y), strict=True))[:most]:
        q = np.append(x, 1.0)
        R = R - np.outer(R @ q, R @ q) / (1.0 + q @ R @ q)
        a = a + R @ q * (sign - a @ q)
    model = as_printed(RecursiveLeastSquares, ridge=0.01, max_iter=1, max_updates=most).fit(X, y)
    close(a, vector(model), 1e-7)


@SEEDS
@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize("variant", ["standard", "modified"])
def test_algorithms_11_and_12(seed, separable, variant):
    X, y = problem(seed, separable)
    Y = patterns(X, y)
    inverse, b1 = np.linalg.pinv(Y), np.random.default_rng(5 + seed).uniform(0.5, 2.0, len(Y))
    for ours, eta in ((0.9, lambda k: 0.9), RATES["0.3"], RATES["1/k"], (lambda k: 0.9 * k**-0.5,) * 2):
        for steps in (1, 2, 5, 20):
            b, a = b1, inverse @ b1
            for k in range(1, steps + 1):
                if np.all(Y @ a > 0):
                    break
                e = Y @ a - b
                b = b + eta(k) * (e + abs(e))
                a = inverse @ b if variant == "standard" else a + eta(k) * inverse @ abs(e)
            model = HoKashyap(variant, eta=ours, margin=b1, max_iter=steps, bound_tol=0.0).fit(X, y)
            close(np.append(a, b), np.append(vector(model), model.margin_vector_), 1e-7)


@SEEDS
@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize("identity", [True, False])
@pytest.mark.parametrize("optimal", [True, False])
def test_eqs_90_and_94(seed, separable, identity, optimal):
    X, y = problem(seed, separable)
    Y = patterns(X, y)
    rng = np.random.default_rng(5 + seed)
    b1, Q = rng.uniform(0.5, 2.0, len(Y)), rng.normal(size=(Y.shape[1],) * 2)
    R = np.eye(Y.shape[1]) + (0.0 if identity else Q @ Q.T)
    fixed = 1.0 / np.linalg.eigvals(R @ Y.T @ Y).real.max()
    for steps in (1, 2, 5, 20):
        a, b = np.zeros(Y.shape[1]), b1
        for _ in range(steps):
            if np.all(Y @ a > 0):
                break
            e = Y @ a - b
            g = Y.T @ abs(e)
            c = R @ g
            a, b = a + ((g @ c) / ((Y @ c) @ (Y @ c)) if optimal else fixed) * c, b + e + abs(e)
        options = {"eta": "optimal" if optimal else fixed, "R": None if identity else R}
        model = HoKashyap("descent", margin=b1, max_iter=steps, bound_tol=0.0, **options).fit(X, y)
        close(np.append(a, b), np.append(vector(model), model.margin_vector_), 1e-7)


@SEEDS
def test_eq_96_turns_eq_90_into_ho_kashyap(seed):
    """R = (Y^t Y)^-1 / eta: the error falls fastest, and the steps are those of algorithm 11 with eta = 1."""
    X, y = problem(seed, separable=False)
    Y, eta = patterns(X, y), 0.5
    inverse, b = np.linalg.pinv(Y), np.ones(len(Y))
    a = inverse @ b
    start = begin(a)
    for _ in range(3):
        if np.all(Y @ a > 0):
            break
        e = Y @ a - b
        b = b + e + abs(e)
        a = inverse @ b
    R = np.linalg.inv(Y.T @ Y) / eta
    model = HoKashyap("descent", eta=eta, R=R, max_iter=3, bound_tol=0.0).fit(X, y, **start)
    close(a, vector(model), 1e-7)


@SEEDS
@pytest.mark.parametrize("b_min", [1e-1, 1e-3])
def test_algorithm_11_ends_one_update_before_the_printed_order(seed, b_min):
    """The listing tests |e| of line 3 after the update of line 6, the library before it."""
    X, y = problem(seed)
    Y = patterns(X, y)
    inverse, b, k, e = np.linalg.pinv(Y), np.ones(len(Y)), 0, np.inf
    a = inverse @ b
    while np.linalg.norm(e) > b_min and k < 20_000:
        k, e = k + 1, Y @ a - b
        b = b + 1.8 * np.maximum(e, 0.0)
        a = inverse @ b
    model = HoKashyap(eta=0.9, b_min=b_min, max_iter=20_000).fit(X, y)
    assert model.outcome_ == "separable"
    assert k - model.n_updates_ == 1
