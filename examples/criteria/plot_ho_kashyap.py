"""
Ho-Kashyap: two ways to end
===========================

You learn how the Ho-Kashyap procedure decides separability: the errors *e = Ya - b* either go to zero, or all become
non-positive, which proves that no hyperplane separates.

Targets *b* that are exceeded grow; none ever shrinks. On separable data the smallest *a.y* becomes positive. On the
right the classes overlap: the negative part of the error stays, the positive part vanishes, and *-e* is a combination
of patterns that is zero.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import HoKashyap

X = np.array([[-2.0, -1], [-2, 0], [-2, 1], [-1, -1], [-1, 1], [2, 0], [3, -1], [3, 1]])
y = np.array([0, 0, 0, 1, 1, 1, 1, 1])
rng = np.random.default_rng(2)
overlapping = np.vstack([rng.normal((-1, 0), 0.9, (12, 2)), rng.normal((1, 0.3), 0.9, (12, 2))])


def trace(X, y, steps=150, eta=0.5):
    """Smallest a.y, and the positive and negative part of e, step by step."""
    Y = (2 * y - 1)[:, None] * np.column_stack([X, np.ones(len(X))])
    inverse, b, record = np.linalg.pinv(Y), np.ones(len(X)), []
    for _ in range(steps):
        a = inverse @ b
        e = Y @ a - b
        record.append((np.min(Y @ a), np.maximum(e, 0).sum(), np.maximum(-e, 0).sum()))
        b = b + eta * (e + np.abs(e))
    return np.array(record).T


figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True)
for ax, data in zip(axes, ((X, y), (overlapping, np.repeat([0, 1], 12))), strict=True):
    least, plus, minus = trace(*data)
    model = HoKashyap().fit(*data)
    ax.semilogy(np.maximum(plus, 1e-9), label="positive part of e")
    ax.semilogy(np.maximum(minus, 1e-9), "--", label="negative part of e")
    first = np.flatnonzero(least > 0)
    if len(first):
        ax.axvline(first[0], color="k", ls=":", label="all a.y > 0")
    ax.set(title=f"{model.outcome_}, decided after {model.n_epochs_} steps", xlabel="steps", ylim=(1e-9, 100))
    ax.legend()
    print(model.certificate_)
plt.show()
