"""Draws the pictures of the README, from data that come with scikit-learn: ``python docs/pictures/draw.py``."""

import json
import math
import re
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from separatrix import DynamicMargin, MaxMargin
from separatrix.app.tables import Table
from separatrix.app.workflows import compare
from separatrix.plots import BoundaryDisplay, BoundsDisplay, ComparisonDisplay

HERE = Path(__file__).parent


def write(figure, name):
    figure.savefig(HERE / f"{name}.png", dpi=100)
    plt.close(figure)


def gpu():
    """From the numbers that benchmarks/gpu.py measured."""
    growth = json.loads((HERE / "gpu.json").read_text())["growth"]
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for kind, colour in (("hard", "C0"), ("soft", "C1")):
        rows = [row for row in growth if row["kind"] == kind]
        axes.loglog([r["n"] for r in rows], [r["seconds"] for r in rows], "o-", color=colour, label=f"{kind}, GPU")
        host = [(r["n"], r["cpu"]["seconds"]) for r in rows if "cpu" in r]
        axes.loglog(*zip(*host, strict=True), "s--", color=colour, label=f"{kind}, 16 cores of the host")
    axes.set(xlabel="rows of 24 columns", ylabel="seconds to the certificate")
    axes.legend()
    write(figure, "gpu")


def speed():
    """Draw the first table of the benchmarks page: times of scikit-learn over times of separatrix."""
    table, _ = (HERE.parent / "benchmarks.md").read_text().split("\n\n`C = 1`", 1)
    row = r"^\| ([^|]+?)(?:, C = 1)?(?: \([^|]*\))? \|[^|]*\|[^|]*\| \**([\d.]+)x(?: to ([\d.]+)x)?\** \|"
    found = re.findall(row, table, flags=re.M)
    tasks = [(re.sub(r"[`]|, C = 1$", "", task), math.sqrt(float(a) * float(b or a))) for task, a, b in found]
    names, ratios = zip(*reversed(tasks), strict=True)
    figure, axes = plt.subplots(figsize=(8.0, 3.6), layout="constrained")
    bars = axes.barh(
        names, [ratio - 1.0 for ratio in ratios], left=1.0, color=["C1" if r < 1 else "C0" for r in ratios]
    )
    axes.bar_label(bars, [f"{ratio:.2g}x" for ratio in ratios], padding=3)
    axes.set(xscale="log", xlim=(0.1, 40.0), xlabel="times as fast as scikit-learn (one thread)")
    axes.set_xticks([0.1, 1.0, 10.0], ["0.1x", "1x", "10x"])
    axes.axvline(1.0, color="black", linewidth=0.8)
    write(figure, "speed")


def boundary():
    data = load_iris()
    X, y = data.data[:, 2:], np.where(data.target == 0, "setosa", "other")
    model = MaxMargin(C=float("inf")).fit(X, y)
    write(BoundaryDisplay.from_estimator(model, X, y, feature_names=data.feature_names[2:]).figure_, "boundary")


def bounds():
    X, y = load_wine(return_X_y=True)
    write(BoundsDisplay.from_estimator(DynamicMargin(epsilon=0.01), scale(X), y == 0).figure_, "bounds")


def comparison():
    X, y = load_wine(return_X_y=True)
    X, y = scale(X), y == 0
    results = compare(Table("wine", "scikit-learn", "", X, y)).results
    rows = [r.as_dict() for r in results if not r.why_not]
    title = "Wine, the first cultivar or not: 178 rows, 13 standardised features"
    write(ComparisonDisplay.from_results(rows, title=title).figure_, "comparison")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    boundary()
    gpu()
    bounds()
    comparison()
    speed()
