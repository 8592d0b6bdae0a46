"""What the commands do, as functions: values come back, data become numbers once, and a new format is one line."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from separatrix import MaxMargin, Perceptron, load, save
from separatrix.app.tables import Table, formats, read_table
from separatrix.app.tables.table import Format
from separatrix.app.workflows import Options, check, compare, fit, predict, score, verify
from separatrix.app.workflows.verifying import verified
from separatrix.certificates.certificate import Certificate
from separatrix.fit.calibration import calibrate


@pytest.fixture
def iris(tmp_path):
    data = load_iris()
    frame = pl.DataFrame(data.data, schema=["a", "b", "c", "d"])
    path = tmp_path / "iris.csv"
    frame.with_columns(species=pl.Series(data.target_names[data.target].tolist())).write_csv(path)
    return path


def test_from_a_file_to_its_proof(tmp_path, iris, capsys):
    shown = []
    found = fit(iris, Options(folds=3), lambda *what: shown.append(what), target="species")
    assert found.how.startswith("soft-margin linear SVM, C = ")
    assert found.separator.multi_class_ in ("ovr", "ovo", "joint")
    assert found.cv.mean > 0.9
    assert all(found.verification.values())
    assert list(dict.fromkeys(stage for stage, _, _ in shown)) == [
        "Reading", "Choosing C by cross-validation", "Is it separable?",
    ]  # fmt: skip
    path = tmp_path / "m.sx"
    save(found.model, path)
    assert verify(path, iris, target="species").holds
    assert predict(path, iris).columns["prediction"][:2] == ["setosa", "setosa"]
    assert score(path, iris, target="species").answers.score("accuracy") == pytest.approx(found.train_accuracy)
    assert check(iris, target="species").answer.separable is found.answer.separable
    assert capsys.readouterr() == ("", "")


def test_tables_and_estimators():
    X, y = load_iris(return_X_y=True)
    table = Table("iris", "scikit-learn", "", X, y == 0)
    found = fit(table, Options(estimator=Perceptron(), folds=2))
    assert found.separator.certificate_.separable
    assert not hasattr(found.separator, "_skl_callbacks")
    results = compare(table, Options(folds=0, max_time=0.05)).results
    assert results[0].share == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("scale", [False, True])
def test_the_data_become_numbers_once(iris, monkeypatch, scale):
    table = read_table(iris, "species")
    made = []
    for name in ("to_numpy", "__array__"):
        method = getattr(pl.DataFrame, name)
        monkeypatch.setattr(
            pl.DataFrame, name, lambda *a, name=name, method=method, **k: (made.append(name), method(*a, **k))[1]
        )
    model = fit(table, Options(scale=scale, folds=3)).model
    assert made == ["to_numpy"]
    monkeypatch.undo()
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(model.predict(table.X), model.predict(table.X.select("a", "b", "c", "d")))


@pytest.mark.parametrize("classes", [2, 3])
def test_what_decided_separability_starts_the_maximum_margin(monkeypatch, classes):
    rng = np.random.default_rng(0)
    y = np.arange(1800) % classes  # more than are solved at once, without a start
    X = rng.normal(size=(1800, 5)) + 20 * np.eye(5)[y]
    starts, solve = [], MaxMargin._solve

    def spy(self, problem, data, start=None):
        starts.append(start)
        return solve(self, problem, data, start)

    monkeypatch.setattr(MaxMargin, "_solve", spy)
    found = fit(Table("clouds", "made", "", X, y), Options(folds=2, max_time=60.0))
    answers = list(found.answer.one_vs_rest.values()) or [found.answer]
    starts = starts[-len(answers) :]  # after those of cross-validation and of the model
    for start, answer in zip(starts, answers, strict=True):
        direction = answer.certificate.direction
        np.testing.assert_allclose(start / np.linalg.norm(start), direction / np.linalg.norm(direction), rtol=1e-12)
    alone = MaxMargin(np.inf, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(found.hard.coef_, alone.coef_, rtol=1e-6)
    assert found.hard.n_passes_ < alone.n_passes_


def test_a_format_is_a_reader_and_a_line(tmp_path, monkeypatch):
    """The whole of a new format: what tells it, and what reads it."""

    def read(source, asked):
        rows = [line.split("~") for line in source.lines[1:]]
        frame = pl.DataFrame({"x": [float(row[0]) for row in rows], "y": [row[1] for row in rows]})
        return Table(source.name, "tilde", source.digest, frame, named=True)

    tilde = Format("tilde", lambda source: source.lines[0] == "~~~", read)
    monkeypatch.setattr(formats, "FORMATS", {"tilde": tilde, **formats.FORMATS})
    path = tmp_path / "data"
    path.write_text("~~~\n1~u\n2~u\n5~v\n")
    found = fit(path, target="y")
    assert found.table.format == "tilde"
    assert found.separator.geometric_margin_ == pytest.approx(1.5)
    save(found.model, tmp_path / "m.sx")
    assert load(tmp_path / "m.sx").predict(pl.DataFrame({"x": [1.5]})).tolist() == ["u"]


def test_calibrated_probabilities_do_not_depend_on_the_unit_of_scores():
    """scikit-learn's penalty acts on scores of spread 1, and the weights are those of the scores as they are."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, 200)
    scores = rng.normal(size=(200, 1)) + codes[:, None]
    scores /= scores.std()
    expected = LogisticRegression(max_iter=1000).fit(scores, codes).predict_proba(scores)
    for unit in (1.0, 29.0, 1e-3):
        found = calibrate(unit * scores, codes, np.array([0, 1])).probabilities(unit * scores)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("weight", [None, np.arange(150) % 7.0])
def test_pairs_are_verified_by_their_rows_alone(layout, weight):
    """As by all rows, of which the others take no part; what is wrong fails."""
    data = load_iris()
    X, y = layout(data.data), data.target_names[data.target]
    model = MaxMargin(multi_class="ovo").fit(X, y, sample_weight=weight)
    by_pairs, by_all = verified(model, X, y), verified(model, X, y, Certificate.verify)
    assert [found.checked for found in by_pairs.values()] == [found.checked for found in by_all.values()]
    assert all(by_pairs.values())
    if weight is None:
        assert not any(found.notes for found in by_pairs.values())
    claim = model.certificates_[0]
    model.certificates_[0] = replace(claim, upper=0.999 * claim.upper)
    assert [bool(found) for found in verified(model, X, y).values()] == [False, True, True]
