"""Blocks of data, one after the other: the same vectors as one pass, and bounds that stay true without multipliers."""

import numpy as np
import pytest
from cases import LAYOUTS, ONLINE, clouds
from fits import vectors

from separatrix import (
    AROW,
    LMS,
    SCW,
    BalancedWinnow,
    DynamicMargin,
    FuzzyPerceptron,
    GreedyPerceptron,
    Perceptron,
    Pocket,
    RecursiveLeastSquares,
    SecondOrderPerceptron,
    VotedPerceptron,
)
from separatrix.errors import SeparatrixError, UnavailableError

WITHOUT = [GreedyPerceptron, Pocket]
WITH = [cls for cls in ONLINE if cls not in WITHOUT]
offered = pytest.mark.parametrize("cls", WITH, ids=lambda cls: cls.__name__)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(8)
SIDE = np.array([1.0, -2.0, 0.5, 1.0])
X = rng.normal(size=(60, 4))
Y = (X @ SIDE + 0.3 > 0).astype(int)
X += 0.25 * np.outer(2 * Y - 1, SIDE)
NOISE = rng.integers(0, 2, 60)
THREE = np.arange(60) % 3
R_OF_THE_FIRST = {"ALMA", "CRAMMA", "FixedMargin", "MICRA", "MarginPerceptron"}  # the radius alone
OF_THE_BLOCKS = R_OF_THE_FIRST | {"BalancedWinnow", "FuzzyPerceptron", "LMS", "PNormALMA"}


@pytest.fixture(scope="module")
def best():
    """At least 99.5% of the best margin."""
    return DynamicMargin(epsilon=0.005, max_iter=100_000).fit(X, Y).certificate_


def in_blocks(model, X, y, size, **options):
    for first in range(0, X.shape[0], size):
        model.partial_fit(X[first : first + size], y[first : first + size], **options)
        options.pop("classes", None)
    return model


@offered
@pytest.mark.parametrize("y", [NOISE, THREE, np.where(NOISE, "yes", "no")], ids=["two", "three", "words"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_one_block_is_one_epoch(cls, y, layout):
    data = layout(X)
    whole = cls(max_iter=1, shuffle=False, until="separated").fit(data, y)
    block = cls(shuffle=False).partial_fit(data, y, classes=np.unique(y))
    np.testing.assert_array_equal(vectors(block), vectors(whole))
    np.testing.assert_array_equal(block.predict(data), whole.predict(data))
    for name in ("n_updates_", "n_visits_", "n_epochs_"):
        assert getattr(block, name) == getattr(whole, name)


@offered
def test_shuffled_too(cls):
    whole = cls(max_iter=1, random_state=3, until="separated").fit(X, NOISE)
    block = cls(random_state=3).partial_fit(X, NOISE, classes=[0, 1])
    np.testing.assert_array_equal(vectors(block), vectors(whole))


@offered
@pytest.mark.parametrize("longest", ["first", "last"])
def test_several_blocks_are_one_pass(cls, longest):
    """Not of the rules that take R, n, X or class means from the first blocks, which the docstring names."""
    order = np.argsort(np.abs(X).max(axis=1) + np.linalg.norm(X, axis=1), kind="stable")
    order = order[::-1] if longest == "first" else order
    rows, y = X[order], NOISE[order]
    whole = cls(max_iter=1, shuffle=False, until="separated").fit(rows, y)
    blocks = in_blocks(cls(shuffle=False), rows, y, 17, classes=[0, 1])
    assert blocks.n_visits_ == whole.n_visits_ == 60
    assert blocks.n_epochs_ == 4
    if cls.__name__ in OF_THE_BLOCKS - (R_OF_THE_FIRST if longest == "first" else set()):
        assert np.all(np.isfinite(blocks.decision_function(rows)))
        return
    if cls is RecursiveLeastSquares:
        np.testing.assert_allclose(vectors(blocks), vectors(whole), rtol=1e-12)
        return
    np.testing.assert_array_equal(vectors(blocks), vectors(whole))
    assert blocks.n_updates_ == whole.n_updates_


def test_the_docstring_names_the_rules_that_depend_on_blocks():
    named = {cls.__name__ for cls in WITH if f"`{cls.__name__}`" in Perceptron.partial_fit.__doc__}
    assert named == OF_THE_BLOCKS
    rows, y = X[np.argsort(np.abs(X).max(axis=1))], np.arange(60) % 2
    for cls in WITH:
        if cls.__name__ in named:
            whole = cls(max_iter=1, shuffle=False, until="separated").fit(rows, y)
            blocks = in_blocks(cls(shuffle=False), rows, y, 17, classes=[0, 1])
            assert not np.allclose(vectors(blocks), vectors(whole), rtol=1e-6), cls


@offered
@pytest.mark.parametrize("size", [7, 60])
def test_upper_stays_true(cls, size, best):
    """More patterns only lower the optimum, so the bound of all blocks holds for all data; it is rounded up."""
    model = cls()
    for first in [*range(0, 60, size)] * 8:
        block = slice(first, first + size)
        model.partial_fit(X[block], Y[block], classes=[0, 1])
        assert model.certificate_.upper >= best.lower
        assert model.certificate_.lower is None
        assert model.certificate_.separable is None
        assert model.certificate_.ratio is None
    assert np.isinf(model.certificate_.upper) == (cls in (LMS, RecursiveLeastSquares, AROW, SCW, SecondOrderPerceptron))
    assert model.certificate_.radius == pytest.approx(best.radius)


def test_upper_is_worth_something(best):
    """After enough blocks it comes near the optimum, and is what a fit would prove."""
    model = in_blocks(DynamicMargin(epsilon=0.05), np.tile(X, (300, 1)), np.tile(Y, 300), 50, classes=[0, 1])
    assert best.lower <= model.certificate_.upper < 1.1 * best.upper
    one = Perceptron(shuffle=False).partial_fit(X, Y, classes=[0, 1])
    whole = Perceptron(shuffle=False, max_iter=1, until="separated").fit(X, Y)
    assert one.certificate_.upper == pytest.approx(whole.certificate_.upper, rel=1e-10)
    assert one.certificate_.upper >= whole.certificate_.upper * (1 - 1e-15)


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e100])
def test_upper_stays_true_with_weights_of_any_size(size, best):
    for cls in (Perceptron, DynamicMargin, BalancedWinnow):
        model = cls()
        for _ in range(5):
            model.partial_fit(X, Y, classes=[0, 1], sample_weight=np.full(60, size))
        assert model.certificate_.upper >= best.lower


