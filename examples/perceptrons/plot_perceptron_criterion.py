"""
The Perceptron criterion of three patterns
==========================================

You learn how the Perceptron walks over its own criterion: the sum of *-a.y* over the misclassified patterns, a
landscape of planes that is 0 on the solution region.

The single-sample rule starts at 0 and adds *y2*, *y3*, *y1* and *y3*. Its second step takes it farther away from the
solution region than it was before. The batch rule adds all misclassified patterns at once.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix import BatchPerceptron, Perceptron

warnings.simplefilter("ignore", ConvergenceWarning)  # paths are cut off after every step to see them
Y = np.array([[1.7, 2.0], [-0.2, 0.9], [-1.6, -0.7]])
labels, order = np.array([1, -1, 1]), [1, 2, 0]  # y2 comes first
X, y = (labels[:, None] * Y)[order], labels[order]
rule = Perceptron(fit_intercept=False, shuffle=False, until="separated")
single = [rule.set_params(max_updates=k).fit(X, y).coef_[0] for k in (1, 2, 3, 4)]
batch = [BatchPerceptron(fit_intercept=False, max_iter=k, until="separated").fit(X, y).coef_[0] for k in (1, 2)]

xs, ys = np.meshgrid(np.linspace(-3, 2, 200), np.linspace(-1.5, 3.5, 200))
J = np.sum(np.maximum(-np.stack([xs, ys], axis=-1) @ Y.T, 0), axis=-1)
figure, ax = plt.subplots(figsize=(6.4, 5.4))
shade = ax.contourf(xs, ys, J, 20, cmap="cividis", alpha=0.7)
ax.contourf(xs, ys, J, [-1, 1e-9], colors=["w"])
figure.colorbar(shade, label="$J_p(a)$")
for path, style, name in ((single, "o-C1", "single-sample"), (batch, "s--C5", "batch")):
    ax.plot(*np.array([np.zeros(2), *path]).T, style, label=name)
for start, end, k in zip([np.zeros(2), *single], single, (2, 3, 1, 3), strict=False):
    ax.annotate(f"$y_{k}$", (start + end) / 2, (6, 6), textcoords="offset points", color="C1")
ax.text(-2.9, 2.9, "solution region", color="0.3")
ax.legend(loc="lower right")
ax.set(xlabel="$a_1$", ylabel="$a_2$", aspect="equal")
plt.show()
