"""Answers with a proof, changed at random: a change that `verify` accepts still says what is true."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from separatrix import fewest_errors, fewest_features, separability

REFUSED = (TypeError, ValueError, AttributeError, LookupError, OverflowError)  # what is not of the form of a proof


def problem(rng, separable):
    """Few rows of small integers, with ties."""
    y = np.zeros(1)
    while len(np.unique(y)) < 2:
        n, d = int(rng.integers(4, 14)), int(rng.integers(1, 4))
        X = rng.integers(-2, 3, (n, d)).astype(float)
        score = X @ rng.integers(-2, 3, d) + 0.5
        y = (score > 0 if separable else score + rng.normal(size=n) > 0).astype(int)
    return X * 2.0 ** rng.choice([0, 40, -40]), y


def other_number(rng, value):
    choices = [
        value + 1,
        value - 1,
        -value,
        0,
        2 * value,
        value + int(rng.integers(-9, 10)),
        10**30,
        float("nan"),
        None,
    ]
    return choices[int(rng.integers(len(choices)))]


def mutated(rng, value):
    """One place of nested lists, dictionaries and arrays, changed, left out or given twice."""
    if isinstance(value, dict):
        if not value or rng.random() < 0.1:
            return {**value, int(rng.integers(9)): next(iter(value.values()), 1)}
        key = list(value)[int(rng.integers(len(value)))]
        if rng.random() < 0.2:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: mutated(rng, value[key])}
    if isinstance(value, np.ndarray):
        out = mutated(rng, value.tolist())
        with suppress(*REFUSED):
            return np.array(out, dtype=value.dtype)
        return value[:-1]
    if isinstance(value, (list, tuple)):
        out = list(value)
        if not out or rng.random() < 0.2:
            at = int(rng.integers(len(out) + 1))
            out = out[:at] + out[at + 1 :] if rng.random() < 0.5 else [*out, *out[:1]]
        else:
            at = int(rng.integers(len(out)))
            out[at] = mutated(rng, out[at])
        if isinstance(value, tuple) and hasattr(value, "_make"):
            return value._make(out)
        return type(value)(out)
    if hasattr(value, "__dataclass_fields__"):
        names = list(value.__dataclass_fields__)
        name = names[int(rng.integers(len(names)))]
        return replace(value, **{name: mutated(rng, getattr(value, name))})
    if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool):
        return other_number(rng, value)
    return value


def accepted(claim, X, y):
    with suppress(*REFUSED):
        return bool(claim.verify(X, y))
    return False


def change(rng, claim, fields):
    for _ in range(int(rng.integers(1, 3))):
        name = fields[int(rng.integers(len(fields)))]
        with suppress(*REFUSED):
            claim = replace(claim, **{name: mutated(rng, getattr(claim, name))})
    return claim


def separations(rng, count):
    X, y = problem(rng, rng.random() < 0.4)
    true = separability(X, y).separation
    assert true.verify(X, y)
    for _ in range(count):
        claim = change(rng, true, ["rows", "infinite", "vectors", "weight", "multipliers"])
        if accepted(claim, X, y):
            assert np.array_equal(claim.rows, true.rows)
            assert np.array_equal(claim.infinite, true.infinite, equal_nan=True)


def errors(rng, count):
    X, y = problem(rng, False)
    true = fewest_errors(X, y)
    assert true.exact
    assert true.verify(X, y)
    for _ in range(count):
        claim = change(rng, true, ["lower", "upper", "rows", "tree", "packing", "vector"])
        claim = replace(claim, lower=claim.lower + 1) if rng.random() < 0.5 and claim.lower == true.lower else claim
        if accepted(claim, X, y):
            assert claim.lower <= true.lower
            assert claim.upper >= true.upper
            assert len(claim.rows) == claim.upper


def features(rng, count):
    X, y = problem(rng, True)
    X = np.column_stack([X, rng.integers(-2, 3, (len(X), 2))])
    true = fewest_features(X, y)
    assert true.exact
    assert true.verify(X, y)
    for _ in range(count):
        claim = change(rng, true, ["lower", "upper", "columns", "vector", "needed", "refutations", "tree"])
        claim = replace(claim, lower=claim.lower + 1) if rng.random() < 0.5 and claim.lower == true.lower else claim
        if accepted(claim, X, y):
            assert claim.lower <= true.lower
            assert claim.upper >= true.upper
            columns = [int(j) for j in claim.columns]
            assert len(columns) == claim.upper
            assert separability(X[:, columns], y).separable
            for j in claim.needed:
                rest = [k for k in columns if k != j]
                assert not rest or not separability(X[:, rest], y).separable


@pytest.mark.parametrize("kind", [separations, errors, features])
@pytest.mark.parametrize("problems", [20, pytest.param(700, marks=pytest.mark.slow)])
def test_no_false_answer_is_accepted(kind, problems):
    for seed in range(problems):
        kind(np.random.default_rng(seed), 30)
