"""separability and exact arithmetic: never a wrong answer, always with a proof."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning

from separatrix import DataError, MaxMargin, separability
from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates import decision, integer_systems
from separatrix.certificates.exact import product_sign, vanishing_weights


def separable_set(seed):
    """Random data with a margin between 1e-6 R and 0.1 R around a random hyperplane."""
    rng = np.random.default_rng(seed)
    d, n = rng.integers(1, 8), rng.integers(4, 60)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((n, d))
    s = X @ u
    gap = 10 ** rng.uniform(-6, -1)
    X += np.outer(np.where(s > 0, 1, -1) * gap * 5, u)
    y = s > 0
    if y.all() or not y.any():
        X[0] -= 2 * (X[0] @ u) * u
        y[0] = not y[0]
    return X + rng.standard_normal(d), y


def overlapping_set(seed):
    """Random data in which a point of one class lies among points of the other."""
    rng = np.random.default_rng(seed)
    d, n = rng.integers(1, 8), rng.integers(10, 60)
    X = rng.standard_normal((n, d)) if seed % 3 else rng.integers(-3, 4, (n, d)).astype(float)
    y = rng.random(n) < 0.5
    y[0], y[1] = True, False
    if seed % 2:  # a mean of positive points, labelled negative: halves of integers are exact
        a, b = X[0], X[2]
        y[2] = True
        return np.vstack(
            [X, (np.round(a * 64) + np.round(b * 64)) / 128, np.round(a * 64) / 64, np.round(b * 64) / 64]
        ), (np.append(y, [False, True, True]))
    simplex = np.vstack([np.eye(d) * 4, -np.full((1, d), 4.0)])
    return np.vstack([X, simplex, simplex / 8]), np.concatenate([y, np.ones(d + 1, bool), np.zeros(d + 1, bool)])


@pytest.mark.parametrize("part", range(10))
def test_separable_sets_are_found_and_proved(part):
    for seed in range(100 * part, 100 * (part + 1)):
        X, y = separable_set(seed)
        answer = separability(X, y)
        assert answer.separable is True, (seed, str(answer))
        assert answer.kind == "complete"
        assert answer.exact
        assert answer.margin > 0
        assert answer.certificate.verify(X, y, exact=True), seed
        assert np.all((answer.hyperplane.signed_distance(X) > 0) == y)


@pytest.mark.parametrize("part", range(10))
def test_overlapping_sets_are_refuted_and_proved(part):
    for seed in range(100 * part, 100 * (part + 1)):
        X, y = overlapping_set(seed)
        answer = separability(X, y)
        assert answer.separable is False, (seed, str(answer))
        assert answer.exact
        assert answer.kind in ("none", "quasi-complete")
        assert answer.certificate.verify(X, y), seed
        Y = np.where(y, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(X))])
        assert np.abs(answer.infeasibility_proof.weight @ Y[answer.infeasibility_proof.rows]).max() <= 1e-9


def test_kinds():
    line = [[0.0], [1.0], [2.0], [3.0]]
    assert separability(line, [0, 0, 1, 1]).kind == "complete"
    touching = separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert touching.kind == "quasi-complete"
    distance = touching.hyperplane.signed_distance(np.array([[0.0], [1.0], [2.0]]))
    assert distance[0] < -1e-9
    assert abs(distance[1]) < 1e-9
    assert distance[2] > 1e-9
    assert separability(line, [0, 1, 0, 1]).kind == "none"
    xor = separability([[0.0, 0], [1, 1], [1, 0], [0, 1]], [0, 0, 1, 1])
    assert (xor.separable, xor.kind) == (False, "none")
    # Points that alternate on a line, and one off the line: a hyperplane through the line has them all on it.
    flat = separability([[0.0, 0.0], [1, 0], [2, 0], [0, 5]], [0, 1, 0, 1])
    assert (flat.separable, flat.kind) == (False, "quasi-complete")


def test_identical_rows_of_both_classes():
    answer = separability([[1.0, 2.0], [1.0, 2.0]], [0, 1])
    assert answer.separable is False
    assert answer.kind == "none"
    assert sorted(answer.infeasibility_proof.weight.tolist()) == [0.5, 0.5]


def test_without_intercept():
    X, y = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0]], [0, 1, 1]
    assert separability(X, y).separable is True
    assert separability(X, y, fit_intercept=False).separable is False


def test_real_data_raw_and_sparse():
    X, y = load_breast_cancer(return_X_y=True)
    for data in (X, sp.csr_matrix(X), X.astype(np.float32)):
        answer = separability(data, y)
        assert answer.separable is True
        assert answer.certificate.verify(data, y, exact=True)


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    answer = separability(X, y)
    assert answer.one_vs_rest[0].separable is True
    assert answer.one_vs_rest[1].separable is False
    assert answer.one_vs_one[0, 1].separable is True
    assert answer.one_vs_one[1, 2].separable is False
    assert answer.separable is False
    # three classes around the origin: one machine separates them
    X = [[0.0, 3.0], [0.1, 2.9], [3.0, -2.0], [2.9, -2.1], [-3.0, -2.0], [-3.1, -2.2]]
    star = separability(X, [0, 0, 1, 1, 2, 2])
    assert star.separable is True
    # three in a row: one machine does, but the middle one is not separable from the rest
    row = separability([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]], ["a", "a", "b", "b", "c", "c"])
    assert row.separable is True
    assert row.one_vs_rest["b"].separable is False
    assert "Jointly separable (one hyperplane per class): yes" in str(row)


def test_one_class_is_an_error():
    with pytest.raises(DataError, match="1 class"):
        separability([[0.0], [1.0]], [1, 1])


def test_exact_arithmetic():
    assert vanishing_weights(np.array([[0.1, 0.2], [-0.2, -0.4]]), np.ones(2), Clock()) == [2, 1]
    assert vanishing_weights(np.array([[0.1, 0.2], [-0.2, -0.3]]), np.ones(2), Clock()) is None
    assert vanishing_weights(np.array([[1.0], [2.0]]), np.ones(2), Clock()) is None
    assert product_sign(np.array([0.1, 0.2]), np.array([2.0, -1.0])) == 0
    assert product_sign(np.array([1e-300, 1.0]), np.array([1.0, 1e-320])) == 1


def test_a_margin_below_rounding_is_settled_exactly():
    # 3 * 0.1 > 0.3 in exact arithmetic of these floats, by less than one unit in the last place
    X, y = np.array([[0.1, 0.3], [-0.1, -0.3]]), [1, 0]
    certificate = MaxMargin(float("inf"), fit_intercept=False).fit([[3.0, -1.0], [-3.0, 1.0]], [1, 0]).certificate_
    assert product_sign(X[0], np.array([3.0, -1.0])) == 1
    claim = replace(
        certificate,
        direction=np.array([3.0, -1.0, 0.0]),
        lower=None,
        upper=np.inf,
        alpha=None,
        alpha_index=None,
        radius=0.1**0.5,
        separable=True,
    )
    assert claim.verify(X, y)


def test_wide_sparse_data_of_two_classes():
    """A dense matrix of columns by columns would take 8 TB; columns without values do not matter."""
    X = sp.csr_matrix(([1.0, 2.0, 1.0, 2.0, 5.0], ([0, 0, 1, 1, 2], [3, 999_999, 3, 999_999, 70])), shape=(3, 10**6))
    answer = separability(X, [0, 1, 1])
    assert (answer.separable, answer.kind) == (False, "quasi-complete")
    assert answer.hyperplane.signed_distance(X)[2] > 0
    assert answer.certificate.verify(X, [0, 1, 1])


# Every one of these was answered wrongly, not at all or not in time by release 0.1.0.

QUASI = [[0.0, 0], [-2, 4], [0, 0], [-3, 9], [2, 4], [-3, 9]], [1, 1, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("X", "y", "fit_intercept", "kind"),
    [
        ([[0.0], [7e-321]], [1, 0], False, "quasi-complete"),
        ([[6.57e-161], [2.5e-162]], [0, 1], False, "none"),
        ([[-2.0, -1e-323], [-2, 1e-323], [-2, -1e-323], [0, 1e-323]], [0, 0, 2, 1], True, "quasi-complete"),
        ([[1.0000000000000002], [1.0000000000000004]], [1, 0], True, "complete"),
        ([[0, -1, -5e-324], [-1, -1, 0], [0, 1, 1], [-1, -2, 1], [-2, 1, -2]], [0, 1, 0, 0, 0], True, "none"),
        (*QUASI, True, "quasi-complete"),
        ([[1e9], [1e9 + 2]], [0, 1], True, "complete"),
        ([[0.0, 0], [0, 0]], [0, 1], False, "none"),
        ([[1e300], [1e-320], [3.0]], [0, 1, 1], True, "complete"),
        ([[39088169.0, 63245986], [63245986, 102334155], [1, 0]], [0, 1, 1], False, "complete"),
        ((1 / (np.arange(15)[:, None] + np.arange(15) + 1.0)).tolist(), (np.arange(15) % 2).tolist(), True, "complete"),
        ((np.linspace(0, 1, 20)[:, None] ** np.arange(20)).tolist(), (np.arange(20) % 2).tolist(), True, "complete"),
    ],
)
def test_what_floats_do_not_decide(X, y, fit_intercept, kind):
    for data in (np.array(X), sp.csr_matrix(X)):
        answer = separability(data, y, fit_intercept=fit_intercept)
        assert (answer.kind, answer.separable, answer.exact) == (kind, kind == "complete", True)
        if kind == "complete":
            assert answer.margin > 0
        else:
            assert len(answer.infeasibility_proof.exact) == len(answer.infeasibility_proof.rows)


def test_a_vector_that_floats_cannot_hold():
    """Neighbouring ratios of Fibonacci's numbers, so large that no floats lie between them."""
    f = [1, 1]
    while len(f) < 78:
        f.append(f[-1] + f[-2])
    X = np.array([[f[75], f[76]], [f[76], f[77]], [1, 0]], dtype=np.float64)
    answer = separability(X, [0, 1, 1], fit_intercept=False)
    assert answer.separable is True
    a = answer.vector
    if a is None:
        a = [Fraction(v) for v in answer.certificate.direction]
    signs = [-1, 1, 1]
    assert all(s * (Fraction(x) * a[0] + Fraction(z) * a[1]) > 0 for s, (x, z) in zip(signs, X.tolist(), strict=True))


