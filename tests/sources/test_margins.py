"""CRAMMA, ALMA, the Perceptron with margin, the margin Perceptron, greedy and fuzzy: in four spaces, step by step."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_blobs
from sources.naive import STEPS, as_printed, close, labels, patterns, problem, vector

from separatrix import (
    ALMA,
    CRAMMA,
    FixedMargin,
    FuzzyPerceptron,
    GreedyPerceptron,
    MarginPerceptron,
    MaxMargin,
    Perceptron,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SPACES = [(1.0, 0.0), (3.0, 0.0), (0.0, 0.0), (1.0, 0.7)]  # rho, delta


def unit(v):
    return v / np.linalg.norm(v)


def loop(Y, a, violates, step, most, passes=4000):
    """The common loop; t counts updates from 1."""
    t, clean, i = 1, 0, 0
    while clean < len(Y) and t - 1 != most and i < passes * len(Y):
        q = Y[i % len(Y)]
        i, clean = i + 1, clean + 1
        if violates(a, q, t):
            a, t, clean = step(a, q, t), t + 1, 0
    return a, t - 1


class Setting:
    """A problem in a space, with its patterns written out."""

    def __init__(self, seed, rho, delta):
        self.X, self.y = problem(seed)
        self.d, self.rho, self.delta = self.X.shape[1], rho, delta
        flat = patterns(self.X, self.y, rho)
        if rho == 0.0:
            bounds = [(None, None)] * self.d
            if linprog(np.zeros(self.d), A_ub=-flat, b_ub=-np.ones(len(flat)), bounds=bounds).status != 0:
                pytest.skip("no hyperplane through 0 separates these")
        self.Y = np.column_stack([flat, delta * np.eye(len(flat))]) if delta else flat
        self.radius = np.sqrt(np.sum(self.Y**2, axis=1).max())
        self.zero = np.zeros(self.Y.shape[1])
        self.space = {"intercept_scaling": rho} if rho else {"fit_intercept": False}
        self.options = {**self.space, "delta": delta, "max_iter": 4000}

    def flat(self, a):
        return a[: self.d + (1 if self.rho else 0)]

    def best(self):
        if self.delta:
            return self.delta / np.sqrt(len(self.Y))
        return MaxMargin(C=np.inf, **self.space).fit(self.X, self.y).directional_margin_

    def compare(self, start, violates, step, cls, *given, scaled=False, length=True):
        Y = self.Y / self.radius if scaled else self.Y
        for most in STEPS:
            a, k = loop(Y, start, violates, step, most)
            model = as_printed(cls, *given, max_updates=most, **self.options).fit(self.X, self.y)
            assert model.n_updates_ == k
            close(unit(self.flat(a)), unit(vector(model, self.rho)), 1e-7)
            if length:
                close(self.flat(a), vector(model, self.rho), 1e-6)


@pytest.fixture(params=[(seed, *space) for seed in range(3) for space in SPACES], ids=str)
def setting(request):
    return Setting(*request.param)


@pytest.mark.parametrize(
    "given",
    [
        (1.0, 0.5, 0.01, 1.0),
        (2.0, 0.5, 0.05, 0.5),
        (3.0, 1.0, 0.02, 1.0),
        (10.0, 2.0, 0.05, 0.3),
        (0.5, 0.25, 0.02, 2.0),
    ],
)
def test_cramma(setting, given):
    beta, power, eta0, decay = given
    eta = eta0 * beta**-decay
    setting.compare(
        unit(setting.Y[0]),
        lambda a, q, t: a @ q <= beta / t**power,
        lambda a, q, t: unit(a + eta * q),
        CRAMMA,
        *given,
        scaled=True,
        length=False,
    )


@pytest.mark.parametrize("alpha", [1.0, 0.9, 0.5])
def test_alma(setting, alpha):
    def step(a, q, t):
        moved = a + np.sqrt(2.0 / t) * q
        return moved / max(1.0, np.linalg.norm(moved))

    B = np.sqrt(8.0) / alpha
    setting.compare(setting.zero, lambda a, q, t: a @ q <= (1 - alpha) * B / np.sqrt(t), step, ALMA, alpha, scaled=True)


@pytest.mark.parametrize("b", [0.0, 1.0, 10.0])
def test_perceptron_with_margin(setting, b):
    setting.compare(setting.zero, lambda a, q, t: a @ q <= b, lambda a, q, t: a + 0.5 * q, Perceptron, b, 0.5)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_fixed_directional_margin(setting, share):
    beta, R = share * setting.best(), setting.radius
    setting.compare(
        unit(setting.Y[0]),
        lambda a, q, t: a @ q <= beta / R,
        lambda a, q, t: unit(a + 0.01 * q),
        FixedMargin,
        beta,
        0.01,
        scaled=True,
        length=False,
    )


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_margin_perceptron(setting, share):
    guess = share * setting.best()

    def violates(a, q, t):
        return a @ q <= 0 or a @ q / np.linalg.norm(a) < guess / 2

    setting.compare(setting.zero, violates, lambda a, q, t: a + q, MarginPerceptron, guess)


def test_incremental_margin_perceptron(setting):
    """Slide 20: the guess is halved after 12 R^2/guess^2 updates, and a starts again from 0."""
    Y, R = setting.Y, setting.radius
    guess, a, stage, total, clean, i = R, setting.zero, 0, 0, 0, 0
    while clean < len(Y):
        q = Y[i % len(Y)]
        i, clean = i + 1, clean + 1
        if a @ q <= 0 or a @ q / np.linalg.norm(a) < guess / 2:
            a, stage, total, clean = a + q, stage + 1, total + 1, 0
            if stage >= 12 * R**2 / guess**2 - 1e-9:
                guess, a, stage = guess / 2, setting.zero, 0
    model = as_printed(MarginPerceptron, **setting.options).fit(setting.X, setting.y)
    assert model.n_updates_ == total
    close(setting.flat(a), vector(model, setting.rho), 1e-6)


@pytest.mark.parametrize("etas", [(0.5, 1.0, 2.0, 4.0), (3.0, 0.1)])
def test_greedy(setting, etas):
    def step(a, q, t):
        losses = [np.sum(setting.Y @ (a + eta * q) <= 0) for eta in etas]
        return a + etas[int(np.argmin(losses))] * q

    setting.compare(setting.zero, lambda a, q, t: a @ q <= 0, step, GreedyPerceptron, etas)


@pytest.mark.parametrize("rho", [1.0, 0.0])
@pytest.mark.parametrize(("c", "m", "fuzz", "eta"), [(1.0, 2.0, 0.1, 1.0), (3.0, 1.5, 0.05, 0.4), (5.0, 2.0, 0.2, 1.0)])
@pytest.mark.parametrize("name", ["drawn 0", "drawn 1", "drawn 2", "blobs"])
def test_fuzzy(name, c, m, fuzz, eta, rho):
    if name == "blobs":
        X, y = make_blobs(60, centers=2, cluster_std=3.0, random_state=4)
    else:
        X, y = problem(int(name[-1]), separable=False)
    Y, signs = patterns(X, y, rho), labels(y)
    means = {sign: X[signs == sign].mean(axis=0) for sign in (1.0, -1.0)}
    apart = np.linalg.norm(means[1.0] - means[-1.0])
    own = np.array([np.linalg.norm(x - means[sign]) for x, sign in zip(X, signs, strict=True)])
    other = np.array([np.linalg.norm(x - means[-sign]) for x, sign in zip(X, signs, strict=True)])
    p = 0.5 + (np.exp(c * (other - own) / apart) - np.exp(-c)) / (2.0 * (np.exp(c) - np.exp(-c)))
    fuzzy, weight = abs(p - 0.5) <= fuzz, abs(2.0 * p - 1.0) ** m
    space = {"intercept_scaling": rho} if rho else {"fit_intercept": False}
    for most in (1, 2, 5, 30, None):
        a, k = np.zeros(Y.shape[1]), 0
        for i in range(50 * len(Y)):
            i = i % len(Y)
            if Y[i] @ a <= 0 and not fuzzy[i] and k != most:
                a, k = a + eta * weight[i] * Y[i], k + 1
        model = as_printed(FuzzyPerceptron, eta, m, fuzz, c, max_updates=most, max_iter=50, **space).fit(X, y)
        assert model.n_updates_ == k
        close(a, vector(model, rho), 1e-7)
        close(p, model.memberships_)
        np.testing.assert_array_equal(fuzzy, model.fuzzy_rows_)
