"""The command line, as someone at a terminal meets it."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from separatrix.cli import app

runner = CliRunner()


def test_fit_reports_the_margin_and_its_proof():
    result = runner.invoke(app, ["fit"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    for words in ("Separable", "0.00139251727", "support vectors", "569 of 569", "holds", "active-set"):
        assert words in result.output


def test_fit_with_a_soft_margin():
    result = runner.invoke(app, ["fit", "--C", "1"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    assert "soft with C = 1" in result.output


@pytest.mark.parametrize("arguments", [["fit", "--C", "-1"], ["fit", "--tol", "2"], ["fti"]])
def test_mistakes_get_a_sentence_and_no_traceback(arguments):
    result = runner.invoke(app, arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_help_imports_nothing_heavy():
    code = "import sys, separatrix.cli; print([m for m in ('numba', 'sklearn', 'polars') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_help_shows_a_worked_example():
    assert "Example: separatrix fit" in runner.invoke(app, ["fit", "--help"]).output
