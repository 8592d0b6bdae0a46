"""The papers' tables, figures and exercises come out, and the command says so."""

import json
import sys
import threading

import numpy as np
import pytest
from typer.testing import CliRunner

from separatrix import DataError, SeparatrixError
from separatrix.app.cli import app
from separatrix.reproductions import cramma_tables as cramma
from separatrix.reproductions import dhs
from separatrix.reproductions import greedy_tables as greedy
from separatrix.reproductions import margin_perceptron_tables as margin_perceptron
from separatrix.reproductions.dhs import descent_problems as descent
from separatrix.reproductions.dhs import perceptron_problems as perceptron
from separatrix.reproductions.dhs import squared_error_problems as squared_error
from separatrix.reproductions.outcome import Check, Figure, Heading, Report, Table, Words, write

ROWS = [(table, row) for table in cramma.TABLES.values() for row in table.rows if row.updates <= 3_000_000]

LONG = 500_000  # updates, of those that are run in both arithmetics
DIVIDED = [
    pytest.param(t, r, id=f"{t.number}-{r.algorithm}-{r.parameter:g}", marks=[pytest.mark.slow] * (r.updates > LONG))
    for t, r in ROWS
    if r.algorithm != "Perceptron" and t.space.delta == 0
]


@pytest.fixture(scope="module")
def data(sonar, wbc):
    """Both sets are at hand."""


def length(table, row):
    """Slow: a long one where a table has a shorter row of the same algorithm."""
    shorter = any(r.algorithm == row.algorithm and r.updates < row.updates for r in table.rows)
    return [pytest.mark.slow] * (shorter and row.updates > 3 * LONG)


@pytest.mark.parametrize(
    ("table", "row"),
    [pytest.param(t, r, id=f"{t.number}-{r.algorithm}-{r.parameter:g}", marks=length(t, r)) for t, r in ROWS],
)
def test_every_row_up_to_3_million_updates(data, table, row):
    """Margins in all printed digits, updates to the last one."""
    outcome = cramma.run_row(row, table, lambda updates: None, threading.Event())
    assert outcome.ours.printed == row.printed
    assert outcome.ours.updates == row.updates
    assert outcome.literal is None


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
    assert "70,798 and 1.03 with a kept at length beta" in " ".join(result.output.split())
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


@pytest.mark.parametrize(("table", "row"), DIVIDED)
def test_short_rows_are_the_same_in_the_authors_arithmetic(data, table, row):
    """It is tried only where ours differs, but it is no arithmetic that was chosen for those rows."""
    assert cramma.run_literally(row, table, lambda updates: None, threading.Event()).agree(row)


def test_the_authors_arithmetic_decides_a_row_that_differs(data, monkeypatch):
    """Ours is asked first, theirs only if it differs, and a row agrees if one of them has all of its numbers."""
    table, row = cramma.TABLES[2], cramma.TABLES[2].rows[0]
    monkeypatch.setattr(cramma.Numbers, "agree", lambda self, row: self.margin == 0.25)
    for margin, mark in ((0.25, "= in the authors' arithmetic"), (0.5, "DIFFERS")):
        second = cramma.Numbers(row.printed, row.updates, margin)
        monkeypatch.setattr(cramma, "run_literally", lambda *given, second=second: second)
        outcome = cramma.run_row(row, table, lambda updates: None, threading.Event())
        assert outcome.literal is second
        assert outcome.mark == mark
        assert outcome.agrees is (margin == 0.25)
        assert outcome.numbers is (second if outcome.agrees else outcome.ours)


def test_no_arithmetic_but_ours_for_the_perceptron_and_the_extended_space(data, monkeypatch):
    monkeypatch.setattr(cramma.Numbers, "agree", lambda self, row: False)
    for k, algorithm in ((1, "Perceptron"), (4, "CRAMMA")):
        row = next(row for row in cramma.TABLES[k].rows if row.algorithm == algorithm)
        outcome = cramma.run_row(row, cramma.TABLES[k], lambda updates: None, threading.Event())
        assert outcome.literal is None
        assert outcome.mark == "DIFFERS"


