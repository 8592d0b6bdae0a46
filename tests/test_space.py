"""The space of separators and the passes over data, against plain numpy and against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from cases import ORDERS, PROBLEMS, blobs_2d, each_dtype, each_order, margin_6d, overlapping
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import load_iris

from separatrix import Hyperplane, Perceptron
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.problem import best_bias
from separatrix.space import is_finite, per_length
from separatrix.theory import Space, best_gamma, design_matrix, objective, slacks, soft_measures

each_seed = pytest.mark.parametrize("seed", range(20))


# Space and Hyperplane


@pytest.mark.parametrize("rho", [0.3, 1.0, 20.0])
def test_join_and_split(rho):
    w, b, x = np.array([1.5, -2.0, 0.25]), 0.75, np.array([0.1, 4.0, -3.0])
    space = Space(rho)
    a = space.join(w, b)
    assert a @ np.append(x, rho) == pytest.approx(w @ x + b)
    back, intercept = space.split(a)
    np.testing.assert_array_equal(back, w)
    assert intercept == pytest.approx(b, rel=1e-15)


def test_join_without_bias():
    np.testing.assert_array_equal(Space(0.0).join([[1.0, 2.0]]), [1.0, 2.0, 0.0])
    assert Space(0.0).split(np.array([1.0, 2.0, 0.0]))[1] == 0.0
    with pytest.raises(ValueError, match="without bias"):
        Space(0.0).join([1.0, 2.0], 0.5)


def test_length():
    a = np.array([3.0, 4.0, 12.0])
    assert Space().length(a) == 13.0
    assert Space(free=True).length(a) == 5.0


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (Space(), "rho = 1"),
        (Space(0.0), "no intercept"),
        (Space(2.0, 0.5), "rho = 2, Delta = 0.5"),
        (Space(1.0, 0.0, True), "unpenalized intercept"),
    ],
)
def test_describe(space, said):
    assert space.describe() == said


def random_plane(seed):
    rng = np.random.default_rng(seed)
    return Hyperplane(rng.normal(size=3), rng.normal()), rng.normal(size=(10, 3))


@each_seed
def test_signed_distance_and_projection(seed):
    """The projection lies on the plane, |distance| away, and no point of the plane is nearer (DHS problem 3)."""
    plane, X = random_plane(seed)
    distance, foot = plane.signed_distance(X), plane.project(X)
    np.testing.assert_allclose(foot @ plane.w + plane.b, 0.0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(X - foot, axis=1), np.abs(distance), rtol=1e-12)
    np.testing.assert_array_equal(distance > 0, X @ plane.w + plane.b > 0)
    elsewhere = plane.project(np.random.default_rng(seed + 100).normal(size=(200, 3)))
    for x, d in zip(X, distance, strict=True):
        assert np.linalg.norm(elsewhere - x, axis=1).min() >= abs(d) * (1 - 1e-12)
    np.testing.assert_allclose(plane.signed_distance(sp.csr_array(X)), distance, rtol=1e-12)


def test_projection_is_the_constrained_minimum():
    plane, X = random_plane(0)
    found = minimize(
        lambda p: np.sum((p - X[0]) ** 2),
        np.zeros(3),
        constraints={"type": "eq", "fun": lambda p: p @ plane.w + plane.b},
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(plane.project(X[:1])[0], found.x, atol=1e-6)


@pytest.mark.parametrize("rho", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("problem", [blobs_2d, margin_6d, overlapping])
def test_margins_of_a_hyperplane(problem, rho):
    X, y = problem()
    plane = Hyperplane(np.arange(1.0, X.shape[1] + 1), 0.3)
    scores = oracle.labels(y) * (X @ plane.w + plane.b)
    assert plane.geometric_margin(X, y) == pytest.approx(scores.min() / np.linalg.norm(plane.w))
    Y, a = oracle.patterns(X, y, rho), np.append(plane.w, plane.b / rho)
    assert plane.directional_margin(X, y, rho) == pytest.approx((Y @ a).min() / np.linalg.norm(a))
    assert plane.geometric_margin(sp.csr_array(X), y) == pytest.approx(plane.geometric_margin(X, y))


@pytest.mark.parametrize("w", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_hyperplane_needs_a_normal(w):
    with pytest.raises(ValueError, match="normal vector"):
        Hyperplane(w)


def test_margins_need_two_classes():
    with pytest.raises(ValueError, match="exactly 2 classes"):
        Hyperplane([1.0]).geometric_margin([[1.0], [2.0], [3.0]], [0, 1, 2])


# The extended space


def test_slacks_and_objective():
    m = np.array([-0.5, 0.2, 1.0])
    np.testing.assert_allclose(slacks(m, 0.4), [0.9, 0.2, 0.0])
    assert objective(m, 0.4, 2.0) == pytest.approx(1 / 0.16 + (0.81 + 0.04) / 0.16 / 4)
    assert objective(m, 1e226, 0.5) == pytest.approx(3 / 0.25)


@each_seed
@pytest.mark.parametrize("delta", [0.05, 1.0, 30.0, "per row"])
def test_best_gamma_minimises_the_objective(seed, delta):
    rng = np.random.default_rng(seed)
    m = rng.normal(rng.uniform(-1, 1), 1.0, 15)
    delta = rng.uniform(0.1, 3.0, 15) if delta == "per row" else delta
    gamma = best_gamma(m, delta)

    def cost(s):  # J, convex in s = 1/gamma
        return s**2 + np.sum((np.maximum(0, 1 - s * m) / delta) ** 2)

    found = minimize_scalar(cost, bounds=(0.0, 100.0), options={"xatol": 1e-12})
    assert 1 / gamma == pytest.approx(found.x, abs=1e-6)
    assert cost(1 / gamma) <= cost(0.0)  # s = 0, gamma = inf: the direction is worth nothing
    if gamma < np.inf:
        assert objective(m, gamma, delta) == pytest.approx(cost(1 / gamma), rel=1e-12)
        assert objective(m, gamma, delta) <= found.fun * (1 + 1e-12)


def test_best_gamma_of_a_worthless_direction():
    assert best_gamma(np.array([-1.0, -2.0]), 1.0) == np.inf


@each_seed
@pytest.mark.parametrize("delta", [0.5, 2.0])
@pytest.mark.parametrize("problem", [overlapping, margin_6d])
def test_theorem_2(problem, delta, seed):
    """CRAMMA eqs. 20-27 for a = sum alpha_k y_k with any alpha >= 0 whose margin in the extended space is positive."""
    X, y = problem()
    Y, wide = oracle.patterns(X, y), oracle.patterns(X, y, delta=delta)
    n, rng = len(Y), np.random.default_rng(seed)
    run = oracle.perceptron(wide, margin=rng.uniform(0, 2), eta=lambda k: rng.exponential(), max_iter=500)
    assert run.converged
    alpha = np.abs(run.a[Y.shape[1] :]) / delta
    a, length = alpha @ Y, np.linalg.norm(alpha @ Y)
    np.testing.assert_allclose(a, run.a[: Y.shape[1]], atol=1e-9)
    found = soft_measures(a, alpha, Y @ a, delta)

    reached = (wide @ run.a).min() / np.linalg.norm(run.a)
    best, _ = oracle.max_margin(wide)
    assert found.gamma == pytest.approx(reached * np.linalg.norm(run.a) / length, rel=1e-9)
    d, d_prime = slacks(Y @ a / length, found.gamma), delta**2 * alpha / length
    assert np.all(d_prime >= d - 1e-12)  # (24)
    assert (found.D, found.D_prime) == pytest.approx((np.linalg.norm(d), np.linalg.norm(d_prime)))
    assert found.J / objective(Y @ a / length, found.gamma, delta) == pytest.approx(1.0)
    assert best**-2 * (1 - 1e-9) <= found.J <= reached**-2 * (1 + 1e-9)  # (21)
    assert best >= delta / np.sqrt(n)  # (27)
    assert found.deviation == (pytest.approx((found.D_prime - found.D) / found.D) if found.D > 0 else np.inf)
    assert found.deviation >= -1e-12


def test_remark_3():
    """At the optimum of the extended space d' = d, so the deviation is 0 and J = Gamma^-2."""
    X, y = overlapping()
    wide = oracle.patterns(X, y, delta=1.0)
    best, w = oracle.max_margin(wide)
    alpha = np.abs(w[3:])
    found = soft_measures(w[:3], alpha, oracle.patterns(X, y) @ w[:3], 1.0)
    assert found.deviation == pytest.approx(0.0, abs=1e-9)
    assert found.J * best**2 == pytest.approx(1.0, rel=1e-9)


