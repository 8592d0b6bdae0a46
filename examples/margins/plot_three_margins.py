"""
Directional and geometric margin
================================

You learn the difference between the two margins that the library reports, and what *rho* has to do with it.

The *geometric* margin is the distance from the hyperplane in the space of the features. The *directional* margin is
the distance in the augmented space, where the bias is one more weight. It is never larger, and the larger *rho*, the
nearer the two come: 1 <= *gamma/gamma_d* <= *R/rho*. Theorems about online rules speak of the directional one,
relative to *R*, and *R* grows with *rho*: a very large *rho* makes the problem harder.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from separatrix import MaxMargin

X, y = load_iris(return_X_y=True)
y = y == 0
rhos = np.logspace(-1, 2, 25)
models = [MaxMargin(C=np.inf, intercept_scaling=rho).fit(X, y) for rho in rhos]
free = MaxMargin(C=np.inf, fit_intercept="unpenalized").fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4))
left.semilogx(rhos, [m.geometric_margin_ for m in models], "o-", label="geometric margin")
left.semilogx(rhos, [m.directional_margin_ for m in models], "s-", label="directional margin")
left.axhline(free.geometric_margin_, color="k", ls="--", label='fit_intercept="unpenalized"')
left.set(xlabel="intercept_scaling", ylabel="margin", title="large rho: the two margins agree")
left.legend()
right.loglog(rhos, [(m.certificate_.radius / m.directional_margin_) ** 2 for m in models], "^-", color="C2")
right.set(xlabel="intercept_scaling", ylabel="(R/gamma$_d$)$^2$", title="large rho: more updates of online rules")
plt.show()
