"""The built site: nothing public is missing, no link is dead, every term is found, and the English is English."""

import functools
import html
import inspect
import json
import re
import urllib.parse
import zlib
from pathlib import Path

import pytest
from site_pages import NOT_BUILT, ROOT, SITE, needs, pages

import separatrix

# The names of the sources, and words that people look for; all words of a term have to be on one page.
TERMS = """
Agmon; Mays; Motzkin Schoenberg; Robbins-Monro; stochastic approximation; minimum squared error; simplex; solution
region; error-correcting; convex hull; Kuhn-Tucker; potential functions; generalized linear; support vector machine;
Novikoff; Block; Widrow-Hoff; Ho-Kashyap; Gordan; Farkas; Carathéodory; Winnow; Littlestone; Kesler; relaxation;
underrelaxation; fuzzy; membership; voted; averaged; pocket; ratchet; ALMA; CRAMMA; MICRA; ROMMA; dynamic margin;
passive-aggressive; greedy; margin Perceptron; taxonomy; effective rate; directional margin; geometric margin;
functional margin; rho; Delta; slack; soft margin; hard margin; duality gap; certificate; leave-one-out; Fisher;
Bayes; posterior; pseudo-inverse; LMS; recursive least squares; linear machine; one-vs-rest; one-vs-one; piecewise;
parity; XOR; kernel; Mercer; Gaussian; quadric; linear program; HiGHS; Newton; Hessian; gradient descent; cycling
theorem; Freund Schapire; augment; reflect; imbalance; class_weight; calibration; probabilities; text; sparse;
partial_fit; GPU; ONNX; pickle; safetensors; LinearSVC; LIBLINEAR; LIBSVM; errata; quasi-complete separation; logistic
regression; support vectors; rational arithmetic; Rosenblatt; Vapnik; Gentile; Gallant; Aizerman; Steiner; Tsampouka;
Nilsson; Crammer; Minsky; Hoeffding; Friedman; Nemenyi
"""

# What a stranger asks, as typed into the search, and the page that answers it.
QUESTIONS = {
    "how to test separability": "learn/gordan",
    "what does gap mean": "reference/glossary",
    "algorithm for ten million rows": "start/choosing",
    "add a rule of my own": "learn/own_rule",
    "what is rho": "reference/glossary",
    "what is Delta": "learn/soft_margins",
    "convergence theorem proof": "learn/perceptron",
    "class weight imbalance": "start/imbalance",
    "fewest training errors of a linear classifier": "learn/fewest_errors",
    "best subset selection": "learn/fewest_errors",
    "Perfect separation detected, results not available": "start/separation",
    "fitted probabilities numerically 0 or 1 occurred": "start/separation",
    "lbfgs failed to converge": "start/separation",
    "predict probabilities calibration": "start/probabilities",
    "text sparse matrix": "start/text",
    "save model without pickle": "start/deploying",
    "LinearSVC parameters": "start/coming_from",
    "NotSeparableError": "reference/errors",
    "ConvergenceWarning": "reference/errors",
    "directional or geometric margin": "learn/space",
    "averaged Perceptron noise": "learn/variants",
    "Ho-Kashyap separable proof": "learn/ho_kashyap",
    "multi_class ovo joint": "start/many_classes",
    "CSV formats read": "reference/file_formats",
    "compared with LIBSVM": "reference/comparison",
    "critical difference ranks": "study",
    "certificate verify": "learn/certificates",
    "data larger than memory": "start/large_data",
}


@pytest.fixture(scope="module")
def site():
    needs((SITE / "searchindex.js").exists(), NOT_BUILT)
    return pages()