# Passes over the data


@each_dtype
@each_order
@pytest.mark.parametrize("space", [Space(), Space(0.0), Space(2.0, 0.5)])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_passes(problem, space, layout, dtype):
    X, y = problem()
    X = X.astype(dtype)
    rng = np.random.default_rng(0)
    patterns = Patterns(ORDERS[layout](X), oracle.labels(y), space)
    Y = oracle.patterns(X, y, space.rho)
    wide = oracle.patterns(X, y, space.rho, space.delta)
    a, index = rng.normal(size=X.shape[1] + 1), rng.permutation(len(y))[: len(y) // 2]
    alpha = rng.exponential(size=len(index))
    assert (patterns.n, patterns.d) == X.shape
    np.testing.assert_allclose(patterns.norms2, (wide**2).sum(axis=1), rtol=1e-13)
    assert patterns.radius == pytest.approx(oracle.radius(wide), rel=1e-14)
    assert patterns.peak() == np.abs(Y).max()
    np.testing.assert_allclose(patterns.margins(a), Y @ a, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(patterns.combine(index, alpha), alpha @ Y[index], rtol=1e-12, atol=1e-13)


def test_norms_of_integers_are_exact():
    X = np.random.default_rng(0).integers(-(2**20), 2**20, size=(50, 9)).astype(np.float64)
    patterns = Patterns(X, np.where(np.arange(50) % 2, 1.0, -1.0), Space(30.0, 1.0))
    assert [Fraction(v) for v in patterns.norms2.tolist()] == [exact(x, x) + 900 + 1 for x in X]


def exact(x, v):
    return sum((Fraction(float(p)) * Fraction(float(q)) for p, q in zip(x, v, strict=True)), Fraction(0))


def rough(seed, n, d):
    """Numbers of very different sizes, so that sums cancel."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 8, size=(n, d))


@each_dtype
@each_order
@pytest.mark.parametrize("seed", range(5))
def test_error_bounds_are_bounds(seed, layout, dtype):
    n, d, rho = 30, 17, 0.7
    X = rough(seed, n, d).astype(dtype)
    rng = np.random.default_rng(seed + 50)
    l = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    patterns = Patterns(ORDERS[layout](X), l, Space(rho))
    Y = np.column_stack([l[:, None] * X.astype(np.float64), l * rho])
    # a vector nearly orthogonal to many rows: what is left of the products is rounding
    a = np.linalg.svd(Y / np.linalg.norm(Y, axis=1)[:, None])[2][-1] * 10.0 ** rng.integers(-5, 5)
    bound = Fraction(patterns.margin_error(a))
    for y, m in zip(Y, patterns.margins(a), strict=True):
        assert abs(Fraction(float(m)) - exact(y, a)) <= bound

    alpha, index = rng.exponential(size=n), rng.permutation(n)
    found = patterns.combine(index, alpha)
    error2 = sum((Fraction(float(v)) - exact(alpha, Y[index, j])) ** 2 for j, v in enumerate(found))
    assert error2 <= Fraction(patterns.combination_error(alpha)) ** 2


def test_error_bound_of_a_long_combination():
    """More rows than one block, on one feature."""
    rng = np.random.default_rng(0)
    n = 3000
    x, alpha = rng.normal(size=n) * 10.0 ** rng.integers(-6, 6, size=n), rng.exponential(size=n)
    l = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    patterns = Patterns(x[:, None], l, Space(1.0))
    found = patterns.combine(np.arange(n), alpha)
    error2 = (Fraction(found[0]) - exact(alpha * l, x)) ** 2 + (Fraction(found[1]) - exact(alpha, l)) ** 2
    assert error2 <= Fraction(patterns.combination_error(alpha)) ** 2


def test_data_are_not_copied_nor_changed():
    X = np.random.default_rng(0).normal(size=(6, 3))
    patterns = Patterns(X, np.array([1.0, -1.0] * 3), Space())
    assert np.shares_memory(patterns.rows.data, X)
    with pytest.raises(ValueError, match="read-only"):
        patterns.rows.data[0, 0] = 1.0
    X[0, 0] = 2.0  # the caller's own array stays writable


def test_duplicate_entries_add_up():
    X = sp.csr_array(([1.0, 2.0, 5.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    patterns = Patterns(X, np.array([1.0, -1.0]), Space(0.0))
    np.testing.assert_array_equal(patterns.margins(np.array([1.0, 1.0, 0.0])), [3.0, -5.0])
    np.testing.assert_array_equal(patterns.norms2, [9.0, 25.0])
    assert X.nnz == 3


# Small helpers of fits


@pytest.mark.parametrize(("value", "length"), [(2.0, 4.0), (-1.0, 0.0), (1.0, 0.0), (0.0, 0.0), (1e300, 1e-300)])
def test_a_value_per_length_is_what_floats_make_of_it(value, length):
    with np.errstate(all="ignore"):
        assert np.float64(value) / length == pytest.approx(per_length(value, length), nan_ok=True, abs=0)


@pytest.mark.parametrize("value", [0.0, 1e200, -1e308, np.inf, -np.inf, np.nan])
def test_what_is_finite(value):
    v = np.array([1.0, value, -2.0])
    assert is_finite(v) == bool(np.isfinite(v).all())
    assert is_finite(v[:0])


@each_seed
def test_the_best_bias_is_a_minimum(seed):
    """Also where it is 0 already, and only rounding errors are left to correct."""
    rng = np.random.default_rng(seed)
    m, labels, weight = rng.normal(size=50), rng.choice([-1.0, 1.0], 50), rng.uniform(0.5, 2.0, 50)

    def slope(b):
        slack = np.maximum(0.0, 1.0 - m - labels * b)
        return abs(weight * labels @ slack) / (weight @ slack)

    b = best_bias(m, labels, weight)
    assert slope(b) < 1e-14
    assert abs(best_bias(m + labels * b, labels, weight)) < 1e-14


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("rho", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix])
def test_the_design_matrix_holds_the_patterns(layout, rho, kind):
    X, y = np.array([[1, 0, 2], [0, 3, 0], [4, 0, -1]], dtype=kind), np.array(["b", "a", "b"])
    Y = design_matrix(layout(X), y, rho)
    assert Y.dtype == (kind if kind is np.float32 else np.float64)
    whole = Y.toarray() if sp.issparse(Y) else Y
    assert sp.issparse(Y) == sp.issparse(layout(X))
    expected = np.array([[1.0], [-1.0], [1.0]]) * np.column_stack([X, np.full(3, rho)])
    np.testing.assert_array_equal(whole, expected if rho else expected[:, :3])


def test_the_margins_of_a_fit_are_products_with_the_design_matrix():
    X, y = load_iris(return_X_y=True)
    model = Perceptron(intercept_scaling=2.0).fit(X, y == 0)
    a = np.append(model.coef_[0], model.intercept_ / 2.0)
    m = design_matrix(X, y == 0, rho=2.0) @ a
    assert m.min() / np.linalg.norm(a) == pytest.approx(model.directional_margin_, rel=1e-12)


@pytest.mark.parametrize(
    ("X", "y", "rho", "words"),
    [
        ([[1.0], [2.0]], [0, 1, 1], 1.0, "2 rows and y has shape"),
        ([1.0, 2.0], [0, 1], 1.0, "must be a matrix of numbers"),
        ([["a"], ["b"]], [0, 1], 1.0, "must be a matrix of numbers"),
        ([[1.0], [2.0], [3.0]], [0, 1, 2], 1.0, "exactly 2 classes"),
        ([[1.0], [2.0]], [0, 1], -1.0, "finite and not negative"),
        ([[1.0], [2.0]], [0, 1], float("nan"), "finite and not negative"),
    ],
)
def test_what_has_no_design_matrix_is_refused(X, y, rho, words):
    with pytest.raises(ValueError, match=words):
        design_matrix(X, y, rho)
