"""
One class is rare
=================

You learn what class weights do where one class has few rows: they move the boundary away from the rare class.

Without weights the rare class is nearly ignored, and the accuracy looks fine all the same.
``class_weight="balanced"`` makes the slack of a class cost more, the rarer it is. Look at the share of each class
that is found, not at the accuracy.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score, recall_score

from separatrix import MaxMargin

rng = np.random.default_rng(6)
X = np.vstack([rng.normal((0, 0), 1.0, (970, 2)), rng.normal((1.9, 1.4), 0.8, (30, 2))])
y = np.repeat(["common", "rare"], [970, 30])

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), sharey=True)
for ax, weight in zip(axes, (None, "balanced"), strict=True):
    model = MaxMargin(C=1.0, class_weight=weight).fit(X, y)
    predicted = model.predict(X)
    found = recall_score(y, predicted, pos_label="rare")
    print(f"{weight}: accuracy {model.score(X, y):.1%}, balanced {balanced_accuracy_score(y, predicted):.1%}")
    ax.scatter(*X[y == "common"].T, s=5, alpha=0.5, label="common")
    ax.scatter(*X[y == "rare"].T, s=28, marker="^", label="rare")
    w, b = model.coef_[0], model.intercept_[0]
    foot = -b * w / (w @ w)
    ax.axline(foot, foot + np.array([-w[1], w[0]]), color="k")
    ax.set(title=f"class_weight={weight!r}: {found:.0%} of the rare found", xlim=(-3.5, 4.2), ylim=(-3.5, 4))
axes[0].legend(loc="lower left")
plt.show()
