"""What the programs in this folder share: data, patterns, and estimators that run as the sources print them.

Each program states an algorithm of a source in plain numpy, read from the source and not from the library, and compares
vectors and counts after a few steps and at the end.
"""

from inspect import signature

import numpy as np

STEPS = (1, 2, 3, 5, 9, 20, None)  # updates after which a run is compared; None: at its end


def as_printed(cls, *args, **options):
    """An estimator that takes the rows in their order and returns the vector with which its algorithm ends."""
    parameters = signature(cls).parameters
    printed = {"shuffle": False, "until": "separated", "max_iter": 3000}
    return cls(*args, **{k: v for k, v in printed.items() if k in parameters} | options)


def labels(y):
    """+1 for the larger label, -1 for the other."""
    return np.where(y == y.max(), 1.0, -1.0)


def patterns(X, y, rho=1.0):
    """The rows (x, rho) with the sign of their label, as a matrix; rho = 0 leaves the last coordinate out."""
    signs = labels(y)[:, None]
    return signs * (np.column_stack([X, np.full(len(X), rho)]) if rho else X)


def vector(model, rho=1.0):
    """The fitted vector in the coordinates of `patterns`."""
    return np.append(model.coef_.ravel(), model.intercept_.ravel() / rho) if rho else model.coef_.ravel()


def machine(model):
    """The fitted machine, a row (a_j, its bias) per class."""
    return np.column_stack([model.coef_, model.intercept_])


def begin(start):
    """A start a(1) as options of ``fit``; None begins at 0."""
    if start is None:
        return {}
    start = np.atleast_2d(start)
    return {"coef_init": start[:, :-1], "intercept_init": start[:, -1]}


def problem(seed, separable=True):
    """Rows and labels 0 and 1, drawn; three rows have the wrong label if the problem is not to be separable."""
    n, d = [(12, 2), (20, 3), (30, 5)][seed]
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)).round(3), rng.normal(size=d)
    m = X @ w + 0.3
    if separable:
        X, m = X[abs(m) > 0.3], m[abs(m) > 0.3]
    y = (m > 0).astype(int)
    if not separable:
        y[:3] = 1 - y[:3]
    return X, y


def close(ours, theirs, tolerance=1e-9):
    """Two vectors of the same length are equal up to rounding."""
    np.testing.assert_allclose(theirs, ours, rtol=tolerance, atol=tolerance)
