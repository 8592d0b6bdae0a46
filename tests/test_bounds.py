"""Each theorem, run: real estimators on random data stay within the bounds. `test_theory` shows that broken rules do
not."""

import math
from decimal import Decimal

import numpy as np
import oracle
import pytest
from fits import ROUNDING, assert_theorem
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog
from strategies import data, fitted, many, rho_of, settings_of_a_fit

from separatrix import (
    ALMA,
    CRAMMA,
    MICRA,
    ROMMA,
    BalancedWinnow,
    DynamicMargin,
    FixedMargin,
    FuzzyPerceptron,
    GreedyPerceptron,
    MarginFuzzyPerceptron,
    MarginPerceptron,
    MaxMargin,
    PassiveAggressive,
    Perceptron,
    PerceptronLike,
    PNormALMA,
    PNormPerceptron,
    Pocket,
    Relaxation,
    VotedPerceptron,
    bounds,
)
from separatrix.bounds import best_freund_schapire
from separatrix.certificates.theorems import Setting, theorem_of
from separatrix.passes.plain_patterns import Patterns
from separatrix.rules import BallseptronRule, MargitronRule, WeightShrinkingRule
from separatrix.rules.perceptrons import fuzzy_weights, membership
from separatrix.space import Space
from separatrix.theory import objective, soft_measures

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rates = st.sampled_from([0.1, 1.0, 3.0])
PARAMETERS = {
    Perceptron: {"margin": st.sampled_from([0.0, 0.5, 20.0]), "eta": rates, "average": st.booleans()},
    VotedPerceptron: {},
    Pocket: {},
    MarginFuzzyPerceptron: {"width": st.sampled_from([0.0, 0.1, 1.0]), "eta": rates},
    GreedyPerceptron: {"etas": st.sampled_from([(1.0,), (0.5, 1.0, 2.0, 4.0), (0.1, 3.0)])},
    DynamicMargin: {"epsilon": st.sampled_from([0.2, 0.5, 1.0])},
    ALMA: {"alpha": st.sampled_from([0.3, 0.6, 1.0])},
    CRAMMA: {
        "beta": st.sampled_from([0.1, 1.0, 5.0]),
        "power": st.sampled_from([0.4, 0.5, 1.0, 2.0]),
        "eta0": st.sampled_from([0.01, 0.1]),
        "decay": st.sampled_from([0.0, 0.4]),
    },
    MICRA: {
        "beta": st.sampled_from([0.1, 1.0, 3.0]),
        "power": st.sampled_from([0.5, 1.0]),
        "eta0": st.sampled_from([0.05, 0.5]),
        "decay": st.sampled_from([0.0, 0.3, 0.9]),
    },
    PNormPerceptron: {"p": st.sampled_from([2.0, 3.0, "auto"])},
    PNormALMA: {"alpha": st.sampled_from([0.4, 0.9]), "p": st.sampled_from([2.0, 3.0, 8.0])},
    FixedMargin: {
        "beta": st.sampled_from([0.0, 0.1, 0.5, "search"]),
        "eta": st.sampled_from([0.01, 0.1]),
        "factor": st.sampled_from([0.5, 0.8]),
    },
    MarginPerceptron: {"gamma_guess": st.sampled_from([None, 0.1, 0.5])},
    Relaxation: {"eta": st.sampled_from([0.3, 1.0, 1.8]), "margin_tol": st.sampled_from([0.01, 0.3])},
    PassiveAggressive: {
        "C": st.sampled_from([0.01, 1.0, math.inf]),
        "variant": st.sampled_from(["I", "II"]),
        "margin_tol": st.sampled_from([0.01, 0.3]),
    },
    ROMMA: {"aggressive": st.booleans(), "margin_tol": st.sampled_from([0.05, 0.3])},
    BalancedWinnow: {"alpha": st.sampled_from(["auto", 1.01, 1.1, 2.0])},
}


