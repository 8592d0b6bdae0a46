"""
How many passes over the data?
==============================

You learn how the exact solver works: it solves a small problem on few rows, asks all rows which of them are violated
most, and repeats.

Each pass over the data gives a lower bound from all rows, and the small problem an upper one. A handful of passes is
enough, however many rows there are: only about as many rows as there are features end up as support vectors.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import MaxMargin

rng = np.random.default_rng(0)
w = np.ones(30) / np.sqrt(30)
sizes = [1_000, 3_000, 10_000, 30_000, 100_000, 200_000]
passes, support = [], []
for n in sizes:
    X = rng.normal(size=(n, 30))
    X += 0.05 * np.outer(np.sign(X @ w), w)
    model = MaxMargin(C=np.inf).fit(X, X @ w > 0)
    passes.append(model.n_passes_)
    support.append(len(model.support_))
    print(f"{n:>7,} rows: gap {model.certificate_.gap:.0e} by {model.solver_}")

figure, ax = plt.subplots()
ax.semilogx(sizes, passes, "o-", label="passes over the data")
ax.semilogx(sizes, support, "s--", label="support vectors")
ax.set(xlabel="rows", ylim=(0, None), title="30 features, the hard margin")
ax.legend()
plt.show()
