"""Computer exercises 2-5: the Perceptron, the pocket, the bound k_0, and a mapping that makes data separable."""

import numpy as np

from separatrix import bounds
from separatrix.certificates.separability import separability
from separatrix.estimators.max_margin import MaxMargin
from separatrix.estimators.perceptrons import Perceptron, Pocket
from separatrix.reproductions.dhs.data import category, pair, patterns
from separatrix.reproductions.outcome import Report, Table


def exercise_2(report: Report) -> None:
    """Perceptron on 1/2 and 3/2 from a = 0."""
    report.head("Exercise 2: the Perceptron, categories 1 and 2, then 3 and 2")
    rows, radii, margins, theories = [], [], [], []
    for i, j in ((1, 2), (3, 2)):
        X, y = pair(i, j)
        model = Perceptron(until="separated", shuffle=False).fit(X, y)
        best = MaxMargin(np.inf).fit(X, y).certificate_
        radii.append(best.radius)
        margins.append(best.lower)
        theories.append(bounds.novikoff(best.radius, best.lower))
        rows.append([f"{i} and {j}", str(model.n_updates_), str(model.n_epochs_), f"{best.radius:.4g}",
                     f"{best.lower:.4g}", f"{theories[-1]:,.0f}"])  # fmt: skip
    columns = ["categories", "updates", "epochs", "R", "gamma_d", "(R/gamma_d)^2"]
    report.parts.append(Table("(a), (b) from a = 0, one point after the other", columns, rows))
    report.say(
        f"(c) (R/gamma_d)^2, the bound on the updates, is {theories[0] / theories[1]:.1f} times as large for 1 and 2 "
        f"as for 3 and 2: R^2 is {(radii[0] / radii[1]) ** 2:.2f} times as large, 1/gamma_d^2 "
        f"{(margins[1] / margins[0]) ** 2:.2f} times."
    )


def exercise_3(report: Report) -> None:
    """Pocket on 1/3."""
    report.head("Exercise 3: the pocket algorithm, categories 1 and 3")
    X, y = pair(1, 3)
    start = np.random.default_rng(3).normal(size=3)
    rows, fewest, rarely = [], len(y), []
    for variant in ("run", "ratchet"):
        model = Pocket(variant, until="separated", n_iter_no_change=200).fit(
            X, y, coef_init=start[None, 1:], intercept_init=start[:1]
        )
        replaced = int(model._records_[0].state.memory.best[2])
        errors = int(np.count_nonzero(model.predict(X) != y))
        fewest = min(fewest, errors)
        rarely.append(f"{replaced} times in {model.n_updates_} updates ({variant})")
        rows.append([variant, str(replaced), str(model.n_updates_), f"{errors} of {len(y)}"])
    report.parts.append(
        Table("(b) from a random start", ["variant", "pocket weights replaced", "updates", "errors"], rows)
    )
    report.say(
        f"{separability(X, y)} The better pocket leaves {fewest} of the {len(y)} points wrong. Only a longer run of "
        f"correct patterns replaces its weights, which happens {', '.join(rarely)}."
    )


def exercise_4(report: Report) -> None:
    """k_0 of eq. 25 from a random start."""
    report.head("Exercise 4: a random start and the bound k_0 of eq. 25")
    rng = np.random.default_rng(4)
    rows, holds, used = [], True, []
    for i, j in ((1, 2), (1, 4), (2, 3), (2, 4), (3, 4)):
        X, y = pair(i, j)
        Y = patterns(X, y)
        start = rng.normal(0.0, 10.0, 3)
        model = Perceptron(until="separated", shuffle=False).fit(
            X, y, coef_init=start[None, 1:], intercept_init=start[:1]
        )
        solution = np.append(model.intercept_, model.coef_[0])
        gamma, beta = float((Y @ solution).min()), float(np.linalg.norm(Y, axis=1).max())
        k0 = bounds.any_start(start, solution, gamma, beta, beta**2 / gamma)
        best = bounds.any_start(start, solution, gamma, beta)
        holds &= model.n_updates_ <= best <= k0
        used.append(model.n_updates_ / k0)
        rows.append([f"{i} and {j}", f"{beta**2:.5g}", f"{gamma:.4g}", f"{k0:,.0f}", f"{best:,.0f}",
                     str(model.n_updates_)])  # fmt: skip
    columns = ["categories", "beta^2", "gamma", "k_0, eq. 25", "k_0, best alpha", "corrections"]
    report.parts.append(Table("The solution is the vector that the run ended with", columns, rows))
    report.say(
        f"The corrections {'stay within' if holds else 'do NOT stay within'} k_0 on "
        f"{'each' if holds else 'all'} of these {len(rows)} pairs; they are between {100 * min(used):.2g}% and "
        f"{100 * max(used):.2g}% of it. The alpha of eq. 25 is the best one only for a(1) = 0 (problem 14b)."
    )
    report.claims("exercise 4: corrections <= k_0", holds)


def exercise_5(report: Report) -> None:
    """A mapping by hand."""
    report.head("Exercise 5: a nonlinear mapping that makes categories 1 and 3 separable")
    X, y = pair(1, 3)
    before = separability(X, y)
    mapped = np.column_stack([X, X[:, 0] * X[:, 1], X**2])
    mapping = "(x1, x2, x1 x2, x1^2, x2^2)"
    if not separability(mapped, y):
        mapped = np.column_stack([mapped, X**3, X[:, 0] ** 2 * X[:, 1], X[:, 0] * X[:, 1] ** 2])
        mapping = "all monomials of x1 and x2 up to the third degree"
    after = separability(mapped, y)
    scaled = mapped / np.abs(mapped).max(axis=0)
    model = Perceptron(until="separated", shuffle=False, max_iter=200_000).fit(scaled, y)
    report.say(
        f"Of the blanks of the text we take all {len(category(1))} points of categories 1 and 3. In the plane: "
        f"{before} Mapped to {mapping}: {after} A Perceptron on the mapped points, each feature divided by its largest "
        f"value, ends after {model.n_updates_:,} updates with {np.count_nonzero(model.predict(scaled) != y)} errors."
    )
    report.claims("exercise 5: not separable before, separable after", before.separable is False and bool(after))