RULES = {
    MargitronRule: (st.sampled_from([0.05, 1.0, 20.0]), st.sampled_from([0.2, 0.6, 1.0])),
    WeightShrinkingRule: (st.sampled_from([0.1, 5.0]), st.sampled_from([1e-4, 1e-3, 0.02])),
    BallseptronRule: (st.sampled_from([0.01, 0.1, 0.5]),),
}


@pytest.mark.parametrize("rule", RULES)
@many
@given(st.data(), data(separable=True), settings_of_a_fit())
def test_every_theorem_holds_for_its_rule(rule, draw, Xy, how):
    X, y = Xy
    Y = oracle.patterns(X, y, rho_of(how))
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 0.05 * oracle.radius(Y))
    own = rule(*(draw.draw(value) for value in RULES[rule]))
    model = fitted(PerceptronLike, X, y, {**how, "rule": own, "max_iter": 3000})
    theory, theorem = model.certificate_.theory, theorem_of(own, Setting(model.certificate_.radius, 0.0, 0))
    assert theory.theorem == theorem.name
    assert_theorem(theorem, model.n_updates_, model.converged_, model.directional_margin_, gamma / (1 + 1e-6))


def margin_in_the_1_norm(Y):
    """max over |u|_1 = 1 of min u.y, by a linear program in u = p - q and the margin."""
    n, d = Y.shape
    result = linprog(
        np.r_[np.zeros(2 * d), -1.0],
        A_ub=np.column_stack([-Y, Y, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.r_[np.ones(2 * d), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * (2 * d) + [(None, None)],
    )
    return -result.fun


def margin_in_another_norm(Y, w, q):
    """max over |u|_q = 1 of min u.y; for q > 1 what w has of it, so that bounds hold all the more."""
    return margin_in_the_1_norm(Y) if q == 1 else (Y @ w).min() / np.linalg.norm(w, q)


def reached(model, X, y, rho, delta):
    """The margin of the vector that the rule ended with, in its space; None where another one predicts."""
    certificate = model.certificate_
    if delta == 0:
        return None if certificate.lower is None else model.directional_margin_
    Y = oracle.patterns(X, y, rho, delta)
    a = certificate.alpha @ Y[certificate.alpha_index]
    return (Y @ a).min() / np.linalg.norm(a)


@pytest.mark.parametrize("cls", PARAMETERS)
@many
@given(st.data(), data(separable=True), settings_of_a_fit(), st.sampled_from([0.0, 0.5]))
def test_every_theorem_holds_for_its_estimator(cls, draw, Xy, how, delta):
    X, y = Xy
    own = {name: draw.draw(strategy, label=name) for name, strategy in PARAMETERS[cls].items()}
    if delta and "delta" in cls().get_params():
        own["delta"] = delta
    else:
        delta = 0.0
    rho = rho_of(how)
    Y = oracle.patterns(X, y, rho, delta)
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 0.02 * oracle.radius(Y))
    model = fitted(cls, X, y, {**how, **own, "max_iter": 3000})
    certificate = model.certificate_
    setting = Setting(certificate.radius, float(np.abs(Y[:, : X.shape[1] + 1]).max()), X.shape[1] + (rho > 0))
    theorem = theorem_of(model._recipe(model._records_[0]).rule, setting)
    exact = gamma if theorem.norm == 2 else margin_in_another_norm(Y, w, theorem.norm)
    averaged = own.get("average", False)
    assert_theorem(
        theorem,
        model.n_updates_,
        model.converged_ and not averaged,
        reached(model, X, y, rho, delta),
        exact / (1 + 1e-6),  # the oracle's precision
    )
    theory = certificate.theory
    assert theory.theorem == theorem.name
    assert theory.updates == model.n_updates_
    assert theory.updates <= theory.bound * ROUNDING
    assert theory.least_bound <= theorem.updates(exact) * (1 + 1e-5)


@many
@given(data(separable=True), settings_of_a_fit(), st.sampled_from([0.3, 0.8]), st.sampled_from([2.0, 3.0, 6.0]))
def test_alma_p_reaches_its_part_of_the_margin(Xy, how, alpha, p):
    """In the norm q: at least 1 - alpha of what any vector has, so of what the best one in the norm 2 has."""
    X, y = Xy
    Y, q = oracle.patterns(X, y, rho_of(how)), p / (p - 1)
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 0.05 * oracle.radius(Y))
    model = fitted(PNormALMA, X, y, {**how, "alpha": alpha, "p": p, "max_iter": 20_000})
    assert model.converged_
    assert model.certificate_.theory.theorem == "ALMA_p"
    a = np.append(model.coef_[0], model.intercept_[0] / (rho_of(how) or 1.0))
    assert margin_in_another_norm(Y, a, q) >= (1 - alpha) * margin_in_another_norm(Y, w, q) / (1 + 1e-6)
    if p == 2:
        plain = fitted(ALMA, X, y, {**how, "alpha": alpha, "max_iter": 20_000})
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6, atol=1e-9)


