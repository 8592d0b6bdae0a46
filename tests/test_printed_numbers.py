"""Every number that a command prints is read back and compared with the number computed from the data and the model."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from typer.testing import CliRunner

import separatrix
from separatrix.app.cli import app
from separatrix.app.report.summary import as_dict, rows_of
from separatrix.app.workflows import Options, compare, fit
from separatrix.certificates.certificate import Verification

COLUMNS = ["u", "v", "w"]


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "300"})


def table(path, n, seed, apart=1.2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0  # a third: recalls of both classes differ
    X = rng.normal(size=(n, 3)) + apart * y[:, None] * [1.0, 0.5, 0.0]
    frame = pl.DataFrame(X, schema=COLUMNS).with_columns(pl.Series("kind", np.where(y, "yes", "no")))
    frame.write_csv(path)
    return frame


def features(frame):
    return frame.select(COLUMNS).to_numpy(), frame["kind"].to_numpy()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A soft margin of a table that is not separable, what was printed, and what was written."""
    folder = tmp_path_factory.mktemp("printed")
    train, test = table(folder / "train.csv", 90, 3), table(folder / "test.csv", 41, 4)
    arguments = ("fit", folder / "train.csv", "-t", "kind", "--test", folder / "test.csv", "--save", folder / "m.sx")
    text, shown = run(*arguments), run(*arguments, "--json")
    assert text.exit_code == shown.exit_code == 0
    parts = (re.split(r"\s{2,}", line, maxsplit=1) for line in text.output.splitlines() if "  " in line)
    lines = dict(parts)
    return separatrix.load(folder / "m.sx")[-1], train, test, lines, json.loads(shown.stdout), folder


def scores_of(model, X):
    return X @ model.coef_[0] + model.intercept_[0]


def signed_distances(model, frame):
    """Distance of each row from the boundary, negative on the wrong side."""
    X, y = features(frame)
    sides = np.where(y == model.classes_[1], 1.0, -1.0)
    return sides * scores_of(model, X) / np.linalg.norm(model.coef_)


