"""
Fisher's discriminant by least squares
======================================

You learn that a choice of targets turns least squares into Fisher's linear discriminant: the direction along which
the class means lie far apart compared with the scatter within the classes.

The targets are *n/n_1* for one class and *n/n_2* for the other. Left, the direction that joins the means ignores how
the classes are stretched. Right, Fisher's direction does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquares

rng = np.random.default_rng(3)
spread = np.array([[2.0, 1.6], [1.6, 2.0]])
X = np.vstack([rng.multivariate_normal((0, 0), spread, 300), rng.multivariate_normal((1.8, 0), spread, 150)])
y = np.repeat([0, 1], [300, 150])
model = LeastSquares(target="fisher").fit(X, y)
directions = {
    "along the difference of the means": X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0),
    "along Fisher's direction": model.fisher_direction_,
}
figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.8))
axes[0].scatter(*X[y == 0].T, s=6)
axes[0].scatter(*X[y == 1].T, s=6, marker="^")
centre = X.mean(axis=0)
for (_, direction), colour in zip(directions.items(), ("0.5", "k"), strict=True):
    direction = np.ravel(direction) / np.linalg.norm(direction)
    axes[0].axline(centre, centre + direction, color=colour, lw=2)
axes[0].set(title="two stretched classes", xlim=(-5, 6), ylim=(-5, 5))
for ax, (name, direction) in zip(axes[1:], directions.items(), strict=True):
    projected = X @ (np.ravel(direction) / np.linalg.norm(direction))
    bins = np.linspace(projected.min(), projected.max(), 40)
    ax.hist(projected[y == 0], bins, alpha=0.6, density=True)
    ax.hist(projected[y == 1], bins, alpha=0.6, density=True)
    ax.set(title=name, yticks=[])
plt.show()
