"""One-vs-rest and one-vs-one: pairs, votes, threads, and regions that nobody or several claim (DHS fig. 5.3)."""

import signal
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import ESTIMATORS, clouds
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsOneClassifier

from separatrix import (
    CRAMMA,
    BatchPerceptron,
    DataError,
    KernelMaxMargin,
    KernelPerceptron,
    MaxMargin,
    Perceptron,
    VotedPerceptron,
)
from separatrix.callbacks import Callback, MarginTrace
from separatrix.passes.binary_problems import claims_by_pairs, pairs, votes

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@quiet
@pytest.mark.parametrize("cls", [cls for cls in ESTIMATORS if "multi_class" in cls().get_params()])
def test_pairs_are_estimators_of_two_classes(cls):
    X, y = clouds(spread=1.0, n=32)
    how = {"max_iter": 15} if "max_iter" in cls().get_params() else {}
    model = cls(multi_class="ovo", **how).fit(X, y)
    names = model.classes_.tolist()
    assert model.multi_class_ == "ovo"
    assert [c.class_pair for c in model.certificates_] == [(names[i], names[j]) for i, j in pairs(4)]
    assert model.certificate_.upper == min(c.upper for c in model.certificates_)
    for p, certificate in enumerate(model.certificates_):
        assert certificate.verify(X, y)
        if "random_state" not in cls().get_params() and cls is not VotedPerceptron:
            rows = np.isin(y, certificate.class_pair)
            alone = cls(**how).fit(X[rows], y[rows])
            np.testing.assert_allclose(alone.coef_[0], model.coef_[p], atol=1e-9)
            assert alone.certificate_.upper == certificate.upper
    if cls is not VotedPerceptron:
        assert model.coef_.shape == (6, 3)
    assert model.decision_function(X).shape == (32, 4)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@quiet
@pytest.mark.parametrize("cls", [Perceptron, MaxMargin])
def test_weights_of_pairs(cls):
    X, y = clouds(spread=1.5)
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, 2.0)
    model = cls(multi_class="ovo").fit(X, y, weight)
    without = cls(multi_class="ovo").fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_array_equal(model.coef_, without.coef_)
    assert all(c.verify(X, y) for c in model.certificates_)


def test_votes_are_those_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    ours = MaxMargin(multi_class="ovo").fit(X, y)
    theirs = OneVsOneClassifier(MaxMargin()).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))


def test_votes_and_claims_by_hand():
    scores = np.array([[1.0, 2.0, 0.5], [1.0, -2.0, 3.0], [-1.0, -1.0, 0.0], [-2.0, 3.0, -1.0]])  # pairs 01, 02, 12
    np.testing.assert_array_equal(votes(scores, 3).round(), [[0, 1, 2], [1, 1, 1], [2, 1, 0], [1, 1, 1]])
    expected = [[False, False, True], [False, False, False], [True, False, False], [False, False, False]]
    np.testing.assert_array_equal(claims_by_pairs(scores, 3), expected)


def test_regions_without_or_with_several_categories():
    """Three clouds around the origin: with one-vs-rest the far corners between two of them, the middle is nobody's."""
    X, y = clouds(c=3, spread=0.3, n=30)
    X = X[:, :2]
    rest = MaxMargin(np.inf).fit(X, y)
    grid = np.stack(np.meshgrid(np.linspace(-9, 9, 41), np.linspace(-9, 9, 41)), axis=-1).reshape(-1, 2)
    counts = rest.classes_claiming(grid).sum(axis=1)
    np.testing.assert_array_equal(counts, (grid @ rest.coef_.T + rest.intercept_ > 0).sum(axis=1))
    np.testing.assert_array_equal(rest.is_ambiguous(grid), counts != 1)
    assert {0, 1, 2} >= set(counts.tolist()) > {1}
    assert rest.is_ambiguous([[0.0, 0.0]]).all()
    assert not rest.is_ambiguous(X).any()
    class_pairs = MaxMargin(np.inf, multi_class="ovo").fit(X, y)
    assert set(class_pairs.classes_claiming(grid).sum(axis=1).tolist()) <= {0, 1}
    machine = MaxMargin(np.inf, multi_class="joint").fit(X, y)
    assert not machine.is_ambiguous(grid).any()
    two = MaxMargin().fit(X[y != "a"], y[y != "a"])
    assert two.classes_claiming(X).shape == (30, 2)
    assert not two.is_ambiguous(X).any()


@quiet
@pytest.mark.parametrize("mode", ["ovr", "ovo"])
@pytest.mark.parametrize("cls", [Perceptron, CRAMMA, VotedPerceptron])
def test_threads_change_nothing(cls, mode):
    X, y = clouds(spread=2.0, n=60)
    before = set(threading.enumerate())
    one, many = (cls(multi_class=mode, max_iter=50, n_jobs=jobs).fit(sp.csr_matrix(X), y) for jobs in (None, 4))
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))
    assert (one.n_updates_, one.n_visits_, one.stop_reason_) == (many.n_updates_, many.n_visits_, many.stop_reason_)
    assert all(t.daemon for t in set(threading.enumerate()) - before)


