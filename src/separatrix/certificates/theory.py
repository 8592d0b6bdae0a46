"""What theory promised of a run, beside what happened."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix import bounds
from separatrix.certificates.theorems import Setting, Theorem, theorem_of
from separatrix.rules.perceptrons import PerceptronRule

ONE_PASS = "Freund-Schapire"


@dataclass(frozen=True)
class Theory:
    """Report a theorem's bound on updates over the certified interval of the margin, and the updates made.

    Attributes
    ----------
    theorem : str
        Name of the theorem.
    statement : str
        What it bounds.
    updates : int
        Updates of the fit.
    gamma : tuple of float
        Certified interval of the margin, in the space of the rule. Of "Freund-Schapire", a theorem for one pass over
        any data, the gamma that minimizes its bound; `separatrix.bounds.least_freund_schapire` also minimizes over
        the vector.
    bound : float
        The bound with the lower end of ``gamma``, which is certainly true; inf if the theorem may not apply.
    least_bound : float
        The bound with the upper end. The theorem's own value is between the two.
    fraction : float or None
        A converged run has at least this fraction of the lower end of ``gamma``; for all rules but CRAMMA and MICRA of
        gamma_d itself. None if the theorem does not bound it.
    share : float
        updates / bound.
    """

    theorem: str
    statement: str
    updates: int
    gamma: tuple[float, float]
    bound: float
    least_bound: float
    fraction: float | None = None

    @property
    def share(self) -> float:
        """updates / bound: how much of what theory allows was needed; 0 where it allows everything."""
        return self.updates / self.bound if self.bound > 0 else math.inf

    def __str__(self) -> str:
        if math.isinf(self.bound):
            why = "its condition is not certain to hold" if self.gamma[0] > 0 else "no margin is certified"
            return f"{self.theorem} ({self.statement}): no bound, as {why}; {self.updates:,} updates were made"
        promise = "" if self.fraction is None else f", and at least {100 * self.fraction:.3g}% of the maximum margin"
        return (
            f"{self.theorem} ({self.statement}): at most {self.bound:,.0f} updates{promise}; "
            f"{self.updates:,} were made, {100 * self.share:.3g}% of that"
        )


def theory_of(
    rule: Any, setting: Setting, lower: float | None, upper: float, direction: np.ndarray | None, updates: int
) -> Theory | None:
    """The theorem of a rule at work, None where none applies. ``direction``: the unit vector that reaches ``lower``."""
    return _told(theorem_of(rule, setting), lower, upper, direction, updates)


def theory_of_budget(
    policy: str, budget: int, error: float, radius: float, lower: float | None, upper: float, updates: int
) -> Theory | None:
    """The theorem of a Perceptron within a budget of rows; ``error``: the largest of the Projectron's projections."""
    theorems = {
        "forgetron": Theorem(
            "Forgetron",
            f"2 (R/gamma)^2 for R/gamma <= ((B + 1)/ln(B + 1))^(1/2)/4, B = {budget}",
            lambda gamma: bounds.forgetron(radius / gamma, budget),
        ),
        "projectron": Theorem(
            "Projectron",
            f"(R/gamma)^2/(1 - 2 eta R/gamma), eta = {error:.3g}",
            lambda gamma: bounds.projectron(radius / gamma, error),
        ),
    }
    return _told(theorems.get(policy), lower, upper, None, updates)


def _told(
    theorem: Theorem | None, lower: float | None, upper: float, direction: np.ndarray | None, updates: int
) -> Theory | None:
    if theorem is None or (theorem.norm != 2 and direction is None):
        return None
    certain = max(lower or 0.0, 0.0)
    if theorem.norm != 2:  # the margin of u/|u|_q; and |u|_q >= |u|_2 for q < 2, so upper stays an upper bound
        size = float(np.linalg.norm(np.asarray(direction), theorem.norm))
        certain = certain / size if size > 0 else 0.0
    fraction = theorem.fraction(certain) if theorem.fraction is not None and certain > 0 else None
    return Theory(
        theorem.name,
        theorem.statement,
        updates,
        (certain, upper),
        _updates(theorem, certain),
        _updates(theorem, upper),
        fraction,
    )


def weighted_theory(
    rule: Any, patterns: Any, weight: np.ndarray, a: np.ndarray, upper: float, alpha: np.ndarray | None, updates: int
) -> Theory | None:
    """The theorem of a rule that adds ``weight`` times a pattern: it runs on the patterns c y with c > 0.

    The vector ``a`` reaches min c u.y; and the ``upper`` bound |a|/sum alpha is one on |a|/sum (alpha/c) with c y.
    """
    shown, u = weight > 0, patterns.unit(a)
    if patterns.space.delta > 0 or alpha is None or not np.any(alpha > 0):
        return None
    c = weight[shown]
    lower = float(np.min(c * (patterns.margins(u)[shown] - patterns.margin_error(u))))
    radius = float(np.max(c * np.sqrt(patterns.norms2[shown])))
    of_weighted = upper * float(alpha.sum()) / float(np.sum(alpha[shown] / c))
    return theory_of(rule, Setting(radius, 0.0, 0), lower, of_weighted, u, updates)


def theory_of_one_pass(rule: Any, patterns: Any, direction: np.ndarray, updates: int) -> Theory | None:
    """Freund and Schapire's theorem for a Perceptron that saw each pattern at most once; ``direction``: the unit vector
    with which (R + D)/gamma is minimised over gamma."""
    if not (isinstance(rule, PerceptronRule) and rule.margin == 0 and rule.power == 0):
        return None
    bound, gamma = bounds.best_freund_schapire(patterns.margins(direction), patterns.radius)
    return Theory(ONE_PASS, "((R + D)/gamma)^2 in one pass", updates, (gamma, gamma), bound, bound)


def _updates(theorem: Theorem, gamma: float) -> float:
    """What a theorem allows; inf where there is no margin, or one so small that the number overflows."""
    try:
        return theorem.updates(gamma) if 0 < gamma < math.inf else math.inf
    except (OverflowError, ZeroDivisionError):
        return math.inf
