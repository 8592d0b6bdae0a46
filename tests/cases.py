"""What the tests go through: the one list of estimators, of layouts and types, of problems, of rules."""

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import oracle
import oracle_confidence
import pytest
import scipy.sparse as sp
from sklearn.base import ClassifierMixin

import separatrix
from separatrix import (
    ALMA,
    AROW,
    CRAMMA,
    LMS,
    MICRA,
    ROMMA,
    SCW,
    BalancedWinnow,
    DynamicMargin,
    FixedMargin,
    FuzzyPerceptron,
    GreedyPerceptron,
    MarginFuzzyPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    PNormALMA,
    PNormPerceptron,
    Pocket,
    RecursiveLeastSquares,
    Relaxation,
    SecondOrderPerceptron,
)
from separatrix.fit.batch import BatchClassifier, IterativeClassifier
from separatrix.fit.online import OnlineClassifier
from separatrix.reproductions.dhs.data import TABLE  # the computer exercises: x1, x2 of each of the four categories
from separatrix.rules import BallseptronRule, MargitronRule, ShrinkingHingeRule, WeightShrinkingRule

# Estimators

EVERYONE = [
    value
    for value in (getattr(separatrix, name) for name in sorted(separatrix.__all__))
    if isinstance(value, type) and issubclass(value, ClassifierMixin)
]
# With a kernel there is no hyperplane among the features, so no coef_: test_gram.py asserts what holds for them.
KERNELISED = [cls for cls in EVERYONE if "kernel" in cls().get_params()]
# A piecewise linear machine has no convex problem and no certificate: test_piecewise.py.
ESTIMATORS = [cls for cls in EVERYONE if cls not in [*KERNELISED, separatrix.PiecewiseLinearMachine]]
ONLINE = [cls for cls in ESTIMATORS if issubclass(cls, OnlineClassifier)]
BATCH = [cls for cls in ESTIMATORS if issubclass(cls, BatchClassifier)]
ITERATIVE = [cls for cls in BATCH if issubclass(cls, IterativeClassifier)]
SOFT = [cls for cls in ONLINE if "delta" in cls().get_params()]  # with an extended space

# Every online estimator, and the forms of some that take another way through the code.
ONLINE_VARIANTS = [
    *(cls() for cls in ONLINE),
    Perceptron(average=True),
    Perceptron(delta=1.0),
    CRAMMA(delta=1.0),
    ROMMA(aggressive=True),
    PassiveAggressive(variant="II"),
    MarginPerceptron(gamma_guess=0.01),
]
for variant in ONLINE_VARIANTS:
    variant.set_params(until="separated")

everyone = pytest.mark.parametrize("cls", ESTIMATORS)
online = pytest.mark.parametrize("cls", ONLINE)
batch = pytest.mark.parametrize("cls", BATCH)
iterative = pytest.mark.parametrize("cls", ITERATIVE)

# Layouts and types

ORDERS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": sp.csr_array}  # of either type
LAYOUTS = {"dense": np.asarray, "csr": sp.csr_matrix, "float32": lambda X: X.astype(np.float32)}
# Both at once is a compiled form of its own: where a few seconds for each rule do not matter.
ALL_LAYOUTS = {**LAYOUTS, "csr-float32": lambda X: sp.csr_matrix(X.astype(np.float32))}

each_order = pytest.mark.parametrize("layout", ORDERS)
each_layout = pytest.mark.parametrize("layout", LAYOUTS)
each_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])


def as_seen(X, layout):
    """The numbers that a layout holds, in float64."""
    return X.astype(np.float32).astype(np.float64) if "float32" in layout else X


def weights(y, least=1):
    """Integers from ``least`` to 3."""
    return np.random.default_rng(len(y)).integers(least, 4, len(y)).astype(float)


# Problems: functions that return ``(X, y)``


