"""
Augment, then reflect
=====================

You learn the trick behind every formula here: add a constant coordinate, turn one class around, and a separator
becomes a vector that has every pattern on the same side.

Left: two classes on a line. Middle: each point gets a second coordinate, *rho* = 1; the threshold on the line has
become a line through the origin. Right: the points of one class are reflected at the origin. A vector *a* now
separates exactly if *a.y* > 0 for every pattern *y*. The wedge holds all such vectors: the *solution region*.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import MaxMargin

x = np.array([-1.0, 0.2, 0.8, 2.0, 2.6, 3.5])
labels = np.array([-1, -1, -1, 1, 1, 1])
augmented = np.column_stack([x, np.ones(6)])
reflected = labels[:, None] * augmented
model = MaxMargin(C=np.inf).fit(x[:, None], labels)
a = np.array([model.coef_[0, 0], model.intercept_[0]])
a /= np.linalg.norm(a)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.9))
marks = {-1: ("o", "C0"), 1: ("^", "C1")}
for ax, points in zip(axes, (np.column_stack([x, np.zeros(6)]), augmented, reflected), strict=True):
    for label, (mark, colour) in marks.items():
        ax.scatter(*points[labels == label].T, marker=mark, color=colour, s=45, zorder=3)
axes[0].axvline(-model.intercept_[0] / model.coef_[0, 0], color="k")
axes[0].set(title="as they are: x", ylim=(-1, 1), yticks=[])
axes[1].axline((0, 0), (-a[1], a[0]), color="k")
axes[1].set(title="augmented: (x, rho)", ylim=(-1.6, 1.8))
angles = np.linspace(-np.pi, np.pi, 2001)
inside = (reflected @ np.array([np.cos(angles), np.sin(angles)]) > 0).all(axis=0)
wedge = 4 * np.column_stack([np.cos(angles[inside]), np.sin(angles[inside])])
axes[2].fill(*np.vstack([[0, 0], wedge]).T, color="C2", alpha=0.25, label="solution region")
axes[2].annotate("a", 2 * a, (0, 0), arrowprops={"arrowstyle": "->", "lw": 2}, fontsize=13)
axes[2].set(title="reflected: y = l (x, rho)", xlim=(-2, 4), ylim=(-3, 3))
axes[2].legend(loc="upper right")
for ax in axes[1:]:
    ax.plot(0, 0, "+", color="k", ms=12)
plt.show()
