"""A proof must be about what predicts: models whose parts were exchanged, one way after the other."""

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from cases import EVERYONE
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

import separatrix
from separatrix import KernelMaxMargin, KernelPerceptron, MaxMargin, Perceptron, VotedPerceptron
from separatrix.proof.certificate import Certificate
from separatrix.workflows.verifying import problem_names, verified, verify
from separatrix.workflows.what_predicts import about_what_predicts, with_own_vector

LINE = np.array([[0.0], [1.0], [3.0], [4.0]])
SIDES = np.array(["a", "a", "b", "b"])
HARD = {"C": np.inf}
CORNERS = np.repeat(np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]), 3, axis=0) + np.tile(
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], (3, 1)
)
THREE = np.repeat(["a", "b", "c"], 3)


def judged(tmp_path, model, X, y, independent=False):
    """What `separatrix verify` finds of a saved model on a file of its data."""
    separatrix.save(model, tmp_path / "model.sx")
    frame = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "class": list(map(str, y))})
    frame.write_csv(tmp_path / "data.csv")
    return verify(tmp_path / "model.sx", tmp_path / "data.csv", independent, target="class")


@pytest.mark.parametrize("spread", [6.0, 0.5])
@pytest.mark.parametrize("mode", [None, "ovr", "ovo", "kesler"])
def test_honest_models_hold(tmp_path, spread, mode):
    rng = np.random.default_rng(0)
    classes = 3 if mode else 2
    y = np.repeat(np.arange(classes), 12)
    X = rng.normal(size=(len(y), 3)) + spread * np.eye(3)[y]
    seen = 0
    for cls in EVERYONE:
        model = cls()
        if mode:
            if "multi_class" not in model.get_params():
                continue
            model.set_params(multi_class=mode)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model.fit(X, y)
            except (ValueError, separatrix.SeparatrixError):
                continue  # it says that it trains no such machine
        if hasattr(model, "certificates_"):
            seen += 1
            assert about_what_predicts(model, X, y), cls
    assert seen >= 10


def test_a_summary_that_is_not_that_of_the_problems(tmp_path):
    model = MaxMargin(**HARD).fit(LINE, SIDES)
    model.certificate_ = replace(model.certificate_, lower=100.0, upper=100.0)
    assert not judged(tmp_path, model, LINE, SIDES).holds


def test_a_false_claim_is_not_covered_by_a_true_one_of_its_name(tmp_path):
    model = MaxMargin(**HARD).fit(LINE, SIDES)
    true = model.certificate_
    false = replace(true, upper=1e-9, lower=None, direction=None)
    model.certificates_, model.certificate_ = [false, true], false
    assert not judged(tmp_path, model, LINE, SIDES).holds


@pytest.mark.parametrize("independent", [False, True])
def test_a_class_called_the_rest(tmp_path, independent):
    names = np.array(["the rest", "the rest", "x", "x"])
    model = MaxMargin(**HARD).fit(LINE, names)
    assert judged(tmp_path, model, LINE, names, independent).holds
    model.coef_, model.intercept_ = -model.coef_, -model.intercept_
    true = model.certificate_
    model.certificate_ = replace(true, direction=-true.direction)
    model.certificates_ = [model.certificate_]
    assert not judged(tmp_path, model, LINE, names, independent).holds


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # from an offset of 1e10 on
@pytest.mark.parametrize("factor", [1.0, 2.0**700, 2.0**-700])
@pytest.mark.parametrize("offset", [0.0, 1e10, 1e12])
def test_a_vector_turned_around(tmp_path, factor, offset):
    """However large the bias beside it, and beyond the squares that float64 holds."""
    X = LINE + offset
    model = MaxMargin(fit_intercept="free", **HARD).fit(X, SIDES)
    assert judged(tmp_path, model, X, SIDES).holds
    claim = replace(model.certificate_, direction=model.certificate_.direction * factor)
    model.certificate_, model.certificates_ = claim, [claim]
    model.coef_ = -model.coef_ * factor
    assert not judged(tmp_path, model, X, SIDES).holds


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("mend", [True, False])
def test_the_parts_of_a_kernel_model(tmp_path, kernel, mend):
    model = KernelMaxMargin(kernel=kernel, **HARD).fit(LINE, SIDES)
    if mend:
        assert judged(tmp_path, model, LINE, SIDES).holds
    for name, wrong in {
        "dual_coef_": -model.dual_coef_,
        "intercept_": -model.intercept_ + 1.0,
        "support_vectors_": model.support_vectors_[::-1].copy(),
        "_kernel_": model._kernel_._replace(gamma=3.0),
        "support_": model.support_[::-1].copy(),
    }.items():
        forged = KernelMaxMargin(kernel=kernel, **HARD).fit(LINE, SIDES)
        setattr(forged, name, wrong)
        assert not about_what_predicts(forged, LINE, SIDES), name


