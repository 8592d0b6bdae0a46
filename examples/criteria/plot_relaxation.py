"""
Relaxation: a part of the way to the wall
=========================================

You learn the relaxation rule of Agmon, Motzkin and Schoenberg, which Mays brought to pattern classification: a
pattern that violates its margin pulls the weight vector towards its own wall, by a fraction *eta* of the distance.

*eta* < 1 is underrelaxation: the vector stops short of the wall. *eta* = 1 lands on it. 1 < *eta* < 2,
overrelaxation, goes through and may reach the region sooner. *eta* = 2 would mirror the vector, and may never end.
"""

import matplotlib.pyplot as plt
import numpy as np

Y, b = np.array([[-0.7, 1.0], [1.4, -1.0], [0.5, 0.5]]), 1.0


def path(eta, steps=60):
    """Single-sample relaxation with margin, patterns taken in turn."""
    a = np.array([-1.0, 2.5])
    seen = [a]
    for k in range(steps):
        y = Y[k % 3]
        if a @ y <= b:
            a = a + eta * (b - a @ y) / (y @ y) * y
            seen.append(a)
    return np.array(seen)


grid = np.linspace(-1.5, 7, 300)
xs, ys = np.meshgrid(grid, grid)
least = np.min(np.stack([xs, ys], axis=-1) @ Y.T, axis=-1)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharey=True)
for ax, eta in zip(axes, (0.5, 1.0, 1.7), strict=True):
    ax.contourf(xs, ys, least, [b, np.inf], colors=["C2"], alpha=0.25)
    for y in Y:
        foot = b * y / (y @ y)
        ax.axline(foot, foot + np.array([-y[1], y[0]]), color="0.6", lw=0.8)
    steps = path(eta)
    ax.plot(*steps.T, "o-", ms=3.5)
    done = np.all(steps[-1] @ Y.T > b)
    ax.set(
        title=f"eta = {eta:g}: {len(steps) - 1} corrections{'' if done else ', not inside yet'}",
        xlim=(-1.5, 7),
        ylim=(-1.5, 7),
        xlabel="$a_1$",
    )
axes[0].set_ylabel("$a_2$")
plt.show()
