"""
LMS and stochastic approximation
================================

You learn what the rate of the Widrow-Hoff rule (LMS) decides: whether it arrives, how fast, and how much it trembles.

A constant rate gets near quickly and then trembles about the least-squares solution for ever. A rate that falls like
1/*k* satisfies the conditions of Robbins and Monro for stochastic approximation - its sum is infinite, the sum of its
squares is not - and the error goes to zero. Too large a constant rate diverges; here it is cut off.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquares

rng = np.random.default_rng(1)
X = rng.normal(size=(2000, 4))
y = np.where(X @ [1.0, -0.5, 0.3, 0] + 0.8 * rng.normal(size=2000) > 0, 1, -1)
Y = y[:, None] * np.column_stack([X, np.ones(2000)])
solution = LeastSquares().fit(X, y)
target = np.append(solution.coef_[0], solution.intercept_[0])

figure, ax = plt.subplots()
rates = {
    "constant 0.05": lambda k: 0.05,
    "constant 0.005": lambda k: 0.005,
    "1/(20 + k)": lambda k: 1 / (20 + k),
    "constant 0.45: too large": lambda k: 0.45,
}
for (name, rate), style in zip(rates.items(), ("C1-", "C4-", "C0-", "C3:"), strict=True):
    a, errors = np.zeros(5), []
    for k in range(12_000):
        row = Y[k % 2000]
        a = a + rate(k) * (1 - a @ row) * row
        errors.append(np.linalg.norm(a - target))
        if errors[-1] > 30:
            break
    ax.semilogy(errors[::20], style, lw=1, label=name)
ax.set(xlabel="presentations / 20", ylabel="distance from the least-squares solution", title="LMS, four rates")
ax.legend()
plt.show()
