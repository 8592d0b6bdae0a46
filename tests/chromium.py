"""A real browser for tests: Debian's chromium, driven by playwright; without one of them the tests are skipped."""

import shutil
from contextlib import contextmanager

import pytest


@contextmanager
def running_browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright comes with the docs extra")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


def opened(browser, offline=True, **options):
    """A page, and the list of what went wrong on it; offline it may not reach the network."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "offline": offline, **options})
    page, troubles = context.new_page(), []
    page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    return page, troubles
