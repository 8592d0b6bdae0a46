"""Hostile input at the command line: what is read is never overwritten, and no name, label or size breaks anything."""

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import matplotlib
import numpy as np
import polars as pl
import pytest
import xlsxwriter
from safetensors.numpy import save as pack
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures
from typer.testing import CliRunner

from separatrix import DataError, MaxMargin, ModelError, load, save
from separatrix.cli import app
from separatrix.io import read_table
from separatrix.io.data import limits, native
from separatrix.io.data.formats import FORMATS
from separatrix.io.model.encoding import encode
from separatrix.io.model.files import _digest
from separatrix.io.output import write_atomically
from separatrix.rows import files

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
    command = [sys.executable, "-c", "from separatrix.cli import main; main()", "fit", "-", "-t", "label"]
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
from separatrix.io import output
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


# Data.


@pytest.mark.parametrize("kind", ["csv", "tsv", "spaces", "libsvm", "no header"])
def test_lines_of_any_length(tmp_path, kind):
    """The first line alone is longer than what tells the format of a file with short ones."""
    rng, path, width = np.random.default_rng(0), tmp_path / "wide", 12_000
    X, y = rng.normal(size=(4, width)).round(6), np.array([1, -1, 1, -1])
    if kind == "libsvm":
        dump_svmlight_file(X, y, str(path), zero_based=False, comment="made by hand")
    else:
        separator = {"tsv": "\t", "spaces": " "}.get(kind, ",")
        rows = [[*map(str, row), str(label)] for row, label in zip(X, y, strict=True)]
        names = [] if kind == "no header" else [[*(f"feature_{j}" for j in range(width)), "label"]]
        path.write_text("\n".join(separator.join(row) for row in names + rows))
        assert path.read_text().index("\n") > 1 << 16
    table = read_table(path, None if kind == "libsvm" else "-1")
    np.testing.assert_allclose(table.X.toarray() if kind == "libsvm" else table.X.to_numpy(), X)
    assert table.y.tolist() == y.tolist()


def test_a_small_text_of_very_many_columns(tmp_path):
    """A column takes 5 kB, whatever it holds: three million bytes would ask for 5 GB."""
    path = tmp_path / "wide.csv"
    path.write_text("," * 1_000_000 + "\n" + "1," * 1_000_000 + "\n")
    with pytest.raises(DataError, match="unpacks to more than"):
        read_table(path, "-1")


