"""The theorem of `separatrix.bounds` that applies to each rule: its name, its statement, and its bound on updates as a
function of the margin."""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

from separatrix import bounds
from separatrix.rules.aggressive import PassiveAggressiveRule, RelaxationRule, RommaRule
from separatrix.rules.confidence import ArowRule
from separatrix.rules.margins import (
    AlmaRule,
    BallseptronRule,
    CrammaRule,
    DynamicMarginRule,
    FixedMarginRule,
    FixedMarginSearchRule,
    IncrementalMarginRule,
    MarginPerceptronRule,
    MargitronRule,
    MicraRule,
    WeightShrinkingRule,
)
from separatrix.rules.multiplicative import AlmaPRule, PNormRule, WinnowRule, p_norm_radius
from separatrix.rules.perceptrons import FuzzyRule, GreedyRule, MarginFuzzyRule, PerceptronRule


class Theorem(NamedTuple):
    """``updates`` and ``fraction`` are functions of gamma, the margin of the best u of length 1 in this ``norm``."""

    name: str
    statement: str
    updates: Callable[[float], float]
    fraction: Callable[[float], float] | None = None
    norm: float = 2.0


class Setting(NamedTuple):
    """What a theorem needs besides the rule and the margin."""

    radius: float
    peak: float  # max |y_ki|
    dimensions: int


@singledispatch
def theorem_of(rule: Any, setting: Setting) -> Theorem | None:
    """The theorem about a rule that starts as the sources say, on patterns of weight 1."""
    return None


def _constant(value: float) -> Callable[[float], float]:
    return lambda gamma: value


@theorem_of.register
def _(rule: PerceptronRule, setting: Setting) -> Theorem | None:
    R, b, eta = setting.radius, rule.margin, rule.eta
    if rule.power != 0:
        if b != 0 or rule.power not in (-1.0, 1.0):
            return None
        statement = "e^(pi R/(sqrt(6) gamma)) - 1" if rule.power < 0 else "4/3 (R/gamma)^2"
        return Theorem("variable increments", statement, lambda gamma: bounds.power_increments(R, gamma, rule.power))
    if b == 0:
        return Theorem("Novikoff", "(R/gamma)^2", lambda gamma: bounds.novikoff(R, gamma))
    return Theorem(
        "Perceptron with margin",
        "(R^2 + 2b/eta)/gamma^2",
        lambda gamma: bounds.with_margin(R, gamma, b, eta),
        _constant(bounds.with_margin_fraction(R, b, eta)),
    )


@theorem_of.register
def _(rule: MarginFuzzyRule, setting: Setting) -> Theorem:
    return Theorem("Novikoff", "(R/gamma)^2", lambda gamma: bounds.novikoff(setting.radius, gamma))


@theorem_of.register
def _(rule: GreedyRule, setting: Setting) -> Theorem:
    smallest, largest = float(rule.etas.min()), float(rule.etas.max())
    return Theorem(
        "increments within bounds",
        "(eta_max/eta_min) (R/gamma)^2",
        lambda gamma: bounds.bounded_increments(setting.radius, gamma, smallest, largest),
    )


@theorem_of.register
def _(rule: DynamicMarginRule, setting: Setting) -> Theorem:
    return Theorem(
        "dynamic margin",
        f"t_b for epsilon = {rule.epsilon:g}",
        lambda gamma: bounds.dynamic_margin(setting.radius, gamma, rule.epsilon),
        _constant(1.0 - rule.epsilon),
    )


@theorem_of.register
def _(rule: CrammaRule, setting: Setting) -> Theorem:
    def bound(gamma: float) -> bounds.CrammaBound:
        return bounds.cramma(setting.radius, gamma, rule.beta, rule.power, rule.eta)

    return Theorem(
        "CRAMMA, theorem 1", "t_b of eq. 15", lambda gamma: bound(gamma).updates, lambda gamma: bound(gamma).fraction
    )


@theorem_of.register
def _(rule: AlmaRule, setting: Setting) -> Theorem:
    return Theorem(
        "ALMA_2",
        "(2R^2/gamma^2)(2/alpha - 1)^2 + 8/alpha - 4",
        lambda gamma: bounds.alma(setting.radius, gamma, rule.alpha),
        _constant(1.0 - rule.alpha),
    )


@theorem_of.register
def _(rule: MicraRule, setting: Setting) -> Theorem:
    def bound(gamma: float) -> bounds.CrammaBound:
        return bounds.micra(setting.radius, gamma, rule.beta, rule.power, rule.eta, rule.decay)

    return Theorem("MICRA", "t_b of bounds.micra", lambda gamma: bound(gamma).updates, lambda g: bound(g).fraction)


@theorem_of.register
def _(rule: PNormRule, setting: Setting) -> Theorem:
    p, X = rule.p, p_norm_radius(setting.peak, setting.radius, rule.p)
    return Theorem(
        "p-norm Perceptron",
        "(p - 1) (X/gamma)^2, gamma for |u|_q = 1",
        lambda gamma: bounds.p_norm(X, gamma, p),
        norm=p / (p - 1.0),
    )


@theorem_of.register
def _(rule: AlmaPRule, setting: Setting) -> Theorem:
    p, X = rule.p, p_norm_radius(setting.peak, setting.radius, rule.p)
    return Theorem(
        "ALMA_p",
        "(2 (p - 1) X^2/gamma^2)(2/alpha - 1)^2 + 8/alpha - 4, gamma for |u|_q = 1",
        lambda gamma: bounds.alma(X, gamma, rule.alpha, p),
        norm=p / (p - 1.0),
    )


