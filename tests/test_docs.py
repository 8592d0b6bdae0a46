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
DOCS = ROOT / "docs"
WRITTEN = [
    path for folder in (DOCS, DOCS / "start", DOCS / "learn", DOCS / "reference") for path in folder.glob("*.md")
]


def blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.S)


def test_a_rule_of_ones_own_is_a_script(tmp_path):
    (code,) = blocks(DOCS / "learn" / "own_rule.md")
    script = tmp_path / "halved.py"
    script.write_text(code)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("separable: margin")


def test_readme_example(capsys):
    (code,) = blocks(ROOT / "README.md")
    X, y = load_breast_cancer(return_X_y=True)
    exec(code, {"X": X, "y": y})
    assert "Separable" in capsys.readouterr().out


@pytest.mark.parametrize(
    "path", [p for p in WRITTEN if blocks(p) and p.stem != "own_rule"], ids=lambda p: p.relative_to(DOCS).as_posix()
)
def test_pages_run(path):
    """The blocks of a page share their names. Those with prompts have to print what is shown."""
    names = {"__name__": path.stem}
    for code in blocks(path):
        if 'device="cuda"' in code and not pytest.importorskip("torch").cuda.is_available():
            pytest.skip("there is no GPU")
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, names, path.name, str(path), 0)
            results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
            assert results.failed == 0
            assert results.attempted > 0
            names = test.globs
        else:
            exec(compile(code, str(path), "exec"), names)


def test_every_block_says_its_language():
    """So that none is left out by mistake: Python is run here, commands by the build, ``sh`` installs,
    ``js`` is run by test_self_check."""
    known = {
        "python",
        "sh",
        "c",
        "js",
        "docker",
        "{eval-rst}",
        "{toctree}",
        "{drawn}",
        "{run-command}",
        "{command-line}",
        "{glossary}",
    }
    known |= {"{include}", "{grid}"}
    for path in WRITTEN:
        for opening in re.findall(r"^```([^\n`]*)\n.*?^```", path.read_text(), flags=re.S | re.M):
            assert {*opening.split()[:1]} & known, (path.name, opening)


def test_pages_speak_of_public_names_only():
    """Modules inside the package move; pages may not depend on where."""
    import separatrix

    for path in [*WRITTEN, *(ROOT / "examples").rglob("*.py")]:
        for name in re.findall(r"(?:from|import) separatrix\.(\w+)", path.read_text()):
            assert name in separatrix.__all__, (path.name, name)


def test_examples_say_what_one_learns():
    examples = sorted((ROOT / "examples").rglob("plot_*.py"))
    assert len(examples) >= 25
    for path in examples:
        _, first, _ = path.read_text().split("\n\n", 2)
        assert first.startswith("You learn "), path.name
        assert "plt.show()" in path.read_text(), path.name


def test_readme_says_which_online_rules_take_what():
    (words,) = re.findall(r"Online rules resume.*?\n\n", (ROOT / "README.md").read_text(), flags=re.S)
    blocks_of, soft = (set(re.findall("`([A-Z]\\w+)`", part)) for part in words.split("`partial_fit`"))
    assert blocks_of == {cls.__name__ for cls in ONLINE if not hasattr(cls(), "partial_fit")}
    assert soft == {cls.__name__ for cls in ONLINE if "delta" not in cls().get_params()}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text()):
        assert (ROOT / target).exists(), target
