"""
One data set, twelve separators
===============================

You learn how differently the algorithms place a line between the same two classes.

All of them separate, except least squares, which does not try to. The title tells which part of the best margin is
certainly reached; negative means that a point is on the wrong side. The lower right corner holds a few outliers:
squared error is drawn towards them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix import (
    ALMA,
    CRAMMA,
    ROMMA,
    BalancedWinnow,
    BatchRelaxation,
    DynamicMargin,
    HoKashyap,
    LeastSquares,
    LinearProgram,
    MaxMargin,
    PassiveAggressive,
    Perceptron,
)

warnings.simplefilter("ignore", ConvergenceWarning)
rng = np.random.default_rng(2)
minus = rng.normal((-1, 1), 0.35, (30, 2))
plus = np.vstack([rng.normal((0.6, 0.2), 0.25, (30, 2)), rng.normal((4, -4), 0.4, (8, 2))])
X, y = np.vstack([minus, plus]), np.repeat([0, 1], [30, 38])
best = MaxMargin(C=np.inf).fit(X, y)

models = [
    best,
    DynamicMargin(0.05, until="separated"),
    CRAMMA(beta=3, until="separated"),
    ALMA(0.3, until="separated"),
    ROMMA(aggressive=True, until="separated"),
    Perceptron(until="separated"),
    PassiveAggressive(until="separated"),
    BatchRelaxation(),
    BalancedWinnow(until="separated"),
    HoKashyap(),
    LinearProgram(),
    LeastSquares(),
]
figure, axes = plt.subplots(3, 4, figsize=(10, 7.5), sharex=True, sharey=True)
for ax, model in zip(axes.flat, models, strict=True):
    model.fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    ax.scatter(*X[y == 0].T, s=8)
    ax.scatter(*X[y == 1].T, s=8, marker="^")
    foot = -b * w / (w @ w)
    ax.axline(foot, foot + np.array([-w[1], w[0]]), color="k", lw=1)
    share = model.directional_margin_ / best.certificate_.upper
    ax.set_title(f"{type(model).__name__}: {share:.0%}", fontsize=9)
    ax.set(xlim=(-2.2, 5.2), ylim=(-5.2, 2.2), xticks=[], yticks=[])
plt.show()
