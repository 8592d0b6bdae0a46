"""
Large steps, small steps
========================

You learn what the increment *eta* changes: nothing at all if it is constant and the start is zero, much if it depends
on the number of corrections.

The sequence 1/*k* makes ever smaller corrections; *k* makes ever larger ones, so late patterns outweigh early ones.
Both end on separable data, and 1/*k* may take long. A margin *b* > 0 costs more corrections and buys a wider margin.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from separatrix import MaxMargin, Perceptron

X, y = make_blobs(80, centers=[(-1.5, 0), (1.5, 0.6)], cluster_std=0.55, random_state=11)
best = MaxMargin(C=np.inf).fit(X, y).certificate_.upper
settings = {
    "eta = 1": Perceptron(until="separated"),
    "eta = 7": Perceptron(eta=7.0, until="separated"),
    "eta = 1/k": Perceptron(eta="1/k", until="separated"),
    "eta = k": Perceptron(eta="k", until="separated"),
    "margin 5": Perceptron(margin=5.0, until="separated"),
    "margin 50": Perceptron(margin=50.0, until="separated"),
    "margin 500": Perceptron(margin=500.0, until="separated"),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True)
places = np.arange(len(settings))
updates, shares = [], []
for model in settings.values():
    pairs = []
    for seed in range(20):
        fitted = model.set_params(random_state=seed, max_iter=100_000).fit(X, y)
        pairs.append((fitted.n_updates_, fitted.directional_margin_ / best))
    updates.append([p[0] for p in pairs])
    shares.append([p[1] for p in pairs])
left.boxplot(updates, orientation="horizontal", positions=places, tick_labels=list(settings))
left.set(xscale="log", xlabel="corrections until the end")
right.boxplot(shares, orientation="horizontal", positions=places, tick_labels=list(settings))
right.set(xlabel="share of the best margin", xlim=(0, 1))
left.set_title("twenty orders of the same data")
plt.show()
