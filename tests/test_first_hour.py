"""What a newcomer reads, types and asks in the first hour."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from newcomer import separatrix, text_of

from separatrix import MaxMarginCV
from separatrix.app.cli import terminal
from separatrix.app.cli.progress import time_words
from separatrix.app.report.terms import explained
from separatrix.app.tables import read_table
from separatrix.app.workflows.fitting import in_words

TERMS = "margin|certificate|certified gap|support vectors|nearest row|C|cross-validation|rho|precision|recall|F1|AUC"
MORE_TERMS = (
    "balanced accuracy|average precision|Delta|Kesler|solver|proven upper bound|margin achieved|criterion|probabilities"
)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the commands print of separable data, of some that overlap and of three classes: texts, and all labels."""
    folder = tmp_path_factory.mktemp("printed")
    names = {name: folder / name for name in ("over.csv", "apart.csv", "iris.csv", "m.sx")}
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    for name, apart in (("over.csv", 1.0), ("apart.csv", 9.0)):
        X = rng.normal(size=(80, 2)) + apart * y[:, None]
        pl.DataFrame(X, schema=["a", "b"]).with_columns(label=pl.Series(["no", "yes"]).gather(y)).write_csv(names[name])
    separatrix("sample", names["iris.csv"])
    labels, texts, print_rows = set(), {}, terminal.print_rows

    def recorded(console, heading, rows, width=None):
        labels.update(label for label, _ in rows)
        print_rows(console, heading, rows, width)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "print_rows", recorded)
        for words in (
            "fit over.csv -t label --save m.sx", "verify m.sx over.csv", "show m.sx", "check over.csv -t label",
            "fit apart.csv -t label --cv 3 --test apart.csv --save m.sx", "predict m.sx apart.csv --score",
            "check apart.csv -t label", "fit apart.csv -t label --cv 0 --C inf --save m.sx", "show m.sx",
            "verify m.sx apart.csv", "fit over.csv -t label --cv 0 --algorithm Perceptron",
            "fit iris.csv -t species --scale --save m.sx", "verify m.sx iris.csv",
        ):  # fmt: skip
            result = separatrix(*(names.get(word, word) for word in words.split()))
            assert result.exit_code in (0, 1), text_of(result)
            texts[words] = text_of(result)
    return texts, labels


def test_terms_of_the_output_are_explained(printed):
    """Every label that is printed, every head of a table and every score has its entry."""
    labels = {label for label in printed[1] if " against " not in label}
    assert {"Hard margin", "Separability", "Model", "Optimality gap", "Margin achieved", "verdict"} <= labels
    heads = {"class", "rows", "each class", "true", "predicted", "largest weights", "most frequent mistakes", "note"}
    for label in labels | heads | set(f"{TERMS}|{MORE_TERMS}".split("|")):
        text = " ".join(explained(label).values())
        assert len(text) > 30, label
        assert not set("$`\\[{") & set(text), label
    assert "distance from the decision boundary to the nearest row" in text_of(separatrix("explain", "margin"))
    assert "Did you mean" in separatrix("explain", "margn").stderr
    assert len(separatrix("explain").output.splitlines()) > 60
    assert "no hyperplane has a larger margin" in text_of(separatrix("explain", "proven upper bound"))
    assert "minimizes" in text_of(separatrix("explain", "criterion"))
    assert "bias, intercept, threshold weight" in text_of(separatrix("explain"))
    assert "sum lambda_k x_k" in text_of(separatrix("explain", "convex hull"))


def test_every_margin_says_whose_it_is(printed):
    """The hard margin is reported with its proof and apart from the model; soft margins are judged by their
    criterion."""
    texts = printed[0]
    soft = texts["fit over.csv -t label --save m.sx"]
    assert "margin achieved" not in soft
    assert "nearest row" not in soft
    assert re.search(r"Optimality gap \de-\d+ \(relative, verified\)", soft)
    both = texts["fit apart.csv -t label --cv 3 --test apart.csv --save m.sx"]
    hard = both.split("Hard margin", 1)[1]
    assert re.search(r"^ [\d.]+ units of your columns, proven optimal \(bounds ([\d.]+) \.\. \1, relative gap", hard)
    assert both.index("Model") < both.index("Separability linearly separable (proved)") < both.index("Hard margin")
    assert "at a distance of" not in both  # of the hyperplane that only decided separability
    assert both.count("Hard margin") == both.count("Support vectors") == 1
    for words in ("verify m.sx over.csv", "verify m.sx iris.csv"):
        assert re.search(
            r"model .*MaxMargin.*C_?=.*objective of this soft margin is ([\d.]+), proven lower bound \1", texts[words]
        )
    assert "holds: margin achieved" in texts["verify m.sx apart.csv"]
    assert "margin 0." not in texts["check apart.csv -t label"]
    assert "bounds on rounding errors" in texts["check apart.csv -t label"]
    assert (
        "Margin achieved none: some rows are misclassified"
        in texts["fit over.csv -t label --cv 0 --algorithm Perceptron"]
    )


