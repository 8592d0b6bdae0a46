"""Where a proof could go wrong: rounding over many columns, underflow, offsets, limits, foreign cache entries."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from separatrix import FuzzyPerceptron, LeastSquares, MaxMargin, NotSeparableError, Perceptron, separability

INF = float("inf")


def test_upper_allows_for_the_norm_of_many_columns():
    X = np.full((2, 1_000_000), 1.9340435159562497)
    X[1] *= -1
    upper = Perceptron(fit_intercept=False, until="separated").fit(X, [1, 0]).certificate_.upper
    assert Fraction(upper) ** 2 >= Fraction(X[0, 0]) ** 2 * 10**6


def test_lower_allows_for_the_norm_of_many_columns():
    d, e = 10**6, 0.7e-8
    w = np.full(d, e)
    w[0] = 1
    X = sp.csr_matrix(([1.0, -1.0], ([0, 1], [0, 0])), shape=(2, d))
    lower = Perceptron(fit_intercept=False, until="separated").fit(X, [1, 0], coef_init=w[None]).certificate_.lower
    assert Fraction(lower) ** 2 * (1 + Fraction(e) ** 2 * (d - 1)) <= 1


def test_underflow_proves_nothing():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a = rng.standard_normal(3)
        x = rng.standard_normal(3)
        x = (x - (x @ a) / (a @ a) * a) * 1e-170
        if sum(Fraction(p) * Fraction(q) for p, q in zip(x, a, strict=True)) > 0:
            x = -x
        certificate = MaxMargin(INF, fit_intercept=False).fit([[1.0, 0, 0], [-1, 0, 0]], [1, 0]).certificate_
        claim = replace(certificate, direction=np.append(a, 0.0), lower=None, upper=INF, alpha=None, alpha_index=None)
        assert any("separable" in failed for failed in claim.verify([x, -x], [1, 0], exact=True).failed)


def test_verify_refuses_contradictions_and_claims_without_witness():
    X, y = load_iris(return_X_y=True)
    certificate = Perceptron(until="separated").fit(X, y == 0).certificate_
    assert certificate.verify(X, y == 0)
    assert not replace(certificate, direction=None, lower=1e9).verify(X, y == 0, exact=True)
    assert not replace(certificate, alpha=None, alpha_index=None, upper=1e-30).verify(X, y == 0, exact=True)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1.7e9, -1e12])
def test_separability_does_not_depend_on_an_offset(offset):
    X = offset + np.array([[0.0], [1.0], [2.0], [3.0]])
    assert separability(X, [0, 0, 1, 1]).separable is True
    overlapping = separability(X, [0, 1, 0, 1])
    assert overlapping.separable is False
    assert overlapping.exact


def test_neighbouring_floats_are_not_called_inseparable():
    X, y = [[1.0], [np.nextafter(1, 2)]], [0, 1]
    assert separability(X, y).separable is not False
    with pytest.warns(Warning, match="MaxMargin stopped"):
        MaxMargin(INF).fit(X, y)


def test_a_refusal_with_a_free_bias_has_its_proof():
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(20):
        X, y = rng.integers(-3, 4, (15, 2)).astype(float), rng.random(15) < 0.5
        if separability(X, y).separable is False:
            refused += 1
            with pytest.raises(NotSeparableError) as caught:
                MaxMargin(INF, fit_intercept="unpenalized").fit(X, y)
            assert caught.value.certificate.separable is False
            assert caught.value.certificate.verify(X, y)
    assert refused >= 10


@pytest.mark.parametrize("limit", [{"max_passes": 5}, {"max_time": 1e-4}])
def test_limits_leave_a_certified_vector_in_wide_data(limit):
    rng = np.random.default_rng(0)
    X = sp.random(1500, 4000, density=0.01, format="csr", random_state=0)
    y = rng.random(1500) < 0.5
    with pytest.warns(Warning, match="MaxMargin stopped"):
        model = MaxMargin(1000.0, tol=1e-12, solver="dual", **limit).fit(X, y)
    assert np.any(model.coef_)
    assert np.isfinite(model.certificate_.upper)
    assert model.certificate_.verify(X, y)


def test_a_free_bias_without_anything_else():
    y = np.repeat([0, 1], [8, 12])
    model = MaxMargin(fit_intercept="unpenalized").fit(np.zeros((20, 2)), y)
    assert model.intercept_[0] == pytest.approx(0.2)
    assert model.converged_


@pytest.mark.parametrize("C", [1e-300, 1e-100, 1e20, 1e100])
@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extreme_prices_come_to_an_end(C, intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = X @ [1.0, 2.0, -1.0] > (0 if intercept is False else 0.2)
    model = MaxMargin(C, fit_intercept=intercept).fit(X, y)
    assert np.all(np.isfinite(model.coef_))
    assert model.certificate_.verify(X, y)


RULE = """
from typing import NamedTuple
class Mine(NamedTuple):
    margin: float
    def violates(self, m, s):
        return m <= self.margin
    def gain(self, m, s):
        return 0.5
"""


def test_a_rule_that_is_gone_spoils_no_other(tmp_path):
    """Compiled forms of a user's rule lie in the same folder as all others; without its module they must not matter."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "my_rule.py").write_text(RULE)
    fit = "fit([[0.0], [1.0], [3.0]], [0, 0, 1]).converged_"
    with_rule = (
        f"from my_rule import Mine; from separatrix import PerceptronLike; assert PerceptronLike(Mine(0.0)).{fit}"
    )
    without = f"from separatrix import LMS, Perceptron; assert Perceptron().{fit}; LMS().{fit}"
    for folder, code in (("there", with_rule), (".", without)):
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path / folder, check=True)


@pytest.mark.slow
def test_a_fit_proves_with_several_hundred_rows_that_nothing_separates():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 250)), rng.integers(0, 2, 1500)
    certificate = LeastSquares().fit(X, y).certificate_
    assert certificate.separable is False
    assert len(certificate.alpha_index) > 350
    assert certificate.verify(X, y)


def test_weights_far_apart_do_not_keep_newton_for_ever():
    """Rounding errors make its steps tiny there, each a little progress."""
    X = 1e4 * np.array([[2.0], [3.0], [-1.0], [-3.0], [-2.0], [-3.0], [-3.0], [-2.0], [-2.0]])
    weight = [0.5, 1e6, 1e6, 2.0, 0.5, 1e6, 1.0, 2.0, 2.0]
    model = MaxMargin(100.0, fit_intercept="unpenalized").fit(X, [1, 1, 0, 0, 0, 0, 0, 0, 0], sample_weight=weight)
    assert model.certificate_.gap < 1e-6
    assert model.n_passes_ < 5000


def test_what_only_fractions_separate_is_not_claimed_of_a_vector_of_floats():
    """2e102 is not quite the middle of 1e102 and 3e102: the classes are separable, by no vector of floats."""
    X = np.array([[-2e102, 2e102], [2e102, 3e102], [2e102, -1e102], [3e102, -2e102], [1e102, 0.0]])
    y = [1, 0, 0, 1, 1]
    assert separability(X, y).separable is True
    with pytest.warns(Warning, match="MaxMargin stopped"):
        certificate = MaxMargin(INF, fit_intercept="unpenalized").fit(X, y).certificate_
    assert certificate.separable is None
    assert certificate.verify(X, y)


def test_blocks_of_a_fuzzy_rule_by_pairs():
    X, y = np.arange(12.0).reshape(6, 2), [0, 0, 1, 1, 2, 2]
    model = FuzzyPerceptron(multi_class="ovo").partial_fit(X, y, classes=[0, 1, 2])
    assert model.predict(X).shape == (6,)