def test_the_authors_arithmetic_can_be_stopped(data, monkeypatch):
    table, row = cramma.TABLES[1], cramma.TABLES[1].rows[-1]
    monkeypatch.setattr("separatrix.reproductions.literal.PAUSE", 1000)
    seen, stop = [], threading.Event()

    def tell(updates):
        seen.append(updates)
        if len(seen) == 3:
            stop.set()

    cramma.run_literally(row, table, tell, stop)
    assert seen == [1001, 2001, 3001]


@pytest.mark.slow
def test_a_default_run_agrees(data):
    """Every cell: CRAMMA 10 and 1e12, of 21 million updates each, in the authors' arithmetic, all others in ours."""
    report = cramma.reproduce()
    assert report.agrees
    theirs = {
        (table, row["parameter"], row["authors_arithmetic"]["updates"])
        for table in ("table 1", "table 2", "table 3", "table 4")
        for row in report.data[table]
        if row["authors_arithmetic"]
    }
    assert theirs == {("table 1", 10, 21_220_354), ("table 2", 1e12, 21_690_267)}


def test_greedy(tmp_path):
    report = greedy.reproduce()
    assert report.agrees
    assert all(check.what.startswith(("figure 3.4", "figure 3.2")) for check in report.checks)
    assert [(c.source, c.here) for c in report.checks if "updates" in c.what] == [("60", "60")] * 4 + [("49", "49")]
    assert sum("faster than" in check.what for check in report.checks) == 4
    assert [len(loss) for loss in report.data["losses"].values()] == [60, 60, 60, 60, 49]
    assert {loss[-1] for loss in report.data["losses"].values()} == {0}
    report.draw(tmp_path)
    names = {
        f"greedy-{n}.png" for n in ("2.1", "2.2", "2.3", "2.4", "3.1", "3.2", "3.3", "3.4", "4.1", "5.1", "5.2", "5.3")
    }
    assert {path.name for path in tmp_path.iterdir()} == names


def test_margin_perceptron(data):
    report = margin_perceptron.reproduce()
    assert len(report.checks) == 20
    assert report.agrees


def test_margin_perceptron_says_what_is_missing(monkeypatch):
    def load_nothing(**how):
        raise DataError("No such file.")

    monkeypatch.setattr(margin_perceptron, "load_sonar", load_nothing)
    monkeypatch.setattr(margin_perceptron, "load_wbc", load_nothing)
    report = margin_perceptron.reproduce()
    assert len(report.checks) == 20
    said = [part.text for part in report.parts if isinstance(part, Words)]
    for k, name in enumerate(("sonar", "WBC without 11, scaled")):
        assert said[k] == f"The data set {name} is MISSING, and a random problem takes its place. No such file."
    assert set(report.data["missing"]) == {"sonar", "WBC without 11, scaled"}


