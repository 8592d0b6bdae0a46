"""The layouts in which the same data are given to the batch procedures, and what a fit made of them."""

import numpy as np
import scipy.sparse as sp

LAYOUTS = {"dense": np.asarray, "csr": sp.csr_matrix, "float32": lambda X: X.astype(np.float32)}


def as_seen(X, layout):
    """The numbers that a layout holds, in float64."""
    return X.astype(np.float32).astype(np.float64) if layout == "float32" else X


def weights(y):
    """Integers from 1 to 3."""
    return np.random.default_rng(len(y)).integers(1, 4, len(y)).astype(float)


def vector(model):
    """(w, bias/rho) of a model for two classes."""
    return np.append(model.coef_[0], model.intercept_[0] / model.rho if model.fit_intercept else 0.0)
