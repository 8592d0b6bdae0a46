"""Example 1, computer exercise 10, problems 13, 25 and 32: squared error, and where it does not separate."""

from functools import partial
from typing import Any

import numpy as np

from separatrix.certificates.separability import separability
from separatrix.estimators.ho_kashyap_classifier import HoKashyap
from separatrix.estimators.least_squares_classifier import LeastSquares
from separatrix.estimators.perceptrons import Perceptron
from separatrix.plots.static.style import COLOURS
from separatrix.reproductions.dhs.data import patterns
from separatrix.reproductions.outcome import Check, Figure, Report
from separatrix.reproductions.plane import boundary, points, window


def errors(model: Any, X: np.ndarray, y: np.ndarray) -> int:
    """Points that are not on their side of the hyperplane."""
    return int(np.count_nonzero(y * model.decision_function(X) <= 0))


def example_1(report: Report) -> None:
    """a = (11/3, -4/3, -2/3) by the pseudoinverse."""
    report.head("Example 1: a linear classifier by the pseudoinverse")
    X, y = np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]]), np.array([1, 1, -1, -1])
    model = LeastSquares().fit(X, y)
    thirds = 3.0 * np.append(model.intercept_, model.coef_[0])
    here = ", ".join(f"{v:.0f}/3" if abs(v - round(v)) < 1e-9 else f"{v / 3:.6g}" for v in thirds)
    report.checks.append(Check("example 1, a", "11/3, -4/3, -2/3", here))
    wrong = errors(model, X, y)
    report.say(
        f"With b = 1: a = ({here}), which {'separates the four points' if wrong == 0 else f'gets {wrong} of 4 wrong'}."
    )


def exercise_10(report: Report) -> None:
    """A separable set that the squared error does not separate."""
    report.head("Exercise 10: the LMS rule need not give a separating vector")
    X, y = symmetric_points(np.array([14.0, 12.0]))
    lms = LeastSquares().fit(X, y)
    perceptron = Perceptron(until="separated", shuffle=False).fit(X, y)
    wrong = errors(lms, X, y)
    near = [0, 1, 3, 4]
    without = errors(LeastSquares().fit(X[near], y[near]), X[near], y[near])
    report.say(
        f"The points of problem 32 with y = (14, 12): {separability(X, y)} Of these {len(y)} points the vector that "
        f"the LMS rule tends to gets {wrong} wrong. Fitted without (14, 12) and (-14, -12) it gets {without} of the "
        f"other 4 wrong. The Perceptron ends after {perceptron.n_updates_} updates with {errors(perceptron, X, y)} "
        "wrong."
    )
    report.claims("exercise 10: separable, and LMS errs", wrong > 0 and bool(perceptron.certificate_.separable))
    report.parts.append(
        Figure("dhs-10", "Exercise 10: separable points that the squared error does not separate.",
               partial(_draw, X=X, y=y, lms=lms, perceptron=perceptron), (5.2, 4.4))
    )  # fmt: skip


def _draw(figure: Any, X: np.ndarray, y: np.ndarray, lms: Any, perceptron: Any) -> None:
    axes = figure.subplots()
    points(axes, X, y, size=40)
    for k, (name, model) in enumerate((("least squares", lms), ("Perceptron", perceptron))):
        boundary(axes, model.coef_[0], float(model.intercept_[0]), color=COLOURS[k], label=name)
    window(axes, X)
    axes.legend(frameon=False, loc="upper left")


def problem_13(report: Report) -> None:
    """The Hessian of J_s, and the optimal learning rate."""
    report.head("Problem 13: the Hessian of J_s and the optimal learning rate")
    X = np.array([[1.0, 5.0], [2.0, 9.0], [-5.0, -3.0], [2.0, -3.0], [-1.0, -4.0], [0.0, 2.0]])
    Y = patterns(X, np.repeat([1, -1], 3))
    H = 2.0 * Y.T @ Y
    slope = 2.0 * Y.T @ (-np.ones(6))
    eta = float(slope @ slope / (slope @ H @ slope))
    matrix = "; ".join(" ".join(f"{v:g}" for v in row) for row in H)
    report.say(
        f"(a) H = 2 Y^t Y = [{matrix}], whatever a and b. (b) By eq. 14 the optimal rate from a = 0 is "
        f"|grad J|^2 / (grad J . H grad J) = {eta:.6g}, whatever b; a constant rate has to stay below 2/lambda_max = "
        f"{2 / np.linalg.eigvalsh(H)[-1]:.6g}."
    )


def problem_25(report: Report) -> None:
    """Six points that are not separable, and the optimal rate of eq. 95."""
    report.head("Problem 25: six points, and the optimal rate of eq. 95")
    X = np.array([[1.0, 2.0], [2.0, -4.0], [-3.0, -1.0], [2.0, 4.0], [-1.0, -5.0], [5.0, 0.0]])
    y = np.repeat([1, -1], 3)
    answer, model = separability(X, y), HoKashyap().fit(X, y)
    Y = patterns(X, y)
    pulled = Y.T @ np.ones(6)
    eta = float(pulled @ pulled / np.sum((Y @ pulled) ** 2))
    report.say(
        f"(a) {answer} Ho-Kashyap says after {model.n_updates_} steps: {model.outcome_}. (b) With R = I, from "
        f"a(1) = 0 and b(1) = 1, so that |e| = 1, eq. 95 (85 is a misprint) gives eta = {eta:.6g}."
    )
    report.claims("problem 25: not separable", answer.separable is False and model.outcome_ == "not separable")


def symmetric_points(y3: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Problem 32: (1, 2), (2, -4) and y3 against their negatives."""
    half = np.vstack([[1.0, 2.0], [2.0, -4.0], y3])
    return np.vstack([half, -half]), np.repeat([1, -1], 3)


def problem_32(report: Report) -> None:
    """When LMS fails on points that are symmetric about the origin."""
    report.head("Problem 32: when LMS does not separate symmetric points")
    rng = np.random.default_rng(32)
    agreed, failures, tries = 0, 0, 300
    basis = np.array([[1.0, 2.0], [2.0, -4.0]])
    for _ in range(tries):
        p, q = rng.uniform(-6, 12, 2)
        X, y = symmetric_points(p * basis[0] + q * basis[1])
        model = LeastSquares().fit(X, y)
        errs = errors(model, X, y) > 0
        predicted = min(1 + q * q + p - p * q, 1 + p * p + q - p * q, p * p + q * q + p + q) <= 0
        agreed += errs == predicted and abs(model.intercept_[0]) < 1e-9
        failures += errs and not (p <= 0 and q <= 0)
    report.say(
        "(a) The points are symmetric, so the normal equations have no bias. (b), (c) Write y_3 = p y_1 + q y_2. The "
        "LMS solution has a.y_1 <= 0 exactly if 1 + q^2 + p - p q <= 0, a.y_2 <= 0 if 1 + p^2 + q - p q <= 0, and "
        "a.y_3 <= 0 if p^2 + q^2 + p + q <= 0; whenever one of them holds it does not separate, although the points "
        f"are separable unless p <= 0 and q <= 0. The condition and the fit agree on {agreed} of {tries} random y_3, "
        f"of which {failures} make points that are separable and not separated."
    )
    report.claims("problem 32: the condition and the fit agree", agreed == tries and failures > 0)
