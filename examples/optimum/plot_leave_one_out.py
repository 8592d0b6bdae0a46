"""
Support vectors bound the error
===============================

You learn the leave-one-out bound: a row that is no support vector can be left out without changing the line, so the
share of support vectors bounds the error on new rows.

Each row is left out in turn and predicted from the others. The share of such errors is an estimate of the error on
new rows, and it cannot exceed the share of support vectors (hard margin). The bound is loose and free.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.model_selection import LeaveOneOut, cross_val_score

from separatrix import MaxMargin, bounds, separability

sizes, shares, errors = [], [], []
for seed in range(8):
    for n in (16, 24, 40):
        X, y = make_blobs(n, 6, centers=2, cluster_std=3.0, random_state=seed)
        if not separability(X, y):
            continue
        model = MaxMargin(C=np.inf).fit(X, y)
        sizes.append(n)
        shares.append(bounds.leave_one_out(len(model.support_), n))
        errors.append(1 - cross_val_score(MaxMargin(C=np.inf), X, y, cv=LeaveOneOut()).mean())

figure, ax = plt.subplots()
dots = ax.scatter(shares, errors, c=sizes, cmap="cividis", s=45, edgecolors="k", linewidths=0.4)
ax.plot([0, max(shares)], [0, max(shares)], "k--", label="the bound")
ax.set(xlabel="support vectors / rows", ylabel="errors when left out", title="separable data in six dimensions")
figure.colorbar(dots, label="rows", ticks=[16, 24, 40])
ax.legend()
plt.show()
