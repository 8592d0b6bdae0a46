"""
Squared error need not separate
===============================

You learn why least squares can leave a pattern on the wrong side of a line although a separating line exists.

Squared error wants every pattern at the distance given by its target: one that is far out on the right side counts as
an error too. The outliers pull the line. Ho-Kashyap moves the targets as well and ends with a separating line; the
maximum margin and the linear program do not care about outliers at all.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import HoKashyap, LeastSquares, LinearProgram, MaxMargin

X = np.array([[-2.0, -1], [-2, 0], [-2, 1], [-1, -1], [-1, 1], [2, 0], [3, -1], [3, 1]])
y = np.array([0, 0, 0, 1, 1, 1, 1, 1])

figure, ax = plt.subplots()
ax.scatter(*X[y == 0].T, s=70)
ax.scatter(*X[y == 1].T, s=70, marker="^")
styles = [("C3", "-"), ("C2", "--"), ("C4", "-."), ("k", ":")]
models = (LeastSquares(), HoKashyap(), LinearProgram(), MaxMargin(C=np.inf))
for model, (colour, style) in zip(models, styles, strict=True):
    model.fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    foot = -b * w / (w @ w)
    label = f"{type(model).__name__}: {np.sum(model.predict(X) != y)} errors"
    ax.axline(foot, foot + np.array([-w[1], w[0]]), color=colour, ls=style, lw=2, label=label)
ax.set(ylim=(-1.6, 2.4), xlim=(-3, 3.6))
ax.legend(loc="upper right")
plt.show()
