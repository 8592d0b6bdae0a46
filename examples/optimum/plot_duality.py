"""
Two hulls and a gap: the maximum margin from both sides
=======================================================

You learn why the maximum margin can be proved: it is half the distance between the convex hulls of the classes, and
every pair of points from the hulls bounds it from above.

The *primal* problem looks for the widest band between the classes; every separating line gives a lower bound. The
*dual* problem looks for the nearest points of the two hulls; every pair gives an upper bound. At the optimum both are
the same, by the Kuhn-Tucker conditions: the band stands at right angles on the shortest connection, and only the
support vectors (ringed) have multipliers.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull

from separatrix import MaxMargin

rng = np.random.default_rng(8)
X = np.vstack([rng.normal((-2, -0.5), 0.9, (25, 2)), rng.normal((2, 0.8), 0.9, (25, 2))])
y = np.repeat([0, 1], 25)
model = MaxMargin(C=np.inf, fit_intercept="unpenalized").fit(X, y)
alpha = np.zeros(50)
alpha[model.support_] = np.abs(np.ravel(model.dual_coef_))
points = [alpha[y == k] @ X[y == k] / alpha[y == k].sum() for k in (0, 1)]
distance = np.linalg.norm(points[1] - points[0])
print(f"twice the margin {2 * model.geometric_margin_:.6f}, distance of the hulls {distance:.6f}")

figure, ax = plt.subplots(figsize=(7, 5))
for k, mark in ((0, "o"), (1, "^")):
    rows = X[y == k]
    ax.scatter(*rows.T, marker=mark, s=22, color=f"C{k}")
    ax.fill(*rows[ConvexHull(rows).vertices].T, color=f"C{k}", alpha=0.15)
w, b = model.coef_[0], model.intercept_[0]
for level, style in ((0, "-"), (1, "--"), (-1, "--")):
    foot = (level - b) * w / (w @ w)
    ax.axline(foot, foot + np.array([-w[1], w[0]]), color="k", lw=1, ls=style)
ax.plot(*np.array(points).T, "s-", color="C2", lw=3, label=f"nearest points, {distance:.3f} apart")
ax.scatter(*X[model.support_].T, s=150, facecolors="none", edgecolors="k", label="support vectors")
ax.set_aspect("equal")
ax.legend(loc="upper left")
plt.show()
