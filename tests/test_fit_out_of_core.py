"""``separatrix fit`` on files that are read block by block: the same margins, models that predict, progress, kills."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import separatrix
from separatrix.app.cli import app
from separatrix.app.workflows import Options, fit
from separatrix.app.workflows.out_of_core import BlockReading
from separatrix.data import memory as memory_module
from separatrix.solvers import sample_newton

N, D = 1500, 3


@pytest.fixture
def folder(tmp_path, rng, monkeypatch):
    """Files of several blocks: separable ones, and some with wrong labels; a column of text."""
    monkeypatch.setattr(memory_module, "BLOCK_ROWS", 32)
    monkeypatch.setattr(memory_module, "BLOCK_VALUES", 100 * D)
    X, colour = rng.normal(size=(N, D)) * [1.0, 10.0, 1.0], rng.choice(["blue", "red"], N)
    score = X @ [1.0, 0.1, -1.0] + (colour == "red")
    X[:, 0] += 0.2 * np.sign(score)
    y = np.where(score > 0, "yes", "no")
    wrong = np.where(rng.random(N) < 0.1, "no", y)
    frame = pl.DataFrame({**{f"x{k}": X[:, k] for k in range(D)}, "colour": colour, "y": y, "z": wrong})
    for k, rows in enumerate((slice(0, 600), slice(600, N))):
        frame[rows].drop("z").write_parquet(tmp_path / f"good{k}.parquet")
        frame[rows].drop("y", "colour").write_parquet(tmp_path / f"noisy{k}.parquet")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def text_of(*words):
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_separable_table_gets_the_hard_margin_and_a_model(folder):
    pattern, model = folder / "good*.parquet", folder / "model.sx"
    found = text_of("fit", pattern, "--target", "y", "--encode", "--scale", "--memory", "200MB", "--save", model)
    assert found["separator"]["how"] == "hard-margin linear SVM"
    assert found["verified"]
    assert found["train_accuracy"] == 1.0
    assert found["separability"]["separable"]
    assert found["largest_margin"]["certificates"] == found["certificates"]
    assert found["prepared"] == "numbers standardized, 1 text column one-hot encoded (5 columns in all)"
    whole = pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("good*.parquet"))])
    whole.write_parquet(folder / "whole.parquet")
    here = text_of("fit", folder / "whole.parquet", "--target", "y", "--encode", "--scale", "--C", "inf", "--cv", "0")
    assert found["certificates"][0]["lower"] == pytest.approx(here["certificates"][0]["lower"], rel=1e-5)
    predicted = separatrix.load(model).predict(whole.drop("y"))
    np.testing.assert_array_equal(predicted, whole["y"].to_numpy())
    assert run("verify", model, folder / "whole.parquet").exit_code == 0


def test_what_is_not_separable_is_proved_and_gets_a_soft_margin(folder):
    words = (
        "fit",
        folder / "noisy*.parquet",
        "--target",
        "z",
        "--cache",
        folder / "copy",
        "--checkpoint",
        folder / "run",
    )
    found = text_of(*words)
    assert (found["separability"]["separable"], found["verified"]) == (False, True)
    assert found["separator"]["how"] == "soft-margin linear SVM, C = 1"
    assert 0.75 < found["train_accuracy"] < 1
    again = text_of(*words)  # all passes are in the checkpoint, but those that verify
    assert again["certificates"] == found["certificates"]
    assert again["passes"] < found["passes"]
    shown = run(*words)
    assert "not linearly separable (proof: " in shown.output
    assert "passes over the files" in shown.output
    for line in ("noisy*.parquet (1,500 rows, 3 features): no or yes?", "Classes            no, yes"):
        assert line in shown.output


@pytest.mark.parametrize("mode", ["ovr", "joint"])
def test_several_classes(folder, mode):
    frame = pl.read_parquet(folder / "noisy0.parquet")
    names = np.array(["low", "middle", "high"])[np.digitize(frame["x0"].to_numpy(), [-0.5, 0.5])]
    frame.with_columns(z=pl.Series(names)).write_csv(folder / "three.csv")
    found = text_of(
        "fit", folder / "three.csv", "--target", "-1", "--memory", "100MB", "--C", "1", "--multi-class", mode
    )
    assert len(found["certificates"]) == (3 if mode == "ovr" else 1)
    assert found["verified"]


def test_another_algorithm(folder):
    found = text_of(
        "fit", folder / "noisy*.parquet", "--target", "z", "--algorithm", "LeastSquares", "--checkpoint", folder / "run"
    )
    assert found["separator"]["name"] == "LeastSquares"
    assert found["train_accuracy"] > 0.75


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (("nothing*.parquet",), "There is no file"),
        (("good*.parquet", "--target", "y"), "encode=True"),
        (("good*.parquet", "--memory", "a lot"), "is not a size"),
        (("good*.parquet", "--plot", "a.png"), "--plot needs rows in memory"),
        (("good*.parquet", "--dask", "tcp://x:1", "--workers", "2"), "use one of them"),
        (("-", "--memory", "1GB"), "need files"),
    ],
)
def test_what_cannot_be_done_is_told(folder, words, match):
    first, *rest = words
    result = run("fit", first if first == "-" else folder / first, *rest)
    assert result.exit_code in (2, 3)
    assert match in " ".join(result.output.replace("│", " ").split())


def test_a_pass_tells_how_far_it_is(folder, monkeypatch):
    monkeypatch.setattr(sample_newton, "SAMPLE", 100)  # of all rows: the first gap would be the last
    heard = []
    options = Options(C=1.0, encode=True)
    tell = lambda *what: heard.append(what)  # noqa: E731
    fit(str(folder / "good*.parquet"), options, tell, blocks=BlockReading("100MB"), target="y")
    passes = [what for what in heard if what[0].startswith("Pass ")]
    assert len({stage for stage, _, _ in passes}) > 2
    for stage in {stage for stage, _, _ in passes}:
        shares = [share for name, share, _ in passes if name == stage]
        assert shares == sorted(shares)
        assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert any("rows/s" in note and "gap" in note and "block" in note for _, _, note in passes)


@pytest.mark.slow
def test_processes_of_this_machine_read_the_files(folder):
    pytest.importorskip("distributed")
    words = ("fit", folder / "noisy*.parquet", "--target", "z", "--C", "1")
    here, there = text_of(*words, "--memory", "100MB"), text_of(*words, "--workers", "2")
    assert there["certificates"][0]["lower"] == pytest.approx(here["certificates"][0]["lower"], rel=1e-6)
    assert there["verified"]
