"""
Soft margins by extending the space
===================================

You learn how *Delta* makes any data separable, and that the result is the soft margin of support vector machines.

Every pattern gets a dimension of its own, in which it has the coordinate *Delta*; the classes can then always be
separated. The larger *Delta*, the more the extra dimensions carry, and the softer the margin. A hard margin there is
the squared-slack soft margin here, with *C* = 1/(2 *Delta*\\ :sup:`2`): an online rule with ``delta`` and `MaxMargin`
with that *C* draw the same line.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import DynamicMargin, MaxMargin

rng = np.random.default_rng(7)
X = np.vstack([rng.normal((-1, 0), 0.8, (60, 2)), rng.normal((1, 0.5), 0.8, (60, 2))])
y = np.repeat([0, 1], 60)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharey=True)
for ax, delta in zip(axes, (0.3, 2.0, 20.0), strict=True):
    online = DynamicMargin(epsilon=0.02, delta=delta, max_iter=20_000, until="separated").fit(X, y)
    exact = MaxMargin(C=1 / (2 * delta**2)).fit(X, y)
    ax.scatter(*X[y == 0].T, s=12)
    ax.scatter(*X[y == 1].T, s=12, marker="^")
    for model, colour, style in ((exact, "k", "-"), (online, "C2", "--")):
        w, b = model.coef_[0], model.intercept_[0]
        for level in (-1, 0, 1) if model is exact else (0,):
            foot = (level - b) * w / (w @ w)
            ax.axline(foot, foot + np.array([-w[1], w[0]]), color=colour, ls=style, lw=1 if level else 2)
    ax.set(title=f"Delta = {delta:g}, C = {exact.C:.3g}", xlim=(-3.2, 3.2), ylim=(-2.5, 3))
    print(f"Delta = {delta:g}: the online rule {online.certificate_}")
plt.show()
