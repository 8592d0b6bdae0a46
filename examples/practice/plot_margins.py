"""
Which rows are doubtful?
========================

You learn to read the distribution of the margins: how far every row is from the boundary, on its own side or on the
wrong one.

Rows with a negative distance are errors; those near zero are the ones to look at by hand. The display works for any
number of features and classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from separatrix import MaxMargin
from separatrix.plots import MarginDisplay

data = load_breast_cancer()
X, y = scale(data.data), data.target_names[data.target]
model = MaxMargin(C=0.02).fit(X, y)
display = MarginDisplay.from_estimator(model, X, y)

worst = np.argsort(display.margins)[:5]
for row in worst:
    print(f"row {row}: labelled {y[row]}, {display.margins[row]:+.2f} from the boundary")
plt.show()
