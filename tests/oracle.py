"""Naive oracles: every algorithm in a few lines of plain numpy on materialised patterns, visited in row order.

Written from the formulas of the sources, not from the kernels. Everything takes ``Y``, the reflected patterns of
`patterns`, with their extension where there is one, and ``weight``, one number per pattern (1 unless given).
"""

from typing import NamedTuple

import numpy as np
import quadprog
from numpy.linalg import norm


class Run(NamedTuple):
    a: np.ndarray
    updates: int
    converged: bool
    path: list  # the vector after each visit


def labels(y):
    """-1 and +1; the larger of two labels is +1."""
    return np.where(np.asarray(y) == np.unique(y)[-1], 1.0, -1.0)


def patterns(X, y, rho=1.0, delta=0.0):
    """y_k = l_k (x_k, rho), and l_k delta e_k behind it if delta > 0. The bias has column d, also with rho = 0."""
    X, l = np.asarray(X, dtype=np.float64), labels(y)
    Y = l[:, None] * np.column_stack([X, np.full(len(X), float(rho))])
    return np.column_stack([Y, delta * np.diag(l)]) if delta > 0 else Y


def cycle(Y, correct, weight=None, max_iter=20, start=None):
    """Show the patterns in order until an epoch passes without a correction.

    ``correct(a, y, t, c)`` gives the corrected vector or None; t is 1 + the number of corrections so far, c the weight.
    """
    a, t, path = np.zeros(Y.shape[1]) if start is None else start, 1, []
    weight = np.ones(len(Y)) if weight is None else weight
    for _ in range(max_iter):
        before = t
        for y, c in zip(Y, weight, strict=True):
            corrected = correct(a, y, t, c)
            if corrected is not None:
                a, t = corrected, t + 1
            path.append(a)
        if t == before:
            return Run(a, t - 1, True, path)
    return Run(a, t - 1, False, path)


def radius(Y):
    return np.sqrt((Y**2).sum(axis=1).max())


# The Perceptron and its wrappers


def perceptron(Y, margin=0.0, eta=lambda k: 1.0, **how):
    """DHS alg. 5: a.y <= b: a += eta(k) y, k counts corrections."""
    return cycle(Y, lambda a, y, k, c: a + eta(k) * c * y if a @ y <= margin else None, **how)


def averaged(run):
    """The mean of the vector over all visits."""
    return run._replace(a=np.mean(run.path, axis=0))


def voted(run):
    """Freund & Schapire: a vector made by a mistake starts with one vote and gains one per visit it survives.

    That is the number of visits after which it is the current vector.
    """
    vectors, votes = [], []
    for a in run.path:
        if not vectors or a is not vectors[-1]:
            vectors.append(a)
            votes.append(0)
        votes[-1] += 1
    return np.array(vectors), np.array(votes)


def pocket(Y, ratchet, violates=lambda a, y: a @ y <= 0, eta=1.0, weight=None, max_iter=20):
    """Gallant: the vector with the longest run of correct patterns; with the ratchet it must also have fewer errors."""

    def errors(a):
        return np.sum(Y @ a <= 0)

    best = {"a": np.zeros(Y.shape[1]), "run": 0}
    run = 0

    def correct(a, y, t, c):
        nonlocal run
        if violates(a, y):
            run = 0
            return a + eta * c * y
        run += 1
        if run > best["run"] and (a is best["a"] or not ratchet or errors(a) < errors(best["a"])):
            best.update(a=a, run=run)
        return None

    return cycle(Y, correct, weight, max_iter)._replace(a=best["a"])


# Rules that aim at a margin


def fixed_margin(Y, beta, eta, **how):
    """CRAMMA section 2: u.y <= beta: u <- (u + eta y/R) / |.|, started on the first pattern."""
    R = radius(Y)
    return cycle(Y, lambda u, y, t, c: unit(u + eta * c * y / R) if u @ y <= beta else None, start=unit(Y[0]), **how)


def fixed_margin_search(Y, factor, eta, **how):
    """Guesses g = R, factor R, ...: u.y <= factor g, afresh when eq. 9 says that a gamma_d >= g would have ended."""
    R, guess, spent = radius(Y), 1.0, 0

    def correct(u, y, t, c):
        nonlocal guess, spent
        rate = min(eta, guess * (1 - factor) / 3)
        if norm(u) > 0 and u @ y > factor * guess * R:
            return None
        spent += 1
        u = unit(u + (rate if norm(u) > 0 else 1.0) * c * y / R)
        if spent == np.ceil(1 / (rate * (guess - (1 + rate) * (rate / 2 + factor * guess)))) + 1:
            guess, spent, u = factor * guess, 0, np.zeros_like(u)
        return u

    return cycle(Y, correct, start=unit(Y[0]), **how)


