"""
XOR: four points, six dimensions
================================

You learn how four points that no line separates are separated in a space of products of their coordinates.

The map (1, sqrt(2) x1, sqrt(2) x2, sqrt(2) x1 x2, x1^2, x2^2) belongs to the kernel (1 + x.z)^2. The maximum margin
there is sqrt(2), all four points are support vectors with multiplier 1/8, and the boundary in the plane is x1 x2 = 0:
the two axes.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from separatrix import KernelMaxMargin, separability

X, y = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]]), np.array([1, 1, 0, 0])
print(separability(X, y))
model = KernelMaxMargin(C=np.inf, kernel="poly", degree=2, gamma=1, coef0=1).fit(X, y)
print("multipliers", model.alphas_[0], "margin", model.geometric_margin_)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2))
xs, ys = np.meshgrid(np.linspace(-2, 2, 100), np.linspace(-2, 2, 100))
values = model.decision_function(np.column_stack([xs.ravel(), ys.ravel()])).reshape(xs.shape)
left.contourf(xs, ys, values, 20, cmap="cividis", alpha=0.6)
left.contour(xs, ys, values, [-1, 0, 1], colors="k", linestyles=["--", "-", "--"])
for ax, points in ((left, X), (right, np.column_stack([np.sqrt(2) * X[:, 0], np.sqrt(2) * X[:, 0] * X[:, 1]]))):
    ax.scatter(*points[y == 0].T, s=90, color="C0", edgecolors="k")
    ax.scatter(*points[y == 1].T, s=90, color="C1", marker="^", edgecolors="k")
left.set(title="in the plane", xlabel="$x_1$", ylabel="$x_2$")
right.axhline(0, color="k")
right.axhspan(-np.sqrt(2), np.sqrt(2), color="C2", alpha=0.15)
right.set(
    title="two of the six dimensions",
    xlabel=r"$\sqrt{2}\, x_1$",
    ylabel=r"$\sqrt{2}\, x_1 x_2$",
    xlim=(-2.5, 2.5),
    ylim=(-2.5, 2.5),
)

root = np.sqrt(2)
features = {
    r"$\sqrt{2} x_1$": root * X[:, 0],
    r"$\sqrt{2} x_2$": root * X[:, 1],
    r"$\sqrt{2} x_1 x_2$": root * X[:, 0] * X[:, 1],
    "$x_1^2$": X[:, 0] ** 2.0,
    "$x_2^2$": X[:, 1] ** 2.0,
}
first, _, product, *_ = features
pairs = [pair for pair in combinations(features, 2) if pair != (first, product)]
figure, axes = plt.subplots(3, 3, figsize=(9, 8.5))
for ax, pair in zip(axes.ravel(), pairs, strict=True):
    points = np.column_stack([features[name] for name in pair])
    ax.scatter(*points[y == 0].T, s=90, color="C0", edgecolors="k")
    ax.scatter(*points[y == 1].T, s=50, color="C1", marker="^", edgecolors="k")
    if product in pair:
        draw = ax.axvline if pair[0] == product else ax.axhline
        for value in (-root, root):
            draw(value, color="k", ls="--")
        ax.set_title("$g = -1$ and $g = 1$")
    else:
        ax.set_title("no lines")
    ax.set(xlabel=pair[0], ylabel=pair[1], xlim=(-2.4, 2.4), ylim=(-2.4, 2.4))
plt.show()
