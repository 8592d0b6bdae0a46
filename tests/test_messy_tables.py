"""Tables as people keep them: words among numbers, currencies, units, several sheets, quantities as targets."""

import io
import json
import os
import threading

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from messy_tables import messy_table
from newcomer import separatrix, text_of
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from separatrix.app.tables import read_table
from separatrix.app.tables.spellings import as_number
from separatrix.errors import DataError

ROWS = 300


def messy(path, spell, seed=0, words=()):
    """Write two columns of numbers and labels by their sum; ``spell`` writes a number, ``words`` replace 2% of them."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(50, 20, (ROWS, 2)), 2)
    y = np.where(X.sum(1) > 100, "high", "low")
    text = np.array([[spell(v) for v in row] for row in X], dtype=object)
    for k, word in enumerate(words):
        text[k::50, k % 2] = word
    frame = pl.DataFrame({"a": text[:, 0].tolist(), "b": text[:, 1].tolist(), "y": y.tolist()})
    frame.write_csv(path)
    return X, text


@pytest.mark.parametrize("word", [".", "none", "missing", "unknown", "?", "N/A", "NULL", "-", "Unknown", "n.a."])
def test_words_between_numbers_are_missing_values(tmp_path, word):
    X, text = messy(tmp_path / "t.csv", str, words=[word])
    table = read_table(tmp_path / "t.csv", "y")
    lacking = text[:, 0] == word
    assert lacking.sum() == 6
    assert np.array_equal(np.isnan(table.X["a"].to_numpy()), lacking)
    assert np.array_equal(table.X["a"].to_numpy()[~lacking], X[~lacking, 0])
    if word not in ("?", "N/A", "NULL"):  # text readers take these for empty fields
        assert table.words == {"a": {word: 6}}
        assert any(f"of the column 'a' count as missing values: {word!r} 6" in note for note in table.notes)


def test_accuracy_with_words_is_that_of_empty_fields(tmp_path):
    words = ["unknown", "."]
    messy(tmp_path / "words.csv", str, words=words)
    messy(tmp_path / "empty.csv", str, words=["", ""])
    scores = []
    for name in ("words", "empty"):
        found = separatrix("fit", tmp_path / f"{name}.csv", "-t", "y", "--impute", "--scale", "--json")
        scores.append(json.loads(found.stdout)["cross_validated_accuracy"]["mean"])
    assert scores[0] == scores[1] > 0.9


def test_a_repeated_word_is_missing_and_stays_so_in_predictions(tmp_path):
    data, model = tmp_path / "t.csv", tmp_path / "m.sx"
    messy(data, str, words=["off"])
    assert read_table(data, "y").words == {"a": {"off": 6}}
    result = separatrix("fit", data, "-t", "y", "--impute", "--C", 1, "--save", model)
    assert "'off' 6" in text_of(result)
    (tmp_path / "one.csv").write_text("a,b\noff,70\n")
    (tmp_path / "two.csv").write_text("a,b\n,70\n")
    answers = [separatrix("predict", model, tmp_path / f"{name}.csv").stdout for name in ("one", "two")]
    assert answers[0] == answers[1]


def test_one_strange_word_is_an_error_that_names_the_option(tmp_path):
    path = tmp_path / "t.csv"
    messy(path, str)
    path.write_text(path.read_text() + "oops,3,low\n")
    words = text_of(separatrix("fit", path, "-t", "y", "--encode"))
    assert "line 302: expected a number in the column 'a', found 'oops'" in words
    assert "use --missing oops" in words
    assert separatrix("fit", path, "-t", "y", "--impute", "--C", 1, "--missing", "oops").exit_code == 0


def test_words_that_are_values(tmp_path):
    path = tmp_path / "t.csv"
    messy(path, lambda v: str(int(v) // 20), words=["none"])
    assert read_table(path, "y").X["a"].dtype == pl.Float64
    table = read_table(path, "y", not_missing=["none"])
    assert table.X["a"].dtype == pl.String
    assert (table.X["a"] == "none").sum() == 6
    assert read_table(path, "y", not_missing=["NULL"]).X["a"].dtype == pl.Float64


@pytest.mark.parametrize(
    ("spell", "words"),
    [
        (lambda v: f"{v:.2f} €".replace(".", ","), "amounts in EUR"),
        (lambda v: f"{1000 * v:,.0f}" if v > 50 else f"${1000 * v:,.1f}", "amounts in USD"),
        (lambda v: f"{v} kg", "numbers with the unit kg"),
        (lambda v: f"{v}k" if v > 40 else f"{v}", "numbers with k (times 1,000)"),
        (lambda v: f"{1000 * v:,.0f}".replace(",", "'"), "thousands separated by apostrophes"),
        (lambda v: f"{1000 * v:,.2f}".replace(",", " ").replace(".", ","), "thousands separated by spaces"),
        (lambda v: f"{v}%", "percent"),
    ],
)
def test_amounts_and_units_are_numbers(tmp_path, spell, words):
    X, text = messy(tmp_path / "t.csv", spell)
    table = read_table(tmp_path / "t.csv", "y")
    values = table.X["a"].to_numpy()
    factor = np.where(np.char.endswith(text[:, 0].astype(str), "k"), 1000.0, 1.0)
    if factor.max() == 1.0:
        factor = np.full(ROWS, 0.01 if "percent" in words else 1000.0 if "000" in words or "th" in words[:2] else 1.0)
        factor = np.full(ROWS, 1000.0) if words in ("amounts in USD",) else factor
    assert np.allclose(values, factor * X[:, 0], atol=1.0 if factor.max() > 1 else 1e-9)
    assert any(f"The columns 'a', 'b' hold {words}" in note for note in table.notes), table.notes


def test_every_seventh_value_has_the_sign(tmp_path):
    rows = [f"{k},{k % 9}" + (" €" if k % 7 == 0 else "") for k in range(1000, 1100)]
    lines = "".join(f"{row};{'uv'[k % 2]}\n" for k, row in enumerate(rows))
    (tmp_path / "t.csv").write_text("amount;y\n" + lines)
    table = read_table(tmp_path / "t.csv", "y")
    assert table.X["amount"][1] == pytest.approx(1001 + 0.1 * (1001 % 9))


def test_two_units_in_one_column_are_an_error(tmp_path):
    for pair in (("kg", "lb"), ("€", "$")):
        rows = "".join(f"{k} {pair[k % 2]},{'uv'[k % 2]}\n" for k in range(20))
        (tmp_path / "t.csv").write_text("amount,y\n" + rows)
        names = [{"€": "EUR", "$": "USD"}.get(name, name) for name in pair]
        with pytest.raises(DataError, match=f"'amount' holds amounts in {names[0]} and in {names[1]}"):
            read_table(tmp_path / "t.csv", "y")


def test_new_data_in_another_unit_are_refused(tmp_path):
    for name, unit in (("old", "kg"), ("new", "lb")):
        rows = "".join(f"{k} {unit},{'uv'[k > 10]}\n" for k in range(20))
        (tmp_path / f"{name}.csv").write_text("weight,y\n" + rows)
    separatrix("fit", tmp_path / "old.csv", "-t", "y", "--C", 1, "--save", tmp_path / "m.sx")
    result = separatrix("predict", tmp_path / "m.sx", tmp_path / "new.csv")
    assert result.exit_code == 3
    assert "'weight' holds amounts in lb; the model was fitted on amounts in kg" in text_of(result)


@pytest.mark.parametrize("text", ["12A,B7", "3+,4+", "1st,2nd", "A1,A2", "10B,11C"])
def test_codes_stay_text(tmp_path, text):
    values = text.split(",")
    rows = "".join(f"{values[k % 2]},{'uv'[k % 2]}\n" for k in range(20))
    (tmp_path / "t.csv").write_text("code,y\n" + rows)
    assert read_table(tmp_path / "t.csv", "y").X["code"].dtype == pl.String


def test_a_number_that_can_be_read_in_two_ways_is_noted(tmp_path):
    rows = "".join(f"{1 + k % 9}.{k + 123};{'uv'[k % 2]}\n" for k in range(20))
    (tmp_path / "t.csv").write_text("size;y\n" + rows)
    table = read_table(tmp_path / "t.csv", "y")
    assert any("'size' holds numbers that can be read in two ways: 1.123 is taken" in note for note in table.notes)


def test_a_quantity_is_refused_as_a_target(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(25, 346, 442)
    rows = "".join(f"{a:.3f},{v}\n" for a, v in zip(rng.normal(size=442), y, strict=True))
    (tmp_path / "t.csv").write_text("a,progression\n" + rows)
    words = text_of(separatrix("check", tmp_path / "t.csv", "-t", "progression"))
    assert f"'progression' looks like a quantity: {len(set(y))} values in 442 rows. Use --classes if they are" in words
    assert len(np.unique(read_table(tmp_path / "t.csv", "progression", classes=True).y)) == len(set(y))


def test_numbered_classes_are_labels(tmp_path):
    rows = "".join(f"{k},{k % 60}\n" for k in range(1200))
    (tmp_path / "t.csv").write_text("a,sku\n" + rows)
    assert len(np.unique(read_table(tmp_path / "t.csv", "sku").y)) == 60


def workbook(path):
    with xlsxwriter.Workbook(path) as book:
        pl.DataFrame({"Note": ["made by hand"]}).write_excel(book, "Read me")
        for name, y in (("2023", "uv"), ("2024", "vu")):
            frame = pl.DataFrame({"a": [*range(20)], "Outcome": [y[k > 9] for k in range(20)]})
            frame.write_excel(book, name)


def test_the_sheet_with_the_target_is_read(tmp_path):
    workbook(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx", "Outcome")
    assert (table.sheet, table.y[0]) == ("2023", "u")
    assert "The sheet '2023' was read; there are also 'Read me', '2024' (--sheet)." in table.notes
    for sheet in ("2024", "3"):
        assert read_table(tmp_path / "t.xlsx", "Outcome", sheet=sheet).y[0] == "v"
    with pytest.raises(DataError, match=r"it has no sheet '2025'; its sheets are 'Read me', '2023', '2024'"):
        read_table(tmp_path / "t.xlsx", "Outcome", sheet="2025")


def test_only_workbooks_have_sheets(tmp_path):
    messy(tmp_path / "t.csv", str)
    with pytest.raises(DataError, match="is no workbook but csv: --sheet says nothing of it"):
        read_table(tmp_path / "t.csv", "y", sheet="1")


def test_equal_column_names_are_numbered(tmp_path):
    (tmp_path / "t.csv").write_text("a,a,a_2,y\n" + "".join(f"{k},{-k},{k * k},{'uv'[k > 4]}\n" for k in range(10)))
    table = read_table(tmp_path / "t.csv", "y")
    assert table.names == ["a", "a_3", "a_2"]
    assert "The column name 'a' occurs 2 times (columns 1, 2): the later ones are called 'a_3'." in table.notes
    assert table.X["a_3"].to_list() == [float(-k) for k in range(10)]


def test_check_leaves_identifiers_out(tmp_path):
    frame = pl.DataFrame({"id": range(20), "a": [0.0, 1.0] * 10, "y": ["u", "v"] * 10})
    frame.write_csv(tmp_path / "t.csv")
    result = separatrix("check", tmp_path / "t.csv", "-t", "y", "--id", "id")
    assert result.exit_code == 0
    assert "Identifiers?" not in text_of(result)


def test_pandas_words_in_another_format(tmp_path):
    frame = pl.DataFrame({"a": ["1.5", "unknown", "2.5", "3.5"] * 5, "y": ["u", "u", "v", "v"] * 5})
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    (tmp_path / "t.parquet").write_bytes(buffer.getvalue())
    assert read_table(tmp_path / "t.parquet", "y").words == {"a": {"unknown": 5}}


def test_line_ends_of_old_macs(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,y\r" + b"".join(b"%d,%s\r" % (k, b"uv"[k % 2 : k % 2 + 1]) for k in range(9)))
    assert read_table(tmp_path / "t.csv", "y").n == 9


def test_an_open_quotation_mark_in_the_header_is_named(tmp_path):
    (tmp_path / "t.csv").write_text('a,"b,y\n1,2,u\n3,4,v\n')
    with pytest.raises(DataError, match="line 1: a quotation mark in the header is never closed"):
        read_table(tmp_path / "t.csv", "y")


def test_digits_of_other_scripts_are_text(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n\u0663,u\n\u0664,v\n7,u\n")
    words = text_of(separatrix("check", tmp_path / "t.csv", "-t", "y"))
    assert "has text in the column 'a' (3 values" in words
    assert "parse" not in words


def test_a_pipe_without_a_writer_and_a_device_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.app.tables.source.PATIENCE", 0.01)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match=r"is a pipe, and nothing was written to it for 0\.01 s"):
        read_table(tmp_path / "pipe", "y")
    with pytest.raises(DataError, match="/dev/zero is a device"):
        read_table("/dev/zero", "y")


def test_a_pipe_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    text = "a,y\n" + "".join(f"{k},{'uv'[k % 2]}\n" for k in range(9))
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    assert read_table(tmp_path / "pipe", "y").n == 9
    writer.join()


def test_a_setting_without_a_value(tmp_path):
    messy(tmp_path / "t.csv", str)
    words = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y", "--algorithm", "Perceptron", "--set", "margin"))
    assert "--set margin: expected NAME=VALUE, found no '='. Write --set margin=0.0." in words


def test_verify_counts_the_rows_that_differ(tmp_path):
    messy(tmp_path / "t.csv", str)
    lines = (tmp_path / "t.csv").read_text().splitlines()
    separatrix("fit", tmp_path / "t.csv", "-t", "y", "--C", 1, "--save", tmp_path / "m.sx")

    def verdict(changed):
        (tmp_path / "new.csv").write_text("\n".join(changed) + "\n")
        return text_of(separatrix("verify", tmp_path / "m.sx", tmp_path / "new.csv"))

    assert "t.csv: the data that the model was fitted on" in text_of(
        separatrix("verify", tmp_path / "m.sx", tmp_path / "t.csv")
    )
    assert "another file with the rows that the model was fitted on" in verdict([*lines, ""])
    assert "the rows that the model was fitted on in another order" in verdict([lines[0], *lines[:0:-1]])
    others = [*lines[:5], *("1" + line for line in lines[5:8]), *lines[8:]]
    assert "this is not the table the model was fitted on: 3 of 300 rows differ" in verdict(others)
    assert "fitted on: 299 rows instead of 300, 0 of 299 rows differ" in verdict(lines[:-1])


def test_a_model_without_knowledge_is_called_so(tmp_path):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(ROWS) < 0.6, "no", "yes")
    pl.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS), "y": y}).write_csv(tmp_path / "t.csv")
    words = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y"))
    share = f"always answering 'no': {100 * np.mean(y == 'no'):.1f}%"
    balanced = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y", "--score", "balanced"))
    assert "always answering 'no': 50.0%" in balanced
    assert f"No better than {share}" in words
    messy(tmp_path / "good.csv", str)
    assert "No better than" not in text_of(separatrix("fit", tmp_path / "good.csv", "-t", "y", "--scale"))


def test_scores_of_training_rows_are_called_so(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.sx"
    messy(path, str)
    words = text_of(separatrix("fit", path, "-t", "y", "--C", 1, "--test", path, "--save", model))
    assert "Training data again" in words
    assert "Test data" not in words
    words = text_of(separatrix("predict", model, path, "--score"))
    assert "The model was fitted on these rows: training scores" in words
    assert "always answering" in words
    lines = path.read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join(lines[:100]) + "\n")
    assert "training scores" not in text_of(separatrix("predict", model, tmp_path / "new.csv", "--score"))


def test_compare_names_the_question_that_it_answers(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    pl.DataFrame({"a": y + 0.2 * rng.random(90), "b": rng.random(90), "y": [f"c{k}" for k in y]}).write_csv(
        tmp_path / "t.csv"
    )
    words = text_of(separatrix("compare", tmp_path / "t.csv", "-t", "y", "--algorithms", "MaxMargin", "--cv", 0))
    assert "MaxMargin (hard): not applicable, the classes are not separable one-vs-rest" in words
    words = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y", "--C", 1))
    assert "jointly separable; one-vs-rest: 2 of 3; one-vs-one: 3 of 3" in words


def test_a_rare_class_that_is_found_is_knowledge(tmp_path):
    """With balanced weights the accuracy is below that of never answering the rare class; the model still knows it."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], [570, 30])
    a = rng.normal(size=600) + 1.5 * (y == "yes")
    pl.DataFrame({"a": a, "b": rng.normal(size=600), "y": y}).write_csv(tmp_path / "t.csv")
    options = ("-t", "y", "--class-weight", "balanced", "--score", "balanced")
    result = separatrix("fit", tmp_path / "t.csv", *options, "--json")
    assert json.loads(result.stdout)["cross_validated_accuracy"]["mean"] < 0.9
    assert "No better than" not in text_of(separatrix("fit", tmp_path / "t.csv", *options))


