"""How many updates the Perceptron, its wrappers and the rules that aim at a margin make at most."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike


def novikoff(radius: float, gamma: float) -> float:
    """The Perceptron makes at most (R/gamma)^2 updates, in any order, for any constant increment.

    From a = 0, margin 0, separable data (gamma > 0). PERC theorem 1, GREEDY theorems 9 and 14, DHS eq. 26.

    >>> novikoff(2.0, 0.5)
    16.0
    """
    return (radius / gamma) ** 2 if gamma > 0 else math.inf


def any_start(start: ArrayLike, solution: ArrayLike, gamma: float, beta: float, alpha: float | None = None) -> float:
    """The Perceptron started from a_1 makes at most k_0 = |a_1 - alpha a^|^2 / (2 alpha gamma - beta^2) corrections.

    ``solution``: any a^ with min a^.y_k = ``gamma`` > 0 (here not normalised); ``beta`` = max |y_k|. It holds for every
    ``alpha`` > beta^2/(2 gamma) (DHS problem 14; eq. 25 takes beta^2/gamma, the best one for a_1 = 0). None takes the
    best, which is derived here: with s = 2 alpha gamma - beta^2 the bound is c_0/s + c_1 + c_2 s, so
    s = sqrt(c_0/c_2) = 2 gamma |a_1 - beta^2/(2 gamma) a^| / |a^|.

    >>> round(any_start([0.0, 0.0], [3.0, 4.0], gamma=2.5, beta=2.0), 9)  # (beta |a^| / gamma)^2
    16.0
    """
    a, solved = np.asarray(start, dtype=np.float64), np.asarray(solution, dtype=np.float64)
    if not gamma > 0:
        return math.inf
    if alpha is None:
        nearest = float(np.linalg.norm(a - beta**2 / (2.0 * gamma) * solved))
        alpha = (2.0 * gamma * nearest / float(np.linalg.norm(solved)) + beta**2) / (2.0 * gamma)
    below = 2.0 * alpha * gamma - beta**2
    if below <= 0:
        return math.inf
    return float(np.sum((a - alpha * solved) ** 2) / below)


def geometric_margin(radius: float, rho: float, gamma: float) -> tuple[float, float]:
    """The maximum geometric margin lies between gamma_d and gamma_d R/rho. CRAMMA eq. 2.

    ``gamma`` is the maximum directional margin gamma_d in the space augmented by ``rho``, R its radius.

    >>> geometric_margin(5.0, 4.0, 0.2)
    (0.2, 0.25)
    """
    return gamma, gamma * radius / rho


def with_margin(radius: float, gamma: float, margin: float, eta: float = 1.0) -> float:
    """The Perceptron with margin b, ``a.y <= b``: ``a += eta y``, makes at most (R^2 + 2b/eta)/gamma^2 updates.

    Derived here: each update adds at most eta^2 R^2 + 2 eta b to |a|^2 and at least eta gamma to a.u, so
    (k eta gamma)^2 <= k (eta^2 R^2 + 2 eta b).

    >>> with_margin(2.0, 0.5, margin=0.0), with_margin(2.0, 0.5, margin=4.0)
    (16.0, 48.0)
    """
    return (radius**2 + 2.0 * margin / eta) / gamma**2 if gamma > 0 else math.inf


def with_margin_fraction(radius: float, margin: float, eta: float = 1.0) -> float:
    """The Perceptron with margin b reaches at least 1/(2 + eta R^2/b) of gamma_d.

    Derived here: the last a has a.y > b, and |a| <= (eta R^2 + 2b)/gamma_d by the proof of `with_margin`.

    >>> with_margin_fraction(2.0, margin=4.0)
    0.333...
    """
    return 1.0 / (2.0 + eta * radius**2 / margin) if margin > 0 else 0.0


def bounded_increments(radius: float, gamma: float, smallest: float, largest: float, margin: float = 0.0) -> float:
    """Increments within [eta_a, eta_b] and margin b: at most (eta_b R^2 + 2b)/(eta_a gamma^2) updates.

    Derived here (DHS problem 15 asks for convergence only): gamma^2 (sum eta)^2 <= R^2 sum eta^2 + 2b sum eta, and
    sum eta^2 <= eta_b sum eta, so k eta_a <= sum eta <= (eta_b R^2 + 2b)/gamma^2. For the greedy Perceptron it is
    eta_max/eta_min times better than `greedy`.

    >>> bounded_increments(2.0, 0.5, 0.5, 4.0)
    128.0
    """
    return (largest * radius**2 + 2.0 * margin) / (smallest * gamma**2) if gamma > 0 else math.inf


def power_increments(radius: float, gamma: float, power: float) -> float:
    """eta(k) = k^power, power = -1 or 1: the largest k with (sum eta)^2 <= (R/gamma)^2 sum eta^2. DHS eqs. 28-30.

    For 1/k it is at most e^(pi R/(sqrt(6) gamma)), as sum 1/k >= ln(k + 1) and sum 1/k^2 < pi^2/6; for k at most
    4/3 (R/gamma)^2. A rate whose sum is finite, as 1/k^2, has no bound: it may stop before it arrives.

    >>> round(power_increments(2.0, 0.5, -1.0), 1), round(power_increments(2.0, 0.5, 1.0), 1)
    (168.1, 21.3)
    """
    if power not in (-1.0, 1.0):
        raise ValueError(f"power={power!r}: increments 1/k and k have a bound here.")
    if not gamma > 0:
        return math.inf
    if power > 0:
        return 4.0 / 3.0 * novikoff(radius, gamma)
    exponent = math.pi * radius / (math.sqrt(6.0) * gamma)
    return math.expm1(exponent) if exponent < 700 else math.inf


def greedy(radius: float, gamma: float, smallest: float, largest: float) -> float:
    """The greedy Perceptron makes at most (eta_max/eta_min)^2 (R/gamma)^2 updates. GREEDY theorem 18.

    >>> greedy(2.0, 0.5, 0.5, 4.0)
    1024.0
    """
    return (largest / smallest) ** 2 * novikoff(radius, gamma)


def greedy_effective_updates(etas: ArrayLike, counts: ArrayLike | None = None) -> float:
    """(sum eta)^2 / sum eta^2 of the increments that were used: at most (R/gamma)^2 (GREEDY theorem 15).

    ``counts``: how often each of them was, once unless given; of a fit ``eta_counts_``. It is at least
    k (eta_min/eta_max)^2 after k updates (theorem 16, corollary 17).

    >>> greedy_effective_updates([1.0, 1.0, 1.0]), greedy_effective_updates([0.5, 4.0], [1, 1])
    (3.0, 1.246...)
    """
    etas = np.asarray(etas, dtype=np.float64)
    times = np.ones(len(etas)) if counts is None else np.asarray(counts, dtype=np.float64)
    squares = float(times @ etas**2)
    return float(times @ etas) ** 2 / squares if squares > 0 else 0.0


def fixed_directional_margin(radius: float, gamma: float, beta: float, eta: float) -> float:
    """``u.y <= beta`` with the effective rate eta: at most 1/(eta [gamma/R - (1 + eta)(eta/2 + beta/R)]) updates.

    Where the bracket is positive; for small eta that is beta < gamma. The margin is then above beta. CRAMMA eq. 9.

    >>> round(fixed_directional_margin(1.0, 0.5, 0.25, 0.01))
    412
    """
    bracket = gamma / radius - (1.0 + eta) * (eta / 2.0 + beta / radius)
    return 1.0 / (eta * bracket) if bracket > 0 else math.inf


def margin_perceptron(radius: float, gamma: float, guess: float) -> float:
    """The margin Perceptron with a guess g <= gamma makes at most 12 R^2/gamma^2 updates. TAO 18; the margin is >= g/2.

    >>> margin_perceptron(2.0, 0.5, 0.25), margin_perceptron(2.0, 0.5, 0.75)
    (192.0, inf)
    """
    return 12.0 * novikoff(radius, gamma) if guess <= gamma else math.inf


def incremental_margin_perceptron(radius: float, gamma: float) -> float:
    """All stages of the search from g = R: at most 4 (4^(j+1) - 1) updates, j the first with R/2^j <= gamma.

    TAO 21 says O(R^2/gamma^2); the constant is derived here: stage j has 12 4^j updates, and one with g <= gamma ends
    by itself. The margin is at least gamma/4.

    >>> incremental_margin_perceptron(2.0, 0.5)
    252.0
    """
    return 12.0 * _quartered_stages(radius, gamma)


def smooth_perceptron(gamma: float, n: int) -> float:
    """The smooth Perceptron separates n patterns of length 1 after at most 2 sqrt(2 ln n)/gamma steps.

    Soheili & Pena (2012), theorem 1. The Perceptron needs up to 1/gamma^2.

    >>> round(smooth_perceptron(0.01, 1000))
    743
    """
    return 2.0 * math.sqrt(2.0 * math.log(n)) / gamma if gamma > 0 else math.inf


def _quartered_stages(first: float, target: float) -> float:
    """1 + 4 + ... + 4^j with j the first for which first/2^j <= target; inf where target <= 0."""
    if not target > 0:
        return math.inf
    stages = max(0, math.ceil(math.log2(first) - math.log2(target) - 1e-12)) + 1
    return (4.0**stages - 1.0) / 3.0 if stages < 500 else math.inf


def alma(radius: float, gamma: float, alpha: float, p: float = 2.0) -> float:
    """ALMA_p makes at most (2 (p - 1)/g^2)(2/alpha - 1)^2 + 8/alpha - 4 corrections, g = gamma/X.

    Its margin is at least (1 - alpha) gamma. ``radius`` = X >= |y|_p, ``gamma`` = max over |u|_q = 1 of min u.y, 1/p +
    1/q = 1: R and gamma_d for p = 2. Gentile (2001), theorem 3, the separable case, B = sqrt(8)/alpha, C = sqrt(2),
    patterns divided by X.

    >>> alma(2.0, 0.5, 1.0), alma(2.0, 0.5, 1.0, p=3.0)
    (36.0, 68.0)
    """
    return 2.0 * (p - 1.0) * novikoff(radius, gamma) * (2.0 / alpha - 1.0) ** 2 + 8.0 / alpha - 4.0


def dynamic_margin(radius: float, gamma: float, epsilon: float) -> float:
    """The Perceptron with dynamic margin makes at most t_b updates; its margin is at least (1 - epsilon) gamma.

    Derived here. An update has 2 a.y <= c |a|^2/t with c = 2(1 - epsilon), so |a|^2 <= n_t with n_1 = R^2,
    n_{t+1} = n_t (1 + c/t) + R^2. The sum has a closed form, n_t = R^2 (t - Gamma(t + c)/(Gamma(t) Gamma(c)))/(1 - c),
    R^2 t (1 + 1/2 + ... + 1/t) at c = 1, and |a| >= gamma t: t_b solves n_t = gamma^2 t^2. It is (R/gamma)^2 at
    epsilon = 1 and grows like (R/gamma)^(1/epsilon) for epsilon < 1/2.

    >>> round(dynamic_margin(2.0, 0.5, 1.0), 9)
    16.0
    >>> round(dynamic_margin(2.0, 0.5, 0.5))  # t/16 = 1 + 1/2 + ... + 1/t
    79
    """
    if not gamma > 0 or epsilon <= 0:
        return math.inf
    goal, c = novikoff(radius, gamma), 2.0 * (1.0 - epsilon)

    def excess(log_t: float) -> float:  # log of n_t/(gamma t)^2, positive up to t_b
        return math.log(_dynamic_growth(math.exp(log_t), c)) + math.log(goal) - log_t

    high = 1.0
    while excess(high) > 0:
        high *= 2.0
        if high > 500.0:
            return math.inf
    return math.exp(bisect(lambda log_t: -excess(log_t), 0.0, high))


def _dynamic_growth(t: float, c: float) -> float:
    """n_t/(R^2 t): the mean of 1 + c/s over the steps, in closed form."""
    if c == 0.0:
        return 1.0
    if abs(c - 1.0) < 1e-7:  # between the closed form's cancellation and the harmonic number H_t
        from scipy.special import digamma

        return float(digamma(t + 1.0)) + 0.5772156649015329
    if t < 1e6:
        log_ratio = math.lgamma(t + c) - math.lgamma(t + 1.0) - math.lgamma(c)
    else:  # Stirling's series: the difference of two large lgammas loses all digits
        log_ratio = (c - 1.0) * (math.log(t) + c / (2.0 * t)) - math.lgamma(c)
    return -math.expm1(log_ratio) / (1.0 - c)


def bisect(increasing: Callable[[float], float], low: float, high: float) -> float:
    """The point up to which a function is negative, with increasing(high) >= 0."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        if increasing(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def relaxation(radius: float, gamma: float, eta: float, tol: float) -> float:
    """Single-sample relaxation makes at most (R/gamma)^2 / (eta (2 - eta) tol^2) updates, 0 < eta < 2, from a = 0.

    Derived here: with a^ = (b/gamma) u every step shortens |a - a^|^2 by at least eta (2 - eta) (b - a.y)^2/R^2, and
    b - a.y >= tol b. It starts at (b/gamma)^2.

    >>> round(relaxation(2.0, 0.5, eta=1.0, tol=0.1))
    1600
    """
    square = eta * (2.0 - eta) * tol**2
    return novikoff(radius, gamma) / square if square > 0 else math.inf


