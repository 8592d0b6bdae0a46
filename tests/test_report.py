"""The HTML report: one page for every size of data, whose labels stay text."""

import builtins
import re

import numpy as np
import polars as pl
import pytest
from chromium import opened, running_browser
from sklearn.datasets import load_iris
from test_view import HOSTILE, Tags

from separatrix.app.report.report_files import write_html
from separatrix.app.report.report_page import _chance, report_page, views_of
from separatrix.app.tables import Table
from separatrix.app.workflows import Options, fit
from separatrix.app.workflows.out_of_fold import Answers
from separatrix.plots.interactive.canvas import look, plain

LIMIT = 6_000_000


def clouds(rng, n, d, c, apart):
    y = rng.permutation(np.arange(n) % c)
    return apart * rng.normal(size=(c, d))[y] + rng.normal(size=(n, d)), y


def iris():
    data = load_iris()
    names = ["length", "width", HOSTILE, "$$petal$$"]
    labels = np.array([HOSTILE, "virginica", "<b>x</b>"])[data.target]
    return Table(HOSTILE, "csv", "0", pl.DataFrame(data.data, schema=names), labels, "species", named=True)


def letters(rng):
    X, y = clouds(rng, 260, 8, 26, 3.0)
    return Table("letters.csv", "csv", "0", X, np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[y])


CASES = {  # a table and options
    "two classes": lambda rng: (Table("a.csv", "csv", "0", *clouds(rng, 150, 4, 2, 4.0)), Options(folds=2)),
    "three classes, hostile names": lambda rng: (iris(), Options(C=1.0, folds=0)),
    "26 classes": lambda rng: (letters(rng), Options(C=0.1, folds=0)),
    "4,000 features": lambda rng: (Table("w.csv", "csv", "0", *clouds(rng, 60, 4000, 2, 0.3)), Options(folds=0)),
    "6,000 rows": lambda rng: (Table("n.csv", "csv", "0", *clouds(rng, 6000, 2, 2, 1.0)), Options(C=0.1, folds=0)),
}


def page_of(name, rng):
    table, options = CASES[name](rng)
    return report_page(fit(table, options), interactive=True)


def test_the_page_is_complete_and_labels_stay_text(rng):
    pytest.importorskip("bokeh")
    page = page_of("three classes, hostile names", rng)
    found = Tags(page)
    assert "img" not in found.tags
    assert "b" not in re.findall(r"<b>x", page)
    assert not found.sources
    assert len(page.encode()) < LIMIT
    words = ["No straight boundary", "hulls of", "ROC curve", "Weights of the features", "Check it yourself"]
    assert all(word in page for word in words)


def test_unseen_rows_are_judged_and_weights_have_intervals(rng):
    pytest.importorskip("bokeh")
    page = page_of("two classes", rng)
    assert "on rows left out, fold by fold" in page
    assert "over the folds of the cross-validation" in page
    assert "Scores of each class" in page


def test_the_summary_says_why_a_model_with_errors_is_taken(rng):
    X = rng.normal(size=(60, 80))  # separable, as there are more columns than rows, and nothing can be learned
    found = fit(Table("noise.csv", "csv", "0", X, np.repeat(["no", "yes"], [28, 32])), Options(folds=3))
    page = report_page(found)
    assert found.hard is not found.separator
    assert "The model below has a soft margin, which may misclassify training rows." in page


def test_the_summary_says_where_the_largest_class_alone_is_right_as_often():
    truth = np.repeat([0, 1], [40, 60])
    for wrong, printed in ((45, True), (38, True), (5, False)):
        predicted = np.where(np.arange(100) < wrong, 1 - truth, truth)
        words = _chance(Answers(np.array(["no", "yes"]), truth, predicted))
        assert bool(words) == printed
    assert "no better than to answer yes always, which is right for 60.0%" in _chance(
        Answers(np.array(["no", "yes"]), truth, np.ones(100, dtype=int))
    )


