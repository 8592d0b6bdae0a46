"""Naive oracles of the procedures over all patterns at once: ``Y`` are the reflected patterns, ``c`` their weights.

Written from DHS chapter 5 (with the misprints put right), not from the solvers.
"""

from typing import NamedTuple

import numpy as np
from numpy.linalg import inv, norm, pinv
from scipy.optimize import linprog


class Path(NamedTuple):
    a: np.ndarray
    updates: int
    ended: bool


def batch_perceptron(Y, c, margin=0.0, eta=lambda k: 1.0, max_iter=1000):
    """Algorithm 6: a += eta(k) sum of the violated y, until there are none."""
    a = np.zeros(Y.shape[1])
    for k in range(1, max_iter + 1):
        wrong = Y @ a <= margin
        if not wrong.any():
            return Path(a, k - 1, True)
        a = a + eta(k) * (c[wrong] @ Y[wrong])
    return Path(a, max_iter, False)


def batch_relaxation(Y, c, margin, eta, tol, max_iter=1000):
    """Algorithm 8: a += eta sum over a.y <= b of (b - a.y)/|y|^2 y, until all a.y > b (1 - tol)."""
    a = np.zeros(Y.shape[1])
    for k in range(1, max_iter + 1):
        m = Y @ a
        if m.min() > margin * (1 - tol):
            return Path(a, k - 1, True)
        wrong = m <= margin
        pull = c[wrong] * (margin - m[wrong]) / (Y[wrong] ** 2).sum(axis=1)
        a = a + eta * (pull @ Y[wrong])
    return Path(a, max_iter, False)


def criterion(name, Y, c, a, b):
    """Value, gradient and Hessian of J_p, J_q, J_r, J_s, each as the book writes it."""
    m = Y @ a
    v = (m <= b) if name != "squared-error" else np.ones(len(Y), dtype=bool)
    V, w, e = Y[v], c[v], m[v] - b
    if name == "perceptron":
        return -(w @ e), -(w @ V), np.zeros((len(a), len(a)))
    if name == "relaxation":
        w = w / (V**2).sum(axis=1) / 2
    return w @ e**2, 2 * (w * e) @ V, 2 * V.T @ (w[:, None] * V)


def descent(name, Y, c, b, method, eta=None, tol=1e-4, max_iter=1000):
    """Algorithms 1 and 2, and eq. 14."""
    a = np.zeros(Y.shape[1])
    for k in range(1, max_iter + 1):
        _, g, H = criterion(name, Y, c, a, b)
        if not g.any() or (name != "squared-error" and (Y @ a).min() > b):
            return Path(a, k - 1, True)
        if method == "newton":
            step = -pinv(H, rcond=1e-12) @ g
            while criterion(name, Y, c, a + step, b)[0] > criterion(name, Y, c, a, b)[0] * (1 + 1e-12):
                step = step / 2
        else:
            step = -(eta(k) if method == "gradient" else (g @ g) / (g @ H @ g)) * g
        a = a + step
        if norm(step) <= tol * norm(a):
            return Path(a, k, True)
    return Path(a, max_iter, False)


class Trio(NamedTuple):
    a: np.ndarray
    b: np.ndarray
    steps: int
    outcome: str


def ho_kashyap(Y, c, b, eta, modified=False, max_iter=1000, enough=1e-13):
    """Algorithms 11 and 12 (eqs. 79-82, 88), with the pseudo-inverse written out."""
    b = np.array(b, dtype=float)
    root = np.sqrt(c)
    inverse = pinv(root[:, None] * Y) * root
    a = inverse @ b
    for k in range(1, max_iter + 1):
        e = Y @ a - b
        if np.all(Y @ a > 0):
            return Trio(a, b, k, "separable")
        if np.all(e <= enough):
            return Trio(a, b, k, "not separable")
        b = b + eta * (e + np.abs(e))
        a = a + eta * inverse @ np.abs(e) if modified else inverse @ b
    return Trio(a, b, max_iter, "undecided")


def ho_kashyap_descent(Y, c, b, eta=None, R=None, max_iter=1000):
    """Eq. 90, with the optimal step of eq. 94 where eta is None."""
    a, b, C = np.zeros(Y.shape[1]), np.array(b, dtype=float), np.diag(c)
    R = np.eye(Y.shape[1]) if R is None else R
    for k in range(1, max_iter + 1):
        e = Y @ a - b
        if np.all(Y @ a > 0):
            return Trio(a, b, k, "separable")
        g = Y.T @ C @ np.abs(e)
        step = (g @ R @ g) / (g @ R @ Y.T @ C @ Y @ R @ g) if eta is None else eta
        a, b = a + step * R @ g, b + (e + np.abs(e))
    return Trio(a, b, max_iter, "undecided")


def linear_program(Y, c, b, minimax):
    """5.10.2 and 5.10.3 with u = (a+, a-, tau) >= 0, as the book writes them; returns the minimum."""
    n, d = Y.shape
    slack, cost = (np.ones((n, 1)), np.ones(1)) if minimax else (np.eye(n), c)
    A = np.hstack([Y, -Y, slack])
    return linprog(np.concatenate([np.zeros(2 * d), cost]), A_ub=-A, b_ub=-np.asarray(b, dtype=float)).fun


def least_sum(Y, c, b, C):
    """min sum |a_i| + C sum c_k tau_k, Y a + tau >= b, tau >= 0, as it is written."""
    n, d = Y.shape
    cost = np.concatenate([np.ones(2 * d), C * c])
    found = linprog(cost, A_ub=-np.column_stack([Y, -Y, np.eye(n)]), b_ub=-b, bounds=(0, None), method="highs-ipm")
    return found.fun


def fisher(X, positive, c):
    """S_W^-1 (m_1 - m_2), the mean of all rows (eqs. 50-54)."""
    means, scatter = [], 0.0
    for side in (positive, ~positive):
        m = c[side] @ X[side] / c[side].sum()
        scatter = scatter + (X[side] - m).T @ (c[side, None] * (X[side] - m))
        means.append(m)
    return inv(scatter) @ (means[0] - means[1]), c @ X / c.sum()