def passive_aggressive(radius: float, gamma: float, C: float, variant: str = "I", loss: float = 1.0) -> float:
    """Passive-aggressive I and II: at most so many updates with a hinge loss of at least ``loss``.

    ``loss`` = 1 counts mistakes, the estimator's ``tol`` all updates. Derived here from lemma 1 of Crammer et al.
    (2006): sum tau (2 l - tau |y|^2) <= 1/gamma^2, and tau |y|^2 <= l. PA-I has tau l >= min(C l, l^2/R^2), PA-II
    tau l = l^2/(|y|^2 + 1/(2C)). With C = inf and loss 1 both are (R/gamma)^2, their theorem 2.

    >>> [passive_aggressive(2.0, 0.5, C, variant) for C, variant in ((math.inf, "I"), (0.1, "I"), (0.1, "II"))]
    [16.0, 40.0, 36.0]
    """
    if not gamma > 0 or not loss > 0:
        return math.inf
    gain = min(C * loss, loss**2 / radius**2) if variant == "I" else loss**2 / (radius**2 + 0.5 / C)
    return 1.0 / (gamma**2 * gain)


def romma(radius: float, gamma: float, shortfall: float = 1.0) -> float:
    """ROMMA makes at most (R/gamma)^2 / shortfall^2 updates, corrected patterns having a.y <= 1 - ``shortfall``.

    1 for mistakes (Li & Long 2002), tol for the aggressive form. Derived here for both: a' is at least shortfall/R away
    from a and a'.a >= |a|^2, so |a|^2 grows by that square; |a| never exceeds 1/gamma.

    >>> romma(2.0, 0.5)
    16.0
    """
    return novikoff(radius, gamma) / shortfall**2 if shortfall > 0 else math.inf


