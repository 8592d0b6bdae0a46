"""What the documents show runs."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

import separatrix

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WRITTEN = [
    path
    for folder in (DOCS, DOCS / "start", DOCS / "how-to", DOCS / "learn", DOCS / "reference")
    for path in folder.glob("*.md")
]


def blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.S)


def test_a_rule_of_ones_own_is_a_script(tmp_path):
    (code,) = blocks(DOCS / "learn" / "own_rule.md")
    script = tmp_path / "halved.py"
    script.write_text(code)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("linearly separable: margin")


def test_readme_example():
    """The quickstart prints what is shown."""
    names = {}
    for code in blocks(ROOT / "README.md"):
        test = doctest.DocTestParser().get_doctest(code, names, "README.md", "README.md", 0)
        results = doctest.DocTestRunner().run(test, clear_globs=False)
        assert results.failed == 0
        assert results.attempted > 0
        names = test.globs


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
        "bibtex",
        "docker",
        "{eval-rst}",
        "{toctree}",
        "{drawn}",
        "{run-command}",
        "{command-line}",
        "{glossary}",
    }
    known |= {"{include}", "{grid}", "{index}"}
    for path in WRITTEN:
        for opening in re.findall(r"^```([^\n`]*)\n.*?^```", path.read_text(), flags=re.S | re.M):
            assert {*opening.split()[:1]} & known, (path.name, opening)


def test_pages_speak_of_public_names_only():
    """Modules inside the package move; pages may not depend on where."""
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


CAPABILITIES = re.findall(
    r"^\| \{py:class\}`~separatrix\.(\w+)` \| (.*) \|$",
    (DOCS / "reference" / "capabilities.md").read_text(),
    flags=re.M,
)


def fits(estimator, *rows):
    """Whether the fit is not refused."""
    try:
        estimator.fit(*rows)
    except (separatrix.DataError, separatrix.UnavailableError, TypeError, ValueError):
        return False
    return True


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "cells"), CAPABILITIES)
def test_the_capability_table_is_true(name, cells):
    partial, soft, weighted, modes, out_of_core = cells.replace("`", "").split(" | ")
    make = getattr(separatrix, name)
    parameters = make().get_params()
    assert (partial == "yes") == hasattr(make(), "partial_fit")
    assert soft == next((word for word in ("C", "delta") if {word, word + "s"} & parameters.keys()), "-")
    assert (weighted == "yes") == ("class_weight" in parameters)
    X, y = load_iris(return_X_y=True)
    if "multi_class" in parameters:
        assert modes.split(", ") == [m for m in ("ovr", "ovo", "joint") if fits(make(multi_class=m), X, y)]
    X, y = X[:100], y[:100]
    assert (out_of_core == "yes") == fits(make(), separatrix.data.from_blocks([(X[::2], y[::2]), (X[1::2], y[1::2])]))
    assert fits(make(), csr_array(X), y)


def test_the_capability_table_has_every_estimator():
    exported = (getattr(separatrix, name) for name in separatrix.__all__)
    classes = {value.__name__ for value in exported if isinstance(value, type) and issubclass(value, BaseEstimator)}
    assert {name for name, _ in CAPABILITIES} == classes


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text()):
        assert (ROOT / target).exists(), target