def test_without_interactive_the_pictures_are_static_and_bokeh_is_not_needed(rng, monkeypatch):
    table, options = CASES["two classes"](rng)
    found = fit(table, options)
    real = builtins.__import__

    def missing(name, *arguments, **more):
        if name.split(".")[0] == "bokeh":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    page = report_page(found)
    assert page.count("data:image/png") == 6
    assert "Bokeh" not in page
    assert len(page.encode()) < LIMIT


def test_a_class_has_one_colour_in_all_figures(rng):
    """Classes 1 and 2 of three overlap, so the proof is about them; of two classes the weights speak for both."""
    pytest.importorskip("bokeh")
    from bokeh.models import HBar, Line, Quad, Scatter

    def colours(shown, kind):
        drawn = [r for r in shown.figure.renderers if isinstance(r.glyph, kind)]
        return [getattr(r.glyph, "line_color" if kind is Line else "fill_color") for r in drawn], drawn

    three = {"iris": iris(), "options": Options(C=1.0, folds=2)}
    shown = views_of(fit(three["iris"], three["options"]))
    own = [look(k)[0] for k in range(3)]
    assert colours(shown[0], Scatter)[0][:3] == own
    proof = next(v for v in shown if "hulls" in v.title)
    pair = [k for k, name in enumerate(np.unique(three["iris"].y)) if f" {plain(name, 22)} " in f"{proof.title} "]
    assert [c for c in colours(proof, Scatter)[0] if c in own][::2] == [own[k] for k in pair] != own[:2]
    assert colours(next(v for v in shown if "scores are" in v.title), Quad)[0] == own
    for name in ("ROC", "Precision"):
        curves = next(v for v in shown if v.title.startswith(name))
        assert {c for c in colours(curves, Line)[0] if c in own} == set(own)
    two = views_of(fit(*CASES["two classes"](rng)))
    (bars,) = colours(next(v for v in two if "Weights" in v.title), HBar)[1]
    data = bars.data_source.data
    assert all(colour == own[int(w > 0)] for colour, w in zip(data["colour"], data["w"], strict=True))
    assert own[1] in colours(next(v for v in two if v.title.startswith("ROC")), Line)[0]
    for confusion in (v for v in (*shown, *two) if "rows right" in v.title):
        assert not set(confusion.figure.renderers[0].data_source.data["colour"]) & set(own)


def test_numbers_of_the_page_agree(rng):
    """Areas under curves are those of the summary, and figures say whether they show the model or the hard margin."""
    pytest.importorskip("bokeh")
    found = fit(*CASES["two classes"](rng))
    several = fit(iris(), Options(C=1.0, folds=2))
    for known in (found, several):
        title = next(v.title for v in views_of(known) if v.title.startswith("ROC"))
        assert f"area {known.cv.answers.summary['auc']:.4g}" in title
    titles = [v.title for v in views_of(found)]
    assert titles[0].startswith("The model: ")
    assert titles[-1] == "The hard margin: 100.0% of the best margin is certain"  # passes of another run are not shown
    assert views_of(several)[-1].title.endswith("% of the best margin (slack included) is certain")
    assert "fitted once more for this picture" in views_of(found)[-1].caption
    page = report_page(found, interactive=True)
    assert "passes over the data" in page
    assert not re.search(r"after [\d,]+ passes", page)


def test_a_line_that_is_spoken_of_is_drawn(rng):
    """The band of a very soft margin is wider than the picture: then no dashed line is drawn, and none is reported
    of."""
    pytest.importorskip("bokeh")
    X, y = clouds(rng, 80, 3, 2, 1.0)
    for C, dashed in ((1.0, True), (1e-6, False)):
        shown = views_of(fit(Table("a.csv", "csv", "0", X, y), Options(C=C, folds=0)))
        margins = next(v for v in shown if "Distances" in v.title)
        spans = [m for m in margins.figure.center if getattr(m, "line_dash", None) in ("dashed", [6])]
        assert bool(spans) == ("dashed line" in margins.caption) == dashed
        legend = [item.label.value for item in shown[0].figure.legend[0].items]
        assert ("edge of the band" in legend) == dashed
        assert ("All rows lie inside the band" in shown[0].caption) != dashed