def winnow(peak: float, gamma1: float, eta: float, dimensions: int) -> float:
    """Balanced Winnow makes at most ln(2d)/(eta g - eta^2 X^2/2) updates, where that is positive: eta < 2g/X^2.

    eta = ln alpha, X = ``peak`` = max |y_ki|, g = ``gamma1`` = max over |u|_1 = 1 of min u.y_k, d = ``dimensions`` with
    the bias. Derived here: the 2d weights sum to at most 2d e^(k eta^2 X^2/2) after k updates, since cosh(x) <=
    e^(x^2/2), and one of them is at least e^(k eta g).

    >>> round(winnow(1.0, 0.5, 0.5, dimensions=10), 3)  # eta = g/X^2, the best: 2 X^2 ln(2d)/g^2
    23.966
    """
    below = eta * gamma1 - 0.5 * eta**2 * peak**2
    return math.log(2.0 * dimensions) / below if below > 0 else math.inf


def winnow_search(peak: float, gamma1: float, dimensions: int) -> float:
    """Winnow that halves its guess g = X, ..., each with ceil(2 ln(2d)) (X/g)^2 updates: at most so many in all.

    Derived here: a stage with g <= gamma1 ends by itself, by `winnow` with eta = g/X^2.

    >>> winnow_search(1.0, 0.5, dimensions=10)
    30.0
    """
    return math.ceil(2.0 * math.log(2.0 * dimensions)) * _quartered_stages(peak, gamma1)


