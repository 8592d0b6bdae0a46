"""Every estimator against its naive oracle: the same vector after the same number of updates.

The estimators run compiled loops over rows with lazy factors, incremental norms and an extension that is never
materialised; the oracles of oracle.py run numpy over materialised patterns.
"""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import oracle
import pytest
from cases import (
    LENT,
    ONLINE,
    ORDERS,
    PROBLEMS,
    RULES,
    Setting,
    blobs_2d,
    each_case,
    each_order,
    integer_ties,
    margin_6d,
    most_cases,
    one_feature,
    overlapping,
    slow,
    weights,
    wide,
)

from separatrix import (
    ALMA,
    AROW,
    CRAMMA,
    LMS,
    MICRA,
    ROMMA,
    BalancedWinnow,
    DynamicMargin,
    FixedMargin,
    GreedyPerceptron,
    LeastSquares,
    MarginFuzzyPerceptron,
    PassiveAggressive,
    Perceptron,
    PerceptronLike,
    PNormALMA,
    PNormPerceptron,
    Pocket,
    RecursiveLeastSquares,
    Relaxation,
    SecondOrderPerceptron,
    VotedPerceptron,
)
from separatrix.errors import DataError, UnavailableError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

EPOCHS = 20


EXTENDED = [pytest.param(case, marks=pytest.mark.slow) if case.costly else case for case in RULES if case.soft]


def test_every_estimator_has_a_case():
    assert {case.estimator for case in RULES} | {VotedPerceptron, PerceptronLike} == set(ONLINE)


RELATIVE = (
    ALMA,
    CRAMMA,
    MICRA,
    FixedMargin,
    ROMMA,
    PNormALMA,
)  # weights count by what they are of their mean


@cache
def expected(index, problem, dtype="float64", rho=1.0, delta=0.0, weighted=False, max_iter=EPOCHS):
    X, y = problem()
    X = X.astype(dtype).astype(np.float64)
    weight = weights(y, least=0) if weighted else None
    if weighted:
        X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        if RULES[index].estimator in RELATIVE:
            weight = weight / weight.mean()
    Y = oracle.patterns(X, y, rho, delta)
    return RULES[index].oracle(Y, Setting(X, y, delta), weight=weight, max_iter=max_iter)


def assert_same(model, run, d, rho=1.0):
    a = np.append(model.coef_[0], model.intercept_[0] / rho if rho else 0.0)
    want = run.a[: d + 1]
    if isinstance(model, BalancedWinnow | PNormPerceptron):  # whose scale is free
        a, want = a / np.linalg.norm(a), want / np.linalg.norm(want)
    assert model.n_updates_ == run.updates
    assert model.converged_ == run.converged
    np.testing.assert_allclose(a, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())


# Each of the four forms of data is compiled for itself. A formula sees no row, so for the form that no other test asks
# for, float32 in CSR, one rule of each loop and of each memory is enough on every run.
IN_EVERY_FORM = (
    Perceptron,
    Pocket,
    GreedyPerceptron,
    BalancedWinnow,
    RecursiveLeastSquares,
    SecondOrderPerceptron,
    AROW,
    PNormPerceptron,
)


def on_every_run(case, dtype, layout):
    return not case.costly and (case.estimator in IN_EVERY_FORM or (dtype, layout) != ("float32", "csr"))


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(
    ("case", "dtype", "layout"),
    [
        pytest.param(*form, id="-".join(map(str, form)), marks=() if on_every_run(*form) else pytest.mark.slow)
        for form in product(RULES, ["float64", "float32"], ORDERS)
    ],
)
def test_oracle(case, problem, dtype, layout):
    X, y = problem()
    model = case.estimator(**case.parameters, shuffle=False, max_iter=EPOCHS)
    model.fit(ORDERS[layout](X.astype(dtype)), y)
    assert_same(model, expected(RULES.index(case), problem, dtype), X.shape[1])


