"""What a fit says of theory, where no theorem applies, and rules that break their theorems."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from fits import assert_theorem

from separatrix import DynamicMargin, MarginPerceptron, MaxMargin, Perceptron, PerceptronLike, bounds
from separatrix.certificates.theorems import Setting, theorem_of
from separatrix.rules.base import rule as attributes
from separatrix.rules.margins import (
    AlmaRule,
    BallseptronRule,
    CrammaRule,
    DynamicMarginRule,
    FixedMarginSearchRule,
    MargitronRule,
    MicraRule,
    WeightShrinkingRule,
    search_stages,
)
from separatrix.rules.multiplicative import AlmaPRule, PNormRule
from separatrix.rules.perceptrons import PerceptronRule

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_where_conditions_fail_there_is_no_bound():
    assert bounds.novikoff(1.0, 0.0) == bounds.with_margin(1.0, -1.0, 1.0) == math.inf
    assert bounds.fixed_directional_margin(1.0, 0.1, 0.2, 0.01) == math.inf
    assert bounds.margin_perceptron(1.0, 0.1, 0.2) == math.inf
    assert bounds.winnow(1.0, 0.1, 0.3, 5) == math.inf
    assert bounds.any_start([0.0], [1.0], 1.0, 1.0, alpha=0.4) == math.inf
    assert bounds.cramma(1.0, 0.1, 1.0, 0.5, 0.2) == (math.inf, 0.0)
    assert bounds.dynamic_margin(1.0, 0.0, 0.5) == bounds.relaxation(1.0, 0.1, 1.0, 0.0) == math.inf


def test_the_geometric_margin_makes_novikoff_false():
    """101 (+) against 99 (-): 20,002 updates, where (R/gamma)^2 with the geometric margin is 10,202."""
    model = Perceptron(shuffle=False, max_iter=100_000, until="separated").fit([[101.0], [99.0]], [1, 0])
    theory = model.certificate_.theory
    assert model.n_updates_ == 20_002
    assert bounds.novikoff(model.certificate_.radius, model.certificate_.upper * math.hypot(1, 100)) < 20_002
    assert round(bounds.novikoff(model.certificate_.radius, 1.0)) == 10_202
    assert model.n_updates_ <= theory.least_bound <= theory.bound


class Stubborn(NamedTuple):
    """A Perceptron that goes on correcting patterns that are right, by too little."""

    part: float

    def violates(self, m, s):
        return m <= 5.0 * s.radius2

    def gain(self, m, s):
        return self.part


@attributes(unit_patterns=True)
class Unprojected(NamedTuple):
    """ALMA with steps that do not shrink and a threshold that does not fall."""

    alpha: float

    def violates(self, m, s):
        return m <= (1.0 - self.alpha) * 3.0 / self.alpha

    def gain(self, m, s):
        return 0.01


@attributes(unit_patterns=True, starts_on_first=True)
class Hasty(NamedTuple):
    """CRAMMA that asks for next to no margin."""

    beta: float
    power: float
    eta: float

    def violates(self, m, s):
        return m <= 0.0

    def gain(self, m, s):
        return self.eta * s.norm2**0.5


class Careless(NamedTuple):
    """The dynamic margin without the margin."""

    epsilon: float

    def violates(self, m, s):
        return m <= 0.0

    def gain(self, m, s):
        return 1.0


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (Stubborn(0.001), PerceptronRule()),
        (Unprojected(0.5), AlmaRule(0.5)),
        (Hasty(5.0, 0.5, 0.001), CrammaRule(5.0, 0.5, 0.001)),
        (Careless(0.05), DynamicMarginRule(0.05)),
        (Careless(0.05), MargitronRule(5.0, 0.1)),
        (Hasty(5.0, 0.5, 0.001), MicraRule(5.0, 0.5, 0.02, 0.1)),
        (Stubborn(0.001), PNormRule(2.0)),
        (Stubborn(0.001), AlmaPRule(2.0, 0.9, 1.0)),
        (Careless(0.05), FixedMarginSearchRule(*search_stages(0.9, 0.1, 1e-6))),
        (Careless(0.05), WeightShrinkingRule(50.0, 1e-6)),
        (Careless(0.05), BallseptronRule(0.1)),
    ],
)
def test_a_broken_rule_breaks_its_theorem(broken, rule):
    """Otherwise the tests above could not fail."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    side = X @ [1.0, -2.0, 0.5] + 0.3
    X, y = X[np.abs(side) > 0.2], (side > 0)[np.abs(side) > 0.2]
    gamma = MaxMargin(math.inf).fit(X, y).certificate_.lower
    model = PerceptronLike(broken, max_iter=20_000, until="separated").fit(X, y)
    theorem = theorem_of(rule, Setting(model.certificate_.radius, 1.0, 4))
    with pytest.raises(AssertionError):
        assert_theorem(theorem, model.n_updates_, model.converged_, model.directional_margin_, gamma)


