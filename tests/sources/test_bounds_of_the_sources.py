"""Bounds: the formulas of the sources written out again, and runs that stay within them."""

import numpy as np
import pytest
from scipy.optimize import brentq
from sources.naive import as_printed, close, patterns, problem, vector

from separatrix import CRAMMA, GreedyPerceptron, MaxMargin, Perceptron, bounds, theory

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])


def parts(gamma, eta):
    """chi and omega of theorem 1, for R = 1."""
    return 1.0 - eta / 2.0 * (1.0 + eta) / gamma, eta * (1.0 + eta) * gamma


def tau_of_theorem_1(gamma, beta, power, eta):
    """Eqs. 13 and 14: the larger root."""
    chi, omega = parts(gamma, eta)
    left = beta ** (-1.0 / power) * gamma ** (1.0 / power - 1.0) * (1.0 + omega) / eta

    def short(tau):
        grown = np.log1p(tau) if power == 1 else ((1.0 + tau) ** (1.0 - power) - 1.0) / (1.0 - power)
        return chi * tau - (1.0 + eta) * grown - left

    low = ((1.0 + eta) / chi) ** (1.0 / power) - 1.0
    high = max(1.0, 2.0 * low)
    while short(high) < 0:
        high *= 2.0
    return brentq(short, low, high, xtol=1e-14, rtol=1e-14)


def test_theorem_1_of_cramma_and_remark_1():
    rng = np.random.default_rng(0)
    for _ in range(300):
        gamma, power, beta = (
            10 ** rng.uniform(-3, -0.3),
            rng.choice([0.25, 0.5, 1.0, 2.0, 1.7]),
            10 ** rng.uniform(-1, 2),
        )
        limit = 0.5 * (np.sqrt(1.0 + 8.0 * gamma) - 1.0)
        eta = limit * rng.uniform(0.01, 0.95)
        tau = tau_of_theorem_1(gamma, beta, power, eta)
        found = bounds.cramma(1.0, gamma, beta, power, eta)
        close(
            [(beta / gamma) ** (1.0 / power) * (1.0 + tau), (1.0 + tau) ** -power],
            [found.updates, found.fraction],
            1e-6,
        )
        assert bounds.cramma_converges(1.0, gamma, eta)
        assert not bounds.cramma_converges(1.0, gamma, limit * 1.001)
        chi, omega = parts(gamma, eta)
        p = (1.0 + eta) / chi
        if power == 0.5:  # eq. 19
            tau = (p + np.sqrt((p - 1.0) ** 2 + gamma * (1.0 + omega) / (eta * beta**2 * chi))) ** 2 - 1.0
            half = bounds.cramma_half(1.0, gamma, beta, eta)
            close([(beta / gamma) ** 2 * (1.0 + tau), (1.0 + tau) ** -0.5], [half.updates, half.fraction], 1e-6)
        if power == 2.0:  # the closed form that remark 1 only mentions
            q = 1.0 + p + (1.0 + omega) / (eta * chi * np.sqrt(beta * gamma))
            root = (q + np.sqrt(q * q - 4.0 * p)) / 2.0
            close([np.sqrt(beta / gamma) * root, root**-2.0], [found.updates, found.fraction], 1e-6)


@SEEDS
@pytest.mark.parametrize(("beta", "power", "eta"), [(1.0, 0.5, 0.01), (3.0, 1.0, 0.005), (20.0, 2.0, 0.01)])
def test_runs_of_cramma_stay_within_theorem_1(seed, beta, power, eta):
    X, y = problem(seed)
    certificate = MaxMargin(C=float("inf")).fit(X, y).certificate_
    model = as_printed(CRAMMA, beta, power, eta, 0.0, max_iter=10**6).fit(X, y)
    bound = bounds.cramma(certificate.radius, certificate.lower, beta, power, eta)
    assert model.t_ <= bound.updates
    assert model.directional_margin_ / certificate.lower >= bound.fraction


