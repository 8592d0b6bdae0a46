"""What a newcomer reads, types and asks in the first hour."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from newcomer import separatrix, told

from separatrix.cli.progress import time_words
from separatrix.io import read_table


def test_terms_of_the_output_are_explained():
    """Every label that fits print has its entry, and so does every score."""
    labels = [
        "margin",
        "certificate",
        "certified gap",
        "support vectors",
        "nearest row",
        "C",
        "cross-validation",
        "rho",
    ]
    labels += [
        "precision",
        "recall",
        "F1",
        "AUC",
        "balanced accuracy",
        "average precision",
        "Delta",
        "Kesler",
        "solver",
    ]
    for label in labels:
        result = separatrix("explain", *label.split())
        assert result.exit_code == 0, label
        assert len(told(result)) > 30
        assert not set("$`\\[{") & set(result.output), label
    assert "distance of the nearest row" in told(separatrix("explain", "margin"))
    assert "Did you mean" in separatrix("explain", "margn").stderr
    assert len(separatrix("explain").output.splitlines()) > 60


def test_from_nothing_to_probabilities(tmp_path, monkeypatch):
    """The commands of the README, one after the other, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    commands = re.findall(r"^    (separatrix .*?)(?:\s+#.*)?$", readme, flags=re.M)
    commands = [command for command in commands if "studio" not in command]
    names = [command.split()[1] for command in commands]
    assert names[0] == "sample"
    assert {"fit", "check", "predict", "verify", "compare", "explain"} <= set(names)
    for command in commands:
        arguments = command.split()[1:]
        if arguments[0] == "compare":
            arguments += ["--algorithms", "MaxMargin"]
        result = separatrix(*arguments)
        assert result.exit_code == (1 if arguments[0] == "check" else 0), (command, told(result))
    assert {"iris.csv", "iris.sx", "iris.html", "predictions.csv"} <= {path.name for path in tmp_path.iterdir()}
    assert "probability_setosa" in (tmp_path / "predictions.csv").read_text()


def test_time_that_is_left():
    assert time_words(30.0, None) == "30 s so far"
    assert time_words(3.0, 0.01) == "3 s so far"
    assert time_words(30.0, 0.25) == "30 s so far, about 1 min 30 s left"


def test_a_column_that_counts_the_rows_is_not_left_out_in_silence(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(",a,y\n0,1.5,u\n1,2.5,v\n2,3.5,v\n")
    assert read_table(path, "y").notes == ("The unnamed column 1 counts the rows and is left out.",)


def shops(rows=60):
    """Texts with letters beyond ASCII, in names of columns, values and labels."""
    size = np.arange(rows) % 2 * 4.0 + np.random.default_rng(0).normal(size=rows)
    city = ["Köln" if k % 2 else "Málaga" for k in range(rows)]
    frame = pl.DataFrame({"größe": size, "città": city})
    return frame.with_columns(preis=pl.Series(["für viel" if k % 2 else "für wenig" for k in range(rows)]))


@pytest.mark.parametrize(
    ("encoding", "asked"),
    [
        ("utf-16", []),
        ("utf-16-le", ["--encoding", "utf-16-le"]),
        ("utf-8-sig", []),
        ("cp1252", ["--encoding", "cp1252"]),
    ],
)
def test_text_in_another_encoding(tmp_path, encoding, asked):
    path, model, new = tmp_path / "shops.csv", tmp_path / "m.sx", tmp_path / "new.csv"
    path.write_bytes(shops().write_csv().encode(encoding))
    result = separatrix("fit", path, "-t", "preis", "--encode", "--cv", "0", "--C", "1", "--save", model, *asked)
    assert result.exit_code == 0, told(result)
    assert "für viel" in result.output
    assert "città_Köln" in result.output
    for name in (encoding, "utf-8"):  # the model remembers, for what is not UTF-8
        new.write_bytes(shops(4).drop("preis").write_csv().encode(name))
        answers = separatrix("predict", model, new)
        assert answers.stdout.split("\n")[1:3] == ["für wenig", "für viel"], (name, told(answers))
        assert "not among the data" not in told(answers)
    assert separatrix("verify", model, path).exit_code == 0


def test_an_encoding_that_does_not_fit(tmp_path):
    path = tmp_path / "shops.csv"
    path.write_bytes(shops().write_csv().encode("cp1252"))
    refused = separatrix("check", path, "-t", "preis")
    assert refused.exit_code == 3
    assert "line 1: this is not UTF-8 text. Tell how it was written with --encoding: cp1252" in told(refused)
    assert "'klingon' is not known" in told(separatrix("check", path, "-t", "preis", "--encoding", "klingon"))
    assert "not text in the encoding ascii" in told(separatrix("check", path, "-t", "preis", "--encoding", "ascii"))
    shops().write_parquet(tmp_path / "shops.parquet")
    words = told(separatrix("check", tmp_path / "shops.parquet", "-t", "preis", "--encoding", "cp1252"))
    assert "is no text but parquet" in words


def test_missing_values_are_counted_and_rare_texts_are_called_so(tmp_path):
    """What a model fills in is said once, with the columns; the column that rare texts share has a name."""
    frame, path, new, model = shops(), tmp_path / "shops.csv", tmp_path / "new.csv", tmp_path / "m.sx"
    once = pl.Series("città", [*frame["città"][:-6], *"ABCDEF"])
    frame.with_columns(once).write_csv(path)
    fitting = ["fit", path, "-t", "preis", "--encode", "--impute", "--cv", "0", "--C", "1"]
    result = separatrix(*fitting, "--save", model)
    assert "città_other (rare)" in result.output
    assert "sklearn" not in result.output + separatrix("show", model).output.split("provenance")[0]
    rows = pl.DataFrame({"größe": [None, 1.0, None, 2.0], "città": ["Köln", None, "Köln", "Köln"]})
    rows.with_columns(preis=pl.lit("für viel")).write_csv(new)
    words = "3 of 4 rows lack values, which are filled in by what the fit saw"
    for more in ([], ["--score"], ["--strict"]):
        answers = separatrix("predict", model, new, *more)
        assert answers.exit_code == 0
        assert answers.stderr.count(words) == 1
        assert "'größe' 2, 'città' 1." in answers.stderr
    assert words in told(separatrix(*fitting, "--test", new))
    frame.with_columns(once).write_csv(new)
    assert "lack values" not in told(separatrix("predict", model, new))


def test_a_word_among_numbers(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n" + "".join(f"{k},{'uv'[k % 2]}\n" for k in range(30)) + "about 7,u\n")
    words = told(separatrix("check", path, "-t", "y"))
    assert "line 32: expected a number in the column 'a', found 'about 7'. Put a number there, or nothing" in words
    assert "If a column is meant to be text, --encode makes numbers of it" in words
    assert "Correct it" not in words
