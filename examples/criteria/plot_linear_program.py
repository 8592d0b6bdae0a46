"""
Linear programs, and what they minimise
=======================================

You learn what a linear program finds where nothing separates: the smallest total amount by which patterns miss their
margin.

The simplex method, or any other solver of linear programs, minimizes the sum of the slacks *tau*, the Perceptron
criterion. The soft maximum margin weighs the squared hinge loss against the width of the band. Both give each row a
slack; the program leaves most at zero and a few large, the squared hinge loss spreads it. If a line separates, the sum
is zero, and the program is a test.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearProgram, MaxMargin

rng = np.random.default_rng(5)
X = np.vstack([rng.normal((-1, 0), 0.7, (50, 2)), rng.normal((1, 0), 0.7, (50, 2))])
y = np.repeat([0, 1], 50)
labels = 2 * y - 1
models = {"LinearProgram": LinearProgram().fit(X, y), "MaxMargin, C = 10": MaxMargin(C=10.0).fit(X, y)}

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4))
axes[0].scatter(*X[y == 0].T, s=14)
axes[0].scatter(*X[y == 1].T, s=14, marker="^")
for (name, model), colour in zip(models.items(), ("C4", "k"), strict=True):
    w, b = model.coef_[0], model.intercept_[0]
    foot = -b * w / (w @ w)
    axes[0].axline(foot, foot + np.array([-w[1], w[0]]), color=colour, lw=2, label=name)
    slack = np.sort(np.maximum(0, 1 - labels * model.decision_function(X)))[::-1]
    axes[1].plot(np.arange(1, 31), slack[:30], "o-", color=colour, ms=3, label=f"sum {slack.sum():.2f}")
axes[0].legend(loc="upper center")
axes[0].set(ylim=(-2.4, 3.2))
axes[1].set(xlabel="patterns, worst first", ylabel="slack", title="what each pattern lacks to a margin of 1")
axes[1].legend()
plt.show()
