"""
Ten steps of the Perceptron, seen in feature space
==================================================

You learn what a correction does to the boundary: it turns towards a misclassified point of its class, or away from
one of the other class.

Each panel shows the boundary and its vector after a correction, the boundary before it (dashed), and the misclassified
point that caused it (large). Later vectors are darker. The ninth correction leaves no error.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix import Perceptron

warnings.simplefilter("ignore", ConvergenceWarning)  # the path is cut off after every correction to see it
X = np.array(
    [[1.2, -0.6], [1.0, 0.3], [1.6, 0.2], [1.1, -0.1], [0.7, 0.8], [0.0, 0.4], [-0.4, -0.8], [-0.1, 0.1], [-0.8, -2.7],
     [-0.9, -1.1]]
)  # fmt: skip
y, eta, start = np.repeat([1, -1], 5), 0.35, np.array([[-0.6, 0.9]])
rule = Perceptron(eta=eta, fit_intercept=False, shuffle=False, until="separated")
path = [start[0]] + [rule.set_params(max_updates=k).fit(X, y, coef_init=start).coef_[0] for k in range(1, 10)]
print("errors after the last step:", int(np.sum(y * (X @ path[-1]) <= 0)))

figure, axes = plt.subplots(2, 5, figsize=(12, 5.4), sharex=True, sharey=True)
for k, ax in enumerate(axes.ravel()):
    ax.scatter(*X[y == 1].T, s=16, color="C0")
    ax.scatter(*X[y == -1].T, s=16, color="C1", marker="^")
    for i, a in enumerate(path[: k + 1]):
        ax.annotate("", 1.2 * a, (0, 0), arrowprops={"arrowstyle": "->", "color": str(0.8 * (1 - (i + 1) / (k + 1)))})
    for a, style in zip(path[max(k - 1, 0) : k + 1][::-1], ("-", "--"), strict=False):
        ax.axline((0, 0), (-a[1], a[0]), color="k", ls=style, lw=1)
    if k:
        cause = (path[k] - path[k - 1]) / eta
        row = int(np.argmin(np.abs(y[:, None] * X - cause).sum(axis=1)))
        ax.scatter(*X[row], s=130, facecolors="none", edgecolors="k")
    ax.set(title="start" if k == 0 else f"correction {k}", xlim=(-2, 2.2), ylim=(-2.9, 1.4))
plt.show()
