"""The study of accuracy: its folds do not leak, a stopped run goes on, and the page is what the numbers say."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="the benchmarks are not in the wheel")


@pytest.fixture
def of_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


def test_who_remembers_every_row_gains_nothing(of_benchmarks):
    """Labels by chance: a nearest neighbour is right on every row that it has seen, and on half of the others."""
    study = of_benchmarks("study")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    parts = study.nested(X, y)
    assert len(parts) == 5
    for (train, _, test, _), inner in parts:
        assert len(train) + len(test) == 200
        np.testing.assert_allclose(train.mean(axis=0), 0.0, atol=1e-12)
        assert [len(a) + len(b) for a, _, b, _ in inner] == [len(train)] * 3
    shown = study.cell(
        KNeighborsClassifier(), {"n_neighbors": [1, 5]}, parts, (X, y, study.each_against_the_rest(X, y))
    )
    assert 0.35 < np.mean(shown["accuracy"]) < 0.65
    assert shown["margin"] is None


def test_the_inner_folds_choose(of_benchmarks):
    study = of_benchmarks("study")
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 2)), np.repeat([0, 1], [70, 20])
    ((_, inner), *_) = study.nested(X, y)
    two = [{"strategy": "stratified"}, {"strategy": "most_frequent"}, {"strategy": "prior"}]
    assert study.chosen(DummyClassifier(random_state=0), two, inner) == two[1]  # the first of two equally good ones


def test_samples_keep_the_classes_in_proportion(of_benchmarks):
    data = of_benchmarks("study_data")
    y = np.repeat([0, 1], [900, 100])
    X, kept = data.sampled(np.column_stack([np.arange(1000.0), np.ones(1000)]), y, 200)
    assert X.shape == (200, 1)  # a constant column is left out
    assert np.bincount(kept).tolist() == [180, 20]
    np.testing.assert_array_equal(y[X[:, 0].astype(int)], kept)


def test_a_run_goes_on_where_it_was_stopped(of_benchmarks, tmp_path, monkeypatch):
    study = of_benchmarks("study")
    file, tried = tmp_path / "study.json", study._tried

    def stopped(estimator, *arguments):
        if type(estimator).__name__ == "LeastSquares":
            raise KeyboardInterrupt
        return tried(estimator, *arguments)

    monkeypatch.setattr(study, "_tried", stopped)
    with pytest.raises(KeyboardInterrupt):
        study.measure(True, file)
    before = json.loads(file.read_text())["cells"]["iris"]
    assert list(before) == ["MaxMargin", "Perceptron"]
    monkeypatch.setattr(study, "_tried", tried)
    found = study.measure(True, file)
    assert found["cells"]["iris"]["MaxMargin"] == before["MaxMargin"]  # times as well: it was not run again
    assert {name: len(cells) for name, cells in found["cells"].items()} == {"iris": 4, "two far blobs": 4}
    assert found["sets"]["two far blobs"]["separable"] == [True]
    shown = of_benchmarks("study_report").numbers(found)
    share = dict(zip(shown["names"], shown["share"][1], strict=True))
    assert shown["share"][0] == [None] * 4  # iris has classes that are not separable from the rest
    assert 0.0 < share["Perceptron"] <= 1.0


def test_the_page_is_what_the_numbers_say(of_benchmarks):
    report = of_benchmarks("study_report")
    shown = json.loads(report.NUMBERS.read_text())
    assert report.PAGE.read_text() == report.page(shown)
    assert len(shown["sets"]) >= 25
    assert set(shown["short_list"]) <= set(shown["names"])
    assert np.array(shown["accuracy"]).shape == (len(shown["sets"]), len(shown["names"]))


def test_choosing_quotes_the_study(of_benchmarks):
    """Percentages stand on the page of the study, and the names that are distinguished are those of its test."""
    report = of_benchmarks("study_report")
    page, quoted = report.PAGE.read_text(), (ROOT / "docs" / "start" / "choosing.md").read_text()
    values = re.findall(r"(\d+\.\d)(?:%| points)", quoted)
    assert len(values) >= 5
    assert [value for value in values if not re.search(rf"(?<![\d.]){value}(?!\d)", page)] == []
    shown = json.loads(report.NUMBERS.read_text())
    assert f"{len(shown['names'])} classifiers on {len(shown['sets'])} data sets" in quoted
    found = report.ranking(shown)
    worse = found.ranks >= found.ranks.min() + found.critical_difference
    apart = {found.names[j] for j in np.flatnonzero(worse) if not found.names[j].startswith("sklearn")}
    (listed,) = re.findall(r"significantly worse than the best average rank:\s+(.*?)\.\n", quoted, flags=re.S)
    assert set(re.findall(r"`(\w+)`", listed)) == apart
    first = found.ranks[found.names.index("MaxMargin")] - found.ranks.min()
    assert first < found.critical_difference  # "none was found to predict better"
