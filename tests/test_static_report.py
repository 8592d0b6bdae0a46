"""The static report: what a newcomer found wrong with its pictures, each with what has to hold instead."""

import re
from io import BytesIO

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from chromium import opened, running_browser
from matplotlib.collections import PathCollection
from matplotlib.contour import ContourSet

from separatrix import MaxMargin
from separatrix.app.report.report_page import report_page
from separatrix.app.tables import Table
from separatrix.app.workflows import Options, fit
from separatrix.plots import BoundaryDisplay, ConfusionDisplay, MarginDisplay
from separatrix.plots.static.style import as_text, look


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def clouds(n, classes, d=4, apart=3.0):
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    return apart * rng.normal(size=(classes, d))[y] + rng.normal(size=(n, d)), np.array([f"class {k:02}" for k in y])


def boxes(display, *artists):
    """Where some parts of a picture are, in pixels."""
    display.figure_.canvas.draw()
    return [artist.get_window_extent() for artist in artists]


def test_26_classes_are_named_and_told_apart():
    """The legend holds all of them, beside the picture, and no two look the same."""
    X, y = clouds(260, 26)
    model = MaxMargin(C=0.1).fit(X, y)
    for display in (BoundaryDisplay.from_estimator(model, X, y), MarginDisplay.from_estimator(model, X, y)):
        legend = display.ax_.get_legend()
        assert {text.get_text() for text in legend.get_texts()} >= set(y)
        beside, axes, whole = boxes(display, legend, display.ax_.patch, display.figure_.patch)
        assert beside.x0 >= axes.x1
        assert beside.y0 >= whole.y0
        assert beside.x1 <= whole.x1
    assert len({tuple(look(k).values()) for k in range(64)}) == 64


@pytest.mark.parametrize("classes", [12, 26])
def test_counts_do_not_overlap(classes):
    """Up to 12 classes they stand in their squares; of more no digits are drawn."""
    y = clouds(1200, classes)[1]
    display = ConfusionDisplay.from_predictions(np.repeat(y, 20), np.repeat(y, 20), values_format=",d")
    texts = [text for text in display.text_.ravel() if text.get_visible() and text.get_text() != "0"]
    assert len(texts) == (12 if classes == 12 else 0)
    side = boxes(display, display.ax_.patch)[0].width / classes
    assert all(box.width <= side for box in boxes(display, *texts))


def test_large_counts_are_written_out():
    truth = np.repeat(["a", "b"], [20_000, 30])
    model = MaxMargin().fit([[0.0], [1.0]], ["a", "b"])
    display = ConfusionDisplay.from_estimator(model, np.where(truth == "a", 0.0, 1.0)[:, None], truth)
    assert "20,000" in {text.get_text() for text in display.text_.ravel()}


def test_no_legend_covers_bars():
    X, y = clouds(300, 3)
    display = MarginDisplay.from_estimator(MaxMargin().fit(X, y), X, y)
    legend, *bars = boxes(display, display.ax_.get_legend(), *display.ax_.patches)
    assert len(bars) > 40
    assert not any(legend.overlaps(bar) for bar in bars)


def test_many_rows_are_a_stated_density_with_few_crosses():
    """Densities show all rows; the few crosses on them are thin, and the title states what is drawn."""
    X, y = clouds(20_000, 2, apart=0.3)
    display = BoundaryDisplay.from_estimator(MaxMargin().fit(X, y), X, y)
    assert "(density of 20,000 rows)" in display.ax_.get_title(loc="left")
    drawn = {c.get_label(): c for c in display.ax_.collections if isinstance(c, PathCollection)}
    (crosses,) = (marks for name, marks in drawn.items() if name.endswith("on the wrong side, 60 marked"))
    assert len(crosses.get_offsets()) == 60
    assert sum(len(marks.get_offsets()) for marks in drawn.values()) < 1000
    assert "ringed" not in display.title


@pytest.mark.parametrize("d", [2, 5])
def test_three_classes_have_a_boundary(d):
    X, y = clouds(90, 3, d)
    display = BoundaryDisplay.from_estimator(MaxMargin().fit(X, y), X, y)
    contours = [c for c in display.ax_.collections if isinstance(c, ContourSet)]
    regions, lines = [c for c in contours if c.filled], [c for c in contours if not c.filled]
    assert regions
    assert sum(len(path.vertices) for c in lines for path in c.get_paths()) > 10


def test_letters_of_every_script_can_be_read(recwarn):
    """By a font that has them, or by their numbers: no two become the same box."""
    X, y = clouds(40, 2)
    labels = np.where(y == y[0], "猫 \U000f1234", "犬 é")
    display = BoundaryDisplay.from_estimator(MaxMargin().fit(X, labels), X, labels)
    display.figure_.canvas.draw()
    assert not [w for w in recwarn if "missing from" in str(w.message)]
    assert as_text("\ue123 é") == "  é"  # of private use: nobody knows what it looks like
    assert as_text("猫") != as_text("犬")
    assert as_text("\u2603") == "☃"


def test_the_static_page_fits_a_telephone_and_the_dark(tmp_path):
    """Not wider than 390 px, not endless, and its pictures are no white cards on a dark page."""
    path = tmp_path / "report.html"
    table = Table("letters.csv", "csv", "0", *clouds(54, 9, 2))
    path.write_text(report_page(fit(table, Options(C=0.1, folds=0))))
    with running_browser() as browser:
        page, troubles = opened(browser, viewport={"width": 390, "height": 800}, color_scheme="dark")
        page.goto(path.as_uri())
        assert page.locator("img").count() == page.locator("h2 + img").count() > 5
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("document.documentElement.scrollHeight") < 6000
        picture = page.locator("img").first.screenshot()
        page.emulate_media(color_scheme="light")
        light = page.locator("img").first.screenshot()
        page.context.close()
    shades = [plt.imread(BytesIO(shot))[:, :, :3].mean() for shot in (picture, light)]
    assert shades[0] < 0.4 < 0.7 < shades[1]
    assert not troubles
    assert not re.search("Bokeh", path.read_text())
