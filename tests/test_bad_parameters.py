"""Parameters out of range, rates that are no rates, labels never announced, folders that cannot be written."""

import json
import os
import re
import subprocess
import sys
import textwrap
from typing import NamedTuple

import numpy as np
import pytest
from cases import ONLINE, online
from sklearn.utils._param_validation import InvalidParameterError

from separatrix import (
    LMS,
    BalancedWinnow,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    PerceptronLike,
)
from separatrix.errors import UnavailableError
from separatrix.rules import PerceptronRule

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = np.array([[0.0, 1.0], [1.0, 0.5], [0.5, 0.0], [3.0, 2.0], [4.0, 2.5], [3.5, 3.0]])
Y = np.array([0, 0, 0, 1, 1, 1])
nan, inf = float("nan"), float("inf")

NOT_BOOL = ["yes", None, 2, 0.5]
NOT_POSITIVE = [0, 0.0, -1, nan, inf, "1", None, [1.0]]
NOT_NATURAL = [0, -1, 1.5, nan, "10"]
NEGATIVE = [-1, -1e-9, nan, inf, "1", None]
WRONG = {
    "until": ["converged", None, 2],
    "mix": ["yes", 2, 0.5],
    "checkpoint": [3, ["a"]],
    "multi_class": ["crammer_singer", None, 2],
    "joint_update": ["weakest", None, 2],
    "corrects": ["all", None, 2],
    "n_jobs": ["2", 1.5],
    "fit_intercept": NOT_BOOL,
    "shuffle": NOT_BOOL,
    "warm_start": NOT_BOOL,
    "early_stopping": NOT_BOOL,
    "average": NOT_BOOL,
    "aggressive": NOT_BOOL,
    "intercept_scaling": NOT_POSITIVE,
    "max_iter": [*NOT_NATURAL, None, inf],
    "class_weight": ["heavy", 3],
    "max_updates": [*NOT_NATURAL, inf],
    "n_iter_no_change": [*NOT_NATURAL, inf],
    "max_voters": [*NOT_NATURAL, None, inf],
    "random_state": ["seed", -1, 1.5],
    "validation_fraction": [0, 1, -0.1, 2.0, nan, None],
    "delta": NEGATIVE,
    "margin": NEGATIVE,
    "width": NEGATIVE,
    "decay": NEGATIVE,
    "m": NEGATIVE,
    "eta": [*NOT_POSITIVE, "2/k"],
    "eta0": [*NOT_POSITIVE, "fast"],
    "power": NOT_POSITIVE,
    "ridge": NOT_POSITIVE,
    "r": NOT_POSITIVE,
    "penalty": NOT_POSITIVE,
    "p": [1.9, -2, nan, inf, "big", None],
    "confidence": [0.5, 1.0, -0.1, nan, "1", None],
    "covariance": ["none", None, 2],
    "epsilon": [0, -0.1, 1.1, nan, None],
    "beta": [-1, nan, inf, "1", None],
    "alpha": [0, -1, nan, inf, "big", None],
    "gamma_guess": [0, -1, nan, inf, "1"],
    "min_guess": [0, -1, 1.1, nan, None],
    "tol": [-1e-9, nan, inf, "1"],
    "margin_tol": [-1e-9, nan, inf, "1", None],
    "step_tol": [-1e-9, nan, inf, "1", None],
    "factor": [0, 1, -0.5, nan, "half", None],
    "min_beta": [0, 1, -1, nan, None],
    "target": ["zeros", None, 3],
    "C": [0, -1, nan, "1", None],
    "fuzz": [-0.1, 0.5, nan, None],
    "c": [0, -1, 301, nan, None],
    "variant": ["III", "", None, 1],
}
WRONG_OTHERWISE = {
    "etas": [[], [0.0], [1.0, -1.0], [nan], [inf], ["a"], None, 3.0],
    "rule": [3, "rule", object(), PerceptronRule, (1.0, 2.0)],
}


@online
def test_every_parameter_is_checked(cls):
    for name in cls().get_params():
        for value in WRONG.get(name, []):
            with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {cls.__name__}"):
                cls(**{name: value}).fit(X, Y)
        for value in WRONG_OTHERWISE.get(name, []):
            with pytest.raises(ValueError, match=name):
                cls(**{name: value}).fit(X, Y)
        assert name in WRONG or name in WRONG_OTHERWISE, f"there is no wrong value for {name} here"


