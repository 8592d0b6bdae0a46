"""Reading data files: every format, and what is said of files that cannot be read."""

import gzip
import io
from datetime import time, timedelta

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.pipeline import Pipeline

from separatrix import DataError
from separatrix.app.tables import Table, read_table
from separatrix.app.tables.formats import format_of
from separatrix.app.tables.prepare import normalised, preparation, prepare
from separatrix.app.tables.source import Source

NUMBERS = np.array([[1.5, 2.0], [-3.0, 4.25], [5.0, 0.0], [0.5, 1.0]])
LABELS = ["a", "b", "a", "b"]
FRAME = pl.DataFrame({"u": NUMBERS[:, 0], "v": NUMBERS[:, 1], "kind": LABELS})


def write(path, kind):
    """The same small table in many formats; returns the target to ask for."""
    text = FRAME.write_csv()
    rows = text.splitlines()
    if kind == "csv":
        path.write_text(text)
    elif kind == "csv with a byte order mark":
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    elif kind == "windows lines":
        path.write_bytes(text.replace("\n", "\r\n").encode())
    elif kind == "tsv":
        path.write_text(text.replace(",", "\t"))
    elif kind == "semicolons and decimal commas":
        path.write_text(
            "\n".join([rows[0].replace(",", ";"), *[r.replace(",", ";").replace(".", ",") for r in rows[1:]]])
        )
    elif kind == "aligned by spaces":
        path.write_text("\n".join("  ".join(f"{field:>6}" for field in row.split(",")) for row in rows))
    elif kind == "no header":
        path.write_text("\n".join(rows[1:]))
        return "column_3"
    elif kind == "gzip":
        path.write_bytes(gzip.compress(text.encode()))
    elif kind == "parquet":
        FRAME.write_parquet(path)
    elif kind == "feather":
        FRAME.write_ipc(path)
    elif kind == "excel":
        workbook = io.BytesIO()
        FRAME.write_excel(workbook)
        path.write_bytes(workbook.getvalue())
    elif kind == "ndjson":
        FRAME.write_ndjson(path)
    elif kind == "json":
        FRAME.write_json(path)
    elif kind == "arff":
        head = "% made by hand\n@relation r\n@attribute u numeric\n@attribute v real\n@attribute kind {a,b}\n@data\n"
        path.write_text(head + "\n".join(rows[1:]) + "\n")
        return None
    return "kind"


KINDS = [
    "csv", "csv with a byte order mark", "windows lines", "tsv", "semicolons and decimal commas", "aligned by spaces",
    "no header", "gzip", "parquet", "feather", "excel", "ndjson", "json", "arff",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_table(tmp_path, kind):
    path = tmp_path / "data"
    table = normalised(read_table(path, write(path, kind)))
    np.testing.assert_array_equal(table.X.to_numpy(), NUMBERS)
    assert table.y.tolist() == LABELS
    assert preparation(table) == []


def test_arrays(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=NUMBERS, y=np.array(LABELS))
    table = read_table(path)
    np.testing.assert_array_equal(table.X, NUMBERS)
    assert table.y.tolist() == LABELS
    np.savez(path, X=NUMBERS, other=np.array([0, 1, 0, 1]))
    assert read_table(path, "other").y.tolist() == [0, 1, 0, 1]
    with pytest.raises(DataError, match="holds no labels"):
        read_table(path)
    np.savez(path, X=np.array([{}], dtype=object), y=[0])
    with pytest.raises(DataError, match="cannot be read"):
        read_table(path)
    path = tmp_path / "data.npy"
    np.save(path, np.column_stack([NUMBERS, [0, 1, 0, 1]]))
    table = read_table(path, "-1")
    np.testing.assert_array_equal(table.X, NUMBERS)
    assert table.y.tolist() == [0, 1, 0, 1]


def test_sparse_arrays(tmp_path):
    matrix = sp.csr_matrix(NUMBERS)
    path = tmp_path / "data.npz"
    np.savez(
        path, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape, y=np.array(LABELS)
    )
    table = read_table(path)
    np.testing.assert_array_equal(table.X.toarray(), NUMBERS)
    assert table.y.tolist() == LABELS


def test_a_target_by_number(tmp_path):
    path = tmp_path / "data.csv"
    write(path, "csv")
    assert read_table(path, "3").target == read_table(path, "-1").target == "kind"
    assert read_table(path, "kind", drop=["u"]).names == ["v"]
    with pytest.raises(DataError, match="no column 'w'"):
        read_table(path, "kind", drop=["w"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "header and no rows"),
        ("a,b,y\n1,2,x\n3,y\n", "line 3: expected 3 fields separated by ',', found 2: '3,y'"),
        ("a,b,y\n1,2,x\n3,4,5,y\n", "line 3: expected 3 fields separated by ',', found 4"),
        ("a,y\n1,x\n2,x\n", "one class only, x"),
        ("a,y\n1,\n2,\n3,\n", "no label in 3 of 3 rows .lines 2, 3, 4."),
        ("a,y\n1,0.5\n2,1.5\n", "holds fractions .0.5 in line 2."),
        ("y\n1\n2\n", "no column besides the target"),
        ("a,y\n" + "".join(f"{i},id{i}\n" for i in range(60)), "60 different values in 60 rows"),
        ('{"a": 1, "y": "u"}\n{"a": 2, "y": \n', "line 2"),
        (
            "@relation r\n@attribute a numeric\n@attribute y {u,v}\n@data\n1,u\n2\n",
            "line 6 .expected 2 fields, found 1.",
        ),
        ("\x00\x01\x02" * 50, "binary file"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, content, words):
    path = tmp_path / "data.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=words):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,y\n1,\xe9t\xe9\n2,x\n", "line 2: this is not UTF-8 text.*--encoding: cp1252"),
        (b"\xff\xfea,y\n1,u\n2", "line 3: this is not text in the encoding utf-16"),
        (b"\x89HDF\r\n\x1a\n\0\0", r"polars has no reader.*to_parquet.*numpy\.save"),
        (gzip.compress(b"a,y\n1,u\n2,v\n", mtime=0)[:-9], "gzip file is damaged"),
        (b"PAR1 and then nothing", "cannot be read as Parquet"),
        (b"\x80\x04\x95" + b"cos\nsystem\n", "pickle, which is never read"),
        (b"PK\x03\x04 broken", "archive is damaged"),
        (b"\x93NUMPY broken", "cannot be read"),
    ],
)
def test_other_bytes(tmp_path, content, words):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_table(path, "y")


