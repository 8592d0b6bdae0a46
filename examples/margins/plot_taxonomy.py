"""
Effective rates: what tells the rules apart
===========================================

You learn the taxonomy of Perceptron-like algorithms: how large a correction is compared with the vector it corrects,
and what margin a pattern must have to be left alone.

The *effective rate* is the length of a correction divided by the length of the weight vector. The Perceptron's falls,
because its vector grows; ALMA's falls like 1/sqrt(*t*), because its steps shrink; CRAMMA's is constant, and all of
its relaxation is in the threshold, which falls like *t*\\ :sup:`-eps`. The threshold here is the one on the
directional margin *u.y*.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import MaxMargin

rng = np.random.default_rng(1)
X = rng.normal(size=(150, 5))
w = np.ones(5) / np.sqrt(5)
X += 0.05 * np.outer(np.sign(X @ w), w)
labels = np.sign(X @ w)
Y = labels[:, None] * np.column_stack([X, np.ones(150)])
Y /= np.linalg.norm(Y, axis=1).max()  # R = 1
gamma = MaxMargin(C=np.inf, fit_intercept=False).fit(Y * labels[:, None], labels).directional_margin_


def run(start, threshold, rate, normalise):
    """Updates of a rule in which ``threshold(t, |a|)`` and ``rate(t)`` are its formulas."""
    a, t, record = start.copy(), 1, []
    while t < 20_000:
        t_before = t
        for y in Y:
            length = np.linalg.norm(a)
            if a @ y <= threshold(t, length) * length or length == 0:
                record.append((rate(t) / max(length, 1e-12), threshold(t, max(length, 1e-12))))
                a = normalise(a + rate(t) * y)
                t += 1
        if t == t_before:
            break
    return np.array(record)


def unit(a):
    return a / np.linalg.norm(a)


def ball(a):
    return a / max(np.linalg.norm(a), 1.0)


zero, first, alpha = np.zeros(6), unit(Y[0]), 0.6
rules = {
    "Perceptron, b = 1": run(zero, lambda t, n: 1.0 / max(n, 1e-12), lambda t: 1.0, lambda a: a),
    "ALMA, alpha = 0.6": run(
        zero,
        lambda t, n: (1 - alpha) * np.sqrt(8) / alpha / np.sqrt(t) / max(n, 1e-12),
        lambda t: np.sqrt(2 / t),
        ball,
    ),
    "CRAMMA, eps = 1/2": run(first, lambda t, n: 1.5 / np.sqrt(t), lambda t: 0.02, unit),
    "fixed margin": run(first, lambda t, n: 0.7 * gamma, lambda t: 0.02, unit),
}
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4))
for name, record in rules.items():
    t = np.arange(1, len(record) + 1)
    axes[0].loglog(t[1:], record[1:, 0], label=f"{name}: {len(record)} updates")
    axes[1].loglog(t[1:], record[1:, 1], label=name)
axes[1].axhline(gamma, color="k", ls="--", lw=1, label="the maximum margin")
axes[0].set(xlabel="update t", title="effective rate")
axes[1].set(xlabel="update t", title="threshold on u.y")
axes[0].legend(loc="upper right", fontsize=8)
plt.show()