def test_scales_do_not_matter(rng):
    X = rng.integers(-3, 4, (12, 3)).astype(float)
    y = np.arange(12) % 2
    kinds = {
        separability(X * scale, y).kind
        for scale in (1.0, np.array([5e-324, 1e300, 1.0]), np.array([1e-300, 1e-3, 1e250]))
    }
    assert len(kinds) == 1


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_integers_that_float64_cannot_hold_are_refused(dtype):
    X = np.array([[2**53], [2**53 + 1]], dtype=dtype)
    with pytest.raises(DataError, match=r"row 1, column 0 is 9007199254740993"):
        separability(X, [0, 1])
    with pytest.raises(DataError, match="9007199254740993"):
        MaxMargin().fit(X, [0, 1])
    assert separability(2 * X - 2**54, [0, 1]).separable is True


def test_a_label_among_large_columns_is_no_error():
    rng = np.random.default_rng(0)
    X, s = np.round(rng.normal(size=(300, 100)) * 1e12), np.where(rng.random(300) < 0.5, 1.0, -1.0)
    X[:, 0] = s
    assert separability(X, s).separable is True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MaxMargin(float("inf")).fit(X, s)
    assert model.certificate_.separable is True


def test_a_hard_margin_that_is_undecided_says_so():
    """Too small a margin for floats, too little time for more."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    X[:, 0] = 1e-13 * np.abs(X[:, 0])
    y = rng.random(400) < 0.5
    X[y, 0] *= -1
    X = X @ np.linalg.qr(rng.normal(size=(60, 60)))[0]
    with pytest.warns(ConvergenceWarning, match="whether a hyperplane separates is undecided"):
        model = MaxMargin(float("inf"), fit_intercept=False, max_time=0.2).fit(X, y)
    assert model.certificate_.separable is None
    answer = separability(X, y, fit_intercept=False, max_time=0.2)
    assert (answer.separable, answer.kind) == (None, "undecided")
    assert np.isfinite(answer.certificate.upper)
    assert f"No margin above {answer.certificate.upper:.3g} exists" in str(answer)
    at_once = separability(X, y, fit_intercept=False, max_time=1e-9)  # without a bound, none is reported
    assert at_once.separable is None
    assert ("No margin above" in str(at_once)) == np.isfinite(at_once.certificate.upper)


@pytest.mark.parametrize("bits", [5, 16, 40, 61])
def test_systems_of_machine_integers(bits):
    """As those of Python's integers, in one limb and in several, with right sides of any size."""
    rng = np.random.default_rng(bits)
    for k, most in ((1, 3), (7, 2**20), (40, 2**62), (40, 2**70), (10, 2**1100)):
        A = rng.integers(-(2**bits) + 1, 2**bits, size=(k, k))
        b = [int(v) * most // 2**62 for v in rng.integers(-(2**62), 2**62, size=k)]
        expected = integer_systems._by_lifting(A.tolist(), b, Clock())
        assert expected == integer_systems._by_lifting(A, b, Clock()) == integer_systems._by_flint(A.tolist(), b)
        assert integer_systems._hadamard(A, b) >= integer_systems._hadamard(A.tolist(), b)


def combine_to_zero(table, weight):
    return integer_systems.pieces_combine_to_zero(integer_systems.limbs(table, integer_systems.LIMB), weight, Clock())


@pytest.mark.parametrize("bits", [1, 16, 17, 33, 61])
@pytest.mark.parametrize("size", [1, 16, 300, 9000])
def test_combinations_to_zero(bits, size):
    """Rows and their opposites, by weights of so many bits; a wrong bit anywhere is seen."""
    rng = np.random.default_rng(bits + size)
    weight = [int.from_bytes(rng.bytes(-(-size // 8)), "little") >> (-size % 8) for _ in range(5)]
    table = rng.integers(-(2**bits) + 1, 2**bits, size=(5, 3))
    table[2, 1] = 2**bits - 1
    both = np.concatenate([table, -table])
    assert combine_to_zero(both, [*weight, *weight])
    for place in (0, size // 2, size - 1, size + 100):
        wrong = [*weight[:2], weight[2] ^ 1 << place, *weight[3:]]
        assert not combine_to_zero(both, [*weight, *wrong])
    for w in (*weight, (1 << size) - 1):  # a remainder that travels through all pieces
        both = np.array([[1, 2**bits - 1], [-1, 1 - 2**bits], [1, 2**bits - 1]])
        assert combine_to_zero(both, [w, w + 1, 1])
        assert combine_to_zero(both, [w, w + (1 << size // 2), 1 << size // 2])
        assert not combine_to_zero(both, [w, w + 1, 0])


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (40, 30), (30, 40), (40, 40)])
def test_a_regular_part_and_its_inverse(shape, monkeypatch):
    """By FLINT, and by panels, whose inverse solves the system of the part."""
    rng, p, clock = np.random.default_rng(shape[0]), integer_systems.PRIMES[0], Clock()
    A = rng.integers(0, 99, (shape[0], 2 * shape[0] // 3)) @ rng.integers(0, 99, (2 * shape[0] // 3, shape[1]))
    by_flint = integer_systems.basis(A.astype(float), p, clock)
    monkeypatch.setattr(integer_systems, "FEW_PRODUCTS", 0)
    rows, columns, inverse = integer_systems.basis(A.astype(float), p, clock)
    part = A[np.ix_(rows, columns)].T.astype(object)
    assert len(rows) == len(columns) == len(by_flint[0]) == np.linalg.matrix_rank(A)
    assert np.linalg.matrix_rank(A[np.ix_(by_flint[0], by_flint[1])]) == len(rows)
    assert np.array_equal(part @ inverse.astype(np.int64).astype(object) % p, np.eye(len(rows), dtype=np.int64))
    b = rng.integers(-9, 10, len(rows)).tolist()
    wanted = integer_systems._by_lifting(part.tolist(), b, clock)
    assert integer_systems._by_lifting(part.astype(np.int64), b, clock, inverse) == wanted


def test_integers_beyond_the_range_of_floats():
    """Squares of 1e-90 and 1e90 in one column: lifting asked how large they are in floats."""
    rng = np.random.default_rng(0)
    A = [[int(v) << 1100 * (j == 3) for j, v in enumerate(row)] for row in rng.integers(-9, 10, size=(30, 30))]
    b = [int(v) for v in rng.integers(-9, 10, size=30)]
    assert integer_systems._by_lifting(A, b, Clock()) == integer_systems._by_flint(A, b)


def test_large_integer_systems(rng):
    """What is lifted p-adically is what FLINT finds, and an interrupted one stops at once."""
    A = [[int(x) for x in row] for row in rng.integers(-(2**40), 2**40, (60, 60))]
    b = [int(x) for x in rng.integers(-5, 6, 60)]
    expected = integer_systems._by_flint(A, b)
    lifted = integer_systems._by_lifting(A, b, Clock())
    assert [Fraction(x, lifted[1]) for x in lifted[0]] == [Fraction(x, expected[1]) for x in expected[0]]
    assert integer_systems._by_lifting([[1, 2], [2, 4]], [1, 1], Clock()) is None
    with pytest.raises(OutOfTimeError):
        integer_systems._by_lifting(A, b, Clock(1e-9))


def test_columns_that_are_a_basis_found_in_two_ways():
    """FLINT's reduced rows and the panels of `independent`, of full and of smaller rank."""
    rng, p, clock = np.random.default_rng(0), integer_systems.PRIMES[0], Clock()
    for _ in range(50):
        k, width, rank = rng.integers(1, 12, 3)
        A = (rng.integers(0, 99, (k, rank)) @ rng.integers(0, 99, (rank, width)) % p).astype(float)
        A[:, rng.random(width) < 0.2] = 0.0
        columns = integer_systems.basis_columns(A, p, clock)
        assert columns == integer_systems.independent(A, p, clock)[0]
        assert len(columns) == np.linalg.matrix_rank(A[:, columns])


@pytest.mark.parametrize("size", [5e-324, 2.0**-1050, 2.0**-1021])
def test_certificates_of_subnormal_data_hold(size):
    """No float64 is within 1e-12 of such a radius; what is claimed is the nearest, and no other number is accepted."""
    step = 5e-324
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 9, (6, 2)) * size, np.arange(6) % (2 + seed % 2)
        X[0] = 7 * size
        certificate = separability(X, y, fit_intercept=False, check_quasi=False).certificate
        assert certificate.verify(X, y)
        far = np.array([-1.0, 1.0]) * max(2 * step, 2e-12 * certificate.radius)
        for radius in (certificate.radius + far).tolist():
            assert radius < 0 or not replace(certificate, radius=radius).verify(X, y)
        assert not replace(certificate, radius=0.0).verify(X, y)


def test_two_classes_that_are_not_separable_decide_the_joint_question(monkeypatch):
    """The same rows prove it for the pair, for each of the two against the rest, and for all; no other is solved."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 50)
    X = rng.normal(size=(200, 3)) + 20.0 * np.eye(4)[y][:, :3]
    X[y == 2] = rng.normal(size=(50, 3)) + 20.0 * np.eye(3)[1]  # where class 1 is
    solved, solve = [], decision.Question._solve
    monkeypatch.setattr(
        decision.Question, "_solve", lambda ask, p: (solved.append((p.n, p.n_classes)), solve(ask, p))[1]
    )
    answer = separability(X, y, check_quasi=False)
    assert (answer.separable, answer.exact) == (False, True)
    assert [pair for pair, a in answer.one_vs_one.items() if a.separable is False] == [(1, 2)]
    assert [c for c, a in answer.one_vs_rest.items() if a.separable is False] == [1, 2]
    assert set(solved) == {(100, 2), (200, 2)}  # no linear machine
    assert len([n for n, _ in solved if n == 200]) == 2  # classes 0 and 3 against the rest
    assert answer.certificate.verify(X, y)
    for c in (1, 2):
        assert answer.one_vs_rest[c].certificate.verify(X, y == c)


def test_hyperplanes_of_each_class_make_a_machine_when_time_is_up(monkeypatch):
    X, y = load_iris(return_X_y=True)
    X = X + 30.0 * np.eye(4)[y]
    solve = decision.Question._solve

    def late(ask, patterns):
        if patterns.n_classes > 2:
            raise OutOfTimeError
        return solve(ask, patterns)

    monkeypatch.setattr(decision.Question, "_solve", late)
    answer = separability(X, y)
    assert answer.separable is True
    assert answer.certificate.verify(X, y)
