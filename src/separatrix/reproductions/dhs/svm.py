"""Computer exercise 11, example 2 and problem 29: the maximum margin; problem 11: the shape of quadratic boundaries."""

from functools import partial
from typing import Any

import numpy as np

from separatrix.estimators.max_margin import MaxMargin
from separatrix.geometry import quadric
from separatrix.reproductions.dhs.data import pair
from separatrix.reproductions.outcome import Check, Figure, Report
from separatrix.reproductions.plane import boundary, points, window


def exercise_11(report: Report) -> None:
    """The maximum margin of categories 3 and 4."""
    report.head("Exercise 11: a support vector machine, categories 3 and 4")
    X, y = pair(3, 4)
    model = MaxMargin(np.inf, fit_intercept="unpenalized", tol=1e-9).fit(X, y)
    augmented = MaxMargin(np.inf, tol=1e-9).fit(X, y)
    where = ", ".join(f"({a:g}, {b:g})" for a, b in X[model.support_])
    report.say(
        f"The maximum margin is {model.geometric_margin_:.6g}, certified to a relative gap of "
        f"{max(model.certificate_.gap, 0.0):.1e}; the support vectors are {where}. Its intercept is not part of the "
        f"norm; the book's augmented machine, whose intercept is, has the margin {augmented.directional_margin_:.5f}."
    )
    report.claims("exercise 11: the certificate holds", bool(model.certificate_.verify(X, y, exact=True)))
    report.parts.append(
        Figure("dhs-11", "Exercise 11: the maximum margin between categories 3 and 4; support vectors are ringed.",
               partial(_draw, X=X, y=y, model=model), (5.2, 4.4))
    )  # fmt: skip


def example_2(report: Report) -> None:
    """XOR in six dimensions."""
    report.head("Example 2: XOR by a support vector machine")
    X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]), np.array([1, -1, 1, -1])
    x1, x2 = X.T
    r = np.sqrt(2.0)
    mapped = np.column_stack([np.ones(4), r * x1, r * x2, r * x1 * x2, x1**2, x2**2])
    model = MaxMargin(np.inf, fit_intercept=False, tol=1e-12).fit(mapped, y)
    alpha = np.abs(model.dual_coef_).ravel()
    w = model.coef_[0]
    on_x1x2 = np.abs(w - np.array([0, 0, 0, w[3], 0, 0])).max() < 1e-9
    report.checks += [
        Check("example 2, multipliers", "1/8 1/8 1/8 1/8", " ".join(f"1/{1 / v:.0f}" if v else "0" for v in alpha)),
        Check("example 2, discriminant", "x1 x2", f"{r * w[3]:.6g} x1 x2".replace("1 x1", "x1") if on_x1x2 else str(w)),
        Check("example 2, margin", f"{r:.6f}", f"{model.geometric_margin_:.6f}"),
    ]
    report.say(
        f"The multipliers are {', '.join(f'{v:.6g}' for v in alpha)}, the discriminant is sqrt(2) {w[3]:.6g} x1 x2, "
        f"the margin {model.geometric_margin_:.6f} (sqrt(2) = {r:.6f})."
    )


def problem_29(report: Report) -> None:
    """Six points whose optimal hyperplane can be seen."""
    report.head("Problem 29: a support vector machine by inspection")
    X = np.array([[1.0, 1.0], [2.0, 2.0], [2.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    y = np.repeat([1, -1], 3)
    model = MaxMargin(np.inf, fit_intercept="unpenalized", tol=1e-12).fit(X, y)
    active = X[np.abs(y * model.decision_function(X) - 1.0) < 1e-6]
    w, b = model.coef_[0], float(model.intercept_[0])
    report.say(
        f"(a) The plane {w[0]:.6g} x1 + {w[1]:.6g} x2 {b:+.6g} = 0 has the margin {model.geometric_margin_:.6f} "
        f"(sqrt(2)/4 = {np.sqrt(2) / 4:.6f}). (b) The active constraints are "
        f"{', '.join(f'({a:g}, {c:g})' for a, c in active)}. (c) The multipliers found are "
        f"{', '.join(f'{abs(v):.4g}' for v in np.ravel(model.dual_coef_))}; {len(active)} constraints are active in "
        f"three unknowns{', so they are not unique' * (len(active) > 3)}."
    )
    report.claims(
        "problem 29: margin sqrt(2)/4, four active constraints",
        abs(model.geometric_margin_ - np.sqrt(2) / 4) < 1e-9 and len(active) == 4,
    )
    report.parts.append(
        Figure("dhs-problem-29", "Problem 29: the optimal hyperplane and its margin.",
               partial(_draw, X=X, y=y, model=model), (4.6, 4.2))
    )  # fmt: skip


def _draw(figure: Any, X: np.ndarray, y: np.ndarray, model: Any) -> None:
    axes = figure.subplots()
    w, b = model.coef_[0], float(model.intercept_[0])
    boundary(axes, w, b)
    for side in (-1.0, 1.0):
        boundary(axes, w, b + side, linestyle="--", linewidth=0.9)
    points(axes, X, y, size=34, zorder=3)
    nearest = X[np.abs(y * model.decision_function(X) - 1.0) < 1e-6]
    axes.scatter(*nearest.T, s=120, facecolors="none", edgecolors="black", linewidths=0.9, zorder=4)
    window(axes, X)


def problem_11(report: Report) -> None:
    """What eigenvalues say of a quadratic boundary."""
    report.head("Problem 11: the character of quadratic boundaries")
    cases = {
        "(d)": ([5.0, 2.0, -3.0], [[1.0, 2.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, -3.0]]),
        "(e)": ([2.0, -1.0, 3.0], [[1.0, 2.0, 3.0], [2.0, 0.0, 4.0], [3.0, 4.0, -5.0]]),
    }
    for part, (w, W) in cases.items():
        surface = quadric(W, w)
        assert surface.scaled is not None
        values = np.linalg.eigvalsh(surface.scaled) / 4.0  # the book divides by w.W^-1 w, not by a quarter of it
        report.say(
            f"{part} With w_0 = 0, which the text leaves open, the eigenvalues of W/(w.W^-1 w) are "
            f"{', '.join(f'{v:.4g}' for v in values)}: a {surface}."
        )
        report.claims(f"problem 11{part}: eigenvalues of both signs", values[0] < 0 < values[-1])
