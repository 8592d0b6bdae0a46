"""
Least squares approximates the posterior
========================================

You learn in which sense squared error is a Bayes classifier: with targets of +1 and -1 its score is the best linear
approximation to the difference of the posterior probabilities.

In one dimension the posterior is an S. A line is a poor approximation; a polynomial, that is least squares on more
functions of the same feature, comes nearer where the data are. `LeastSquares` clips what leaves the range from 0 to
1. Above are the densities of the two classes; least squares comes nearest where they are large.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from separatrix import LeastSquares

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(-1, 0.8, 2000), rng.normal(1.2, 1.0, 2000)])[:, None]
y = np.repeat([0, 1], 2000)
at = np.linspace(-4, 4.5, 300)[:, None]
dense = [np.exp(-((at[:, 0] - m) ** 2) / (2 * s**2)) / s for m, s in ((-1, 0.8), (1.2, 1.0))]

figure, (top, ax) = plt.subplots(2, 1, figsize=(6.4, 6.2), sharex=True, height_ratios=[1, 2])
for k, name in enumerate(("first class", "second class")):
    top.plot(at, dense[k] / np.sqrt(2 * np.pi), color=f"C{k + 3}", label=name)
top.set(ylabel="density")
top.legend()
ax.plot(at, dense[1] / (dense[0] + dense[1]), "k", lw=3, alpha=0.4, label="the true posterior")
for degree, style in ((1, "C1-"), (3, "C0--"), (7, "C2-.")):
    model = make_pipeline(PolynomialFeatures(degree, include_bias=False), LeastSquares()).fit(x, y)
    ax.plot(at, model.predict_proba(at)[:, 1], style, label=f"least squares, degree {degree}")
ax.plot(x[::40, 0], np.where(y[::40] == 1, 1.04, -0.04), "|", color="0.3")
ax.set(xlabel="x", ylabel="probability of the second class", ylim=(-0.08, 1.08))
ax.legend(loc="center right")
plt.show()
