"""What the documents show runs."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cases import ONLINE
from sklearn.datasets import load_breast_cancer

ROOT = Path(__file__).parents[1]


def blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.S)


def test_contributing_shows_a_complete_rule(tmp_path):
    (code,) = blocks("CONTRIBUTING.md")
    script = tmp_path / "halved.py"
    script.write_text(code)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("separable: margin")


def test_readme_example(capsys):
    (code,) = blocks("README.md")
    X, y = load_breast_cancer(return_X_y=True)
    exec(code, {"X": X, "y": y})
    assert "Separable" in capsys.readouterr().out


def test_squared_error_need_not_separate():
    results = doctest.testfile(str(ROOT / "docs" / "squared_error.md"), module_relative=False)
    assert results.failed == 0
    assert results.attempted > 10


def test_many_categories():
    names = {}
    for code in blocks("docs/many-categories.md"):
        exec(code, names)


def test_readme_says_which_online_rules_take_what():
    (words,) = re.findall(r"Online rules resume.*?\n\n", (ROOT / "README.md").read_text(), flags=re.S)
    blocks_of, soft = (set(re.findall("`([A-Z]\\w+)`", part)) for part in words.split("`partial_fit`"))
    assert blocks_of == {cls.__name__ for cls in ONLINE if not hasattr(cls(), "partial_fit")}
    assert soft == {cls.__name__ for cls in ONLINE if "delta" not in cls().get_params()}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text()):
        assert (ROOT / target).exists(), target