@pytest.mark.parametrize("mode", ["ovr", "ovo"])
def test_an_error_in_a_thread_is_raised(mode):
    X, y = clouds()
    with pytest.raises(DataError, match="zero"):
        Perceptron(multi_class=mode, fit_intercept=False, n_jobs=3).fit(np.zeros_like(X), y)
    with pytest.raises(ZeroDivisionError):
        Perceptron(eta=lambda k: 1 / 0, multi_class=mode, n_jobs=3).fit(X, y)


@quiet
@pytest.mark.parametrize("jobs", [None, 2])
@pytest.mark.parametrize("mode", ["ovr", "ovo"])
def test_ctrl_c_keeps_what_there_is(mode, jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 20)), rng.integers(0, 4, 400)
    model = Perceptron(multi_class=mode, max_iter=10**9, n_jobs=jobs, until="separated")
    Perceptron(max_iter=1, until="separated").fit(X, y)  # to compile takes longer than the timer waits
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    clock = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.perf_counter() - clock < 20
    assert model.converged_ is False
    assert model.stop_reason_ == "interrupted"
    assert model.coef_.shape == (4 if mode == "ovr" else 6, 20)
    assert model.predict(X).shape == (400,)


class At(Callback):
    """Ends the fit at the first word of a problem: by asking for it, or with an error."""

    def __init__(self, problem, error=None):
        self.problem, self.error = problem, error

    def on_fit_task_end(self, estimator, context):
        if getattr(context, "measures", {}).get("problem") != self.problem:
            return False
        if self.error:
            raise self.error
        return True


@quiet
@pytest.mark.parametrize(
    "cls", [Perceptron, VotedPerceptron, BatchPerceptron, MaxMargin, KernelPerceptron, KernelMaxMargin]
)
@pytest.mark.parametrize("mode", ["ovr", "ovo"])
def test_a_fit_that_ends_early_has_all_attributes(cls, mode):
    """Problems that were not reached stand at their start."""
    X, y = clouds(spread=2.0, n=60)
    model = cls(multi_class=mode).set_callbacks(At(1)).fit(X, y)
    whole = cls(multi_class=mode).fit(X, y)
    assert set(vars(whole)) <= set(vars(model))
    assert len(model.certificates_) == len(whole.certificates_)
    assert model.certificates_[0].lower == whole.certificates_[0].lower
    assert not model.converged_
    assert model.predict(X).shape == (60,)
    assert getattr(model, "stop_reason_", "callback") == "callback"
    model = cls(multi_class=mode).set_callbacks(At(1, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert set(vars(whole)) <= set(vars(model))
    assert not model.converged_
    assert model.predict(X).shape == (60,)
    assert getattr(model, "stop_reason_", "interrupted") == "interrupted"


@quiet
def test_pairs_resume_exactly():
    X, y = clouds(spread=2.0)
    whole = Perceptron(multi_class="ovo", max_iter=9, until="separated").fit(X, y)
    parts = Perceptron(multi_class="ovo", max_iter=3, warm_start=True, until="separated")
    for _ in range(3):
        parts.fit(X, y)
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    assert parts.n_updates_ == whole.n_updates_
    again = Perceptron(multi_class="ovo").fit(X[:4], y[:4], coef_init=np.ones((6, 3)), intercept_init=np.zeros(6))
    assert again.coef_.shape == (6, 3)
    with pytest.raises(ValueError, match="expected \\(6, 3\\)"):
        Perceptron(multi_class="ovo").fit(X, y, coef_init=np.ones((4, 3)))


@quiet
def test_pairs_in_blocks():
    X, y = clouds(n=80)
    model = Perceptron(multi_class="ovo", shuffle=False)
    for first in range(0, 80, 20):
        model.partial_fit(X[first : first + 20], y[first : first + 20], classes=np.unique(y))
    for p, (i, j) in enumerate(pairs(4)):
        rows = np.isin(y, model.classes_[[i, j]])
        alone = Perceptron(shuffle=False)
        for first in range(0, 80, 20):
            block = slice(first, first + 20)
            alone.partial_fit(X[block][rows[block]], y[block][rows[block]], classes=model.classes_[[i, j]])
        np.testing.assert_array_equal(alone.coef_[0], model.coef_[p])
    certificate = model.certify(X, y)
    assert certificate.lower is not None
    with pytest.raises(DataError, match="nothing to start their problem from"):
        Perceptron(multi_class="ovo").partial_fit(X[y == "a"], y[y == "a"], classes=np.unique(y))


@quiet
def test_callbacks_see_all_pairs():
    X, y = clouds(spread=1.5)
    trace = MarginTrace()
    model = Perceptron(multi_class="ovo", max_iter=20, n_jobs=2).set_callbacks(trace).fit(X, y)
    assert sorted({row["problem"] for row in trace.rows}) == list(range(6))
    last = {row["problem"]: row["updates"] for row in trace.rows}
    assert sum(last.values()) == model.n_updates_


@quiet
def test_early_stopping_of_pairs():
    X, y = clouds(spread=2.5, n=200)
    model = Perceptron(multi_class="ovo", early_stopping=True).fit(X, y)
    assert 0 < len(model.validation_rows_) < 200
    assert all(c.verify(X, y) for c in model.certificates_)


def test_convergence_is_judged_by_all_pairs():
    X, y = clouds()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Perceptron(multi_class="ovo").fit(X, y).converged_
    with pytest.warns(ConvergenceWarning):
        Perceptron(multi_class="ovo", max_iter=1, until="separated").fit(X, y)
