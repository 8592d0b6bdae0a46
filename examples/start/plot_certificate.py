"""
A certificate while it grows
============================

You learn what the two numbers of a certificate are: a margin that the fit has reached, and one that no hyperplane can
exceed.

The truth lies between the curves at every moment. The fit may stop when they are near enough for you: here, when at
least 95% of the best margin is certain. Both are recomputed from the data at the end, and `verify` does it once more
from nothing but the data.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from separatrix import DynamicMargin
from separatrix.plots import BoundsDisplay

X, y = load_wine(return_X_y=True)
X, y = scale(X), y == 0

model = DynamicMargin(epsilon=0.05, until="separated").fit(X, y)
print(model.certificate_)
print(model.certificate_.verify(X, y))

BoundsDisplay.from_estimator(DynamicMargin(epsilon=0.05, until="separated"), X, y)
plt.show()
