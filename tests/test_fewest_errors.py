"""The fewest errors: bounds that hold, against all subsets in exact arithmetic; proofs that are checked."""

import os
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import oracle_fewest_errors as oracle
import oracle_simplex
import pytest
import scipy.sparse as sp

from separatrix import DataError, fewest_errors
from separatrix.certificates.error_tree import fewest_on
from separatrix.certificates.fewest_errors import strict_sides

DATA = Path(os.environ.get("SEPARATRIX_DATA", "")) / "separation"


def problem(seed):
    """Tiny data of few values: ties, equal rows of both classes, rows of zeros, small classes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    most = int(rng.choice([1, 2, 9]))
    X = rng.integers(-most, most + 1, (n, d)).astype(float)
    X[rng.random(n) < rng.choice([0.0, 0.3])] = 0.0
    X = X[rng.integers(0, n, n)] if rng.random() < 0.3 else X
    y = (rng.random(n) < rng.choice([0.2, 0.5])).astype(int)
    y[:2] = 0, 1
    return X * 2.0 ** int(rng.choice([0, 0, 0, 530, -530, -1060])), y


def noisy(n, d, noise, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) > 0.3) ^ (rng.random(n) < noise)


def check(answer, X, y, fit_intercept, weight=None, exactly=True):
    """The bounds are true; problems of few columns are searched to the end, so the number is found."""
    weight = np.ones(len(y)) if weight is None else weight
    witnesses = oracle.smallest_witnesses(oracle.patterns(X, y, fit_intercept))
    true = oracle.fewest(witnesses, len(y), weight)
    assert answer.lower <= true <= answer.upper == weight[answer.rows].sum()
    assert answer.exact or not exactly
    assert oracle.may_stay(witnesses, {*range(len(y))} - {*answer.rows.tolist()})
    assert answer.verify(X, y, weight)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_bounds_hold(fit_intercept):
    for seed in range(60):
        X, y = problem(seed)
        answer = fewest_errors(sp.csr_array(X) if seed % 2 else X, y, fit_intercept=fit_intercept)
        check(answer, X, y, fit_intercept)


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_bounds_hold_of_many(fit_intercept):
    for seed in range(1000, 2000):
        X, y = problem(seed)
        check(fewest_errors(X, y, fit_intercept=fit_intercept), X, y, fit_intercept)


def test_weights_are_errors():
    for seed in range(40):
        X, y = problem(seed)
        rng = np.random.default_rng(seed)
        weight = rng.integers(0, 4, len(y)).astype(float) if seed % 2 else rng.random(len(y))
        weight[0] = max(weight[0], 0.5)
        answer = fewest_errors(X, y, sample_weight=weight)
        witnesses = oracle.smallest_witnesses(oracle.patterns(X, y, True))
        assert answer.lower == pytest.approx(oracle.fewest(witnesses, len(y), weight), rel=1e-12)
        assert answer.exact
        assert answer.verify(X, y, weight)
        assert not answer.verify(X, y, weight + 1.0) or not len(answer.rows)


def test_bounds_hold_without_time_for_the_search():
    for seed in range(20):
        X, y = problem(seed)
        for fit_intercept in (True, False):
            answer = fewest_errors(X, y, fit_intercept=fit_intercept, max_time=1e-9)
            check(answer, X, y, fit_intercept, exactly=False)


@pytest.mark.parametrize(
    ("X", "y", "number"),
    [
        ([[1.0], [-1.0], [2.0], [-2.0], [3.0], [-3.0], [5.0]], [1, 1, 1, 1, 1, 1, 0], 3),
        ([[0.0], [-2.0], [2.0]], [1, 0, 0], 2),  # a pattern of zeros, and a class that no side of 0 holds
        ([[0.0], [0.0]], [0, 1], 2),  # every row is an error
        ([[1.0, 0.0], [-1.0, 0.0]], [0, 1], 0),
    ],
)
def test_one_class_is_not_always_separable_through_the_origin(X, y, number):
    answer = fewest_errors(X, y, fit_intercept=False)
    assert answer.lower == answer.upper == number
    check(answer, np.array(X), y, False)


def test_the_oracle_agrees_with_another():
    for seed in range(50):
        X, y = problem(seed)
        for fit_intercept in (True, False):
            Y = oracle.patterns(X, y, fit_intercept)
            separable = not oracle.smallest_witnesses(Y)
            assert separable == (oracle_simplex.kind(oracle_simplex.patterns(X, y, int(fit_intercept))) == "complete")


@pytest.mark.parametrize(("n", "d", "noise"), [(100, 2, 0.1), (80, 3, 0.1), (60, 4, 0.05)])
def test_noise_is_counted_and_proved(n, d, noise):
    X, y = noisy(n, d, noise, d)
    answer = fewest_errors(X, y, max_time=60)
    assert answer.exact
    assert answer.verify(X, y)
    assert set(answer.rows) == set(np.flatnonzero((answer.hyperplane.signed_distance(X) > 0) != y))


def test_damaged_proofs_are_refused():
    X, y = noisy(80, 2, 0.15, 0)
    answer = fewest_errors(X, y)
    assert answer.verify(X, y)
    rng = np.random.default_rng(0)
    numbers = answer.tree.numbers
    damaged = [numbers[:-1], numbers[:0], np.append(numbers, 0), numbers - 10, numbers.astype(float)]
    for other in damaged:
        assert not replace(answer, tree=replace(answer.tree, numbers=other)).verify(X, y)
    for _ in range(200):
        other = numbers.copy()
        other[rng.integers(len(other))] = int(rng.choice([0, 1, 2, 3, 10**6, rng.integers(100)]))
        claim = replace(answer, tree=replace(answer.tree, numbers=other))
        assert not replace(claim, lower=answer.lower + 1).verify(X, y)
    for field, value in [("lower", answer.lower + 1), ("upper", answer.upper - 1), ("rows", answer.rows[:-1])]:
        assert not replace(answer, **{field: value}).verify(X, y)
    assert not replace(answer, tree=None).verify(X, y)
    assert not replace(answer, vector=answer.vector[:-1]).verify(X, y)
    assert not replace(answer, tree=replace(answer.tree, columns=[0, 1])).verify(X, y)
    flipped = y.copy()
    flipped[np.setdiff1d(np.arange(80), answer.rows)[0]] ^= True
    assert not answer.verify(X, flipped)


def test_dependent_columns():
    X, y = noisy(100, 2, 0.1, 3)
    X = np.round(X * 64)
    table = np.column_stack([X, 3 * X[:, 0] - X[:, 1], np.full(100, 7.0), np.zeros(100)])
    answer = fewest_errors(table, y)
    assert answer.upper == answer.lower == fewest_errors(X, y).upper
    assert answer.verify(table, y)
    table[0, 2] += 1.0
    assert not answer.verify(table, y)


def test_more_columns_have_bounds():
    X, y = noisy(120, 12, 0.1, 0)
    answer = fewest_errors(X, y, max_time=2)
    assert 0 < answer.lower <= answer.upper
    assert answer.verify(X, y)
    assert answer.verify(sp.csr_array(X), y)
    first = answer.packing.witnesses[0]
    for other in (
        first._replace(share=first.share + 1),
        first._replace(multipliers=[*first.multipliers[:-1], first.multipliers[-1] + 1]),
        first._replace(rows=first.rows[:-1]),
    ):
        packing = replace(answer.packing, witnesses=[other, *answer.packing.witnesses[1:]])
        assert not replace(answer, packing=packing).verify(X, y)


def test_several_classes_by_pairs():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 2)) + 2.0 * np.eye(3)[y][:, :2]
    answer = fewest_errors(X, y)
    assert list(answer.one_vs_one) == [(0, 1), (0, 2), (1, 2)]
    assert all(found.exact for found in answer.one_vs_one.values())
    assert answer.verify(X, y)
    assert not answer.verify(X, np.roll(y, 1))
    assert not replace(answer, lower=answer.lower + 1).verify(X, y)


def test_both_bounds_are_shown_and_a_callback_stops():
    X, y = noisy(100, 2, 0.2, 0)
    seen = []
    answer = fewest_errors(X, y, callback=lambda lower, upper: seen.append((lower, upper)))
    assert seen[-1] == (answer.lower, answer.upper)
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairwise(seen))
    stopped = fewest_errors(X, y, callback=lambda lower, upper: lower > 0)
    assert stopped.stop_reason == "callback"
    assert stopped.verify(X, y)


def test_an_interrupt_keeps_what_there_is():
    def interrupt(lower, upper):
        if lower:
            raise KeyboardInterrupt

    X, y = noisy(100, 2, 0.2, 0)
    answer = fewest_errors(X, y, callback=interrupt)
    assert answer.stop_reason == "interrupted"
    assert 0 < answer.lower < answer.upper
    assert answer.verify(X, y)


def test_a_sweep_of_few_rows_is_exact():
    rng = np.random.default_rng(0)
    for _ in range(60):
        Y = rng.integers(-2, 3, (int(rng.integers(1, 8)), 3))
        witnesses = oracle.smallest_witnesses([[oracle.Fraction(int(v)) for v in row] for row in Y])
        assert fewest_on(Y.tolist(), [1] * len(Y)) == oracle.fewest(witnesses, len(Y))


def test_words_and_errors():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    assert str(fewest_errors(X, y)) == "No errors: a hyperplane separates the classes."
    y[[0, 5]] = 1, 0
    assert str(fewest_errors(X, y)) == "Exactly 2 errors: no hyperplane has fewer."
    with pytest.raises(DataError, match="at least 2 classes"):
        fewest_errors(X, np.zeros(6))
    with pytest.raises(ValueError, match="must be positive"):
        fewest_errors(X, y, max_time=0)
    with pytest.raises(ValueError, match="negative"):
        fewest_errors(X, y, sample_weight=[1, 1, -1, 1, 1, 1])


@pytest.mark.skipif(
    not (os.environ.get("SEPARATRIX_DATA") and DATA.is_dir()) and not os.environ.get("SEPARATRIX_REQUIRE_DATA"),
    reason="SEPARATRIX_DATA/separation is missing",
)
def test_voicepath():
    table = np.loadtxt(DATA / "voicepath.csv", delimiter=",")
    answer = fewest_errors(table[:, :2], table[:, 2])
    assert answer.lower == answer.upper == 19
    assert answer.verify(table[:, :2], table[:, 2])


def test_sides_near_the_hyperplane_are_those_of_fractions():
    """Floats decide rows only if rounding errors cannot matter."""
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e-160, 5e-324, 1e150, 1e300):
        w = rng.normal(size=3)
        X = rng.normal(size=(60, 3))
        X[:40, 2] = -(X[:40, :2] @ w[:2]) / w[2]  # on the hyperplane but for rounding errors
        X *= scale
        sign = np.where(rng.random(60) < 0.5, 1.0, -1.0)
        exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(x, w, strict=True)) for x in X.tolist()]
        expected = [(v > 0) - (v < 0) == l for v, l in zip(exact, sign, strict=True)]
        assert strict_sides(X, sign, (*w.tolist(), 0.0), False).tolist() == expected