@many
@given(data(), settings_of_a_fit(), st.integers(0, 10_000), st.sampled_from([0.01, 0.1, 1.0, 10.0]))
def test_freund_schapire(Xy, how, seed, gamma):
    """One pass over any data, any unit vector, any gamma > 0."""
    X, y = Xy
    Y = oracle.patterns(X, y, rho_of(how))
    u = np.random.default_rng(seed).normal(size=Y.shape[1])
    u /= np.linalg.norm(u)
    model = fitted(Perceptron, X, y, {**how, "max_iter": 1})
    for direction in (u, -u, Y.sum(axis=0) / max(np.linalg.norm(Y.sum(axis=0)), 1e-300)):
        D = bounds.deviation(Y @ direction, gamma)
        assert model.n_updates_ <= bounds.freund_schapire(oracle.radius(Y), gamma, D) * ROUNDING
        least = bounds.least_freund_schapire(Y)
        assert least.bound <= bounds.freund_schapire(oracle.radius(Y), gamma, D) * (1 + 1e-5)
        assert model.n_updates_ <= least.bound * ROUNDING
        assert model.n_updates_ <= model.certificate_.theory.bound * ROUNDING


@many
@given(data(separable=True), settings_of_a_fit(), st.integers(0, 1000), st.sampled_from([1.01, 1.5, 2.0, 7.0, None]))
def test_any_start(Xy, how, seed, factor):
    """DHS eq. 25 and problem 14: every alpha > beta^2/(2 gamma) bounds the corrections, the best one tightest."""
    X, y = Xy
    Y = oracle.patterns(X, y, 1.0)
    gamma, a = oracle.max_margin(Y)
    assume(a is not None and gamma > 1e-2 * oracle.radius(Y))
    a, beta = a / np.linalg.norm(a), oracle.radius(Y)
    start = np.random.default_rng(seed).normal(0, 5, X.shape[1] + 1)
    model = Perceptron(intercept_scaling=1.0, shuffle=how["shuffle"], random_state=how["random_state"], max_iter=5000)
    model.fit(X, y, coef_init=start[None, :-1], intercept_init=start[-1:])
    gamma = (Y @ a).min()
    alpha = None if factor is None else factor * beta**2 / (2 * gamma)
    bound = bounds.any_start(start, a, gamma, beta, alpha)
    assert model.n_updates_ <= bound * ROUNDING
    assert bounds.any_start(start, a, gamma, beta) <= bound * ROUNDING
    assert model.certificate_.theory is None


@many
@given(data(separable=True), st.sampled_from([(0.5, 1.0, 2.0, 4.0), (0.1, 3.0)]))
def test_greedy_increments(Xy, etas):
    """GREEDY 15-17, from the increments that were used: sum alpha is their sum."""
    X, y = Xy
    Y = oracle.patterns(X, y)
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 0.02 * oracle.radius(Y))
    model = GreedyPerceptron(etas, shuffle=False).fit(X, y)
    assert model.eta_counts_.sum() == model.n_updates_
    assert model.eta_counts_ @ etas == pytest.approx(model.certificate_.alpha.sum())
    effective = bounds.greedy_effective_updates(etas, model.eta_counts_)
    assert effective == pytest.approx(bounds.greedy_effective_updates(np.repeat(etas, model.eta_counts_)))
    assert effective <= bounds.novikoff(oracle.radius(Y), gamma) * ROUNDING * (1 + 1e-6)
    assert model.n_updates_ * (min(etas) / max(etas)) ** 2 <= effective * ROUNDING
    sharp = bounds.bounded_increments(oracle.radius(Y), gamma, min(etas), max(etas))
    assert sharp <= bounds.greedy(oracle.radius(Y), gamma, min(etas), max(etas)) * ROUNDING


