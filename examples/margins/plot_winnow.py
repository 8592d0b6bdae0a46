"""
Winnow: many features of which few matter
=========================================

You learn when multiplying weights beats adding to them.

The class depends on three of *d* features. The Perceptron's corrections grow with the number of irrelevant ones;
Winnow's grow only like its logarithm. Its margin is measured with other norms: the largest feature, and the sum of
the weights.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import BalancedWinnow, Perceptron

rng = np.random.default_rng(0)
sizes = [20, 50, 100, 200, 400, 800]
updates = {"Perceptron": [], "BalancedWinnow": []}
for d in sizes:
    X = rng.choice([-1.0, 1.0], (1000, d))
    y = X[:, 0] + X[:, 1] + X[:, 2] > 0  # a majority of three
    updates["Perceptron"].append(Perceptron(fit_intercept=False, until="separated").fit(X, y).n_updates_)
    updates["BalancedWinnow"].append(
        BalancedWinnow(alpha=1.3, fit_intercept=False, until="separated").fit(X, y).n_updates_
    )
last = BalancedWinnow(alpha=1.3, fit_intercept=False, until="separated").fit(X, y)
additive = Perceptron(fit_intercept=False, until="separated").fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4))
for (name, counts), mark in zip(updates.items(), "os", strict=True):
    left.plot(sizes, counts, f"{mark}-", label=name)
left.set(xlabel="features, three of them relevant", ylabel="corrections", title="1,000 rows of signs")
left.legend()
for model, mark in ((additive, "o"), (last, "s")):
    weights = np.abs(model.coef_[0]) / np.abs(model.coef_[0]).max()
    right.plot(np.arange(1, 61), weights[:60], mark, ms=4, label=type(model).__name__)
right.set(xlabel="feature", ylabel="size of its weight", title="the first 60 of 800 weights")
plt.show()
