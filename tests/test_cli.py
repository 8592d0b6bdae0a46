"""The command line, as someone at a terminal meets it."""

import gc
import gzip
import io
import json
import re
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from cases import EVERYONE
from rich.console import Console
from safetensors.numpy import save as pack
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import separatrix
from separatrix.app.cli import app, main, progress
from separatrix.app.cli.progress import Progress
from separatrix.app.workflows.progress import FitProgress
from separatrix.persistence.encoding import encode
from separatrix.persistence.files import _digest

runner = CliRunner()
COMMANDS = ["fit", "check", "compare", "predict", "show", "verify", "algorithms", "explain", "sample", "precompile"]
LINE = "x,label\n" + "".join(f"{x},{'high' if x > 4 else 'low'}\n" for x in range(10))
MIXED_UP = "x,label\n" + "".join(f"{x},{'high' if x % 2 else 'low'}\n" for x in range(10))


def run(*arguments, **options):
    return runner.invoke(app, [str(a) for a in arguments], env={"COLUMNS": "140"}, **options)


@pytest.fixture
def line(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text(LINE)
    return path


def test_the_table_is_shown_before_the_imports_of_a_fit(line):
    """The first lines come at once; what fits takes longer to import than they take in all."""
    words = ["fit", str(line), "--target", "label", "--cv", "2"]
    program = (
        "import sys; from separatrix.app.cli import main, terminal; shown = terminal.print_table\n"
        "def look(*given): shown(*given); print('sklearn' in sys.modules, 'numba' in sys.modules)\n"
        "terminal.print_table = look; main()"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].startswith("line.csv (10 rows, 1 feature)")
    assert "False False" in done.stdout.splitlines()


def test_the_end_of_a_command_collects_nothing(monkeypatch):
    """A collection walks all that was imported: half a second of Ctrl-C, and of every command."""
    monkeypatch.setattr("separatrix.app.cli.app", lambda: None)
    threshold = gc.get_threshold()
    try:
        main()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)


def test_fit_reports_the_margin_and_its_proof():
    result = run("fit", "--cv", "2")
    assert result.exit_code == 0
    for words in (
        "linearly separable (proved)",
        "0.0014 standard deviations, proven optimal",
        "bounds 0.00139252 .. 0.00139252",
        "5-fold cross-validation over 8 values of C, one-standard-error rule".replace("5", "2"),
        "Support vectors",
        "(relative, verified)",
        "worst perimeter",
    ):
        assert words in " ".join(result.output.split())


def test_fit_with_a_soft_margin():
    result = run("fit", "--C", "1", "--cv", "0")
    assert result.exit_code == 0
    assert "soft-margin linear SVM, C = 1" in result.output
    assert "CV accuracy" not in result.output


def test_fit_with_another_algorithm(line):
    result = run("fit", line, "-t", "label", "--algorithm", "perceptron", "--set", "margin=0.5", "--json")
    assert result.exit_code == 0
    printed = json.loads(result.stdout)["separator"]
    assert printed["name"] == "Perceptron"
    assert printed["parameters"]["margin"] == 0.5


