"""Interactive figures: what is drawn is what was computed, in a page that needs nothing else and runs no label."""

import builtins
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from cases import blobs_2d, margin_6d, one_feature, overlapping
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import (
    DataError,
    DynamicMargin,
    KernelMaxMargin,
    MaxMargin,
    MissingExtraError,
    Perceptron,
    PiecewiseLinearMachine,
    VotedPerceptron,
    separability,
)
from separatrix.callbacks import MarginTrace

pytest.importorskip("bokeh", reason="interactive figures come with the view extra")

from bokeh.models import ColumnDataSource, GlyphRenderer, HBar, Image, ImageRGBA, Scatter, Select

import separatrix.plots
from separatrix.plots.interactive.canvas import FOLLOW_THEME, new_figure
from separatrix.plots.interactive.meeting_hulls import meeting_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HARD = MaxMargin(C=np.inf)
NAMES = [name for name in separatrix.plots.__all__ if name[0].islower()]
plots = SimpleNamespace(**{n: partial(getattr(separatrix.plots, n), interactive=True) for n in NAMES})
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


class Tags(HTMLParser):
    """What a browser would take for markup."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.sources = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]


def glyphs(shown, kind):
    return [r for r in shown.figure.select({"type": GlyphRenderer}) if isinstance(r.glyph, kind)]


def column(renderers, name):
    return np.concatenate([np.asarray(r.data_source.data[name]) for r in renderers])


def test_a_view_is_one_page_that_needs_no_network():
    X, y = blobs_2d()
    names = np.where(y > 0, HOSTILE, "$$x$$ \\(y\\)")
    shown = plots.boundary(HARD.fit(X, names), X, names, feature_names=[HOSTILE, "b"])
    found = Tags(shown.page())
    assert "img" not in found.tags
    assert not found.sources
    assert found.tags.count("script") == 4  # BokehJS, how much it tells, the figure, its colours
    assert "$$x$$" not in shown.page()
    assert len(shown.page()) < 2e6


def test_figures_have_a_background_that_is_seen_through():
    """Without one BokehJS draws parts of the former picture once more, with the frame."""
    assert new_figure().background_fill_color == "rgba(255, 255, 255, 0.0)"
    assert "background_fill_color: null, border_fill" not in FOLLOW_THEME


def test_a_view_saves_itself_and_shows_itself(tmp_path):
    X, y = blobs_2d()
    shown = plots.weights(HARD.fit(X, y))
    shown.save(tmp_path / "w.html")
    assert (tmp_path / "w.html").read_text().startswith("<!doctype html>")
    frame = shown._repr_html_()
    assert frame.startswith("<iframe")
    assert Tags(frame).tags == ["iframe"]


def test_boundary_of_two_features_shows_rows_regions_and_the_band():
    X, y = blobs_2d()
    model = HARD.fit(X, y)
    shown = plots.boundary(model, X, y, feature_names=["width", "length"])
    assert "every row classified correctly" in shown.title
    rows = [r for r in glyphs(shown, Scatter) if "about" in r.data_source.data]
    order = np.argsort(column(rows, "row"))
    np.testing.assert_allclose(np.column_stack([column(rows, "x"), column(rows, "y")])[order], X)
    assert column(rows, "about")[order][0] == f"width = {X[0, 0]:.4g}, length = {X[0, 1]:.4g}"
    (image,) = glyphs(shown, Image)
    winners = image.data_source.data["image"][0]
    assert set(np.unique(winners)) == {0, 1}
    legend = [item.label.value for item in shown.figure.legend[0].items]
    assert legend == ["boundary", "edge of the band", "0", "1", f"{len(model.support_)} support vectors"]


@pytest.mark.parametrize("cls", [KernelMaxMargin, Perceptron, PiecewiseLinearMachine, VotedPerceptron])
def test_estimators_of_every_kind_have_a_boundary(cls):
    X, y = overlapping()
    model = cls(**({"max_iter": 3} if "max_iter" in cls().get_params() else {})).fit(X, y)
    assert plots.boundary(model, X, y).title.startswith(cls.__name__)


def test_three_classes_of_many_features_have_exact_regions():
    X, y = load_iris(return_X_y=True)
    model = MaxMargin().fit(X, y)
    shown = plots.boundary(model, X, y)
    (image,) = glyphs(shown, Image)
    left, bottom = (image.glyph.x, image.glyph.y)
    winners = image.data_source.data["image"][0]
    rows = [r for r in glyphs(shown, Scatter) if "about" in r.data_source.data]
    order = np.argsort(column(rows, "row"))
    place = np.column_stack([column(rows, "x"), column(rows, "y")])[order]
    steps = np.array(winners.shape[::-1]) - 1
    cell = np.round((place - [left, bottom]) / [image.glyph.dw, image.glyph.dh] * steps).astype(int)
    agree = winners[cell[:, 1], cell[:, 0]] == model.predict(X)
    assert agree.mean() > 0.97  # all but rows within half a cell of a border
    assert "boundary" in [item.label.value for item in shown.figure.legend[0].items]


def test_without_a_weight_vector_rows_are_projected_and_it_is_said():
    X, y = load_iris(return_X_y=True)
    shown = plots.boundary(KernelMaxMargin().fit(X, y), X, y)
    assert "is not drawn" in shown.caption
    assert not glyphs(shown, Image)
    plots.boundary(KernelMaxMargin().fit(X, y), sp.csr_matrix(X), y)
    one, labels = one_feature()
    plots.boundary(HARD.fit(one, labels), one, labels)
    plots.boundary(KernelMaxMargin().fit(one, labels), one, labels)


def test_many_rows_are_a_density_and_it_is_said(rng):
    X = rng.normal(size=(6001, 3))
    y = (X[:, 0] + rng.normal(size=6001) > 0).astype(int)
    shown = plots.boundary(MaxMargin(C=0.01).fit(X, y), X, y)
    (density,) = glyphs(shown, ImageRGBA)
    assert density.data_source.data["image"][0].any()
    assert "Density of all 6,001 rows" in shown.caption
    assert max(len(s.data["x"]) for s in shown.figure.select({"type": ColumnDataSource}) if "x" in s.data) <= 60
    assert len(shown.page()) < 2e6


def test_26_classes_are_named_where_they_lie_and_all_look_different(rng):
    from separatrix.plots.interactive.canvas import look

    y = np.repeat(np.arange(26), 4)
    X = 5 * rng.normal(size=(26, 5))[y] + rng.normal(size=(104, 5))
    model = MaxMargin().fit(X, y)
    shown = plots.boundary(model, X, y)
    assert len(shown.figure.legend[0].items) <= 4
    assert len({look(k) for k in range(26)}) == 26
    assert plots.confusion(y, model.predict(X)).figure.height < 900
    assert len(plots.roc(y, model.decision_function(X)).figure.legend[0].items) == 9
    assert plots.weights(model).figure.height < 700
    pairs = plots.weights(MaxMargin(multi_class="ovo").fit(X[:, :2], y))
    assert len(pairs.figure.x_range.factors) == 30
    assert "Of 325 weight vectors the 30 longest" in pairs.caption
    assert pairs.title.endswith("each pair of classes")


def test_margins_hold_every_row_and_tell_the_nearest():
    X, y = overlapping()
    model = MaxMargin().fit(X, y)
    shown = plots.margins(model, X, y)
    counts = [s.data["rows"].sum() for s in shown.figure.select({"type": ColumnDataSource}) if "rows" in s.data]
    assert sum(counts) == len(y)
    (nearest,) = (r for r in glyphs(shown, Scatter) if "about" in r.data_source.data)
    data = nearest.data_source.data
    np.testing.assert_allclose(data["x"], np.sort(y * model.signed_distance(X))[: len(data["x"])])
    assert f"{int(np.sum(model.predict(X) != y))} of 30 rows on the wrong side" in shown.title


def test_features_of_frames_and_of_very_many_columns_are_told(rng):
    import polars as pl

    frame = pl.DataFrame({"a": [0.0, 1.0, 2.0], "kind": ["x", "y", HOSTILE]})
    from separatrix.plots.interactive.rows_in_words import about_rows

    assert about_rows(frame, frame.columns)(np.array([1]))[0] == "a = 1, kind = y"
    wide = rng.normal(size=(2, 4000))
    assert "and 3,994 more" in about_rows(wide, [f"f{j}" for j in range(4000)])(np.array([0]))[0]


def test_bounds_and_the_theorem():
    X, y = margin_6d()
    best = HARD.fit(X, y).certificate_
    shown = plots.bounds(DynamicMargin(epsilon=0.05), X, y)
    assert "of the best margin is certain" in shown.title
    assert "at most" in shown.caption
    steps = [r for r in shown.figure.renderers if type(r.glyph).__name__ == "Step"]
    above, below = (np.asarray(r.data_source.data["y"]) for r in steps)
    assert np.all(above >= best.lower * (1 - 1e-9))
    assert np.all(below <= best.upper * (1 + 1e-9))
    trace = MarginTrace()
    Perceptron().set_callbacks(trace).fit(X, np.arange(len(X)) % 3)
    plots.bounds_of_trace(trace, problem=2)
    limited = plots.bounds(Perceptron(), *blobs_2d())
    assert "dotted" in limited.caption or "at most" in limited.caption
    (line,) = (r for r in plots.path(Perceptron(), X, y).figure.renderers if type(r.glyph).__name__ == "Line")
    assert np.hypot(line.data_source.data["x"][-1], line.data_source.data["y"][-1]) == pytest.approx(1.0)


def test_weights_with_intervals_over_folds():
    X, y = margin_6d()
    folds = [HARD.fit(X[k::2], y[k::2]).coef_ for k in range(2)]
    model = make_pipeline(StandardScaler(), MaxMargin()).fit(X, y)
    shown = plots.weights(model, folds=folds)
    (bars,) = glyphs(shown, HBar)
    w = bars.data_source.data["w"]
    assert np.all(np.diff(np.abs(w)) <= 0)
    assert "over the folds" in shown.caption
    with pytest.raises(DataError, match="no weights"):
        plots.weights(KernelMaxMargin().fit(X, y))


def test_curves_agree_with_scikit_learn():
    from sklearn.metrics import roc_auc_score

    X, y = overlapping()
    model = MaxMargin().fit(X, y)
    scores = model.decision_function(X)
    assert plots.roc(y, scores).title == f"ROC curve: area {roc_auc_score(y, scores):.4g}"
    assert plots.precision_recall(y, scores, where="held out").title.endswith("held out")
    with pytest.raises(DataError, match="A curve needs"):
        plots.roc(np.ones(3), np.ones(3), classes=[0, 1])


def test_comparison_can_be_sorted():
    rows = [
        {"name": "A", "share": 0.97, "train": 1.0, "cv": 0.9, "seconds": 0.1, "updates": None},
        {"name": HOSTILE, "share": None, "train": 0.8, "cv": None, "seconds": 2.0, "updates": 3},
        {"name": "C", "why_not": "it does not apply"},
    ]
    shown = plots.comparison(rows)
    (select,) = shown.figure.select({"type": Select})
    assert select.options[0].startswith("certified share")
    assert len(select.options) == 5
    assert "img" not in Tags(shown.page()).tags
    with pytest.raises(DataError, match="no algorithm"):
        plots.comparison(rows[2:])


def test_the_proof_is_a_point_of_both_hulls(rng):
    for width in (2, 5):
        X, y = rng.normal(size=(40, width)), rng.integers(0, 2, 40)
        answer = separability(X, y)
        found = meeting_of(answer, X, y)
        for side in (found.positive, ~found.positive):
            np.testing.assert_allclose(found.weight[side] @ X[found.rows[side]], found.point, atol=1e-9)
            assert found.weight[side].sum() == pytest.approx(1.0)
        shown = plots.proof(answer, X, y)
        (star,) = (r for r in glyphs(shown, Scatter) if r.glyph.marker == "star")
        assert len(star.data_source.data["x"]) == 1
        assert "convex hulls of 0 and 1 meet" in shown.title
    X, y = load_iris(return_X_y=True)
    assert "convex hulls of 1 and 2 meet" in plots.proof(separability(X, y), X, y).title
    with pytest.raises(DataError, match="no proof of inseparability"):
        plots.proof(separability(X, y == 0), X, y == 0)


def test_without_bokeh_the_install_line_is_told(monkeypatch):
    real = builtins.__import__

    def missing(name, *arguments, **options):
        if name.split(".")[0] == "bokeh":
            raise ImportError(name)
        return real(name, *arguments, **options)

    X, y = blobs_2d()
    model = HARD.fit(X, y)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[view\]'"):
        plots.boundary(model, X, y)


def test_importing_the_figures_does_not_import_bokeh():
    code = "import sys, separatrix.plots; print('bokeh' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


def test_notebooks_show_static_pictures_of_fits_pipelines_certificates_and_answers():
    X, y = blobs_2d()
    model = MaxMargin(C=np.inf)
    assert "proven upper bound" not in model._repr_html_()
    pipeline = make_pipeline(StandardScaler(), model.fit(X, y)).fit(X, y)
    certificate = model.fit(X, y).certificate_
    for shown in (model._repr_mimebundle_()["text/html"], pipeline._repr_mimebundle_()["text/html"]):
        assert "proven upper bound" in shown
        assert "Weights, positive for" in shown
        assert "The best margin lies between" in shown
        assert not {"iframe", "img"} & {*Tags(shown).tags}
    assert "The best margin lies between" in certificate._repr_html_()
    no = separability([[0.0], [2.0], [1.0]], [0, 0, 1])
    assert "Not linearly separable: 3 rows prove it" in no._repr_html_()
    assert "The best margin lies between" in separability(X, y)._repr_html_()


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_a_fitted_estimator_takes_at_most_60_kilobytes_of_a_notebook(load):
    X, y = load(return_X_y=True)
    model = MaxMargin().fit(X, y)
    printed = model._repr_html_()
    assert len(printed.encode()) <= 60_000
    named = np.array([f"{HOSTILE} {k}" for k in range(3)])[y % 3]
    hostile = Tags(MaxMargin().fit(X, named)._repr_html_())
    assert not {"iframe", "img"} & {*hostile.tags}


def test_every_figure_has_one_name_static_by_default_and_interactive_on_request():
    X, y = load_iris(return_X_y=True)
    model, two = MaxMargin().fit(X, y), y == 1
    answer, scores = separability(X, two), model.decision_function(X)
    rows = [{"name": "A", "share": 0.97, "train": 1.0, "cv": 0.9, "seconds": 0.1, "updates": 7}]
    trace = MarginTrace()
    DynamicMargin(epsilon=0.1).set_callbacks(trace).fit(X, y == 0)
    calls = {
        "boundary": (model, X, y), "bounds": (DynamicMargin(epsilon=0.1), X, y == 0), "bounds_of_trace": (trace,),
        "certificate": (answer,), "comparison": (rows,), "confusion": (y, model.predict(X)), "margins": (model, X, y),
        "path": (Perceptron(), X, y == 0), "precision_recall": (y, scores), "proof": (answer, X, two),
        "roc": (y, scores), "weights": (model,),
    }  # fmt: skip
    assert sorted(calls) == NAMES
    for name, given in calls.items():
        static, view = getattr(separatrix.plots, name)(*given), getattr(plots, name)(*given)
        assert type(view) is separatrix.plots.View
        assert type(static).__name__.endswith(("Display", "Drawing")), name
        if hasattr(static, "title") and name != "comparison":
            assert static.title == view.title or name in ("margins", "weights"), name
    plt.close("all")
