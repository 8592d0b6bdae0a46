"""Kesler's construction written out, for the oracles of two categories (DHS 5.12.1)."""

from contextlib import contextmanager
from unittest import mock

import numpy as np
import oracle
import quadprog


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


def mira(Y, rivals, C, variant="I", tol=1e-3, weight=None, max_iter=20, start=None):
    """Crammer & Singer 2003 with the C of Crammer et al. 2006: the nearest a' that gives all patterns of a row a margin
    of 1 - xi, by a solver of quadratic programs on the multipliers. Updates are counted by rows."""
    a, updates, path = np.zeros(Y.shape[1]) if start is None else start, 0, []
    weight = np.ones(len(Y)) if weight is None else weight
    for _ in range(max_iter):
        before = updates
        for first in range(0, len(Y), rivals):
            H, cost = Y[first : first + rivals], C * weight[first]
            loss = 1 - H @ a
            if loss.max() > tol:
                G, ones = H @ H.T, np.ones(rivals)
                if variant == "II":
                    G = G + np.outer(ones, ones) / (2 * cost)
                limits, least = np.column_stack([np.eye(rivals), -ones]), np.append(np.zeros(rivals), -min(cost, 1e12))
                if variant == "II":
                    limits, least = limits[:, :-1], least[:-1]
                a = a + np.maximum(quadprog.solve_qp(G, loss, limits, least)[0], 0) @ H
                updates += 1
            path.append(a)
        if updates == before:
            return oracle.Run(a, updates, True, path)
    return oracle.Run(a, updates, False, path)


@contextmanager
def strongest_rival(rivals):
    """Within it the oracles see, of the patterns of a row, only the one with the smallest a.y."""

    def cycle(Y, correct, weight=None, max_iter=20, start=None):
        a, t, path = np.zeros(Y.shape[1]) if start is None else start, 1, []
        weight = np.ones(len(Y)) if weight is None else weight
        for _ in range(max_iter):
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
