"""Algorithm 4 of the dissertation as printed: all errors are corrected, and all rows are tested between the passes."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sources.naive import as_printed, close, patterns, problem, vector

from separatrix import MarginFuzzyPerceptron
from separatrix.data import from_blocks
from separatrix.errors import UnavailableError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ORIGIN = {"fit_intercept": False}


def algorithm_4(Y, d, width, eta=1.0, passes=3000):
    """Returns the vector, the number of updates, and whether line 3 ended it."""
    w, updates = np.zeros(Y.shape[1]), 0
    for _ in range(passes):
        for y in Y:
            if y @ w <= 0:
                w, updates = w + eta * y, updates + 1
        if np.all(Y @ w > -width * np.linalg.norm(w[:d])):
            return w, updates, True
    return w, updates, False


def rows_of(name):
    if name.startswith("drawn"):
        return problem(int(name[-1]), separable=False)
    seed, spread = name.split("-")[1:]
    return make_blobs(40, centers=2, cluster_std=float(spread), random_state=int(seed))


@pytest.mark.parametrize("rho", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("width", [0.2, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", ["drawn 0", "drawn 1", "drawn 2", "blobs-4-2", "blobs-5-3", "blobs-6-2", "blobs-7-3"])
def test_the_vector_is_that_of_the_printed_algorithm(name, width, rho):
    X, y = rows_of(name)
    Y, d = patterns(X, y, rho), X.shape[1]
    w, updates, ended = algorithm_4(Y, d, width, 0.5, 300)
    space = {"intercept_scaling": rho} if rho else ORIGIN
    model = as_printed(MarginFuzzyPerceptron, width, 0.5, "errors", max_iter=300, **space).fit(X, y)
    assert (model.converged_, model.n_updates_) == (ended, updates)
    if ended:
        close(w, vector(model, rho))
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("corrects", ["errors", "beyond"])
def test_no_row_is_beyond_the_band_at_the_end(corrects):
    ended = 0
    for n in (6, 20):
        for seed in range(40):
            X, y = make_blobs(n, centers=2, cluster_std=2.0, random_state=seed)
            for rho, options in ((1.0, {}), (0.0, ORIGIN)):
                model = as_printed(MarginFuzzyPerceptron, 1.0, corrects=corrects, max_iter=300, **options).fit(X, y)
                if model.converged_:
                    ended += 1
                    assert min(patterns(X, y, rho) @ vector(model, rho)) > -np.linalg.norm(model.coef_)
    assert ended > 60


def test_it_need_not_end_where_the_other_reading_does():
    """Updates of the printed algorithm and of the one that leaves errors within the band alone."""
    X, y = rows_of("drawn 1")
    counts = [
        as_printed(MarginFuzzyPerceptron, 0.5, corrects=corrects, **ORIGIN).fit(X, y).n_updates_
        for corrects in ("errors", "beyond")
    ]
    assert counts[0] == algorithm_4(patterns(X, y, 0.0), X.shape[1], 0.5)[1] == 15
    assert counts[1] != 15


def test_machines_and_the_extended_space_are_tested_too():
    X, y = make_blobs(60, centers=3, cluster_std=2.0, random_state=2)
    joint = as_printed(MarginFuzzyPerceptron, 2.0, corrects="errors", multi_class="joint", max_iter=500).fit(X, y)
    scores = X @ joint.coef_.T + joint.intercept_
    rivals = np.where(np.arange(3) == y[:, None], -np.inf, scores).max(axis=1)
    assert joint.converged_
    assert np.all(scores[np.arange(60), y] - rivals > -2.0 * np.linalg.norm(joint.coef_))
    X, y = problem(1, separable=False)
    Y = np.column_stack([patterns(X, y), 0.7 * np.eye(len(X))])
    flat = np.arange(Y.shape[1]) != X.shape[1]
    w, updates = np.zeros(Y.shape[1]), 0
    while not updates or np.any(Y @ w <= -0.3 * np.linalg.norm(w[flat])):
        for q in Y:
            if q @ w <= 0:
                w, updates = w + q, updates + 1
    model = as_printed(MarginFuzzyPerceptron, 0.3, corrects="errors", delta=0.7).fit(X, y)
    assert model.n_updates_ == updates
    close(w[: X.shape[1] + 1], vector(model))


def test_rows_beyond_memory_are_refused_where_all_are_tested_at_once():
    X, y = problem(2, separable=False)
    rows = from_blocks([(X[:15], y[:15]), (X[15:], y[15:])])
    with pytest.raises(UnavailableError, match="after each epoch"):
        MarginFuzzyPerceptron(corrects="errors", until="separated").fit(rows)
