"""Hostile input at the command line: what is read is never overwritten, and no name, label or size breaks anything."""

import json
import os
import subprocess
import sys

import matplotlib
import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save as pack
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures
from typer.testing import CliRunner

from separatrix import MaxMargin, ModelError, load, save
from separatrix.app.cli import app
from separatrix.app.tables import read_table
from separatrix.persistence import limits
from separatrix.persistence.encoding import encode
from separatrix.persistence.files import _digest
from separatrix.persistence.output import write_atomically

matplotlib.use("Agg")
LINE = "x,z,label\n" + "".join(f"{x},{x % 3},{'high' if x > 4 else 'low'}\n" for x in range(10))


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "140"}, **options)


@pytest.fixture
def line(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text(LINE)
    return path


@pytest.fixture
def model(tmp_path, line):
    path = tmp_path / "line.sx"
    assert run("fit", line, "-t", "label", "--cv", "0", "--save", path).exit_code == 0
    return path


def refused(result, words):
    assert result.exit_code == 3, result.output
    assert words in result.stderr
    assert "Traceback" not in result.stderr


# Outputs.


@pytest.mark.parametrize("how", ["the same name", "another spelling", "a symbolic link", "a hard link"])
def test_what_is_read_is_not_overwritten(tmp_path, line, model, how):
    def alias(path, ending=""):
        other = tmp_path / f"alias{ending or path.suffix}"
        if how == "a symbolic link":
            other.symlink_to(path)
        elif how == "a hard link":
            os.link(path, other)
        else:
            return path if how == "the same name" else f"{path.parent}/./{path.name}"
        return other

    before = line.read_bytes(), model.read_bytes()
    for option, ending in (("--save", ".sx"), ("--export", ".onnx"), ("--report", ".md"), ("--plot", ".png")):
        refused(run("fit", line, "-t", "label", option, alias(line, ending)), "would be overwritten")
    refused(run("compare", line, "-t", "label", "--plot", alias(line, ".svg")), "would be overwritten")
    (tmp_path / "alias.csv").unlink(missing_ok=True)
    refused(run("predict", model, line, "-o", alias(line)), "would be overwritten")
    (tmp_path / "alias.sx").unlink(missing_ok=True)
    refused(run("predict", model, line, "-o", alias(model)), "would be overwritten")
    assert (line.read_bytes(), model.read_bytes()) == before


def test_standard_input_is_a_file_too(line):
    command = [sys.executable, "-c", "from separatrix.app.cli import main; main()", "fit", "-", "-t", "label"]
    with line.open() as file:
        done = subprocess.run([*command, "--save", line], stdin=file, capture_output=True, text=True)
    assert done.returncode == 3
    assert "would be overwritten" in done.stderr
    assert line.read_text() == LINE


def test_two_outputs_are_two_files(tmp_path, line):
    page = tmp_path / "out.html"
    refused(run("fit", line, "-t", "label", "--save", page, "--report", page), "written twice")


def test_pipes_and_devices_are_not_replaced(tmp_path, line, model):
    pipe = tmp_path / "pipe.sx"
    os.mkfifo(pipe)
    refused(run("fit", line, "-t", "label", "--save", pipe), "a device or a pipe")
    refused(run("predict", model, line, "-o", pipe), "a device or a pipe")
    link = tmp_path / "null.sx"
    link.symlink_to("/dev/null")
    refused(run("fit", line, "-t", "label", "--save", link), "a device or a pipe")
    assert pipe.is_fifo()
    with pytest.raises(ModelError, match="a device or a pipe"):
        save(load(model), pipe)


KILLED = """
import os, sys
from separatrix.persistence import output
output.os.fsync = lambda handle: os.kill(os.getpid(), 9)
output.write_atomically(sys.argv[1], b"never complete")
"""


def test_what_a_killed_process_left_is_removed(tmp_path):
    path = tmp_path / "m.sx"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, path])
        (left,) = tmp_path.iterdir()  # the second attempt removes what the first one left
    others = [tmp_path / ".other.sx.abcdefgh.partial", tmp_path / ".m.sx.swp"]
    for other in others:
        other.write_bytes(b"")
    write_atomically(path, b"complete")
    assert path.read_bytes() == b"complete"
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])
    assert left not in tmp_path.iterdir()


