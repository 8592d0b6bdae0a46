"""Ten people with their files: what each meets in the first hour."""

import json
import re

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from newcomer import clouds, separatrix, text_of
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
)

from separatrix import DataError, MaxMargin, Pocket, separability
from separatrix.app.report.summary import separability_rows
from separatrix.app.tables import Table
from separatrix.app.workflows import Options, compare, comparing, fit


def test_the_saved_model_is_the_one_that_predicts_best():
    """The breast cancer data are separable, and a soft margin predicts better: both are reported."""
    found = fit(None, Options(scale=True))
    assert found.answer.separable
    assert found.hard.certificate_.lower == pytest.approx(0.00139251727, rel=1e-6)
    assert all(found.hard_verification.values())
    assert all(found.verification.values())
    model = found.separator
    means = model.scores_.mean(axis=0)
    taken, best = int(np.flatnonzero(model.Cs_ == model.C_)[0]), int(np.argmax(means))
    assert 0.975 < means[taken] <= means[best]
    error = np.std(model.scores_[:, best], ddof=1) / np.sqrt(5)
    assert means[best] - error <= means[taken]
    assert all(means[:taken] < means[best] - error)
    assert found.hard is not model


def test_the_hard_margin_is_taken_where_it_is_asked_for():
    found = fit(None, Options(scale=True, C=np.inf))
    assert found.separator is found.hard
    assert np.isinf(found.separator.C_)
    assert found.cv.mean == pytest.approx(0.953, abs=0.002)


@pytest.mark.parametrize("score", ["accuracy", "balanced", "f1", "auc", "log-loss"])
def test_what_cross_validation_compares_is_chosen(score):
    frame = clouds(90, apart=0.5)
    table = Table("clouds", "made", "", frame.drop("label").to_numpy(), frame["label"].to_numpy().astype(str))
    found = fit(table, Options(score=score, folds=3))
    model = found.separator
    mean = abs(model.scores_[:, model.Cs_ == model.C_].mean())
    assert found.cv.score == score
    assert found.cv.mean == pytest.approx(mean, rel=0.1 if score == "log-loss" else 1e-9)  # calibrated otherwise