def numbers(text):
    return [float(t.replace(",", "")) for t in re.findall(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?", text)]


def test_training_rows_and_the_worst_of_them(fitted):
    model, train, _, lines, shown, _ = fitted
    distances = signed_distances(model, train)
    share, right, n = numbers(lines["Training accuracy"])
    assert (right, n) == (np.sum(distances > 0), train.height)
    assert share == pytest.approx(100 * right / n, abs=0.05)
    assert shown["train_accuracy"] == np.mean(distances > 0)
    assert shown["geometric_margin"] == pytest.approx(distances.min(), rel=1e-9)


def test_held_out_rows(fitted):
    model, _, test, lines, shown, _ = fitted
    X, y = features(test)
    scores = scores_of(model, X)
    predicted = model.classes_[(scores > 0).astype(int)]
    right, n, accuracy, balanced, f1, auc, *_ = numbers(lines["Test data"].replace("F1", ""))
    assert (right, n) == (np.sum(predicted == y), test.height)
    assert accuracy == pytest.approx(100 * np.mean(predicted == y), abs=0.05)
    held = shown["held_out"]
    assert held["accuracy"] == pytest.approx(np.mean(predicted == y))
    assert held["balanced"] == pytest.approx(balanced_accuracy_score(y, predicted))
    assert balanced == pytest.approx(100 * held["balanced"], abs=0.05)
    assert held["f1"] == pytest.approx(f1_score(y, predicted, average="macro"))
    assert held["auc"] == pytest.approx(roc_auc_score(y == "yes", scores))
    assert (f1, auc) == (round(held["f1"], 3), round(held["auc"], 3))
    confusion = [[int(np.sum((y == a) & (predicted == b))) for b in model.classes_] for a in model.classes_]
    assert held["confusion"] == confusion
    for k, name in enumerate(model.classes_):
        counts = np.array(confusion)
        assert held["classes"][name]["recall"] == pytest.approx(counts[k, k] / counts[k].sum())
        assert held["classes"][name]["precision"] == pytest.approx(counts[k, k] / counts[:, k].sum())
        assert held["classes"][name]["rows"] == counts[k].sum()


def test_the_model_and_its_certificate(fitted):
    model, train, _, lines, shown, _ = fitted
    assert shown["separator"]["parameters"]["C"] == model.C_ == numbers(lines["Model"])[0]
    certificate = shown["certificates"][0]
    assert certificate["lower"] == model.certificate_.lower
    assert certificate["upper"] == model.certificate_.upper
    gap = numbers(lines["Optimality gap"])[0]
    assert gap == pytest.approx(certificate["gap"], rel=0.5)
    assert certificate["gap"] == pytest.approx(model.dual_gap_, rel=1e-9)
    X, y = features(train)
    margins = np.where(y == model.classes_[1], 1.0, -1.0) * scores_of(model, X)
    objective = 0.5 * (np.sum(model.coef_**2) + model.intercept_[0] ** 2)
    objective += model.C_ * np.sum(np.maximum(0, 1 - margins) ** 2)
    assert model.certificate_.value == pytest.approx(objective, rel=1e-9)
    assert shown["support_vectors"] == len(model.support_) == numbers(lines["Support vectors"])[0]
    weights = shown["largest_weights"]["yes"]
    assert [weights[c] for c in COLUMNS] == pytest.approx(model.coef_[0].tolist())
    assert shown["data"]["rows"] == train.height
    assert shown["data"]["classes"] == {"no": 60, "yes": 30}


def test_cross_validation(fitted):
    _, _, _, lines, shown, _ = fitted
    score = shown["cross_validated_score"]
    mean, spread, folds, baseline = numbers(lines["CV accuracy"])
    assert baseline == pytest.approx(100 * 60 / 90, abs=0.05)
    assert "always answering 'no'" in lines["CV accuracy"]
    assert mean == pytest.approx(100 * np.mean(score["folds"]), abs=0.05)
    assert spread == pytest.approx(100 * score["standard_deviation"], abs=0.05)
    assert folds == len(score["folds"])
    assert score["mean"] == pytest.approx(np.mean(score["folds"]))
    assert score["best_of"] == len(shown["compared"]) > 1
    taken = [c for c in shown["compared"] if c["taken"]]
    assert [c["C"] for c in taken] == [shown["separator"]["parameters"]["C"]]


def test_predict_score_counts_its_rows(fitted):
    model, _, test, _, _, folder = fitted
    X, y = features(test)
    right, n, *_ = numbers(run("predict", folder / "m.sx", folder / "test.csv", "--score").output)
    assert (right, n) == (np.sum(model.classes_[(scores_of(model, X) > 0).astype(int)] == y), test.height)


@pytest.mark.parametrize("scale", [False, True])
def test_check_reports_the_distance_in_its_unit(tmp_path, scale):
    """Without --scale the margin is in units of the columns, with it in standard deviations."""
    frame = table(tmp_path / "t.csv", 60, 5, apart=40.0)
    X, y = features(frame)
    found = run("check", tmp_path / "t.csv", "-t", "kind", "--json", *(["--scale"] if scale else []))
    assert found.exit_code == 0
    rows = (X - X.mean(axis=0)) / X.std(axis=0) if scale else X
    margin = json.loads(found.stdout)["margin"]
    assert margin == pytest.approx(separatrix.separability(rows, y).margin, rel=1e-6)
    other = separatrix.separability(X if scale else (X - X.mean(axis=0)) / X.std(axis=0), y).margin
    assert abs(margin - other) > 0.01 * margin


def test_a_failed_claim_is_not_verified(tmp_path):
    """One claim of several that fails makes the whole report say so."""
    table(tmp_path / "t.csv", 60, 5)
    found = fit(str(tmp_path / "t.csv"), Options(folds=2), target="kind")
    assert as_dict(found)["verified"] is True
    failed = Verification((), ("upper",), ())
    claims = {**found.verification, "another": failed}
    assert as_dict(replace(found, verification=claims))["verified"] is False
    assert as_dict(replace(found, verification={}))["verified"] is False
    assert "FAILS" in dict(rows_of(replace(found, verification=claims)))["Optimality gap"]


def test_a_separator_without_a_margin_reports_no_distance(tmp_path):
    """VotedPerceptron has no hyperplane: no distance of the worst row is printed."""
    table(tmp_path / "t.csv", 60, 5)
    result = run("fit", tmp_path / "t.csv", "-t", "kind", "--algorithm", "VotedPerceptron", "--cv", "2")
    assert result.exit_code == 0
    assert "nan" not in result.output
    assert "on the wrong side" not in result.output


def test_a_tolerance_of_zero_is_not_the_default(tmp_path):
    table(tmp_path / "t.csv", 60, 5)
    shown = run("fit", tmp_path / "t.csv", "-t", "kind", "--C", "1", "--tol", "0", "--cv", "0", "--json")
    assert json.loads(shown.stdout)["separator"]["parameters"]["tol"] == 0.0


def test_groups_of_equal_rows_limit_the_accuracy(tmp_path):
    """2:1 and 1:2 votes of two groups: at most 4 of 6 rows can be right."""
    (tmp_path / "t.csv").write_text("x,kind\n1,a\n1,a\n1,b\n2,a\n2,b\n2,b\n")
    output = " ".join(run("fit", tmp_path / "t.csv", "-t", "kind", "--cv", "0").output.split())
    assert "more than 66.7% of these data right" in output


@pytest.mark.parametrize(("rows", "warned"), [(5, False), (4, True)])
def test_classes_with_fewer_rows_than_folds(tmp_path, rows, warned):
    lines = [f"{x},a\n" for x in range(20)] + [f"{x + 15},b\n" for x in range(rows)]
    (tmp_path / "t.csv").write_text("x,kind\n" + "".join(lines))
    result = run("fit", tmp_path / "t.csv", "-t", "kind", "--cv", "5")
    assert ("Classes with fewer rows than the 5 folds" in " ".join(result.output.split())) is warned


def test_no_file_is_begun_after_an_interruption(tmp_path, monkeypatch):
    """Ctrl-C while the second of three files is compared."""
    for k in range(3):
        table(tmp_path / f"t{k}.csv", 30, k)
    begun = []

    def interrupted(file, *arguments, **options):
        begun.append(file)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return compare(file, *arguments, **options)

    monkeypatch.setattr("separatrix.app.workflows.comparing.compare", interrupted)
    names = ("--algorithms", "Perceptron,MaxMargin")
    result = run("compare", *(tmp_path / f"t{k}.csv" for k in range(3)), "-t", "kind", "--cv", "2", *names)
    assert len(begun) == 2
    assert "2 more files were not tried" in " ".join(result.stderr.split())