def test_what_is_being_written_is_not_removed(tmp_path, monkeypatch):
    path, inner = tmp_path / "m.sx", []

    def write_another(handle):
        monkeypatch.undo()
        write_atomically(path, b"inner")
        inner.append(path.read_bytes())

    monkeypatch.setattr("os.fsync", write_another)
    write_atomically(path, b"outer")
    assert inner == [b"inner"]
    assert path.read_bytes() == b"outer"
    assert list(tmp_path.iterdir()) == [path]


# Models.


def forged(path, model, change, provenance=None):
    """A model file with the right digest, whatever was done to its document."""
    arrays = {}
    document = {"model": encode(model, arrays), "provenance": provenance or {}}
    change(document["model"])
    text = json.dumps(document)
    shown = {"format": "separatrix", "format_version": "2", "document": text}
    path.write_bytes(pack(arrays, {**shown, "digest": _digest(text, arrays)}))
    return path


def test_polynomials_of_a_huge_degree(tmp_path):
    X = np.random.default_rng(0).normal(size=(10, 80))
    model = make_pipeline(PolynomialFeatures(1), MaxMargin()).fit(X, np.arange(10) % 2)
    model[0].degree = model[0]._max_degree = 10**6
    save(model, tmp_path / "m.sx")
    with pytest.raises(ModelError, match="degree does not fit its 80 features"):
        load(tmp_path / "m.sx")
    one = make_pipeline(PolynomialFeatures(70), MaxMargin()).fit(X[:, :1] / 9, X[:, 0] > 0)
    save(one, tmp_path / "m.sx")
    np.testing.assert_array_equal(load(tmp_path / "m.sx").predict(X[:, :1]), one.predict(X[:, :1]))


def test_arrays_of_text_up_to_a_limit(tmp_path, monkeypatch):
    """As wide as the longest text, in every place."""
    words = np.array([["a"], ["b"], ["c"] * 1, ["d"]], dtype=object)
    model = make_pipeline(OneHotEncoder(), MaxMargin()).fit(words, [0, 1, 0, 1])
    model[1].classes_ = np.array(["u" * 1000, *"abcdefgh" * 500])
    save(model, tmp_path / "m.sx")
    assert len(load(tmp_path / "m.sx")[1].classes_) == 4001
    monkeypatch.setattr(limits, "MOST_UNPACKED", 1_000_000)
    with pytest.raises(ModelError, match=r"An array of text .*unpacks to more than"):
        load(tmp_path / "m.sx")