def test_words_of_exercise_1_follow_the_run():
    down, up = np.array([4.0, 3.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    assert descent.course(down) == "descends (J_s is 2 after 2 steps, 1 after 3)"
    assert descent.course(up) == "climbs (J_s is 3 after 2 steps, 4 after 3)"
    assert "J_s, 1, after 3 steps; the table counts 5," in descent.newton_in_words(down, 5)
    assert "J_s, 1, after 1 step;" in descent.newton_in_words(np.array([4.0, 1.0, 1.0]), 3)


def test_words_of_dhs_follow_the_run(monkeypatch):
    """A fit that goes wrong is not described as one that went right."""

    class Backwards(squared_error.LeastSquares):
        def decision_function(self, X):
            return -super().decision_function(X)

    monkeypatch.setattr(squared_error, "LeastSquares", Backwards)
    report = Report("x", "x", "x")
    squared_error.example_1(report)
    assert "gets 4 of 4 wrong" in report.parts[-1].text
    squared_error.problem_32(report)
    assert "agree on 300 of 300" not in report.parts[-1].text
    monkeypatch.setattr(perceptron.bounds, "any_start", lambda *a: 1.0)
    perceptron.exercise_4(report)
    assert "do NOT stay within k_0" in report.parts[-1].text
    assert not report.agrees


def test_dhs(tmp_path):
    report = dhs.reproduce()
    assert report.agrees, report.verdict()
    headings = [part.text for part in report.parts if isinstance(part, Heading)]
    assert len(headings) == len(dhs.WHERE) == 26
    words = " ".join(part.text for part in report.parts if isinstance(part, Words))
    for text in ("a = (11/3, -4/3, -2/3)", "margin 1.414214", "margin 0.353553", "(1, 1), (2, 0), (1, 0), (0, 1)",
                 "separates the four points", "after 1 step; the table counts 2,", "stay within k_0 on each of these 5",
                 "1.001 of it climbs", "leaves 1 of the 20 points wrong", "agree on 300 of 300",
                 "need not be convex", "all of 10,000 random points", "0 corrections from a = 0"):  # fmt: skip
        assert text in words
    tables = {part.title: part.rows for part in report.parts if isinstance(part, Table)}
    assert [row[1] for row in tables["(a), (b) from a = 0, one point after the other"]] == ["33", "9"]
    assert [row[1] for row in tables["eta = 0.9, b(1) = 1"]] == ["not separable", "separable"]
    planes = [row[2] for row in tables["Largest distance of a line from the four points"]]
    assert sorted(planes) == ["1.414214"] * 4 + ["none: not separable"] * 6
    cycle = tables["The vector at the end of an epoch comes again, exactly"]
    assert [row[0] for row in cycle] == ["categories 1 and 3, rounded", "categories 1 and 3, doubled and rounded"]
    report.draw(tmp_path)
    assert {f"dhs-{k}.png" for k in (1, 6, 7, 9, 10, 11, 12)} < {path.name for path in tmp_path.iterdir()}


def test_one_exercise_by_command():
    result = CliRunner().invoke(app, ["reproduce", "dhs", "--exercise", "9"])
    assert result.exit_code == 0
    assert "Exercise 9" in result.output
    assert "Exercise 2" not in result.output
    assert CliRunner().invoke(app, ["reproduce", "dhs", "--exercise", "13"]).exit_code == 3


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


@pytest.mark.parametrize("spoilt", ["folder", "page", "pictures"])
def test_what_cannot_be_written_is_told_before_the_work(monkeypatch, tmp_path, spoilt):
    folder = tmp_path / "new" / "reports"
    if spoilt == "folder":
        (tmp_path / "new").write_text("a file")
    elif spoilt == "page":
        (folder / "cramma.md").mkdir(parents=True)
    else:
        folder.mkdir(parents=True)
        (folder / "cramma").write_text("a file")
    monkeypatch.setattr(cramma, "reproduce", lambda *a: pytest.fail("worked before it complained"))
    result = CliRunner().invoke(app, ["reproduce", "cramma", "--output", str(folder)])
    assert result.exit_code == 3
    assert str(folder).replace("\n", "") in result.output.replace("\n", "")


def test_a_new_folder_is_made_before_the_work(monkeypatch, tmp_path):
    folder = tmp_path / "new" / "reports"
    seen = []
    monkeypatch.setattr(greedy, "reproduce", lambda: seen.append(folder.is_dir()) or Report("greedy", "x", "x"))
    assert CliRunner().invoke(app, ["reproduce", "greedy", "--output", str(folder)]).exit_code == 0
    assert seen == [True]
    assert {path.name for path in folder.iterdir()} == {"greedy.md", "greedy.json"}


def test_without_matplotlib_the_message_comes_before_the_work(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(cramma, "reproduce", lambda *a: pytest.fail("worked before it complained"))
    result = CliRunner().invoke(app, ["reproduce", "cramma", "--output", str(tmp_path)])
    assert isinstance(result.exception, SeparatrixError) or "'.[plot]'" in result.output
    assert "'.[plot]'" in f"{result.exception}{result.output}"
