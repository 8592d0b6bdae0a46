"""
Quadratic boundaries are linear too
===================================

You learn that a boundary which is linear in the products of the features is a quadric - a circle, ellipse, hyperbola
- and how to ask which.

This is a generalized linear discriminant: linear in functions of the features (phi functions), curved in the features
themselves. `quadric` reads the kind of the surface from the weights.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from separatrix import MaxMargin
from separatrix.theory import quadric

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (400, 2))
shapes = {
    "inside an ellipse": X[:, 0] ** 2 / 2.5 + X[:, 1] ** 2 < 1,
    "a saddle": X[:, 0] * X[:, 1] > 0.3,
    "above a parabola": X[:, 1] > X[:, 0] ** 2 - 1,
}
xs, ys = np.meshgrid(np.linspace(-2, 2, 150), np.linspace(-2, 2, 150))
functions = PolynomialFeatures(2, include_bias=False)  # x, y, x^2, xy, y^2
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharey=True)
for ax, (name, y) in zip(axes, shapes.items(), strict=True):
    model = MaxMargin(C=np.inf).fit(functions.fit_transform(X), y)
    a, b, aa, ab, bb = model.coef_[0]
    surface = quadric([[aa, ab / 2], [ab / 2, bb]], [a, b], model.intercept_[0])
    grid = functions.transform(np.column_stack([xs.ravel(), ys.ravel()]))
    ax.contour(
        xs, ys, model.decision_function(grid).reshape(xs.shape), [-1, 0, 1], colors="k", linestyles=[":", "-", ":"]
    )
    ax.scatter(*X[~y].T, s=8, color="C0")
    ax.scatter(*X[y].T, s=8, color="C1", marker="^")
    ax.set(title=f"{name}: {surface.kind}", xticks=[], yticks=[])
plt.show()
