"""
Gradient, optimal step, Newton
==============================

You learn how the three procedures of descent differ on the same criterion: in the number of steps, and in where they
go.

The gradient with a constant rate creeps along valleys. The step that is optimal for the local parabola zigzags across
them. Newton's method uses the matrix of second derivatives and is there in a few steps, each of which costs more.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix import GradientDescent

warnings.simplefilter("ignore", ConvergenceWarning)  # paths are cut off after every step to see them
X = np.array([[1.6, 0.5], [2.0, 1.4], [0.7, 0.9], [-1.8, -0.2], [-1.1, -1.2], [0.3, -0.4]])
y = np.array([1, 1, 1, 0, 0, 0])
Y = (2 * y - 1)[:, None] * X
shared = {"margin": 1.0, "fit_intercept": False, "step_tol": 1e-6}

grid = np.linspace(-0.6, 3, 200)
xs, ys = np.meshgrid(grid, grid)
J = np.sum(np.maximum(1 - np.stack([xs, ys], axis=-1) @ Y.T, 0) ** 2, axis=-1)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharey=True)
for ax, method in zip(axes, ("gradient", "optimal-step", "newton"), strict=True):
    total = GradientDescent("quadratic", method=method, max_iter=5000, **shared).fit(X, y).n_updates_
    path = [np.zeros(2)]
    for k in range(1, min(total, 25) + 1):
        path.append(GradientDescent("quadratic", method=method, max_iter=k, **shared).fit(X, y).coef_[0])
    ax.contour(xs, ys, np.sqrt(J), 18, cmap="cividis", linewidths=0.8)
    ax.plot(*np.array(path).T, "o-", color="C1", ms=4)
    ax.set(title=f"{method}: {total} steps", xlabel="$a_1$")
axes[0].set_ylabel("$a_2$")
plt.show()