def blobs_2d():
    """Two separable clouds in the plane."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(-2.0, 0.8, (15, 2)), rng.normal(2.0, 0.8, (15, 2))])
    return X, np.repeat([0, 1], 15)


def margin_6d():
    """Separable in 6 dimensions: cut by a random hyperplane off the origin, with nothing within 0.2 of it."""
    rng = np.random.default_rng(2)
    X, w = rng.normal(size=(200, 6)), rng.normal(size=6)
    distance = (X @ w + 0.5) / np.linalg.norm(w)
    far = np.abs(distance) > 0.2
    return X[far][:40], np.where(distance[far][:40] > 0, "yes", "no")


def overlapping():
    """Two clouds that no line separates."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(-0.5, 1.0, (18, 2)), rng.normal(0.5, 1.0, (12, 2))])
    return X, np.repeat([-1, 1], [18, 12])


def integer_ties():
    """A grid of integers, cut along a diagonal: equal rows, rows on one line, products that tie exactly."""
    X = np.array(
        [[i, j] for i in range(-2, 3) for j in range(-2, 3) if i + j != 1] + [[2, 2], [-1, 0]], dtype=np.float64
    )
    return X, (X.sum(axis=1) > 1).astype(int)


def wide():
    """Fewer rows than features, many of them zero."""
    rng = np.random.default_rng(5)
    X = np.where(rng.random((8, 20)) < 0.4, rng.normal(size=(8, 20)), 0.0)
    return X, np.array([0, 1, 1, 0, 1, 0, 0, 1])


def one_feature():
    """Thresholds on a line, away from the origin."""
    return np.array([[0.3], [0.9], [1.4], [2.1], [2.6], [3.7], [4.4]]), np.array([0, 0, 0, 1, 1, 1, 1])


PROBLEMS = [blobs_2d, margin_6d, overlapping, integer_ties, wide, one_feature]
SEPARABLE = [problem for problem in PROBLEMS if problem is not overlapping]

each_problem = pytest.mark.parametrize("problem", PROBLEMS)