@offered
def test_what_verify_and_certify_say(cls):
    model = in_blocks(cls(), X, Y, 20, classes=[0, 1])
    upper = model.certificate_.upper
    said = model.certificate_.verify(X, Y)
    assert not any(claim.startswith(("lower", "upper", "separable")) for claim in (*said.checked, *said.failed))
    assert any(claim.startswith("upper") for claim in said.unchecked) == np.isfinite(upper)
    assert "not measured" in str(model.certificate_)

    certificate = model.certify(X, Y)
    assert certificate is model.certificate_
    assert certificate.upper == upper
    margins = X @ SIDE
    if cls is VotedPerceptron:
        assert certificate.lower is None
    else:
        a = np.append(model.coef_[0], model.intercept_[0])
        margins = (2 * Y - 1) * (np.column_stack([X, np.ones(60)]) @ a) / np.linalg.norm(a)
        assert certificate.lower == pytest.approx(margins.min(), abs=1e-9)
        assert certificate.lower <= margins.min()
        assert certificate.separable is (True if margins.min() > 0 else None)
    said = certificate.verify(X, Y)
    assert not said.failed
    assert any(claim.startswith("upper") for claim in said.unchecked) == np.isfinite(upper)
    assert bool(said) == (not np.isfinite(upper))  # true means that every claim was checked


def test_certify_refuses_data_that_cannot_be_those_of_the_fit():
    """An easy part of the data has a margin above the upper bound of all of them."""
    model = in_blocks(DynamicMargin(epsilon=0.1), np.vstack([X] * 20), np.tile(Y, 20), 60, classes=[0, 1])
    easy = np.abs(X @ SIDE) > 4
    assert 0 < np.mean(Y[easy]) < 1
    with pytest.raises(ValueError, match="upper bound"):
        model.certify(X[easy], Y[easy])


def test_certify_after_fit_does_not_carry_the_bound_over():
    model = DynamicMargin(epsilon=0.1).fit(X, Y)
    easy = np.abs(X @ SIDE) > 4
    certificate = model.certify(X[easy], Y[easy])
    assert certificate.upper == np.inf
    assert certificate.verify(X[easy], Y[easy])


