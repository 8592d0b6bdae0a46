"""The page that says where each item of the sources is: no row is empty, and every name on it exists."""

import re
from pathlib import Path

import pytest
import typer

import separatrix
from separatrix.app.cli import app

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "items.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not part of an installed package")


def rows():
    """(item, what it says, where) of every table."""
    for line in PAGE.read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| item"):
            yield [cell.strip() for cell in line.strip("| ").split(" | ")]


def named(where):
    """Names, commands and examples in a cell; words of Python such as `multi_class="ovo"` are left out."""
    return [name for name in re.findall(r"`([^`]+)`", where) if name.startswith(("separatrix", "examples/"))]


def assert_exists(name):
    if name.startswith("examples/"):
        assert (ROOT / name).exists(), name
    elif " " in name:
        assert_command(name.split())
    else:
        thing = separatrix
        for part in name.split(".")[1:]:
            thing = getattr(thing, part)


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


def test_no_row_is_empty():
    found = list(rows())
    assert len(found) > 170
    for row in found:
        assert len(row) == 3, row
        item, says, where = row
        assert item, row
        assert says, row
        assert named(where) or "](" in where, row
    assert "not built" not in PAGE.read_text().lower()
    items = [(row[0], row[1]) for row in found]
    assert len(set(items)) == len(items)


def test_every_name_exists():
    checked = 0
    for _, _, where in rows():
        for name in named(where):
            assert_exists(name)
            checked += 1
        for link in re.findall(r"\]\(([^)]+)\)", where):
            assert (PAGE.parent / link).exists(), link
    assert checked > 150


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
    with pytest.raises((AssertionError, AttributeError, KeyError)):
        assert_exists(wrong)


def test_every_attribute_exists():
    """`X` (its `y_`): the docstring of X documents it."""
    for _, _, where in rows():
        for name, attribute in re.findall(r"`separatrix\.(\w+)` \(its `(\w+)`\)", where):
            assert re.search(rf"\b{attribute}\b", getattr(separatrix, name).__doc__) or hasattr(
                getattr(separatrix, name), attribute
            ), (name, attribute)
