"""CRAMMA: its convergence at a constant effective rate, and the margins of the extended space."""

import math
from typing import NamedTuple

from separatrix.bounds.mistakes import bisect
from separatrix.rules.margins import search_stages


class CrammaBound(NamedTuple):
    """Bounds of CRAMMA and MICRA.

    Attributes
    ----------
    updates : float
        t_b of eq. 15, the largest number of updates.
    fraction : float
        f_b of eq. 16, the fraction of gamma_d that is certainly achieved.
    """

    updates: float
    fraction: float


def cramma_converges(radius: float, gamma: float, eta: float) -> bool:
    """CRAMMA converges if eta_eff < (sqrt(1 + 8 gamma/R) - 1)/2: sufficient, not necessary. CRAMMA theorem 1.

    >>> cramma_converges(1.0, 0.1, 0.1), cramma_converges(1.0, 0.1, 0.2)
    (True, False)
    """
    return gamma > 0 and eta < 0.5 * (math.sqrt(1.0 + 8.0 * gamma / radius) - 1.0)


def cramma(radius: float, gamma: float, beta: float, power: float, eta: float) -> CrammaBound:
    """CRAMMA^eps makes at most t_b updates and reaches at least the fraction f_b of gamma_d. CRAMMA theorem 1.

    ``beta`` is beta/R, ``power`` eps > 0, ``eta`` the effective rate; the condition is `cramma_converges`. tau_b solves
    eq. 13 as an equality. With s = ln(1 + tau) and both sides divided by e^s no term overflows, and eps = 1 is the
    limit (e^((1 - eps) s) - 1)/(1 - eps) -> s.

    >>> cramma(1.0, 0.1, beta=1.0, power=0.5, eta=0.01)
    CrammaBound(updates=1858..., fraction=0.231...)
    """
    if not cramma_converges(radius, gamma, eta):
        return CrammaBound(math.inf, 0.0)
    g, chi, omega = _cramma_terms(radius, gamma, eta)
    log_left = -math.log(eta) - math.log(beta) / power + (1.0 / power - 1.0) * math.log(g) + math.log1p(omega)

    def right_minus_left(s: float) -> float:
        rest = 1.0 - power
        grown = s * math.exp(-s) if rest == 0.0 else (math.exp(-power * s) - math.exp(-s)) / rest
        left = math.exp(min(log_left - s, 700.0))
        return -chi * math.expm1(-s) - (1.0 + eta) * grown - left

    low = math.log((1.0 + eta) / chi) / power  # tau_min, where the right side is smallest
    high = low + 1.0
    while right_minus_left(high) < 0:
        high = low + 2.0 * (high - low)
    s = bisect(right_minus_left, low, high)
    log_updates = (math.log(beta) - math.log(g)) / power + s
    return CrammaBound(math.exp(log_updates) if log_updates < 700.0 else math.inf, math.exp(-power * s))


def cramma_half(radius: float, gamma: float, beta: float, eta: float) -> CrammaBound:
    """`cramma` for eps = 1/2, by the closed form of CRAMMA eq. 19.

    >>> closed, solved = cramma_half(1.0, 0.1, 1.0, 0.01), cramma(1.0, 0.1, 1.0, 0.5, 0.01)
    >>> all(math.isclose(*pair, rel_tol=1e-12) for pair in zip(closed, solved))
    True
    """
    if not cramma_converges(radius, gamma, eta):
        return CrammaBound(math.inf, 0.0)
    g, chi, omega = _cramma_terms(radius, gamma, eta)
    first = (1.0 + eta) / chi
    root = first + math.sqrt((first - 1.0) ** 2 + g * (1.0 + omega) / (eta * beta**2 * chi))
    return CrammaBound((beta / g * root) ** 2, 1.0 / root)


def _cramma_terms(radius: float, gamma: float, eta: float) -> tuple[float, float, float]:
    """gamma/R, chi and omega of CRAMMA eq. 11."""
    g = gamma / radius
    return g, 1.0 - 0.5 * eta * (1.0 + eta) / g, eta * (1.0 + eta) * g


