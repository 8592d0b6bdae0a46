"""
Regions that nobody claims
==========================

You learn why a linear machine is better than several separate hyperplanes: with each class against the rest, or each
pair, some regions are claimed by no class or by several.

Those regions are grey. A linear machine has one score per class and decides for the largest: every point has exactly
one owner. Its regions are convex.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from separatrix import Perceptron

X, y = make_blobs(90, centers=[(-2, -1), (2, -1), (0, 2.2)], cluster_std=0.55, random_state=3)
xs, ys = np.meshgrid(np.linspace(-4.5, 4.5, 220), np.linspace(-4, 5, 220))
grid = np.column_stack([xs.ravel(), ys.ravel()])
titles = {"ovr": "each against the rest", "ovo": "each pair", "joint": "one linear machine"}
figure, axes = plt.subplots(1, 3, figsize=(11, 4), sharey=True)
for ax, (mode, title) in zip(axes, titles.items(), strict=True):
    model = Perceptron(multi_class=mode, random_state=1).fit(X, y)
    owner = np.where(model.is_ambiguous(grid), -1, model.predict(grid)).reshape(xs.shape)
    ax.contourf(xs, ys, owner, [-1.5, -0.5, 0.5, 1.5, 2.5], colors=["0.45", "C0", "C1", "C2"], alpha=0.3)
    for k, mark in enumerate("o^s"):
        ax.scatter(*X[y == k].T, s=14, color=f"C{k}", marker=mark)
    share = np.mean(owner == -1)
    ax.set(title=f"{title}: {share:.1%} ambiguous", xticks=[], yticks=[])
plt.show()
