"""Theorems as functions: how many updates a rule makes at most, and which part of the maximum margin it reaches.

``radius`` is R = max |y_k| and ``gamma`` the maximum directional margin gamma_d, both in the space in which the rule
runs: augmented, reflected, extended where delta > 0. With the geometric margin the bounds are false: 101 (+) against
99 (-) on a line with rho = 1 takes 20,002 updates, and (R/gamma)^2 is 10,202. A bound that its conditions do not allow
is inf, a fraction 0. Bounds decrease with gamma: a lower bound on gamma_d gives a bound that certainly holds.

"Derived here" marks what the sources do not state; the derivation stands in the docstring.
"""

from separatrix.bounds.constant_rate import (
    CrammaBound,
    cramma,
    cramma_converges,
    cramma_half,
    extended_floor,
    extended_margin,
)
from separatrix.bounds.generalised import (
    arow,
    ballseptron,
    margitron,
    margitron_fraction,
    p_norm,
    pegasos,
    second_order_perceptron,
    weight_shrinking,
    weight_shrinking_fraction,
)
from separatrix.bounds.mistakes import (
    alma,
    any_start,
    bounded_increments,
    deviation,
    dynamic_margin,
    fixed_directional_margin,
    freund_schapire,
    fuzzy,
    fuzzy_angle,
    greedy,
    greedy_effective_updates,
    incremental_margin_perceptron,
    leave_one_out,
    margin_fuzzy_angle,
    margin_perceptron,
    novikoff,
    passive_aggressive,
    power_increments,
    relaxation,
    romma,
    smooth_perceptron,
    winnow,
    winnow_search,
    with_margin,
    with_margin_fraction,
)

__all__ = [
    "CrammaBound",
    "alma",
    "any_start",
    "arow",
    "ballseptron",
    "bounded_increments",
    "cramma",
    "cramma_converges",
    "cramma_half",
    "deviation",
    "dynamic_margin",
    "extended_floor",
    "extended_margin",
    "fixed_directional_margin",
    "freund_schapire",
    "fuzzy",
    "fuzzy_angle",
    "greedy",
    "greedy_effective_updates",
    "incremental_margin_perceptron",
    "leave_one_out",
    "margin_fuzzy_angle",
    "margin_perceptron",
    "margitron",
    "margitron_fraction",
    "novikoff",
    "p_norm",
    "passive_aggressive",
    "pegasos",
    "power_increments",
    "relaxation",
    "romma",
    "second_order_perceptron",
    "smooth_perceptron",
    "weight_shrinking",
    "weight_shrinking_fraction",
    "winnow",
    "winnow_search",
    "with_margin",
    "with_margin_fraction",
]
