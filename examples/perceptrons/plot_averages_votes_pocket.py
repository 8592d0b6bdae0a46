"""
Averages, votes and a pocket
============================

You learn what to do with a Perceptron on data that no hyperplane separates: do not trust its last vector.

The last vector depends on the last few mistakes and jumps about. The mean over all visits is calm. Voting lets every
vector of the run vote. The pocket keeps the best vector that the run has met.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from separatrix import MaxMargin, Perceptron, Pocket, VotedPerceptron

warnings.simplefilter("ignore", ConvergenceWarning)  # none of them can end here
X, y = make_classification(1200, 12, n_informative=6, flip_y=0.15, class_sep=0.9, random_state=3)
X, new_X, y, new_y = train_test_split(scale(X), y, test_size=0.5, random_state=0)

epochs = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25]
figure, ax = plt.subplots()
for model, line in [
    (Perceptron(until="separated"), "C1-"),
    (Perceptron(average=True, until="separated"), "C0-"),
    (VotedPerceptron(until="separated"), "C2--"),
    (Pocket(until="separated"), "C3-."),
]:
    scores = [model.set_params(max_iter=k).fit(X, y).score(new_X, new_y) for k in epochs]
    name = type(model).__name__ + (", averaged" if model.get_params().get("average") else "")
    ax.plot(epochs, scores, line, label=name)
ax.axhline(MaxMargin(C=0.1).fit(X, y).score(new_X, new_y), color="0.5", ls=":", label="MaxMargin, soft")
ax.set(xlabel="epochs", ylabel="accuracy on new rows", title="15% of the labels are noise")
ax.legend(ncols=2, loc="lower right")
plt.show()