def test_percent_signs_are_in_new_data_as_in_the_fit(tmp_path):
    data, model = tmp_path / "t.csv", tmp_path / "m.sx"
    messy(data, lambda v: f"{v}%")
    separatrix("fit", data, "-t", "y", "--C", 1, "--save", model)
    (tmp_path / "bare.csv").write_text("a,b\n55.1,70.2\n")
    result = separatrix("predict", model, tmp_path / "bare.csv")
    assert result.exit_code == 3
    assert "'a' holds numbers without the sign %; the model was fitted on percent, as in 12%" in text_of(result)
    (tmp_path / "mixed.csv").write_text("a,b\n55.1,70.2%\n55.1%,70.2%\n")
    assert "'a' has the sign % after some numbers and none after others" in text_of(
        separatrix("predict", model, tmp_path / "mixed.csv")
    )
    messy(data, str)
    separatrix("fit", data, "-t", "y", "--C", 1, "--save", model)
    (tmp_path / "signs.csv").write_text("a,b\n55.1%,70.2\n")
    assert "'a' holds percent, as in 12%; the model was fitted on numbers without" in text_of(
        separatrix("predict", model, tmp_path / "signs.csv")
    )


def test_decimal_commas_of_the_fit_hold_for_new_data(tmp_path):
    """1.176 is a thousand for a model that was fitted on decimal commas, however few rows come."""
    X, _ = messy(tmp_path / "points.csv", str)
    frame = pl.read_csv(tmp_path / "points.csv")
    rows = [f"{100 * a:_.2f};{b}".replace(".", ",").replace("_", ".") for a, b in X]
    lines = "".join(f"{row};{label}\n" for row, label in zip(rows, frame["y"], strict=True))
    (tmp_path / "t.csv").write_text("a;b;y\n" + lines)
    table = read_table(tmp_path / "t.csv", "y")
    assert np.allclose(table.X["a"].to_numpy(), 100 * X[:, 0])
    separatrix("fit", tmp_path / "t.csv", "-t", "y", "--C", 1, "--save", tmp_path / "m.sx")
    answers = []
    for text in ("4.176;10", "4176,00;10", "4.176,00;10,0", "4.176 €;10"):
        (tmp_path / "new.csv").write_text(f"a;b\n{text}\n")
        answers.append(separatrix("predict", tmp_path / "m.sx", tmp_path / "new.csv", "--decision").stdout)
    assert len(set(answers)) == 1, answers


