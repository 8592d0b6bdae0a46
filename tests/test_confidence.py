"""Rules after the sources: an independent implementation, the problems that define them, their theorems."""

import numpy as np
import oracle
import oracle_confidence
import pytest
import scipy.sparse as sp
from cases import margin_6d, overlapping
from fits import vector
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from strategies import data, many

from separatrix import (
    AROW,
    SCW,
    DataError,
    KernelPerceptron,
    Pegasos,
    Perceptron,
    PNormPerceptron,
    SecondOrderPerceptron,
    bounds,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

STREAM = {"until": "separated", "fit_intercept": False, "shuffle": False, "max_iter": 1}


def stream():
    """Rows in a fixed order, with the constant 1 of the bias among the features."""
    X, y = load_breast_cancer(return_X_y=True)
    X = np.column_stack([scale(X), np.ones(len(X))])
    order = np.random.default_rng(4).permutation(len(y))
    return X[order], y[order]


def single_features():
    """Rows with one feature each: there a covariance is its diagonal."""
    rng = np.random.default_rng(5)
    X, side = np.zeros((300, 6)), rng.normal(size=300)
    where = rng.integers(0, 6, 300)
    X[np.arange(300), where] = rng.normal(size=300)
    return X, (X @ [1, -1, 2, 0.5, -2, 1] + 0.3 * side > 0).astype(int)


@pytest.mark.parametrize(
    ("ours", "theirs", "options", "rows"),
    [
        (AROW(0.5, margin_tol=0.0), "AROW", {"r": 0.5}, stream),
        (SCW(0.8, C=0.2, margin_tol=0.0), "SCW", {"eta": 0.8, "C": 0.2}, single_features),
        (SCW(0.8, C=0.2, margin_tol=0.0, covariance="diagonal"), "SCW", {"eta": 0.8, "C": 0.2}, single_features),
    ],
    ids=["AROW", "SCW", "SCW-diagonal"],
)
def test_an_independent_implementation_on_the_same_stream(ours, theirs, options, rows):
    """olpy, after LIBOL. Its SCW takes the variance from the diagonal of a full covariance, so that it is the paper's
    where rows have one feature; its SCW-II and second-order Perceptron are not those of the papers."""
    models = pytest.importorskip("olpy.classifiers", reason="pip install olpy")
    X, y = rows()
    model = getattr(models, theirs)(**options)
    model.weights = np.zeros(X.shape[1])
    model._setup(X)
    for x, label in zip(X, 2 * y - 1, strict=True):
        model._update(x, label)
    ours.set_params(**STREAM).fit(X, y)
    assert ours.n_updates_ > 50
    np.testing.assert_allclose(ours.coef_[0], model.weights, atol=1e-10 * np.abs(model.weights).max())


def nearest_distribution(mean, S, y, loss, penalty):
    """argmin KL(N(m, L L^t) | N(mean, S)) + penalty(slack, v), slack >= max(0, loss(m.y, v)): what the rules solve."""
    d, inverse = len(y), np.linalg.inv(S)
    lower = np.tril_indices(d)

    def parts(z):
        L = np.zeros((d, d))
        L[lower] = z[d:-1]
        return z[:d], L @ L.T, z[-1]

    def goal(z):
        m, C, slack = parts(z)
        entropy = np.trace(inverse @ C) - np.linalg.slogdet(C)[1] + (m - mean) @ inverse @ (m - mean)
        return 0.5 * entropy + penalty(slack, y @ C @ y)

    def room(z):
        m, C, slack = parts(z)
        return slack - loss(m @ y, y @ C @ y)

    start = np.concatenate([mean, np.linalg.cholesky(S)[lower], [max(0.0, loss(mean @ y, y @ S @ y))]])
    limits = [(None, None)] * (len(start) - 1) + [(0, None)]
    constraint = {"type": "ineq", "fun": room}
    solved = minimize(goal, start, bounds=limits, constraints=constraint, options={"ftol": 1e-14, "maxiter": 500})
    return parts(solved.x)[:2]


PHI = 1.2815515655446004  # of the confidence 0.9
DEFINED = {
    "AROW": (AROW(0.6, margin_tol=0.0), lambda m, v: 1 - m, lambda slack, v: (slack**2 + v) / (2 * 0.6)),
    "SCW-I": (SCW(0.9, C=0.3, margin_tol=0.0), lambda m, v: PHI * np.sqrt(v) - m, lambda slack, v: 0.3 * slack),
    "SCW-II": (SCW(0.9, 0.3, "II", margin_tol=0.0), lambda m, v: PHI * np.sqrt(v) - m, lambda slack, v: 0.3 * slack**2),
}


@pytest.mark.parametrize("name", DEFINED)
def test_each_step_solves_the_problem_that_defines_it(name):
    """The papers derive their formulas from a minimum: here it is found numerically, row after row."""
    model, loss, penalty = DEFINED[name]
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(5, 2)), np.array([1, 0, 0, 1, 1])
    mean, S = np.zeros(2), np.eye(2)
    for k in range(len(X)):
        pattern = (2 * y[k] - 1) * X[k]
        if loss(mean @ pattern, pattern @ S @ pattern) > 0:
            mean, S = nearest_distribution(mean, S, pattern, loss, penalty)
        if k:  # two classes at least
            model.set_params(**STREAM).fit(X[: k + 1], y[: k + 1])
            np.testing.assert_allclose(model.coef_[0], mean, atol=2e-5)


