"""The HTML report: one page for every size of data, whose labels stay text."""

import builtins
import re

import numpy as np
import polars as pl
import pytest
from chromium import opened, running_browser
from sklearn.datasets import load_iris
from test_view import HOSTILE, Tags

from separatrix.io import Table
from separatrix.report.report_files import write_html
from separatrix.report.report_page import report_page
from separatrix.workflows import Options, fit

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
    return report_page(fit(table, options))


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


def test_without_bokeh_the_pictures_are_static(rng, monkeypatch):
    table, options = CASES["two classes"](rng)
    found = fit(table, options)
    real = builtins.__import__

    def missing(name, *arguments, **more):
        if name.split(".")[0] == "bokeh":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    page = report_page(found)
    assert page.count("data:image/png") == 3
    assert "Bokeh" not in page
    assert len(page.encode()) < LIMIT


def test_plots_can_be_pages(rng, tmp_path):
    pytest.importorskip("bokeh")
    from separatrix.report.figures import check_ending, write_boundary, write_comparison

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
    write_html(fit(table, options), path)
    assert path.stat().st_size < LIMIT
    page, troubles = opened(browser)
    page.goto(path.as_uri())
    page.wait_for_function("window.Bokeh.documents.length && window.Bokeh.documents.every(d => d.is_idle)")
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
    write_html(fit(table, options), path)
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
