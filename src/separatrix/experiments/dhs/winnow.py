"""Computer exercise 6: balanced Winnow against the Perceptron where most features are redundant."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix.estimators.perceptrons import Perceptron
from separatrix.estimators.weighted import BalancedWinnow
from separatrix.experiments.plane import PALETTE
from separatrix.experiments.report import Figure, Report, Table

DIMENSIONS = (10, 50, 100)
HOW: dict[str, Any] = {"fit_intercept": False, "random_state": 0, "max_epochs": 10_000}


def as_stated() -> tuple[np.ndarray, np.ndarray]:
    """(a) 2000 patterns: ten features in [1, 2] or [-2, -1], the others in [-2, 2]."""
    rng = np.random.default_rng(6)
    y = np.repeat([1, -1], 1000)
    X = rng.uniform(-2, 2, (2000, 100))
    X[:, :10] = y[:, None] * rng.uniform(1, 2, (2000, 10))
    return X, y


def harder() -> tuple[np.ndarray, np.ndarray]:
    """All features in [-2, 2]; the sum of the first ten decides, at least 0.5 away from 0."""
    rng = np.random.default_rng(6)
    X = rng.uniform(-2, 2, (4000, 100))
    total = X[:, :10].sum(axis=1)
    far = np.abs(total) > 0.5
    return X[far][:2000], np.where(total[far][:2000] > 0, 1, -1)


def errors_along(make: Any, X: np.ndarray, y: np.ndarray) -> tuple[list[int], list[int]]:
    """Errors on all patterns after 1, 2, 4, ... updates, and at the end."""
    whole = make().fit(X, y)
    grid = sorted({round(1.35**k) for k in range(60) if 1.35**k < whole.n_updates_} | {whole.n_updates_})
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for k in grid:
            model = make().set_params(max_updates=k).fit(X, y)
            errors.append(int(np.count_nonzero(model.predict(X) != y)))
    return grid, errors


def exercise_6(report: Report) -> None:
    """Errors against updates with 10, 50 and 100 features."""
    report.head("Exercise 6: balanced Winnow and the Perceptron with redundant features")
    X, y = as_stated()
    obvious = np.r_[np.ones(10), np.zeros(90)]
    report.say(
        "(b) The obvious hyperplane has weight 1 on the ten informative features and 0 on the others: it makes "
        f"{int(np.count_nonzero(np.sign(X @ obvious) != y))} errors."
    )
    curves = {}
    for version, (X, y) in (("as stated", as_stated()), ("harder", harder())):
        alpha = _matching_alpha(X[:, :10], y)
        makers = {
            "Perceptron": partial(Perceptron, **HOW),
            f"Winnow, alpha = {alpha:g}": partial(BalancedWinnow, alpha, **HOW),
        }
        rows = []
        for name, make in makers.items():
            for d in DIMENSIONS:
                curves[version, name, d] = errors_along(make, X[:, :d], y)
            rows.append([name, *(f"{curves[version, name, d][0][-1]:,}" for d in DIMENSIONS)])
        columns = ["updates until no error is left", *(f"{d} features" for d in DIMENSIONS)]
        report.parts.append(Table(f"(c)-(e) {version}", columns, rows))
        if version == "harder":
            growth = {row[0]: curves[version, row[0], 100][0][-1] / curves[version, row[0], 10][0][-1] for row in rows}
    perceptron, winnow = growth.values()
    better = "gains by it here" if winnow < 0.9 * perceptron else "gains nothing by it here"
    report.say(
        "(f) As stated the exercise is easy for both: the classes are so far apart that a few updates are enough. In "
        "a harder version (all features in [-2, 2], the sum of the first ten decides, at least 0.5 away from 0), with "
        "alpha chosen so that both need about the same with ten features, a hundred features take "
        f"{perceptron:.1f} times as many updates for the Perceptron and {winnow:.1f} times as many for Winnow. Its "
        f"bound grows with the logarithm of the number of features only, the Perceptron's with the number; it {better}."
    )
    report.data["exercise 6"] = {f"{v}, {n}, d = {d}": list(zip(*c, strict=True)) for (v, n, d), c in curves.items()}
    hard = {(n, d): c for (v, n, d), c in curves.items() if v == "harder"}
    report.parts.append(
        Figure("dhs-6", "Exercise 6, harder version: errors on the 2000 patterns against updates.",
               partial(_draw, curves=hard), (7.2, 3.6))
    )  # fmt: skip


def _matching_alpha(X: np.ndarray, y: np.ndarray) -> float:
    """(c) The largest alpha with which Winnow needs about as many updates as the Perceptron.

    The smallest ones always match: 2 sinh(theta ln alpha) is nearly linear in theta, and Winnow is a Perceptron.
    """
    goal = 1.25 * Perceptron(**HOW).fit(X, y).n_updates_
    choices = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        needs = [BalancedWinnow(a, **{**HOW, "max_updates": 10_000}).fit(X, y).n_updates_ for a in choices]
    return max([a for a, needed in zip(choices, needs, strict=True) if needed <= goal], default=choices[0])


def _draw(figure: Any, curves: dict[tuple[str, int], tuple[list[int], list[int]]]) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    for ax, name in zip(panels, dict.fromkeys(n for n, _ in curves), strict=True):
        for k, d in enumerate(DIMENSIONS):
            grid, errors = curves[name, d]
            ax.plot(grid, errors, color=PALETTE[k], label=f"{d} features")
            ax.plot(grid[-1], errors[-1], "o", color=PALETTE[k])
        ax.set(xscale="log", xlabel="updates", title=name)
    panels[0].set_ylabel("errors")
    panels[0].legend(frameon=False)