def test_plots_can_be_pages(rng, tmp_path):
    pytest.importorskip("bokeh")
    from separatrix.app.report.figures import check_ending, write_boundary, write_comparison

    table, options = CASES["two classes"](rng)
    check_ending(tmp_path / "b.html")
    write_boundary(fit(table, options), tmp_path / "b.html")
    row = {"name": "A", "share": 0.9, "train": 1.0, "cv": 0.9, "seconds": 0.1, "updates": 7}
    write_comparison([row], table, tmp_path / "c.html")
    for name in ("b.html", "c.html"):
        assert Tags((tmp_path / name).read_text()).tags.count("figure") == 1


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("bokeh")
    with running_browser() as running:
        yield running


@pytest.mark.parametrize("name", CASES)
def test_it_fits_a_telephone_and_a_desk_in_light_and_dark(browser, rng, tmp_path, name):
    table, options = CASES[name](rng)
    path = tmp_path / "report.html"
    write_html(fit(table, options), path, interactive=True)
    assert path.stat().st_size < LIMIT
    page, troubles = opened(browser)
    page.goto(path.as_uri())
    page.wait_for_function("window.Bokeh.documents.length && window.Bokeh.documents.every(d => d.is_idle)")
    printed = "[...window.Bokeh.documents[0].all_models].filter(m => m.type == 'CustomJSTickFormatter')"
    for numbers, words in (
        ([-2e-5, 0, 2e-5], ["\u22122e\u22125", "0", "2e\u22125"]),
        ([0.002, 0.003], ["0.002", "0.003"]),
    ):
        assert words in page.evaluate(f"{printed}.map(m => m.doFormat({numbers}, null))")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme, (low, high) in {"light": (600, 766), "dark": (0, 150)}.items():
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(f"document.documentElement.scrollWidth <= {width}", timeout=10_000)
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert low <= sum(map(int, re.findall(r"\d+", colour)[:3])) < high
            axis = "[...window.Bokeh.documents[0].all_models].find(m => m.type == 'LinearAxis').axis_line_color"
            ink = "#eeeeee" if scheme == "dark" else "#333333"
            page.wait_for_function(f"{axis} == '{ink}'")
    assert page.evaluate("document.documentElement.scrollHeight") < 9000
    assert not troubles
    page.context.close()


def test_tables_sort_and_figures_answer_the_mouse(browser, rng, tmp_path):
    path = tmp_path / "report.html"
    table, options = CASES["three classes, hostile names"](rng)
    write_html(fit(table, options), path, interactive=True)
    page, troubles = opened(browser)
    page.goto(path.as_uri())
    page.wait_for_function("window.Bokeh.documents.length && window.Bokeh.documents.every(d => d.is_idle)")
    page.get_by_text("Rows of each class").click()
    right = page.locator(".sorts").first.locator("th").nth(2)
    values = [page.locator(".sorts").first.locator("tbody tr td:nth-child(3)").all_text_contents()]
    for _ in range(2):
        right.locator("button").click()
        values.append(page.locator(".sorts").first.locator("tbody tr td:nth-child(3)").all_text_contents())
    assert values[1] == values[2][::-1]
    assert right.get_attribute("aria-sort") == "ascending"
    page.evaluate("scrollTo(0, 0)")
    box = page.locator("figure").first.locator(".bk-Figure").first.bounding_box()
    tips = page.locator(".bk-tooltip-content")
    places = ((x, y) for y in np.linspace(0.2, 0.6, 9) for x in np.linspace(0.1, 0.9, 40))
    while not tips.count():
        x, y = next(places)
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    assert "features" in tips.first.inner_text()
    assert not troubles  # no label was run as a script
    page.context.close()
