"""Naive oracles of the rules with a covariance, as the papers print them: S itself, its inverse where they have one.

``diagonal``: the off-diagonal entries of the inverse are dropped after every correction.
"""

import numpy as np
from oracle import cycle
from scipy.stats import norm


def _dropped(inverse, diagonal):
    return np.diag(np.diag(inverse)) if diagonal else inverse


def second_order_perceptron(Y, ridge=1.0, diagonal=False, **how):
    """Cesa-Bianchi, Conconi & Gentile 2005, fig. 3.1: on trial y, w = (a I + S S^t + y y^t)^-1 v; a mistake: v += y.

    By its diagonal: a step of (1 - m)/(1 + v) A^-1 y, as there is no v in that form.
    """
    d = Y.shape[1]
    A, V = ridge * np.eye(d), np.zeros(d)

    def correct(a, y, t, c):
        nonlocal A, V
        if V @ np.linalg.solve(A + np.outer(y, y), y) > 0 if not diagonal else a @ y > 0:
            return None
        if diagonal:
            z = np.linalg.solve(A, y)
            a = a + c * (1 - a @ y) / (1 + c * (y @ z)) * z
        A, V = _dropped(A + c * np.outer(y, y), diagonal), V + c * y
        return a if diagonal else np.linalg.solve(A, V)

    return cycle(Y, correct, **how)


def arow(Y, r=1.0, tol=1e-3, diagonal=False, **how):
    """Crammer, Kulesza & Dredze 2009, fig. 1: beta = 1/(v + r), mu += max(0, 1 - m) beta S y, S -= beta S y y^t S."""
    S = np.eye(Y.shape[1])

    def correct(mu, y, t, c):
        nonlocal S
        if 1 - mu @ y < tol:
            return None
        z = S @ y
        beta = 1 / (y @ z + r / c)
        mu = mu + (1 - mu @ y) * beta * z
        S = np.linalg.inv(_dropped(np.linalg.inv(S - beta * np.outer(z, z)), diagonal))
        return mu

    return cycle(Y, correct, **how)


def scw(Y, confidence=0.9, C=1.0, variant="I", tol=1e-3, diagonal=False, **how):
    """Wang, Zhao & Hoi 2012, algorithm 1 with propositions 1 and 2: mu += alpha S y, S -= beta S y y^t S."""
    phi = norm.ppf(confidence)
    psi, zeta, S = 1 + phi**2 / 2, 1 + phi**2, np.eye(Y.shape[1])

    def correct(mu, y, t, c):
        nonlocal S
        z, m = S @ y, mu @ y
        v = y @ z
        if m >= phi * np.sqrt(v) * (1 - tol):
            return None
        if variant == "I":
            alpha = min(c * C, max(0, (-m * psi + np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)))
        else:
            n = v + 1 / (2 * c * C)
            gamma = phi * np.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
            alpha = max(0, (-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2)))
        u = 0.25 * (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2
        beta = alpha * phi / (np.sqrt(u) + v * alpha * phi)
        S = np.linalg.inv(_dropped(np.linalg.inv(S - beta * np.outer(z, z)), diagonal))
        return mu + alpha * z

    return cycle(Y, correct, **how)