def unit(a):
    return a / norm(a)


def cramma(Y, beta, power, eta, decay=0.0, **how):
    """CRAMMA fig. 1 with the effective rate eta: u.y/R <= beta/t^power. MICRA: the rate is eta t^-decay."""
    Y = Y / radius(Y)

    def correct(u, y, t, c):
        return unit(u + eta * t**-decay * c * y) if u @ y <= beta / t**power else None

    return cycle(Y, correct, start=unit(Y[0]), **how)


def alma(Y, alpha, **how):
    """Gentile 2001, p = 2: B = sqrt(8)/alpha, C = sqrt(2), patterns of length at most 1."""
    Y, B, C = Y / radius(Y), np.sqrt(8) / alpha, np.sqrt(2)

    def correct(w, y, k, c):
        if w @ y > (1 - alpha) * B / np.sqrt(k):
            return None
        w = w + C / np.sqrt(k) * c * y
        return w / max(1.0, norm(w))

    return cycle(Y, correct, **how)


def margin_perceptron(Y, guess, **how):
    """TAO 17: u.y < g/2 or a.y <= 0: a += y."""
    return cycle(Y, lambda a, y, t, c: a + c * y if a @ y <= 0 or a @ y < guess / 2 * norm(a) else None, **how)


def incremental_margin_perceptron(Y, **how):
    """TAO 20: g = R; whenever 12 R^2/g^2 updates passed without an end, halve g and start from 0."""
    R = radius(Y)
    guess, spent = R, 0

    def correct(a, y, t, c):
        nonlocal guess, spent
        if a @ y > 0 and a @ y >= guess / 2 * norm(a):
            return None
        spent += 1
        if spent == 12 * (R / guess) ** 2:
            guess, spent = guess / 2, 0
            return np.zeros_like(a)
        return a + c * y

    return cycle(Y, correct, **how)


def dynamic_margin(Y, epsilon, **how):
    """PDM: a.y <= (1 - eps) |a|^2 / sum alpha: a += y."""
    total = 0.0

    def correct(a, y, t, c):
        nonlocal total
        if total > 0 and a @ y > (1 - epsilon) * (a @ a) / total:
            return None
        total += c
        return a + c * y

    return cycle(Y, correct, **how)


def relaxation(Y, margin=1.0, eta=1.0, tol=0.01, **how):
    """DHS alg. 9: a.y <= b: a += eta (b - a.y)/|y|^2 y. An integer weight c repeats the step c times."""

    def correct(a, y, t, c):
        if a @ y > margin * (1 - tol):
            return None
        for _ in range(int(c)):
            a = a + eta * (margin - a @ y) / (y @ y) * y
        return a

    return cycle(Y, correct, **how)


def passive_aggressive(Y, C, variant="I", tol=1e-3, **how):
    """Crammer et al. 2006: tau = min(C, loss/|y|^2) (I), loss/(|y|^2 + 1/(2C)) (II); a weight multiplies C."""

    def correct(a, y, t, c):
        loss = 1 - a @ y
        if loss <= tol:
            return None
        return a + (min(c * C, loss / (y @ y)) if variant == "I" else loss / (y @ y + 1 / (2 * c * C))) * y

    return cycle(Y, correct, **how)


def romma(Y, aggressive=False, tol=0.01, **how):
    """Li & Long 2002: the shortest a' with a'.y >= 1 and a'.a >= |a|^2; a weight multiplies the step along y."""

    def correct(a, y, t, c):
        if a @ y > (1 - tol if aggressive else 0.0):
            return None
        along_y, along_a = shortest(y, a)
        return c * along_y * y + along_a * a

    return cycle(Y, correct, **how)


def shortest(y, a):
    """Multipliers of y and a in argmin |a'|^2, a'.y >= 1, a'.a >= |a|^2; without a solution a is forgotten."""
    solved = least_norm(np.array([y, a]), np.array([1.0, a @ a])) if a @ a > 0 else None
    return (1 / (y @ y), 0.0) if solved is None else solved[1]


def least_norm(C, b):
    """argmin |x|^2 with C x >= b, and the multipliers of the constraints; None if there is no such x."""
    try:
        return quadprog.solve_qp(np.eye(C.shape[1]), np.zeros(C.shape[1]), C.T, b)[::4]
    except ValueError as error:
        if "inconsistent" not in str(error):
            raise
        return None


