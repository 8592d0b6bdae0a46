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

solution, y = np.array([5.0, 5.5]), Y[1]
a = np.array([0.6, 3.4])
r = (b - a @ y) / np.linalg.norm(y)
after = a + 1.6 * r * y / np.linalg.norm(y)
figure, ax = plt.subplots(figsize=(6.4, 5.2))
ax.contourf(xs, ys, least, [b, np.inf], colors=["C2"], alpha=0.25)
ax.axline(b * y / (y @ y), b * y / (y @ y) + np.array([-y[1], y[0]]), color="0.4")
ax.annotate("", after, a, arrowprops={"arrowstyle": "->", "color": "C0", "lw": 2})
for point, name in ((a, "$a(k)$"), (after, "$a(k+1)$"), (solution, r"$\hat a$")):
    ax.plot(*point, "o", color="C0")
    ax.annotate(name, point, (4, 6), textcoords="offset points")
for point, name in ((a, r"$|a(k) - \hat a|$"), (after, r"$|a(k+1) - \hat a|$")):
    ax.add_patch(plt.Circle(solution, np.linalg.norm(point - solution), fill=False, ls="--", color="C1"))
    ax.plot(*np.array([point, solution]).T, color="C1", lw=1, label=f"{name} = {np.linalg.norm(point - solution):.2f}")
ax.text(*((a + after) / 2 + [0.15, -0.5]), r"$\eta\, r(k)$", color="C0")
ax.text(3.7, 4.3, "$a \\cdot y^k = b$", color="0.3", rotation=54)
ax.set(xlim=(-1.5, 7), ylim=(-1.5, 7), aspect="equal", xlabel="$a_1$", ylabel="$a_2$")
ax.legend(loc="lower right")
plt.show()
