"""The maximum margin of a linear machine, and separability of several classes."""

import numpy as np
import oracle
import oracle_kesler
import pytest
import quadprog
from cases import ALL_LAYOUTS, clouds
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from separatrix import MaxMargin, NotSeparableError, max_margin_path, separability
from separatrix.solvers import newton_steps


@pytest.mark.parametrize("layout", ALL_LAYOUTS.values(), ids=ALL_LAYOUTS)
@pytest.mark.parametrize("C", [0.1, 10.0, np.inf])
def test_it_is_the_optimum_on_keslers_patterns(C, layout):
    X, y = clouds(spread=0.8)
    model = MaxMargin(C, multi_class="joint").fit(layout(X), y)
    Y = oracle_kesler.patterns(X, y, 1.0, 0.0 if np.isinf(C) else (2 * C) ** -0.5)
    best, vector = oracle.max_margin(Y)
    assert model.certificate_.lower == pytest.approx(best, rel=1e-7)
    assert model.certificate_.upper == pytest.approx(best, rel=1e-7)
    assert model.certificate_.gap < 1e-9
    assert model.certificate_.verify(layout(X), y, exact=True)
    assert model.converged_
    found = np.column_stack([model.coef_, model.intercept_]).ravel()
    np.testing.assert_allclose(
        found / np.linalg.norm(found), vector[: len(found)] / np.linalg.norm(vector[: len(found)]), atol=1e-5
    )
    # the vectors are multiples of the rows that support them
    augmented = np.column_stack([X, np.ones(len(X))])
    np.testing.assert_allclose(
        model.dual_coef_ @ augmented[model.support_], found.reshape(4, 4), atol=1e-6 * np.abs(found).max()
    )
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-9 * np.abs(model.dual_coef_).max())


def test_the_minimiser_of_the_soft_margin():
    X, y = clouds(spread=2.0, n=32)
    weight = np.random.default_rng(0).integers(1, 4, 32).astype(float)
    C = 0.7
    model = MaxMargin(C, multi_class="joint").fit(X, y, weight)
    Y, c = oracle_kesler.patterns(X, y), np.repeat(weight, 3)
    width = Y.shape[1]
    G = np.diag(np.concatenate([np.ones(width), 2 * C * c]))
    solved = quadprog.solve_qp(G, np.zeros(len(G)), np.column_stack([Y, np.eye(len(Y))]).T, np.ones(len(Y)))[0]
    found = np.column_stack([model.coef_, model.intercept_]).ravel()
    np.testing.assert_allclose(found, solved[:width], atol=1e-6)
    repeated = MaxMargin(C, multi_class="joint").fit(
        np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int))
    )
    np.testing.assert_allclose(repeated.coef_, model.coef_, atol=1e-8)
    assert model.certificate_.verify(X, y)


def test_the_hard_margin_is_crammer_and_singers():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    ours = MaxMargin(np.inf, multi_class="joint").fit(X, y)
    theirs = LinearSVC(multi_class="crammer_singer", C=1e4, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert ours.certificate_.lower == pytest.approx(
        1 / np.linalg.norm(np.column_stack([theirs.coef_, theirs.intercept_])), rel=1e-4
    )


def test_wide_machines_by_conjugate_gradients(monkeypatch):
    X, y = clouds(spread=1.5)
    exact = MaxMargin(3.0, multi_class="joint").fit(X, y)
    monkeypatch.setattr(newton_steps, "LARGEST_MATRIX", 0)
    model = MaxMargin(3.0, multi_class="joint").fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-6)
    assert model.certificate_.gap < 1e-8


def test_an_extreme_price_is_the_hard_margin():
    X, y = clouds()
    hard = MaxMargin(np.inf, multi_class="joint").fit(X, y)
    soft = MaxMargin(1e13, multi_class="joint").fit(X, y)
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-5, atol=1e-6)


