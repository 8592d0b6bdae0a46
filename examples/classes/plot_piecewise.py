"""
Several pieces per class
========================

You learn what a piecewise linear machine adds: a class may have several linear discriminants, of which the largest
speaks for it, so its region need not be convex or connected.

The problem is no longer convex: the result depends on the start, several starts are tried, and there is no
certificate. Two pieces per class solve the parity of two bits and follow rings only roughly; six do better.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning

from separatrix import PiecewiseLinearMachine

warnings.simplefilter("ignore", ConvergenceWarning)  # few pieces leave errors
X, y = make_circles(300, noise=0.07, factor=0.45, random_state=2)
xs, ys = np.meshgrid(np.linspace(-1.5, 1.5, 200), np.linspace(-1.5, 1.5, 200))
grid = np.column_stack([xs.ravel(), ys.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharey=True)
for ax, pieces in zip(axes, (1, 2, 6), strict=True):
    model = PiecewiseLinearMachine(pieces).fit(X, y)
    ax.contourf(xs, ys, model.predict(grid).reshape(xs.shape), [-0.5, 0.5, 1.5], colors=["C0", "C1"], alpha=0.25)
    ax.scatter(*X[y == 0].T, s=8, color="C0")
    ax.scatter(*X[y == 1].T, s=8, color="C1", marker="^")
    ax.set(title=f"pieces per class: {pieces}, accuracy {model.score(X, y):.0%}", xticks=[], yticks=[])

x = np.linspace(-3, 3, 200)
figure, ax = plt.subplots(figsize=(6.4, 3.4))
for values, colour, style, name in (
    (-x - 1, "C0", "-", "$g_{11} = -x - 1$"),
    (x - 1, "C0", "--", "$g_{12} = x - 1$"),
    (0 * x, "C1", "-", "$g_{21} = 0$"),
):
    ax.plot(x, values, color=colour, ls=style, label=name)
ax.axvspan(-1, 1, color="C1", alpha=0.15)
ax.set(title="one dimension: the first class wins outside of the band", xlabel="x", ylim=(-2, 2))
ax.legend(loc="upper center", ncols=3)
plt.show()