def test_a_word_in_new_data_is_named_with_its_line(tmp_path):
    messy(tmp_path / "t.csv", str, words=[""])
    separatrix("fit", tmp_path / "t.csv", "-t", "y", "--impute", "--C", 1, "--save", tmp_path / "m.sx")
    (tmp_path / "new.csv").write_text("a,b\n1,2\ntbd,3\n")
    words = text_of(separatrix("predict", tmp_path / "m.sx", tmp_path / "new.csv"))
    assert "line 3: expected a number in the column 'a', found 'tbd'. Correct it, or use --missing tbd" in words
    result = separatrix("predict", tmp_path / "m.sx", tmp_path / "new.csv", "--missing", "tbd")
    assert result.exit_code == 0


def test_a_target_that_no_sheet_has(tmp_path):
    workbook(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"the sheet '2023' of .*t.xlsx has no column 'Outcom'. Did you mean 'Outcome'"):
        read_table(tmp_path / "t.xlsx", "Outcom")


@pytest.mark.parametrize("seed", range(15))
def test_messy_tables_predict_as_well_as_clean_ones(tmp_path, seed):
    """New rows of a table in disorder are predicted as by a pipeline that saw the table without it."""
    table = messy_table(seed, tmp_path)
    model, answers = tmp_path / "m.sx", tmp_path / "answers.csv"
    missing = ("--missing", "withheld")
    fitted = separatrix(
        *("fit", table.fitted, "-t", table.target, "--encode", "--impute", "--scale", *missing),
        *("--max-time", 5, "--save", model),
    )
    assert fitted.exit_code == 0, text_of(fitted)
    result = separatrix("predict", model, table.new, *missing, "-o", answers)
    assert result.exit_code == 0, text_of(result)
    predicted = pl.read_csv(answers, infer_schema=False)[:, -1].to_numpy()
    numbers = [column.name for column in table.clean if column.dtype.is_float()]
    clean = make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
            (OneHotEncoder(), [name for name in table.clean.columns if name not in numbers]),
        ),
        LogisticRegression(max_iter=1000),
    ).fit(table.clean[: table.rows], table.y[: table.rows])
    right = np.mean(predicted == table.y[table.rows :])
    assert right > clean.score(table.clean[table.rows :], table.y[table.rows :]) - 0.02


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["\u22125.5", "(7)", "3-", "+2"], [-5.5, -7.0, -3.0, 2.0]),
        (["US$ 5", "-$3.50", "($4)", "$1,000"], [5.0, -3.5, -4.0, 1000.0]),
        (["5 zł", "3,5 zł", "12 zł"], [5.0, 3.5, 12.0]),
        (["₺5", "₺7.25"], [5.0, 7.25]),
        (["0,512", "0,250"], [0.512, 0.25]),
        (["12:30", "1:15:36"], [12.5, 1.26]),
        (["~5", "7.5*", "'3", "< 2"], [5.0, 7.5, 3.0, 2.0]),
    ],
)
def test_signs_and_currencies(texts, values):
    found = as_number(pl.Series("a", texts), "t: the column 'a'").numbers
    assert found.to_list() == pytest.approx(values)