@pytest.mark.parametrize("cls", WITHOUT)
def test_not_offered(cls):
    assert not hasattr(cls(), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        cls().partial_fit(X, Y, classes=[0, 1])
    assert isinstance(caught.value.__cause__ or caught.value, UnavailableError)
    assert cls.__name__ in str(caught.value.__cause__ or caught.value)


@offered
def test_not_offered_with_these_settings(cls):
    for params in ({"delta": 1.0}, {"early_stopping": True}):
        if not params.keys() <= cls().get_params().keys():
            continue
        with pytest.raises(UnavailableError, match=next(iter(params))) as caught:
            cls(**params).partial_fit(X, Y, classes=[0, 1])
        assert isinstance(caught.value, SeparatrixError)
        assert isinstance(caught.value, ValueError)


@offered
def test_a_class_may_be_missing_at_first(cls, best):
    if cls is FuzzyPerceptron:  # it compares class means; test_bad_parameters.py has its error
        return
    sorted_rows = np.argsort(THREE, kind="stable")
    model = in_blocks(cls(), X[sorted_rows], THREE[sorted_rows], 20, classes=[0, 1, 2])
    assert list(model.classes_) == [0, 1, 2]
    assert model.decision_function(X).shape == (60, 3)
    assert np.all(np.isfinite(model.decision_function(X)))
    two = cls().partial_fit(X[Y == 1], Y[Y == 1], classes=[0, 1])
    assert set(two.predict(X)) <= {0, 1}
    assert two.partial_fit(X, Y).certificate_.upper >= best.lower


@offered
def test_three_classes_are_three_problems(cls):
    if cls is FuzzyPerceptron:
        return
    model = in_blocks(cls(shuffle=False), X, THREE, 25, classes=[0, 1, 2])
    for k in range(3):
        alone = in_blocks(cls(shuffle=False), X, (k == THREE).astype(int), 25, classes=[0, 1])
        if cls is VotedPerceptron:
            np.testing.assert_array_equal(model.votes_[k], alone.votes_[0])
        else:
            np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
            assert model.intercept_[k] == alone.intercept_[0]
        assert model.certificates_[k].upper == alone.certificate_.upper
    assert model.certificate_.upper == min(c.upper for c in model.certificates_)


def test_least_squares_over_blocks_is_the_ridge_solution():
    model = in_blocks(RecursiveLeastSquares(ridge=0.3), X, NOISE, 13, classes=[0, 1])
    A, goal = np.column_stack([X, np.ones(60)]), 2.0 * NOISE - 1
    a = np.linalg.solve(0.3 * np.eye(5) + A.T @ A, A.T @ goal)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), a, rtol=1e-11)
    millions = in_blocks(RecursiveLeastSquares(ridge=0.3), 1e7 * X, NOISE, 13, classes=[0, 1])
    A = np.vstack([np.column_stack([1e7 * X, np.ones(60)]), np.sqrt(0.3) * np.eye(5)])
    a = np.linalg.lstsq(A, np.append(goal, np.zeros(5)))[0]
    np.testing.assert_allclose(np.append(millions.coef_, millions.intercept_), a, rtol=1e-9)


def test_lms_counts_presentations_over_blocks():
    """eta(k) goes on from block to block, so the blocks of a function of k are one pass."""
    whole = LMS(eta=lambda k: 0.2 / (k + 5), shuffle=False, max_iter=1, until="separated").fit(X, NOISE)
    blocks = in_blocks(LMS(eta=lambda k: 0.2 / (k + 5), shuffle=False), X, NOISE, 11, classes=[0, 1])
    np.testing.assert_array_equal(vectors(blocks), vectors(whole))
    a = np.zeros(5)
    for k, y in enumerate((2.0 * NOISE[:, None] - 1) * np.column_stack([X, np.ones(60)])):
        a += 0.2 / (k + 6) * (1 - a @ y) * y
    np.testing.assert_allclose(vectors(blocks)[0], a, rtol=1e-12)


def test_fit_then_partial_fit_goes_on():
    model = Perceptron(shuffle=False, max_iter=2, until="separated").fit(X, NOISE)
    model.partial_fit(X, NOISE)
    three = Perceptron(shuffle=False, max_iter=3, until="separated").fit(X, NOISE)
    np.testing.assert_array_equal(vectors(model), vectors(three))
    assert model.n_updates_ == three.n_updates_
    assert model.certificate_.upper == pytest.approx(three.certificate_.upper, rel=1e-10)
    started = Perceptron(max_iter=2).fit(X, Y, coef_init=100 * SIDE)
    assert np.isinf(started.partial_fit(X, Y).certificate_.upper)  # the start is not a sum of patterns
    averaged = Perceptron(average=True, shuffle=False, max_iter=2).fit(X, NOISE).partial_fit(X, NOISE)
    np.testing.assert_array_equal(
        vectors(averaged), vectors(Perceptron(average=True, shuffle=False, max_iter=3, until="separated").fit(X, NOISE))
    )


def test_weights_in_blocks():
    weight = np.where(np.arange(60) % 4 == 0, 0.0, 1.0 + np.arange(60) % 3)
    model = Perceptron(shuffle=False).partial_fit(X, NOISE, classes=[0, 1], sample_weight=weight)
    whole = Perceptron(shuffle=False, max_iter=1, until="separated").fit(X, NOISE, sample_weight=weight)
    np.testing.assert_array_equal(vectors(model), vectors(whole))


def test_a_linear_machine_passes_once_over_a_block():
    X, y = clouds()
    model = Perceptron(multi_class="joint").partial_fit(X, y, classes=np.unique(y))
    assert model.n_visits_ == len(y)
    assert model.n_epochs_ == 1
