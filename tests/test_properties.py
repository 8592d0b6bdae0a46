"""What holds for every estimator on any data: bounds that bracket the optimum, certificates that verify."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from cases import ONLINE, SOFT, online
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import data, fitted, many, rho_of, settings_of_a_fit

from separatrix import DynamicMargin, Hyperplane, Perceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NOT_SEPARATING = {"FuzzyPerceptron", "LMS", "MarginFuzzyPerceptron", "RecursiveLeastSquares", "VotedPerceptron"}
SELDOM = {"AROW"}  # ends so late that few examples would be left
SEPARATORS = [cls for cls in ONLINE if cls.__name__ not in NOT_SEPARATING | SELDOM]


@online
@many
@given(data(), settings_of_a_fit())
def test_a_positive_lower_bound_separates(cls, Xy, parameters):
    X, y = Xy
    model = fitted(cls, X, y, parameters)
    certificate = model.certificate_
    if certificate.lower is not None and certificate.lower > 0:
        assert certificate.separable
        np.testing.assert_array_equal(model.predict(X), y)
    if certificate.separable:  # in exact arithmetic
        direction = [Fraction(float(a)) for a in certificate.direction]
        for x, l in zip(X, oracle.labels(y), strict=True):
            row = [Fraction(float(v)) for v in [*x, rho_of(parameters)]]
            assert int(l) * sum(a * v for a, v in zip(direction, row, strict=True)) > 0


@pytest.mark.parametrize("cls", SEPARATORS)
@many
@given(data(), settings_of_a_fit())
def test_a_converged_separator_makes_no_errors_but_rounding(cls, Xy, parameters):
    X, y = Xy
    model = fitted(cls, X, y, parameters)
    assume(model.converged_)
    score, R = oracle.labels(y) * model.decision_function(X), model.certificate_.radius
    rounding = 1e-13 * R * np.hypot(np.linalg.norm(model.coef_), model.intercept_[0] / parameters["intercept_scaling"])
    assert np.all(score > -rounding)
    np.testing.assert_array_equal(model.predict(X)[score > rounding], y[score > rounding])


@online
@many
@given(data(), settings_of_a_fit(), st.sampled_from([0.0, 0.1, 1.0]))
def test_lower_is_at_most_upper(cls, Xy, parameters, delta):
    if cls in SOFT:
        parameters = {**parameters, "delta": delta}
    certificate = fitted(cls, *Xy, parameters).certificate_
    assert certificate.upper >= 0
    assert certificate.lower is None or certificate.lower <= certificate.upper
    if cls in SOFT and delta > 0 and certificate.lower is not None:
        assert certificate.lower > 0  # at least Delta/sqrt(n), CRAMMA eq. 27, as J is minimised over gamma
        assert certificate.lower >= delta / np.sqrt(len(Xy[1])) * (1 - 1e-9)


@online
@many
@given(data(separable=True), settings_of_a_fit())
def test_the_bounds_bracket_the_optimum(cls, Xy, parameters):
    X, y = Xy
    assert_brackets(fitted(cls, X, y, parameters).certificate_, oracle.patterns(X, y, rho_of(parameters)))


@pytest.mark.parametrize("cls", SOFT)
@many
@given(data(), settings_of_a_fit(), st.sampled_from([0.1, 1.0, 5.0]))
def test_the_bounds_bracket_the_optimum_of_the_extended_space(cls, Xy, parameters, delta):
    X, y = Xy
    certificate = fitted(cls, X, y, {**parameters, "delta": delta}).certificate_
    Y = oracle.patterns(X, y, rho_of(parameters), delta)
    assert oracle.max_margin(Y)[0] > 0
    assert_brackets(certificate, Y)


def assert_brackets(certificate, Y):
    best, w = oracle.max_margin(Y)
    assume(w is not None)
    R = oracle.radius(Y)
    assert certificate.radius == pytest.approx(R, rel=1e-12)
    assert certificate.upper >= best * (1 - 1e-9) - 1e-12 * R
    assert certificate.lower is None or certificate.lower <= best * (1 + 1e-6) + 1e-12 * R


@online
@many
@given(data(), settings_of_a_fit(), st.sampled_from([0.0, 1.0]), st.sampled_from(["float64", "float32"]))
def test_certificates_verify(cls, Xy, parameters, delta, dtype):
    X, y = Xy
    X = X.astype(dtype)
    if cls in SOFT:
        parameters = {**parameters, "delta": delta}
    certificate = fitted(cls, X, y, parameters).certificate_
    for stored in (X, np.asfortranarray(X), sp.csr_array(X), X.astype(np.float64)):
        verification = certificate.verify(stored, y)
        assert verification, verification
        assert not verification.unchecked


@many
@given(data(separable=True), st.sampled_from([0.5, 1.0, 3.0]))
def test_geometric_and_directional_optimum(Xy, rho):
    """1 <= gamma/gamma_d <= R/rho (CRAMMA eq. 2)."""
    X, y = Xy
    Y = oracle.patterns(X, y, rho)
    directional, w = oracle.max_margin(Y)
    assume(w is not None and directional > 1e-6 * oracle.radius(Y))
    geometric, _ = oracle.max_geometric_margin(X, y)
    assert 1 - 1e-6 <= geometric / directional <= oracle.radius(Y) / rho * (1 + 1e-6)


@pytest.mark.parametrize("cls", SEPARATORS)
@many
@given(data(separable=True), settings_of_a_fit())
def test_geometric_and_directional_margin_of_a_separator(cls, Xy, parameters):
    """The same two bounds hold for every hyperplane that separates: it meets the ball of the data."""
    X, y = Xy
    model = fitted(cls, X, y, {**parameters, "fit_intercept": True})
    assume(model.certificate_.separable)
    rho, R = parameters["intercept_scaling"], model.certificate_.radius
    assert 1 - 1e-12 <= model.geometric_margin_ / model.directional_margin_ <= R / rho * (1 + 1e-9)
    plane = Hyperplane(model.coef_, model.intercept_[0])
    assert model.geometric_margin_ == pytest.approx(plane.geometric_margin(X, y), rel=1e-6, abs=1e-12 * R)
    assert model.directional_margin_ == pytest.approx(plane.directional_margin(X, y, rho), rel=1e-6, abs=1e-12 * R)


@many
@given(data(separable=True), settings_of_a_fit())
def test_novikoff(Xy, parameters):
    """At most (R/gamma_d)^2 updates, in any order."""
    X, y = Xy
    Y = oracle.patterns(X, y, rho_of(parameters))
    best, w = oracle.max_margin(Y)
    assume(w is not None and best > 1e-3 * oracle.radius(Y))
    model = fitted(Perceptron, X, y, parameters)
    assert model.n_updates_ <= (oracle.radius(Y) / best) ** 2 * (1 + 1e-9)


@many
@given(data(), settings_of_a_fit(), st.sampled_from([0.1, 0.5, 0.9]), st.sampled_from([0.0, 1.0]))
def test_dynamic_margin_keeps_its_promise(Xy, parameters, epsilon, delta):
    model = fitted(DynamicMargin, *Xy, {**parameters, "epsilon": epsilon, "delta": delta, "max_iter": 500})
    assume(model.converged_ and model.certificate_.upper > 1e-9 * model.certificate_.radius)
    assert model.certificate_.ratio >= (1 - epsilon) * (1 - 1e-9)