def clouds(c=4, n=40, spread=0.5, seed=0):
    """Around the corners of a polygon: one machine separates them if the spread is small."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    angle = 2 * np.pi * y / c
    X = 3 * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)]) + spread * rng.normal(size=(n, 3))
    return np.round(X, 2).astype(np.float32).astype(np.float64), np.array(["a", "b", "c", "d", "e"])[y]


# Duda, Hart & Stork, chapter 5: example 1, the six points of problem 25, the table of the exercises

EXAMPLE_1 = np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]]), np.array([1, 1, 0, 0])
PROBLEM_25 = (
    np.array([[1.0, 2.0], [2.0, -4.0], [-3.0, -1.0], [2.0, 4.0], [-1.0, -5.0], [5.0, 0.0]]),
    np.array([1, 1, 1, 2, 2, 2]),
)

PAIRS = list(combinations((1, 2, 3, 4), 2))


def categories(*which):
    """The rows of some categories, and their numbers as labels."""
    X = np.vstack([TABLE[:, 2 * c - 2 : 2 * c] for c in which])
    return X, np.repeat(which, len(TABLE))


# Rules, each with its oracle


class Setting(NamedTuple):
    """What an oracle may need besides the patterns."""

    X: np.ndarray
    y: np.ndarray
    delta: float

    @property
    def bias(self):
        return self.X.shape[1]


class Case(NamedTuple):
    estimator: type
    parameters: dict[str, Any]
    oracle: Callable[..., oracle.Run]
    costly: bool = False  # a variant that compiles a loop of its own: most of its tests are slow ones

    def __str__(self):
        said = [f"{k}={getattr(v, '__name__', v)}" for k, v in self.parameters.items() if k != "until"]
        return f"{self.estimator.__name__}({','.join(said)})"

    @property
    def soft(self):
        return "delta" in self.estimator().get_params()

    @property
    def table(self):
        """Whether its rates are a table, made from a function: that compiles a loop of its own."""
        return callable(self.parameters.get("eta"))


def slow(k):
    return 1.0 / np.sqrt(k)


# `s` is the Setting, `how` holds weight and max_iter.
RULES = [
    Case(Perceptron, {}, lambda Y, s, **how: oracle.perceptron(Y, **how)),
    Case(Perceptron, {"margin": 1.0, "eta": 0.3}, lambda Y, s, **how: oracle.perceptron(Y, 1.0, lambda k: 0.3, **how)),
    Case(Perceptron, {"eta": "1/k"}, lambda Y, s, **how: oracle.perceptron(Y, 0.0, lambda k: 1 / k, **how)),
    Case(Perceptron, {"eta": "k"}, lambda Y, s, **how: oracle.perceptron(Y, 0.0, lambda k: k, **how)),
    Case(Perceptron, {"margin": 0.5, "eta": slow}, lambda Y, s, **how: oracle.perceptron(Y, 0.5, slow, **how)),
    Case(Perceptron, {"average": True}, lambda Y, s, **how: oracle.averaged(oracle.perceptron(Y, **how))),
    Case(
        Perceptron,
        {"average": True, "margin": 1.0, "eta": "1/k"},
        lambda Y, s, **how: oracle.averaged(oracle.perceptron(Y, 1.0, lambda k: 1 / k, **how)),
    ),
    Case(FixedMargin, {"beta": 0.0, "eta": 0.01}, lambda Y, s, **how: oracle.fixed_margin(Y, 0.0, 0.01, **how)),
    Case(FixedMargin, {"beta": 0.1, "eta": 0.2}, lambda Y, s, **how: oracle.fixed_margin(Y, 0.1, 0.2, **how)),
    Case(
        FixedMargin,
        {"beta": "search", "eta": 0.1, "factor": 0.7},
        lambda Y, s, **how: oracle.fixed_margin_search(Y, 0.7, 0.1, **how),
        costly=True,
    ),
    Case(MarginPerceptron, {"gamma_guess": 0.5}, lambda Y, s, **how: oracle.margin_perceptron(Y, 0.5, **how)),
    Case(MarginPerceptron, {"gamma_guess": None}, lambda Y, s, **how: oracle.incremental_margin_perceptron(Y, **how)),
    Case(ALMA, {"alpha": 0.9}, lambda Y, s, **how: oracle.alma(Y, 0.9, **how)),
    Case(ALMA, {"alpha": 0.4}, lambda Y, s, **how: oracle.alma(Y, 0.4, **how)),
    Case(
        CRAMMA,
        {"beta": 0.9, "power": 0.5, "eta0": 0.01, "decay": 0.0},
        lambda Y, s, **how: oracle.cramma(Y, 0.9, 0.5, 0.01, **how),
    ),
    Case(
        CRAMMA,
        {"beta": 3.0, "power": 0.8, "eta0": 0.2, "decay": 0.7},
        lambda Y, s, **how: oracle.cramma(Y, 3.0, 0.8, 0.2 * 3.0**-0.7, **how),
    ),
    Case(
        MICRA,
        {"beta": 0.9, "power": 0.5, "eta0": 0.1, "decay": 0.5},
        lambda Y, s, **how: oracle.cramma(Y, 0.9, 0.5, 0.1, 0.5, **how),
    ),
    Case(
        MICRA,
        {"beta": 2.0, "power": 0.9, "eta0": 0.5, "decay": 0.3},
        lambda Y, s, **how: oracle.cramma(Y, 2.0, 0.9, 0.5, 0.3, **how),
    ),
    Case(DynamicMargin, {"epsilon": 0.5}, lambda Y, s, **how: oracle.dynamic_margin(Y, 0.5, **how)),
    Case(DynamicMargin, {"epsilon": 0.13}, lambda Y, s, **how: oracle.dynamic_margin(Y, 0.13, **how)),
    Case(Relaxation, {"margin_tol": 0.01}, lambda Y, s, **how: oracle.relaxation(Y, tol=0.01, **how)),
    Case(
        Relaxation,
        {"margin": 2.0, "eta": 1.6, "margin_tol": 0.1},
        lambda Y, s, **how: oracle.relaxation(Y, 2.0, 1.6, 0.1, **how),
    ),
    Case(PassiveAggressive, {"C": 0.05}, lambda Y, s, **how: oracle.passive_aggressive(Y, 0.05, **how)),
    Case(PassiveAggressive, {"C": np.inf}, lambda Y, s, **how: oracle.passive_aggressive(Y, np.inf, **how)),
    Case(
        PassiveAggressive,
        {"C": 0.3, "variant": "II"},
        lambda Y, s, **how: oracle.passive_aggressive(Y, 0.3, "II", **how),
    ),
    Case(
        PassiveAggressive,
        {"C": 0.05, "average": True},
        lambda Y, s, **how: oracle.averaged(oracle.passive_aggressive(Y, 0.05, **how)),
    ),
    Case(
        FuzzyPerceptron,
        {"m": 2.0, "fuzz": 0.05, "c": 1.0, "average": True},
        lambda Y, s, **how: oracle.averaged(oracle.fuzzy(Y, s.X, s.y, 1.0, 2.0, 0.05, 1.0, **how)),
    ),
    Case(ROMMA, {"aggressive": False}, lambda Y, s, **how: oracle.romma(Y, **how)),
    Case(ROMMA, {"aggressive": True, "margin_tol": 0.01}, lambda Y, s, **how: oracle.romma(Y, True, 0.01, **how)),
    Case(GreedyPerceptron, {}, lambda Y, s, **how: oracle.greedy(Y, **how)),
    Case(GreedyPerceptron, {"etas": (3.0, 0.1, 1.0)}, lambda Y, s, **how: oracle.greedy(Y, (3.0, 0.1, 1.0), **how)),
    Case(
        FuzzyPerceptron,
        {"m": 2.0, "fuzz": 0.05, "c": 1.0},
        lambda Y, s, **how: oracle.fuzzy(Y, s.X, s.y, 1.0, 2.0, 0.05, 1.0, **how),
    ),
    Case(
        FuzzyPerceptron,
        {"eta": 0.7, "m": 1.0, "fuzz": 0.001, "c": 4.0},
        lambda Y, s, **how: oracle.fuzzy(Y, s.X, s.y, 0.7, 1.0, 0.001, 4.0, **how),
    ),
    Case(MarginFuzzyPerceptron, {"width": 0.5}, lambda Y, s, **how: oracle.margin_fuzzy(Y, s.bias, 0.5, **how)),
    Case(
        MarginFuzzyPerceptron,
        {"width": 0.05, "eta": 0.3},
        lambda Y, s, **how: oracle.margin_fuzzy(Y, s.bias, 0.05, 0.3, **how),
    ),
    Case(BalancedWinnow, {}, lambda Y, s, **how: oracle.winnow(Y, **how)),
    Case(BalancedWinnow, {"alpha": 1.1}, lambda Y, s, **how: oracle.winnow(Y, 1.1, **how)),
    Case(Pocket, {"variant": "ratchet"}, lambda Y, s, **how: oracle.pocket(Y, True, **how)),
    Case(Pocket, {"variant": "run"}, lambda Y, s, **how: oracle.pocket(Y, False, **how)),
    Case(LMS, {"eta": 1.0, "step_tol": 1e-3}, lambda Y, s, **how: oracle.lms(Y, 1.0, tol=1e-3, **how)),
    Case(LMS, {"eta": 0.4, "step_tol": 0.05}, lambda Y, s, **how: oracle.lms(Y, 0.4, tol=0.05, **how)),
    Case(
        LMS,
        {"step_tol": 0.01, "target": "fisher"},
        lambda Y, s, **how: oracle.lms(Y, tol=0.01, target=oracle.fisher_targets(s.y, how.get("weight")), **how),
        costly=True,
    ),
    Case(RecursiveLeastSquares, {"ridge": 0.01}, lambda Y, s, **how: oracle.recursive_least_squares(Y, 0.01, **how)),
    Case(RecursiveLeastSquares, {"ridge": 2.0}, lambda Y, s, **how: oracle.recursive_least_squares(Y, 2.0, **how)),
    Case(SecondOrderPerceptron, {}, lambda Y, s, **how: oracle_confidence.second_order_perceptron(Y, **how)),
    Case(
        SecondOrderPerceptron,
        {"ridge": 0.3, "covariance": "diagonal"},
        lambda Y, s, **how: oracle_confidence.second_order_perceptron(Y, 0.3, diagonal=True, **how),
    ),
    Case(AROW, {"r": 0.4}, lambda Y, s, **how: oracle_confidence.arow(Y, 0.4, **how)),
    Case(AROW, {"covariance": "diagonal"}, lambda Y, s, **how: oracle_confidence.arow(Y, diagonal=True, **how)),
    Case(SCW, {"C": 0.3}, lambda Y, s, **how: oracle_confidence.scw(Y, C=0.3, **how)),
    Case(
        SCW,
        {"confidence": 0.7, "C": 2.0, "variant": "II"},
        lambda Y, s, **how: oracle_confidence.scw(Y, 0.7, 2.0, "II", **how),
    ),
    Case(SCW, {"covariance": "diagonal"}, lambda Y, s, **how: oracle_confidence.scw(Y, diagonal=True, **how)),
    Case(PNormPerceptron, {}, lambda Y, s, **how: oracle.p_norm(Y, **how)),
    Case(PNormPerceptron, {"p": 5.0}, lambda Y, s, **how: oracle.p_norm(Y, 5.0, **how)),
    Case(PNormALMA, {}, lambda Y, s, **how: oracle.alma_p(Y, 0.9, **how), costly=True),
    Case(PNormALMA, {"alpha": 0.5, "p": 4.0}, lambda Y, s, **how: oracle.alma_p(Y, 0.5, 4.0, **how), costly=True),
    Case(Pegasos, {"penalty": 0.1}, lambda Y, s, **how: oracle.hinge_descent(Y, 0.1, lambda k: 10 / k, **how)),
]

# The oracles have the algorithms of the theorems; test_until.py has the means that predict by default.
RULES = [case._replace(parameters={"until": "separated"} | case.parameters) for case in RULES]

each_case = pytest.mark.parametrize("case", RULES, ids=str)
most_cases = pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case.costly else case for case in RULES], ids=str
)

# Rules without an estimator of their own, and their oracles.
LENT = [
    (MargitronRule(0.5, 0.4), lambda Y, **how: oracle.margitron(Y, 0.5, 0.4, **how)),
    (WeightShrinkingRule(1.0, 0.05), lambda Y, **how: oracle.weight_shrinking(Y, 1.0, 0.05, **how)),
    (BallseptronRule(0.3), lambda Y, **how: oracle.ballseptron(Y, 0.3, **how)),
    (
        ShrinkingHingeRule(0.2, 0.5, 0.5, 1.0),
        lambda Y, **how: oracle.hinge_descent(Y, 0.2, lambda k: 0.5 * k**-0.5, **how),
    ),
]

# These correct by multiples of single patterns and predict with their last vector, so they have Kesler's form and a
# dual form; a multiplicative rule, one with targets, an average or a pocket has not. A greedy or fuzzy one has a dual
# form alone.
_LAST = {
    ALMA, CRAMMA, DynamicMargin, FixedMargin, MarginPerceptron, MICRA, PassiveAggressive, Perceptron, Relaxation, ROMMA,
}  # fmt: skip
HAVE_KERNELS = [case for case in RULES if case.estimator in {GreedyPerceptron, FuzzyPerceptron}]
ADDITIVE = [case for case in RULES if case.estimator in _LAST and "average" not in case.parameters]