@online
def test_partial_fit_checks_parameters_too(cls):
    if not hasattr(cls(), "partial_fit"):
        return
    with pytest.raises(InvalidParameterError, match="intercept_scaling"):
        cls(intercept_scaling=-1.0).partial_fit(X, Y, classes=[0, 1])


@online
@pytest.mark.parametrize("params", [{"intercept_scaling": 1e200}, {"delta": 1e200}, {"delta": 1e-200}])
def test_squares_of_parameters_must_exist(cls, params):
    if not params.keys() <= cls().get_params().keys():
        return
    with pytest.raises(ValueError, match=next(iter(params))):
        cls(**params).fit(X, Y)


@online
def test_extreme_parameters_are_used_as_they_are(cls):
    """In range is in range: no overflow of integers, no hang."""
    model = cls(max_updates=10**30, intercept_scaling=1e-100, max_iter=1)
    assert np.all(np.isfinite(model.fit(X, Y).decision_function(X)))


def test_limits_that_are_allowed():
    assert PassiveAggressive(C=inf).fit(X, Y).score(X, Y) == 1
    assert PassiveAggressive(C=inf, variant="II").fit(X, Y).score(X, Y) == 1
    assert MarginPerceptron(min_guess=1e-320).fit(X, Y).score(X, Y) == 1
    assert np.all(np.isfinite(BalancedWinnow(alpha=10**30, max_iter=3).fit(X, Y).coef_))
    with pytest.raises(ValueError, match="overflow"):
        Perceptron(eta=1e308).fit(10 * X, Y)


@pytest.mark.parametrize("cls", [Perceptron, LMS])
@pytest.mark.parametrize("rate", [-1.0, nan, inf, None])
def test_a_rate_that_is_none(cls, rate):
    for bad_from in (1, 3):
        with pytest.raises(ValueError, match=rf"eta\({bad_from}\) ="):
            cls(eta=lambda k, first=bad_from: rate if k >= first else 0.1).fit(X, Y)


def test_what_a_rate_function_raises_reaches_the_user():
    def eta(k):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Perceptron(eta=eta).fit(X, Y)


def test_a_rate_far_out_is_looked_at_before_it_is_used():
    """The table of rates is filled piece by piece; eta(5000) lies in the second piece."""
    model = Perceptron(eta=lambda k: 1.0 if k != 5000 else -1.0, max_updates=6000, max_iter=10**6, until="separated")
    with pytest.raises(ValueError, match=r"eta\(5000\) = -1"):
        model.fit(X, [0, 1, 0, 1, 0, 1])
    calls = []
    same = Perceptron(eta=lambda k: calls.append(k) or 1.0, max_updates=6000, max_iter=10**6, until="separated")
    same.fit(X, [0, 1, 0, 1, 0, 1])
    assert sorted(set(calls)) == list(range(1, len(set(calls)) + 1))
    plain = Perceptron(max_updates=6000, max_iter=10**6, until="separated").fit(X, [0, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(same.coef_, plain.coef_)
    assert same.n_updates_ == plain.n_updates_ == 6000


@online
def test_labels_that_were_not_announced(cls):
    if not hasattr(cls(), "partial_fit"):
        return
    for y in ([0, 0, 0, 1, 1, 2], ["a"] * 6, np.array(["a"] * 6, dtype=object), [0.5] * 6):
        with pytest.raises(ValueError, match=r"classes|label|y"):
            cls().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="needs classes"):
        cls().partial_fit(X, Y)
    with pytest.raises(ValueError, match="2 classes"):
        cls().partial_fit(X, np.zeros(6), classes=[0, 0])
    model = cls().partial_fit(X, Y, classes=[0, 1])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="not among"):
        model.partial_fit(X, Y + 1)
    with pytest.raises(ValueError, match="first call"):
        model.partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :1], Y)
    np.testing.assert_array_equal(model.decision_function(X), before)  # a refused block changes nothing


@online
def test_one_class_in_a_block_that_is_not_the_first(cls):
    if not hasattr(cls(), "partial_fit"):
        return
    model = cls().partial_fit(X, Y, classes=[0, 1])
    assert np.all(np.isfinite(model.partial_fit(X[3:], Y[3:]).decision_function(X)))


