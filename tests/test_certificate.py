"""Certificates: what they say, that `verify` accepts what is true and finds whatever was changed."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from cases import ORDERS, PROBLEMS, blobs_2d, each_dtype, margin_6d, overlapping

from separatrix import ALMA, LMS, Certificate, DataError, DynamicMargin, Perceptron, Pocket, VotedPerceptron
from separatrix.certificates.certify import certify
from separatrix.passes.plain_patterns import Patterns
from separatrix.theory import Space

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LAYOUTS = {**ORDERS, "csc": sp.csc_array}


def tight(problem=margin_6d, **parameters):
    """Data and a certificate whose bounds are within 5% of each other."""
    X, y = problem()
    model = DynamicMargin(epsilon=0.05, max_iter=10_000, until="separated", **parameters).fit(X, y)
    assert model.certificate_.ratio > 0.95
    return X, y, model.certificate_


# What it says


def test_fields():
    X, y = margin_6d()
    model = Perceptron(shuffle=False, intercept_scaling=2.0).fit(X, y)
    certificate, Y = model.certificate_, oracle.patterns(X, y, 2.0)
    a = np.append(model.coef_[0], model.intercept_[0] / 2.0)
    np.testing.assert_allclose(certificate.direction, a / np.linalg.norm(a), rtol=1e-12)
    assert certificate.lower == pytest.approx((Y @ a).min() / np.linalg.norm(a), rel=1e-9)
    assert certificate.upper == pytest.approx(np.linalg.norm(a) / model.n_updates_, rel=1e-9)  # alpha counts updates
    assert certificate.alpha.sum() == model.n_updates_
    np.testing.assert_allclose(certificate.alpha @ Y[certificate.alpha_index], a, atol=1e-12)
    assert certificate.separable is True
    assert certificate.space == Space(2.0, 0.0)
    assert certificate.radius == pytest.approx(oracle.radius(Y), rel=1e-15)
    assert certificate.sample_weight is None


def test_bounds_are_rounded_outwards():
    X, y = margin_6d()
    model = Perceptron(shuffle=False).fit(X, y)
    certificate, Y = model.certificate_, oracle.patterns(X, y)
    assert certificate.lower < (Y @ certificate.direction).min() / np.linalg.norm(certificate.direction)
    assert certificate.upper > np.linalg.norm(certificate.alpha @ Y[certificate.alpha_index]) / model.n_updates_


def test_extended_space():
    """lower = J^(-1/2) at the best gamma, upper = |a^ext| / sum alpha, and nothing about separability."""
    X, y = overlapping()
    certificate = DynamicMargin(epsilon=0.1, delta=0.7, max_iter=10_000).fit(X, y).certificate_
    Y, wide = oracle.patterns(X, y), oracle.patterns(X, y, delta=0.7)
    m = Y @ certificate.direction
    J = [(1 + np.sum(np.maximum(0, g - m) ** 2) / 0.7**2) / g**2 for g in np.geomspace(1e-2, 1e2, 20_001)]
    assert certificate.lower == pytest.approx(min(J) ** -0.5, rel=1e-6)
    assert certificate.lower >= max(np.array(J) ** -0.5) * (1 - 1e-12)
    a = certificate.alpha @ wide[certificate.alpha_index]
    assert certificate.upper == pytest.approx(np.linalg.norm(a) / certificate.alpha.sum(), rel=1e-9)
    assert certificate.lower <= oracle.max_margin(wide)[0] <= certificate.upper
    assert certificate.separable is None
    assert certificate.verify(X, y)


def make(lower=0.5, upper=0.8, separable=True, **more):
    return Certificate(lower, upper, separable, Space(), 2.0, **more)


@pytest.mark.parametrize(
    ("lower", "upper", "ratio", "gap"),
    [
        (0.5, 0.8, 0.625, 1 - 0.625**2),
        (0.8, 0.8, 1.0, 0.0),
        (-0.4, 0.8, -0.5, 1.0),
        (0.5, np.inf, 0.0, 1.0),
        (0.0, 0.0, 1.0, 0.0),
        (-1.0, 0.0, -np.inf, 1.0),
        (None, 0.8, None, None),
    ],
)
def test_ratio_and_gap(lower, upper, ratio, gap):
    certificate = make(lower, upper)
    assert certificate.ratio == ratio
    assert certificate.gap == (pytest.approx(gap) if gap is not None else None)


@pytest.mark.parametrize(
    ("certificate", "said"),
    [
        (make(), "linearly separable: margin 0.5, proven upper bound 0.8, relative gap 0.61 (rho = 1)"),
        (make(-0.5, 0.8, None), "separability undecided: margin -0.5, proven upper bound 0.8 (rho = 1)"),
        (make(None, 0.8, False), "not linearly separable: margin not measured, proven upper bound 0.8 (rho = 1)"),
        (
            replace(make(0.4, 0.8, None), space=Space(0.0, 0.5)),
            "soft margin: objective 3.125, relative duality gap 0.75 (no intercept, Delta = 0.5)",
        ),
    ],
)
def test_str(certificate, said):
    assert str(certificate) == said


def test_str_without_an_upper_bound():
    assert "no upper bound" in str(make(upper=np.inf))
    assert "gap" not in str(make(upper=np.inf))


def test_is_immutable():
    with pytest.raises(AttributeError):
        make().lower = 1.0


# Bounds of any direction and any multipliers, in every kind of space


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("problem", [margin_6d, blobs_2d])
def test_bounds_with_an_unpenalised_bias(problem, seed):
    """The geometric margin: |sum alpha_k l_k x_k| bounds it if sum alpha_k l_k = 0; multipliers out of balance pay."""
    X, y = problem()
    rng, l = np.random.default_rng(seed), oracle.labels(y)
    best, plane = oracle.max_geometric_margin(X, y)
    patterns = Patterns(X, l, Space(1.0, 0.0, free=True))
    alpha = rng.exponential(size=len(y))
    balanced = np.where(l > 0, alpha / alpha[l > 0].sum(), alpha / alpha[l < 0].sum())
    for unbalanced in (alpha, np.where(l > 0, alpha, 0.0), np.where(l > 0, 1.0, 1.01) * balanced):
        assert certify(patterns, np.zeros(X.shape[1] + 1), unbalanced).upper >= best
    found = certify(patterns, np.append(plane[:-1] / np.abs(X).max(), plane[-1]) + 1e-3 * rng.normal(), balanced)
    assert found.upper == pytest.approx(np.linalg.norm((balanced * l) @ X) / 2, rel=1e-9)
    assert found.lower <= best * (1 + 1e-9) <= found.upper
    assert found.verify(X, y)


@pytest.mark.parametrize("seed", range(10))
def test_bounds_with_weighted_slack(seed):
    """A row of weight c has the extension Delta/sqrt(c)."""
    X, y = overlapping()
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.2, 5.0, len(y))
    Y = oracle.patterns(X, y)
    wide = np.column_stack([Y, np.diag(0.8 / np.sqrt(weight))])
    patterns = Patterns(X, oracle.labels(y), Space(1.0, 0.8, weighted=True), weight)
    best, w = oracle.max_margin(wide)
    alpha = rng.exponential(size=len(y))
    found = certify(patterns, w[:3] + 0.1 * rng.normal(size=3), alpha, sample_weight=weight)
    assert found.upper == pytest.approx(np.linalg.norm(alpha @ wide) / alpha.sum(), rel=1e-9)
    assert 0 < found.lower <= best <= found.upper
    assert certify(patterns, w[:3], None).lower == pytest.approx(best, rel=1e-6)
    assert found.verify(X, y)
    assert not found.verify(X, y, sample_weight=2 * weight)
    assert not replace(found, space=Space(1.0, 0.8)).verify(X, y)


# verify accepts what is true


@each_dtype
@pytest.mark.parametrize("fitted_on", LAYOUTS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_verify_in_every_layout(problem, fitted_on, dtype):
    X, y = problem()
    X = X.astype(dtype)
    certificate = Perceptron(max_iter=50).fit(LAYOUTS[fitted_on](X), y).certificate_
    for layout in LAYOUTS.values():
        verification = certificate.verify(layout(X), y)
        assert verification, verification
        assert not verification.unchecked
    assert certificate.verify(X.tolist(), y.tolist())


def test_verify_in_the_extended_space():
    X, y, certificate = tight(overlapping, delta=1.0)
    verification = certificate.verify(X, y)
    assert verification
    assert [claim.split()[0] for claim in verification.checked] == ["lower", "upper", "radius"]


def test_rows_of_weight_0_are_left_out():
    X, y = margin_6d()
    bad = np.arange(0, len(y), 4)
    X[bad[0]] *= 1000  # would be the radius
    weight, flipped = np.ones(len(y)), y.copy()
    weight[bad] = 0.0
    flipped[bad] = np.where(y[bad] == "yes", "no", "yes")  # would not be separable
    certificate = Perceptron().fit(X, flipped, sample_weight=weight).certificate_
    assert certificate.separable
    assert not np.any(np.isin(certificate.alpha_index, bad))
    assert certificate.radius == pytest.approx(oracle.radius(oracle.patterns(X[weight > 0], y[weight > 0])))
    assert certificate.verify(X, flipped)
    assert certificate.verify(X, flipped, sample_weight=3 * weight)
    assert not certificate.verify(X, flipped, sample_weight=np.ones(len(y)))
    assert not replace(certificate, sample_weight=None).verify(X, flipped)


def test_weights_do_not_weigh_margins():
    X, y = margin_6d()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    certificate = Perceptron().fit(X, y, sample_weight=weight).certificate_
    assert certificate.verify(X, y)
    assert replace(certificate, sample_weight=None).verify(X, y)
    Y = oracle.patterns(X, y)
    assert certificate.lower == pytest.approx((Y @ certificate.direction).min(), rel=1e-9)


# verify finds whatever was changed


def turned(direction):
    return np.append(-direction[0], direction[1:])


def swapped(certificate, n):
    """Another row in the place of the one with the largest multiplier."""
    index = certificate.alpha_index.copy()
    index[np.argmax(certificate.alpha)] = np.setdiff1d(np.arange(n), index)[0]
    return index


def first(array, value):
    array = array.copy()
    array[0] = value
    return array


CORRUPTIONS = {
    "lower raised": lambda c, n: {"lower": c.lower * (1 + 1e-9)},
    "lower inf": lambda c, n: {"lower": np.inf},
    "lower nan": lambda c, n: {"lower": np.nan},
    "upper lowered": lambda c, n: {"upper": c.upper * (1 - 1e-9)},
    "upper 0": lambda c, n: {"upper": 0.0},
    "upper nan": lambda c, n: {"upper": np.nan},
    "upper -inf": lambda c, n: {"upper": -np.inf},
    "separable flipped": lambda c, n: {"separable": False},
    "rho": lambda c, n: {"space": c.space._replace(rho=1.001)},
    "no bias": lambda c, n: {"space": c.space._replace(rho=0.0)},
    "delta": lambda c, n: {"space": c.space._replace(delta=0.001)},
    "unpenalized intercept": lambda c, n: {"space": c.space._replace(free=True)},
    "radius raised": lambda c, n: {"radius": c.radius * (1 + 1e-9)},
    "radius lowered": lambda c, n: {"radius": c.radius * (1 - 1e-9)},
    "radius nan": lambda c, n: {"radius": np.nan},
    "direction turned": lambda c, n: {"direction": turned(c.direction)},
    "direction reversed": lambda c, n: {"direction": -c.direction},
    "direction 0": lambda c, n: {"direction": 0 * c.direction},
    "direction nan": lambda c, n: {"direction": first(c.direction, np.nan)},
    "alpha_index swapped": lambda c, n: {"alpha_index": swapped(c, n)},
    "alpha_index duplicated": lambda c, n: {"alpha_index": first(c.alpha_index, c.alpha_index[1])},
    "alpha_index too large": lambda c, n: {"alpha_index": first(c.alpha_index, n)},
    "alpha_index negative": lambda c, n: {"alpha_index": first(c.alpha_index, c.alpha_index[0] - n)},
    "alpha_index too short": lambda c, n: {"alpha_index": c.alpha_index[1:]},
    "alpha changed": lambda c, n: {"alpha": first(c.alpha, c.alpha.sum())},
    "alpha negative": lambda c, n: {"alpha": first(c.alpha, -c.alpha[0])},
    "alpha nan": lambda c, n: {"alpha": first(c.alpha, np.nan)},
    "alpha inf": lambda c, n: {"alpha": first(c.alpha, np.inf)},
    "alpha 0": lambda c, n: {"alpha": 0 * c.alpha},
    "alpha too short": lambda c, n: {"alpha": c.alpha[1:]},
    "a row of alpha left out": lambda c, n: {"sample_weight": np.where(np.arange(n) == c.alpha_index[0], 0.0, 1.0)},
}


@pytest.mark.parametrize("delta", [0.0, 1.0])
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_corruption_is_found(name, delta):
    X, y, certificate = tight(delta=delta)
    assert certificate.verify(X, y)
    verification = replace(certificate, **CORRUPTIONS[name](certificate, len(y))).verify(X, y)
    assert not verification, verification
    assert verification.failed
    assert str(verification).startswith("FAILS: ")


@pytest.mark.parametrize("model", [Perceptron(max_iter=20), Pocket(max_iter=20), LMS(max_iter=20)])
def test_separability_cannot_be_invented(model):
    X, y = overlapping()
    certificate = model.fit(X, y).certificate_
    assert certificate.separable is None
    assert certificate.verify(X, y)
    assert not replace(certificate, separable=True).verify(X, y)


def test_inseparability_is_refuted_by_a_direction_that_separates():
    X, y = blobs_2d()
    certificate = LMS(max_iter=50).fit(X, y).certificate_
    assert certificate.separable
    assert certificate.alpha_index is None
    assert not replace(certificate, separable=False).verify(X, y)


@pytest.mark.parametrize(("rho", "delta"), [(1.1, 1.0), (0.9, 1.0), (1.0, 1.1), (1.0, 0.9)])
def test_another_space_is_found_even_with_its_radius(rho, delta):
    X, y, certificate = tight(delta=1.0)
    radius = oracle.radius(oracle.patterns(X, y, rho, delta))
    other = replace(certificate, space=Space(rho, delta), radius=radius)
    if delta > 1:  # the larger extension has larger margins, so only the upper bound is wrong
        assert [claim.split()[0] for claim in other.verify(X, y).failed] == ["upper"]
    assert not other.verify(X, y)


def test_other_data_are_found():
    X, y, certificate = tight()
    flipped = y.copy()
    flipped[3] = "no" if y[3] == "yes" else "yes"
    assert not certificate.verify(X, flipped)
    assert not certificate.verify(X[::-1], y)
    assert not certificate.verify(np.where(np.arange(len(y))[:, None] == 5, -X, X), y)
    assert not certificate.verify(X * 1.001, y)


# What cannot be checked is said


def test_unchecked_claims_are_listed():
    X, y, certificate = tight()
    verification = replace(certificate, direction=None, alpha=None, alpha_index=None).verify(X, y)
    assert [claim.split()[0] for claim in verification.unchecked] == ["lower", "upper", "separable"]
    assert [claim.split()[0] for claim in verification.checked] == ["radius"]
    assert "not checkable: lower" in str(verification)


def test_what_is_not_claimed_is_not_checked():
    X, y = blobs_2d()
    verification = VotedPerceptron().fit(X, y).certificate_.verify(X, y)
    assert [claim.split()[0] for claim in verification.checked] == ["upper", "separable", "radius"]
    assert not verification.unchecked
    lms = LMS(max_iter=2).fit(X, y).certificate_
    assert np.isinf(lms.upper)
    assert lms.alpha is lms.alpha_index is None
    assert "upper" not in str(lms.verify(X, y))


def test_wrong_shapes_are_data_errors():
    X, y, certificate = tight()
    with pytest.raises(DataError, match="do not belong together"):
        certificate.verify(X[:-1], y)
    with pytest.raises(DataError, match="do not belong together"):
        certificate.verify(X[0], y)
    with pytest.raises(DataError, match="6 features, X has 5"):
        certificate.verify(X[:, 1:], y)
    with pytest.raises(DataError, match="weights"):
        certificate.verify(X, y, sample_weight=np.ones(3))
    with pytest.raises(DataError, match="weights"):
        replace(certificate, sample_weight=np.ones(3)).verify(X, y)
    with pytest.raises(ValueError, match="exactly 2 classes"):
        certificate.verify(X, np.zeros(len(y)))


def test_scaled_direction_is_the_same_claim():
    X, y, certificate = tight()
    assert replace(certificate, direction=1e-5 * certificate.direction, alpha=1e9 * certificate.alpha).verify(X, y)


def test_alma_reaches_what_it_promises():
    X, y = margin_6d()
    certificate = ALMA(alpha=0.3, max_iter=10_000, until="separated").fit(X, y).certificate_
    assert certificate.lower >= 0.7 * oracle.max_margin(oracle.patterns(X, y))[0]