def test_why_this_c(printed):
    """The lines below the model say how its C was chosen."""
    reason = (
        r"Model soft-margin linear SVM, C = [\d.e+-]+(, one-vs-\w+)? \d-fold cross-validation over \d values of C, "
    )
    for words, text in printed[0].items():
        if words.startswith("fit") and "--save" in words and "--C" not in words:
            assert re.search(rf"{reason}one-standard-error rule (\(best C = [\d.e+-]+: [\d.]+%\) )?CV", text), words
    model = MaxMarginCV([0.1, 1.0], one_standard_error=True)
    model.Cs_, model.C_, model.classes_ = np.array([0.1, 1.0]), 0.1, np.array([0, 1])
    model.scores_ = np.array([[0.8, 0.9], [0.9, 0.9]])
    assert in_words(model, "accuracy")[1] == [
        "2-fold cross-validation over 2 values of C, one-standard-error rule", "(best C = 1: 90.0%)",
    ]  # fmt: skip


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
        assert result.exit_code == 0, (command, text_of(result))
        if arguments[0] == "fit":
            assert "0.219 standard deviations, proven optimal" in text_of(result)  # the README speaks of it
    assert {"wine.csv", "wine.sx", "wine.html", "predictions.csv"} <= {path.name for path in tmp_path.iterdir()}
    assert "probability_class_0" in (tmp_path / "predictions.csv").read_text()
    new = pl.read_csv("wine.csv")[:5].drop("cultivar")
    new.select(new.columns[::-1]).write_csv("new.csv")
    assert separatrix("predict", "wine.sx", "new.csv").stdout.split()[1:] == ["class_0"] * 5


def test_what_the_readme_prints_is_printed():
    """Its first output, line by line, but for what it leaves out."""
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    block = re.search(r"^    Breast cancer .*?(?=^\S)", readme, flags=re.M | re.S)[0]
    whole = text_of(separatrix("fit"))
    for part in re.split(r"\(\.\.\.\)|\n(?=    \S)", block):
        words = " ".join(part.split())
        assert words in whole, words


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
    assert result.exit_code == 0, text_of(result)
    assert "für viel" in result.output
    assert "città_Köln" in result.output
    for name in (encoding, "utf-8"):  # the model remembers, for what is not UTF-8
        new.write_bytes(shops(4).drop("preis").write_csv().encode(name))
        answers = separatrix("predict", model, new)
        assert answers.stdout.split("\n")[1:3] == ["für wenig", "für viel"], (name, text_of(answers))
        assert "not among the data" not in text_of(answers)
    assert separatrix("verify", model, path).exit_code == 0


def test_an_encoding_that_does_not_fit(tmp_path):
    path = tmp_path / "shops.csv"
    path.write_bytes(shops().write_csv().encode("cp1252"))
    refused = separatrix("check", path, "-t", "preis")
    assert refused.exit_code == 3
    assert "line 1: this is not UTF-8 text. Tell how it was written with --encoding: cp1252" in text_of(refused)
    assert "'klingon' is not known" in text_of(separatrix("check", path, "-t", "preis", "--encoding", "klingon"))
    assert "not text in the encoding ascii" in text_of(separatrix("check", path, "-t", "preis", "--encoding", "ascii"))
    shops().write_parquet(tmp_path / "shops.parquet")
    words = text_of(separatrix("check", tmp_path / "shops.parquet", "-t", "preis", "--encoding", "cp1252"))
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
    assert words in text_of(separatrix(*fitting, "--test", new))
    frame.with_columns(once).write_csv(new)
    assert "lack values" not in text_of(separatrix("predict", model, new))


def test_a_word_among_numbers(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n" + "".join(f"{k},{'uv'[k % 2]}\n" for k in range(30)) + "about 7,u\n")
    words = text_of(separatrix("check", path, "-t", "y"))
    assert "line 32: expected a number in the column 'a', found 'about 7'. The column looks like numbers" in words
    assert "use --missing 'about 7'" in words
    assert "If a column is meant to be text, --encode makes numbers of it" in words
    assert "Correct it" not in words
