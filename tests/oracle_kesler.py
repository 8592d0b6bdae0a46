"""Kesler's construction written out, for the oracles of two categories (DHS 5.12.1)."""

from contextlib import contextmanager
from unittest import mock

import numpy as np
import oracle


def patterns(X, y, rho=1.0, delta=0.0):
    """Row k of category i and each rival j in turn: (x, rho) in block i, its negative in block j; Delta behind it."""
    X, classes = np.asarray(X, dtype=np.float64), np.unique(y)
    out = []
    for x, label in zip(X, y, strict=True):
        i = int(np.flatnonzero(classes == label)[0])
        for j in range(len(classes)):
            if j != i:
                eta = np.zeros((len(classes), X.shape[1] + 1))
                eta[i], eta[j] = np.append(x, rho), -np.append(x, rho)
                out.append(eta.ravel())
    Y = np.array(out)
    return np.column_stack([Y, delta * np.eye(len(Y))]) if delta > 0 else Y


@contextmanager
def strongest_rival(rivals):
    """Within it the oracles see, of the patterns of a row, only the one with the smallest a.y."""

    def cycle(Y, correct, weight=None, max_epochs=20, start=None):
        a, t, path = np.zeros(Y.shape[1]) if start is None else start, 1, []
        weight = np.ones(len(Y)) if weight is None else weight
        for _ in range(max_epochs):
            before = t
            for first in range(0, len(Y), rivals):
                k = first + int(np.argmin(Y[first : first + rivals] @ a))
                corrected = correct(a, Y[k], t, weight[k])
                if corrected is not None:
                    a, t = corrected, t + 1
                path.append(a)
            if t == before:
                return oracle.Run(a, t - 1, True, path)
        return oracle.Run(a, t - 1, False, path)

    with mock.patch.object(oracle, "cycle", cycle):
        yield


@contextmanager
def every_rival():
    """The procedure of two categories over all patterns, as it is."""
    yield
