"""The algorithms of the book as their listings print them, where the estimators follow the equations."""

import re
from pathlib import Path

import numpy as np
import pytest
from sources.naive import as_printed, begin, close, labels, machine, patterns, problem, vector

from separatrix import BalancedWinnow, GradientDescent, Perceptron, PerceptronLike, Relaxation

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "symbols.md"

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.skipif(not PAGE.exists(), reason="the pages are not part of an installed package"),
]


@pytest.fixture(scope="module")
def rules():
    """The rules that the page defines."""
    names = {"__name__": "symbols"}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S):
        if ">>>" not in code:
            exec(compile(code, str(PAGE), "exec"), names)
    return names


def start_of(seed, width, given):
    return np.random.default_rng(70 + seed).normal(size=width) if given else np.zeros(width)


@pytest.mark.parametrize("most", [1, 2, 4, 30])
@pytest.mark.parametrize("power", [0.0, -0.5, -1.0])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_algorithm_9_with_rates(rules, seed, given, power, most):
    X, y = problem(seed)
    Y, b = patterns(X, y), 0.5
    start, k = start_of(seed, Y.shape[1], given), 0
    a = start.copy()
    for i in range(100 * len(Y)):
        q = Y[i % len(Y)]
        if a @ q <= b:
            k += 1
            a = a + 1.5 * k**power * (b - a @ q) / (q @ q) * q
            if k == most:
                break
    rule = rules["DecreasingRelaxation"](b, 1.5, power)
    model = as_printed(PerceptronLike, rule, max_iter=100, max_updates=most).fit(
        X, y, **begin(start if given else None)
    )
    assert model.n_updates_ == k
    close(a, vector(model))
    if power == 0.0:
        same = as_printed(Relaxation, b, 1.5, 0.0, max_iter=100, max_updates=most)
        close(vector(same.fit(X, y, **begin(start if given else None))), vector(model))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_algorithm_5_counting_presentations(rules, seed):
    X, y = problem(seed)
    Y, b = patterns(X, y), 0.5
    a, k, corrections, clean = np.zeros(Y.shape[1]), 0, 0, 0
    while clean < len(Y):
        q = Y[k % len(Y)]
        k, clean = k + 1, clean + 1
        if a @ q <= b:
            a, corrections, clean = a + q / k, corrections + 1, 0
    model = as_printed(PerceptronLike, rules["CountedPresentations"](b, 1.0), max_iter=5000).fit(X, y)
    assert model.converged_
    assert model.n_updates_ == corrections
    close(a, vector(model))
    assert as_printed(Perceptron, b, "1/k", max_iter=5000).fit(X, y).n_updates_ != corrections


