"""Quasi-complete separation: the kind of separability against exact linear programs, and that it is decided fast."""

from fractions import Fraction

import numpy as np
import oracle_simplex
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from separatrix import separability
from separatrix.cancellation import Clock
from separatrix.certificates import decision as module
from separatrix.certificates import quasi_complete
from separatrix.certificates.exact import integer_row, pieces_of, units_of
from separatrix.certificates.integer_rows import FloatRows, IntegerRows
from separatrix.certificates.integer_systems import PRIMES


def one_hot(rng, n, columns, levels, drop=False, numbers=0, rare=1.5, n_classes=2):
    """Categories with Zipf's frequencies, of which rare ones are likely to occur in one class alone."""
    blocks, score = [], np.zeros((n, n_classes))
    for _ in range(columns):
        occurring = int(rng.integers(2, levels + 1))
        frequency = np.arange(1, occurring + 1) ** -float(rare)
        codes = rng.choice(occurring, n, p=frequency / frequency.sum())
        score += rng.normal(size=(occurring, n_classes))[codes]
        blocks.append(np.eye(occurring)[codes][:, drop:])
    N = rng.normal(size=(n, numbers)).round(2)
    y = np.argmax(score + N @ rng.normal(size=(numbers, n_classes)) + rng.gumbel(size=score.shape), axis=1)
    y[:n_classes] = np.arange(n_classes)
    return np.hstack([*blocks, N]), y


def any_table(rng):
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 7))
    form = rng.integers(0, 7)
    if form == 0:
        X = rng.integers(-2, 3, (n, d))
    elif form == 1:
        X = rng.integers(0, 2, (n, d))
    elif form == 2:
        X = one_hot(rng, n, int(rng.integers(1, 4)), 5, drop=bool(rng.integers(2)))[0]
    elif form == 3:  # columns of very different sizes
        X = rng.integers(-9, 10, (n, d)) * 10.0 ** rng.integers(-8, 9, d)
    elif form == 4:
        X = rng.normal(size=(n, d))
    elif form == 5:  # dependent columns
        X = rng.integers(-3, 4, (n, 2)) @ rng.integers(-3, 4, (2, d))
    else:  # more columns than rows
        X = rng.integers(-2, 3, (int(rng.integers(2, 5)), int(rng.integers(4, 9))))
    s = X @ rng.integers(-2, 3, X.shape[1]) + rng.integers(-1, 2)
    n_classes = int(rng.choice([2, 2, 2, 3]))
    y = np.where(s == 0, rng.integers(0, n_classes, len(X)), (s > 0) * (n_classes - 1))
    wrong = rng.random(len(X)) < rng.choice([0.0, 0.0, 0.05, 0.5])
    y = np.where(wrong, rng.integers(0, n_classes, len(X)), y)
    y[0] = 1 - y[0] if len(np.unique(y)) < 2 else y[0]
    return X.astype(float), np.unique(y, return_inverse=True)[1]


def check_vector(answer, X, y, intercept):
    """Of two classes: the vector has no row on the wrong side, and not all rows on it, in fractions."""
    if answer.vector is not None:
        a = answer.vector
    elif answer.hyperplane is not None:
        a = [Fraction(v) for v in [*answer.hyperplane.w.tolist(), float(answer.hyperplane.b)]]
    else:
        return
    products = []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        value = sum(Fraction(x) * v for x, v in zip(row, a, strict=False)) + (a[-1] if intercept else 0)
        products.append(value if label else -value)
    assert min(products) >= 0
    assert max(products) > 0


def check_kind(seed):
    rng = np.random.default_rng(seed)
    X, y = any_table(rng)
    intercept = bool(rng.integers(2))
    data = sp.csr_matrix(X) if rng.integers(2) else X
    answer = separability(data, y, fit_intercept=intercept)
    assert answer.kind == oracle_simplex.kind(oracle_simplex.patterns(X, y, int(intercept))), seed
    if answer.kind == "quasi-complete" and y.max() == 1:
        check_vector(answer, X, y, intercept)