@many
@given(data(separable=True), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_theorem_of_the_second_order_perceptron(Xy, ridge):
    X, y = Xy
    Y = oracle.patterns(X, y)
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 0.02 * oracle.radius(Y))
    model = SecondOrderPerceptron(ridge, max_iter=3000).fit(X, y)
    assert model.converged_
    theory = model.certificate_.theory
    assert theory.theorem == "second-order Perceptron"
    bound = bounds.second_order_perceptron(oracle.radius(Y), gamma, ridge, Y.shape[1])
    assert model.n_updates_ <= bound * (1 + 1e-6)


@many
@given(data(separable=True), st.sampled_from([0.1, 1.0]))
def test_the_theorem_of_arow(Xy, r):
    X, y = Xy
    Y = oracle.patterns(X, y)
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 0.02 * oracle.radius(Y))
    assert_theorem_of_arow(Y, w / (Y @ w).min(), oracle_confidence.arow(Y, r, max_iter=3), r)


def assert_theorem_of_arow(Y, u, run, r):
    """Mistakes within the bound, for a vector u without loss."""
    before = np.vstack([np.zeros(Y.shape[1]), run.path[:-1]])
    shown = np.vstack([Y] * (len(run.path) // len(Y)))
    margins = np.sum(before * shown, axis=1)
    corrected = shown[np.any(np.array(run.path) != before, axis=1)]
    mistakes = np.count_nonzero(margins <= 0)
    size2 = r * (u @ u) + np.sum((corrected @ u) ** 2)
    log_det = np.linalg.slogdet(np.eye(Y.shape[1]) + corrected.T @ corrected / r)[1]
    assert mistakes <= bounds.arow(size2, log_det, len(corrected) - mistakes) * (1 + 1e-9) + 1e-9


def test_a_broken_arow_breaks_its_theorem():
    """Steps of a tenth: it goes on making mistakes where the theorem allows no more."""
    rng = np.random.default_rng(0)
    Y = oracle.patterns(*margin_6d())
    w = oracle.max_margin(Y)[1]

    def timid(a, y, t, c):
        return a + 1e-4 * rng.normal(size=a.shape) if a @ y <= 0 else None

    run = oracle.cycle(Y, timid, max_iter=20)
    with pytest.raises(AssertionError):
        assert_theorem_of_arow(Y, w / (Y @ w).min(), run, 1.0)


@pytest.mark.parametrize("p", [2.0, 3.0, 8.0])
def test_the_theorem_of_the_p_norm_perceptron(p):
    """For every u, so for a good one: the maximum margin among |u|_q = 1 is at least that of w/|w|_q."""
    q = p / (p - 1)
    rng = np.random.default_rng(1)
    for _ in range(20):
        X = rng.normal(size=(40, 5))
        y = X[:, 0] + 0.2 * X[:, 1] > 0
        X[:, 0] += np.where(y, 0.2, -0.2)
        Y = oracle.patterns(X, y)
        w = oracle.max_margin(Y)[1]
        margin = (Y @ w).min() / np.linalg.norm(w, q)
        model = PNormPerceptron(p, max_iter=5000).fit(X, y)
        assert model.converged_
        bound = bounds.p_norm(np.linalg.norm(Y, p, axis=1).max(), margin, p)
        assert model.n_updates_ <= bound
    assert PNormPerceptron(2.0).fit(X, y).n_updates_ == Perceptron().fit(X, y).n_updates_


def test_the_theorem_of_pegasos():
    """The mean loss over the visits, against that of the zero vector and of many others."""
    X, y = overlapping()
    Y = oracle.patterns(X, y)
    penalty, epochs = 0.1, 20
    path = oracle.hinge_descent(Y, penalty, lambda k: 1 / (penalty * k), max_iter=epochs).path
    before, shown = np.vstack([np.zeros(3), path[:-1]]), np.vstack([Y] * epochs)

    def loss(a):
        return np.mean(0.5 * penalty * np.sum(a * a, axis=-1) + np.maximum(0, 1 - np.sum(a * shown, axis=-1)))

    others = [np.zeros(3), *np.random.default_rng(0).normal(size=(200, 3))]
    best = min(loss(u) for u in others)
    assert loss(before) <= best + bounds.pegasos(oracle.radius(Y), penalty, len(path))
    assert bounds.pegasos(1.0, 0.3, 100) == np.inf


def test_more_features_than_a_covariance_can_have():
    X = sp.csr_matrix((np.ones(40), (np.arange(40), np.arange(40) * 1000)), shape=(40, 40_000))
    y = np.arange(40) % 2
    for model in (AROW(), SCW(), SecondOrderPerceptron()):
        assert model.fit(X, y).score(X, y) == 1.0
        with pytest.raises(DataError, match='covariance="diagonal"'):
            model.set_params(covariance="full").fit(X, y)


def test_a_covariance_survives_features_in_the_millions():
    """The inverse would lose all of its digits; the triangle does not."""
    X, y = stream()
    models = [SecondOrderPerceptron(1e-3, max_iter=5), AROW(1e-3), SCW()]
    for model in models:
        assert model.fit(1e7 * X, y).score(1e7 * X, y) > 0.95
    scaled = SecondOrderPerceptron(1e-3 * 1e14, max_iter=5, intercept_scaling=1e7).fit(1e7 * X, y)
    plain = SecondOrderPerceptron(1e-3, max_iter=5).fit(X, y)
    np.testing.assert_allclose(vector(scaled) * 1e7, vector(plain), rtol=1e-6, atol=1e-8)


def test_kernel_pegasos_is_pegasos():
    X, y = overlapping()
    plain = Pegasos(0.1, shuffle=False, max_iter=20).fit(X, y)
    dual = KernelPerceptron(Pegasos(0.1), kernel="linear", shuffle=False, max_iter=20).fit(X, y)
    np.testing.assert_allclose(dual.decision_function(X), plain.decision_function(X), rtol=1e-9)