def test_several_classes_are_told_apart_in_the_best_way():
    """Each class lies between others, so no hyperplane cuts one off from the rest; pairs are easy."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 5
    X = np.column_stack([y * 4.0, rng.normal(size=100)]) + rng.normal(size=(100, 2)) * 0.4
    found = fit(Table("stripes", "made", "", X, y), Options(folds=2))
    assert found.separator.multi_class_ == "ovo"
    assert found.cv.mean > 0.95
    rest = fit(found.table, Options(folds=2, multi_class="ovr"))
    assert rest.cv.mean < found.cv.mean - 0.05
    asked = fit(found.table, Options(folds=0, multi_class="ovr", C=1.0))
    assert asked.separator.multi_class == "ovr"


def test_a_rare_class(tmp_path):
    """Imbalance: 99% right without one rare row predicted is said to be so, and a switch mends it."""
    path = tmp_path / "rare.csv"
    clouds(2000, apart=0.4, weights=[0.99], seed=3).write_csv(path)
    plain = separatrix("fit", path, "--target", "label", "--cv", "3")
    assert "Rare: c1 (" in text_of(plain)
    assert "--class-weight balanced" in text_of(plain)
    weighted = separatrix(
        "fit", path, "--target", "label", "--cv", "3", "--class-weight", "balanced", "--score", "balanced", "--json"
    )
    recall = json.loads(weighted.stdout)["out_of_fold"]["classes"]["c1"]["recall"]
    assert recall > 0.4
    assert (
        recall
        > json.loads(separatrix("fit", path, "-t", "label", "--cv", "3", "--json").stdout)["out_of_fold"]["classes"][
            "c1"
        ]["recall"]
    )
    assert json.loads(weighted.stdout)["separator"]["parameters"]["class_weight"] == "balanced"


def test_identifiers(tmp_path):
    """Random labels: a column of names does not make them separable; the fit speaks of it, and --strict refuses."""
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    frame = pl.DataFrame(
        {"name": [f"person {i}" for i in range(120)], "row_id": np.arange(120), "x": rng.normal(size=120)}
    )
    frame.with_columns(label=pl.Series(rng.integers(0, 2, 120))).write_csv(path)
    result = separatrix("fit", path, "-t", "label", "--encode", "--cv", "2")
    assert "Identifiers? The values of 'name', 120 texts in 120 rows, 'row_id', different in every row" in text_of(
        result
    )
    assert "1 text column one-hot encoded (3 columns in all)" in text_of(result)  # names that occur once share a column
    assert "not linearly separable" in text_of(result)
    refused = separatrix("check", path, "-t", "label", "--encode", "--strict")
    assert refused.exit_code == 3
    assert "--strict: (1) Identifiers?" in refused.stderr


def test_what_else_a_colleague_would_say(tmp_path):
    frame = clouds(60, apart=0.5)
    frame = pl.concat(
        [
            frame,
            frame[:3].with_columns(label=pl.when(pl.col("label") == "c0").then(pl.lit("c1")).otherwise(pl.lit("c0"))),
        ]
    )
    frame = frame.with_columns(
        same=pl.lit(7.0),
        outcome=pl.when(pl.col("label") == "c0").then(pl.lit(1.0)).otherwise(pl.lit(5.0)),
        large=pl.col("x1") * 1e5,
    )
    path = tmp_path / "data.csv"
    frame.write_csv(path)
    words = text_of(separatrix("fit", path, "-t", "label", "--cv", "2", "--C", "1"))
    assert "The column 'outcome' alone tells the classes apart" in words
    assert "The column 'same' holds one value only" in words
    assert "times as wide as those of" in words
    assert "the same features" not in words  # the outcome tells them apart
    words = text_of(separatrix("fit", path, "-t", "label", "--cv", "2", "--C", "1", "--drop", "outcome", "--scale"))
    assert "6 rows have the same features as a row of another class (lines 2, 3, 4, ...)" in words
    assert "95.2% of these data right" in words
    frame.drop("outcome")[:62].with_columns(label=pl.Series(["c0"] * 30 + ["c1"] * 29 + ["c2"] * 3)).write_csv(path)
    words = text_of(separatrix("fit", path, "-t", "label", "--C", "1", "--scale"))
    assert "fewer rows than the 5 folds of the cross-validation: c2 (3). So it uses 3 folds" in words


def test_a_held_out_file_and_identifiers_and_probabilities(tmp_path):
    """The model is judged by rows it has not seen; predictions keep the customer's number and say how sure they are."""
    frame = clouds(300, apart=0.9, seed=1).with_columns(customer=pl.Series([f"K{i:04}" for i in range(300)]))
    train, later, new, model = (tmp_path / name for name in ("train.csv", "later.csv", "new.csv", "m.sx"))
    frame[:200].write_csv(train)
    frame[200:].write_csv(later)
    frame[200:].drop("label").write_csv(new)
    result = separatrix(
        "fit", train, "-t", "label", "--id", "customer", "--test", later, "--save", model, "--json", "--strict"
    )
    assert result.exit_code == 0, result.stderr
    held_out = json.loads(result.stdout)["held_out"]
    assert held_out["accuracy"] > 0.8
    assert held_out["auc"] > 0.9
    scored = json.loads(separatrix("predict", model, later, "--score", "--json").stdout)
    assert scored["accuracy"] == held_out["accuracy"]
    assert "customer" not in json.loads(result.stdout)["largest_weights"]["c1"]
    for more in ([], ["--id", "customer"]):  # the fit used it, and the model remembers
        answers = pl.read_csv(separatrix("predict", model, new, "--probabilities", *more).stdout.encode())
        assert answers.columns == ["customer", "prediction", "probability_c0", "probability_c1"]
    assert answers["customer"].to_list() == frame[200:]["customer"].to_list()
    chance = answers["probability_c1"].to_numpy()
    np.testing.assert_allclose(answers["probability_c0"].to_numpy() + chance, 1.0)
    truth = (frame[200:]["label"] == "c1").to_numpy()
    assert np.mean((chance - truth) ** 2) < 0.12  # Brier's score; 0.25 says nothing
    assert abs(chance.mean() - truth.mean()) < 0.08
    assert "no column 'custmer'" in separatrix("predict", model, new, "--id", "custmer").stderr
    separatrix("fit", train, "-t", "label", "--drop", "customer", "--cv", "0", "--save", model)
    assert "holds no calibration" in separatrix("predict", model, new, "--probabilities").stderr


