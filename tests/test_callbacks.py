"""Progress through scikit-learn's callbacks, and fits that end early."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from cases import online
from fits import vectors
from sklearn.callback import CallbackContext, ProgressBar, ScoringMonitor
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import DynamicMargin, GreedyPerceptron, Perceptron, Pocket, VotedPerceptron
from separatrix.callbacks import MarginTrace

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(4)
SIDE = np.array([1.0, -2.0, 0.5])
X = rng.normal(size=(70, 3))
Y = (X @ SIDE + 0.3 > 0).astype(int)
FAR = X + 0.1 * np.outer(2 * Y - 1, SIDE)
NOISE = {2: rng.integers(0, 2, 70), 3: np.arange(70) % 3}


class Watcher:
    """Counts what it is reported; may stop or break the fit at a given piece."""

    def __init__(self, stop_at=None, error=None):
        self.stop_at, self.error = stop_at, error
        self.pieces, self.calls = [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if not hasattr(context, "measures"):
            self.calls.append("end")
            return False
        self.pieces.append((context.measures, fitted_estimator.predict(X)))
        assert fitted_estimator is not estimator
        if len(self.pieces) == self.stop_at:
            if self.error:
                raise self.error
            return True
        return False


@online
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("factor", [1.5, 4.0])
def test_margin_trace(cls, classes, factor):
    y = NOISE[classes]
    trace = MarginTrace(factor)
    model = cls(max_iter=30).set_callbacks(trace).fit(X, y)
    assert set(trace.rows[0]) == {"problem", "visits", "epochs", "updates", "upper", "lower", "seconds"}
    problems = [[row for row in trace.rows if row["problem"] == k] for k in range(1 if classes == 2 else 3)]
    assert sum(map(len, problems)) == len(trace.rows)
    seconds = [row["seconds"] for row in trace.rows]
    assert seconds == sorted(seconds)
    for rows in problems:
        visits = [row["visits"] for row in rows]
        assert all(a < b for a, b in pairwise(visits))
        for name in ("updates", "epochs"):
            assert all(a[name] <= b[name] for a, b in pairwise(rows))
        assert all(row["upper"] >= row["lower"] for row in rows if row["lower"] is not None)
        reached = 0.0
        for row in rows:  # a lower bound exactly when the visits have grown by the factor
            assert (row["lower"] is not None) == (row["visits"] >= reached)
            if row["lower"] is not None:
                reached = factor * row["visits"]
    for name, together in (("visits", sum), ("updates", sum), ("epochs", max)):
        assert together(rows[-1][name] for rows in problems) == getattr(model, f"n_{name}_")
    plain = cls(max_iter=30).fit(X, y)
    np.testing.assert_array_equal(vectors(model), vectors(plain))  # who watches does not disturb
    assert model.n_visits_ == plain.n_visits_


@pytest.fixture(scope="module")
def best():
    """Nearly the best margin."""
    return DynamicMargin(epsilon=0.005, max_iter=10**5).fit(FAR, Y).certificate_


@online
def test_what_is_traced_is_true(cls, best):
    trace = MarginTrace(1.2)
    model = cls(max_iter=300).set_callbacks(trace).fit(FAR, Y)
    for row in trace.rows:
        assert row["upper"] >= best.lower * (1 - 1e-12)
        assert row["lower"] is None or row["lower"] <= best.upper
    if np.isfinite(model.certificate_.upper):
        assert trace.rows[-1]["upper"] == pytest.approx(model.certificate_.upper, rel=1e-9)


def test_a_trace_begins_anew_with_every_fit():
    trace = MarginTrace()
    model = Perceptron().set_callbacks(trace).fit(FAR, Y)
    first = [row["visits"] for row in trace.rows]
    model.fit(FAR, Y)
    assert [row["visits"] for row in trace.rows] == first
    for factor in (1.0, 0.5, float("nan")):
        with pytest.raises(ValueError, match="factor"):
            MarginTrace(factor)


@online
@pytest.mark.parametrize("classes", [2, 3])
def test_the_fitted_estimator_can_predict(cls, classes):
    watcher = Watcher()
    model = cls(max_iter=20).set_callbacks(watcher).fit(X, NOISE[classes])
    assert all(set(predicted) <= set(model.classes_) for _, predicted in watcher.pieces)
    np.testing.assert_array_equal(watcher.pieces[-1][1], model.predict(X))
    assert watcher.calls == ["setup", "end", "teardown"]


@online
def test_a_callback_stops_the_fit(cls):
    for stop_at in (1, 4):
        watcher = Watcher(stop_at)
        model = cls(max_iter=500, warm_start=True).set_callbacks(watcher)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # one who stops on purpose needs no advice
            model.fit(X, NOISE[2])
        assert model.stop_reason_ == "callback"
        assert model.converged_ is False
        assert len(watcher.pieces) == stop_at
        assert model.n_visits_ == watcher.pieces[-1][0]["visits"]
        assert model.certificate_.verify(X, NOISE[2])
        assert watcher.calls == ["setup", "end", "teardown"]
        model.set_callbacks().set_params(max_updates=100).fit(X, NOISE[2])
        whole = cls(max_iter=500, max_updates=100).fit(X, NOISE[2])
        if whole.stop_reason_ == "max_updates":  # what was stopped goes on as if it had not been
            np.testing.assert_array_equal(vectors(model), vectors(whole))
            assert model.n_visits_ == whole.n_visits_


@online
def test_a_callback_stops_all_problems(cls):
    watcher = Watcher(2)
    model = cls(max_iter=500).set_callbacks(watcher).fit(X, NOISE[3])
    assert len(watcher.pieces) == 2
    assert model.stop_reason_ == "callback"
    assert model.n_visits_ == watcher.pieces[-1][0]["visits"]
    assert len(model.certificates_) == 3
    assert model.predict(X).shape == (70,)


def test_an_error_in_a_callback_is_the_users():
    watcher = Watcher(2, error=ZeroDivisionError("mine"))
    model = Perceptron(warm_start=True).set_callbacks(watcher)
    with pytest.raises(ZeroDivisionError, match="mine"):
        model.fit(X, NOISE[2])
    assert watcher.calls == ["setup", "teardown"]
    model.set_callbacks().fit(FAR[:50], Y[:50])  # nothing of the broken fit is taken for a fit of these data
    assert model.certificate_.verify(FAR[:50], Y[:50])
    assert model.converged_


def test_no_callback_no_trace(monkeypatch):
    def never(*_, **__):
        raise AssertionError("called without a callback")

    monkeypatch.setattr(CallbackContext, "subcontext", never)
    model = Perceptron(max_iter=20).fit(X, NOISE[3])
    assert not any("callback" in name for name in vars(model))
    model = Perceptron(max_iter=20).set_callbacks(MarginTrace()).set_callbacks().fit(X, NOISE[3])
    assert not any("callback" in name for name in vars(model))


def test_the_progress_bar(capsys):
    bar = ProgressBar()
    model = Perceptron(max_iter=20).set_callbacks(bar).fit(X, NOISE[3])
    np.testing.assert_array_equal(model.coef_, Perceptron(max_iter=20).fit(X, NOISE[3]).coef_)
    assert "Perceptron" in capsys.readouterr().out


def test_the_scoring_monitor():
    monitor = ScoringMonitor(scoring="accuracy")
    for cls in (Perceptron, VotedPerceptron, Pocket):
        model = cls(max_iter=20).set_callbacks(monitor).fit(X, NOISE[3])
        scores = [row["accuracy"] for row in monitor.get_logs(select="most_recent").data if "accuracy" in row]
        scores = [score for score in scores if score is not None and not np.isnan(score)]
        assert len(scores) > 3
        assert scores[-1] == pytest.approx(model.score(X, NOISE[3]))


@pytest.mark.filterwarnings("ignore:The estimator .* does not support callbacks")
def test_inside_other_estimators():
    trace = MarginTrace()
    pipe = make_pipeline(StandardScaler(), DynamicMargin(max_iter=200).set_callbacks(trace)).fit(FAR, Y)
    assert trace.rows[-1]["visits"] == pipe[-1].n_visits_
    search = GridSearchCV(Perceptron(max_iter=50).set_callbacks(MarginTrace()), {"margin": [0.0, 1.0]}, cv=3)
    plain = GridSearchCV(Perceptron(max_iter=50), {"margin": [0.0, 1.0]}, cv=3).fit(X, NOISE[2])
    search.fit(X, NOISE[2])
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(search.best_estimator_.coef_, plain.best_estimator_.coef_)
    over = GridSearchCV(Perceptron(max_iter=50), {"margin": [0.0, 1.0]}, cv=3).set_callbacks(ProgressBar())
    np.testing.assert_array_equal(over.fit(X, NOISE[2]).best_estimator_.coef_, plain.best_estimator_.coef_)
    assert len(cross_val_score(Perceptron(max_iter=50).set_callbacks(MarginTrace()), X, NOISE[2], cv=3)) == 3


def overlapping(n=300):
    return make_blobs(n, centers=[[-1.0, 0.0], [1.0, 0.0]], cluster_std=1.2, random_state=0)


@online
@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_early_stopping(cls, fraction):
    points, y = overlapping()
    until = "separated" if cls is GreedyPerceptron else "accurate"  # which ends after 300 updates
    model = cls(early_stopping=True, validation_fraction=fraction, max_iter=3000, until=until)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(points, y)
    assert model.stop_reason_ == ("converged" if model.converged_ else "early_stopping")
    assert model.n_epochs_ < 3000
    held = model.validation_rows_
    assert model.certificate_.sample_weight is None  # the certificate speaks of all rows
    assert len(held) == round(300 * fraction)
    assert np.mean(y[held]) == pytest.approx(0.5, abs=0.02)  # classes in proportion
    assert model.certificate_.verify(points, y)
    assert model.n_visits_ <= model.n_epochs_ * (300 - len(held)) + 300
    again = cls(early_stopping=True, validation_fraction=fraction, max_iter=3000, until=until).fit(points, y)
    np.testing.assert_array_equal(vectors(model), vectors(again))


def test_patience_counts_epochs():
    points, y = overlapping()
    for patience in (1, 3, 8):
        model = Perceptron(early_stopping=True, n_iter_no_change=patience, max_iter=3000, warm_start=True)
        watcher = Watcher()
        model.set_callbacks(watcher).fit(points, y)
        held = np.isin(np.arange(300), model.validation_rows_)
        scores = {}
        for measures, predicted in watcher.pieces:
            if measures["visits"] % (300 - held.sum()) == 0:
                scores[measures["epochs"]] = np.mean(predicted[held] == y[held])
        best = max(scores, key=lambda e: (scores[e], -e))
        assert sorted(scores) == list(range(1, model.n_epochs_ + 1))
        assert model.n_epochs_ == best + patience  # so many epochs without a better score, and not one more


def test_patience_without_held_out_rows():
    points, y = overlapping()
    for patience in (1, 5):
        watcher = Watcher()
        model = (
            Perceptron(n_iter_no_change=patience, max_iter=3000, until="separated")
            .set_callbacks(watcher)
            .fit(points, y)
        )
        assert model.stop_reason_ == "early_stopping"
        assert model.certificate_.sample_weight is None
        updates = {m["epochs"]: m["updates"] for m, _ in watcher.pieces if m["visits"] % 300 == 0}
        per_epoch = {e: updates[e] - updates.get(e - 1, 0) for e in updates}
        best = min(per_epoch, key=lambda e: (per_epoch[e], e))
        assert model.n_epochs_ == best + patience
    assert (
        Perceptron(max_iter=50, until="separated").fit(points, y).stop_reason_ == "max_iter"
    )  # None never stops for that


def test_nothing_to_hold_out():
    with pytest.raises(ValueError, match="early_stopping cannot hold out"):
        Perceptron(early_stopping=True).fit(X[:4], [0, 0, 0, 1])
    weight = np.where(np.arange(70) < 20, 1.0, 0.0)
    model = Perceptron(early_stopping=True, validation_fraction=0.2, max_iter=50)
    model.fit(X, NOISE[2], sample_weight=weight)
    assert len(model.validation_rows_) == 4
    assert np.all(weight[model.validation_rows_] > 0)
    assert model.certificate_.verify(X, NOISE[2])
