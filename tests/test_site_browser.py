"""The site in a real browser: at the width of a telephone and of a desk, light and dark, without an error."""

import shutil

import pytest
from site_pages import NOT_BUILT, SITE, needs

WALKED = [
    "index.html",
    "start/first_fit.html",
    "start/choosing.html",
    "learn/perceptron.html",
    "learn/taxonomy.html",
    "gallery/index.html",
    "gallery/optimum/plot_kernels.html",
    "reference/generated/separatrix.MaxMargin.html",
    "reference/command_line.html",
    "reference/glossary.html",
    "reference/comparison.html",
    "benchmarks.html",
]


@pytest.fixture(scope="module")
def browser():
    needs((SITE / "index.html").exists(), NOT_BUILT)
    api = pytest.importorskip("playwright.sync_api", reason="playwright comes with the docs extra")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


def opened(browser, width, scheme):
    """A page that may not reach the network, and the list of what went wrong on it."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page, troubles = context.new_page(), []
    page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    return page, troubles


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_and_do_not_complain(browser, width, scheme):
    page, troubles = opened(browser, width, scheme)
    for name in WALKED:
        page.goto((SITE / name).as_uri())
        page.wait_for_load_state("load")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} px wide at {width}"
        assert not troubles, (name, troubles)
    page.context.close()


def test_formulas_are_set_and_search_finds(browser):
    page, troubles = opened(browser, 1280, "light")
    page.goto((SITE / "learn" / "perceptron.html").as_uri())
    page.wait_for_selector("mjx-container", timeout=20_000)
    page.goto((SITE / "search.html").as_uri() + "?q=Novikoff")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    results = page.eval_on_selector_all("#search-results li a", "links => links.map(link => link.getAttribute('href'))")
    assert any("learn/perceptron" in link for link in results)
    assert not troubles
    page.context.close()