def test_a_refused_first_block_leaves_nothing_behind():
    """FuzzyPerceptron compares class means, so its first block needs both classes; the next call is a first one."""
    model = next(cls for cls in ONLINE if cls.__name__ == "FuzzyPerceptron")()
    with pytest.raises(ValueError, match="both classes"):
        model.partial_fit(X[:3], Y[:3], classes=[0, 1])
    model.partial_fit(X, Y, classes=[0, 1])
    fresh = type(model)().partial_fit(X, Y, classes=[0, 1])
    np.testing.assert_array_equal(model.coef_, fresh.coef_)


def test_a_space_cannot_change_between_blocks():
    for change in ({"intercept_scaling": 5.0}, {"fit_intercept": False}):
        model = Perceptron().partial_fit(X, Y, classes=[0, 1])
        with pytest.raises(ValueError, match="another space"):
            model.set_params(**change).partial_fit(X, Y)


def test_a_rule_that_is_not_additive_has_no_soft_margin():
    from separatrix.rules import LmsRule

    with pytest.raises(ValueError, match="delta must be 0"):
        PerceptronLike(LmsRule(0.1, 6.0, 1.0, 1e-3), delta=1.0).fit(X, Y)
    assert issubclass(UnavailableError, ValueError)
    assert issubclass(UnavailableError, AttributeError)


@online
def test_three_classes(cls):
    points = np.array([[0.0, 4.0], [0.5, 5.0], [-4.0, -2.0], [-5.0, -2.5], [4.0, -2.0], [5.0, -2.5]])
    y = np.array(["north", "north", "west", "west", "east", "east"])
    model = cls().fit(points, y)
    assert list(model.classes_) == ["east", "north", "west"]
    assert model.decision_function(points).shape == (6, 3)
    assert model.score(points, y) == 1


UNWRITABLE = """
    import json, warnings
    import numba.core.caching as caching

    def refuse(self):
        raise PermissionError("read-only file system")

    def all_below(cls):
        return [cls, *(c for below in cls.__subclasses__() for c in all_below(below))]

    for locator in all_below(caching._CacheLocator):
        locator.ensure_cache_path = refuse

    import separatrix
    X, y = [[0.0, 1.0], [1.0, 0.5], [3.0, 2.0], [4.0, 2.5]], [0, 0, 1, 1]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = separatrix.Perceptron().fit(X, y)  # five kernels, one warning
    said = [[w.category.__name__, str(w.message)] for w in seen]
    print(json.dumps([model.coef_.tolist(), said]))
"""


def test_folders_that_cannot_be_written():
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(UNWRITABLE)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found, seen = json.loads(done.stdout)
    data = [[0.0, 1.0], [1.0, 0.5], [3.0, 2.0], [4.0, 2.5]], [0, 0, 1, 1]
    assert found == Perceptron().fit(*data).coef_.tolist()
    assert [category for category, _ in seen] == ["RuntimeWarning"]
    assert "NUMBA_CACHE_DIR" in seen[0][1]


class MisspeltParameter(NamedTuple):
    margin: float

    def violates(self, m, s):
        return m <= self.margin

    def gain(self, m, s):
        return 1.0 if m <= 0 else self.margn


class BareParameter(NamedTuple):
    margin: float

    def violates(self, m, s):
        return m <= margin  # noqa: F821

    def gain(self, m, s):
        return 1.0


class MissingArgument(NamedTuple):
    margin: float

    def violates(self, m):
        return m <= self.margin

    def gain(self, m, s):
        return 1.0


class NoNumber(NamedTuple):
    margin: float

    def violates(self, m, s):
        return m <= self.margin

    def gain(self, m, s):
        return "one"


class MisspeltScalar(NamedTuple):
    margin: float

    def violates(self, m, s):
        return m <= self.margin / s.time

    def gain(self, m, s):
        return 1.0


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (MisspeltParameter(1.0), "MisspeltParameter.gain: the rule has no parameter 'margn'. Did you mean 'margin'?"),
        (BareParameter(1.0), "BareParameter.violates: name 'margin' is not defined. Write self.margin."),
        (MissingArgument(1.0), "MissingArgument.violates: expected (self, m, s), found (self, m)."),
        (NoNumber(1.0), "NoNumber.gain: expected a number or a truth value, found 'one'."),
        (MisspeltScalar(1.0), "MisspeltScalar.violates: Scalars has no field 'time'. There are t, visit, norm2"),
    ],
)
@pytest.mark.parametrize("cls", [PerceptronLike, KernelPerceptron])
def test_a_misspelt_name_in_a_rule_is_one_line(cls, rule, words):
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        cls(rule=rule).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert "\n" not in str(caught.value)
