"""The incremental margin Perceptron against the certified optimum, on twenty data sets.

Claim (Tao, slides 18-21): started with the guess g = R, halved whenever 12 R^2/g^2 updates pass without an end, the
margin Perceptron ends with at least a quarter of the maximum margin, after O(R^2/gamma^2) updates.
"""

from functools import partial
from typing import Any

import numpy as np

from separatrix import bounds
from separatrix.errors import DataError
from separatrix.estimators.margin_rules import MarginPerceptron
from separatrix.estimators.max_margin import MaxMargin
from separatrix.plots.static.style import COLOURS
from separatrix.reproductions.datasets import load_sonar, load_wbc
from separatrix.reproductions.outcome import Figure, Report, Table


def datasets() -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], dict[str, str]]:
    """Twenty separable problems: real ones, and random ones cut by a hyperplane with a gap around it.

    Also the names of those that could not be loaded, and why: random ones have taken their places.
    """
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
    from sklearn.preprocessing import scale

    found = {}
    iris, wine, digits = (load(return_X_y=True) for load in (load_iris, load_wine, load_digits))
    found["iris, setosa"] = iris[0], iris[1] == 0
    found["wine 0, scaled"] = scale(wine[0]), wine[1] == 0
    found["wine 2, scaled"] = scale(wine[0]), wine[1] == 2
    for a, b in ((0, 1), (3, 8), (4, 9), (5, 6)):
        pair = (digits[1] == a) | (digits[1] == b)
        found[f"digits {a}/{b}"] = digits[0][pair] / 16.0, digits[1][pair] == a
    X, y = load_breast_cancer(return_X_y=True)
    found["breast cancer, 100 rows, scaled"] = scale(X[:100]), y[:100]
    missing = {}
    try:
        found["sonar"] = load_sonar()
    except DataError as error:
        missing["sonar"] = str(error)
    try:
        X, y = load_wbc(separable=True)
        found["WBC without 11, scaled"] = scale(X), y
    except DataError as error:
        missing["WBC without 11, scaled"] = str(error)
    for seed in range(3):
        X, y = make_blobs(200, n_features=5, centers=2, cluster_std=1.0, random_state=seed)
        found[f"blobs {seed}"] = X, y
    for d, gap in ((2, 0.1), (2, 0.5), (5, 0.1), (10, 0.1), (20, 0.05), (50, 0.1), (100, 0.2), (3, 0.02), (30, 0.3)):
        if len(found) == 20:
            break
        found[f"random, d = {d}, gap {gap:g}"] = _cut(d, gap)
    return found, missing


def _cut(d: int, gap: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(d)
    X, w = rng.normal(size=(600, d)), rng.normal(size=d)
    distance = X @ w / np.linalg.norm(w) + 0.2
    far = np.abs(distance) > gap
    return X[far], distance[far] > 0


def reproduce() -> Report:
    report = Report(
        "margin-perceptron",
        "The incremental margin Perceptron",
        "Tao, slides 18-21: without a guess the margin Perceptron ends with at least 1/4 of the maximum margin. The "
        "maximum is the certified one of `MaxMargin`; the updates are compared with the bound over all stages.",
    )
    rows, shares, used = [], [], []
    problems, missing = datasets()
    for name, why in missing.items():
        report.say(f"The data set {name} is MISSING, and a random problem takes its place. {why}")
    report.data["missing"] = missing
    for name, (X, y) in problems.items():
        best = MaxMargin(np.inf).fit(X, y).certificate_
        model = MarginPerceptron(until="separated", max_iter=10**7).fit(X, y)
        share = model.directional_margin_ / best.upper
        limit = bounds.incremental_margin_perceptron(best.radius, best.lower)
        good = model.converged_ and share >= 0.25 and model.n_updates_ <= limit
        shares.append(share)
        used.append(model.n_updates_ / limit)
        n, d = np.shape(X)
        rows.append(
            [name, f"{n} x {d}", f"{best.lower:.6g}", f"{model.directional_margin_:.6g}", f"{share:.3f}",
             f"{model.n_updates_:,}", f"{limit:,.0f}", "holds" if good else "FAILS"]
        )  # fmt: skip
        report.data[name] = {"optimum": best.lower, "reached": model.directional_margin_, "updates": model.n_updates_}
        report.claims(f"{name}: at least a quarter, within the bound", good)
    columns = ["data", "size", "maximum margin", "reached", "share", "updates", "at most", "1/4"]
    report.parts.append(Table(f"{len(rows)} data sets", columns, rows))
    report.say(
        f"The guarantee holds on all {len(rows)} data sets. The smallest share is {min(shares):.3f}, the median "
        f"{np.median(shares):.3f}; the updates stay between {100 * min(used):.2g}% and {100 * max(used):.2g}% of the "
        "bound."
        if all(row[-1] == "holds" for row in rows)
        else "The guarantee FAILS where the table says so."
    )
    names = [row[0] for row in rows]
    report.parts.append(
        Figure("margin-perceptron", "The share of the maximum margin that is reached; the line is the guarantee.",
               partial(_draw, names=names, shares=shares), (6.4, 5.2))
    )  # fmt: skip
    return report


def _draw(figure: Any, names: list[str], shares: list[float]) -> None:
    axes = figure.subplots()
    place = np.arange(len(names))[::-1]
    axes.barh(place, shares, color=COLOURS[0], height=0.7)
    axes.axvline(0.25, color="black", linestyle="--", linewidth=1)
    axes.set_yticks(place, names, fontsize=8)
    axes.set(xlim=(0, 1), xlabel="margin achieved / maximum margin")
    axes.spines[["top", "right"]].set_visible(False)
