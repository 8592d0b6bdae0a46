"""
Data that come in blocks
========================

You learn to train without ever holding all rows: `partial_fit` takes one block after the other.

The averaged Perceptron sees each row once. After every block it is tried on rows that it has not seen. The last
vector jumps about; the average is better after a few thousand rows and keeps getting better.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Perceptron

d = 40
truth = np.random.default_rng(0).normal(size=d)


def block(seed, rows=2000):
    """A block of rows as it may come from a file or a queue; 5% of the labels are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d)).astype(np.float32)
    y = (X @ truth + rng.normal(size=rows) > 0).astype(int)
    return X, np.where(rng.random(rows) < 0.05, 1 - y, y)


new_X, new_y = block(10_000, 20_000)
models = {"last vector": Perceptron(), "average": Perceptron(average=True)}
scores = {name: [] for name in models}
for k in range(1, 41):
    X, y = block(k)
    for name, model in models.items():
        model.partial_fit(X, y, classes=[0, 1])
        scores[name].append(model.score(new_X, new_y))

figure, ax = plt.subplots()
for (name, values), style in zip(scores.items(), ("C1-", "C0-"), strict=True):
    ax.plot(2000 * np.arange(1, 41), values, style, label=name)
ax.set(xlabel="rows seen, each once", ylabel="accuracy on new rows", title="a stream of blocks of 2,000 rows")
ax.legend()
plt.show()