def test_a_mistake_among_numbers_far_down(tmp_path):
    """Further down than where the types are taken from."""
    path = tmp_path / "data.csv"
    lines = [f"{i % 7},{'u' if i % 7 > 3 else 'v'}" for i in range(12_000)]
    lines[11_000] = "3O,v"
    path.write_text("a,y\n" + "\n".join(lines))
    table = normalised(read_table(path, "y"))
    with pytest.raises(DataError, match="line 11002: expected a number in the column 'a', found '3O'"):
        preparation(table)


def test_columns_that_are_no_features(tmp_path):
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": [[1, 2], [3]], "y": ["u", "v"]}).write_parquet(path)
    with pytest.raises(DataError, match="--drop 'a'"):
        normalised(read_table(path, "y"))
    pl.DataFrame({"a": [1.0, float("inf")], "y": ["u", "v"]}).write_parquet(path)
    with pytest.raises(DataError, match="row 2: the column 'a' holds an infinite number"):
        preparation(normalised(read_table(path, "y")))
    pl.DataFrame({"a": [None, None], "b": [1, 2], "y": ["u", "v"]}).write_parquet(path)
    table = read_table(path, "y")
    assert table.names == ["b"]
    assert table.notes == ("Left out, as there is no value in it: 'a'.",)


def test_blank_lines_keep_the_line_numbers(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,y\n1,1,u\n\n2,,v\n")
    table = normalised(read_table(path, "y"))
    assert table.n == 2
    with pytest.raises(DataError, match=r"'b' 1 \(line 4\)"):
        preparation(table)


def test_rows_without_any_value_are_rows(tmp_path):
    """A line is blank or it is a row; nothing is left out in silence."""
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,1\n\n,\n2,\nNA, ?\n   \n3,3\n\n\n")
    table = read_table(path, labels="ignored")
    assert table.lines.tolist() == [2, 4, 5, 6, 8]
    assert table.X.rows() == [(1, 1), (None, None), (2, None), (None, None), (3, 3)]
    path.write_text("a,y\n1,u\n,\n2,v\n")
    table = read_table(path, "y")
    assert table.y.tolist() == ["u", "v"]
    assert table.lines.tolist() == [2, 4]
    assert table.notes == ("1 of 3 rows have no label in 'y' and are left out (line 3).",)
    path.write_text('a,b\n"x\ny",1\n\n,\n"z",2\n')
    assert read_table(path, labels="ignored").lines.tolist() == [2, 5, 6]


def test_blank_lines_of_aligned_columns(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("a   b  y\n1   1  u\n\n2  NA  v \nNA NA NA\n")
    assert read_table(path, labels="ignored").lines.tolist() == [2, 4, 5]


def test_blanks_after_separators(tmp_path):
    """As in adult.data, one of the files that people try first."""
    path = tmp_path / "adult.data"
    path.write_text(
        "39, State-gov, 77516, 0.5, <=50K\n50, ?, 83311, 1, >50K\n"
        "38, Private, 215646, -2e3, <=50K\n53, Private, 2, , >50K\n"
    )
    table = normalised(read_table(path, "-1"))
    assert table.y.tolist() == ["<=50K", ">50K", "<=50K", ">50K"]
    assert table.X["column_3"].to_list() == [77516, 83311, 215646, 2]
    assert table.X["column_4"].null_count() + table.X["column_4"].is_nan().sum() == 1
    assert table.X["column_2"].to_list() == ["State-gov", None, "Private", "Private"]
    with pytest.raises(DataError, match="text in the column 'column_2'"):
        preparation(table)
    with pytest.raises(DataError, match=r"missing values: 'column_2' 1 .line 2.; 'column_4' 1 .line 4."):
        preparation(table, encode=True)
    path.write_text("a, y\n 1, 10\n 2, 2\n 3, 10\n")
    assert read_table(path, "y").y.tolist() == [10, 2, 10]
    path.write_text("a; y\n 1,5; u\n 2,5; v\n")
    assert read_table(path, "y").X["a"].to_list() == [1.5, 2.5]


def test_numbers_as_text_in_other_formats(tmp_path):
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": ["1", "2"], "y": ["u", "v"]}).write_parquet(path)
    assert read_table(path, "y").X["a"].to_list() == [1.0, 2.0]
    pl.DataFrame({"a": ["1", "two"], "y": ["u", "v"]}).write_parquet(path)
    with pytest.raises(DataError, match="text in the column 'a'"):
        preparation(read_table(path, "y"))


@pytest.mark.parametrize(
    ("texts", "numbers", "words"),
    [
        (['"1,234"', "12", '"-1,234,567.5"'], [1234.0, 12.0, -1234567.5], "thousands separated by commas"),
        (['"1.234,5"', '"2,5"', "-3"], [1234.5, 2.5, -3.0], "numbers with decimal commas"),
        (["12%", "3.5 %", "-100%"], [0.12, 0.035, -1.0], "percent, divided by 100"),
        (["2000-01-02", "1999-12-31", "2000-02-01"], [1.0, -1.0, 31.0], "dates, as year-month-day"),
        (["2.1.2000", "31.12.1999", "1.2.2000"], [1.0, -1.0, 31.0], "dates, as day.month.year"),
        (["1/13/2000", "12/31/1999", "2/1/2000"], [12.0, -1.0, 31.0], "dates, as month/day/year"),
        (["2000-01-01 12:00", "2000-01-02 06:00", ""], [0.5, 1.25, None], "dates, as year-month-day hour:minute"),
    ],
)
def test_numbers_as_people_write_them(tmp_path, texts, numbers, words):
    path = tmp_path / "data.csv"
    path.write_text("a,y\n" + "".join(f"{text},{label}\n" for text, label in zip(texts, "uvu", strict=True)))
    table = read_table(path, "y")
    np.testing.assert_allclose(table.X["a"].to_numpy(), np.array(numbers, dtype=float))
    assert table.notes[0].startswith(f"The column 'a' holds {words}")
    assert bool(table.dates) == words.startswith("dates")


def test_dates_with_a_type_of_their_own(tmp_path):
    path = tmp_path / "data.parquet"
    days = pl.Series("a", ["2000-01-02", "1999-12-31"]).str.to_date()
    for column in (days, days.cast(pl.Datetime("ms", "UTC"))):
        pl.DataFrame({"a": column, "y": ["u", "v"]}).write_parquet(path)
        assert read_table(path, "y").X["a"].to_list() == [1.0, -1.0]


def test_times_of_day_and_durations_are_days(tmp_path):
    path = tmp_path / "data.parquet"
    times = pl.Series("t", [time(12, 0), time(18, 0)])
    durations = pl.Series("d", [timedelta(hours=6), timedelta(days=2)])
    pl.DataFrame({"t": times, "d": durations, "y": ["u", "v"]}).write_parquet(path)
    X = read_table(path, "y").X
    assert X["t"].to_list() == [0.5, 0.75]
    assert X["d"].to_list() == [0.25, 2.0]


def test_a_question_mark_in_a_nominal_column_of_arff_is_missing(tmp_path):
    path = tmp_path / "data.arff"
    path.write_text("@relation r\n@attribute k {a,b}\n@attribute y {u,v}\n@data\na,u\n?,v\nb,v\n")
    table = read_table(path, "y")
    with pytest.raises(DataError, match="missing"):
        prepare(table, encode=True)
    _, X, _ = prepare(table, encode=True, impute=True)
    assert X.shape == (3, 2)  # one column per category, none for "?"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("\n\na,y\n1,u\n2,v\n", [4, 5]),
        ("sep=;\na;y\n1;u\n2;v\n", [3, 4]),
        ("\ufeffsep=;\r\na;y\r\n1;u\r\n2;v\r\n", [3, 4]),
        ("# made in May\n# by hand\na,y\n1,u\n# a pause\n2,v\n", [4, 6]),
        ("# a,y\n1,u\n2,v\n", [2, 3]),
        ("# made in May\n\na,y\n1,u\n\n2,v\n", [4, 6]),
    ],
)
def test_what_stands_before_a_table(tmp_path, text, lines):
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode())
    table = read_table(path, "y")
    assert table.X["a"].to_list() == [1.0, 2.0]
    assert table.y.tolist() == ["u", "v"]
    assert table.lines.tolist() == lines
    path.write_bytes(text.encode().replace(b"2", b"2,2,2;2"))
    with pytest.raises(DataError, match=f"line {lines[1]}: expected 2 fields"):
        read_table(path, "y")