@pytest.mark.parametrize("part", range(4))
def test_kinds_of_small_tables_are_those_of_an_exact_linear_program(part):
    for seed in range(75 * part, 75 * (part + 1)):
        check_kind(seed)


@pytest.mark.slow
def test_kinds_of_very_many_small_tables():
    for seed in range(1000, 6000):
        check_kind(seed)


def kind_by_linear_program(X, y, intercept):
    """Which patterns can be positive while none is negative, by HiGHS: enough for tables of 0 and 1."""
    rows = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    if y.max() == 1:
        Y = rows * np.where(y, 1.0, -1.0)[:, None]
    else:
        c = y.max() + 1
        Y = np.concatenate(
            [np.kron(np.eye(c)[k] - np.eye(c)[j], row)[None] for row, k in zip(rows, y, strict=True)
             for j in range(c) if j != k]
        )  # fmt: skip
    n, m = Y.shape
    found = linprog(
        np.append(np.zeros(m), -np.ones(n)),
        A_ub=sp.hstack([sp.csr_matrix(-Y), sp.eye(n)]).tocsr(),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * m + [(0, 1)] * n,
    )
    positive = found.x[m:] > 0.5
    return "complete" if positive.all() else "quasi-complete" if positive.any() else "none"


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(s, marks=pytest.mark.slow) for s in range(12, 200))])
def test_tables_of_rare_categories_need_no_search_of_faces(seed, monkeypatch):
    """The search of faces in Python's integers took a minute for 5,000 rows: floats and short integer proofs do."""
    monkeypatch.setattr(quasi_complete, "weak_vector", None)
    rng = np.random.default_rng(seed)
    n_classes, intercept = (3 if seed % 4 == 3 else 2), seed % 3 != 2
    n = 150 if n_classes == 3 else 800
    X, y = one_hot(rng, n, 2 + seed % 4, 8, drop=seed % 2 == 0, rare=rng.uniform(0.0, 2.0), n_classes=n_classes)
    X = X[:, X.any(axis=0)]
    data = sp.csr_matrix(X) if seed % 5 < 3 else X
    answer = separability(data, y, fit_intercept=intercept)
    assert answer.kind == kind_by_linear_program(X, y, intercept)
    if answer.kind == "quasi-complete" and n_classes == 2:
        check_vector(answer, X, y, intercept)


@pytest.mark.parametrize("columns", [(0,), (0, 1)])
@pytest.mark.parametrize("turned", [False, True])
def test_rows_on_a_hyperplane_and_rows_beside_it(columns, turned, monkeypatch):
    """Ordinary floats have more bits than machine integers; two equal rows of both classes are the proof."""
    monkeypatch.setattr(quasi_complete, "weak_vector", None)
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.5
    X = rng.normal(size=(600, 12))
    for j in columns:
        X[:, j] = np.where(rng.random(600) < 0.5, np.abs(X[:, j]), 0.0) * np.where(y, 1.0, -1.0)
    if turned:  # exactly: integers
        X = np.round(X * 256) @ rng.integers(-3, 4, (12, 12))
    X, y = np.concatenate([X, X[:1]]), np.append(y, ~y[0])
    X[[0, -1]] = 0.0
    answer = separability(X, y)
    assert answer.kind == "quasi-complete"
    check_vector(answer, X, y, True)


def test_a_category_of_one_class_alone_is_seen_at_once(monkeypatch):
    """No table is written out, whatever the size of the data."""
    monkeypatch.setattr(module, "Alternative", None)
    monkeypatch.setattr(quasi_complete, "decide_quasi_complete", None)
    X = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    for data in (X, sp.csr_matrix(X)):
        monkeypatch.setattr(module, "Alternative", _NeverWrittenOut)
        answer = separability(data, [0, 1, 0, 1, 1])
        assert answer.kind == "quasi-complete"
        assert answer.hyperplane.signed_distance(X).tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
        assert separability(data, [0, 1, 0, 1, 0], fit_intercept=False).kind == "quasi-complete"
        assert separability(data, [0, 1, 0, 1, 2]).kind == "quasi-complete"


