"""Theorems about rules that came after the sources: second order, other norms, growing margins, shrinking vectors."""

import math
from collections.abc import Callable

from separatrix.bounds.mistakes import bisect


def second_order_perceptron(radius: float, gamma: float, ridge: float, dimensions: int) -> float:
    """The second-order Perceptron: k updates at most, k^2 gamma^2 <= (a + k R^2) d ln(1 + k R^2/(a d)), a = ``ridge``.

    From theorem 3.1 of Cesa-Bianchi, Conconi & Gentile (2005) without losses: k gamma <= ((a + sum (u.y)^2) sum_i
    ln(1 + lambda_i/a))^(1/2), lambda_i the eigenvalues of sum y y^t over the k mistakes. Derived here: (u.y)^2 <= R^2,
    and the logarithms are largest where the lambda_i are equal. Over ``dimensions`` with the bias.

    >>> round(second_order_perceptron(2.0, 0.5, 1.0, dimensions=3))
    286
    """
    if not gamma > 0:
        return math.inf

    def excess(log_k: float) -> float:  # increasing once it is positive: a square against k ln k
        k = math.exp(log_k)
        spent = (ridge + k * radius**2) * dimensions * math.log1p(k * radius**2 / (ridge * dimensions))
        return 2.0 * log_k + 2.0 * math.log(gamma) - math.log(spent)

    return _first_positive(excess)


def arow(size2: float, log_det: float, margin_updates: int = 0, loss: float = 0.0) -> float:
    """AROW makes at most sqrt(size2 (log_det + U)) + loss - U mistakes, U = ``margin_updates`` without a mistake.

    For any vector u: ``size2`` = r |u|^2 + sum (u.y)^2 and ``log_det`` = ln det(I + sum y y^t/r) over the patterns that
    were corrected, ``loss`` = sum max(0, 1 - u.y) over them. Crammer, Kulesza & Dredze (2009), theorem 2.

    >>> arow(8.0, 2.0), round(arow(8.0, 2.0, margin_updates=3), 3)
    (4.0, 3.325)
    """
    return math.sqrt(size2 * (log_det + margin_updates)) + loss - margin_updates


def p_norm(radius_p: float, gamma_q: float, p: float) -> float:
    """The p-norm Perceptron makes at most (p - 1) (X/g)^2 updates, X = max |y|_p, g = max over |u|_q = 1 of min u.y.

    1/p + 1/q = 1, p >= 2. Grove, Littlestone & Schuurmans (2001); p = 2 is `novikoff`.

    >>> p_norm(2.0, 0.5, 2.0), p_norm(1.0, 0.5, 6.0)
    (16.0, 20.0)
    """
    return (p - 1.0) * (radius_p / gamma_q) ** 2 if gamma_q > 0 else math.inf


def margitron(radius: float, gamma: float, margin: float, epsilon: float) -> float:
    """The Margitron, ``a.y <= b |a|^(1 - eps)``: ``a += y``, makes at most t_b updates, 0 < eps <= 1.

    Derived here: |a|^2 grows by at most R^2 + 2 b |a|^(1 - eps), so |a|^(1 + eps), a concave function of it, by at
    most (1 + eps)(R^2 |a|^(eps - 1)/2 + b), and |a| >= gamma s after s updates. t_b is the largest t with
    (gamma t)^(1 + eps) <= R^(1 + eps) + (1 + eps)(b t + R^2 gamma^(eps - 1) t^eps/(2 eps)).

    >>> round(margitron(2.0, 0.5, margin=4.0, epsilon=1.0))  # as `with_margin`, which has 48
    48
    """
    if not gamma > 0:
        return math.inf
    power = 1.0 + epsilon

    def excess(log_t: float) -> float:
        t = math.exp(log_t)
        shrinking = radius**2 * gamma ** (epsilon - 1.0) * t**epsilon / (2.0 * epsilon)
        return power * (math.log(gamma) + log_t) - math.log(radius**power + power * (margin * t + shrinking))

    return _first_positive(excess)