@pytest.mark.parametrize("mode", ["ovr", "ovo", "kesler"])
def test_classes_problems_and_kinds_of_machines(tmp_path, mode):
    def fitted():
        return MaxMargin(multi_class=mode, **HARD).fit(CORNERS, THREE)

    assert judged(tmp_path, fitted(), CORNERS, THREE).holds
    forged = []
    for order in ([2, 1, 0], [0, 2, 1]):
        model = fitted()
        model.classes_ = model.classes_[order]
        forged.append(model)
        if mode != "kesler":
            model = fitted()
            model.certificates_ = [model.certificates_[k] for k in order]
            model.coef_, model.intercept_ = model.coef_[order], model.intercept_[order]
            forged.append(model)
    for kept in ([0], [0, 1], [0, 0, 0]):
        model = fitted()
        model.certificates_ = [model.certificates_[0] for _ in kept]
        if mode != "kesler" or len(kept) > 1:
            forged.append(model)
    for other in {"ovr", "ovo", "kesler"} - {mode}:
        model = fitted()
        model.multi_class_ = other
        if {mode, other} != {"ovr", "kesler"} or mode == "kesler":
            forged.append(model)
    for model in forged:
        assert not judged(tmp_path, model, CORNERS, THREE).holds
    model = fitted()
    model.classes_ = np.array([0, 1, True], dtype=object)
    assert not about_what_predicts(model, CORNERS, THREE)


def test_two_pairs_whose_names_read_the_same(tmp_path):
    names = np.array(["x", "y against x", "z", "z against y"])
    y = np.repeat(names, 2)
    X = np.repeat(np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]]), 2, axis=0) + np.tile(
        [[0.0], [1.0]], (4, 1)
    )
    model = MaxMargin(multi_class="ovo", **HARD).fit(X, y)
    assert len(set(problem_names(model))) == 6
    moved = X.copy()
    moved[0] = X[-1]
    found = judged(tmp_path, model, moved, y)
    assert len(found.claims) == 6
    assert not found.holds


def test_something_else_predicts():
    wrong = SIDES[::-1]
    claims = MaxMargin(**HARD).fit(LINE, SIDES).certificates_
    foreign = OneVsRestClassifier(Perceptron()).fit(LINE, wrong)
    kernel = KernelPerceptron().fit(LINE, wrong)
    plain = MaxMargin(**HARD).fit(LINE, wrong)
    for model in (foreign, kernel, plain):
        model.certificates_, model.certificate_ = claims, claims[0]
        assert not about_what_predicts(model, LINE, SIDES)


def test_what_is_not_claimed_is_said():
    voted = VotedPerceptron().fit(LINE, SIDES)
    assert "votes" in str(about_what_predicts(voted, LINE, SIDES))
    silent = MaxMargin(**HARD).fit(LINE, SIDES)
    bare = Certificate(None, np.inf, None, silent.certificate_.space, silent.certificate_.radius)
    silent.certificates_, silent.certificate_ = [bare], bare
    assert "nothing is claimed" in str(about_what_predicts(silent, LINE, SIDES))


def test_the_rounded_vector_itself_has_to_separate():
    """A vector that rounding turned is told from that of the certificate by exact arithmetic alone."""
    X = LINE + 1e15  # there a last digit of the bias is a distance of 1/8
    model = MaxMargin(**HARD).fit(LINE, SIDES)
    w = np.array([2.0, -2.0 * (1e15 + 2.0)])
    claim = Certificate(None, np.inf, True, model.certificate_.space, float(np.hypot(1e15 + 4.0, 1.0)), direction=w)
    model.certificates_, model.certificate_ = [claim], claim
    model.coef_, model.intercept_ = w[:1, None].T, w[1:]
    assert with_own_vector(model, 0) is None  # the same digits
    assert verified(model, X, SIDES, own=True)["b against a"]
    model.intercept_ = w[1:] * (1.0 + 2.0**-49)
    assert about_what_predicts(model, X, SIDES)
    assert not verified(model, X, SIDES, own=True)["b against a"]


def test_rows_without_a_label_are_told(tmp_path):
    model = MaxMargin(**HARD).fit(LINE, SIDES)
    separatrix.save(model, tmp_path / "model.sx")
    (tmp_path / "data.csv").write_text("x0,class\n0,a\n1,a\n3,b\n4,b\n7,\n")
    found = verify(tmp_path / "model.sx", tmp_path / "data.csv", target="class")
    assert found.holds
    assert any("1 of 5 rows have no label" in note for note in found.table.notes)
