"""Pictures: what is drawn is what was computed, and nothing of the user's is touched."""

import builtins
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from cases import EVERYONE, blobs_2d, margin_6d, one_feature, overlapping
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import DataError, DynamicMargin, MaxMargin, MissingExtraError, Perceptron, VotedPerceptron
from separatrix.callbacks import MarginTrace
from separatrix.plots import (
    BoundaryDisplay,
    BoundsDisplay,
    ComparisonDisplay,
    ConfusionDisplay,
    MarginDisplay,
    PathDisplay,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HARD = MaxMargin(C=np.inf)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def rendered(display):
    """Draw it for real: many mistakes show only then."""
    display.figure_.canvas.draw()
    assert display.figure_.axes[0].get_title(loc="left") or display.figure_._suptitle is not None
    return display


def test_boundary_of_two_features():
    X, y = blobs_2d()
    model = HARD.fit(X, y)
    display = rendered(BoundaryDisplay.from_estimator(model, X, y))
    np.testing.assert_array_equal(display.points, X)
    np.testing.assert_array_equal(display.support, model.support_)
    assert "every row classified correctly" in display.title
    xs, ys, values, level = display.grid
    assert level == 1.0
    inner = model.decision_function([[xs[3], ys[7]]])
    assert values[7, 3] == pytest.approx(inner[0])


def test_boundary_of_many_features_keeps_distances():
    X, y = margin_6d()
    model = make_pipeline(StandardScaler(), MaxMargin(C=np.inf)).fit(X, y)
    display = rendered(BoundaryDisplay.from_estimator(model, X, y))
    np.testing.assert_allclose(display.points[:, 0], model[-1].signed_distance(model[:-1].transform(X)))
    assert display.band == pytest.approx(model[-1].geometric_margin_)
    inner = model[:-1].transform(X)
    rest = inner - inner.mean(axis=0)
    w = model[-1].coef_[0] / np.linalg.norm(model[-1].coef_[0])
    rest -= np.outer(rest @ w, w)
    first = np.linalg.svd(rest)[2][0]
    assert np.var(rest @ first) >= np.var(display.points[:, 1]) > 0.98 * np.var(rest @ first)
    sparse = BoundaryDisplay.from_estimator(model[-1], sp.csr_matrix(inner), y)
    np.testing.assert_allclose(sparse.points, display.points, atol=1e-9)
    nearest = np.abs(display.points[:, 0]) <= display.band * (1 + 1e-9)
    assert set(np.flatnonzero(nearest)) >= set(model[-1].support_)


@pytest.mark.parametrize("cls", EVERYONE, ids=lambda c: c.__name__)
def test_every_estimator_can_be_drawn(cls):
    X, y = overlapping()
    model = cls(**({"max_iter": 3} if "max_iter" in cls().get_params() else {})).fit(X, y)
    figure = plt.figure()
    above, below = figure.subplots(2)
    assert BoundaryDisplay.from_estimator(model, X, y, ax=above).title in above.get_title(loc="left")
    assert len(MarginDisplay.from_estimator(model, X, y, ax=below).margins) == len(y)
    assert above.collections
    assert below.patches


def test_boundary_of_one_feature_and_of_three_classes():
    X, y = one_feature()
    rendered(BoundaryDisplay.from_estimator(HARD.fit(X, y), X, y))
    X, _ = margin_6d()
    y = np.arange(len(X)) % 3
    rendered(BoundaryDisplay.from_estimator(MaxMargin().fit(X, y), X, y))
    rendered(BoundaryDisplay.from_estimator(MaxMargin().fit(X[:, :2], y), X[:, :2], y))
    with pytest.raises(DataError, match="no weight vector"):
        BoundaryDisplay.from_estimator(VotedPerceptron(max_iter=2).fit(X, y), X, y)


def test_margins_are_signed_distances():
    X, y = overlapping()
    model = MaxMargin().fit(X, y)
    display = rendered(MarginDisplay.from_estimator(model, X, y))
    np.testing.assert_allclose(display.margins, y * model.signed_distance(X))
    wrong = int(np.sum(model.predict(X) != y))
    assert f"{wrong} of 30 rows on the wrong side" in display.ax_.get_title(loc="left")
    three = np.arange(30) % 3
    many = MaxMargin().fit(X, three)
    display = rendered(MarginDisplay.from_estimator(many, X, three))
    assert np.sum(display.margins > 0) == np.sum(many.predict(X) == three)


def test_bounds_enclose_the_best_margin():
    X, y = margin_6d()
    best = MaxMargin(C=np.inf).fit(X, y).certificate_
    display = rendered(BoundsDisplay.from_estimator(DynamicMargin(epsilon=0.05, until="separated"), X, y))
    assert display.unit == "updates"
    assert np.all(display.upper >= best.lower * (1 - 1e-9))
    assert np.all(display.measured[:, 1] <= best.upper * (1 + 1e-9))
    assert display.measured[:, 1].max() >= 0.95 * best.lower
    passes = rendered(BoundsDisplay.from_estimator(MaxMargin(C=np.inf), X, y))
    assert passes.unit == "passes over the data"
    trace = MarginTrace()
    Perceptron().set_callbacks(trace).fit(X, np.arange(len(X)) % 3)
    rendered(BoundsDisplay.from_trace(trace, problem=2))


def test_the_path_ends_at_the_weights():
    X, y = blobs_2d()
    display = rendered(PathDisplay.from_estimator(Perceptron(), X, y))
    w = Perceptron().fit(X, y).coef_[0]
    np.testing.assert_allclose(display.path[0], 0.0)
    np.testing.assert_allclose(display.path[-1], w / np.linalg.norm(w))
    X, y = margin_6d()
    display = rendered(PathDisplay.from_estimator(DynamicMargin(), X, y))
    np.testing.assert_allclose(display.path[-1], [1.0, 0.0], atol=1e-12)
    with pytest.raises(DataError, match="no weight vector"):
        PathDisplay.from_estimator(VotedPerceptron(), X, y)


def test_comparison_and_confusion():
    rows = [
        {"name": "A", "share": 0.97, "train": 1.0, "cv": 0.9, "seconds": 0.1},
        {"name": "B", "share": None, "train": 0.8, "cv": None, "seconds": 2.0},
        {"name": "C", "share": -0.2, "train": 0.7, "cv": 0.6, "seconds": 1e-4},
    ]
    display = rendered(ComparisonDisplay.from_results(rows))
    assert [t.get_text() for t in display.axes_[0].get_yticklabels()] == ["A", "B", "C"]
    rows = [{**row, "share": None} for row in rows]
    assert len(rendered(ComparisonDisplay.from_results(rows)).axes_) == 2
    X, y = overlapping()
    model = MaxMargin().fit(X, y)
    confusion = rendered(ConfusionDisplay.from_estimator(model, X, y))
    right = int(np.sum(model.predict(X) == y))
    assert f"{right} of 30 rows right" in confusion.ax_.get_title(loc="left")


def test_the_users_axes_and_settings_are_respected():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    X, y = blobs_2d()
    display = BoundaryDisplay.from_estimator(MaxMargin().fit(X, y), X, y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_install_line_is_told(monkeypatch):
    real = builtins.__import__

    def missing(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    X, y = blobs_2d()
    model = MaxMargin().fit(X, y)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[plot\]'"):
        BoundaryDisplay.from_estimator(model, X, y)


def test_importing_the_displays_does_not_import_matplotlib():
    code = "import sys, separatrix.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