def margitron(Y, margin, epsilon, **how):
    """Panagiotakopoulos & Tsampouka 2008: a.y <= b |a|^(1 - eps): a += y."""
    return cycle(Y, lambda a, y, t, c: a + c * y if a @ y <= margin * norm(a) ** (1 - epsilon) else None, **how)


def weight_shrinking(Y, margin, shrinking, **how):
    """Panagiotakopoulos & Tsampouka 2012: a.y <= b: a <- (1 - l) a + y."""
    return cycle(Y, lambda a, y, t, c: (1 - shrinking) * a + c * y if a @ y <= margin else None, **how)


def ballseptron(Y, ball, **how):
    """Shalev-Shwartz & Singer 2005: a mistake adds y, a ball that is cut its worst point y - r u."""

    def correct(a, y, t, c):
        if a @ y <= 0:
            return a + c * y
        return a + c * (y - ball * unit(a)) if a @ y <= ball * norm(a) else None

    return cycle(Y, correct, **how)


def hinge_descent(Y, penalty, eta, weight=None, max_iter=20):
    """Gradient steps on penalty/2 |a|^2 + max(0, 1 - a.y) at the rate eta(k), k counts visits; weights on the loss."""
    weight = np.ones(len(Y)) if weight is None else weight
    a, k, path = np.zeros(Y.shape[1]), 0, []
    for _ in range(max_iter):
        lost = False
        for y, c in zip(Y, weight, strict=True):
            k, m = k + 1, a @ y
            a = a - eta(k) * (penalty * a - (c * y if m < 1 else 0))
            lost |= m < 1
            path.append(a)
        if not lost:
            return Run(a, k, True, path)
    return Run(a, k, False, path)


# Greedy, fuzzy, multiplicative


def greedy(Y, etas=(0.5, 1.0, 2.0, 4.0), weight=None, **how):
    """GREEDY alg. 2: of the rates the first that minimises the 0-1 loss after the update; weights count in the loss."""
    weights = np.ones(len(Y)) if weight is None else weight

    def correct(a, y, t, c):
        if a @ y > 0:
            return None
        return min((a + eta * c * y for eta in etas), key=lambda b: weights[Y @ b <= 0].sum())

    return cycle(Y, correct, weight, **how)


def fuzzy(Y, X, y, eta, m, fuzz, c, weight=None, **how):
    """GREEDY alg. 3, definitions 19-21: increments |p1 - p2|^m, and the fuzzy patterns not at all."""
    X, l = np.asarray(X, dtype=np.float64), labels(y)
    weight = np.ones(len(X)) if weight is None else weight
    own, other = (np.array([np.average(X[l == s * k], axis=0, weights=weight[l == s * k]) for k in l]) for s in (1, -1))
    d1, d2, d = norm(X - own, axis=1), norm(X - other, axis=1), norm(own - other, axis=1)
    p = 0.5 + (np.exp(c * (d2 - d1) / d) - np.exp(-c)) / (2 * (np.exp(c) - np.exp(-c)))
    factor = np.where(np.abs(p - 0.5) <= fuzz, 0.0, np.abs(p - (1 - p)) ** m)

    def correct(a, y, t, c):
        return a + eta * c * y if a @ y <= 0 and c > 0 else None

    return cycle(Y, correct, weight * factor, **how)


def margin_fuzzy(Y, bias, width, eta=1.0, **how):
    """GREEDY alg. 4 in distances without the bias coordinate; the vector with the longest run is kept."""

    def violates(a, y):
        return a @ y <= -width * norm(np.delete(a, bias))

    return pocket(Y, False, violates, eta, **how)


def winnow(Y, alpha="auto", **how):
    """DHS alg. 7 with its two multiplicative vectors; "auto" as ALGORITHMS.md says, budgets rounded up per stage."""
    X = np.abs(Y).max()
    searching, guess = alpha == "auto", X
    first_budget = np.ceil(2 * np.log(2 * Y.shape[1]))
    plus, minus, spent = np.ones(Y.shape[1]), np.ones(Y.shape[1]), 0

    def correct(w, y, t, c):
        nonlocal plus, minus, guess, spent
        if w @ y > 0:
            return None
        base = np.exp(guess / X**2) if searching else alpha
        plus, minus, spent = plus * base ** (c * y), minus * base ** (-c * y), spent + 1
        if searching and spent == first_budget * (X / guess) ** 2:
            plus, minus, guess, spent = np.ones_like(w), np.ones_like(w), guess / 2, 0
        return plus - minus

    return cycle(Y, correct, **how)


