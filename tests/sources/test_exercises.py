"""Problems, exercises and statements with small numbers, computed once more without the library."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_blobs
from sources.naive import as_printed, begin, close, labels, patterns, vector

from separatrix import (
    FuzzyPerceptron,
    GradientDescent,
    GreedyPerceptron,
    HoKashyap,
    LeastSquares,
    MaxMargin,
    Perceptron,
    PiecewiseLinearMachine,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

INF = float("inf")
TABLE = np.array(  # the exercises' ten points of four categories, read from the book
    [
        [0.1, 1.1, 7.1, 4.2, -3.0, -2.9, -2.0, -8.4],
        [6.8, 7.1, -1.4, -4.3, 0.5, 8.7, -8.9, 0.2],
        [-3.5, -4.1, 4.5, 0.0, 2.9, 2.1, -4.2, -7.7],
        [2.0, 2.7, 6.3, 1.6, -0.1, 5.2, -8.5, -3.2],
        [4.1, 2.8, 4.2, 1.9, -4.0, 2.2, -6.7, -4.0],
        [3.1, 5.0, 1.4, -3.2, -1.3, 3.7, -0.5, -9.2],
        [-0.8, -1.3, 2.4, -4.0, -3.4, 6.2, -5.3, -6.7],
        [0.9, 1.2, 2.5, -6.1, -4.1, 3.4, -8.7, -6.4],
        [5.0, 6.4, 8.4, 3.7, -5.1, 1.6, -7.1, -9.7],
        [3.9, 4.0, 4.1, -2.2, 1.9, 5.1, -8.0, -6.3],
    ]
)


def pair(i, j):
    X = np.vstack([TABLE[:, 2 * k - 2 : 2 * k] for k in (i, j)])
    return X, np.repeat([1, 0], 10)


def perceptron(Y):
    a, k, clean, i = np.zeros(Y.shape[1]), 0, 0, 0
    while clean < len(Y):
        q = Y[i % len(Y)]
        i, clean = i + 1, clean + 1
        if q @ a <= 0:
            a, k, clean = a + q, k + 1, 0
    return a, k


@pytest.mark.parametrize(("i", "j", "updates", "alternating"), [(1, 2, 33, 21), (3, 2, 9, 6)])
def test_exercise_2_depends_on_the_order(i, j, updates, alternating):
    X, y = pair(i, j)
    for order, expected in ((np.arange(20), updates), (np.arange(20).reshape(2, 10).T.ravel(), alternating)):
        a, k = perceptron(patterns(X[order], y[order]))
        model = as_printed(Perceptron).fit(X[order], y[order])
        assert k == model.n_updates_ == expected
        close(a, vector(model))


@pytest.mark.parametrize(("i", "j", "ends"), [(1, 3, False), (4, 2, True)])
def test_exercise_9(i, j, ends):
    X, y = pair(i, j)
    Y = patterns(X, y)
    inverse, b, k = np.linalg.pinv(Y), np.ones(20), 0
    a = inverse @ b
    while not np.all(Y @ a > 0) and np.max(Y @ a - b) > 1e-12:
        b = b + 1.8 * np.maximum(Y @ a - b, 0.0)
        a, k = inverse @ b, k + 1
    model = HoKashyap(eta=0.9, max_iter=10_000).fit(X, y)
    assert (
        model.outcome_
        == ("separable" if ends else "not separable")
        == ("separable" if np.all(Y @ a > 0) else "not separable")
    )
    if ends:
        assert model.n_updates_ == k


def test_exercise_11_depends_on_the_bias():
    """The book's machine is augmented: its margin is 0.21493. With a bias outside of the norm it is 1.16687."""
    X, y = pair(3, 4)
    Y = patterns(X, y)
    for intercept, counted, margin in ((True, (1, 1, 1), 0.21493), ("unpenalized", (1, 1, 0), 1.16687)):
        model = MaxMargin(C=INF, fit_intercept=intercept).fit(X, y)
        found = minimize(
            lambda a, c: 0.5 * np.sum(c * a * a),
            1.1 * vector(model),
            args=(np.array(counted),),
            constraints=[{"type": "ineq", "fun": lambda a: Y @ a - 1.0}],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        own = 1.0 / np.sqrt(2.0 * found.fun)
        assert round(own, 5) == margin
        close(own, 1.0 / np.linalg.norm(vector(model) * counted), 1e-5)


def test_problems_13_and_25():
    """The optimal rates of eqs. 14 and 95 at the first step."""
    y = np.array([1, 1, 1, 0, 0, 0])
    X = np.array([[1, 5], [2, 9], [-5, -3], [2, -3], [-1, -4], [0, 2.0]])
    Y = patterns(X, y)
    g, H = -2.0 * Y.sum(axis=0), 2.0 * Y.T @ Y
    model = GradientDescent("squared-error", method="optimal-step", step_tol=0.0, max_iter=1).fit(X, y)
    close(-(g @ g) / (g @ H @ g) * g, vector(model))
    X = np.array([[1, 2], [2, -4], [-3, -1], [2, 4], [-1, -5], [5, 0.0]])
    Y = patterns(X, y)
    v = Y.sum(axis=0)
    model = HoKashyap("descent", eta="optimal", max_iter=1, bound_tol=0.0).fit(X, y)
    close(v @ v / np.sum((Y @ v) ** 2) * v, vector(model))


def test_problem_29():
    X, y = np.array([[1, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1.0]]), np.array([1, 1, 1, 0, 0, 0])
    model = MaxMargin(C=INF, fit_intercept="unpenalized").fit(X, y)
    close([2.0, 2.0, -3.0], vector(model), 1e-6)  # the line x1 + x2 = 3/2
    assert round(1.0 / np.linalg.norm(model.coef_), 6) == round(np.sqrt(2.0) / 4.0, 6)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_problem_10b(d):
    """d + 1 vectors solve parity."""
    corners = np.array(list(product([0, 1], repeat=d)))
    odd = corners.sum(axis=1) % 2
    pieces = [d + 1 - (d + 1) // 2, (d + 1) // 2]
    assert PiecewiseLinearMachine(pieces).fit(corners, odd).score(corners, odd) == 1.0
    t = corners.sum(axis=1)  # problem 10b by hand: g_t(x) = t s - t^2/2 of s ones, largest at t = s
    g = np.array([k * t - k * k / 2.0 for k in range(d + 1)])
    np.testing.assert_array_equal(g.argmax(axis=0) % 2, odd)


def test_problem_32():
    """Where the least-squares solution of symmetric points does not separate them."""
    rng = np.random.default_rng(3)
    first, second = np.array([1.0, 2.0]), np.array([2.0, -4.0])
    for p, q in 3.0 * rng.normal(size=(100, 2)):
        Y = np.array([first, second, p * first + q * second])
        a = np.linalg.lstsq(Y, np.ones(3), rcond=None)[0]
        conditions = [1 + q * q + p - p * q, 1 + p * p + q - p * q, p * p + q * q + p + q]
        np.testing.assert_array_equal(Y @ a > 0, np.array(conditions) > 0)
        model = LeastSquares().fit(np.vstack([Y, -Y]), [1, 1, 1, 0, 0, 0])
        close(np.append(a, 0.0), vector(model), 1e-7)


def test_section_5_7_cycles():
    X, y = pair(1, 3)
    Y = np.round(patterns(X, y)).astype(int)
    a, seen, epoch = np.zeros(3, dtype=int), {}, 0
    while tuple(a) not in seen:
        seen[tuple(a)], epoch = epoch, epoch + 1
        for q in Y:
            if q @ a <= 0:
                a = a + q
    assert (seen[tuple(a)], epoch - seen[tuple(a)]) == (10, 5)
    ends = [as_printed(Perceptron, max_iter=k).fit(np.round(X), y) for k in (20, 25)]
    close(vector(ends[0]), vector(ends[1]))


def test_figure_3_4_takes_49_updates_or_48_after_the_first():
    X, y = make_blobs(80, n_features=2, centers=2, cluster_std=1.5, random_state=np.random.RandomState(9758))
    Y, rates = patterns(X, y, 0.0), (0.5, 1.0, 2.0, 4.0)
    for etas, expected in ((rates, 49), *(((eta,), 60) for eta in rates)):
        w, k, clean, i = np.zeros(2), 0, 0, 0
        while clean < 80:
            q = Y[i % 80]
            i, clean = i + 1, clean + 1
            if w @ q <= 0:
                best = etas[int(np.argmin([np.sum(Y @ (w + eta * q) <= 0) for eta in etas]))]
                w, k, clean = w + best * q, k + 1, 0
        model = as_printed(GreedyPerceptron, etas, fit_intercept=False).fit(X, y)
        assert k == model.n_updates_ == expected
        close(w, model.coef_.ravel())


def test_theorem_22_is_false():
    """It forgets the weights |p1 - p2|^m: four points break it; the bound with the weights holds."""
    X, y, c = np.array([[-1.0, -4.0], [4.0, 2.0], [-2.0, -1.0], [-4.0, -2.0]]), np.array([0, 0, 1, 1]), 5.0
    Y, signs = patterns(X, y), labels(y)
    means = {sign: X[signs == sign].mean(axis=0) for sign in (1.0, -1.0)}
    apart = np.linalg.norm(means[1.0] - means[-1.0])
    own = np.array([np.linalg.norm(x - means[sign]) for x, sign in zip(X, signs, strict=True)])
    other = np.array([np.linalg.norm(x - means[-sign]) for x, sign in zip(X, signs, strict=True)])
    p = 0.5 + (np.exp(c * (other - own) / apart) - np.exp(-c)) / (2.0 * (np.exp(c) - np.exp(-c)))
    weighted = Y * (2.0 * p[:, None] - 1.0) ** 2
    w, k = perceptron(weighted)
    model = as_printed(FuzzyPerceptron, c=c, fuzz=0.0, max_iter=20_000).fit(X, y)
    assert k == model.n_updates_ == 17_174
    close(w, vector(model), 1e-6)
    assert round(np.sum(Y**2, axis=1).max() / largest_margin(Y) ** 2, 1) == 13.5
    assert k <= np.sum(weighted**2, axis=1).max() / largest_margin(weighted) ** 2


def largest_margin(Y):
    """Of patterns that ``perceptron`` separates, by the quadratic program."""
    solution = perceptron(Y)[0]
    found = minimize(
        lambda a: 0.5 * a @ a,
        solution / np.min(Y @ solution),
        jac=lambda a: a,
        constraints=[{"type": "ineq", "fun": lambda a: Y @ a - 1.0, "jac": lambda a: Y}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return 1.0 / np.linalg.norm(found.x)


def test_theorem_24_runs_for_ever_in_exact_arithmetic():
    """Integers: both readings repeat their vector, where the theorem promises 72 updates."""
    Y = [(-2, -2), (-3, 3), (3, 2)]

    def beyond(q, w):  # width 1/2
        m = q[0] * w[0] + q[1] * w[1]
        return m <= 0 and 4 * m * m >= w[0] ** 2 + w[1] ** 2

    def error(q, w):
        return q[0] * w[0] + q[1] * w[1] <= 0

    for corrected in (beyond, error):
        w, seen, updates = (0, 0), set(), 0
        while w not in seen:
            assert w == (0, 0) or any(beyond(q, w) for q in Y)  # it has not ended
            seen.add(w)
            for q in Y:
                if corrected(q, w):
                    w, updates = (w[0] + q[0], w[1] + q[1]), updates + 1
        assert updates > 0


def test_a_step_of_the_proof_of_theorem_8_fails():
    """cos b >= (w.x + |x|^2)/(|w||x| + |x|^2) does not hold where w.x + |x|^2 < 0; the theorem holds."""
    w, x = np.array([-10.0, 1.0]), np.array([1.0, 0.0])
    after = (w + x) @ x / np.linalg.norm(w + x)
    assert after < (w @ x + 1.0) / (np.linalg.norm(w) + 1.0)
    assert after >= w @ x / np.linalg.norm(w)


def test_problem_15_bounds_increments_from_any_start():
    """The bound of the proof on the page about the problems of the chapter."""
    rng = np.random.default_rng(15)
    X, y = pair(1, 2)
    Y = patterns(X, y)
    solution, _ = perceptron(Y)
    gamma, beta = np.min(Y @ solution), np.linalg.norm(Y, axis=1).max()
    for b, low, high in ((0.0, 0.5, 2.0), (3.0, 0.2, 0.9)):
        for _ in range(5):
            start = 5.0 * rng.normal(size=3)
            rates = rng.uniform(low, high, 10_000)
            model = as_printed(Perceptron, b, lambda k, rates=rates: rates[(k - 1) % 10_000])
            model.fit(X, y, **begin(start))
            alpha = (2.0 * b + high * beta**2) / gamma
            bound = np.sum((start - alpha * solution) ** 2) / (low * (2.0 * b + high * beta**2))
            assert model.converged_
            assert model.n_updates_ <= bound
