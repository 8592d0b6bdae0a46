"""
From margins to probabilities
=============================

You learn to turn the scores of a separator into probabilities, and to check them.

A margin is no probability. scikit-learn's calibration learns the way from one to the other on rows that the fit has
not seen. The curve compares what is said with what happens: on the diagonal, of the rows that get 80%, 80% belong to
the class.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from separatrix import LeastSquares, MaxMargin

X, y = make_classification(6000, 20, n_informative=5, flip_y=0.1, class_sep=0.8, random_state=1)
X, new_X, y, new_y = train_test_split(X, y, test_size=0.5, random_state=0)
models = {
    "MaxMargin, sigmoid": CalibratedClassifierCV(MaxMargin(C=0.1), cv=5),
    "MaxMargin, isotonic": CalibratedClassifierCV(MaxMargin(C=0.1), cv=5, method="isotonic"),
    "LeastSquares, bent at 0 and 1": LeastSquares(),
}
figure, ax = plt.subplots(figsize=(5.6, 5))
for (name, model), mark in zip(models.items(), "os^", strict=True):
    CalibrationDisplay.from_estimator(model.fit(X, y), new_X, new_y, n_bins=10, ax=ax, name=name, marker=mark)
ax.set(xlabel="probability that is said", ylabel="share that happens")
plt.show()
