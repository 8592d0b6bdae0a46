"""One deadline for a whole call, by a clock that these tests move: what is begun after it, and what a fit leaves."""

import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import separatrix
from separatrix import (
    DataError,
    KernelMaxMargin,
    LinearProgram,
    MaxMargin,
    VotedPerceptron,
    cancellation,
    fewest_errors,
    max_margin_path,
    negative_margin,
    separability,
)
from separatrix.certificates import decision
from separatrix.certificates import negative_margin as hulls
from separatrix.estimators import kernel_max_margin
from separatrix.online.training import Training
from separatrix.passes.kernel_functions import Kernel
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.solvers import choice as solvers
from separatrix.solvers import linear_program
from separatrix.solvers.kernel_problem import KernelProblem
from separatrix.space import Space

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
INF = float("inf")
PAIRS = 15  # of six classes


@pytest.fixture
def clock(monkeypatch):
    """Stands still but for what a test adds to it."""
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(cancellation, "time", SimpleNamespace(perf_counter=lambda: now.seconds))
    return now


def counted(monkeypatch, clock, module, name, seconds=1.0):
    """A function that takes so many seconds, and how often it was called."""
    calls, work = [], getattr(module, name)

    def slow(*args, **options):
        calls.append(threading.current_thread().name)
        clock.seconds += seconds
        return work(*args, **options)

    monkeypatch.setattr(module, name, slow)
    return calls


def blobs(classes, n=300, d=4, far=6.0):
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    return far * rng.normal(size=(classes, d))[y] + rng.normal(size=(n, d)) + 20.0, y


def linear(**params):
    return MaxMargin(100.0, **params), solvers, "solve"


def kernel(**params):
    return KernelMaxMargin(100.0, **params), kernel_max_margin, "solve"


def program(**params):
    return LinearProgram(**params), linear_program, "linprog"


@pytest.mark.parametrize("family", [linear, kernel, program])
@pytest.mark.parametrize("mode", ["ovr", "ovo"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_no_problem_is_begun_after_the_deadline(monkeypatch, clock, family, mode, n_jobs):
    model, module, name = family(multi_class=mode, n_jobs=n_jobs, max_time=2.5)
    calls = counted(monkeypatch, clock, module, name)
    X, y = blobs(6)
    model.fit(X, y)
    assert 3 <= len(calls) <= 3 + (n_jobs or 0)
    assert not model.converged_
    assert model.stop_reason_ == "max_time"
    assert len(model.certificates_) == (6 if mode == "ovr" else PAIRS)
    assert model.score(X, y) > 0.7


def test_pairs_that_another_limit_ended_do_not_hide_the_deadline(monkeypatch, clock):
    calls = counted(monkeypatch, clock, solvers, "solve")
    X, y = blobs(6, far=0.1)
    model = MaxMargin(100.0, multi_class="ovo", solver="dual", max_passes=1, max_time=2.5).fit(X, y)
    assert len(calls) == 3
    assert model.stop_reason_ == "max_time"


def test_threads_see_the_deadline(monkeypatch, clock):
    calls = counted(monkeypatch, clock, solvers, "solve")
    X, y = blobs(6)
    MaxMargin(n_jobs=2, max_time=2.5).fit(X, y)
    assert all(name.startswith("ThreadPoolExecutor") for name in calls)


ESTIMATORS = [
    *(MaxMargin(**how) for how in ({}, {"loss": "hinge"}, {"C": INF}, {"fit_intercept": "unpenalized"})),
    *(MaxMargin(multi_class=mode, fit_intercept=b) for mode in ("ovo", "joint") for b in (True, False)),
    MaxMargin(C=INF, multi_class="ovo"),
    MaxMargin(loss="hinge", multi_class="joint"),
    *(KernelMaxMargin(kernel=k, multi_class=m) for k in ("rbf", "linear", "precomputed") for m in ("ovr", "ovo")),
    *(KernelMaxMargin(C=INF, fit_intercept=b) for b in (True, False)),
    *(LinearProgram(c, multi_class=mode) for c in ("perceptron", "minimax", "l1") for mode in ("ovr", "ovo")),
]


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("model", ESTIMATORS, ids=str)
def test_no_time_at_all_leaves_a_model(model, classes, tmp_path):
    X, y = blobs(classes)
    X = X @ X.T if getattr(model, "kernel", "") == "precomputed" else X
    model = clone(model).set_params(max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="stopped before it converged"):
        model.fit(X, y)
    assert not model.converged_
    assert model.stop_reason_ == "max_time"
    assert model.score(X, y) > (0.7 if model.fit_intercept else 0.15)
    assert np.all(model.decision_function(X).any(axis=0))
    assert all(c.separable is None for c in model.certificates_ if c.lower is None)
    separatrix.save(model, tmp_path / "model.sx")
    again = separatrix.load(tmp_path / "model.sx")
    again = again[-1] if hasattr(again, "steps") else again
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_means_that_cost_little_are_measured():
    X, y = blobs(2)
    model = MaxMargin(max_time=1e-9).fit(X, y)
    assert 0 < model.certificate_.lower <= model.certificate_.upper < INF
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_vectors_are_those_of_the_nearest_mean(sparse):
    X, y = blobs(5)
    means = np.array([X[y == k].mean(axis=0) for k in range(5)])
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    for mode in ("ovo", "joint"):
        model = MaxMargin(multi_class=mode, max_time=1e-9).fit(sp.csr_matrix(X) if sparse else X, y)
        np.testing.assert_array_equal(model.predict(X), nearest)


def test_a_path_has_one_deadline(monkeypatch, clock):
    calls = counted(monkeypatch, clock, solvers, "solve")
    X, y = blobs(2)
    models = max_margin_path(X, y, [0.1, 1.0, 10.0, 100.0], max_time=2.5)
    assert len(calls) == 3
    assert [m.stop_reason_ == "max_time" for m in models] == [False, False, True, True]
    np.testing.assert_array_equal(models[3].coef_, models[2].coef_)


def test_the_questions_about_all_classes_have_one_deadline(monkeypatch, clock):
    calls = counted(monkeypatch, clock, decision.solvers, "solve")
    X, y = blobs(6, far=0.1)
    answer = separability(X, y, max_time=2.5)
    assert len(calls) <= 6
    assert [a.separable for a in answer.one_vs_one.values()] == [None] * PAIRS


def test_the_search_through_facets_has_a_deadline(monkeypatch, clock):
    calls = counted(monkeypatch, clock, scipy.optimize, "linprog")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    answer = negative_margin(X, y, max_time=2.5)
    assert len(calls) == 3
    assert -INF < answer.lower <= answer.upper == 0.0
    whole = negative_margin(X, y, max_time=1000.0)
    assert answer.lower <= whole.lower <= whole.upper <= 0.0


def test_the_proof_before_the_search_has_the_same_deadline(monkeypatch, clock):
    counted(monkeypatch, clock, hulls, "separability", 5.0)
    calls = counted(monkeypatch, clock, scipy.optimize, "linprog")
    answer = negative_margin([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], max_time=4.0)
    assert not calls
    assert -INF < answer.lower <= answer.upper == 0.0
    counted(monkeypatch, clock, decision.solvers, "solve", 5.0)
    with pytest.raises(DataError, match="Raise max_time"):
        negative_margin([[0.0], [1.0], [2.0], [3.1]], [0, 1, 0, 1], max_time=1e-9)


def test_a_search_for_rows_has_one_deadline(monkeypatch, clock):
    from separatrix.certificates import packing

    calls = counted(monkeypatch, clock, packing, "decide")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 12)), rng.integers(0, 2, 200)
    answer = fewest_errors(X, y, max_time=3.5)
    assert len(calls) < 12
    assert 1 <= answer.lower <= answer.upper == len(answer.rows)
    rest = np.setdiff1d(np.arange(200), answer.rows)
    assert len(set(y[rest])) < 2 or separability(X[rest], y[rest]).separable


