"""
Hard or soft margin?
====================

You learn why a separable data set may still be served better by a soft margin, which lets some rows be inside the
band.

The breast cancer data are separable, but only just: the hard margin hangs on a few rows. A moderate price of slack
*C* gives a wider band and predicts new rows better. `max_margin_path` solves for many *C* at little more than the
price of one; the data decide which to take, by cross-validation.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from separatrix import MaxMargin, max_margin_path

X, y = load_breast_cancer(return_X_y=True)
Cs = np.logspace(-4, 4, 13)
scores = [cross_val_score(make_pipeline(StandardScaler(), MaxMargin(C=C)), X, y, cv=5).mean() for C in Cs]
hard = cross_val_score(make_pipeline(StandardScaler(), MaxMargin(C=np.inf)), X, y, cv=5).mean()
models = max_margin_path(scale(X), y, Cs)

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6.4, 5.4))
above.semilogx(Cs, scores, "o-", label="soft margin")
above.axhline(hard, ls="--", color="C1", label="hard margin")
above.set(ylabel="accuracy on held-out rows", title=f"Best C = {Cs[np.argmax(scores)]:.3g}: {max(scores):.1%}")
above.legend()
below.loglog(Cs, [1 / np.linalg.norm(model.coef_) for model in models], "s-", color="C2")
below.set(xlabel="C, the price of slack", ylabel="half width of the band")
plt.show()
