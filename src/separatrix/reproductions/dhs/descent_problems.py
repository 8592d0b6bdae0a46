"""Computer exercise 1: gradient descent and Newton's algorithm on categories 1 and 3."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix.estimators.gradient_descent import GradientDescent
from separatrix.plots.static.style import COLOURS
from separatrix.reproductions.dhs.data import pair, patterns
from separatrix.reproductions.outcome import Figure, Report, Table


def exercise_1(report: Report) -> None:
    """Criterion against iteration, operations, and the learning rate at which descent fails."""
    report.head("Exercise 1: gradient descent and Newton's algorithm, categories 1 and 3")
    X, y = pair(1, 3)
    Y = patterns(X, y)
    n, d = Y.shape
    largest = 2.0 / float(np.linalg.eigvalsh(2.0 * Y.T @ Y)[-1])
    newton = GradientDescent("squared-error", method="newton", step_tol=1e-6).fit(X, y)
    slow = GradientDescent("squared-error", eta=0.5 * largest, step_tol=1e-6, max_iter=5000).fit(X, y)
    optimal = GradientDescent("squared-error", method="optimal-step", step_tol=1e-6, max_iter=5000).fit(X, y)
    book = _quiet("relaxation", 0.1, X, y, 300)
    given = _quiet("squared-error", 0.1, X, y, 8)
    best = float(newton.criterion_values_[-1])
    report.say(
        "The book leaves the criterion open; the data are two-dimensional, three with the bias. With the squared error "
        f"J_s the rate 0.1 {'diverges' if given[-1] > given[0] else 'descends'}: J goes from {given[0]:.3g} to "
        f"{given[-1]:.3g} in {len(given) - 1} steps. With the relaxation criterion J_r (b = 1) the same rate goes from "
        f"{book[0]:.4g} to {book[-1]:.4g} in {len(book) - 1} steps. "
        + newton_in_words(np.asarray(newton.criterion_values_), newton.n_updates_)
    )
    per_gradient, per_newton = 4 * n * d, 4 * n * d + n * d * d + d**3 // 3
    report.parts.append(
        Table(
            "(b) Work to reach a relative step of 1e-6 on J_s",
            ["algorithm", "iterations", "operations in one", "operations in all"],
            [
                [name, str(model.n_updates_), str(one), f"{model.n_updates_ * one:,}"]
                for name, model, one in (
                    ("gradient, half of the largest rate", slow, per_gradient),
                    ("gradient, optimal step (eq. 14)", optimal, per_gradient + 2 * n * d),
                    ("Newton", newton, per_newton),
                )
            ],
        )
    )
    rates = largest * np.array([0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99])
    times = [
        GradientDescent("squared-error", eta=r, step_tol=1e-6, max_iter=20_000).fit(X, y).n_updates_ for r in rates
    ]
    below = _quiet("squared-error", 0.999 * largest, X, y, 4000)
    above = _quiet("squared-error", 1.001 * largest, X, y, 4000)
    report.say(
        "(c) In theory the smallest learning rate that fails is 2/lambda_max of the Hessian 2 Y^t Y = "
        f"{largest:.6g}. 0.999 of it {course(below)}; 1.001 of it {course(above)}."
    )
    report.claims("exercise 1: descent fails from 2/lambda_max on", climbs(above) and not climbs(below))
    report.data["exercise 1"] = {"largest rate": largest, "minimum": best, "rates": rates.tolist(), "times": times}
    report.parts.append(
        Figure(
            "dhs-1",
            "Exercise 1: the criterion against the iteration, and the time to converge against the rate; the dashed "
            "line is 2/lambda_max.",
            partial(
                _draw,
                slow=slow.criterion_values_,
                newton=newton.criterion_values_,
                optimal=optimal.criterion_values_,
                rates=rates,
                times=times,
                largest=largest,
            ),
            (7.2, 3.6),
        )
    )


def newton_in_words(values: np.ndarray, steps: int) -> str:
    """After how many of its steps Newton's J is at its last value; ``values`` are those before each step."""
    needed = int(np.argmax(values <= values[-1] * (1 + 1e-9)))
    return (
        f"Newton has its lowest J_s, {values[-1]:.6g}, after {needed} step{'s' * (needed != 1)}; the table counts "
        f"{steps}, until a step is no longer than 1e-6 of |a|."
    )


def climbs(values: np.ndarray) -> bool:
    """Whether the criterion ends higher than it was in the middle of the descent."""
    return bool(values[-1] > values[len(values) // 2])


def course(values: np.ndarray) -> str:
    half, whole = len(values) // 2, len(values) - 1
    verb = "climbs" if climbs(values) else "descends"
    return f"{verb} (J_s is {values[half]:.6g} after {half} steps, {values[whole]:.6g} after {whole})"


def _quiet(criterion: str, eta: float, X: np.ndarray, y: np.ndarray, epochs: int) -> np.ndarray:
    """The criterion along a descent that need not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GradientDescent(criterion, eta=eta, step_tol=0.0, max_iter=epochs).fit(X, y).criterion_values_


def _draw(figure: Any, slow: Any, newton: Any, optimal: Any, rates: Any, times: Any, largest: float) -> None:
    left, right = figure.subplots(1, 2)
    for k, (name, values) in enumerate((("gradient", slow), ("optimal step", optimal), ("Newton", newton))):
        left.plot(values[:60], color=COLOURS[k], marker="o", markersize=2.5, label=name)
    left.set(xlabel="iteration", ylabel="$J_s$", title="Criterion")
    left.legend(frameon=False)
    right.plot(rates, times, color=COLOURS[0], marker="o")
    right.axvline(largest, color="black", linestyle="--", linewidth=1)
    right.set(xlabel="learning rate", ylabel="iterations", yscale="log", title="Time to converge")
    right.set_yticks([300, 1000, 3000], ["300", "1000", "3000"], minor=False)
    right.minorticks_off()
    right.ticklabel_format(axis="x", style="sci", scilimits=(0, 0))