def test_fields_of_any_length(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n" + "x" * 200_000 + ",u\n1,v\n")
    with pytest.raises(DataError, match=r"data\.csv cannot be read as CSV: field larger than"):
        read_table(path, "y")
    path.write_text("a,y\n" + "x" * 100_000 + ",u\n1,v\n")
    with pytest.raises(DataError, match=r"100,000 characters \(line 2\)"):
        read_table(path, "a")


def test_a_small_parquet_file_is_no_large_table(tmp_path, monkeypatch):
    path = tmp_path / "bomb.parquet"
    pl.DataFrame({"a": np.zeros(300_000), "y": np.arange(300_000) % 2}).write_parquet(path)
    assert read_table(path, "y").n == 300_000
    monkeypatch.setattr(limits, "MOST_UNPACKED", 1_000_000)
    monkeypatch.setattr(limits, "PLENTY", 1)
    monkeypatch.setattr(pl.LazyFrame, "collect", _measured(pl.LazyFrame.collect))
    with pytest.raises(DataError, match="unpacks to more than 1,000,000"):
        read_table(path, "y")


def _measured(collect):
    """polars' method, which must not bring more than the one number that counts the rows."""

    def wrapper(self, *arguments, **options):
        frame = collect(self, *arguments, **options)
        assert frame.height == 1
        return frame

    return wrapper


@pytest.mark.parametrize("name", ["memory", "thread"])
def test_damage_that_breaks_the_reader_of_parquet(tmp_path, name):
    """polars ends the process where a run of levels asks for 2^61 bytes, and panics in a thread of its own, for which
    it may wait for ever."""
    path = Path(__file__).parent / "damaged" / f"{name}.parquet"
    with pytest.raises(DataError, match=r"cannot be read as Parquet"):
        read_table(path, "label")
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(DataError, match=r"cannot be read as Parquet"):
        read_table(packed, "label")


STUCK = """
import sys, time
print('{"ready": true}', flush=True)
sys.stderr.write("thread 'x' panicked at y.rs:1:2:\\nwhat was wrong\\n")
sys.stderr.flush()
time.sleep(600)
"""


@pytest.mark.skipif(not hasattr(os, "pread"), reason="a panic is seen by the time limit alone here")
def test_a_reader_that_waits_for_a_failed_thread(tmp_path, line, monkeypatch):
    program, path = tmp_path / "program.py", tmp_path / "data.parquet"
    program.write_text(STUCK)
    pl.read_csv(line).write_parquet(path)
    monkeypatch.setattr(native, "__file__", str(program))
    monkeypatch.setattr(native, "GRACE", 0.2)
    with pytest.raises(DataError, match=r"its reader failed \(what was wrong\)"):
        read_table(path, "label")
    program.write_text("import no_such_module")  # where no process can rehearse, the file is read all the same
    assert read_table(path, "label").n == 10


def test_a_workbook_with_one_cell_far_away(tmp_path):
    """Its reader keeps every cell up to there: 2^34 of them."""
    path = tmp_path / "far.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, 1)
        sheet.write(1_048_575, 16_383, 1)
    with pytest.raises(DataError, match=r"cannot be read as a workbook: its reader failed"):
        read_table(path, "-1")


def test_a_small_arrow_file_is_no_large_table(tmp_path, monkeypatch):
    path = tmp_path / "bomb.arrow"
    pl.DataFrame({"a": np.zeros(300_000), "y": np.arange(300_000) % 2}).write_ipc(path, compression="zstd")
    monkeypatch.setattr(limits, "MOST_UNPACKED", 1_000_000)
    monkeypatch.setattr(limits, "PLENTY", 1)
    monkeypatch.setattr(pl, "read_ipc", None)  # nothing is unpacked here
    with pytest.raises(DataError, match="unpacks to more than 1,000,000"):
        read_table(path, "y")


def test_lists_in_parquet_are_not_unpacked(tmp_path):
    path = tmp_path / "lists.parquet"
    pl.DataFrame({"a": [1.0, 2.0], "list": [[0.0] * 1000, [1.0]], "y": ["u", "v"]}).write_parquet(path)
    with pytest.raises(DataError, match="--drop 'list'"):
        read_table(path, "y")
    assert read_table(path, "y", drop=["list"]).names == ["a"]
    assert read_table(path, labels="ignored").X["list"].null_count() == 2


def test_deep_json(tmp_path):
    path = tmp_path / "deep.ndjson"
    deep = "[" * 100_000 + "]" * 100_000
    path.write_text('{"a": 1, "y": "u"}\n{"a": ' + deep + ', "y": "v"}\n')
    with pytest.raises(DataError, match=r"deep\.ndjson"):
        read_table(path, "y")


def test_large_integers_are_told(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(f"a,y\n{2**53},u\n{2**53 + 1},v\n")
    with pytest.warns(UserWarning, match="'a' holds integers beyond 2"):
        read_table(path, "y")


# Models.


def forged(path, model, change, provenance=None):
    """A model file with the right digest, whatever was done to its document."""
    arrays = {}
    document = {"model": encode(model, arrays), "provenance": provenance or {}}
    change(document["model"])
    text = json.dumps(document)
    told = {"format": "separatrix", "format_version": "2", "document": text}
    path.write_bytes(pack(arrays, {**told, "digest": _digest(text, arrays)}))
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
    told = {"data": {"target": {"a": 1}, "index_base": "x", "rows": []}, "versions": {"x": 1}}
    path = forged(tmp_path / "m.sx", fitted, lambda tree: None, told)
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
    assert "10 of 10 rows right" in results[1].output
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


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 and then nothing of an archive", b"ARROW1 and then nothing", b"no table"]
)
def test_a_format_that_is_asked_for_and_not_there(tmp_path, content):
    path = tmp_path / "words"
    path.write_bytes(content)
    for format in FORMATS:
        with pytest.raises(DataError, match="words"):
            read_table(path, format=format)


def test_an_archive_with_an_entry_that_is_no_array(tmp_path):
    path = tmp_path / "some.npz"
    np.savez(path, X=np.eye(2))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("y.npy", b"no array")
    with pytest.raises(DataError, match=r"some\.npz: y is no array"):
        read_table(path)


def test_labels_beyond_64_bits(tmp_path):
    """They are told apart as texts: numpy has no such integers."""
    path = tmp_path / "huge.json"
    rows = [{"a": k, "y": 2**100 + k % 2} for k in range(6)]
    path.write_text(json.dumps(rows))
    assert read_table(path, "y").y.tolist() == [str(row["y"]) for row in rows]
    pl.DataFrame(rows, schema={"a": pl.Int64, "y": pl.Int128}).write_parquet(tmp_path / "huge.parquet")
    assert files(tmp_path / "huge.parquet", target="y").classes.tolist() == [str(2**100), str(2**100 + 1)]


def test_what_does_not_fit_into_memory(tmp_path, monkeypatch):
    """Where Python cannot have the memory of a file that is unpacked."""
    path = tmp_path / "large.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n1,u\n2,v\n"))

    def refused(*given):
        raise MemoryError

    monkeypatch.setattr("separatrix.io.data.source.check_unpacked", refused)
    with pytest.raises(DataError, match=r"large\.csv\.gz does not fit into memory"):
        read_table(path, "y")
