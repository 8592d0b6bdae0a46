"""
The maximum margin hyperplane
=============================

You learn what the maximum margin is: of all lines between two classes, the one whose nearest rows are farthest away.

The shaded band holds no row. The ringed rows lie on its border; they are the *support vectors*, and they alone decide
where the line is. The certificate proves that no other line has a wider band.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from separatrix import MaxMargin
from separatrix.plots import BoundaryDisplay

data = load_iris()
X, y = data.data[:, 2:], np.where(data.target == 0, "setosa", "other")

model = MaxMargin(C=float("inf")).fit(X, y)  # inf: no row may be inside the band
print(model.certificate_)
print("support vectors:", model.support_.tolist())

BoundaryDisplay.from_estimator(model, X, y, feature_names=data.feature_names[2:])
plt.show()