def test_paths_and_pairs():
    X, y = clouds(spread=1.2)
    for model, C in zip(
        max_margin_path(X, y, [10.0, 0.1, np.inf], multi_class="joint"), [10.0, 0.1, np.inf], strict=True
    ):
        alone = MaxMargin(C, multi_class="joint").fit(X, y)
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6, atol=1e-8)
        assert model.certificate_.verify(X, y)
    with pytest.raises(ValueError, match="max_margin_path"):
        max_margin_path(X, y, [1.0], multi_class="ovo")
    pairs = MaxMargin(multi_class="ovo", n_jobs=2).fit(X, y)
    assert pairs.coef_.shape == (6, 3)
    for certificate, k in zip(pairs.certificates_, range(6), strict=True):
        assert certificate.verify(X, y)
        rows = np.isin(y, certificate.class_pair)
        pair = MaxMargin().fit(X[rows], y[rows])
        np.testing.assert_allclose(pair.coef_[0], pairs.coef_[k], atol=1e-9)
    several = MaxMargin(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(several.coef_, MaxMargin().fit(X, y).coef_)


def test_what_a_machine_cannot_do():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="no unpenalized intercept"):
        MaxMargin(multi_class="joint", fit_intercept="unpenalized").fit(X, y)
    with pytest.raises(ValueError, match="needs two classes"):
        MaxMargin(multi_class="joint", solver="dual").fit(X, y)
    with pytest.raises(NotSeparableError, match="No linear machine") as caught:
        MaxMargin(np.inf, multi_class="joint").fit(X, y)
    assert caught.value.certificate.verify(X, y)
    assert caught.value.certificate.separable is False


def test_digits_are_separable_by_one_machine():
    X, y = load_digits(return_X_y=True)
    answer = separability(X, y)
    assert answer.separable is True
    assert answer.certificate.verify(X, y, exact=True)
    assert answer.margin > 0
    assert {k for k, a in answer.one_vs_rest.items() if a.separable is False} == {8, 9}
    assert all(answer.one_vs_one.values())


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans())
def test_the_three_kinds_of_separability(seed, bias):
    """Total separability implies separability by one machine, and that implies pairwise (DHS problems 5 and 6)."""
    rng = np.random.default_rng(seed)
    y = np.arange(9) % 3
    X = rng.integers(-2, 3, (9, 3)).astype(float)
    answer = separability(X, y, fit_intercept=bias)
    Y = oracle_kesler.patterns(X, y, float(bias))
    best, _ = oracle.max_margin(Y)
    assert answer.separable is (best > 1e-9)
    assert answer.certificate.verify(X, y, exact=True)
    if all(answer.one_vs_rest.values()):
        assert answer.separable
    if answer.separable:
        assert all(answer.one_vs_one.values())
    if answer.separable is False:
        np.testing.assert_allclose(
            answer.infeasibility_proof.weight @ Y[answer.infeasibility_proof.rows], 0.0, atol=1e-12
        )


def test_pairwise_does_not_imply_one_machine():
    """DHS problem 6: three rods around the origin, like the sails of a mill.

    Any two of them are separable. Were there a machine, its mean over the rotations would be one, of three sectors of
    120 degrees; but each rod is seen from the origin under 125.
    """
    turn = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in 2 * np.pi / 3 * np.arange(3)]
    X = np.vstack([np.array([[-1.0, 1.0], [6.0, 1.0]]) @ R.T for R in turn])
    y = np.repeat([0, 1, 2], 2)
    answer = separability(X, y)
    assert all(answer.one_vs_one.values())
    assert answer.separable is False
    assert answer.certificate.verify(X, y)
    closer = X.copy()
    closer[1::2] = np.vstack([np.array([[2.0, 1.0]]) @ R.T for R in turn])  # seen under 108 degrees
    assert separability(closer, y).separable is True


def test_a_hard_margin_keeps_to_a_limit_of_passes():
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        model = MaxMargin(np.inf, multi_class="joint", max_passes=4).fit(X, y)
    assert model.n_passes_ < 6