@SEEDS
def test_k_0_and_theorems_15_to_18(seed):
    X, y = problem(seed)
    Y, rng = patterns(X, y), np.random.default_rng(seed)
    R, gamma = np.linalg.norm(Y, axis=1).max(), MaxMargin(C=float("inf")).fit(X, y).certificate_.lower
    for draw in range(10):
        start = 10.0 * rng.normal(size=Y.shape[1])
        model = as_printed(Perceptron, shuffle=True, random_state=draw)
        model.fit(X, y, coef_init=start[None, :-1], intercept_init=start[-1:])
        solution = vector(model)
        least = np.min(Y @ solution)
        assert model.n_updates_ <= bounds.any_start(start, solution, least, R)
        close(
            np.sum((start - R**2 / least * solution) ** 2) / R**2,
            bounds.any_start(start, solution, least, R, R**2 / least),
        )
        greedy = as_printed(GreedyPerceptron, (0.5, 2.0, 3.0), shuffle=True, random_state=draw).fit(X, y)
        taken = np.repeat([0.5, 2.0, 3.0], greedy.eta_counts_)
        effective = taken.sum() ** 2 / np.sum(taken**2)
        close(effective, bounds.greedy_effective_updates((0.5, 2.0, 3.0), greedy.eta_counts_))
        assert len(taken) / 36.0 <= effective <= (R / gamma) ** 2
        assert len(taken) <= bounds.greedy(R, gamma, 0.5, 3.0)
        assert len(taken) <= bounds.bounded_increments(R, gamma, 0.5, 3.0)


@SEEDS
@pytest.mark.parametrize("delta", [0.3, 1.0, 3.0])
def test_theorem_2_of_cramma_and_its_remarks(seed, delta):
    X, y = problem(seed)
    Y = patterns(X, y)
    a, alpha, on = np.zeros(Y.shape[1]), np.zeros(len(Y)), True
    while on:
        on = False
        for k, q in enumerate(Y):
            if q @ a + delta**2 * alpha[k] <= 1.0:
                a, alpha[k], on = a + q, alpha[k] + 1.0, True
    close(a, vector(as_printed(Perceptron, 1.0, delta=delta, max_iter=10**5).fit(X, y)))
    long = np.sqrt(a @ a + delta**2 * alpha @ alpha)
    reached = np.min(Y @ a + delta**2 * alpha) / long
    gamma = reached * long / np.linalg.norm(a)
    d = np.maximum(0.0, gamma - Y @ a / np.linalg.norm(a))
    above = delta**2 * alpha / np.linalg.norm(a)
    J = 1.0 / gamma**2 + d @ d / gamma**2 / delta**2
    found = theory.soft_measures(a, alpha, Y @ a, delta)
    close([gamma, np.linalg.norm(d), np.linalg.norm(above), J], [found.gamma, found.D, found.D_prime, found.J])
    best = MaxMargin(C=1.0 / (2.0 * delta**2)).fit(X, y).certificate_.upper
    assert best**-2 <= J * (1.0 + 1e-9)
    assert J <= reached**-2 * (1.0 + 1e-9)
    assert np.all(above + 1e-12 >= d)
    assert best >= bounds.extended_floor(delta, len(Y)) - 1e-12


def test_theorem_2_of_perc():
    """One pass over data that nothing separates, any u and gamma."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
        y[:2] = 0, 1
        Y = patterns(X, y)
        model = as_printed(Perceptron, max_iter=1).fit(X, y)
        u, gamma = rng.normal(size=4), rng.uniform(0.1, 3.0)
        u, R = u / np.linalg.norm(u), np.linalg.norm(Y, axis=1).max()
        D = np.sqrt(np.sum(np.maximum(0.0, gamma - Y @ u) ** 2))
        close(D, bounds.deviation(Y @ u, gamma))
        close(((R + D) / gamma) ** 2, bounds.freund_schapire(R, gamma, D))
        assert model.n_updates_ <= ((R + D) / gamma) ** 2


@SEEDS
@pytest.mark.parametrize("separable", [True, False])
def test_perc_row_by_row_and_averages(seed, separable):
    X, y = problem(seed, separable)
    Y = patterns(X, y)
    w, k = np.zeros(Y.shape[1]), 0
    online = as_printed(Perceptron)
    for i, q in enumerate(Y):
        if q @ w <= 0:
            w, k = w + q, k + 1
        online.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    assert online.n_updates_ == k
    close(w, vector(online))
    w, total = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
    for i in range(3 * len(Y)):
        if Y[i % len(Y)] @ w <= 0:
            w = w + Y[i % len(Y)]
        total += w  # the vectors after each visit
        if (i + 1) % len(Y) == 0 and np.all(Y @ w > 0):
            break
    mean = vector(as_printed(Perceptron, average=True, max_iter=3).fit(X, y))
    if np.any(Y @ w <= 0) and np.linalg.norm(total):
        close(total / np.linalg.norm(total), mean / np.linalg.norm(mean), 1e-9)