@pytest.mark.parametrize("theta", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_algorithm_10_ends_with_a_short_step(rules, seed, theta):
    X, y = problem(seed, separable=False)
    Y, k, a = patterns(X, y), 1, np.zeros(X.shape[1] + 1)
    while True:
        q = Y[(k - 1) % len(Y)]
        step = 0.3 / k * (1.0 - a @ q) * q
        if np.linalg.norm(step) < theta:
            break
        k, a = k + 1, a + step
    model = as_printed(PerceptronLike, rules["PrintedLms"](0.3, theta)).fit(X, y)
    assert model.converged_
    assert model.n_updates_ == k - 1
    close(a, vector(model))


def slope_and_bends(criterion, Y, a):
    m = Y @ a
    c = 1.0 / np.sum(Y**2, axis=1) if criterion == "relaxation" else np.full(len(Y), 2.0)
    c = c if criterion == "squared-error" else np.where(m <= 1.0, c, 0.0)
    return Y.T @ (c * (m - 1.0)), (Y.T * c) @ Y


@pytest.mark.parametrize("method", ["gradient", "undamped-newton"])
@pytest.mark.parametrize("criterion", ["quadratic", "relaxation", "squared-error"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_algorithms_1_and_2_as_printed(seed, criterion, method):
    X, y = problem(seed, separable=False)
    Y, theta, step, steps = patterns(X, y), 0.02, np.inf, 0
    whole = method == "undamped-newton" and criterion != "squared-error"
    limit = 3 if whole else 40  # a whole step may end with a.y = 1, where rounding decides which piece is next
    a = np.zeros(Y.shape[1])
    while np.linalg.norm(step) >= theta and steps < limit:
        steps += 1
        slope, bends = slope_and_bends(criterion, Y, a)
        step = -0.01 * slope if method == "gradient" else -np.linalg.lstsq(bends, slope, rcond=1e-12)[0]
        a = a + step
    rate = {"eta": 0.01} if method == "gradient" else {}
    model = GradientDescent(criterion, method=method, theta=theta, step_tol=0.0, max_iter=limit, **rate).fit(X, y)
    assert model.n_updates_ == steps
    assert model.converged_ == (np.linalg.norm(step) < theta)
    close(a, vector(model), 1e-7)


CYCLES = {  # drawn: length of the cycle, rows; the labels alternate
    "quadratic": (4, "-4 -1 2, 0 -6 3, 0 -5 5, 0 -4 6, -2 1 1, -1 -1 -1, -1 5 6, 6 -3 0, -1 6 4"),
    "relaxation": (3, "4 6 4, -6 0 -1, 4 -3 -6, 5 4 2, -6 -6 -1, -1 2 -1, 5 -2 -5, -4 2 -4"),
}


@pytest.mark.parametrize("criterion", CYCLES)
def test_newton_without_halving_repeats_its_vectors(criterion):
    length, rows = CYCLES[criterion]
    X = np.array([row.split() for row in rows.split(", ")], dtype=float)
    y = np.arange(len(X)) % 2
    whole = [GradientDescent(criterion, method="undamped-newton", max_iter=k).fit(X, y) for k in (40, 41, 40 + length)]
    assert not whole[0].converged_
    close(vector(whole[0]), vector(whole[2]), 1e-6)
    assert np.linalg.norm(vector(whole[0]) - vector(whole[1])) > 0.01
    assert GradientDescent(criterion, method="newton").fit(X, y).converged_


@pytest.mark.parametrize("most", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("alpha", [1.05, 1.5])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_winnow_with_a_vector_for_each_class(seed, alpha, most):
    """A mistake on one class corrects a+, on the other a-: the text above algorithm 7."""
    X, y = problem(seed)
    Z, signs, clean, k = np.column_stack([X, np.ones(len(X))]), labels(y), 0, 0
    plus, minus = np.ones(Z.shape[1]), np.ones(Z.shape[1])
    i = 0
    while clean < len(Z) and k < most:
        z, sign = Z[i % len(Z)], signs[i % len(Z)]
        i, clean = i + 1, clean + 1
        if sign * (plus - minus) @ z <= 0:
            k, clean = k + 1, 0
            if sign > 0:
                plus = plus * alpha**z
            else:
                minus = minus * alpha**z
    model = as_printed(BalancedWinnow, alpha, corrects="own", max_updates=most).fit(X, y)
    assert model.n_updates_ == k
    close((plus - minus) / np.linalg.norm(plus - minus), vector(model) / np.linalg.norm(vector(model)))
    close(np.log(plus / minus) / 2.0, model.log_weights_[0])
    assert model.certificate_.verify(X, y)


def test_winnow_with_a_vector_for_each_class_needs_a_number():
    X, y = problem(0)
    with pytest.raises(ValueError, match="no automatic alpha"):
        BalancedWinnow(corrects="own").fit(X, y)
    fitted = as_printed(BalancedWinnow, 5.0, corrects="own").fit(1000.0 * X, y)  # exponents of thousands
    assert np.all(np.isfinite(fitted.coef_))
    assert np.any(fitted.coef_)


@pytest.mark.parametrize("most", [1, 3, 10, None])
@pytest.mark.parametrize("rivals", ["strongest", "all"])
def test_a_machine_from_a_given_start(rivals, most):
    """Eq. 115; its vectors are those of the fit and the mean of the start."""
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(3), 10)
    X = (rng.normal(size=(30, 2)) + 6.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]).round(2)
    Z, start = np.column_stack([X, np.ones(30)]), rng.normal(size=(3, 3)).round(2)
    A, k, clean, i = start.copy(), 0, 0, 0
    while clean < 30 and k != most:
        z, own = Z[i % 30], y[i % 30]
        i, clean = i + 1, clean + 1
        others = [j for j in range(3) if j != own]
        for j in others if rivals == "all" else [others[int(np.argmax((A @ z)[others]))]]:
            if A[own] @ z <= A[j] @ z and k != most:
                A[own], A[j], k, clean = A[own] + z, A[j] - z, k + 1, 0
    model = as_printed(Perceptron, multi_class="joint", joint_update=rivals, max_iter=10_000, max_updates=most)
    model.fit(X, y, **begin(start))
    assert model.n_updates_ == k
    close(A, machine(model) + start.mean(axis=0))