def micra(radius: float, gamma: float, beta: float, power: float, eta: float, decay: float) -> CrammaBound:
    """MICRA^(eps, zeta) makes at most t_b updates and reaches at least the fraction f_b of gamma_d, for zeta <= 1.

    ``beta`` is beta/R, ``power`` eps, ``eta`` and ``decay`` zeta those of the rate eta t^-zeta. Tsampouka and
    Shawe-Taylor (2007) prove that it converges; the numbers are derived here as in CRAMMA's theorem 1. Update s adds at
    least h_s g - (1 + h_s)(h_s b_s + h_s^2/2) to u_s.u, where g = gamma/R, h_s = eta s^-zeta and b_s = beta s^-eps;
    u_1.u >= g, and u_s.u is never above 1. t_b is the last t up to which these sum to 1 - g at most; sums of falling
    powers lie between integrals. The last vector has u.y > b_s with s <= t_b + 1.

    >>> bound = micra(1.0, 0.1, beta=1.0, power=0.5, eta=0.1, decay=0.2)
    >>> round(bound.updates), round(bound.fraction, 3)
    (1594, 0.25)
    """
    g = gamma / radius
    if not g > 0 or decay > 1:
        return CrammaBound(math.inf, 0.0)
    falling = [  # what is subtracted: (factor, power of s)
        (eta * beta, decay + power),
        (0.5 * eta**2, 2.0 * decay),
        (eta**2 * beta, 2.0 * decay + power),
        (0.5 * eta**3, 3.0 * decay),
    ]

    def step(log_t: float) -> float:
        h, b = eta * math.exp(-decay * log_t), beta * math.exp(-power * log_t)
        return g - (1.0 + h) * (b + 0.5 * h)

    def excess(log_t: float) -> float:
        most = sum(factor * (1.0 + _integral(log_t, power)) for factor, power in falling)
        return eta * g * _integral(log_t, decay) - most - (1.0 - g)

    low = 0.0  # from where on every update helps
    while step(low) < 0:
        low += 1.0
        if low > 600.0:
            return CrammaBound(math.inf, 0.0)
    high = low + 1.0
    while excess(high) <= 0:
        high += 1.0
        if high > 600.0:
            return CrammaBound(math.inf, 0.0)
    updates = math.exp(bisect(excess, low, high))
    return CrammaBound(updates, beta * (updates + 1.0) ** -power / g)


def _integral(log_t: float, power: float) -> float:
    """The integral of s^-power from 1 to t."""
    rest = 1.0 - power
    return log_t if abs(rest) < 1e-12 else math.expm1(rest * log_t) / rest


def fixed_margin_search(radius: float, gamma: float, factor: float, eta: float) -> float:
    """The search over beta of `separatrix.FixedMargin` makes at most so many updates; its margin: factor^2 gamma.

    Derived here: the stage with the first guess g <= gamma ends by itself, by `fixed_directional_margin` with beta =
    factor g, which decreases with gamma; and g > factor gamma.

    >>> fixed_margin_search(2.0, 0.5, factor=0.5, eta=0.01)
    1464.0
    """
    if not gamma > 0:
        return math.inf
    stages = max(0, math.ceil(math.log(gamma / radius) / math.log(factor) - 1e-12))
    return float(search_stages(factor, eta, factor**stages)[-1][-1])


def extended_floor(delta: float, n: int) -> float:
    """The maximum margin of the extended space is at least |Delta|/sqrt(n). CRAMMA eq. 27.

    >>> extended_floor(1.0, 4)
    0.5
    """
    return abs(delta) / math.sqrt(n)


def extended_margin(J: float) -> float:
    """Every J(u, gamma, Delta) of `separatrix.theory.objective` proves Gamma_opt >= J^(-1/2). CRAMMA theorem 2, eq. 20.

    With u and gamma of a solution of margin Gamma in the extended space, Gamma <= J^(-1/2) (eq. 21).

    >>> extended_margin(4.0)
    0.5
    """
    return J**-0.5