@pytest.mark.parametrize("text", ["03-Apr-2021", "April 3, 2021", "3 Apr 2021", "03.04.21"])
def test_dates_with_names_of_months(text):
    assert as_number(pl.Series("a", [text])).numbers.to_list() == [7763.0]


def test_one_column_settles_the_decimal_mark_of_all(tmp_path):
    rows = "".join(f"1,{k + 100}|{k},5|{'uv'[k % 2]}\n" for k in range(20))
    (tmp_path / "t.csv").write_text("a|b|y\n" + rows)
    assert read_table(tmp_path / "t.csv", "y").X["a"][0] == 1.1


def test_a_word_after_some_numbers_is_a_unit_if_numbers_are_many(tmp_path):
    for count, kind in ((30, pl.Float64), (10, pl.String)):
        rows = "".join(f"{k}{'pcs' if k % 3 else ''},{'uv'[k % 2]}\n" for k in range(count))
        (tmp_path / "t.csv").write_text("amount,y\n" + rows)
        assert read_table(tmp_path / "t.csv", "y").X["amount"].dtype == kind


def test_text_above_the_table_is_left_out_with_a_note(tmp_path):
    body = "a;b;y\n" + "".join(f"{k};{k % 3};{'uv'[k % 2]}\n" for k in range(20)) + "x;1;u\n"
    (tmp_path / "t.csv").write_text("Report 2024\n\nby the office;;\n" + body)
    table = read_table(tmp_path / "t.csv", "y")
    assert (table.n, table.names) == (21, ["a", "b"])
    assert "What stands above the table is left out: 'Report 2024'." in table.notes
    words = text_of(separatrix("check", tmp_path / "t.csv", "-t", "y"))
    assert "line 25: expected a number in the column 'a', found 'x'" in words


