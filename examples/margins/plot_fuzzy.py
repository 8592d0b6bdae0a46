"""
Doubtful patterns
=================

You learn how the fuzzy Perceptron gives patterns between the two classes less weight, and none to the most doubtful
ones.

The *membership* of a pattern in its class falls from 1 towards 0 as it moves from the mean of its class to that of
the other. Patterns whose membership is close to one half are *fuzzy*; they are never corrected. A Perceptron without
that never ends here: a few patterns are on the wrong side.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix import FuzzyPerceptron, Perceptron

warnings.simplefilter("ignore", ConvergenceWarning)
rng = np.random.default_rng(3)
X = np.vstack([rng.normal((-1.5, 0), 0.95, (60, 2)), rng.normal((1.5, 0), 0.95, (60, 2))])
y = np.repeat([0, 1], 60)
c, fuzz = 1.0, 0.3


def membership(points, own, other):
    """Membership in the class whose mean is ``own``."""
    d1, d2 = np.linalg.norm(points - own, axis=-1), np.linalg.norm(points - other, axis=-1)
    f = np.exp(c * (d2 - d1) / np.linalg.norm(own - other))
    return 0.5 + (f - np.exp(-c)) / (2 * (np.exp(c) - np.exp(-c)))


means = [X[y == label].mean(axis=0) for label in (0, 1)]
p = np.where(y == 0, membership(X, *means), membership(X, *means[::-1]))
fuzzy = np.abs(p - 0.5) <= fuzz
models = {
    "fuzzy": FuzzyPerceptron(fuzz=fuzz, c=c, until="separated").fit(X, y),
    "plain": Perceptron(max_iter=200, until="separated").fit(X, y),
}

figure, ax = plt.subplots()
ax.scatter(*X[y == 0].T, c=p[y == 0], marker="o", cmap="cividis", vmin=0.5, vmax=1)
dots = ax.scatter(*X[y == 1].T, c=p[y == 1], marker="^", cmap="cividis", vmin=0.5, vmax=1)
ax.scatter(*X[fuzzy].T, s=130, facecolors="none", edgecolors="k", label=f"{fuzzy.sum()} fuzzy patterns")
for (name, model), style in zip(models.items(), ("C0-", "C1--"), strict=True):
    w, b = model.coef_[0], model.intercept_[0]
    foot = -b * w / (w @ w)
    parts = f"{name}: {'ended' if model.converged_ else 'cut off'} after {model.n_updates_} corrections"
    ax.axline(foot, foot + np.array([-w[1], w[0]]), color=style[:2], ls=style[2:], lw=2, label=parts)
figure.colorbar(dots, label="membership in its own class")
ax.set(xlim=(-3.6, 3.6), ylim=(-2.6, 3.4))
ax.legend(loc="upper center")
plt.show()