class Restless(NamedTuple):
    """A Perceptron that corrects every pattern."""

    eta: float

    def violates(self, m, s):
        return True

    def gain(self, m, s):
        return self.eta


def test_a_restless_rule_breaks_the_theorem_of_one_pass():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=400) > 0
    model = Perceptron(max_iter=1, shuffle=False, until="separated").fit(X, y)
    theory = model.certificate_.theory
    assert theory.theorem == "Freund-Schapire"
    assert "in one pass): at most" in str(theory)
    least = bounds.least_freund_schapire(np.where(y, 1, -1)[:, None] * np.column_stack([X, np.ones(400)]))
    assert model.n_updates_ <= least.bound <= theory.bound < 0.6 * 400
    assert PerceptronLike(Restless(1.0), max_iter=1, until="separated").fit(X, y).n_updates_ > theory.bound


def test_one_pass_is_no_more():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 1, 0, 1])
    assert Perceptron(max_iter=1, until="separated").fit(X, y).certificate_.theory.theorem == "Freund-Schapire"
    assert Perceptron(max_iter=2, until="separated").fit(X, y).certificate_.theory.theorem == "Novikoff"
    assert (
        Perceptron(1.0, max_iter=1, until="separated").fit(X, y).certificate_.theory.theorem == "Perceptron with margin"
    )
    machine = Perceptron(max_iter=1, multi_class="joint", until="separated").fit(np.repeat(X, 2, axis=1), [0, 1, 2, 0])
    assert machine.n_updates_ <= machine.certificate_.theory.bound
    assert bounds.best_freund_schapire([0.0, 0.0], 0.0) == (2.0, math.inf)
    with pytest.raises(ValueError, match="finite"):
        bounds.least_freund_schapire([[np.nan, 1.0]])


# What a fit says of theory


def test_theory_is_said_in_words():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    theory = Perceptron(until="separated").fit(X, y).certificate_.theory
    assert str(theory).startswith("Novikoff ((R/gamma)^2): at most ")
    assert "were made" in str(theory)
    assert 0 < theory.share <= 1
    promised = DynamicMargin(epsilon=0.1, until="separated").fit(X, y).certificate_.theory
    assert "at least 90% of the maximum margin" in str(promised)
    overlapping = Perceptron(max_iter=5, until="separated").fit(X[:, [0]], [0, 1, 0, 1]).certificate_.theory
    assert "no margin is certified" in str(overlapping)
    assert "condition is not certain" in str(
        MarginPerceptron(gamma_guess=0.9, until="separated").fit(X, y).certificate_.theory
    )


def test_where_no_theorem_applies():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    assert Perceptron(until="separated").fit(X, y, sample_weight=[1, 2, 1, 1]).certificate_.theory is None
    assert Perceptron(eta=lambda k: 1.0 / k, until="separated").fit(X, y).certificate_.theory is None
    assert Perceptron(until="separated").partial_fit(X, y, classes=[0, 1]).certificate_.theory is None
    warm = Perceptron(warm_start=True, max_iter=1, until="separated").fit(X, y)
    assert warm.certificate_.theory is not None
    assert warm.fit(X, y).certificate_.theory is None
    several = Perceptron(until="separated").fit(np.eye(3), [0, 1, 2])
    assert several.certificate_.theory is None
    assert all(c.theory.theorem == "Novikoff" for c in several.certificates_)