def test_a_call_within_a_call_has_its_own_deadline(clock):
    with cancellation.limited(5.0):
        clock.seconds += 4.0
        assert cancellation.Clock(10.0).left == pytest.approx(1.0)
        with cancellation.limited(3.0):
            clock.seconds += 2.0
            assert not cancellation.out_of_time()
        assert cancellation.out_of_time()
        with pytest.raises(cancellation.OutOfTimeError):
            cancellation.check_cancelled()
    assert not cancellation.out_of_time()


def test_a_kernel_keeps_time_for_its_certificate(clock, monkeypatch):
    """A row of the Gram matrix takes a second here, and forty rows support the vector."""
    gram = KernelPatterns.gram

    def slow(self, index, among=None):
        clock.seconds += len(index)
        return gram(self, index, among)

    monkeypatch.setattr("separatrix.solvers.kernel_problem.time", cancellation.time)
    X, y = blobs(2)
    patterns = KernelPatterns(X, 2.0 * y - 1.0, Space(1.0, 0.5, True), Kernel("rbf", 0.1, 3.0, 0.0))
    with cancellation.limited(1000.0):
        monkeypatch.setattr(KernelPatterns, "gram", slow)
        problem = KernelProblem(patterns, 1.0, np.ones(300), tol=0.0, megabytes=10.0)
        assert not problem.interrupted()
        problem.a[:40] = problem.alpha[:40] = 1.0
        clock.seconds += 900.0
        assert not problem.interrupted()
        clock.seconds += 10.0
        assert problem.interrupted()


def test_pairs_share_the_table():
    """Every row supports every pair here, and there are eight times as many values in all pairs as in the table."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 100)), rng.integers(0, 9, 9000)
    model = MaxMargin(100.0, multi_class="ovo", tol=1e-2)
    model.fit(X[:900], y[:900])
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(model.support_) > 8000
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert peak <= 3.0 * X.nbytes


def test_many_voters_make_visits_expensive(monkeypatch):
    X, y = blobs(2)
    costs = []
    train = Training.train

    def noted(self, *given, **options):
        costs.append(self.visit_cost())
        return train(self, *given, **options)

    monkeypatch.setattr(Training, "train", noted)
    VotedPerceptron(max_iter=1, max_voters=10, until="separated").fit(X, y)
    VotedPerceptron(max_iter=1, max_voters=10_000, until="separated").fit(X, y)
    assert costs[1] - costs[0] == 9_990