@theorem_of.register
def _(rule: FixedMarginRule, setting: Setting) -> Theorem:
    R = setting.radius
    return Theorem(
        "fixed directional margin",
        "1/(eta [gamma/R - (1 + eta)(eta/2 + beta/R)])",
        lambda gamma: bounds.fixed_directional_margin(R, gamma, rule.beta * R, rule.eta),
    )


@theorem_of.register
def _(rule: FixedMarginSearchRule, setting: Setting) -> Theorem:
    factor, eta = float(rule.betas[0]), float(rule.etas[0])
    return Theorem(
        "search for a fixed margin",
        "all stages up to the first guess of at most gamma",
        lambda gamma: bounds.fixed_margin_search(setting.radius, gamma, factor, eta),
        _constant(factor**2),
    )


@theorem_of.register
def _(rule: FuzzyRule, setting: Setting) -> Theorem:
    return Theorem(
        "fuzzy Perceptron",
        "(max c|y|/gamma)^2, gamma of the patterns c y that are not fuzzy",
        lambda gamma: bounds.fuzzy(setting.radius, gamma),
    )


@theorem_of.register
def _(rule: MarginPerceptronRule, setting: Setting) -> Theorem:
    return Theorem(
        "margin Perceptron",
        "12 R^2/gamma^2 for a guess of at most gamma",
        lambda gamma: bounds.margin_perceptron(setting.radius, gamma, rule.guess),
    )


@theorem_of.register
def _(rule: IncrementalMarginRule, setting: Setting) -> Theorem:
    return Theorem(
        "incremental margin Perceptron",
        "12 + 48 + ... up to the first guess of at most gamma",
        lambda gamma: bounds.incremental_margin_perceptron(rule.radius, gamma),
        _constant(0.25),
    )


@theorem_of.register
def _(rule: RelaxationRule, setting: Setting) -> Theorem:
    return Theorem(
        "relaxation",
        "(R/gamma)^2 / (eta (2 - eta) tol^2)",
        lambda gamma: bounds.relaxation(setting.radius, gamma, rule.eta, rule.tol),
    )


@theorem_of.register
def _(rule: PassiveAggressiveRule, setting: Setting) -> Theorem:
    variant, C = ("I", rule.cap) if rule.soften == 0 else ("II", 0.5 / rule.soften)
    return Theorem(
        f"passive-aggressive {variant}",
        "sum of squared losses",
        lambda gamma: bounds.passive_aggressive(setting.radius, gamma, C, variant, rule.tol),
    )


@theorem_of.register
def _(rule: RommaRule, setting: Setting) -> Theorem:
    shortfall = 1.0 - rule.threshold
    return Theorem("ROMMA", "(R/gamma)^2 / shortfall^2", lambda gamma: bounds.romma(setting.radius, gamma, shortfall))


@theorem_of.register
def _(rule: WinnowRule, setting: Setting) -> Theorem:
    X, d = setting.peak, setting.dimensions
    if rule.stage_updates > 0:
        return Theorem(
            "balanced Winnow, halved guesses",
            "2 ln(2d) (1 + 4 + ... up to the first guess of at most gamma)",
            lambda gamma: bounds.winnow_search(X, gamma, d),
            norm=1,
        )
    return Theorem(
        "balanced Winnow",
        "ln(2d)/(eta gamma - eta^2 X^2/2), gamma for |u|_1 = 1",
        lambda gamma: bounds.winnow(X, gamma, rule.rate, d),
        norm=1,
    )


@theorem_of.register
def _(rule: ArowRule, setting: Setting) -> Theorem | None:
    if rule.threshold != 0:  # AROW's theorem speaks of the patterns that were corrected: bounds.arow
        return None
    R, d = setting.radius, setting.dimensions
    return Theorem(
        "second-order Perceptron",
        "k^2 gamma^2 <= (a + k R^2) d ln(1 + k R^2/(a d))",
        lambda gamma: bounds.second_order_perceptron(R, gamma, rule.r, d),
    )


@theorem_of.register
def _(rule: MargitronRule, setting: Setting) -> Theorem:
    R, b, epsilon = setting.radius, rule.margin, rule.epsilon
    return Theorem(
        "Margitron",
        f"t_b for epsilon = {epsilon:g}",
        lambda gamma: bounds.margitron(R, gamma, b, epsilon),
        lambda gamma: bounds.margitron_fraction(R, gamma, b, epsilon),
    )


@theorem_of.register
def _(rule: WeightShrinkingRule, setting: Setting) -> Theorem:
    how = (rule.margin, rule.shrinking)
    return Theorem(
        "weight shrinking",
        "ln((1 + h)/(1 - h))/-ln(1 - shrinking)",
        lambda gamma: bounds.weight_shrinking(setting.radius, gamma, *how),
        lambda gamma: bounds.weight_shrinking_fraction(setting.radius, gamma, *how),
    )


@theorem_of.register
def _(rule: BallseptronRule, setting: Setting) -> Theorem:
    return Theorem(
        "Ballseptron",
        "(R^2 + r^2)/(gamma - r)^2 for balls of r < gamma",
        lambda gamma: bounds.ballseptron(setting.radius, gamma, rule.ball),
        lambda gamma: rule.ball / gamma,
    )
