"""Takes the screenshots of the studio and of pages, with chromium: ``python docs/pictures/screenshots.py``."""

import io
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from separatrix.app.report.figures import write_comparison
from separatrix.app.report.report_files import write_html
from separatrix.app.tables import Table
from separatrix.app.workflows import Options, compare, fit
from separatrix.studio.board import Board, Separator
from separatrix.studio.point_sets import SETS

HERE = Path(__file__).parent
STUDIO = {  # points, separators, step
    "studio_separable": ("separable", ("Perceptron", "MaxMargin"), 9),
    "studio_proof": ("one point too many", ("Perceptron",), 23),
    "studio_kernel": ("iris, petals", ("KernelMaxMargin",), 1),
}
COLOURS = 255  # of a picture: figures have few
MAIN = "import sys; sys.argv = ['separatrix', *sys.argv[1:]]; from separatrix.app.cli import main; main()"


def write(page, name, height=None):
    box = None if height is None else {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
    taken = page.screenshot(full_page=True, clip=box)
    picture = Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLOURS)
    picture.save(HERE / f"{name}.png", optimize=True)
    print(name, picture.size, (HERE / f"{name}.png").stat().st_size)


def opened(browser, address, width, scheme="light"):
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_function("window.Bokeh && Bokeh.documents.length && Bokeh.documents.every((d) => d.is_idle)")
    page.wait_for_timeout(3000)
    return page


def studio(browser):
    command = [sys.executable, "-c", MAIN, "studio", "--no-show"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = next(word for word in running.stderr.readline().split() if word.startswith("http"))
        for name, (points, names, step) in STUDIO.items():
            separators = tuple(Separator(n, {"C": 10.0} if n == "KernelMaxMargin" else {}) for n in names)
            board = Board.of(*SETS[points](), separators=separators, step=step)
            page = opened(browser, f"{address}?s={board.link()}", 1200)
            page.wait_for_selector(".answer")
            write(page, name, 900)
    finally:
        running.terminate()
        running.wait()


def pages(browser):
    with tempfile.TemporaryDirectory() as folder:
        report, compared = Path(folder) / "report.html", Path(folder) / "comparison.html"
        write_html(
            fit(HERE.parent / "start" / "iris.csv", Options(scale=True), target="species"), report, interactive=True
        )
        write(opened(browser, report.as_uri(), 1280), "report_light", 1250)
        write(opened(browser, report.as_uri(), 390, "dark"), "report_dark", 1700)
        X, y = load_wine(return_X_y=True)
        table = Table("wine", "scikit-learn", "", scale(X), y == 0)
        results = compare(table, Options(folds=3, max_time=2.0)).results
        write_comparison([r.as_dict() for r in results if not r.why_not], table, compared)
        write(opened(browser, compared.as_uri(), 900), "comparison_page")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        studio(browser)
        pages(browser)
        browser.close()