def test_classes_that_differ_in_case_are_named(tmp_path):
    rows = "".join(f"{k},{'yes' if k % 2 else 'no' if k else 'NO'}\n" for k in range(20))
    (tmp_path / "t.csv").write_text("a,y\n" + rows)
    with pytest.raises(DataError, match=r"differ in case only: 'NO' \(1 rows\), 'no' \(9 rows\). Write them in one"):
        read_table(tmp_path / "t.csv", "y")
    assert set(read_table(tmp_path / "t.csv", "y", classes=True).y) == {"yes", "no", "NO"}


def test_numbers_with_signs_that_nobody_knows_are_not_encoded(tmp_path):
    rows = "".join(f"#{k}.{k % 10}#,{'uv'[k % 2]}\n" for k in range(150))
    (tmp_path / "t.csv").write_text("a,y\n" + rows)
    words = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y", "--encode"))
    assert "expected a number in the column 'a', found '#0.0#'" in words


def test_columns_that_are_read_alike_share_a_note(tmp_path):
    rows = "".join(f"{k} kg,{k + 1} kg,{k + 2} kg,{k + 3} kg,{k} m,{'uv'[k % 2]}\n" for k in range(20))
    (tmp_path / "t.csv").write_text("a,b,c,d,e,y\n" + rows)
    notes = read_table(tmp_path / "t.csv", "y").notes
    assert notes == (
        "The columns 'a', 'b', 'c' and 1 more hold numbers with the unit kg.",
        "The column 'e' holds numbers with the unit m.",
    )


