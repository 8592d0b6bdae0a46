"""Perceptrons within a budget of rows, on the signed inner products G of all patterns, visited in row order."""

from typing import NamedTuple

import numpy as np


class BudgetRun(NamedTuple):
    alpha: np.ndarray
    updates: int
    path: list  # alpha after each visit
    shrunk: float = 0.0  # sum of 1 - phi
    error: float = 0.0  # the largest distance from a projection, as a part of R


def at_random(G, budget, epochs):
    """Cavallanti, Cesa-Bianchi & Gentile 2007; the random numbers are those of (seed, updates) with seed 0."""
    alpha, updates, path = np.zeros(len(G)), 0, []
    for _ in range(epochs):
        for i in range(len(G)):
            if alpha @ G[i] <= 0:
                former = np.flatnonzero(alpha)
                alpha[i] += 1
                updates += 1
                if np.count_nonzero(alpha) > budget:
                    alpha[np.random.default_rng([0, updates]).choice(former)] = 0
            path.append(alpha.copy())
    return BudgetRun(alpha, updates, path)


def forgetron(G, budget, epochs, direction=1.0):
    """Dekel, Shalev-Shwartz & Singer 2008, fig. 5: add, shrink by the largest phi that is allowed, drop the oldest."""
    R2, Q, M, shrunk, path = G.diagonal().max(), 0.0, 0, 0.0, []
    active = []  # (row, sigma), the oldest first

    def f(i):
        return sum(sigma * G[row, i] for row, sigma in active) / R2

    def allowed(phi):
        return Q + (sigma * phi) ** 2 + 2 * sigma * phi - 2 * sigma * phi * phi * mu <= 15 / 32 * M

    for _ in range(epochs):
        for i in range(len(G)):
            if f(i) <= 0:
                M += 1
                active.append((i, direction))
                if len(active) > budget:
                    sigma, mu = active[0][1], f(active[0][0])
                    low, high = (1.0, 1.0) if allowed(1.0) else (0.0, 1.0)
                    while high - low > 1e-15:  # what is allowed is an interval that begins at 0
                        low, high = ((low + high) / 2, high) if allowed((low + high) / 2) else (low, (low + high) / 2)
                    Q += (sigma * low) ** 2 + 2 * sigma * low - 2 * sigma * low * low * mu
                    shrunk += 1 - low
                    active = [(row, low * s) for row, s in active[1:]]
            path.append(np.bincount([r for r, _ in active], [s for _, s in active], len(G)))
    return BudgetRun(path[-1], M, path, shrunk)


def projectron(G, budget, epochs, tol):
    """Orabona, Keshet & Caputo 2008, algorithm 2: P y by least squares; with a full budget always."""
    alpha, updates, path, worst, R = np.zeros(len(G)), 0, [], 0.0, np.sqrt(G.diagonal().max())
    for _ in range(epochs):
        for i in range(len(G)):
            if alpha @ G[i] <= 0:
                S = np.flatnonzero(alpha)
                updates += 1
                d = np.linalg.lstsq(G[np.ix_(S, S)], G[S, i], rcond=None)[0] if len(S) else np.zeros(0)
                error = np.sqrt(max(G[i, i] - 2 * d @ G[S, i] + d @ G[np.ix_(S, S)] @ d, 0)) / R
                if i not in S and len(S) and (error <= tol or len(S) >= budget):
                    alpha[S] += d
                    worst = max(worst, error)
                else:
                    alpha[i] += 1
            path.append(alpha.copy())
    return BudgetRun(alpha, updates, path, error=worst)