def p_norm(Y, p="auto", **how):
    """Gentile 2003: w is the gradient of |theta|_p^2/2; w.y <= 0: theta += y."""
    p = max(2.0, 2 * np.log(Y.shape[1])) if p == "auto" else p
    theta = np.zeros(Y.shape[1])

    def correct(w, y, t, c):
        nonlocal theta
        if w @ y > 0:
            return None
        theta = theta + c * y
        return np.sign(theta) * np.abs(theta) ** (p - 1) / norm(theta, p) ** (p - 2)

    return cycle(Y, correct, **how)


def alma_p(Y, alpha, p="auto", **how):
    """Gentile 2001: f = grad |w|_q^2/2: w' = f^-1(f(w) + eta_k y), divided by max(1, |w'|_q); |y|_p <= 1."""
    p = max(2.0, 2 * np.log(Y.shape[1])) if p == "auto" else p
    q, B, C = p / (p - 1), np.sqrt(8) / alpha, np.sqrt(2)
    Y = Y / (np.abs(Y).max() ** (1 - 2 / p) * radius(Y) ** (2 / p))

    def gradient(v, power):
        return np.sign(v) * np.abs(v) ** (power - 1) / norm(v, power) ** (power - 2) if norm(v) > 0 else v

    def correct(w, y, k, c):
        if w @ y > (1 - alpha) * B * np.sqrt((p - 1) / k):
            return None
        w = gradient(gradient(w, q) + C / np.sqrt((p - 1) * k) * c * y, p)
        return w / max(1.0, norm(w, q))

    return cycle(Y, correct, **how)


# Squared error


def fisher_targets(y, weight=None):
    """n/n_i for the rows of each class, counted with their weights."""
    l, weight = labels(y), np.ones(len(y)) if weight is None else weight
    return weight.sum() / np.array([weight[l == sign].sum() for sign in l])


def lms(Y, eta=1.0, rate=None, tol=1e-3, target=None, weight=None, max_iter=20):
    """DHS alg. 10: a += eta(k) (b - a.y) y, k counts presentations; a weight c repeats the step c times."""
    target = np.ones(len(Y)) if target is None else target
    if rate is None:
        n, R2 = len(Y), radius(Y) ** 2

        def rate(k):
            return eta / (R2 * (1 + (k - 1) / n))

    weight = np.ones(len(Y)) if weight is None else weight
    a, k, path = np.zeros(Y.shape[1]), 0, []
    for _ in range(max_iter):
        matters = False
        for y, c, b in zip(Y, weight, target, strict=True):
            k, before = k + 1, a
            for _ in range(int(c)):
                a = a + rate(k) * (b - a @ y) * y
            matters |= norm(a - before) > tol * norm(before)
            path.append(a)
        if not matters:
            return Run(a, k, True, path)
    return Run(a, k, False, path)


def recursive_least_squares(Y, ridge, weight=None, max_iter=1):
    """The ridge solution of Y a = 1 with every pattern seen max_iter times."""
    weight = max_iter * (np.ones(len(Y)) if weight is None else weight)
    a = np.linalg.solve(ridge * np.eye(Y.shape[1]) + Y.T @ (weight[:, None] * Y), Y.T @ weight)
    return Run(a, max_iter * len(Y), True, [])


# The optimum


def max_margin(Y):
    """The maximum directional margin gamma_d and a vector that has it; (0, None) if the patterns are not separable, or
    so short that their squares vanish.

    min |w|^2/2, Y w >= 1. The margin is measured on w, so it is reached whatever the solver's accuracy.
    """
    if radius(Y) == 0:
        return 0.0, None
    solved = least_norm(Y / radius(Y), np.ones(len(Y)))
    return (0.0, None) if solved is None else (float((Y @ solved[0]).min() / norm(solved[0])), solved[0])


def max_geometric_margin(X, y, penalty=1e-10):
    """The maximum of min l (w.x + b)/|w| over w and b: the bias all but leaves the norm."""
    Y, scale = patterns(X, y), np.abs(X).max()
    Y[:, :-1] /= scale
    G = np.diag(np.append(np.ones(Y.shape[1] - 1), penalty))
    a = quadprog.solve_qp(G, np.zeros(Y.shape[1]), Y.T, np.ones(len(Y)))[0]
    return float((Y @ a).min() / norm(a[:-1]) * scale), a
