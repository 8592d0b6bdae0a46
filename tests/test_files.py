"""Rows on disk: every format gives the rows of memory; damage, change and lack of room are reported, with file and
row."""

import gzip
import os
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix
from separatrix.app.tables import read_table
from separatrix.data import memory as memory_module
from separatrix.data.memory import MemoryRows
from separatrix.data.npy_array import NpyArray
from separatrix.data.opening import bytes_of
from separatrix.data.read_ahead import read_ahead
from separatrix.errors import DataError
from separatrix.passes.patterns import PassedPatterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.space import Space

N, D = 500, 6


@pytest.fixture
def table(rng):
    X = rng.normal(size=(N, D))
    w = rng.normal(size=D)
    X += np.sign(X @ w)[:, None] * 0.2 * w / np.linalg.norm(w)
    return X, np.where(X @ w > 0, 3, 1), rng.random(N) + 0.5


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks per file."""
    monkeypatch.setattr(memory_module, "BLOCK_ROWS", 32)
    monkeypatch.setattr(memory_module, "BLOCK_VALUES", 64 * D)


def frame(X, y, weight):
    return pl.DataFrame({f"f{j}": X[:, j] for j in range(D)} | {"w": weight, "y": y})


def write_tables(kind):
    def write(folder, X, y, weight):
        for k, rows in enumerate((slice(0, 130), slice(130, 131), slice(131, None))):
            part, path = frame(X[rows], y[rows], weight[rows]), folder / f"part{k}.{kind}"
            options = {"row_group_size": 50} if kind == "parquet" else {}
            getattr(part, f"write_{'ipc' if kind == 'arrow' else kind}")(path, **options)
        return {"paths": folder / f"*.{kind}", "target": "y", "weight": "w"}

    return write


def write_npy(folder, X, y, weight):
    for k, rows in enumerate((slice(0, 200), slice(200, None))):
        np.save(folder / f"X{k}.npy", X[rows])
        np.save(folder / f"y{k}.npy", y[rows])
        np.save(folder / f"w{k}.npy", weight[rows])
    return {"paths": folder / "X*.npy", "target": folder / "y*.npy", "weight": folder / "w*.npy"}


def write_one_npy(folder, X, y, weight):
    np.save(folder / "all.npy", np.column_stack([X, weight, y]))
    return {"paths": folder / "all.npy", "weight": D}


@pytest.mark.parametrize("target", range(3))
def test_the_label_column_of_one_array_is_not_a_feature(tmp_path, target):
    table = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    table[:, target] = [0.0, 1.0, 0.0]
    np.save(tmp_path / "t.npy", table)
    rows = separatrix.data.open_files(tmp_path / "t.npy", target=target)
    np.testing.assert_array_equal(rows.take(np.arange(3)).whole, np.delete(table, target, axis=1))
    np.testing.assert_array_equal(rows.classes, [0.0, 1.0])


def write_structured(folder, X, y, weight):
    kinds = [("y", "U3"), *((f"f{j}", "f8") for j in range(D)), ("w", "f8")]
    table = np.zeros(N, kinds)
    table["y"], table["w"] = y, weight
    for j in range(D):
        table[f"f{j}"] = X[:, j]
    np.save(folder / "all.npy", table)
    return {"paths": folder / "all.npy", "target": "y", "weight": "w"}


def write_npz(folder, X, y, weight):
    np.savez_compressed(folder / "all.npz", X=X, y=y, w=weight)
    return {"paths": folder / "all.npz", "weight": "w"}


def write_memmap(folder, X, y, weight):
    X.tofile(folder / "raw.bin")
    np.save(folder / "w.npy", weight)
    return {
        "paths": np.memmap(folder / "raw.bin", X.dtype, "r", shape=X.shape),
        "target": y,
        "weight": folder / "w.npy",
    }


def write_sparse_npz(folder, X, y, weight):
    sp.save_npz(folder / "X.npz", sp.csr_matrix(X))
    np.save(folder / "y.npy", y)
    np.save(folder / "w.npy", weight)
    return {"paths": folder / "X.npz", "target": folder / "y.npy", "weight": folder / "w.npy"}


def write_libsvm(folder, X, y, weight):
    def line(x, label):
        return f"{label} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x.tolist())) + " # note\n"

    (folder / "a.svm").write_text("".join(line(*row) for row in zip(X[:200], y[:200], strict=True)))
    with gzip.open(folder / "b.gz", "wt") as file:
        file.write("\n" + "".join(line(*row) for row in zip(X[200:], y[200:], strict=True)))
    return {"paths": [folder / "a.svm", folder / "b.gz"]}


FORMATS = {
    **{kind: write_tables(kind) for kind in ("parquet", "csv", "arrow", "ndjson")},
    "npy": write_npy,
    "one-npy": write_one_npy,
    "structured": write_structured,
    "npz": write_npz,
    "memmap": write_memmap,
    "sparse-npz": write_sparse_npz,
    "libsvm": write_libsvm,
}


def dense(rows):
    return rows.dense(np.arange(rows.n))


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_rows(tmp_path, table, name, cached):
    X, y, weight = table
    options = FORMATS[name](tmp_path, X, y, weight)
    home = separatrix.data.open_files(**options, cache=tmp_path / "cache" if cached else None)
    assert (home.n, home.width, len(home.places) > 3) == (N, D, True)
    assert home.classes.astype(int).tolist() == [1, 3]
    for _ in range(2):  # each pass starts again
        blocks = list(home.blocks())
        assert [b.first for b in blocks] == np.cumsum([0, *(b.n for b in blocks)])[:-1].tolist()
        np.testing.assert_array_equal(np.concatenate([dense(b) for b in blocks]), X)
        np.testing.assert_array_equal(np.concatenate([b.codes for b in blocks]), y == 3)
        if name != "libsvm":
            np.testing.assert_array_equal(np.concatenate([b.weight for b in blocks]), weight)
    rest = list(home.blocks_from(3))
    assert rest[0].first == blocks[3].first
    for index in ([499, 0, 0, 131], [7], [0, 130, 200, 3], np.arange(0, N, 3), np.zeros(0, int)):
        few = home.take(np.array(index))
        np.testing.assert_array_equal(dense(few), X[index])
        np.testing.assert_array_equal(few.codes, y[index] == 3)
    assert home.fingerprint == separatrix.data.open_files(**options).fingerprint


def solved(patterns, C=np.inf):
    problem = Problem(patterns, C, tol=1e-9)
    solvers.solve(problem)
    return problem


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_the_margin_is_that_of_memory_bit_for_bit(tmp_path, table, C):
    X, y, weight = table
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    space = Space(1.0) if np.isinf(C) else Space(1.0, (2 * C) ** -0.5, weighted=True)
    here = MemoryRows(X.astype(np.float32), (y == 3).astype(np.int64), weight, classes=np.arange(2))
    one = solved(PassedPatterns(here, 1, space), C)
    np.save(tmp_path / "w.npy", weight)
    for n_jobs in (1, 3):
        home = separatrix.data.open_files(tmp_path / "X.npy", target=y, weight=tmp_path / "w.npy", n_jobs=n_jobs)
        assert home.dtype == np.float32
        two = solved(PassedPatterns(home, 1, space), C)
        np.testing.assert_array_equal(two.a, one.a)
        assert (two.lower, two.upper) == (one.lower, one.upper)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [True, False], [-1.5, 2.5], [7, 5, 6]])
def test_labels_of_any_type(tmp_path, labels):
    y = np.resize(labels, N)
    frame = pl.DataFrame({"x": np.arange(N, dtype=float), "y": y.tolist()})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    for kind in ("parquet", "csv"):
        home = separatrix.data.open_files(tmp_path / f"a.{kind}", target="y")
        np.testing.assert_array_equal(home.classes, np.unique(labels))
        codes = np.concatenate([block.codes for block in home.blocks()])
        np.testing.assert_array_equal(home.classes[codes], y)


def test_categories_are_texts(tmp_path):
    column = pl.Series("y", ["b", "a", "b", "a"], dtype=pl.Categorical)
    pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": column}).write_parquet(tmp_path / "a.parquet")
    home = separatrix.data.open_files(tmp_path / "a.parquet", target="y")
    assert home.classes.tolist() == ["a", "b"]
    assert next(home.blocks()).codes.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["parquet", "csv", "npy", "libsvm", "npz"])
def test_a_value_that_is_not_finite_is_named(tmp_path, table, name, bad):
    X, y, weight = table
    X[330, 2] = bad
    options = FORMATS[name](tmp_path, X, y, weight)
    row, file = {"parquet": (199, "part2.parquet"), "csv": (199, "part2.csv"), "npy": (130, "X1.npy")}.get(
        name, (330, "all.npz") if name == "npz" else (130, "b.gz")
    )
    column = 3 if name == "libsvm" else 2  # as the text counts them
    with pytest.raises(DataError, match=rf"{file}.*row {row} .*column {column} holds (nan|inf)"):
        list(separatrix.data.open_files(**options).blocks())
    with pytest.raises(DataError, match=rf"{file}.*row {row} "):
        separatrix.data.open_files(**options).take(np.arange(0, N, 2))


def write(path, text):
    path.write_text(text)
    return path


BROKEN = {
    "no file": (lambda f: f / "none.csv", "no file"),
    "folder": (lambda f: f, "is a folder"),
    "ending": (lambda f: write(f / "a.docx", "x"), "says nothing about the format"),
    "no rows": (lambda f: write(f / "a.csv", "x,y\n"), "a.csv: there are no rows"),
    "text": (lambda f: write(f / "a.csv", "x,y\nred,1\nblue,2\n"), "not numbers"),
    "late text": (lambda f: write(f / "a.csv", "x,y\n" + "1,1\n" * 20_000 + "red,2\n"), "a.csv cannot be read"),
    "label missing": (lambda f: write(f / "a.csv", "x,y\n1,1\n2,\n"), "row 1 .*label is missing"),
    "no features": (lambda f: write(f / "a.csv", "y\n1\n2\n"), "no columns beside"),
    "damaged parquet": (lambda f: write(f / "a.parquet", "PAR1 nonsense"), "a.parquet cannot be read"),
    "damaged npy": (lambda f: write(f / "a.npy", "nonsense"), "not a readable"),
    "damaged npz": (lambda f: write(f / "a.npz", "PKnonsense"), "damaged"),
    "libsvm": (lambda f: write(f / "a.svm", "1 1:2\n\n-1 2:x\n"), "line 3: expected"),
    "libsvm order": (lambda f: write(f / "a.svm", "1 1:2\n-1 2:1 1:3\n"), "line 2: expected an index above 2, found"),
    "libsvm label": (lambda f: write(f / "a.svm", "1 1:2\nyes 2:1\n"), "line 2: expected"),
}


def test_arrays_of_an_archive_have_the_names_that_tables_in_memory_have(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, features=np.eye(4), labels=np.array([0, 0, 1, 1]), about=np.zeros(3))
    rows = separatrix.data.open_files(path)
    assert (rows.n, rows.width, rows.classes.tolist()) == (4, 4, [0, 1])
    table = read_table(path)
    assert (table.n, table.d, table.target) == (4, 4, "labels")


@pytest.mark.parametrize(
    ("part", "values", "message"),
    [
        ("data", np.array([1j, 1.0]), "features are numbers"),
        ("indices", np.array([0.0, 1.5]), "no integers"),
        ("indices", np.array([0, 7]), "not a valid CSR matrix"),
        ("indptr", np.array([0, -1, 2]), "not a valid CSR matrix"),
    ],
)
def test_parts_of_a_sparse_archive_have_to_fit(tmp_path, part, values, message):
    path, y = tmp_path / "X.npz", tmp_path / "y.npy"
    parts = {"data": np.ones(2), "indices": np.arange(2), "indptr": np.arange(3), "shape": [2, 2], "format": b"csr"}
    np.savez(path, **{**parts, part: values})
    np.save(y, [0, 1])
    with pytest.raises(DataError, match=message):
        list(separatrix.data.open_files(path, target=y).blocks())


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_told(tmp_path, name):
    make, message = BROKEN[name]
    with pytest.raises(DataError, match=message):
        list(separatrix.data.open_files(make(tmp_path)).blocks())


def test_files_that_do_not_fit_together(tmp_path):
    write(tmp_path / "a.csv", "x,z,y\n1,1,1\n")
    write(tmp_path / "b.csv", "x,y\n1,1\n")
    with pytest.raises(DataError, match=r"b.csv lacks the column 'z'"):
        separatrix.data.open_files(tmp_path / "*.csv", target="y")
    np.save(tmp_path / "X.npy", np.zeros((3, 2)))
    np.save(tmp_path / "y.npy", np.zeros(2))
    with pytest.raises(DataError, match="3 rows"):
        separatrix.data.open_files(tmp_path / "X.npy", target=tmp_path / "y.npy")
    with pytest.raises(DataError, match="no column 'q'"):
        separatrix.data.open_files(tmp_path / "a.csv", target="q")
    np.save(tmp_path / "F.npy", np.asfortranarray(np.zeros((3, 2))))
    with pytest.raises(DataError, match="column by column"):
        separatrix.data.open_files(tmp_path / "F.npy")
    np.save(tmp_path / "O.npy", np.array([[None, 1]]), allow_pickle=True)
    with pytest.raises(DataError, match="objects"):
        separatrix.data.open_files(tmp_path / "O.npy")


def test_a_file_that_is_cut_off_is_told(tmp_path, table):
    X, y, _ = table
    path = tmp_path / "X.npy"
    np.save(path, X)
    os.truncate(path, path.stat().st_size - 10 * X.itemsize * D - 4)
    with pytest.raises(DataError, match=r"X.npy is cut off.*row 489"):
        separatrix.data.open_files(path, target=y)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("name", ["npy", "parquet", "libsvm"])
def test_a_file_that_changes_is_told(tmp_path, table, name, cached):
    options = FORMATS[name](tmp_path, *table)
    home = separatrix.data.open_files(**options, cache=tmp_path / "cache" if cached else None)
    path = home.sources[-1].paths[0]
    os.utime(path, ns=(0, 1))
    with pytest.raises(DataError, match="has changed"):
        list(home.blocks())
    if not cached:
        with pytest.raises(DataError, match="has changed"):
            home.take(np.array([N - 1]))


def test_a_file_that_changes_while_it_is_read(tmp_path, table):
    X, y, _ = table
    np.save(tmp_path / "X.npy", np.vstack([X] * 20))
    home = separatrix.data.open_files(tmp_path / "X.npy", target=np.tile(y, 20))
    blocks = home.blocks()
    next(blocks)
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(DataError, match=r"X.npy (has changed|ends within row)"):
        list(blocks)


def test_blocks_of_the_user(table):
    X, y, _ = table
    cuts = [(X[a:b], y[a:b]) for a, b in ((0, 100), (100, 100), (100, 500))]
    for given_ in (cuts, lambda: iter(cuts), [(sp.csr_matrix(a), b) for a, b in cuts]):
        home = separatrix.data.from_blocks(given_)
        assert [b.n for b in home.blocks()] == [100, 400]
        np.testing.assert_array_equal(dense(home.take(np.array([450, 3]))), X[[450, 3]])
    assert home.fingerprint == separatrix.data.from_blocks([(sp.csr_matrix(a), b) for a, b in cuts]).fingerprint
    with pytest.raises(DataError, match="only once"):
        separatrix.data.from_blocks(iter(cuts))
    with pytest.raises(DataError, match="Block 1 has 2 columns"):
        separatrix.data.from_blocks([cuts[0], (X[:, :2], y)])
    with pytest.raises(DataError, match="Block 0 is ndarray"):
        separatrix.data.from_blocks([X])
    growing = list(cuts)
    home = separatrix.data.from_blocks(growing)
    growing.append(cuts[0])
    with pytest.raises(DataError, match="more rows than before"):
        list(home.blocks())


def test_blocks_of_the_user_are_copied_once(tmp_path, table):
    X, y, _ = table
    calls = []

    def make():
        calls.append(1)
        return [(X[:100], y[:100]), (X[100:], y[100:])]

    home = separatrix.data.from_blocks(make, cache=tmp_path)
    made = len(calls)
    for _ in range(3):
        list(home.blocks())
    assert len(calls) == made


# The decoded copy


def test_the_copy_is_used_and_removed(tmp_path, table):
    X, y, weight = table
    options = write_libsvm(tmp_path, X, y, weight) | {"cache": tmp_path / "cache"}
    home = separatrix.data.open_files(**options)
    assert home.store is not None
    home.sources[0].parts = None  # the sources are not needed any more
    list(home.blocks())
    again = separatrix.data.open_files(**options)
    assert (again.n, again.width, again.classes.tolist()) == (N, D, [1.0, 3.0])
    assert [b.first for b in again.blocks()] == [b.first for b in home.blocks()]
    again.remove_cache()
    assert list((tmp_path / "cache").iterdir()) == []
    np.testing.assert_array_equal(np.concatenate([dense(b) for b in again.blocks()]), X)


@pytest.mark.parametrize("damage", ["flipped", "cut", "missing", "manifest"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_damaged_copy_is_made_anew(tmp_path, table, damage, when):
    X, y, weight = table
    options = write_npy(tmp_path, X, y, weight) | {"cache": tmp_path / "cache"}
    home = separatrix.data.open_files(**options)
    name = "manifest.json" if damage == "manifest" else "000002.X.npy"
    path = home.store.folder / name
    content = bytearray(path.read_bytes())
    if damage == "missing":
        path.unlink()
    else:
        content[-9] ^= 0x40
        path.write_bytes(content if damage in ("flipped", "manifest") else content[:-5])
    if when == "before":
        home = separatrix.data.open_files(**options)
    np.testing.assert_array_equal(dense(home.take(np.arange(N))), X)
    np.testing.assert_array_equal(np.concatenate([dense(b) for b in home.blocks()]), X)


def test_a_copy_of_other_files_is_not_used(tmp_path, table):
    X, y, weight = table
    options = write_npy(tmp_path, X, y, weight) | {"cache": tmp_path / "cache"}
    separatrix.data.open_files(**options)
    np.save(tmp_path / "X0.npy", X[:200] + 1.0)
    home = separatrix.data.open_files(**options)
    assert dense(home.take(np.array([0])))[0, 0] == X[0, 0] + 1.0


# Reading ahead, and single rows


def test_reading_ahead_keeps_order_and_passes_errors_on():
    assert list(read_ahead(range(100), 3)) == list(range(100))

    def broken():
        yield 1
        raise ValueError("here")

    got = read_ahead(broken(), 2)
    assert next(got) == 1
    with pytest.raises(ValueError, match="here"):
        next(got)


def test_reading_ahead_stops_with_its_reader():
    made = []

    def endless():
        while True:
            made.append(1)
            yield len(made)

    before = threading.active_count()
    got = read_ahead(endless(), 2)
    assert next(got) == 1
    got.close()
    time.sleep(0.3)
    assert threading.active_count() == before
    assert len(made) <= 5


@settings(max_examples=40)
@given(st.lists(st.integers(0, 999), max_size=60), st.integers(1, 9))
def test_single_rows_of_a_file(tmp_path_factory, index, width):
    folder = tmp_path_factory.getbasetemp()
    X = np.arange(1000 * width, dtype=np.int32).reshape(1000, width)
    path = Path(folder) / f"{width}.npy"
    np.save(path, X)
    np.testing.assert_array_equal(NpyArray.of(path).take(np.array(index, dtype=np.int64)), X[index])


@pytest.mark.parametrize(("text", "size"), [("1GB", 10**9), ("1.5 gib", 3 * 2**29), (10**8, 10**8)])
def test_sizes(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["much", "1 parsec", "1MB", -5])
def test_sizes_that_are_none(text):
    with pytest.raises(DataError, match="memory="):
        bytes_of(text)


def test_fetched_rows_are_kept_within_the_budget(tmp_path, table):
    X, y, _ = table
    np.save(tmp_path / "X.npy", X)
    home = separatrix.data.open_files(tmp_path / "X.npy", target=y)
    home.take(np.arange(0, N, 2))
    asked = []
    fetch = home._fetch
    home._fetch = lambda numbers: asked.append(len(numbers)) or fetch(numbers)
    np.testing.assert_array_equal(dense(home.take(np.arange(0, 100))), X[:100])
    assert asked == [50]  # the others are here
    home.most_kept = 10 * D * 8
    home.take(np.arange(N))
    assert home._fetched.size < N * D * 8


def test_columns_of_text_are_encoded(tmp_path):
    """One-hot, with the values of all files, whichever file has them."""
    colours, sizes = ["red", "blue", "red", "green"], [1.0, 2.0, 3.0, 4.0]
    frame = pl.DataFrame({"colour": colours, "size": sizes, "y": ["a", "a", "b", "b"]})
    frame[:3].write_parquet(tmp_path / "1.parquet")
    frame[3:].write_parquet(tmp_path / "2.parquet")
    with pytest.raises(DataError, match="encode=True"):
        separatrix.data.open_files(tmp_path / "*.parquet", target="y")
    rows = separatrix.data.open_files(tmp_path / "*.parquet", target="y", encode=True)
    assert rows.names == ["size", "colour_blue", "colour_green", "colour_red"]
    expected = np.column_stack([sizes, *([float(c == v) for c in colours] for v in ("blue", "green", "red"))])
    np.testing.assert_array_equal(np.concatenate([b.dense(np.arange(b.n)) for b in rows.blocks()]), expected)
    np.testing.assert_array_equal(rows.take(np.array([3, 0])).dense(np.arange(2)), expected[[3, 0]])
    assert separatrix.MaxMargin().fit(rows).feature_names_in_.tolist() == rows.names
    pl.DataFrame({"colour": ["red", None], "size": [1.0, 2.0], "y": ["a", "b"]}).write_parquet(tmp_path / "3.parquet")
    with pytest.raises(DataError, match=r"3.parquet: column 'colour' has missing values"):
        separatrix.data.open_files(tmp_path / "*.parquet", target="y", encode=True)
