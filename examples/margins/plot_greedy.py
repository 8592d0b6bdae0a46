"""
Greedy corrections
==================

You learn what the greedy Perceptron does: of several increments it takes, at every correction, the one that leaves
the fewest errors.

From a zero start a fixed increment only rescales the path, so all fixed rates need the same number of corrections.
The greedy choice needs fewer here. Each of its corrections costs a pass over the data: it saves corrections, not
always time.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from separatrix import GreedyPerceptron, Perceptron

warnings.simplefilter("ignore", ConvergenceWarning)  # runs are cut off on purpose, to see their beginning
X, y = make_blobs(80, centers=2, cluster_std=1.5, random_state=9758)
shared = {"fit_intercept": False, "shuffle": False}


def errors(model):
    """Errors on all rows after 0, 1, 2, ... corrections."""
    total = model.set_params(max_updates=None).fit(X, y).n_updates_
    counts = [len(y)]
    for k in range(1, total + 1):
        counts.append(np.sum(model.set_params(max_updates=k).fit(X, y).predict(X) != y))
    return counts


figure, ax = plt.subplots()
for name, model, style in [
    ("fixed, eta = 1", Perceptron(until="separated", **shared), "C1-"),
    ("fixed, eta = 4", Perceptron(eta=4.0, until="separated", **shared), "C4:"),
    ("greedy, of {0.5, 1, 2, 4}", GreedyPerceptron((0.5, 1.0, 2.0, 4.0), until="separated", **shared), "C0-"),
]:
    counts = errors(model)
    ax.plot(counts, style, lw=2, label=f"{name}: {len(counts) - 1} corrections")
ax.set(xlabel="corrections", ylabel="errors on the 80 rows", yscale="symlog", title="Figure 3.4's data")
ax.legend()
plt.show()