@pytest.mark.parametrize(
    ("dtype", "layout"),
    [
        ("float64", "C"),
        ("float32", "csr"),
        pytest.param("float64", "csr", marks=pytest.mark.slow),
        pytest.param("float32", "C", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("rule", "run"), LENT, ids=lambda x: type(x).__name__)
def test_oracle_of_a_rule_without_an_estimator(rule, run, weighted, dtype, layout):
    for problem in PROBLEMS:
        X, y = problem()
        X, weight = X.astype(dtype), weights(y) if weighted else None
        model = PerceptronLike(rule, until="separated", shuffle=False, max_iter=EPOCHS).fit(
            ORDERS[layout](X), y, sample_weight=weight
        )
        assert_same(model, run(oracle.patterns(X, y), weight=weight), X.shape[1])


@pytest.mark.nojit
@pytest.mark.parametrize("layout", ["C", "csr"])
@each_case
def test_oracle_on_few_rows(case, layout):
    X, y = one_feature()
    model = case.estimator(**case.parameters, shuffle=False, max_iter=4).fit(ORDERS[layout](X), y)
    assert_same(model, expected(RULES.index(case), one_feature, max_iter=4), 1)


@each_order
@pytest.mark.parametrize("problem", [overlapping, wide])
@pytest.mark.parametrize("case", EXTENDED, ids=str)
def test_oracle_in_the_extended_space(case, problem, layout):
    X, y = problem()
    model = case.estimator(**case.parameters, delta=1.0, shuffle=False, max_iter=EPOCHS).fit(ORDERS[layout](X), y)
    assert_same(model, expected(RULES.index(case), problem, delta=1.0), X.shape[1])


@pytest.mark.parametrize("rho", [0.0, 2.0])
@pytest.mark.parametrize("problem", [blobs_2d, margin_6d])
@most_cases
def test_oracle_with_another_bias(case, problem, rho):
    X, y = problem()
    space = {"intercept_scaling": rho} if rho else {"fit_intercept": False}
    model = case.estimator(**case.parameters, **space, shuffle=False, max_iter=EPOCHS).fit(X, y)
    assert_same(model, expected(RULES.index(case), problem, rho=rho), X.shape[1], rho)


@each_order
@pytest.mark.parametrize("problem", [blobs_2d, overlapping])
@most_cases
def test_oracle_with_sample_weights(case, problem, layout):
    X, y = problem()
    model = case.estimator(**case.parameters, shuffle=False, max_iter=EPOCHS)
    model.fit(ORDERS[layout](X), y, sample_weight=weights(y, least=0))
    assert_same(model, expected(RULES.index(case), problem, weighted=True), X.shape[1])


@pytest.mark.parametrize("max_updates", [1, 3])
@most_cases
def test_max_updates(case, max_updates):
    X, y = overlapping()
    model = case.estimator(**case.parameters, max_updates=max_updates).fit(X, y)
    assert model.n_updates_ == max_updates
    assert model.stop_reason_ == "max_updates"
    assert not model.converged_


@pytest.mark.parametrize("eta", ["1/k", slow], ids=["1/k", "callable"])
def test_lms_schedules(eta):
    X, y = blobs_2d()
    X = X / 10
    Y = oracle.patterns(X, y, rho=0.5)
    model = LMS(eta=eta, until="separated", intercept_scaling=0.5, shuffle=False, max_iter=EPOCHS).fit(X, y)
    assert_same(model, oracle.lms(Y, rate=slow if callable(eta) else lambda k: 1 / k), X.shape[1], 0.5)


@pytest.mark.parametrize("eta", [0.5, slow], ids=["number", "callable"])
def test_lms_with_a_target_for_each_row(eta):
    X, y = overlapping()
    Y, b, weight = oracle.patterns(X, y), np.linspace(0.5, 2.0, len(y)), weights(y, least=0)
    kept = weight > 0
    how = {"rate": slow} if callable(eta) else {"eta": eta}
    run = oracle.lms(Y[kept], target=b[kept], weight=weight[kept], max_iter=4, **how)
    model = LMS(eta, target=b, until="separated", shuffle=False, max_iter=4).fit(X, y, sample_weight=weight)
    assert_same(model, run, 2)
    shuffled = LMS(target=b, until="separated", max_iter=4).fit(X, y)
    assert shuffled.score(X, y) > 0.6
    assert not np.allclose(shuffled.coef_, LMS(target=b, until="separated", shuffle=False, max_iter=4).fit(X, y).coef_)


def test_lms_approaches_least_squares_with_the_same_targets():
    X, y = overlapping()
    b = np.where(y > 0, 2.0, np.linspace(0.5, 1.0, len(y)))
    for target in (b, "fisher"):
        exact = LeastSquares(target=target).fit(X, y)
        model = LMS(target=target, until="separated", step_tol=0.0, max_iter=3000).fit(X, y)
        np.testing.assert_allclose(model.coef_, exact.coef_, rtol=0.02)
        np.testing.assert_allclose(model.intercept_, exact.intercept_, atol=0.02)


def test_lms_with_targets_over_blocks():
    X, y = blobs_2d()
    with pytest.raises(UnavailableError, match="target=array"):
        LMS(target=np.ones(30)).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(DataError, match="target has shape"):
        LMS(target=np.ones(7)).fit(X, y)
    order = np.argsort(np.arange(30) % 15, kind="stable")
    model = LMS(target="fisher").partial_fit(X[order[:16]], y[order[:16]], classes=[0, 1])
    model.partial_fit(X[order[16:]], y[order[16:]])
    assert model.score(X, y) > 0.9


def test_cramma_takes_the_papers_rate_in_the_extended_space():
    """eta_0 = 1.7 Delta/(R sqrt(n)), section 5."""
    X, y = overlapping()
    Y = oracle.patterns(X, y, 1.0, 0.5)
    model = CRAMMA(beta=2.0, power=0.5, until="separated", decay=1.0, delta=0.5, shuffle=False, max_iter=EPOCHS).fit(
        X, y
    )
    eta0 = 1.7 * 0.5 / (oracle.radius(Y) * np.sqrt(len(Y)))
    assert_same(model, oracle.cramma(Y, 2.0, 0.5, eta0 / 2.0), X.shape[1])


def test_winnow_survives_large_exponents():
    """theta goes 1000, 10, -980, 20, -970: e^1000 overflows, and e^10 must not vanish beside it."""
    model = BalancedWinnow(alpha=np.e, fit_intercept=False, shuffle=False, max_iter=3).fit([[1000.0], [990.0]], [1, 0])
    assert model.n_updates_ == 5
    assert model.coef_[0, 0] < 0


class Allocating(NamedTuple):
    """A formula may do what it likes: here it makes an array."""

    margin: float

    def violates(self, m, s):
        return m <= np.array([0.0, self.margin]).max()

    def gain(self, m, s):
        return np.array([0.5, s.weight]).max()


def test_a_rule_that_makes_arrays():
    X, y = overlapping()
    model = PerceptronLike(Allocating(1.0), shuffle=False, max_iter=EPOCHS).fit(X, y)
    np.testing.assert_array_equal(model.coef_, Perceptron(1.0, shuffle=False, max_iter=EPOCHS).fit(X, y).coef_)


# Starts and memories


@pytest.mark.parametrize(
    ("estimator", "rule"),
    [
        (Perceptron(), oracle.perceptron),
        (GreedyPerceptron(), oracle.greedy),
        (DynamicMargin(epsilon=0.4), lambda Y, **how: oracle.dynamic_margin(Y, 0.4, **how)),
        (Relaxation(margin_tol=0.01), lambda Y, **how: oracle.relaxation(Y, tol=0.01, **how)),
        (PassiveAggressive(C=1.0), lambda Y, **how: oracle.passive_aggressive(Y, 1.0, **how)),
    ],
)
def test_given_start(estimator, rule):
    X, y = overlapping()
    start = np.array([0.4, -0.3, 0.1])
    estimator.set_params(until="separated", shuffle=False, max_iter=EPOCHS).fit(
        X, y, coef_init=start[:2], intercept_init=start[2:]
    )
    assert_same(estimator, rule(oracle.patterns(X, y), start=start), 2)


@pytest.mark.parametrize("estimator", [Perceptron(), GreedyPerceptron(), BalancedWinnow(), Pocket()])
def test_start_on_a_separator_stays_there(estimator):
    X, y = blobs_2d()
    w = np.array([[0.7, 0.6]])
    estimator.fit(X, y, coef_init=w, intercept_init=[0.05])
    assert estimator.n_updates_ == 0
    assert estimator.converged_
    np.testing.assert_allclose(estimator.coef_, w, rtol=1e-12)


@pytest.mark.parametrize("problem", [blobs_2d, overlapping, integer_ties])
@each_order
def test_voted_perceptron(problem, layout):
    X, y = problem()
    model = VotedPerceptron(shuffle=False, max_iter=EPOCHS).fit(ORDERS[layout](X), y)
    vectors, votes = oracle.voted(oracle.perceptron(oracle.patterns(X, y)))
    np.testing.assert_array_equal(model.votes_[0], votes)
    np.testing.assert_allclose(np.column_stack([model.voters_[0], model.voter_intercepts_[0]]), vectors, rtol=1e-9)
    assert model.votes_[0].sum() == model.n_visits_
    score = np.sign(X @ vectors[:, :-1].T + vectors[:, -1]) @ votes / votes.sum()
    np.testing.assert_allclose(model.decision_function(X), score, atol=1e-12)


def test_voted_perceptron_keeps_the_longest_lived():
    X, y = overlapping()
    _, votes = oracle.voted(oracle.perceptron(oracle.patterns(X, y)))
    model = VotedPerceptron(max_voters=5, shuffle=False, max_iter=EPOCHS).fit(X, y)
    np.testing.assert_array_equal(np.sort(model.votes_[0]), np.sort(votes)[-5:])


@pytest.mark.parametrize("estimator", [Pocket(), Pocket("run"), MarginFuzzyPerceptron(width=0.0)], ids=str)
def test_a_vector_that_passed_an_epoch_beats_longer_runs(estimator):
    """In random order a wrong vector may survive longer than one epoch, up to 2n - 2 visits."""
    rng = np.random.default_rng(0)
    converged = 0
    for seed in range(60):
        X, y = rng.normal(size=(5, 2)), np.append([0, 1], rng.integers(0, 2, 3))
        estimator.set_params(random_state=seed, max_iter=100).fit(X, y)
        if estimator.converged_:
            converged += 1
            assert estimator.score(X, y) == 1.0
    assert converged > 20


@pytest.mark.parametrize("variant", ["ratchet", "run"])
def test_pocket_on_random_integers(variant):
    """Arithmetic is exact here, and runs and errors tie often."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        X, y = rng.integers(-3, 4, (12, 2)).astype(np.float64), np.append([0, 1], rng.integers(0, 2, 10))
        model = Pocket(variant, shuffle=False, max_iter=EPOCHS).fit(X, y)
        assert_same(model, oracle.pocket(oracle.patterns(X, y), variant == "ratchet"), 2)


def test_a_tie_is_an_error_for_the_fixed_margin():
    """u starts on (1, 0), and (0, 1) is at a right angle to it: u.y <= 0."""
    model = FixedMargin(beta=0.0, fit_intercept=False, shuffle=False).fit([[1.0, 0.0], [0.0, -1.0]], [1, 0])
    assert model.n_updates_ == 1
