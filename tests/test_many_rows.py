"""Done once for many rows: a sample solved first, labels looked up, one pass for values and norms, normal equations."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import LeastSquares, MaxMargin, Perceptron
from separatrix.data.base import evenly
from separatrix.data.memory import as_rows, frozen
from separatrix.fit.training_data import classes_and_codes
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers import sample_newton, working_set
from separatrix.solvers.loops.small_newton import small_newton
from separatrix.space import Space

INF = float("inf")


def rows(n, d, noise=0.0, margin=0.05, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    s = X @ w / np.linalg.norm(w)
    y = s > 0
    X += np.outer(margin * np.sign(s), w / np.linalg.norm(w))
    return X.astype(dtype), y ^ (rng.random(n) < noise)


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(solvers, "ROWS_FOR_SAMPLE", 3000)
    monkeypatch.setattr(working_set, "ADD", 100)
    monkeypatch.setattr(sample_newton, "SAMPLE_IN_MEMORY", 500)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", [True, False])
def test_a_hard_margin_from_few_rows(few_are_many, dtype, bias):
    X, y = rows(40_000, 6, dtype=dtype)
    model = MaxMargin(C=INF, fit_intercept=bias).fit(X, y)
    assert "working set" in model.solver_
    assert model.n_passes_ <= 12
    assert model.certificate_.gap < 1e-8
    assert model.certificate_.verify(X, y)
    other = MaxMargin(C=INF, fit_intercept=bias, solver="newton").fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-5, atol=1e-7)
    assert (np.where(y, 1, -1) * model.decision_function(X)).min() == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(("positive", "sampled"), [(2, False), (8000, True), (15_998, False)])
def test_a_sample_has_rows_of_both_classes(few_are_many, positive, sampled):
    X, _ = rows(16_000, 6)
    y = np.arange(16_000) < positive
    model = MaxMargin(C=1.0, tol=1e-5).fit(X, y)
    assert ("sample" in model.solver_) is sampled
    assert model.certificate_.gap <= 1e-5


@pytest.mark.parametrize("bias", [True, False, "unpenalized"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_a_soft_margin_from_a_sample(few_are_many, bias, C):
    X, y = rows(40_000, 6, noise=0.1)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = MaxMargin(C=C, fit_intercept=bias, tol=1e-7).fit(X, y, weight)
    assert "solution of a sample" in model.solver_
    assert model.certificate_.gap <= 1e-7
    assert model.certificate_.verify(X, y)
    other = MaxMargin(C=C, fit_intercept=bias, tol=1e-9, solver="newton").fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-3, atol=1e-3 * np.abs(other.coef_).max())


def test_a_sample_that_misleads(few_are_many):
    """Every row of the sample is of one kind; the others change the answer, and the certificate still holds."""
    X, y = rows(40_000, 5, noise=0.02)
    mine = evenly(len(y), 500)
    X[mine] *= 50.0
    model = MaxMargin(C=1.0).fit(X, y)
    assert model.certificate_.gap <= 1e-4
    assert model.certificate_.verify(X, y)


@settings(max_examples=60, deadline=None)
@given(
    labels=st.lists(st.integers(-130, 130), min_size=1, max_size=19),
    kind=st.sampled_from(["i1", "u1", "i8", "u8", "f4", "f8", "?", "U"]),
    huge=st.booleans(),
)
def test_labels_are_looked_up(labels, kind, huge):
    y = np.array(labels).astype(kind)
    if huge and kind in ("i8", "u8"):
        y = y + (np.iinfo(kind).max - 500)
    if huge and kind in ("f4", "f8"):
        y = y * y.dtype.type(2.0**40)  # farther apart than a table reaches
    classes, codes = classes_and_codes(y)
    expected, numbers = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, numbers)


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_as_many_classes_as_half_of_the_rows(kind):
    """scikit-learn's own warning: they may be numbers to predict."""
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30).astype(kind)
    with pytest.warns(UserWarning, match="unique classes"):
        MaxMargin().fit(X, y % 20)
    MaxMargin().fit(X, y % 10)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32, bool])
@pytest.mark.parametrize("third", [None, 0, 1500])
def test_two_labels_are_compared(kind, third):
    """A third one, wherever it stands, is found all the same."""
    y = np.random.default_rng(0).integers(0, 2, 2000) * 2
    if third is not None:
        y[third] = 1
    y = y.astype(kind)
    classes, codes = classes_and_codes(y)
    expected = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    assert codes.dtype == np.int64
    np.testing.assert_array_equal(classes, expected[0])
    np.testing.assert_array_equal(codes, expected[1])


