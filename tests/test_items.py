"""The page that says where each item of the sources is: each row names things that exist and hold the item."""

import inspect
import re
from pathlib import Path

import pytest
import typer

import separatrix
from separatrix.app.cli import app

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "items.md"
RUNS = ROOT / "docs" / "reproductions.md"  # what `separatrix reproduce` prints
CHAPTERS = {
    "cramma": "## CRAMMA, tables",
    "greedy": "## The greedy Perceptron",
    "margin-perceptron": "## The incremental margin",
    "dhs": "## Duda, Hart",
}
ITEMS = {  # as the sources were read, item by item
    "CRAMMA": 36,
    "PERC, the lecture on the Perceptron": 16,
    "TAO, the slides on the margin": 14,
    "GREEDY, the dissertation": 46,
    "DHS, chapter 5: text": 80,
    "DHS, chapter 5: problems": 34,
    "DHS, chapter 5: computer exercises": 13,
}

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not part of an installed package")


def rows(text=None):
    """(item, what it says, where, text) of every table."""
    for line in (PAGE.read_text() if text is None else text).splitlines():
        if line.startswith("| ") and not line.startswith("| item"):
            yield [cell.strip() for cell in line.strip("| ").split(" | ")]


def named(where):
    """Names, commands and examples in a cell; words of Python such as `multi_class="ovo"` are left out."""
    return [name for name in re.findall(r"`([^`]+)`", where) if name.startswith(("separatrix", "examples/"))]


def linked(where):
    return re.findall(r"\]\(([^)]+)\)", where)


def opened(name):
    """The text of an example, the docstring of a name, or the output of a command."""
    if name.startswith("examples/"):
        return (ROOT / name).read_text()
    if " " in name:
        assert_command(name.split())
        return output_of(name.split())
    thing = separatrix
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return inspect.getdoc(thing)


def assert_command(words):
    """The command exists and takes these options; it is not run."""
    command, options = typer.main.get_command(app), []
    for word in words[1:]:
        if word.startswith("--") or options:
            options.append(word)
        else:
            command = command.commands[word]
    try:
        command.make_context(words[-1], options)
    except Exception as error:
        raise AssertionError(f"{' '.join(words)}: {error}") from error


def output_of(words):
    """The part of the page of reproductions that the command wrote."""
    assert words[:2] == ["separatrix", "reproduce"], words
    text = section(RUNS.read_text(), CHAPTERS[words[2]], "## ")
    if "--exercise" in words:
        text = section(text, f"### Exercise {words[-1]}:", "### ")
    if "--table" in words:
        text = section(text, f"**Table {words[-1]}", "**Table")
    return text


def section(text, first, following):
    start = text.index(first)
    end = text.find("\n" + following, start + 1)
    return text[start:] if end < 0 else text[start:end]


def plain(text):
    return " ".join(text.split())


def assert_found(row):
    """The text of the row stands in something that the row names."""
    item, _, where, look_for = row
    look_for = look_for.strip("`").strip()
    assert len(look_for) > 1, row
    texts = [opened(name) for name in named(where)] + [(PAGE.parent / link).read_text() for link in linked(where)]
    assert any(plain(look_for) in plain(text) for text in texts), f"{item}: no {look_for!r} in {where}"


def test_every_item_of_the_sources_has_its_row():
    counted = {}
    for chapter in PAGE.read_text().split("\n## ")[1:]:
        title, _, tables = chapter.partition("\n")
        found = list(rows(tables))
        counted[title] = len(found)
        assert len({row[0] for row in found}) == len(found), title
        for row in found:
            assert len(row) == 4, row
            assert all(row), row
            assert named(row[2]) or linked(row[2]), row
    assert counted == ITEMS
    assert sum(counted.values()) == 239


def test_every_item_is_found_where_its_row_says():
    wrong = []
    for row in rows():
        try:
            assert_found(row)
        except (AssertionError, AttributeError, KeyError, OSError, ValueError) as error:
            wrong.append(f"{row[0]}: {error!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        "separatrix.NoSuchClass",
        "separatrix.bounds.no_such_bound",
        "separatrix reproduce nothing",
        "separatrix reproduce dhs --exercise 13",
        "separatrix reproduce dhs --figure 3",
        "examples/start/plot_nothing.py",
    ],
)
def test_a_wrong_name_is_found(wrong):
    with pytest.raises((AssertionError, AttributeError, KeyError, OSError)):
        assert_found(["an item", "something", f"`{wrong}`", "`text`"])


@pytest.mark.parametrize(
    ("where", "look_for"),
    [
        ("`separatrix.bounds.novikoff`", "theorem 99"),
        ("`examples/criteria/plot_descent.py`", "The Perceptron criterion of three patterns"),
        ("`separatrix reproduce dhs --exercise 11`", "problem 29"),
        ("[](../learn/maximum_margin.md)", "a theorem that is not there"),
    ],
)
def test_an_item_that_is_not_there_is_found(where, look_for):
    with pytest.raises(AssertionError, match="no "):
        assert_found(["an item", "something", where, f"`{look_for}`"])


def test_every_attribute_exists():
    """`X` (its `y_`): the docstring of X documents it."""
    for row in rows():
        for name, attribute in re.findall(r"`separatrix\.(\w+)` \(its `(\w+)`\)", row[2]):
            assert re.search(rf"\b{attribute}\b", getattr(separatrix, name).__doc__) or hasattr(
                getattr(separatrix, name), attribute
            ), (name, attribute)