def test_nothing_but_comments(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("# a\n\n# b\n")
    with pytest.raises(DataError, match="every line is blank or a comment"):
        read_table(path, "y")


def test_rare_texts_share_a_column():
    rng = np.random.default_rng(0)
    names = [f"n{i}" for i in range(40)] + ["Rome"] * 30 + ["Oslo"] * 30
    table = Table("people", "made", "", pl.DataFrame({"name": names, "x": rng.normal(size=100)}), np.arange(100) % 2)
    _, X, steps = prepare(table, encode=True)
    assert X.shape == (100, 4)  # x, Oslo, Rome, and the rest
    assert X[:40, -1].tolist() == [1.0] * 40
    assert Pipeline(steps).fit(table.X).transform(pl.DataFrame({"name": ["new"], "x": [0.0]}))[0, -1] == 1.0


def test_what_spreadsheets_leave_behind(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(",a,y,\n0,1.5,u,\n1,2.5,v,\n2,3.5,v,\n")
    table = read_table(path, "y")
    assert table.names == ["a"]
    path.write_text(",a,y\n4,1.5,u\n7,2.5,v\n2,3.5,v\n")
    assert read_table(path, "y").names == ["unnamed column 1", "a"]


def test_separators_within_fields(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('a b c,y\n1,"very, very good"\n2,quite good indeed\n3,not that good\n')
    table = read_table(path, "y")
    assert table.names == ["a b c"]
    assert table.y.tolist() == ["very, very good", "quite good indeed", "not that good"]


def test_a_near_file_name(tmp_path):
    (tmp_path / "iris.csv").write_text("a,y\n")
    with pytest.raises(DataError, match=r"Did you mean .*iris\.csv"):
        read_table(tmp_path / "irs.csv", "y")


def test_formats_are_told_by_content(tmp_path):
    path = tmp_path / "data.anything"
    for kind, name in (("tsv", "csv"), ("parquet", "parquet"), ("arff", "arff"), ("ndjson", "ndjson"), ("gzip", "csv")):
        write(path, kind)
        assert format_of(Source.of(path)).name == name


def _good_files():
    path = io.BytesIO()
    FRAME.write_parquet(path)
    files = {"parquet": path.getvalue()}
    for kind, write_array in (("npy", np.save), ("npz", lambda f, x: np.savez(f, X=x, y=x[:, 0] > 0))):
        path = io.BytesIO()
        write_array(path, NUMBERS)
        files[kind] = path.getvalue()
    files["csv"] = FRAME.write_csv().encode()
    files["gzip"] = gzip.compress(files["csv"], mtime=0)
    files["ndjson"] = FRAME.write_ndjson().encode()
    return files


@pytest.mark.parametrize("kind", ["parquet", "npy", "npz", "csv", "gzip", "ndjson"])
def test_damaged_files_are_tables_or_errors_that_say_so(tmp_path, kind):
    good, rng = _good_files()[kind], np.random.default_rng(0)
    path = tmp_path / "damaged"
    ends = set()
    for _ in range(20 if kind == "parquet" else 60):  # a process of its own reads Parquet first
        content = bytearray(good)
        for place in rng.integers(0, len(content), rng.integers(1, 4)):
            content[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(content[: rng.integers(1, 2 * len(content))]))
        try:
            preparation(normalised(read_table(path, "kind" if kind != "npy" else "-1")), encode=True, impute=True)
            ends.add("read")
        except DataError as error:
            ends.add("refused")
            said = str(error)
            if str(path) not in said:
                raise
    assert "refused" in ends


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.one_of(st.binary(max_size=200), st.text(alphabet='ab1.,;\n\t" :{}[]@-', max_size=120).map(str.encode))
)
def test_any_bytes_are_a_table_or_an_error_that_says_so(tmp_path, content):
    path = tmp_path / "fuzz"
    path.write_bytes(content)
    said = str(path)
    try:
        table = normalised(read_table(path, "-1"))
        preparation(table, encode=True, impute=True)
        assert table.n == len(table.y) > 0
    except DataError as error:
        said = str(error)
    assert str(path) in said
