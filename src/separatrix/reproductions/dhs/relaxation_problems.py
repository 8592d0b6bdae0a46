"""Computer exercises 7 and 8: relaxation, in batches and one pattern after the other, and recursive least squares."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix.certificates.separability import separability
from separatrix.estimators.aggressive_rules import Relaxation
from separatrix.estimators.gradient_descent import BatchRelaxation
from separatrix.estimators.least_squares_classifier import LeastSquares
from separatrix.estimators.online_least_squares import RecursiveLeastSquares
from separatrix.plots.static.style import COLOURS
from separatrix.reproductions.dhs.data import pair, patterns
from separatrix.reproductions.outcome import Figure, Report

PASSES = 40


def exercise_7(report: Report) -> None:
    """J_r against the number of passes, b = 0.1 and 0.5, batch and single-sample."""
    report.head("Exercise 7: relaxation with margin, categories 1 and 3")
    X, y = pair(1, 3)
    Y = patterns(X, y)
    limit = 2.0 / float(np.linalg.eigvalsh((Y / (Y**2).sum(axis=1)[:, None]).T @ Y)[-1])
    curves = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for b in (0.1, 0.5):
            batch = BatchRelaxation(b, margin_tol=0.0, max_iter=PASSES).fit(X, y)
            curves["batch", b] = list(batch.criterion_values_)
            curves["single-sample", b] = [_criterion(Y, np.zeros(3), b)]
            for k in range(1, PASSES):
                model = Relaxation(b, margin_tol=0.0, shuffle=False, until="separated", max_iter=k).fit(X, y)
                curves["single-sample", b].append(_criterion(Y, np.append(model.intercept_, model.coef_[0]), b))
    scaled = np.array(curves["batch", 0.5]) / np.array(curves["batch", 0.1])
    same = bool(np.allclose(scaled, 25.0))
    last = {name: curves[name, 0.5][-1] / curves[name, 0.5][0] for name in ("batch", "single-sample")}
    swing = max(curves["single-sample", 0.5][-10:]) / min(curves["single-sample", 0.5][-10:])
    cycle = "and every cycle repeats the last one" if swing < 1.001 else f"still varying by a factor {swing:.2f}"
    report.say(
        f"(a), (b) From a(1) = 0 the margin {'only sets' if same else 'does NOT only set'} the scale: over all passes "
        f"J_r with b = 0.5 is {scaled.min():.6g} to {scaled.max():.6g} times that with b = 0.1, and 5^2 = 25. (c), "
        "(d) The batch algorithm with "
        f"eta = {limit / 2:.4g}, half of its limit 2/lambda_max = {limit:.4g}, is at "
        f"{100 * last['batch']:.3g}% of the first J_r after {PASSES - 1} passes. Single-sample relaxation may use "
        f"eta = 1; after as many passes it stands at {100 * last['single-sample']:.3g}% of the first J_r, {cycle}. "
        f"{separability(X, y)}"
    )
    report.claims("exercise 7: b only sets the scale from a(1) = 0", same)
    report.data["exercise 7"] = {f"{name}, b = {b:g}": values for (name, b), values in curves.items()}
    report.parts.append(
        Figure(
            "dhs-7", "Exercise 7: the relaxation criterion against the number of passes.", partial(_draw, curves=curves)
        )
    )


def _criterion(Y: np.ndarray, a: np.ndarray, b: float) -> float:
    m = Y @ a
    return float(0.5 * np.sum(np.where(m <= b, (m - b) ** 2, 0.0) / (Y**2).sum(axis=1)))


def _draw(figure: Any, curves: dict[tuple[str, float], list[float]]) -> None:
    axes = figure.subplots()
    for (name, b), values in curves.items():
        style = "-" if name == "batch" else "--"
        axes.plot(values, style, color=COLOURS[0 if b == 0.1 else 3], label=f"{name}, b = {b:g}")
    axes.set(xlabel="passes", ylabel="$J_r$", yscale="log")
    axes.legend(frameon=False)


def exercise_8(report: Report) -> None:
    """Recursive least squares on 2/3."""
    report.head("Exercise 8: the recursive rule with R (eqs. 71-73), categories 2 and 3")
    X, y = pair(2, 3)
    recursive = RecursiveLeastSquares(ridge=1e-8, shuffle=False).fit(X, y)
    direct = LeastSquares().fit(X, y)
    gap = float(np.abs(np.append(recursive.coef_ - direct.coef_, recursive.intercept_ - direct.intercept_)).max())
    errors = int(np.count_nonzero(recursive.predict(X) != y))
    report.say(
        "One pass of the single-sample rule whose R is updated by the recursion, R(1) = 10^8 I, gives the "
        f"least-squares solution up to {gap:.1e}. It gets {errors} of the {len(y)} points wrong. {separability(X, y)}"
    )
    report.claims("exercise 8: the recursion gives the least-squares solution", gap < 1e-6)
