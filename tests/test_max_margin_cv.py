"""C by cross-validation, and probabilities from out-of-fold scores."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, make_blobs, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, cross_val_score
from sklearn.preprocessing import scale

from separatrix import DataError, MaxMargin, MaxMarginCV, load, save
from separatrix.callbacks import Callback

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)
CS = [1e-3, 1e-2, 1e-1]


def noisy(n, seed=0):
    return make_classification(n, 6, n_informative=4, flip_y=0.2, random_state=seed)


def test_scores_are_those_of_cross_validation():
    model = MaxMarginCV(CS, 4).fit(X, Y)
    for place, C in enumerate(CS):
        expected = cross_val_score(MaxMargin(C), X, Y, cv=4)
        np.testing.assert_allclose(model.scores_[:, place], expected, atol=1.01 / 142)  # solved to another gap
    assert model.C_ == CS[int(np.argmax(model.scores_.mean(axis=0)))]
    assert model.certificate_.verify(X, Y)
    np.testing.assert_allclose(model.coef_, MaxMargin(model.C_).fit(X, Y).coef_, rtol=1e-6)


def test_scores_of_probabilities_compare_the_ways_of_several_classes():
    """One-vs-one is tried on the first fold alone at first, when no other fold can calibrate it."""
    table, y = make_blobs(150, centers=4, cluster_std=3.0, random_state=0)
    model = MaxMarginCV(scoring="neg_log_loss").fit(table, y)
    assert np.all(np.isfinite(model.scores_))
    assert model.scores_.mean(axis=0).max() > -np.log(4)


def test_no_row_is_scored_by_a_model_that_has_seen_it():
    model = MaxMarginCV([0.01], StratifiedKFold(3, shuffle=True, random_state=1)).fit(X, Y)
    for k in range(3):
        out = model.fold_ == k
        expected = MaxMargin(0.01).fit(X[~out], Y[~out]).decision_function(X[out])
        np.testing.assert_allclose(model.out_of_fold_decision_[out], expected, atol=0.05)
    assert set(model.fold_) == {0, 1, 2}


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix, np.float32])
def test_layouts(layout):
    expected = MaxMarginCV(CS, 3).fit(X, Y)
    model = MaxMarginCV(CS, 3).fit(layout(X), Y)
    assert model.C_ == expected.C_
    np.testing.assert_allclose(model.predict_proba(layout(X)), expected.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize(("n", "method"), [(999, "sigmoid"), (1000, "isotonic")])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_calibrated(n, method, classes):
    table, y = make_classification(
        n + 3000, 6, n_informative=4, n_classes=classes, n_clusters_per_class=1, flip_y=0.3, random_state=1
    )
    y = np.array(["a", "b", "c"])[y]
    model = MaxMarginCV(cv=5).fit(table[:n], y[:n])
    assert model.calibration_method_ == method
    chance = model.predict_proba(table[n:])
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert np.all((chance > 0) & (chance < 1))
    frequencies = np.array([np.mean(y == c) for c in model.classes_])
    assert log_loss(y[n:], chance) < 0.8 * log_loss(y[n:], np.tile(frequencies, (3000, 1)))
    likely = chance.max(axis=1)
    for low, high in ((0.5, 0.8), (0.8, 1.0)):
        some = (likely > low) & (likely <= high)
        right = model.classes_[chance.argmax(axis=1)] == y[n:]
        assert some.sum() < 100 or abs(right[some].mean() - likely[some].mean()) < 0.12
    np.testing.assert_array_equal(model.predict_log_proba(table[:5]), np.log(model.predict_proba(table[:5])))


def test_one_standard_error():
    best = MaxMarginCV(one_standard_error=False).fit(X, Y)
    simple = MaxMarginCV(one_standard_error=True).fit(X, Y)
    means = best.scores_.mean(axis=0)
    error = best.scores_[:, np.argmax(means)].std(ddof=1) / np.sqrt(5)
    assert simple.C_ == simple.Cs_[np.flatnonzero(means >= means.max() - error)[0]] < best.C_


def test_one_versus_one_where_a_class_lies_between_others():
    table, y = make_classification(
        2000, 5, n_informative=2, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=3
    )
    auto, rest = MaxMarginCV().fit(table, y), MaxMarginCV(multi_class="ovr").fit(table, y)
    assert (auto.multi_class_, rest.multi_class_) == ("ovo", "ovr")
    assert auto.scores_.mean(axis=0).max() > rest.scores_.mean(axis=0).max() + 0.01
    apart, y = make_blobs(300, centers=[[-9, 0], [0, 9], [9, 0]], random_state=0)
    assert MaxMarginCV().fit(apart, y).multi_class_ == "ovr"
    assert MaxMarginCV(multi_class="joint").fit(apart, y).multi_class_ == "joint"


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc", "f1_macro", "balanced_accuracy"])
def test_scores_of_probabilities_and_scores(scoring):
    table, y = noisy(200)
    model = MaxMarginCV(CS, 3, scoring).fit(table, y)
    assert np.all(np.isfinite(model.scores_))
    assert (model.scores_.max() <= 0) == (scoring == "neg_log_loss")


def test_a_scorer_of_ones_own_sees_the_rows_of_the_fold():
    seen = []

    def wrong(model, rows, labels):
        seen.append(rows.shape)
        return -float(np.mean(model.predict(rows) != labels))

    model = MaxMarginCV([0.1], 3, wrong).fit(X, Y)
    assert sum(n for n, _ in seen) == len(X)
    assert np.all(model.scores_ <= 0)


def test_the_hard_margin_has_no_score_where_nothing_separates():
    table, y = noisy(120)
    model = MaxMarginCV([0.1, np.inf], 3).fit(table, y)
    assert model.C_ == 0.1
    assert np.all(np.isnan(model.scores_[:, 1]))
    assert MaxMarginCV([np.inf], 3).fit(*make_blobs(60, centers=[[-9, 0], [9, 0]], random_state=0)).C_ == np.inf


def test_rare_classes_and_rows_of_weight_0():
    table, y = make_blobs(60, centers=[[-4, 0], [0, 4], [4, 0]], random_state=0)
    y[np.flatnonzero(y == 2)[1:]] = 1  # one row of class 2: the fold that tests it has no model of it
    for way in ("ovr", "ovo", "joint"):
        model = MaxMarginCV([0.1], 3, multi_class=way).fit(table, y)
        assert model.predict_proba(table).shape == (60, 3)
    weight = np.where(y == 2, 0.0, 1.0)
    model = MaxMarginCV([0.1], 3).fit(table, y, sample_weight=weight)
    assert model.fold_[y == 2] == -1
    assert np.isnan(model.out_of_fold_decision_[y == 2])
    assert len(model.classes_) == 2


def test_folds_that_cannot_be():
    with pytest.raises(DataError, match="Fold 0 of cv has training rows of 1 class"):
        MaxMarginCV(cv=PredefinedSplit(Y)).fit(X, Y)
    with pytest.raises(DataError, match="a class with 2 rows"):
        MaxMarginCV().fit(X[:3], [0, 1, 2])
    with pytest.raises(ValueError, match="must be a number of values, or values of C above 0"):
        MaxMarginCV([0.0, 1.0]).fit(X, Y)
    with pytest.raises(DataError, match="two folds at least"):
        MaxMarginCV(cv=[(np.arange(300), np.arange(300, 569))], scoring="neg_log_loss").fit(X, Y)


def test_threads_do_not_change_the_result():
    table, y = noisy(400)
    one, two = MaxMarginCV(CS).fit(table, y), MaxMarginCV(CS, n_jobs=2).fit(table, y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("n", [300, 1200])
def test_a_file_holds_the_probabilities(n, tmp_path):
    table, y = noisy(n)
    model = MaxMarginCV(CS, StratifiedKFold(3)).fit(table, y)
    save(model, tmp_path / "model.sx")
    again = load(tmp_path / "model.sx")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert again.calibration_method_ == model.calibration_method_
    assert again.C_ == model.C_
    assert not hasattr(again, "fold_")


def test_max_margin_says_who_has_probabilities():
    with pytest.raises(AttributeError, match=r"MaxMargin has no predict_proba.+Use MaxMarginCV"):
        MaxMargin().fit(X, Y).predict_proba(X)


class StopAfter(Callback):
    """Stops the fit at its n-th look."""

    def __init__(self, looks):
        self.looks = looks

    def on_fit_task_end(self, estimator, context):
        self.looks -= 1
        return self.looks < 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("looks", [0, 9, 16, 17, 18])
def test_a_stop_at_any_fold_of_either_way_leaves_a_model(looks):
    """Of several classes: before the first fold of one-vs-one, in it, and after it."""
    table, y = make_classification(
        600, 4, n_informative=4, n_redundant=0, n_classes=4, n_clusters_per_class=1, class_sep=2.0, random_state=3
    )
    model = MaxMarginCV(cv=2).set_callbacks(StopAfter(looks)).fit(table, y)
    assert model.stop_reason_ == "callback"
    assert model.score(table, y) > 0.25
