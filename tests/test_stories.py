"""Ten stories of someone at a terminal with a file, and how each ends."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris
from typer.testing import CliRunner

from separatrix import MaxMargin, Perceptron, load, save
from separatrix.app.cli import app
from separatrix.app.workflows import fitting
from separatrix.certificates.separability import Separability
from separatrix.persistence import files as models

runner = CliRunner()


def separatrix(*arguments):
    return runner.invoke(app, [str(a) for a in arguments], env={"COLUMNS": "160"})


def text_of(result):
    """What a program said, for a run that must not end with a traceback."""
    text = result.output
    assert "Traceback" not in text
    assert "mistake in separatrix" not in text
    return text


@pytest.fixture
def iris(tmp_path):
    data = load_iris()
    frame = pl.DataFrame(data.data, schema=["sepal_length", "sepal_width", "petal_length", "petal_width"])
    frame = frame.with_columns(species=pl.Series(data.target_names[data.target].tolist()))
    path = tmp_path / "iris.csv"
    frame.write_csv(path)
    return path, frame


MIXED = """age,city,income,buys
25,Rome,1000,no
31,Oslo,,no
47,Rome,5200,yes
52,,4900,yes
38,Oslo,4000,yes
29,Rome,1500,no
44,Oslo,4700,yes
23,Oslo,900,no
"""


def test_csv_with_strings_and_missing_values(tmp_path):
    path = tmp_path / "customers.csv"
    path.write_text(MIXED)
    first = separatrix("fit", path, "--target", "buys")
    assert first.exit_code == 3
    assert "text in the column 'city' (2 values: 'Rome', 'Oslo')" in text_of(first)
    assert "--encode" in first.stderr
    second = separatrix("fit", path, "--target", "buys", "--encode")
    assert second.exit_code == 3
    assert "'city' 1 (line 5); 'income' 1 (line 3)" in text_of(second)
    assert "--impute" in second.stderr
    model = tmp_path / "customers.sx"
    third = separatrix(
        "fit", path, "--target", "buys", "--encode", "--impute", "--scale", "--C", "inf", "--save", model
    )
    assert third.exit_code == 0
    assert "linearly separable (proved)" in text_of(third)
    assert "city_Oslo" in third.output
    assert separatrix("verify", model, path).exit_code == 0
    new = tmp_path / "new.csv"
    new.write_text("income,age,city,comment\n900,22,Paris,unknown city\n,50,Rome,no income\n")
    answers = separatrix("predict", model, new)
    assert answers.exit_code == 0
    assert answers.stdout.split() == ["prediction", "no", "yes"]
    assert (
        "1 of 2 rows have a value in the column 'city' that was not among the data of the fit ('Paris' 1)"
        in answers.stderr
    )
    new.write_text("income,age,city\n,50,\n")  # one row, of which little is known
    assert separatrix("predict", model, new).stdout.split() == ["prediction", "yes"]
    assert "8 of 8 rows correctly classified" in separatrix("predict", model, path, "--score").output


def test_parquet(tmp_path, iris):
    path = tmp_path / "iris.parquet"
    iris[1].write_parquet(path)
    result = separatrix("fit", path, "--target", "species", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["data"] | {"sha256": "", "bytes": 0} == {
        "source": "iris.parquet",
        "format": "parquet",
        "sha256": "",
        "rows": 150,
        "features": 4,
        "target": "species",
        "index_base": 1,
        "units": {},
        "classes": {"setosa": 50, "versicolor": 50, "virginica": 50},
        "bytes": 0,
    }
    assert found["verified"]
    assert found["separability"]["one_vs_rest"]["setosa"]["separable"] is True


def test_libsvm(tmp_path, iris):
    X = iris[1].drop("species").to_numpy()
    y = np.where(iris[1]["species"].to_numpy() == "setosa", 1, -1)
    path, model = tmp_path / "iris.libsvm", tmp_path / "model.sx"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    result = separatrix("fit", path, "--save", model)
    assert result.exit_code == 0
    assert "linearly separable (proved)" in text_of(result)
    scored = separatrix("predict", model, path, "--score", "--json")
    assert json.loads(scored.stdout)["accuracy"] == 1.0
    path.write_text("1 1:2.0 3:4\n-1 1:x\n")
    broken = separatrix("fit", path, "--format", "libsvm")
    assert broken.exit_code == 3
    assert f"{path}, line 2: expected index:value, found '1:x'" in text_of(broken)


def test_three_classes(tmp_path, iris):
    page, notes, numbers = (tmp_path / name for name in ("report.html", "report.md", "report.json"))
    result = separatrix(
        *("fit", iris[0], "-t", "species", "--scale", "--report", page, "--interactive"),
        *("--report", notes, "--report", numbers),
    )
    assert result.exit_code == 0
    for words in (
        "one-vs-rest: 1 of 3; one-vs-one: 2 of 3",
        "5-fold cross-validation",
        "largest weights, for",
        "verified",
    ):
        assert words in text_of(result)
    html = page.read_text()
    assert html.count("Bokeh") > 3
    assert not re.search(r'<(script|img|link|iframe)[^>]*(src|href)="http', html)
    assert "petal_width" in notes.read_text()
    assert json.loads(numbers.read_text())["cross_validated_accuracy"]["mean"] > 0.9


def test_one_feature(tmp_path):
    path, picture = tmp_path / "heights.csv", tmp_path / "boundary.png"
    path.write_text("height,kind\n" + "".join(f"{h},{'tall' if h > 170 else 'short'}\n" for h in range(150, 191, 2)))
    result = separatrix("fit", path, "--target", "kind", "--plot", picture)
    assert result.exit_code == 0
    assert "1 unit of your columns, proven optimal" in " ".join(text_of(result).split())
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_typo_in_the_target(iris):
    for command in ("fit", "check", "compare"):
        result = separatrix(command, iris[0], "--target", "speceis")
        assert result.exit_code == 3
        assert "no column 'speceis'. Did you mean 'species'?" in text_of(result)
    nameless = separatrix("fit", iris[0])
    assert "which column holds the labels?" in text_of(nameless)
    assert "'petal_width'" in nameless.stderr


def test_a_binary_file_given_as_csv(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    result = separatrix("fit", path, "--target", "y")
    assert result.exit_code == 3
    assert "binary file" in text_of(result)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert "a picture" in text_of(separatrix("check", path, "--target", "y"))


def test_ctrl_c_in_the_middle(tmp_path, monkeypatch):
    """It keeps the best so far, says so, and writes the model whole."""
    rng = np.random.default_rng(0)
    path, model = tmp_path / "noise.csv", tmp_path / "noise.sx"
    pl.DataFrame(rng.normal(size=(300, 3))).with_columns(y=pl.Series(rng.integers(0, 2, 300))).write_csv(path)
    watched = fitting.limited_and_shown
    Perceptron().fit(np.eye(3), [0, 0, 1])  # to compile takes longer than the timer waits

    def watch_and_interrupt(*arguments, **options):
        threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
        return watched(*arguments, **options)

    monkeypatch.setattr(fitting, "limited_and_shown", watch_and_interrupt)
    endless = ["--algorithm", "Perceptron", "--set", "max_iter=1000000000", "--set", "until=separated"]
    result = separatrix("fit", path, "--target", "y", *endless, "--save", model)
    assert result.exit_code == 130
    assert "the best that was found so far" in text_of(result)
    assert load(model).steps[-1][1].stop_reason_ == "interrupted"
    assert separatrix("verify", model, path).exit_code == 0


def test_ctrl_c_before_there_is_anything(iris, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting.MaxMarginCV, "fit", interrupt)
    result = separatrix("fit", iris[0], "--target", "species")
    assert result.exit_code == 130
    assert text_of(result).strip().endswith("Interrupted.")
    assert "Model" not in result.output


@pytest.mark.parametrize("late", ["separability", "hard margin"])
def test_ctrl_c_after_the_model(iris, monkeypatch, tmp_path, late):
    """What is there stays, and the model was saved before its line was shown."""
    path, saved = tmp_path / "m.sx", []

    def interrupt(*arguments, **options):
        saved.append(load(path).predict(iris[1].drop("species")))
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting._Job, "ask_separability" if late == "separability" else "fit_hard_margin", interrupt)
    result = separatrix("fit", iris[0], "--target", "species", "--save", path)
    assert result.exit_code == 130
    assert len(saved) == 1
    assert f"missing: {'separability, ' if late == 'separability' else ''}hard margin" in text_of(result)
    assert ("one-vs-one: 2 of 3" in result.output) == (late == "hard margin")
    told_as_json = json.loads(separatrix("fit", iris[0], "--target", "species", "--json").stdout)
    assert told_as_json["missing"] == ["separability", "hard margin"][late != "separability" :]
    assert (told_as_json["separability"] is None) == (late == "separability")


def test_what_time_leaves_undecided(iris, monkeypatch):
    """The answer says how to go on."""
    monkeypatch.setattr(fitting, "separability", lambda X, y, **limits: Separability(None, "undecided", False))
    iris[1].filter(pl.col("species") != "setosa").write_csv(iris[0])
    result = separatrix("fit", iris[0], "--target", "species")
    assert "undecided after 2 s; run `separatrix check --max-time 60`" in " ".join(text_of(result).split())
    assert "Hard margin" not in result.output


def test_a_read_only_folder(tmp_path, iris):
    """The mistake is reported before the work, not after it."""
    script = (
        "import os, sys, separatrix.persistence.files, separatrix.app.report.report_files\n"
        "from typer.testing import CliRunner\n"
        "from separatrix.app.cli import app, main\n"
        "CliRunner().invoke(app, ['fit', 'nothing.csv'])\n"  # imports what root may read
        "if os.geteuid() == 0: os.setuid(65534)\n"  # nothing is read-only for root
        "main()\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        command = ["fit", "-", "--target", "species", "--save", os.path.join(folder, "m.sx")]
        done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, input="")
    assert done.returncode == 3
    assert "read-only" in done.stderr
    assert "Traceback" not in done.stderr
    for option, name in (("--save", "m.sx"), ("--report", "r.html"), ("--export", "m.onnx"), ("--plot", "b.png")):
        nowhere = separatrix("fit", iris[0], "--target", "species", option, tmp_path / "none" / name)
        assert nowhere.exit_code == 3
        assert "There is no folder" in text_of(nowhere)


def test_a_reader_of_the_output_that_stops_early(tmp_path, iris):
    """What was asked for is written first: `separatrix fit ... | head -1` loses nothing."""
    script = "from separatrix.app.cli import main; main()"
    for more in ([], ["--memory", "100MB"]):
        path = tmp_path / f"m{len(more)}.sx"
        command = [sys.executable, "-c", script, "fit", str(iris[0]), "--target", "species", "--save", str(path), *more]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as fit:
            fit.stdout.close()
            assert "Traceback" not in fit.stderr.read()
        assert separatrix("show", path).exit_code == 0


def test_a_model_of_a_newer_version(tmp_path, iris, monkeypatch):
    path = tmp_path / "newer.sx"
    monkeypatch.setattr(models, "FORMAT", 7)
    save(MaxMargin().fit([[0.0], [1.0]], [0, 1]), path)
    monkeypatch.undo()
    for command in (["predict", path, iris[0]], ["show", path], ["verify", path, iris[0]]):
        result = separatrix(*command)
        assert result.exit_code == 3
        assert "newer separatrix (format 7; this version reads up to 3)" in text_of(result)