@many
@given(data(separable=True), settings_of_a_fit(), st.sampled_from([0.1, 0.5, 1.0]))
def test_margin_perceptron_with_a_guess(Xy, how, part):
    """TAO 18: with a guess g <= gamma_d at most 12 R^2/gamma_d^2 updates and a margin of at least g/2."""
    X, y = Xy
    Y = oracle.patterns(X, y, rho_of(how))
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 0.02 * oracle.radius(Y))
    guess = part * gamma * (1 - 1e-6)
    model = fitted(MarginPerceptron, X, y, {**how, "gamma_guess": guess, "max_iter": 100_000})
    assert model.converged_
    assert model.n_updates_ <= bounds.margin_perceptron(oracle.radius(Y), gamma, guess) * ROUNDING
    assert model.directional_margin_ >= guess / 2 * (1 - 1e-9)


@many
@given(data(separable=True), settings_of_a_fit())
def test_the_search_for_a_guess_reaches_a_quarter(Xy, how):
    X, y = Xy
    Y = oracle.patterns(X, y, rho_of(how))
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 0.02 * oracle.radius(Y))
    model = fitted(MarginPerceptron, X, y, {**how, "max_iter": 100_000})
    assert model.converged_
    assert model.directional_margin_ >= gamma / 4 * (1 - 1e-6)


@many
@given(
    data(separable=True), settings_of_a_fit(), st.sampled_from([0.3, 0.5, 1.0, 2.0]), st.sampled_from([0.2, 1.0, 4.0])
)
def test_cramma_converges_where_theorem_1_says_so(Xy, how, power, beta):
    X, y = Xy
    Y = oracle.patterns(X, y, rho_of(how))
    R, (gamma, w) = oracle.radius(Y), oracle.max_margin(Y)
    assume(w is not None and gamma > 0.05 * R)
    eta = 0.25 * (math.sqrt(1 + 8 * gamma / R) - 1)
    assert bounds.cramma_converges(R, gamma, eta)
    t_b, f_b = bounds.cramma(R, gamma, beta, power, eta)
    assume(t_b < 1e5)
    model = fitted(CRAMMA, X, y, {**how, "beta": beta, "power": power, "eta0": eta, "decay": 0.0, "max_iter": 10**6})
    assert model.converged_
    assert model.n_updates_ <= t_b * ROUNDING
    assert model.directional_margin_ >= f_b * gamma * (1 - 1e-6)


@pytest.mark.parametrize("power", [0.01, 0.3, 0.5, 0.999999, 1.0, 1.000001, 2.0, 30.0])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e13])
def test_equation_13_is_solved(power, beta):
    """tau_b from f_b = (1 + tau_b)^-eps, put back into (13), in decimals, which do not overflow."""
    D = Decimal
    R, gamma, eta = 2.0, 0.3, 0.05
    t_b, f_b = bounds.cramma(R, gamma, beta, power, eta)
    assert 0 < f_b < 1
    g, eps, rate = D(gamma) / D(R), D(power), D(eta)
    chi, omega = 1 - rate / 2 * (1 + rate) / g, rate * (1 + rate) * g
    log_grown = -D(f_b).ln() / eps
    rest = 1 - eps
    grown = log_grown if rest == 0 else ((rest * log_grown).exp() - 1) / rest
    left = (1 + omega) / rate * (-D(beta).ln() / eps + (1 / eps - 1) * g.ln()).exp()
    terms = chi * (log_grown.exp() - 1), (1 + rate) * grown, left
    assert abs(terms[0] - terms[1] - left) <= D(1e-9) * max(terms)
    assert terms[0] > 0
    assert math.isinf(t_b) or D(t_b).ln() == pytest.approx((D(beta) / g).ln() / eps + log_grown, rel=D(1e-9))


