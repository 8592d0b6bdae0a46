"""The repository uses the field's words: no expression of .ci/words.txt, and no endless lines in Markdown."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRIVATE = [word for word in (ROOT / ".ci" / "words.txt").read_text().splitlines() if word and word[0] != "#"]
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks")
GENERATED = {"_build", "gallery", "generated", "backreferences"}
# Former values of parameters; the checker of formats; what the list is about; the symbols and the history.
EXEMPT = {"former.py", "test_former_models.py", "test_words.py", "CHANGELOG.md", "NOTES.md", "symbols.md"}


def texts(*suffixes):
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and not GENERATED & set(path.parts) and path.name not in EXEMPT:
                yield path
    yield from (path for path in sorted(ROOT.glob("*.md")) if path.name not in EXEMPT)


def test_no_private_words():
    found = []
    expression = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, PRIVATE))})(?![\w-])")
    for path in texts(".md", ".py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found += [f"{path.relative_to(ROOT)}:{number} {word}" for word in expression.findall(line)]
    assert not found


def written_lines():
    """Prose of Markdown without code blocks, formulas, tables and headings."""
    for path in texts(".md"):
        inside = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            inside ^= line.lstrip().startswith("```")
            if not inside and not line.startswith(("|", "#", "!", "$$")):
                yield path, number, line


def test_lines_of_prose_are_short():
    pages = {
        "reproductions.md",
        "study.md",
        "study_head.md",
        "study_remarks.md",
        "items.md",
    }  # written by commands, a list
    long = [
        f"{path.name}:{number}" for path, number, line in written_lines() if len(line) > 160 and path.name not in pages
    ]
    assert not long


@pytest.mark.parametrize("word", ["SVM", "overfitting", "hyperparameter", "outlier", "out-of-core"])
def test_the_documents_use_the_words_of_their_readers(word):
    assert any(word in line for _, _, line in written_lines())
