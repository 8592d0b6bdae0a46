"""Separated rows and infinite coefficients: published cases, and an exact oracle on small random problems."""

import csv
import os
import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle_simplex
import pytest
import scipy.sparse as sp

from separatrix import separability

DATA = Path(os.environ.get("SEPARATRIX_DATA", "")) / "separation"
published = pytest.mark.skipif(
    not (os.environ.get("SEPARATRIX_DATA") and DATA.is_dir()) and not os.environ.get("SEPARATRIX_REQUIRE_DATA"),
    reason="SEPARATRIX_DATA/separation is missing",
)


def read(name):
    with open(DATA / f"{name}.csv") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def small_problem(seed):
    """Small whole numbers: ties, dependent and empty columns, two or three classes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 10)), int(rng.integers(1, 4))
    X = rng.integers(-int(rng.choice([1, 2, 5])), int(rng.choice([1, 2, 5])) + 1, (n, d)).astype(float)
    n_classes = int(rng.choice([2, 2, 2, 3]))
    score = X @ rng.integers(-2, 3, (d, n_classes))
    y = np.where(rng.random(n) < 0.25, rng.integers(0, n_classes, n), np.argmax(score, axis=1))
    y[:n_classes] = np.arange(n_classes)
    return X * 2.0 ** rng.choice([0, 0, -40, 30], d), y


def expected(X, y, intercept):
    """Which rows can be strictly right together, and the sign of each coefficient, by integer linear programs."""
    Y = oracle_simplex.patterns(X, y, int(intercept))
    c, width = int(y.max()) + 1, X.shape[1] + intercept
    Y = Y if c == 2 else [row[width:] for row in Y]

    def possible(rows):
        whole = [oracle_simplex._primitive([Fraction(v) for v in row]) for row in rows]
        return oracle_simplex._positive(whole)

    positive = np.array(possible(Y))
    infinite = []
    for j in range(len(Y[0])):
        unit = [[Fraction(s * int(i == j)) for i in range(len(Y[0]))] for s in (1, -1)]
        up, down = (possible([*Y, u])[-1] for u in unit)
        infinite.append(np.nan if up and down else float(up) - float(down))
    infinite = np.array(infinite) if positive.any() else np.zeros(len(Y[0]))
    return np.flatnonzero(positive.reshape(len(X), -1).all(axis=1)), infinite.reshape(-1 if c == 2 else (c - 1, width))


def check_small(seed):
    X, y = small_problem(seed)
    for intercept in (True, False):
        answer = separability(sp.csr_array(X) if seed % 3 == 0 else X, y, fit_intercept=intercept)
        rows, infinite = expected(X, y, intercept)
        assert np.array_equal(answer.separated_rows, rows), seed
        assert np.array_equal(answer.infinite, infinite if len(y) and y.max() > 1 else infinite.ravel(), equal_nan=True)
        assert answer.separation.verify(X, y), seed
        mutate(answer.separation, X, y, seed)


def mutate(separation, X, y, seed):
    """A claim that says something else about rows or signs is refused."""
    rng = np.random.default_rng(seed)
    infinite = separation.infinite.copy()
    place = tuple(int(rng.integers(s)) for s in infinite.shape)
    infinite[place] = rng.choice([v for v in (-1.0, 0.0, 1.0, np.nan) if not np.array_equal(v, infinite[place], True)])
    wrong = [replace(separation, infinite=infinite)]
    n = len(y)
    wrong.append(replace(separation, rows=np.setxor1d(separation.rows, [int(rng.integers(n))])))
    if separation.weight:
        k = list(separation.weight)[int(rng.integers(len(separation.weight)))]
        wrong.append(replace(separation, weight={**separation.weight, k: 0}))
        wrong.append(replace(separation, weight={i: w for i, w in separation.weight.items() if i != k}))
    if separation.vectors:
        wrong.append(replace(separation, vectors=[[-x for x in a] for a in separation.vectors]))
        wrong.append(replace(separation, vectors=[a[:-1] for a in separation.vectors]))
    for claim in wrong:
        assert not claim.verify(X, y), seed
    for j, multipliers in separation.multipliers.items():
        damaged = {k: -w for k, w in multipliers.items()}
        claim = replace(separation, multipliers={**separation.multipliers, j: damaged})
        assert not claim.verify(X, y) or not separation.infinite.ravel()[j]


@pytest.mark.parametrize("part", range(2))
def test_small_problems_against_an_exact_oracle(part):
    for seed in range(25 * part, 25 * (part + 1)):
        check_small(seed)


@pytest.mark.slow
def test_many_small_problems_against_an_exact_oracle():
    for seed in range(1000, 3000):
        check_small(seed)


def poisson(name):
    """A Poisson regression of y on the columns x and on dummies of the columns id: rows with y > 0 in both classes."""
    table = read(name)
    columns = [table[key] for key in table if key.startswith("x")]
    for key in table:
        if key.startswith("id"):
            columns += [(table[key] == value).astype(float) for value in np.unique(table[key])]
    X, counted = np.column_stack(columns), table["y"] > 0
    labels = np.r_[counted.astype(int), np.zeros(counted.sum(), int)]
    return np.vstack([X, X[counted]]), labels, np.flatnonzero(table["separated"])


@published
@pytest.mark.parametrize("number", range(1, 11))
def test_published_rows_of_poisson_regressions(number):
    X, y, separated = poisson(f"ppml{number:02}")
    answer = separability(X, y)
    assert np.array_equal(answer.separated_rows, separated)
    assert answer.separation.verify(X, y)
    assert answer.hyperplane is not None or not len(separated)


@published
def test_endometrial_cancer():
    polars = pytest.importorskip("polars")
    table = polars.read_csv(DATA / "endometrial.csv")
    X, y = table.select("NV", "PI", "EH"), table["HG"]
    answer = separability(X, y)
    assert answer.infinite.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert np.array_equal(answer.separated_rows, np.flatnonzero(table["NV"].to_numpy() == 1))
    assert "NV = 1 occurs only with HG = 1, so its coefficient is +infinity." in str(answer)
    assert answer.separation.verify(X, y)


@published
def test_silvapulle_1981():
    table = read("silvapulle1981")
    answer = separability(table["ghqs"][:, None], table["y"])
    assert answer.kind == "quasi-complete"
    assert answer.infinite.tolist() == [1.0, -1.0]
    assert (
        answer.named(["ghqs"], "y")
        .sentence()
        .startswith("33 of 35 rows are separated. ghqs < 2 occurs only with y = 0")
    )


def test_complete_separation_separates_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] - X[:, 1] > 0
    answer = separability(X, y)
    assert answer.separated_rows.tolist() == list(range(200))
    assert answer.infinite[:2].tolist() == [1.0, -1.0]
    assert np.isnan(answer.infinite[4])
    assert answer.separation.verify(X, y)
    assert not answer.separation.verify(X, ~y)
    assert not answer.separation.verify(X[:-1], y[:-1])


def test_several_classes_each_against_the_first():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [1.0], [1.0]])
    y = np.array(["a", "b", "c", "a", "b", "c", "c"])
    answer = separability(X, y)
    assert answer.separated_rows.tolist() == [5, 6]
    assert np.array_equal(answer.infinite, [[np.nan, 0.0], [1.0, 0.0]], equal_nan=True)
    assert answer.separation.verify(X, y)
    assert "for c against a is +infinity" in answer.sentence()
    assert answer.one_vs_one["a", "c"].infinite.tolist() == [1.0, 0.0]
    assert answer.one_vs_rest["c"].infinite.tolist() == [1.0, 0.0]


def test_hyperplanes_of_dependent_columns_are_fractions_if_floats_hold_none():
    X = np.array([[3.0, 1.0, 0.0], [0.0, 3.0, 1.0], [3.0, 4.0, 1.0], [1e-30, 0, 0], [-3.0, -1.0, 0.0]])
    y = [1, 1, 0, 1, 1]
    answer = separability(X, y, fit_intercept=False)
    assert answer.kind == "quasi-complete"
    assert answer.hyperplane is not None


def test_answers_can_be_saved_and_are_computed_later():
    X, y = [[0.0], [0.0], [1.0], [1.0]], [0, 1, 1, 1]
    answer = pickle.loads(pickle.dumps(separability(X, y)))
    assert answer.separated_rows.tolist() == [2, 3]


def test_without_time_the_answer_is_undecided():
    rng = np.random.default_rng(0)
    answer = separability(rng.normal(size=(50, 3)), rng.integers(0, 2, 50), max_time=1e-9)
    assert answer.separated_rows is None
    assert answer.infinite is None
    assert answer.separation is None


def test_finite_estimates():
    answer = separability([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    assert answer.infinite.tolist() == [0.0, 0.0]
    assert answer.sentence() == "All coefficients of a logistic regression are finite."


def test_the_command_names_columns_and_values(tmp_path):
    from typer.testing import CliRunner

    from separatrix.app.cli import app

    data = tmp_path / "data.csv"
    data.write_text("NV,sex,HG\n0,m,0\n0,f,1\n0,f,0\n0,m,1\n1,f,1\n1,m,1\n")
    shown = CliRunner().invoke(app, ["check", str(data), "--target", "HG", "--encode", "--json"])
    assert shown.exit_code == 1
    assert "2 of 6 rows are separated. NV = 1 occurs only with HG = 1" in shown.output
    scaled = CliRunner().invoke(app, ["check", str(data), "--target", "HG", "--encode", "--scale", "--json"])
    assert "The coefficient of NV is +infinity" in scaled.output