def test_26_classes(tmp_path):
    """A verdict in three lines, the worst classes and the most frequent mistakes; --all tells the rest."""
    rng = np.random.default_rng(0)
    y = np.arange(104) % 26
    X = rng.normal(size=(26, 2))[y] * 2 + rng.normal(size=(104, 2))
    letters = [chr(ord("A") + k) for k in y]
    path, model = tmp_path / "letters.csv", tmp_path / "m.sx"
    pl.DataFrame(X, schema=["a", "b"]).with_columns(letter=pl.Series(letters)).write_csv(path)
    result = separatrix("fit", path, "-t", "letter", "--cv", "2", "--C", "1", "--multi-class", "ovr", "--save", model)
    assert result.exit_code == 0
    verdict = result.output.split("Separability")[1].split("each class")[0].split("classes with")[0]
    assert re.search("not jointly .* one-vs-rest: [0-6] of 26; one-vs-one: [0-9]+ of 325", " ".join(verdict.split()))
    assert verdict.count("\n") <= 4
    assert "the 5 classes with the lowest F1 of 26" in result.output
    assert "most frequent mistakes" in result.output
    assert len(result.output.splitlines()) < 80
    everything = separability_rows(separability(X[:40], np.array(letters)[:40] < "D"), True)
    assert len(everything) == 1  # of two classes there is no more to tell
    three = separability(X, np.array(["ABC"[k % 3] for k in y]), check_quasi=False)
    assert [label for label, _ in separability_rows(three, True)][2:] == ["A | B", "A | C", "B | C"]
    scored = separatrix("predict", model, path, "--score", "--all")
    assert all(f"\n{letter} " in scored.output for letter in set(letters))