@functools.cache
def search_index():
    text = (SITE / "searchindex.js").read_text()
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def found(query):
    """Pages that have all words of a query, as the site's search finds them."""
    from sphinx.search.en import SearchEnglish

    language, index = SearchEnglish({}), search_index()
    hits = None
    for word in re.findall(r"\w+", query.lower()):
        if word in language.stopwords or len(word) < 3 or word.isdigit():  # as searchtools.js does
            continue
        stem = language.stem(word)
        of_word = set()
        for table in (index["terms"], index["titleterms"]):
            for term, documents in table.items():
                if term == stem or (len(word) > 2 and word in term):
                    of_word |= {documents} if isinstance(documents, int) else set(documents)
        hits = of_word if hits is None else hits & of_word
    return {index["docnames"][k] for k in hits or ()}


def public_names():
    for name in separatrix.__all__:
        value = getattr(separatrix, name)
        if not inspect.ismodule(value):
            yield f"separatrix.{name}"
            continue
        yield f"separatrix.{name}"
        inner = getattr(value, "__all__", None)
        if inner is None:
            inner = [
                n for n, v in vars(value).items() if getattr(v, "__module__", "") == value.__name__ and n[0] != "_"
            ]
        for member in inner:
            yield f"separatrix.{member}" if member in separatrix.__all__ else f"separatrix.{name}.{member}"


def test_every_public_name_has_a_page(site):
    inventory = zlib.decompress((SITE / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    documented = {line.split(" ", 1)[0] for line in inventory.splitlines()}
    assert not [name for name in public_names() if name not in documented]


def test_links_lead_somewhere(site):
    anchors = {page.path.resolve(): page.anchors for page in site}
    dead = []
    for page in site:
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (
                (page.path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page.path.resolve()
            )
            if not target.exists() or (parts.fragment and target in anchors and parts.fragment not in anchors[target]):
                dead.append((page.path.name, link))
    assert not dead


def test_nothing_comes_from_elsewhere(site):
    assert not [(page.path.name, r) for page in site for r in page.resources if r.startswith(("http:", "https:", "//"))]


TAKEN_BY = ROOT / "docs" / "pictures" / "screenshots.py"
SCREENSHOTS = re.findall(r'"((?:studio|report|comparison)_\w+)"', TAKEN_BY.read_text())


def test_pictures_are_drawn_by_the_build(site):
    for page in site:
        if {"start", "learn"} & set(page.path.relative_to(SITE).parts[:1]) or page.path.name == "index.html":
            screenshots = SCREENSHOTS if page.path.name == "studio.html" else ()  # these need a browser
            assert all("sphx_glr_" in i or Path(i).stem in screenshots for i in page.images), page.path


@pytest.mark.parametrize("term", [" ".join(term.split()) for term in TERMS.split(";")])
def test_search_finds(term, site):
    assert found(term), term


@pytest.mark.parametrize(("question", "page"), QUESTIONS.items())
def test_questions_are_answered_by_one_search(question, page, site):
    assert page in found(question), question


def test_every_line_of_a_fit_is_explained(site):
    text = (SITE / "start" / "reading.html").read_text()
    printed, table = (html.unescape(re.sub("<[^>]+>", "", part)) for part in text.split("<table", 1))
    lines = printed.partition("$ separatrix fit")[2].partition("largest weights")[0]
    labels = re.findall(r"^([A-Za-z][\w ,]*?)  +\S", lines, re.M)
    assert len(labels) > 10
    assert not [label for label in labels if label not in table]


def test_english(site):
    spellchecker = pytest.importorskip("spellchecker", reason="the spelling check comes with the docs extra")
    known = spellchecker.SpellChecker(language="en", distance=1)
    own = {word for word in (ROOT / "docs" / "spelling_wordlist.txt").read_text().split() if word[0] != "#"}
    names = {part.lower() for name in public_names() for part in re.findall(r"[A-Za-z]+", name)}
    unknown = {}
    for page in site:
        if page.path.name in ("genindex.html", "py-modindex.html", "search.html"):
            continue
        for word in page.words:
            plain = re.sub(r"'s?$", "", word).lower()
            if len(plain) > 2 and not known.known([plain]) and plain not in own and plain not in names:
                unknown.setdefault(plain, page.path.relative_to(SITE).as_posix())
    assert not unknown, " ".join(sorted(unknown))
