"""Errors that users meet: each names what is wrong, in plain words, in a few lines."""

import re
from pathlib import Path

import pytest
from message_cases import PYTHON

from separatrix import SeparatrixError

PRIVATE = (Path(__file__).parents[1] / ".ci" / "words.txt").read_text().split("\n")[:-1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("mistake", "words"), PYTHON.values(), ids=PYTHON)
def test_a_mistake_is_named(mistake, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((SeparatrixError, ValueError, AttributeError)) as caught:
        mistake()
    text = str(caught.value)
    assert words in text
    assert not re.search(rf"\b({'|'.join(PRIVATE)})\b", text)
    if isinstance(caught.value, SeparatrixError):  # our own: sentences, short enough to be read
        assert text[0] != " "
        assert text.rstrip()[-1] in ".?"
        assert len(text) < 500


def test_there_are_sixty():
    assert len(PYTHON) >= 60
