"""Learning rates as users give them: a number, "1/k", "k", or a function of k."""

from collections.abc import Callable
from typing import Any

import numpy as np

POWERS = {"1/k": -1.0, "k": 1.0}


class RateTable:
    """Values of a user's function eta(k), in pieces: the compiled loop cannot call Python."""

    def __init__(self, eta: Callable[[int], float], length: int = 4096):
        self.eta, self.length = eta, length

    def __call__(self, first: int, most: int) -> np.ndarray:
        """The rates from ``first`` on, ``most`` of them or as many as a piece has."""
        rates = np.array([self.eta(k) for k in range(first, first + min(self.length, most))], dtype=np.float64)
        wrong = np.flatnonzero(~(np.isfinite(rates) & (rates >= 0)))
        if len(wrong):
            k = first + int(wrong[0])
            raise ValueError(f"eta({k}) = {rates[wrong[0]]}: a rate must be finite and not negative (DHS eq. 28).")
        return rates


def amplitude_and_power(eta: Any) -> tuple[float, float]:
    """eta(k) = amplitude k^power, for everything but functions."""
    return (1.0, POWERS[eta]) if isinstance(eta, str) else (float(eta), 0.0)


def rate_function(eta: Any) -> Callable[[int], float]:
    """eta(k) as a function, checked."""
    if callable(eta):
        table = RateTable(eta)
        return lambda k: float(table(k, 1)[0])
    amplitude, power = amplitude_and_power(eta)
    return lambda k: amplitude * float(k) ** power


def sum_looks_finite(eta: Callable[[int], float], k: int) -> bool:
    """Did k eta(k) fall from k/16 to k as that of k^-1.5 or faster? That of 1/k stays, and its sum is infinite."""
    return k >= 64 and k * eta(k) <= 0.3 * (k // 16) * eta(k // 16)
