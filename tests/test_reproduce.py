"""The papers' tables, figures and exercises come out, and the command says so."""

import json
import sys
import threading

import pytest
from typer.testing import CliRunner

from separatrix import SeparatrixError
from separatrix.cli import app
from separatrix.experiments import cramma, dhs, greedy, margin_perceptron
from separatrix.experiments.report import Check, Figure, Heading, Report, Table, Words, write

ROWS = [(table, row) for table in cramma.TABLES.values() for row in table.rows if row.updates <= 3_000_000]


@pytest.fixture(scope="module")
def data(sonar, wbc):
    """Both sets are at hand."""


@pytest.mark.parametrize(("table", "row"), ROWS, ids=[f"{t.number}-{r.algorithm}-{r.parameter:g}" for t, r in ROWS])
def test_every_row_up_to_3_million_updates(data, table, row):
    """Margins in all printed digits, updates to the last one."""
    outcome = cramma.run_row(row, table, lambda updates: None, threading.Event())
    assert outcome.printed == row.printed
    assert outcome.updates == row.updates


def test_cramma_command(data, tmp_path, monkeypatch):
    monkeypatch.setattr(cramma, "DEFAULT_LIMIT", 300_000)
    arguments = ["reproduce", "cramma", "--table", "1", "--jobs", "2", "--output", str(tmp_path)]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "160"})
    assert result.exit_code == 0, result.output
    for words in ("247,140", "248,267", "= ", "`--full` runs them", "All 4 checks against the source agree"):
        assert words in result.output
    assert (
        "| Perceptron | b/(eta R^2) = 1 | 5.78 | 5.78 | 247,140 | 247,140 | = |" in (tmp_path / "cramma.md").read_text()
    )
    numbers = json.loads((tmp_path / "cramma.json").read_text())
    assert numbers["agrees"] is True
    assert numbers["data"]["table 1"][0]["updates_here"] == 247_140
    assert (tmp_path / "cramma" / "cramma-table-1.png").stat().st_size > 5000


def test_a_count_that_differs_is_marked_and_fails(data, monkeypatch):
    table = cramma.TABLES[2]
    false = table.rows[0]._replace(updates=70_799)
    monkeypatch.setitem(cramma.TABLES, 2, table._replace(rows=(false,)))
    result = CliRunner().invoke(app, ["reproduce", "cramma", "--table", "2"], env={"COLUMNS": "160"})
    assert result.exit_code == 1
    assert "DIFFERS" in result.output
    assert "70,799 in the source, 70,798 here" in result.output
    assert "what rounding alone does" in result.output
    report = cramma.reproduce([2])
    assert not report.agrees


def test_progress_is_told(data):
    seen = {}

    def watch(name, total):
        seen[name] = [total]
        return seen[name].append

    cramma.reproduce([2], limit=110_000, jobs=1, watch=watch)
    assert set(seen) == {"table 2 CRAMMA 1e+06", "table 2 CRAMMA 1e+07"}
    for total, *steps in seen.values():
        assert steps == sorted(steps)
        assert steps[-1] == total


def test_rounding_is_what_fig_1_to_the_letter_shows(data):
    """A short row does not depend on it."""
    report = Report("x", "x", "x")
    table = cramma.TABLES[2]
    row = table.rows[0]
    outcome = cramma.Outcome(row._replace(updates=1), row.printed, row.updates, 0.001)
    cramma._explain_differences(report, {(2, row): outcome}, jobs=2)
    (words,) = report.parts
    assert words.text.startswith("Rounding does not explain")
    assert "takes 70,798, 70,798, 70,798, 70,798" in words.text


def test_greedy(tmp_path):
    report = greedy.reproduce()
    assert report.agrees
    assert [len(loss) for loss in report.data["losses"].values()] == [60, 60, 60, 60, 49]
    assert {loss[-1] for loss in report.data["losses"].values()} == {0}
    report.draw(tmp_path)
    names = {f"greedy-{n}.png" for n in ("2.3", "3.1", "3.3", "3.4", "4.1", "5.1", "5.2", "5.3")}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_margin_perceptron(data):
    report = margin_perceptron.reproduce()
    assert len(report.checks) == 20
    assert report.agrees


def test_dhs(tmp_path):
    report = dhs.reproduce()
    assert report.agrees, report.verdict()
    headings = [part.text for part in report.parts if isinstance(part, Heading)]
    assert len(headings) == len(dhs.WHERE) == 19
    words = " ".join(part.text for part in report.parts if isinstance(part, Words))
    for text in ("a = (11/3, -4/3, -2/3)", "margin 1.414214", "0.353553 = sqrt(2)/4", "(1, 1), (2, 0), (1, 0), (0, 1)"):
        assert text in words
    tables = {part.title: part.rows for part in report.parts if isinstance(part, Table)}
    assert [row[1] for row in tables["(a), (b) from a = 0, one point after the other"]] == ["33", "9"]
    assert [row[1] for row in tables["eta = 0.9, b(1) = 1"]] == ["not separable", "separable"]
    report.draw(tmp_path)
    assert {f"dhs-{k}.png" for k in (1, 6, 7, 9, 10, 11, 12)} < {path.name for path in tmp_path.iterdir()}


def test_one_exercise_by_command():
    result = CliRunner().invoke(app, ["reproduce", "dhs", "--exercise", "9"])
    assert result.exit_code == 0
    assert "Exercise 9" in result.output
    assert "Exercise 2" not in result.output
    assert CliRunner().invoke(app, ["reproduce", "dhs", "--exercise", "13"]).exit_code == 2


def test_several_reports_make_one_page(tmp_path):
    one = Report("one", "One", "claims this", [Words("said"), Table("T", ["a|b"], [["1"]])], [Check("n", "1", "1")])
    two = Report("two", "Two", "claims that", [Figure("f", "a picture", lambda figure: None)], [Check("m", "1", "2")])
    written = write([one, two], tmp_path, "both", plots=True)
    page = (tmp_path / "both.md").read_text()
    assert page.startswith("# Reproductions")
    for text in ("## One", "a\\|b", "![a picture](both/f.png)", "1 of 1 checks against the source differ: m: 1"):
        assert text in page
    assert (tmp_path / "both" / "f.png") in list(written[-1].iterdir())
    assert "f.png" not in two.markdown(None)


def test_without_matplotlib_the_message_comes_before_the_work(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(cramma, "reproduce", lambda *a: pytest.fail("worked before it complained"))
    result = CliRunner().invoke(app, ["reproduce", "cramma", "--output", str(tmp_path)])
    assert isinstance(result.exception, SeparatrixError) or "separatrix[plot]" in result.output
    assert "separatrix[plot]" in f"{result.exception}{result.output}"
