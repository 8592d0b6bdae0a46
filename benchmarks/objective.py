"""What a vector is worth: margin, primal value and dual bound, computed from the data in float64 by numpy alone."""

import numpy as np
from scipy.optimize import minimize_scalar


def margins(X, y, a):
    """y (x.w + b) for a = (w, b)."""
    return y * (np.asarray(X @ np.asarray(a[:-1], np.float64)).ravel() + a[-1])


def missing_margin(X, y, a, best):
    """The share of the best margin that a vector misses; 1 where it separates nothing."""
    if a is None or not np.all(np.isfinite(a)):
        return 1.0
    return 1.0 - max(margins(X, y, a).min() / np.linalg.norm(a), 0.0) / best


def soft_gap(X, y, C, a):
    """(P - D)/P of a vector, P = |a|^2/2 + C sum xi^2 of its best multiple, D of its dual point's best one."""
    if a is None or not np.all(np.isfinite(a)) or not np.any(a):
        return 1.0
    a = np.asarray(a, np.float64)
    m, square = margins(X, y, a), float(a @ a)

    def primal(s):
        return s * s * square / 2 + C * np.sum(np.maximum(0.0, 1.0 - s * m) ** 2)

    best = minimize_scalar(primal, bounds=(0.0, 4.0), method="bounded", options={"xatol": 1e-9})
    value = min(float(best.fun), primal(1.0))
    alpha = 2.0 * C * np.maximum(0.0, 1.0 - m)
    total = alpha.sum()
    if not total > 0:
        return 1.0
    combination = np.append(np.asarray(X.T @ (alpha * y)).ravel(), (alpha * y).sum())
    bound = total**2 / (2.0 * (combination @ combination + alpha @ alpha / (2.0 * C)))
    return (value - bound) / value


def one_vs_rest_gap(X, y, C, A):
    """The largest gap of the vectors of all classes, each against the rest."""
    if A is None:
        return 1.0
    return max(soft_gap(X, np.where(y == label, 1.0, -1.0), C, a) for label, a in zip(np.unique(y), A, strict=True))


def machine_margin(X, y, A, best):
    """`missing_margin` of a linear machine: its margin is the smallest (a_i - a_j).y, all vectors being of length 1."""
    if A is None:
        return 1.0
    scores, own = X @ A[:, :-1].T + A[:, -1], np.searchsorted(np.unique(y), y)
    right = scores[np.arange(len(own)), own].copy()
    scores[np.arange(len(own)), own] = -np.inf
    return 1.0 - max((right - scores.max(axis=1)).min() / np.linalg.norm(A), 0.0) / best


def hinge_bound(total, square):
    """D = sum alpha - |sum alpha y|^2/2 of multipliers that keep to their bounds: no vector has a smaller P."""
    return total - square / 2


def hinge_gap(X, y, C, bound, a):
    """(P - D)/P of a vector with its bias by augmentation, P = |a|^2/2 + C sum xi."""
    if a is None or not np.all(np.isfinite(a)):
        return 1.0
    a = np.asarray(a, np.float64)
    value = float(a @ a) / 2 + C * np.sum(np.maximum(0.0, 1.0 - margins(X, y, a)))
    return (value - bound) / value


def kernel_hinge_gap(kernel, X, y, C, bound, fit):
    """The same of (rows, multiples of them, bias), the bias being free."""
    if fit is None:
        return 1.0
    rows, beta, bias = fit
    f = kernel(X, X[rows]) @ beta
    value = float(beta @ f[rows]) / 2 + C * np.sum(np.maximum(0.0, 1.0 - y * (f + bias)))
    return (value - bound) / value