def test_an_algorithm_without_a_certificate(tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "m.sx"
    clouds(60).write_csv(path)
    result = separatrix(
        "fit", path, "-t", "label", "--algorithm", "PiecewiseLinearMachine", "--cv", "2", "--save", model,
        "--report", tmp_path / "r.md", "--report", tmp_path / "r.json",
    )  # fmt: skip
    assert result.exit_code == 0, text_of(result)
    assert "none: this algorithm proves nothing" in text_of(result)
    assert json.loads((tmp_path / "r.json").read_text())["verified"] is False
    assert separatrix("show", model).exit_code == 0


def test_far_more_columns_than_rows(tmp_path):
    path, rng = tmp_path / "wide.npz", np.random.default_rng(0)
    np.savez(path, X=rng.normal(size=(30, 60)), y=rng.integers(0, 2, 30))
    words = text_of(separatrix("fit", path, "--cv", "2"))
    assert "linearly separable (proved)" in words
    assert "60 columns of numbers and 30 rows: with so many columns nearly any labels are separable" in words


def test_excel_with_dates(tmp_path):
    """A workbook with two sheets, dates, percentages, rows without a label, an empty column and texts."""
    rng = np.random.default_rng(0)
    day = pl.datetime_range(pl.datetime(2024, 1, 1), pl.datetime(2024, 3, 31), "1d", eager=True)[:80]
    y = ["late" if k % 2 else "in time" for k in range(80)]
    frame = pl.DataFrame(
        {
            "day": day.dt.date(),
            "share": [f"{x:.1f}%" for x in 50 + 10 * np.arange(80) % 2 + rng.normal(size=80)],
            "load": np.where(np.arange(80) % 2, 3.0, 1.0) + rng.normal(size=80),
            "empty": [None] * 80,
            "result": [None, None, *y[2:]],
        }
    )
    book, model, new = tmp_path / "deliveries.xlsx", tmp_path / "m.sx", tmp_path / "new.xlsx"
    with xlsxwriter.Workbook(book) as workbook:
        frame.write_excel(workbook, "May")
        frame[:2].write_excel(workbook, "June")
    result = separatrix("fit", book, "-t", "result", "--scale", "--save", model)
    assert result.exit_code == 0, text_of(result)
    for words in (
        "78 rows, 3 features",
        "The sheet 'May' was read; there are also 'June' (--sheet).",
        "The column 'day' holds dates, became days since 2000-01-01",
        "The column 'share' holds percent, divided by 100",
        "2 of 80 rows have no label in 'result' and are left out (rows 1, 2)",
        "Left out, as there is no value in it: 'empty'",
        "keep the newest rows in another file and name it with --test",
    ):
        assert words in text_of(result)
    assert separatrix("verify", model, book).exit_code == 0
    frame.drop("result").write_excel(new)
    assert len(json.loads(separatrix("predict", model, new, "--json").stdout)["prediction"]) == 80


def test_the_newest_pandas_with_arrow_strings():
    """Columns and labels of Arrow's type of text, as pandas 3 has them."""
    pd = pytest.importorskip("pandas")
    frame = clouds(80, apart=2.0)
    city = pl.Series("city", ["Rome", "Oslo"] * 40)
    given = frame.with_columns(city).to_pandas(use_pyarrow_extension_array=True)
    assert isinstance(given["label"].dtype, pd.ArrowDtype)
    encoder = ColumnTransformer([("city", OneHotEncoder(), ["city"])], remainder="passthrough")
    model = make_pipeline(encoder, MaxMargin()).fit(given.drop(columns="label"), given["label"])
    assert set(model.predict(given.drop(columns="label"))) == {"c0", "c1"}
    assert model.score(given.drop(columns="label"), given["label"]) > 0.9
    numbers = given[["x0", "x1", "x2", "x3"]]
    alone = MaxMargin().fit(numbers, given["label"])
    assert alone.certificate_.verify(numbers.to_numpy(dtype=float), given["label"].to_numpy(dtype=str))
    assert separability(numbers, given["label"]).separable is not None


def test_compare_is_interrupted(tmp_path, monkeypatch):
    """What is finished is kept and ranked; the exit status tells that it is not all."""
    path, measure = tmp_path / "data.csv", comparing._measure
    clouds(80).write_csv(path)

    def interrupted(name, *arguments):
        if name == "Perceptron":
            raise KeyboardInterrupt
        return measure(name, *arguments)

    monkeypatch.setattr(comparing, "_measure", interrupted)
    result = separatrix("compare", path, "-t", "label", "--algorithms", "MaxMargin,Least*,perceptron", "--cv", "2")
    assert result.exit_code == 130
    assert "MaxMargin (C = 1)" in result.output
    assert "LeastSquares" in result.output
    assert "Interrupted: 1 algorithms were not tried." in result.stderr


def test_compare_chooses_and_ranks_what_did_not_converge_last():
    frame = clouds(200, apart=0.3)
    table = Table("clouds", "made", "", frame.drop("label").to_numpy(), frame["label"].to_numpy().astype(str))
    seen = []
    found = compare(table, Options(folds=2), seen=seen.append, wanted=["kernels,MaxMargin", "BatchPerc*"], jobs=2)
    names = {"KernelMaxMargin", "KernelPerceptron", "MaxMargin (hard)", "MaxMargin (C = 1)", "BatchPerceptron"}
    assert {r.name for r in found.results} == {r.name for r in seen} == names
    ended = [r.converged for r in found.results if not r.why_not]
    assert ended == sorted(ended, reverse=True)
    assert not all(ended)
    assert found.results[-1].why_not
    with pytest.raises(DataError, match="Did you mean"):
        compare(table, wanted=["Perzeptron"])


def test_the_pocket_does_not_recommend_itself():
    with pytest.warns(ConvergenceWarning, match="max_updates") as caught:
        Pocket(max_updates=1).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert "Pocket" not in str(caught[0].message).removeprefix("Pocket")
