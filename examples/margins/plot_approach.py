"""
How much margin for how many updates?
=====================================

You learn which online rule comes near the maximum margin with the fewest corrections.

Each rule has a knob for accuracy; each point is one complete run. All of them arrive here; the price differs, most of
all for the last percent. The dashed line is the certified maximum.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from separatrix import ALMA, CRAMMA, MICRA, DynamicMargin, MaxMargin, Perceptron

X, y = load_wine(return_X_y=True)
X, y = scale(X), y == 1
best = MaxMargin(C=np.inf).fit(X, y).certificate_
R2 = best.radius**2
runs = {
    "Perceptron with margin": [Perceptron(margin=k * R2, until="separated") for k in (0, 0.3, 1, 3, 10, 30, 100)],
    "ALMA": [ALMA(alpha, until="separated") for alpha in (0.95, 0.8, 0.6, 0.4, 0.25, 0.15)],
    "CRAMMA": [CRAMMA(beta, until="separated") for beta in (0.3, 0.6, 1, 2, 4, 8)],
    "MICRA": [MICRA(beta, until="separated") for beta in (0.3, 0.6, 1, 2, 4)],
    "DynamicMargin": [DynamicMargin(epsilon, until="separated") for epsilon in (0.9, 0.7, 0.5, 0.3, 0.1, 0.05, 0.02)],
}
figure, ax = plt.subplots()
for (name, models), mark in zip(runs.items(), "os^vD", strict=True):
    points = []
    for model in models:
        model.set_params(shuffle=False, max_iter=200_000, max_updates=1_000_000).fit(X, y)
        points.append((model.n_updates_, model.directional_margin_))
    ax.semilogx(*np.array(sorted(points)).T, f"{mark}-", ms=5, label=name)
ax.axhline(best.lower, color="k", ls="--", lw=1, label="the maximum, certified")
ax.set(xlabel="updates", ylabel="directional margin", title="Wine, the second cultivar against the others")
ax.legend()
plt.show()
