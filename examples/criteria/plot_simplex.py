"""
A linear program and its corners
================================

You learn where a linear program has its minimum: at a corner of the region that the inequalities allow, the last
point that a line of equal cost touches.

Here *z = 2 u1 + 3 u2* is minimized under four inequalities *A u >= b* and *u >= 0*. The simplex method walks from
corner to corner along the edges, and each step lowers *z*.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

cost = np.array([2.0, 3.0])
A = np.array([[1.0, 3.0], [1.0, 1.0], [3.0, 1.0], [-1.0, -1.0]])
b = np.array([6.0, 4.0, 6.0, -9.0])
best = linprog(cost, A_ub=-A, b_ub=-b, method="highs").x
print("minimum at", best, "with z =", cost @ best)

us, vs = np.meshgrid(np.linspace(0, 9.5, 400), np.linspace(0, 9.5, 400))
least = np.min(np.stack([us, vs], axis=-1) @ A.T - b, axis=-1)
figure, ax = plt.subplots(figsize=(6, 5))
ax.contourf(us, vs, least, [0, np.inf], colors=["C2"], alpha=0.25)
for row, right in zip(A, b, strict=True):
    foot = right * row / (row @ row)
    ax.axline(foot, foot + np.array([-row[1], row[0]]), color="C1", lw=1)
lines = ax.contour(us, vs, cost[0] * us + cost[1] * vs, [5, cost @ best, 14, 19, 24], colors="0.6", linewidths=0.9)
ax.clabel(lines, fmt="z = %g", fontsize=8)
corners = np.array([[0, 9], [0, 6], [1, 3], best])
ax.plot(*corners.T, "o-", color="C0", lw=2.5, label="corners of a walk")
ax.plot(*best, "*", color="C0", ms=16)
ax.set(xlim=(-0.2, 9.5), ylim=(-0.2, 9.5), xlabel="$u_1$", ylabel="$u_2$")
ax.legend()
plt.show()