COMMANDS = (["show"], ["show", "--json"], ["predict", "--decision"], ["predict", "--json"], ["verify"])
FORGERIES = {
    "a certificate that is text": lambda fields: fields.update(certificate_="x"),
    "bounds that are text": lambda fields: fields["certificate_"]["fields"].update(lower="x", upper="y"),
    "classes that are numbers": lambda fields: fields.update(classes_={"!": "array", "name": "0"}),
    "a list of lists": lambda fields: fields.update(certificates_=[[]]),
    "names that are none": lambda fields: fields.update(feature_names_in_=1),
    "a solver that is a table": lambda fields: fields.update(solver_={"!": "dict", "items": []}, geometric_margin_="x"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_models_get_a_sentence(tmp_path, line, name):
    table = read_table(line, "label")
    fitted = MaxMargin(C=np.inf).fit(table.X, table.y)
    path = forged(tmp_path / "m.sx", fitted, lambda tree: FORGERIES[name](tree["fields"]))
    for command in COMMANDS:
        data = [] if command[0] == "show" else [line, "-t", "label"]
        result = run(command[0], path, *data, *command[1:])
        assert result.exit_code in (0, 1, 3)
        assert "Traceback" not in result.output + result.stderr


def test_provenance_of_any_kind(tmp_path, line):
    table = read_table(line, "label")
    fitted = MaxMargin(C=np.inf).fit(table.X, table.y)
    shown = {"data": {"target": {"a": 1}, "index_base": "x", "rows": []}, "versions": {"x": 1}}
    path = forged(tmp_path / "m.sx", fitted, lambda tree: None, shown)
    refused(run("predict", path, line), "cannot be used")
    assert run("show", path).exit_code == 0


def test_a_certificate_about_another_hyperplane_does_not_hold(tmp_path, line):
    table = read_table(line, "label")
    path = tmp_path / "m.sx"
    for C in (np.inf, 1.0):
        fitted = MaxMargin(C=C).fit(table.X, table.y)
        save(fitted, path)
        assert run("verify", path, line, "-t", "label").exit_code == 0
        fitted.coef_, fitted.intercept_ = -fitted.coef_, -fitted.intercept_
        save(fitted, path)
        result = run("verify", path, line, "-t", "label")
        assert result.exit_code == 1
        assert "by what predicts" in result.output
    fitted.certificates_ = []
    save(fitted, path)
    refused(run("verify", path, line, "-t", "label"), "no certificate")


def test_rows_without_weight_are_told(tmp_path, line):
    table = read_table(line, "label")
    save(MaxMargin(C=1.0).fit(table.X, table.y, np.r_[np.zeros(2), np.ones(8)]), tmp_path / "m.sx")
    result = run("verify", tmp_path / "m.sx", line, "-t", "label")
    assert "2 of 10: the certificate gives them no weight" in result.output
    assert json.loads(run("verify", tmp_path / "m.sx", line, "-t", "label", "--json").stdout)["left_out"] == 2


# Names and labels.

NAMES = ["[/x]", "$\\frac{", "<script>alert(1)</script>", "\x1b[31mred\x1b[0m", "=cmd|' /C calc'!A0", "a|b`c`"]


def named(tmp_path, names):
    """A table whose names, labels and file name are what they are."""
    path = tmp_path / "a$b$[i].parquet"
    labels = [names[0], names[1]] * 5
    rows = {names[2]: np.arange(10) + np.tile([0, 20], 5), names[3]: np.arange(10) % 4, "label": labels}
    pl.DataFrame(rows).write_parquet(path)
    return path


@pytest.mark.parametrize(
    "shift", [0, *(pytest.param(k, marks=[pytest.mark.slow] if k % 3 else []) for k in range(1, len(NAMES)))]
)
def test_names_and_labels_of_any_kind(tmp_path, shift):
    names = NAMES[shift:] + NAMES[:shift]
    path, model = named(tmp_path, names), tmp_path / "m.sx"
    files = [tmp_path / name for name in ("r.md", "r.html", "b.png")]
    outputs = ["--report", files[0], "--report", files[1], "--plot", files[2], "--save", model]
    results = [run("fit", path, "-t", "label", "--cv", "2", *outputs)]
    results += [run("predict", model, path, "--score"), run("show", model), run("verify", model, path)]
    for result in results:
        assert result.exit_code == 0, result.output + result.stderr
        assert "\x1b" not in result.output + result.stderr
    assert "<script>" not in files[0].read_text()
    assert "<script>alert" not in files[1].read_text()  # the page has scripts of its own
    assert "10 of 10 rows correctly classified" in results[1].output
    answers = tmp_path / "answers.csv"
    written = run("predict", model, path, "-o", answers)
    assert set(pl.read_csv(answers)["prediction"]) == {names[0], names[1]}  # labels come back as they are
    assert ("spreadsheet" in written.stderr) == any(name.startswith("=") for name in names[:2])


def test_errors_do_not_command_the_terminal(tmp_path, line):
    result = run("fit", line, "-t", "\x1b[2Jlabel\x9b")
    refused(result, "no column '\\x1b[2Jlabel\\x9b'")
    assert "\x1b" not in result.stderr
    assert "\x9b" not in run("check", line, "-t", "label", "--json").stdout


def test_pictures_of_comparisons_show_dollars(tmp_path):
    path = named(tmp_path, ["u", "v", "a", "b"])
    picture = tmp_path / "c.svg"
    assert run("compare", path, "-t", "label", "--cv", "0", "--max-time", "0.1", "--plot", picture).exit_code == 0
    assert picture.stat().st_size > 0


@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson", "json"])
def test_names_of_files_are_no_wildcards(tmp_path, kind):
    frame = pl.DataFrame({"[a]": [1.0, 2.0], "y": ["u", "v"]})
    for name in ("data[1]*?.txt", "data1.txt"):
        getattr(frame, f"write_{kind}")(tmp_path / name)
        frame = frame.with_columns(pl.lit(7.0).alias("[a]"))
    assert read_table(tmp_path / "data[1]*?.txt", "y").X["[a]"].to_list() == [1.0, 2.0]
