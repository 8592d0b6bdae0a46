"""The built site, for the tests that look at it."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "_build" / "html"
NOT_BUILT = "the site is not built: pip install '.[docs]' && make -C docs html"
REQUIRED = bool(os.environ.get("SEPARATRIX_REQUIRE_SITE"))  # where missing parts are errors, as in .ci/run


def needs(condition, reason):
    """Skip with the reason, or fail where the site is required."""
    if not condition:
        (pytest.fail if REQUIRED else pytest.skip)(reason)


class Page(HTMLParser):
    """Links, resources, anchors and the words of a page; words of code and formulas are not collected."""

    SILENT = {"script", "style", "code", "pre", "nav", "header", "footer", "dt"}
    VOID = {"img", "br", "hr", "input", "link", "meta", "source", "wbr", "col", "path"}

    def __init__(self, path):
        super().__init__()
        self.path, self.links, self.resources, self.images, self.anchors = path, [], [], [], set()
        self.words, self.stack = [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[k] for k in ("id", "name") if values.get(k)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag == "img":
            self.images.append(values["src"])
        if tag in ("script", "img", "iframe") and values.get("src"):
            self.resources.append(values["src"])
        if tag == "link" and "stylesheet" in (values.get("rel") or ""):
            self.resources.append(values["href"])
        if tag not in self.VOID:
            self.stack.append((tag, tag in self.SILENT or "math" in (values.get("class") or "").split()))

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, text):
        inside = [tag for tag, _ in self.stack]
        if "article" in inside and not any(silent for _, silent in self.stack):
            self.words += re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


def pages():
    return [Page(path) for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