@many
@given(st.floats(1e-3, 1.0), st.floats(1e-3, 1e3), st.floats(0.01, 0.99))
def test_the_closed_form_for_one_half(gamma, beta, part):
    eta = part * 0.5 * (math.sqrt(1 + 8 * gamma) - 1)
    assert bounds.cramma_half(1.0, gamma, beta, eta) == pytest.approx(
        bounds.cramma(1.0, gamma, beta, 0.5, eta), rel=1e-6
    )


@many
@given(st.floats(0.05, 1.0), st.sampled_from([0.2, 0.3, 0.5, 0.7, 1.0]))
def test_dynamic_margin_bound_solves_its_recurrence(gamma, epsilon):
    """The last t with n_t >= gamma^2 t^2, step by step."""
    bound = bounds.dynamic_margin(1.0, gamma, epsilon)
    assume(bound < 1e5)
    t, n, last = 1, 1.0, 0
    while t < 3 * bound + 10:
        last = t if n >= gamma**2 * t**2 * (1 - 1e-12) else last
        n, t = n * (1 + 2 * (1 - epsilon) / t) + 1, t + 1
    assert last <= bound * (1 + 1e-9) < last + 1 + 1e-6


# Fuzzy patterns


def fuzzy_factors(X, y, m, fuzz, c):
    l = oracle.labels(y)
    own, other = (np.array([X[l == s * k].mean(axis=0) for k in l]) for s in (1, -1))
    d1, d2 = np.linalg.norm(X - own, axis=1), np.linalg.norm(X - other, axis=1)
    return fuzzy_weights(membership(d1, d2, np.linalg.norm(own[0] - other[0]), c), m, fuzz)


@many
@given(
    data(), settings_of_a_fit(), st.sampled_from([1.0, 2.0]), st.sampled_from([0.0, 0.1]), st.sampled_from([0.5, 2.0])
)
def test_the_corrected_bound_of_the_fuzzy_perceptron(Xy, how, m, fuzz, c):
    X, y = Xy
    model = fitted(FuzzyPerceptron, X, y, {**how, "m": m, "fuzz": fuzz, "c": c, "max_iter": 3000})
    factor = fuzzy_factors(X, y, m, fuzz, c)
    assume(np.all(np.abs(factor ** (1 / m) - 2 * fuzz) > 1e-9))  # at the boundary rounding decides
    clear = factor > 0
    assume(clear.any())
    weighted = factor[clear, None] * oracle.patterns(X, y, rho_of(how))[clear]
    assume(oracle.radius(weighted) > 1e-6)
    gamma, w = oracle.max_margin(weighted / oracle.radius(weighted))
    assume(w is not None and gamma > 1e-3)
    assert model.n_updates_ <= bounds.fuzzy(1.0, gamma) * (1 + 1e-5)
    theory = model.certificate_.theory
    assert model.n_updates_ <= theory.bound * ROUNDING
    assert theory.least_bound <= bounds.fuzzy(1.0, gamma) * (1 + 1e-5)
    if theory.gamma[0] > 0:
        assert bounds.fuzzy(1.0, gamma) <= theory.bound * (1 + 1e-5)


def test_theorem_22_forgets_the_weights():
    """GREEDY theorem 22 on four points: no pattern is fuzzy, and yet 17,174 updates where (R/gamma*)^2 is 13.5."""
    X, y = np.array([[-1.0, -4.0], [4.0, 2.0], [-2.0, -1.0], [-4.0, -2.0]]), np.array([0, 0, 1, 1])
    Y = oracle.patterns(X, y)
    model = FuzzyPerceptron(c=5.0, fuzz=0.0, shuffle=False, max_iter=20_000, until="separated").fit(X, y)
    factor = fuzzy_factors(X, y, 2.0, 0.0, 5.0)
    assert model.converged_
    assert np.all(factor > 0)
    assert model.n_updates_ == 17_174
    assert bounds.novikoff(oracle.radius(Y), oracle.max_margin(Y)[0]) == pytest.approx(13.5254, abs=1e-4)
    weighted = factor[:, None] * Y
    scale = oracle.radius(weighted)
    assert model.n_updates_ <= bounds.fuzzy(1.0, oracle.max_margin(weighted / scale)[0])