def test_rows_above_the_table_of_a_sheet_are_left_out(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        frame = pl.DataFrame({"a": [*range(20)], "y": ["u", "v"] * 10})
        frame.write_excel(book, "Data", position="A4")
        book.get_worksheet_by_name("Data").write(0, 0, "Report 2024")
    table = read_table(tmp_path / "t.xlsx", "y")
    assert (table.n, table.names) == (20, ["a"])
    assert "What stands above the table is left out: 3 rows." in table.notes


def test_the_value_that_is_no_number_is_named_not_the_words_for_missing(tmp_path):
    messy(tmp_path / "t.csv", str, words=["unknown"])
    text = (tmp_path / "t.csv").read_text().splitlines()
    text[5] = "3..4," + text[5].split(",", 1)[1]
    (tmp_path / "t.csv").write_text("\n".join(text) + "\n")
    words = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y", "--encode"))
    assert "line 6: expected a number in the column 'a', found '3..4'. The column" in words


def test_notes_on_rare_classes(tmp_path):
    rng = np.random.default_rng(0)
    y = np.array(["no"] * 960 + ["a"] * 25 + ["b"] * 15)
    pl.DataFrame({"x": rng.normal(size=1000), "y": y}).write_csv(tmp_path / "t.csv")
    plain = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y", "--max-time", 2))
    assert "Rare: b (15 of 1,000 rows)" in plain
    assert "No row of 'a' (25 rows), 'b' (15 rows) is recognized. Try --class-weight balanced" in plain
    weighted = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y", "--max-time", 2, "--class-weight", "balanced"))
    assert "Rare:" not in weighted
    assert "Try --class-weight" not in weighted


def test_amounts_with_a_value_that_is_none_are_not_encoded(tmp_path):
    rows = "".join(f"{'1x' if k == 7 else f'{k}.{k % 10} EUR'},{'uv'[k % 2]}\n" for k in range(150))
    (tmp_path / "t.csv").write_text("a,y\n" + rows)
    words = text_of(separatrix("fit", tmp_path / "t.csv", "-t", "y", "--encode"))
    assert "line 9: expected a number in the column 'a', found '1x'." in words
