"""The decision whether a hyperplane exists, with its proof, against HiGHS and logistic regression without a penalty.

An answer is right if it says what the construction of the data says. Logistic regression answers "separable" only,
where its vector separates; its silence proves nothing.
"""

import functools
import warnings

import numpy as np

from benchmarks import peers
from benchmarks.data import overlapping, real, separable
from benchmarks.objective import margins
from benchmarks.race import Row, clock, first_that_reaches
from separatrix import separability


def cases(small):
    n, d = (300, 5) if small else (100_000, 50)
    yield f"{n:,} x {d}, separable", separable(n, d), True, True
    yield f"{n:,} x {d}, overlapping", overlapping(n, d, 1.0), False, True
    if not small:
        yield "a9a", real("a9a"), False, False
        yield "mushrooms", real("mushrooms"), True, False
        yield "MNIST 0-1", real("MNIST 0-1"), True, False
        yield "MNIST 4-9", real("MNIST 4-9"), False, False


def overlapping_cases(small):
    """Data that no hyperplane separates: how long it takes to ask whether one does quasi-completely."""
    for n in (300,) if small else (1_000, 5_000, 20_000):
        yield f"{n:,} rows of rare categories", *categories(n)
    n, d = (300, 5) if small else (10_000, 50)
    yield f"{n:,} x {d}, quasi-complete", *touching(n, d)
    if not small:
        X, y = real("a9a")
        for n in (1_000, 2_000, 5_000, len(y)):
            rows = np.random.default_rng(0).permutation(len(y))[:n]
            yield f"{n:,} random rows of a9a", X[rows], y[rows]


def categories(n, columns=8, levels=20, seed=0):
    """Categories with Zipf's frequencies as columns of 0 and 1, each without its first level; labels by their sum."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, levels + 1)
    codes = rng.choice(levels, (n, columns), p=frequency / frequency.sum())
    score = rng.normal(size=(columns, levels))[np.arange(columns), codes].sum(axis=1)
    y = np.where(score + rng.logistic(size=n) > 0, 1.0, -1.0)
    return np.hstack([np.eye(levels)[:, 1:][c] for c in codes.T]), y


def touching(n, d, seed=0):
    """Half of the rows on a hyperplane with labels at random, the others on their sides; turned, in integers."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = np.round(256 * rng.standard_normal((n, d)))
    X[:, 0] = np.where(rng.random(n) < 0.5, np.abs(X[:, 0]) * y, 0.0)
    return X @ rng.integers(-3, 4, (d, d)), y


def measure(small):
    for case, X, y in overlapping_cases(small):
        for weak in (True, False):
            timing = clock(functools.partial(separability, X, y, check_quasi=weak), 3)
            note = f"kind {separability(X, y, check_quasi=weak).kind!r}"
            yield Row(f"{case}, {'with' if weak else 'without'} the quasi-complete question", timing, note=note)
    limit = 5.0 if small else 60.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case, (X, y), truth, large in cases(small):
            answer = separability(X, y)
            timing = clock(functools.partial(separability, X, y), 3)
            right = answer.separable is truth and bool(answer.certificate.verify(X, y))

            def wrong(a, X=X, y=y, truth=truth):
                """0 for a right answer: a vector that separates, or none where there is none."""
                found = bool(a is not None and np.all(np.isfinite(a)) and margins(X, y, a).min() > 0)
                return float(found is not truth)

            runs = {"HiGHS": [functools.partial(_highs, X, y)]}
            if truth:
                runs["LogisticRegression(C=inf)"] = [functools.partial(peers.logistic, X, y)]
                runs["LDA"] = [functools.partial(peers.discriminant, X, y)]
            others = {name: first_that_reaches(r, wrong, 0.0, limit) for name, r in runs.items()}
            note = "proof verified" if right else "WRONG"
            yield Row(case, timing, others, note=note)
            if large:
                value = others["HiGHS"].seconds / timing.seconds
                yield Row(f"{case}: HiGHS / separatrix", timing, {}, 20.0, value=value, note=note)


def _highs(X, y):
    """HiGHS says infeasible by returning no vector; a vector of zeros stands for that."""
    a = peers.linear_program(X, y)
    return np.zeros(X.shape[1] + 1) if a is None else a