@pytest.mark.parametrize("label", [np.nan, np.inf, 0.5, 2.0**40])
def test_floats_that_are_no_labels(label):
    X, y = np.random.default_rng(0).normal(size=(6, 3)), np.array([0.0, 1.0] * 3)
    assert MaxMargin().fit(X, y).classes_.dtype == np.float64
    y[4] = label
    if label == 2.0**40:  # an integer, if a large one: a class of its own
        np.testing.assert_array_equal(MaxMargin().fit(X, y).classes_, [0.0, 1.0, label])
        return
    with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity)|Unknown label type"):
        MaxMargin().fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_values_that_are_not_finite_are_refused(value, make):
    X = np.ones((6, 3))
    X[4, 1] = value
    for model in (MaxMargin(), Perceptron(), LeastSquares()):
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            model.fit(make(X), [0, 1] * 3)


def _one_hot(rng, n):
    """Three groups of one-hot columns, which depend on each other and on the intercept, beside numbers."""
    groups = [np.eye(k)[rng.integers(0, k, n)] for k in (3, 5, 8)]
    return np.column_stack([rng.normal(size=(n, 6)) * np.logspace(-3, 3, 6), *groups, np.zeros(n)])


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("make", [lambda rng, n: rng.normal(size=(n, 30)) * np.logspace(0, 5, 30) + 3.0, _one_hot])
def test_least_squares_of_many_rows(layout, make):
    """The shortest solution, also of columns that depend on each other, and its error."""
    rng = np.random.default_rng(2)
    X, y, c, target = make(rng, 8000), rng.integers(0, 3, 8000), rng.uniform(0.1, 2, 8000), rng.normal(size=8000)
    model = LeastSquares(target).fit(layout(X), y, sample_weight=c)
    Y, root = np.column_stack([X, np.ones(8000)]), np.sqrt(c)
    for k in range(3):
        b = np.where(y == k, target, -target)
        a = np.linalg.lstsq(root[:, None] * Y, root * b, rcond=1e-10)[0]
        found = np.append(model.coef_[k], model.intercept_[k])
        np.testing.assert_allclose(found, a, rtol=1e-7, atol=1e-11 * np.abs(a).max())
        assert model.criterion_values_[k][0] == pytest.approx(c @ (Y @ a - b) ** 2, rel=1e-12)
    assert np.all(model.coef_[:, ~X.any(axis=0)] == 0.0)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_least_squares_of_columns_that_nearly_depend_on_each_other(layout):
    """Their difference is lost in Y^t Y."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20_000, 20))
    X[:, 1] = X[:, 0] + 1e-7 * rng.normal(size=20_000)
    y = np.where(X[:, 2] + rng.normal(size=20_000) > 0, 1.0, -1.0)
    a = np.linalg.lstsq(np.column_stack([X, np.ones(20_000)]), y)[0]
    np.testing.assert_allclose(LeastSquares().fit(layout(X), y).coef_[0], a[:-1], rtol=1e-5, atol=1e-8)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 40),
    d=st.integers(1, 8),
    seed=st.integers(0, 10**6),
    C=st.sampled_from([1e-3, 1.0, 1e4]),
    sparse=st.booleans(),
)
def test_a_small_soft_margin_without_python(n, d, seed, C, sparse):
    rng = np.random.default_rng(seed)
    X, l, c, a = rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n), rng.uniform(0.5, 2.0, n), np.zeros(d + 1)
    if sparse:
        X *= rng.random((n, d)) < 0.5
    storage = as_rows(sp.csr_matrix(X) if sparse else X)
    no_cap = frozen(np.full(n, np.inf))
    assert small_newton()(storage, frozen(l), 0.5, np.zeros(n), 2.0 * C * c, no_cap, np.ones(d + 1), a, 1)
    Y = l[:, None] * np.column_stack([X, np.full(n, 0.5)])
    slack = np.maximum(0.0, 1.0 - Y @ a)
    size = np.abs(2.0 * C * (c * slack) @ np.abs(Y)).max() + 1.0
    np.testing.assert_allclose(a, 2.0 * C * (c * slack) @ Y, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("layout", [np.asarray, np.float32, sp.csr_matrix])
@pytest.mark.parametrize(("n", "d"), [(5, 3), (513, 3), (1500, 700)])
def test_sums_of_slack_in_one_pass_are_those_of_the_piece(layout, n, d):
    """Each row read once, without a Hessian: the same sums as of margins, rows and matrix."""
    rng = np.random.default_rng(n)
    X = layout(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.1 if d > 100 else 1.0))
    l, c, a = np.where(rng.random(n) > 0.5, 1.0, -1.0), rng.random(n), 0.3 * rng.normal(size=d + 1)
    patterns = Patterns(X, l, Space(rho=2.0), c)
    sums, piece = patterns.piece(a, False), patterns.piece(a, True)
    assert sums.active == piece.active > 0
    assert sums.minimum == pytest.approx(piece.minimum, rel=1e-12)
    assert (sums.squares, sums.slack, sums.near) == pytest.approx((piece.squares, piece.slack, piece.near), rel=1e-12)
    np.testing.assert_allclose(sums.pull, piece.pull, rtol=1e-11, atol=1e-11)
