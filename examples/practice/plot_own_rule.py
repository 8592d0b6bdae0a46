"""
A rule of your own
==================

You learn to write a new update rule in ten lines and to run it at compiled speed, with a certificate like any other.

A rule is a ``NamedTuple`` of numbers with two formulas: when a pattern is corrected, and by how much. This one is a
Perceptron whose corrections double when the mistake is gross. It only adds positive multiples of patterns, so the
upper bound on the margin comes for free.
"""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from separatrix import Perceptron, PerceptronLike


class Indignant(NamedTuple):
    """``a.y <= margin``: ``a += y``, or ``a += strength y`` where ``a.y`` is below minus the margin."""

    margin: float
    strength: float

    def violates(self, m, s):
        return m <= self.margin

    def gain(self, m, s):
        return self.strength if m < -self.margin else 1.0


X, y = load_wine(return_X_y=True)
X, y = scale(X), y == 1
print(PerceptronLike(Indignant(10.0, 3.0), until="separated").fit(X, y).certificate_)

margins = np.logspace(0, 3, 10)
figure, ax = plt.subplots()
for name, make, style in [
    ("Perceptron", lambda b: Perceptron(margin=b, until="separated"), "o-"),
    ("Indignant, strength 3", lambda b: PerceptronLike(Indignant(b, 3.0), until="separated"), "s--"),
    ("Indignant, strength 10", lambda b: PerceptronLike(Indignant(b, 10.0), until="separated"), "^:"),
]:
    fits = [make(float(b)).set_params(max_iter=20_000).fit(X, y) for b in margins]
    ax.semilogx([f.n_updates_ for f in fits], [f.directional_margin_ for f in fits], style, label=name)
ax.set(xlabel="updates", ylabel="directional margin", title="wine, the second cultivar")
ax.legend()
plt.show()
