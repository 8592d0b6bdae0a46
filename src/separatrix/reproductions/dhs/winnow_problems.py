"""Computer exercise 6: balanced Winnow against the Perceptron where most features are redundant."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix.estimators.multiplicative import BalancedWinnow
from separatrix.estimators.perceptrons import Perceptron
from separatrix.plots.static.style import COLOURS
from separatrix.reproductions.outcome import Figure, Report, Table

DIMENSIONS = (10, 50, 100)
ALPHAS = (1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0)
SETS = 5  # generated sets over which updates are averaged
HOW: dict[str, Any] = {"until": "separated", "fit_intercept": False, "random_state": 0, "max_iter": 10_000}


def as_stated(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(a) 2000 patterns: ten features in [1, 2] or [-2, -1], the others in [-2, 2]."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], 1000)
    X = rng.uniform(-2, 2, (2000, 100))
    X[:, :10] = y[:, None] * rng.uniform(1, 2, (2000, 10))
    return X, y


def harder(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """All features in [-2, 2]; the sum of the first ten decides, at least 0.5 away from 0."""
    rng = np.random.default_rng(seed)
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
    """Updates and errors with 10, 50 and 100 features, for every alpha that matches with ten."""
    report.head("Exercise 6: balanced Winnow and the Perceptron with redundant features")
    X, y = as_stated(0)
    obvious = np.r_[np.ones(10), np.zeros(90)]
    report.say(
        "(b) The obvious hyperplane has weight 1 on the ten informative features and 0 on the others: it makes "
        f"{int(np.count_nonzero(np.sign(X @ obvious) != y))} errors."
    )
    for version, generate in (("as stated", as_stated), ("harder", harder)):
        updates = {name: _mean_updates(make, generate) for name, make in _makers().items()}
        goal = updates["Perceptron"][0]
        matching = {name: counts for name, counts in updates.items() if counts[0] <= 1.25 * goal}
        rows = [[name, *(f"{c:,.1f}" for c in counts), f"{counts[-1] / counts[0]:.1f}"]
                for name, counts in matching.items()]  # fmt: skip
        columns = ["mean updates until no error is left", *(f"{d} features" for d in DIMENSIONS), "100 to 10"]
        report.parts.append(Table(f"(c)-(e) {version}, {SETS} generated sets", columns, rows))
        report.data[f"exercise 6, {version}"] = updates
    growth = {name: counts[-1] / counts[0] for name, counts in matching.items()}
    perceptron = growth.pop("Perceptron")
    report.say(
        "(f) As stated the exercise is easy for both: the classes are so far apart that a few updates are enough. In "
        "the harder version all features lie in [-2, 2] and the sum of the first ten decides, at least 0.5 away from "
        f"0. The tables hold every alpha of {', '.join(f'{a:g}' for a in ALPHAS)} with which Winnow needs at most 1.25 "
        "times the updates of the Perceptron with ten features. In the harder version a hundred features take "
        f"{perceptron:.1f} times as many as ten for the Perceptron and {min(growth.values()):.1f} to "
        f"{max(growth.values()):.1f} times as many for Winnow, depending on alpha: the smallest alphas make it nearly "
        "a Perceptron, since 2 sinh(theta ln alpha) is nearly linear there."
    )
    X, y = harder(0)
    shown = ("Perceptron", max(growth, key=lambda name: float(name.rpartition(" ")[2])))
    curves = {(n, d): errors_along(_makers()[n], X[:, :d], y) for n in shown for d in DIMENSIONS}
    report.parts.append(
        Figure("dhs-6", "Exercise 6, harder version, one of the sets: errors on the 2000 patterns against updates, for "
               "the largest alpha of the table.", partial(_draw, curves=curves), (7.2, 3.6))
    )  # fmt: skip


def _makers() -> dict[str, Any]:
    makers: dict[str, Any] = {"Perceptron": partial(Perceptron, **HOW)}
    return makers | {f"Winnow, alpha = {a:g}": partial(BalancedWinnow, a, **HOW) for a in ALPHAS}


def _mean_updates(make: Any, generate: Any) -> list[float]:
    """Updates with 10, 50 and 100 features, averaged; a run that does not end counts with its 10,000."""
    counts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for seed in range(SETS):
            X, y = generate(seed)
            counts.append([make().set_params(max_updates=10_000).fit(X[:, :d], y).n_updates_ for d in DIMENSIONS])
    return np.mean(counts, axis=0).tolist()


def _draw(figure: Any, curves: dict[tuple[str, int], tuple[list[int], list[int]]]) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    for ax, name in zip(panels, dict.fromkeys(n for n, _ in curves), strict=True):
        for k, d in enumerate(DIMENSIONS):
            grid, errors = curves[name, d]
            ax.plot(grid, errors, color=COLOURS[k], label=f"{d} features")
            ax.plot(grid[-1], errors[-1], "o", color=COLOURS[k])
        ax.set(xscale="log", xlabel="updates", title=name)
    panels[0].set_ylabel("errors")
    panels[0].legend(frameon=False)
