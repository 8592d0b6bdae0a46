"""The site in a real browser: at the width of a telephone and of a desk, light and dark, without an error."""

import re
from urllib.parse import urlencode

import pytest
from chromium import opened, running_browser
from site_pages import NOT_BUILT, SITE, needs
from site_questions import QUESTIONS

SAMPLES = [  # one of each kind: words, formulas, wide tables, pictures, code, long lists
    "index.html",
    "benchmarks.html",
    "gallery/index.html",
    "gallery/optimum/plot_kernels.html",
    "learn/taxonomy.html",
    "reference/command_line.html",
    "reference/comparison.html",
    "reference/generated/separatrix.MaxMargin.html",
    "reference/generated/separatrix.bounds.cramma.html",
    "start/first_fit.html",
]


def written():
    """Every page that somebody wrote."""
    folders = (".", "start", "how-to", "learn", "reference", "reference/api")
    return sorted(path for folder in folders for path in (SITE / folder).glob("*.html"))


@pytest.fixture(scope="module")
def browser():
    needs((SITE / "index.html").exists(), NOT_BUILT)
    with running_browser() as running:
        yield running


def walk(browser, paths):
    """Load each page once, then turn it from light to dark and from a telephone to a desk."""
    page, troubles = opened(browser)
    for path in paths:
        page.goto(path.as_uri())
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.wait_for_function(f"document.documentElement.dataset.theme == '{scheme}'", timeout=30_000)
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{path.name} is {wide} px wide at {width}, {scheme}"
        assert not troubles, (path.name, troubles)
    page.context.close()


def test_pages_fit_and_do_not_complain(browser):
    walk(browser, [SITE / name for name in SAMPLES])


@pytest.mark.slow
def test_all_written_pages_fit_and_do_not_complain(browser):
    walk(browser, written())


def test_dark_pages_are_dark(browser):
    page, _ = opened(browser)
    lightness = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto((SITE / "index.html").as_uri())
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        lightness[scheme] = sum(map(int, re.findall(r"\d+", colour)[:3]))
    assert lightness["dark"] < 150 < 600 < lightness["light"]
    page.context.close()


def test_formulas_are_set_and_search_finds(browser):
    page, troubles = opened(browser)
    page.goto((SITE / "learn" / "perceptron.html").as_uri())
    page.wait_for_selector("mjx-container", timeout=20_000)
    page.goto((SITE / "search.html").as_uri() + "?q=Novikoff")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    results = page.eval_on_selector_all("#search-results li a", "links => links.map(link => link.getAttribute('href'))")
    assert any("learn/perceptron" in link for link in results)
    assert not troubles
    page.context.close()


def test_users_words_find_the_page_among_the_first_three_results(browser):
    page, _ = opened(browser)
    missed = {}
    for question, answer in QUESTIONS.items():
        page.goto((SITE / "search.html").as_uri() + "?" + urlencode({"q": question}))
        page.wait_for_selector("#search-results p.search-summary", timeout=20_000)
        summary = "document.querySelector('#search-results p.search-summary').innerText"
        page.wait_for_function(f"/found|did not match/.test({summary})", timeout=20_000)
        links = "links => links.slice(0, 3).map(link => link.getAttribute('href'))"
        first = page.eval_on_selector_all("#search-results li > a", links)
        if not any(re.search(rf"(^|/){answer}\.html", link) for link in first):
            missed[question] = (answer, first)
    page.context.close()
    assert not missed
