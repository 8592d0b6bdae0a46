"""Draws the pictures of the README, from data that come with scikit-learn: ``python docs/pictures/draw.py``."""

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
from separatrix.io import Table
from separatrix.plot import BoundaryDisplay, BoundsDisplay, ComparisonDisplay
from separatrix.workflows import compare

HERE = Path(__file__).parent


def write(figure, name):
    figure.savefig(HERE / f"{name}.png", dpi=100)
    plt.close(figure)


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
    bounds()
    comparison()