class _NeverWrittenOut:
    def __init__(self, *_):
        raise AssertionError("the patterns are written out")

    @staticmethod
    def affordable(*_):
        return False


@pytest.mark.parametrize(
    ("X", "y", "kind"),
    [
        ([[1.0], [1], [0]], [0, 1, 1], "none"),
        ([[1.0, 2], [1, 2], [2, 1], [1, 1]], [0, 1, 1, 1], "quasi-complete"),
        ([[1.0, 2], [1, 2], [2, 1], [1, 1], [-1, -1]], [0, 1, 1, 1, 1], "none"),
    ],
)
def test_multiples_of_the_prime_of_the_proofs(X, y, kind):
    """Modulo the prime all of them are 0."""
    for factor in (1.0, float(PRIMES[0]), PRIMES[0] * 0.5):
        for X_ in (np.array(X) * factor, np.array(X) * [factor, *[1.0] * (len(X[0]) - 1)]):
            with np.errstate(all="raise"):
                assert separability(X_, y, fit_intercept=False).kind == kind


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_question_can_be_left_out(n_classes, monkeypatch):
    for name in ("one_sided_columns", "Alternative"):
        monkeypatch.setattr(module, name, _NeverWrittenOut)
    X = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    answer = separability(X, [0, 1, 0, 1, n_classes - 1], check_quasi=False)
    assert (answer.separable, answer.kind) == (False, "undecided")
    assert answer.certificate.verify(X, [0, 1, 0, 1, n_classes - 1])


@pytest.mark.parametrize("exponents", [(0, 1), (-30, 30), (-500, 500), (-900, 900)])
def test_floats_are_cut_into_pieces_of_integers(exponents):
    rng = np.random.default_rng(0)
    V = rng.normal(size=(20, 6)) * 2.0 ** rng.integers(*exponents, (20, 6)) * (rng.random((20, 6)) < 0.7)
    V[:, 2] = 0.0
    unit = units_of(V, Clock())
    exact = [[Fraction(x) / Fraction(2) ** u for x, u in zip(row, unit.tolist(), strict=True)] for row in V.tolist()]
    pieces = pieces_of(V, unit)
    assert max(np.abs(piece).max() for piece in pieces) < 2**16
    for k, row in enumerate(exact):
        assert integer_row(V[k], unit) == row
        assert [sum(int(p[k, j]) << 16 * i for i, p in enumerate(pieces)) for j in range(6)] == row


@pytest.mark.parametrize("size", [3, 2**40, 2**200])
def test_vectors_are_judged_exactly(size):
    """Rows orthogonal to a vector, of floats and of integers, and one that is wrong by the smallest amount."""
    rng = np.random.default_rng(0)
    a = [int(x) * size + int(x) for x in rng.integers(1, 100, 5)]
    V = np.array([[r * b[j] for j in range(5)] for r in (1.0, 3.0) for b in rng.integers(-9, 10, (20, 5))])
    V[:, 0] = -V[:, 1:] @ np.array([x // (size + 1) for x in a[1:]], dtype=float)
    a[0] = size + 1
    V[0] = [0, 0, 0, 0, 5.0]
    for rows in (FloatRows(V, Clock()), IntegerRows(V.astype(int).tolist(), Clock())):
        assert rows.supports(a, Clock())
        assert not rows.supports([-x for x in a], Clock())
        assert not rows.supports([a[0], a[1] - 1, *a[2:]], Clock())
        assert rows.first_not_positive(a, Clock()) > 0
        assert rows.signs(a, Clock()).tolist() == [1] + 39 * [0]
    assert not FloatRows(V[1:], Clock()).supports(a, Clock())
