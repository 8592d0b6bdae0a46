"""A linear machine with one hinge loss per row: against a quadratic program, LIBLINEAR, and its certificate."""

from dataclasses import replace

import numpy as np
import oracle_kesler
import pytest
import quadprog
from cases import LAYOUTS, each_layout
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from separatrix import Certificate, MaxMargin
from separatrix.certificates.verification import verify_apart

IRIS, LABELS = load_iris(return_X_y=True)
IRIS = scale(IRIS)


def machine(**options):
    return MaxMargin(loss="hinge", multi_class="joint", **options)


def value(model, X, y, c=1.0):
    """P of a fitted machine, from its definition."""
    g = X @ model.coef_.T + model.intercept_
    here = np.arange(len(y)), np.searchsorted(model.classes_, y)
    own = g[here].copy()
    g[here] = -np.inf
    biases = model.intercept_ / model.intercept_scaling if model.fit_intercept else 0.0
    return (np.sum(model.coef_**2) + np.sum(biases**2)) / 2 + model.C * np.sum(
        c * np.maximum(0.0, 1.0 - own + g.max(axis=1))
    )


def reference(X, y, C, c, rho):
    """The minimum by quadprog: the vectors, and a slack for each row with a.y + xi >= 1 for all its rivals."""
    Y = oracle_kesler.patterns(X, y, rho)
    rivals = len(Y) // len(X)
    share = np.repeat(np.eye(len(X)), rivals, axis=0)
    H = np.diag(np.append(np.ones(Y.shape[1]), np.full(len(X), 1e-9 * C)))
    A = np.block([[Y, share], [np.zeros((len(X), Y.shape[1])), np.eye(len(X))]])
    linear = np.append(np.zeros(Y.shape[1]), -C * c)
    a = quadprog.solve_qp(H, linear, A.T, np.append(np.ones(len(Y)), np.zeros(len(X))))[0][: Y.shape[1]]
    slack = np.maximum(0.0, 1.0 - (Y @ a).reshape(len(X), rivals).min(axis=1))
    return a @ a / 2 + C * np.sum(c * slack)


@each_layout
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_it_is_the_minimum_of_a_qp(C, intercept, layout):
    rng = np.random.default_rng(3)
    X, y = IRIS[::3], LABELS[::3].copy()
    y[[3, 20, 40]] = [1, 2, 0]
    c = rng.uniform(0.5, 2.0, len(y))
    data = LAYOUTS[layout](X)
    seen = np.asarray(data.todense() if hasattr(data, "todense") else data, dtype=np.float64)
    model = machine(C=C, fit_intercept=intercept, intercept_scaling=2.0, tol=1e-7).fit(data, y, sample_weight=c)
    best, reached = reference(seen, y, C, c, 2.0 if intercept else 0.0), value(model, seen, y, c)
    assert reached == pytest.approx(best, rel=1e-6)
    assert model.certificate_.value == pytest.approx(reached, rel=1e-9)
    assert model.certificate_.bound <= best * (1 + 1e-8)
    assert model.converged_
    assert model.dual_gap_ <= 2e-7 * reached
    assert model.certificate_.verify(data, y)


def test_it_is_liblinears():
    X, y = load_digits(return_X_y=True)
    X = X[:500] / 16
    theirs = LinearSVC(C=0.5, multi_class="crammer_singer", tol=1e-8, max_iter=100_000, random_state=0).fit(X, y[:500])
    ours = machine(C=0.5, tol=1e-8).fit(X, y[:500])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert value(ours, X, y[:500]) <= value(replace_vectors(ours, theirs), X, y[:500]) * (1 + 1e-8)
    assert ours.solver_.startswith("dual (coordinate descent, a row with its rivals")
    differs = ours.predict(X) != theirs.predict(X)
    best, second = np.sort(ours.decision_function(X[differs]), axis=1).T[[-1, -2]]
    assert np.all(best - second < 1e-6)  # rows of which the optimum leaves open which of two classes wins
    assert differs.sum() <= 2


def replace_vectors(model, other):
    copy = machine(C=model.C)
    copy.coef_, copy.intercept_, copy.classes_ = other.coef_, other.intercept_, model.classes_
    return copy


def test_of_two_classes_it_is_the_hyperplane():
    one = machine(C=0.3).fit(IRIS, LABELS == 1)
    other = MaxMargin(C=0.3, loss="hinge").fit(IRIS, LABELS == 1)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)


def test_a_large_price_is_the_hard_margin():
    X, y = IRIS[LABELS != 1][::4], np.arange(len(IRIS[LABELS != 1][::4])) % 3
    X = X + 20.0 * np.eye(4)[y]  # far apart
    soft = machine(C=1e4, tol=1e-8).fit(X, y)
    hard = MaxMargin(C=float("inf"), multi_class="joint").fit(X, y)
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-3, atol=1e-5)
    assert soft.certificate_.separable


def test_sweeps_between_passes_visit_only_the_rows_that_move():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 8))
    y = np.argmax(X @ rng.standard_normal((8, 5)), axis=1)
    model = machine(C=100.0).fit(X, y)  # 43 rows have multipliers
    assert model.converged_
    assert model.n_passes_ < 10_000


def test_the_certificate_of_a_machine_cannot_be_improved():
    model = machine(C=1.0, tol=1e-6).fit(IRIS, LABELS)
    claim = model.certificate_
    assert claim.verify(IRIS, LABELS)
    assert Certificate.from_json(claim.to_json()).verify(IRIS, LABELS)
    assert verify_apart(claim, IRIS, LABELS)
    for wrong in (
        replace(claim, lower=claim.lower * (1 + 1e-6)),
        replace(claim, upper=claim.upper * (1 - 1e-5)),
        replace(claim, space=claim.space._replace(hinge=0.99)),
        replace(claim, alpha=claim.alpha * 1.001),
    ):
        assert not wrong.verify(IRIS, LABELS)


def test_the_rivals_of_a_row_share_one_cap():
    """A cap for each of them would allow twice as much."""
    X = 0.01 * IRIS
    claim = machine(C=1.0).fit(X, LABELS).certificate_
    both = replace(claim, alpha_index=np.array([6, 7]), alpha=np.full(2, 0.6), upper=1e9)  # those of row 3
    assert not both.verify(X, LABELS)
    assert not verify_apart(both, X, LABELS)
    assert replace(both, alpha=np.full(2, 0.5)).verify(X, LABELS)
    # and rows 3 and 60
    assert replace(both, alpha_index=np.array([6, 120])).verify(X, LABELS)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(3, 5), st.sampled_from([1e-3, 1.0, 50.0]))
def test_bounds_hold_whatever_the_data(seed, categories, C):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(24, 3)), np.arange(24) % categories
    X[rng.random(24) < 0.1] = 0.0
    c = rng.integers(1, 4, 24).astype(float)
    model = machine(C=C, fit_intercept=bool(seed % 2)).fit(X, y, sample_weight=c)
    assert model.converged_
    assert model.certificate_.bound <= value(model, X, y, c) * (1 + 1e-12)
    assert model.certificate_.verify(X, y)
    copies = machine(C=C, fit_intercept=bool(seed % 2)).fit(
        np.repeat(X, c.astype(int), axis=0), np.repeat(y, c.astype(int))
    )
    assert copies.certificate_.bound <= model.certificate_.value * (1 + 1e-12)
    assert model.certificate_.bound <= copies.certificate_.value * (1 + 1e-12)