def margitron_fraction(radius: float, gamma: float, margin: float, epsilon: float) -> float:
    """The Margitron reaches at least this part of gamma_d, which tends to 1/(1 + eps) as b grows.

    Derived here: the last a has u.y > b |a|^-eps, and |a| is at most its bound of `margitron` at t_b, gamma t_b.

    >>> [round(margitron_fraction(1.0, 0.1, b, 0.25), 2) for b in (0.01, 0.1, 1.0)]
    [0.04, 0.38, 0.8]
    """
    longest = gamma * margitron(radius, gamma, margin, epsilon)
    return margin * longest**-epsilon / gamma if 0 < longest < math.inf else 0.0


def weight_shrinking(radius: float, gamma: float, margin: float, shrinking: float) -> float:
    """``a.y <= b``: ``a <- (1 - l) a + y``: at most ln((1 + h)/(1 - h))/-ln(1 - l) updates, h = l B/((2 - l) gamma^2).

    B = R^2 + 2 (1 - l) b. It holds for h < 1: how much the vector may shrink depends on the margin. Derived here: with
    q = 1 - l, a.u >= gamma (1 - q^t)/l and |a|^2 <= B (1 - q^(2t))/(1 - q^2), so (1 - q^t)/(1 + q^t) <= h.

    >>> round(weight_shrinking(2.0, 0.5, 4.0, 1e-9)), round(weight_shrinking(2.0, 0.5, 4.0, 0.02))
    (48, 52)
    """
    h = _shrunk(radius, gamma, margin, shrinking)
    return math.log((1.0 + h) / (1.0 - h)) / -math.log1p(-shrinking) if h < 1.0 else math.inf


def weight_shrinking_fraction(radius: float, gamma: float, margin: float, shrinking: float) -> float:
    """The rule of `weight_shrinking` reaches at least b (2 - l)(1 + h)/(2 B) of gamma_d: 1 for large b and h near 1.

    Derived here: u.y > b/|a|, and |a|^2 is largest at the last update, where 1 - q^(2t) = 4h/(1 + h)^2.

    >>> round(weight_shrinking_fraction(2.0, 0.5, 400.0, 0.0006), 3)
    0.978
    """
    h = _shrunk(radius, gamma, margin, shrinking)
    if not h < 1.0:
        return 0.0
    return margin * (2.0 - shrinking) * (1.0 + h) / (2.0 * (radius**2 + 2.0 * (1.0 - shrinking) * margin))


def _shrunk(radius: float, gamma: float, margin: float, shrinking: float) -> float:
    """h of `weight_shrinking`."""
    bound = radius**2 + 2.0 * (1.0 - shrinking) * margin
    return shrinking * bound / ((2.0 - shrinking) * gamma**2) if gamma > 0 else math.inf


def ballseptron(radius: float, gamma: float, ball: float) -> float:
    """The Ballseptron with balls of radius r < gamma makes at most (R^2 + r^2)/(gamma - r)^2 updates; its margin: > r.

    Derived here: both kinds of updates add at least gamma - r to a.u, and at most R^2 + r^2 to |a|^2.

    >>> ballseptron(2.0, 0.5, 0.0), ballseptron(2.0, 0.5, 0.25)
    (16.0, 65.0)
    """
    return (radius**2 + ball**2) / (gamma - ball) ** 2 if gamma > ball else math.inf


def pegasos(radius: float, penalty: float, visits: int) -> float:
    """Pegasos: the mean loss over T visits exceeds that of any vector by at most 2 R^2 (1 + ln T)/(penalty T).

    The loss of a visit is penalty/2 |a|^2 + max(0, 1 - a.y). Shalev-Shwartz, Singer, Srebro & Cotter (2011), theorem 1
    without the projection, which needs penalty <= 1/4.

    >>> round(pegasos(1.0, 0.01, 10_000), 3)
    0.204
    """
    if penalty > 0.25:
        return math.inf
    return 2.0 * radius**2 * (1.0 + math.log(visits)) / (penalty * visits)


def _first_positive(excess: Callable[[float], float]) -> float:
    """e^x for the x from which on a function is positive; inf where that is beyond float64."""
    high = 1.0
    while not excess(high) > 0:
        high *= 2.0
        if high > 600.0:
            return math.inf
    return math.exp(bisect(excess, 0.0, high))
