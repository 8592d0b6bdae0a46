"""The fewest columns that separate: against all subsets, with proofs that are checked."""

from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import numpy as np
import oracle_simplex
import pytest
import scipy.sparse as sp

from separatrix import DataError, NotSeparableError, fewest_features
from separatrix.cancellation import Clock
from separatrix.certificates.hitting import NoTreeError, hitting_tree, proved_by


def problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 6))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    y = (X @ rng.integers(-2, 3, d) + rng.normal(size=n) * 0.3 > 0).astype(int)
    y[:2] = 0, 1
    return X * 2.0 ** rng.choice([0, 0, 40, -40]), y


def fewest(X, y, intercept):
    for size in range(X.shape[1] + 1):
        for columns in combinations(range(X.shape[1]), size):
            if oracle_simplex.kind(oracle_simplex.patterns(X[:, columns], y, int(intercept))) == "complete":
                return size
    return None


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_all_subsets(fit_intercept):
    refused = 0
    for seed in range(80):
        X, y = problem(seed)
        true = fewest(X, y, fit_intercept)
        data = sp.csr_array(X) if seed % 2 else X
        if true is None:
            refused += 1
            with pytest.raises(NotSeparableError):
                fewest_features(data, y, fit_intercept=fit_intercept)
            continue
        answer = fewest_features(data, y, fit_intercept=fit_intercept)
        assert answer.lower == answer.upper == len(answer.columns) == true, seed
        assert answer.verify(data, y), seed
        assert not replace(answer, lower=answer.lower + 1).verify(data, y)
    assert 0 < refused < 80


def wide(seed, d=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, d))
    score = X[:, :3] @ [2.0, -1.0, 1.0]
    return X[np.abs(score) > 0.5], score[np.abs(score) > 0.5] > 0


def test_damaged_proofs_are_refused():
    X, y = wide(0)
    answer = fewest_features(X, y)
    assert answer.exact
    assert answer.columns.tolist() == [0, 1, 2]
    assert answer.verify(X, y)
    rows, weight = answer.refutations[0]
    wrong = [
        {"upper": 2}, {"columns": answer.columns[:-1]}, {"tree": answer.tree[:-1]}, {"tree": []},
        {"vector": answer.vector[:-1]}, {"vector": tuple(-v for v in answer.vector)}, {"needed": {5: answer.needed[0]}},
        {"refutations": answer.refutations[1:]},
        {"refutations": [(rows, [w + 1 for w in weight[:-1]] + weight[-1:]), *answer.refutations[1:]]},
        {"refutations": [(rows, [-w for w in weight]), *answer.refutations[1:]]},
    ]  # fmt: skip
    for damage in wrong:
        assert not replace(answer, **damage).verify(X, y), damage
    assert not answer.verify(X, ~y)


def test_time_leaves_an_irreducible_choice_and_a_bound():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    y = X @ rng.normal(size=30) > 0
    answer = fewest_features(X, y, max_time=1.0)
    assert 0 <= answer.lower <= answer.upper < 30
    assert answer.stop_reason in ("max_time", "proved")
    assert answer.irreducible
    assert not replace(answer, needed={}).irreducible
    assert answer.verify(X, y)
    stopped = fewest_features(X, y, callback=lambda lower, upper: True)
    assert stopped.stop_reason == "callback"
    assert stopped.verify(X, y)


def test_trees_of_sets_against_all_choices():
    rng = np.random.default_rng(0)
    for _ in range(60):
        sets = [frozenset(rng.choice(7, int(rng.integers(1, 4)), replace=False).tolist()) for _ in range(6)]
        sizes = (k for k in range(8) for c in combinations(range(7), k) if all(s & {*c} for s in sets))
        true = next(sizes)
        tree = hitting_tree(sets, true, Clock())
        assert proved_by(sets, tree) >= true
        with pytest.raises(NoTreeError):
            hitting_tree(sets, true + 1, Clock())
        for _ in range(20):
            damaged = list(tree)
            damaged[rng.integers(len(tree))] = int(rng.integers(0, 8))
            with suppress(NoTreeError):
                assert proved_by(sets, damaged) <= true


def test_words_and_errors():
    X, y = wide(0, 4)
    assert str(fewest_features(X, y)) == "3 columns separate the classes: no fewer do."
    with pytest.raises(DataError, match="two classes"):
        fewest_features(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="must be positive"):
        fewest_features(X, y, max_time=-1)
