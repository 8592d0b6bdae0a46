"""Hostile data files: small ones that ask for much, damage, and formats and numbers that are not what they seem."""

import gzip
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from sklearn.datasets import dump_svmlight_file

from separatrix import DataError
from separatrix.app.tables import native, read_table
from separatrix.app.tables.formats import FORMATS
from separatrix.data import open_files
from separatrix.persistence import limits


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
def test_a_reader_that_waits_for_a_failed_thread(tmp_path, monkeypatch):
    program, path = tmp_path / "program.py", tmp_path / "data.parquet"
    program.write_text(STUCK)
    pl.DataFrame({"x": range(10), "label": ["low", "high"] * 5}).write_parquet(path)
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
    """They are distinguished as texts: numpy has no such integers."""
    path = tmp_path / "huge.json"
    rows = [{"a": k, "y": 2**100 + k % 2} for k in range(6)]
    path.write_text(json.dumps(rows))
    assert read_table(path, "y").y.tolist() == [str(row["y"]) for row in rows]
    pl.DataFrame(rows, schema={"a": pl.Int64, "y": pl.Int128}).write_parquet(tmp_path / "huge.parquet")
    assert open_files(tmp_path / "huge.parquet", target="y").classes.tolist() == [str(2**100), str(2**100 + 1)]


def test_what_does_not_fit_into_memory(tmp_path, monkeypatch):
    """Where Python cannot have the memory of a file that is unpacked."""
    path = tmp_path / "large.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n1,u\n2,v\n"))

    def refused(*given):
        raise MemoryError

    monkeypatch.setattr("separatrix.app.tables.source.check_unpacked", refused)
    with pytest.raises(DataError, match=r"large\.csv\.gz does not fit into memory"):
        read_table(path, "y")