def fuzzy(weighted_radius: float, weighted_gamma: float) -> float:
    """The fuzzy Perceptron makes at most (max c_k |y_k| / gamma')^2 updates.

    c_k = |p_1 - p_2|^m over the patterns that are not fuzzy, gamma' the maximum margin of the c_k y_k. GREEDY
    theorem 22 states (R/gamma*)^2 without the weights, and is wrong: four points take 17,174 updates against 13.5.

    >>> fuzzy(2.0, 0.5)
    16.0
    """
    return novikoff(weighted_radius, weighted_gamma)


def fuzzy_angle(radius: float, gamma: float) -> float:
    """The boundaries that separate the non-fuzzy patterns span an angle of at least 2 asin(gamma/R). GREEDY theorem 23.

    >>> round(fuzzy_angle(2.0, 1.0) / math.pi, 6)
    0.333333
    """
    return 2.0 * math.asin(gamma / radius)


def margin_fuzzy_angle(half_width: float, half_height: float, epsilon: float) -> float:
    """The angle by which the margin-fuzzy boundary can vary: pi - 2 acos(l/r) - 2 acos(epsilon/r). GREEDY theorem 25.

    The overlapping data lie in a blanket of width 2l = 2 ``half_width`` and height 2 gamma* = 2 ``half_height``,
    r = (l^2 + gamma*^2)^(1/2), gamma* <= epsilon <= r.

    >>> abs(round(margin_fuzzy_angle(3.0, 1.0, 1.0), 12))
    0.0
    """
    r = math.hypot(half_width, half_height)
    if not half_height <= epsilon <= r:
        raise ValueError(f"epsilon = {epsilon:g} must lie between gamma* = {half_height:g} and r = {r:g}.")
    return math.pi - 2.0 * math.acos(half_width / r) - 2.0 * math.acos(epsilon / r)


def leave_one_out(support_vectors: float, n: int) -> float:
    """The expected error rate is at most E[number of support vectors]/n. DHS eq. 107.

    >>> leave_one_out(29, 569)
    0.050...
    """
    return support_vectors / n