@pytest.mark.parametrize("algorithm", ["Perceptron", "BatchPerceptron", "KernelPerceptron", "MaxMargin"])
def test_a_limit_in_time_is_kept(tmp_path, algorithm):
    """Nothing separates these rows, and so many epochs would take days."""
    rng = np.random.default_rng(0)
    path, model = tmp_path / "noise.csv", tmp_path / "m.sx"
    rows = np.column_stack([rng.normal(size=(300, 3)), rng.integers(0, 2, 300)])
    path.write_text("a,b,c,y\n" + "".join(f"{a},{b},{c},{y:.0f}\n" for a, b, c, y in rows))
    more = [] if algorithm == "MaxMargin" else ["--set", "max_iter=1000000000"]
    more += ["--set", "until=separated"] if algorithm in ("Perceptron", "KernelPerceptron") else []
    more += ["--set", "kernel=linear"] if algorithm == "KernelPerceptron" else []
    started = time.monotonic()
    result = run("fit", path, "-t", "y", "--algorithm", algorithm, *more, "--max-time", 0.2, "--cv", 2, "--save", model)
    assert result.exit_code == 0, result.output
    assert time.monotonic() - started < 60
    if algorithm == "MaxMargin":
        assert separatrix.load(model)[-1].max_time == 0.2
    else:
        assert "did not converge" in result.output
        assert separatrix.load(model)[-1].stop_reason_ == "callback"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "--C", "-1"],
        ["fit", "--tol", "2"],
        ["fti"],
        ["fit", "--set", "C=1"],
        ["fit", "--C", "1", "--algorithm", "Perceptron"],
        ["fit", "--tol", "1e-3", "--algorithm", "Perceptron"],
        ["fit", "--max-time", "1", "--algorithm", "LeastSquares"],
        ["compare", "--cv", "-3"],
    ],
)
def test_wrong_command_lines_get_a_sentence(arguments):
    result = run(*arguments)
    assert result.exit_code == 3
    assert "Traceback" not in result.output + result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "nothing.csv"], "There is no file nothing.csv"),
        (["fit", "--algorithm", "Perzeptron"], "Did you mean Perceptron"),
        (["fit", "--algorithm", "Perceptron", "--set", "margn=1"], "Did you mean margin?"),
        (["fit", "--algorithm", "Perceptron", "--set", "margin=-1"], "margin"),
        (["fit", "--report", "report.doc"], "Use .html, .md or .json"),
        (["fit", "--plot", "boundary.bmp"], "ends with .png"),
        (["fit", "--export", "r.pmml"], r"Use .onnx, .c or .json"),
        (["fit", "--algorithm", "Perceptron", "--set", "n_iter=5"], "Did you mean max_iter?"),
        (["show", "nothing.sx"], "There is no file nothing.sx"),
    ],
)
def test_mistakes_get_a_sentence_and_no_traceback(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 3
    assert words in result.stderr
    assert "Traceback" not in result.output + result.stderr


def test_a_mistake_of_ours_is_not_taken_for_an_answer(line, monkeypatch):
    """Status 1 means "not separable" for check; a crash must not end with it."""

    def crash(*arguments, **options):
        raise RuntimeError("broken")

    monkeypatch.setattr("separatrix.app.workflows.checking.separability", crash)
    result = run("check", line, "-t", "label")
    assert result.exit_code == 3
    assert "broken" in result.stderr


@pytest.mark.filterwarnings("default::UserWarning")
def test_warnings_are_notes(tmp_path, line):
    model = tmp_path / "m.sx"
    separatrix.save(separatrix.MaxMargin().fit([[0.0], [1.0]], [0, 1]), model, {"versions": {"scikit-learn": "0.1"}})
    result = run("show", model)
    assert result.exit_code == 0
    assert result.stderr.startswith(f"note: {model} was written with scikit-learn 0.1")
    assert ".py" not in result.stderr


def test_check_answers_with_its_exit_status(tmp_path, line):
    assert run("check", line, "-t", "label").exit_code == 0
    mixed = tmp_path / "mixed.csv"
    mixed.write_text(MIXED_UP)
    result = run("check", mixed, "-t", "label")
    assert result.exit_code == 1
    assert "the rows" in result.output
    rows = json.loads(run("check", mixed, "-t", "label", "--json").stdout)["infeasibility_proof"]["rows"]
    assert all(f" {row + 2}" in result.output for row in rows)  # reported as lines of the file
    assert run("check", mixed, "-t", "lable").exit_code == 3
    assert run("check", mixed, "--unknown").exit_code == 3


def test_check_undecided(line, monkeypatch):
    undecided = separatrix.Separability(None, "undecided", False, explanation="Undecided.")
    monkeypatch.setattr("separatrix.app.workflows.checking.separability", lambda *a, **k: undecided)
    assert run("check", line, "-t", "label").exit_code == 2


def test_standard_input_and_gzip(tmp_path, line):
    packed = tmp_path / "line.csv.gz"
    packed.write_bytes(gzip.compress(LINE.encode()))
    results = [
        run("check", line, "-t", "label"),
        run("check", "-", "-t", "label", input=LINE),
        run("check", packed, "-t", "label"),
    ]
    assert [r.exit_code for r in results] == [0, 0, 0]
    assert len({r.output for r in results}) == 1


def test_verify_needs_the_data(line, tmp_path):
    """Without DATA the command must not check the model against data that the user never named."""
    model = tmp_path / "model.sx"
    assert run("fit", line, "-t", "label", "--save", model).exit_code == 0
    result = run("verify", model)
    assert result.exit_code == 3
    assert "Missing argument 'DATA'" in result.stderr


def test_show_and_verify(tmp_path, line):
    model, other = tmp_path / "line.sx", tmp_path / "other.csv"
    assert run("fit", line, "-t", "label", "--C", "inf", "--save", model).exit_code == 0
    shown = run("show", model)
    for words in ("MaxMargin", "C_=inf", "proven upper bound", "line.csv", "sha256", "numpy"):
        assert words in shown.output
    printed = json.loads(run("show", model, "--json").stdout)
    assert printed["provenance"]["data"]["rows"] == 10
    assert "the data that the model was fitted on" in run("verify", model, line).output
    other.write_text(LINE.replace("4,low", "4.9,low"))
    failing = run("verify", model, other)
    assert failing.exit_code == 1
    assert "does NOT hold" in failing.output
    other.write_text(LINE.replace("low", "medium"))
    assert "class medium" in run("verify", model, other).stderr
    other.write_text("x,label\n1,low\n")
    assert "no rows of the class high" in run("verify", model, other).stderr


def test_labels_are_the_same_in_every_type(tmp_path):
    """2 comes before 10 and "10" before "2": which class is the positive one does not depend on the file."""
    x = [0.0, 1.0, 2.0, 7.0, 8.0, 9.0]
    y = [2, 2, 2, 10, 10, 10]
    data, other, model = tmp_path / "data.csv", tmp_path / "data.parquet", tmp_path / "m.sx"
    for labels in (y, [2, 2, 3, 3, 10, 10]):
        frame = pl.DataFrame({"x": x, "y": labels})
        frame.write_csv(data)
        assert run("fit", data, "-t", "y", "--C", "1", "--cv", "0", "--save", model).exit_code == 0
        for kind in (pl.UInt8, pl.Int64, pl.Float64, pl.String, pl.Categorical):
            column = pl.Series("y", [str(label) for label in labels] if kind in (pl.String, pl.Categorical) else labels)
            frame.with_columns(column.cast(kind)).write_parquet(other)
            result = run("verify", model, other)
            assert result.exit_code == 0, (kind, result.output)
            right = json.loads(run("predict", model, other, "--score", "--json").stdout)["right"]
            assert right == json.loads(run("predict", model, data, "--score", "--json").stdout)["right"]
    separatrix.save(separatrix.MaxMargin().fit(np.array(x)[:, None], np.array(y, dtype=float)), model)
    pl.DataFrame({"x": x, "y": y}).write_csv(data)
    assert run("verify", model, data, "-t", "y").exit_code == 0


def test_models_that_are_no_separators_get_a_sentence(tmp_path, line):
    """Such files come from older versions, or from elsewhere."""
    path = tmp_path / "m.sx"
    for model in (separatrix.MaxMargin(), StandardScaler().fit([[1.0]]), make_pipeline(StandardScaler())):
        arrays = {}
        document = json.dumps({"model": encode(model, arrays), "provenance": {}})
        printed = {"format": "separatrix", "format_version": "1", "document": document}
        path.write_bytes(pack(arrays, {**printed, "digest": _digest(document, arrays)}))
        for arguments in (["show", path], ["predict", path, line], ["verify", path, line]):
            result = run(*arguments)
            assert result.exit_code == 3
            assert "not a fitted classifier" in result.stderr
            assert "Traceback" not in result.stderr


def test_models_without_a_certificate(tmp_path, line):
    path, X, y = tmp_path / "m.sx", pl.DataFrame({"x": np.arange(10.0)}), np.where(np.arange(10) > 4, "high", "low")
    for model in (OneVsOneClassifier(separatrix.Perceptron()), separatrix.PiecewiseLinearMachine(random_state=0)):
        separatrix.save(model.fit(X, y), path)
        shown = run("show", path)
        assert shown.exit_code == 0, shown.output
        assert type(model).__name__ in shown.output
        assert json.loads(run("show", path, "--json").stdout)["certificates"] == []
        assert (
            json.loads(run("predict", path, line, "-t", "label", "--json").stdout)["prediction"]
            == model.predict(X).tolist()
        )
        result = run("verify", path, line, "-t", "label")
        assert result.exit_code == 3
        assert "has no certificate" in result.stderr


def test_predict_answers_for_every_row(tmp_path, line):
    """Rows without any value are filled in, not left out."""
    data, new, model = tmp_path / "data.csv", tmp_path / "new.csv", tmp_path / "m.sx"
    data.write_text("a,b,label\n" + "".join(f"{x},{2 * x},{'high' if x > 4 else 'low'}\n" for x in range(10)))
    assert run("fit", data, "-t", "label", "--impute", "--save", model).exit_code == 0
    new.write_text("a,b\n9,18\n,\n\n0,0\n")
    predictions = json.loads(run("predict", model, new, "--json").stdout)["prediction"]
    assert len(predictions) == 3
    assert [predictions[0], predictions[2]] == ["high", "low"]


def test_predict_says_what_does_not_fit(tmp_path, line):
    model, other = tmp_path / "line.sx", tmp_path / "other.csv"
    run("fit", line, "-t", "label", "--save", model)
    other.write_text("X\n3\n")
    result = run("predict", model, other)
    assert result.exit_code == 3
    assert "the column 'x' is not there. Did you mean 'X'?" in result.stderr
    other.write_text("x\n3\nseven\n" + "1\n" * 30)
    result = run("predict", model, other)
    assert "line 3: expected a number in the column 'x', found 'seven'" in result.stderr
    assert "use --missing seven" in result.stderr
    assert "--encode" not in result.stderr  # no option of another command
    other.write_text("x,z\n3,1\n,1\n")
    assert "The model does not fill them in" in run("predict", model, other).stderr
    other.write_text("x\n0\n9\n")
    assert "no column 'label' to compare with" in run("predict", model, other, "--score").stderr
    output = tmp_path / "answers.csv"
    assert run("predict", model, other, "--decision", "-o", output).exit_code == 0
    assert output.read_text().splitlines()[0] == "prediction,decision"
    assert json.loads(run("predict", model, other, "--json").stdout) == {"prediction": ["low", "high"]}
    other.write_text("x,label\n0,\n9,\n")  # a target that is there is ignored, even if it is empty
    assert json.loads(run("predict", model, other, "--json").stdout) == {"prediction": ["low", "high"]}
    assert "has no label in 2 of 2 rows" in run("predict", model, other, "--score").stderr
    other.write_text("x,label\n0,low\n1,low\n")
    assert "2 of 2 rows correctly classified" in run("predict", model, other, "--score").output


def test_predict_without_names(tmp_path):
    """Columns without names: with the labels, whichever column they are, and without them."""
    rows = [(x, "high" if x > 4 else "low", -2 * x) for x in range(10)]
    data, bare, model = tmp_path / "data.csv", tmp_path / "bare.csv", tmp_path / "m.sx"
    data.write_text("".join(f"{a},{label},{b}\n" for a, label, b in rows))
    bare.write_text("".join(f"{a},{b}\n" for a, _, b in rows))
    assert run("fit", data, "-t", "2", "--C", "inf", "--save", model).exit_code == 0
    expected = [label for _, label, _ in rows]
    for path in (data, bare):
        assert json.loads(run("predict", model, path, "--json").stdout)["prediction"] == expected
    assert "10 of 10 rows correctly classified" in run("predict", model, data, "--score").output
    assert "to compare with" in run("predict", model, bare, "--score").stderr
    table, numbers = tmp_path / "table.npy", tmp_path / "numbers.npy"
    values = np.array([[label == "high", a, b] for a, label, b in rows], dtype=float)
    np.save(table, values)
    np.save(numbers, values[:, 1:])
    assert run("fit", table, "-t", "1", "--C", "inf", "--save", model).exit_code == 0
    for path in (table, numbers):
        assert json.loads(run("predict", model, path, "--json").stdout)["prediction"] == values[:, 0].tolist()
    assert run("verify", model, table).exit_code == 0


def test_no_output_overwrites_an_input(tmp_path, line):
    """The table of --test is an input like DATA."""
    test = tmp_path / "later.json"
    content = "\n".join(f'{{"x": {x}, "label": "{"high" if x > 4 else "low"}"}}' for x in range(10))
    test.write_text(content)
    for output in ("--report", "--save"):
        result = run("fit", line, "-t", "label", "--test", test, output, test)
        assert result.exit_code == 3, output
        assert "later.json" in result.stderr
        assert test.read_text() == content


def test_compare_refuses_before_any_fit(line, tmp_path, monkeypatch):
    """Ranks over two files need cross-validation: without folds nothing may be fitted first."""
    other = tmp_path / "other.csv"
    other.write_text(MIXED_UP)
    monkeypatch.setattr("separatrix.app.workflows.comparing.compare", lambda *a, **k: pytest.fail("a fit was started"))
    result = run("compare", line, other, "-t", "label", "--cv", "0")
    assert result.exit_code == 3
    assert "--cv" in result.stderr


def test_libsvm_indices_mean_the_same_in_every_file(tmp_path):
    """A file in which the first feature does not occur counts as the file of the fit did."""
    data, other, model = (tmp_path / name for name in ("data.txt", "other.txt", "m.sx"))
    data.write_text("".join(f"{1 if x > 4 else -1} 0:{x} 1:{(x * 7) % 3}\n" for x in range(10)))
    other.write_text("-1 1:2\n-1 1:1\n")
    assert run("fit", data, "--save", model).exit_code == 0
    assert json.loads(run("predict", model, other, "--json").stdout)["prediction"] == [-1, -1]
    decision = json.loads(run("predict", model, other, "--decision", "--json").stdout)["decision"]
    fitted = separatrix.load(model)
    np.testing.assert_allclose(decision, fitted.decision_function([[0.0, 2.0], [0.0, 1.0]]))
    data.write_text(data.read_text().replace(" 1:", " 2:").replace(" 0:", " 1:"))
    assert run("fit", data, "--save", model).exit_code == 0
    other.write_text("-1 0:2\n")
    assert "index 0" in run("predict", model, other).stderr


def test_algorithms_are_found_and_told():
    printed = json.loads(run("algorithms", "--json").stdout)
    assert {entry["name"] for entry in printed} == {cls.__name__ for cls in EVERYONE}
    assert all(entry["description"].endswith(".") and "\n" not in entry["description"] for entry in printed)
    assert all(entry["source"] for entry in printed if entry["name"] != "PerceptronLike")
    assert "Freund & Schapire" in run("algorithms").output


def test_compare(tmp_path):
    rng = np.random.default_rng(0)
    path, picture = tmp_path / "clouds.csv", tmp_path / "comparison.svg"
    rows = [(*rng.normal(k * 6.0, 1.0, 2), f"c{k}") for k in (0, 1) for _ in range(20)]
    path.write_text("a,b,label\n" + "".join(f"{a},{b},{label}\n" for a, b, label in rows))
    result = run("compare", path, "-t", "label", "--cv", "2", "--plot", picture)
    assert result.exit_code == 0
    names = {cls.__name__ for cls in EVERYONE} - {"PerceptronLike", "MaxMargin"} | {"MaxMargin (hard)"}
    assert all(name in result.output for name in names)
    assert picture.read_text().lstrip().startswith("<?xml")
    printed = json.loads(run("compare", path, "-t", "label", "--cv", "0", "--json").stdout)
    (best,) = [row for row in printed if row["name"] == "MaxMargin (hard)"]
    assert best["share"] == pytest.approx(1.0, abs=1e-6)
    assert printed[0]["share"] == pytest.approx(best["share"], abs=1e-9)  # a linear program may reach the same vertex
    assert all(row["share"] is None or row["share"] <= 1.0 for row in printed)
    exact = separatrix.DynamicMargin().fit(*_table(path))
    (ours,) = [row for row in printed if row["name"] == "DynamicMargin"]
    assert ours["updates"] == exact.n_updates_
    assert ours["margin"] == pytest.approx(exact.directional_margin_)


def _table(path):
    table = separatrix.app.tables.read_table(path, "label")
    return table.X.to_numpy(), table.y


def test_compare_where_nothing_separates(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED_UP)
    result = run("compare", path, "-t", "label", "--cv", "0", "--max-time", "0.2")
    assert result.exit_code == 0
    assert "MaxMargin (hard): not applicable, the classes are not separable" in result.output


def test_help_imports_nothing_heavy():
    code = (
        "import sys, separatrix.app.cli; "
        "print([m for m in ('numba', 'sklearn', 'polars', 'numpy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_a_worked_example(command):
    assert f"Example: separatrix {command}" in run(command, "--help").output


def test_version():
    assert run("--version").output.strip() == f"separatrix {separatrix.__version__}"


def test_progress_is_silent_without_a_terminal(capsys):
    with Progress() as tell:
        assert tell is None
    assert capsys.readouterr().err == ""


def test_progress_shows_on_a_terminal_and_leaves_nothing(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    shown = Progress()
    shown.console, shown.seen = Console(file=screen, force_terminal=True, width=100), True
    with shown as tell:
        deadline = time.monotonic() + 10.0
        while "12 updates" not in screen.getvalue() and time.monotonic() < deadline:
            tell("Fitting", 0.5, "12 updates")
            time.sleep(0.02)
        bar = shown.bar
        tell("Cross-validation")  # another stage, the same bar
        assert shown.bar is bar
        assert "Cross-validation" in bar.tasks[0].description
        tell.pause()
        assert shown.bar is None
        tell("Hard margin", 0.5)
        assert re.search(r"0 s so far, about \d s left", shown.time_words())
    assert shown.bar is None
    assert "Fitting" in screen.getvalue()
    assert "12 updates" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is cleared


def test_progress_tells_the_gap_and_the_updates():
    class Context:
        measures = {"gap": 1e-3}

    printed = []
    watch = FitProgress(lambda *what: printed.append(what), "Fitting", tol=1e-6)
    watch.on_fit_task_end(separatrix.MaxMargin(), Context())
    Context.measures = {"updates": 1234, "epochs": 10, "gap": None}
    watch.on_fit_task_end(separatrix.Perceptron(max_iter=100), Context())
    assert printed == [("Fitting", pytest.approx(0.5), "gap 1.0e-03"), ("Fitting", 0.1, "1,234 updates")]


def test_compare_shows_rows_as_they_are_there_without_a_terminal(line):
    """The first is the optimum with which the others are compared."""
    result = run("compare", line, "-t", "label", "--algorithms", "Perceptron,MaxMargin,LeastSquares", "--cv", "2")
    assert result.exit_code == 0
    names = [row.split("  ")[0] for row in result.stderr.splitlines()]
    assert names[:2] == ["MaxMargin (hard)", "MaxMargin (C = 1)"]
    assert sorted(names[2:]) == ["LeastSquares", "Perceptron"]
    assert re.search(r"\d\.\d\d s, \d+\.\d%", result.stderr)
    assert "algorithm" in result.stdout
    assert json.loads(run("compare", line, "-t", "label", "--algorithms", "MaxMargin", "--json").output)