@many
@given(data(separable=True), hnp.arrays(np.float64, 5, elements=st.floats(-1, 1)), st.floats(0, 0.999))
def test_boundaries_within_the_fuzzy_angle_separate(Xy, turn, part):
    """GREEDY theorem 23: turned by less than asin(gamma/R), the best boundary still separates."""
    X, y = Xy
    Y = oracle.patterns(X, y)
    gamma, w = oracle.max_margin(Y)
    assume(w is not None and gamma > 1e-3 * oracle.radius(Y))
    u = w / np.linalg.norm(w)
    side = np.resize(turn, len(u))
    side = side - (side @ u) * u
    assume(np.linalg.norm(side) > 1e-3)
    angle = part * bounds.fuzzy_angle(oracle.radius(Y), min(gamma, oracle.radius(Y))) / 2
    turned = math.cos(angle) * u + math.sin(angle) * side / np.linalg.norm(side)
    assert np.all(Y @ turned > 0)


def test_margin_fuzzy_angle():
    assert bounds.margin_fuzzy_angle(4.0, 3.0, 5.0) == pytest.approx(math.pi - 2 * math.acos(0.8))
    with pytest.raises(ValueError, match="between gamma"):
        bounds.margin_fuzzy_angle(4.0, 3.0, 2.0)


# The extended space


@many
@given(
    data(), settings_of_a_fit(), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([Perceptron, DynamicMargin, ALMA])
)
def test_the_sandwich_of_the_extended_space(Xy, how, delta, cls):
    """CRAMMA eqs. 21 and 27: Gamma <= J^(-1/2) <= Gamma_opt, and |Delta|/sqrt(n) <= Gamma_opt."""
    X, y = Xy
    rho = rho_of(how)
    certificate = fitted(cls, X, y, {**how, "delta": delta}).certificate_
    best = oracle.max_margin(oracle.patterns(X, y, rho, delta))[0] * (1 + 1e-6)
    assert bounds.extended_floor(delta, len(y)) <= best
    patterns = Patterns(X, oracle.labels(y), Space(rho))
    a = patterns.combine(certificate.alpha_index, certificate.alpha)
    assume(np.linalg.norm(a) > 1e-9 * certificate.alpha.sum() * certificate.radius)
    alpha = np.zeros(len(y))
    alpha[certificate.alpha_index] = certificate.alpha
    measures = soft_measures(a, alpha, patterns.margins(a), delta)
    assume(measures.gamma > 1e-6 * certificate.radius)
    Gamma = measures.gamma / math.hypot(1.0, measures.D_prime / delta)
    assert Gamma <= bounds.extended_margin(measures.J) * ROUNDING
    assert bounds.extended_margin(measures.J) <= best
    u = a / np.linalg.norm(a)
    for gamma in (0.01, 1.0, 30.0):  # eq. 20 holds for any gamma
        assert bounds.extended_margin(objective(patterns.margins(u), gamma, delta)) <= best


def test_leave_one_out_bounds_the_error(separable_wbc):
    """DHS eq. 107 on data where both sides can be counted: errors left out one by one against support vectors."""
    X, y = separable_wbc.X[:80], separable_wbc.y[:80]
    model = MaxMargin(math.inf).fit(X, y)
    wrong = sum(
        MaxMargin(math.inf).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] != y[i]
        for i in range(len(y))
    )
    assert wrong / len(y) <= bounds.leave_one_out(len(model.support_), len(y))


def test_one_pass_over_nothing_and_over_what_is_no_number():
    assert best_freund_schapire([], 1.0)[0] == 0
    with pytest.raises(ValueError, match="NaN"):
        best_freund_schapire([np.nan, 1.0], 1.0)
