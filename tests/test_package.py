"""What a published package consists of: its files agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
yaml = pytest.importorskip("yaml", reason="PyYAML comes with the tests")


def test_the_lowest_versions_are_those_that_are_tested():
    wanted = dict(re.findall(r"^([\w-]+)==([\d.]+)\.\*$", (ROOT / ".ci/lowest.txt").read_text(), flags=re.M))
    asked = dict(re.match(r"([\w-]+)>=([\d.]+)", line).groups() for line in PROJECT["dependencies"])
    assert {"numpy", "scipy", "scikit-learn", "numba"} <= set(wanted)
    assert {name: asked[name] for name in wanted} == wanted


def test_the_version_is_one():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license"} <= set(cited)
    assert cited["version"] == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]


def test_every_section_of_the_changelog_has_a_date_but_the_one_to_come():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert headings[0] == f"{PROJECT['version'].partition('.dev')[0]} (unreleased)" or ".dev" not in PROJECT["version"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)", heading) for heading in headings[1:])


def test_the_workflow_runs_the_steps_of_ci_run():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    assert [step["run"] for step in workflow["jobs"]["ci"]["steps"] if "run" in step] == [".ci/run"]
    steps = (ROOT / ".ci/run").read_text()
    for command in ("twine check --strict", "python -m build", ".ci/lowest.txt", "separatrix fit", "lint-imports"):
        assert command in steps


def test_templates_ask_for_what_a_report_needs():
    templates = {path.stem: path.read_text() for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.md")}
    assert set(templates) == {"certificate_does_not_hold", "slower_than", "wrong_verdict"}
    for text in templates.values():
        head = yaml.safe_load(text.split("---")[1])
        assert {"name", "about", "title", "labels"} == set(head)
        assert "How to reproduce it" in text or "Times" in text
        assert "separatrix --version" in text
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert [hook["entry"].split()[0] for hook in hooks] == ["ruff", "ruff", "mypy", "lint-imports"]


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", "RELEASING.md", "CITATION.cff"])
def test_files_that_a_reader_looks_for_are_in_the_source_distribution(name):
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"][
        "include"
    ]
    assert (ROOT / name).exists()
    assert name in included
