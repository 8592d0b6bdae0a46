"""
Kernels: straight in another space
==================================

You learn how a kernel turns the same linear algorithms into curved boundaries, with the same certificate.

A kernel is the inner product in a space of functions of the features. Only inner products are needed: by the
Perceptron, as the method of potential functions showed, and by the maximum margin. Above: the certified hard margin
with three kernels. Below: the kernel Perceptron with a dynamic margin, which reaches at least 80% of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from separatrix import DynamicMargin, KernelMaxMargin, KernelPerceptron

X, y = make_moons(120, noise=0.12, random_state=1)
kernels = {
    "polynomial, degree 3": {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0},
    "Gaussian, gamma = 1": {"kernel": "rbf", "gamma": 1.0},
    "Gaussian, gamma = 20": {"kernel": "rbf", "gamma": 20.0},
}
xs, ys = np.meshgrid(np.linspace(-1.7, 2.7, 160), np.linspace(-1.2, 1.7, 120))
grid = np.column_stack([xs.ravel(), ys.ravel()])
figure, axes = plt.subplots(2, 3, figsize=(11, 6), sharex=True, sharey=True)
for column, (name, kernel) in zip(axes.T, kernels.items(), strict=True):
    exact = KernelMaxMargin(C=np.inf, **kernel)
    online = KernelPerceptron(DynamicMargin(0.2), max_iter=20_000, until="separated", **kernel)
    for ax, model in zip(column, (exact, online), strict=True):
        model.fit(X, y)
        values = model.decision_function(grid).reshape(xs.shape)
        ax.contourf(xs, ys, values, [-np.inf, 0, np.inf], colors=["C0", "C1"], alpha=0.18)
        ax.contour(xs, ys, values, [0], colors="k")
        ax.scatter(*X[y == 0].T, s=10, color="C0")
        ax.scatter(*X[y == 1].T, s=10, color="C1", marker="^")
        ax.scatter(*X[model.support_].T, s=60, facecolors="none", edgecolors="k", linewidths=0.7)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{name}\n{type(model).__name__}: {len(model.support_)} support vectors", fontsize=9)
plt.show()
