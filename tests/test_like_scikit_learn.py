"""Where users of scikit-learn look first: the names, shapes and silence that its own estimators have."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import EVERYONE
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import StratifiedKFold

from separatrix import (
    LMS,
    ROMMA,
    BatchPerceptron,
    HoKashyap,
    KernelMaxMargin,
    KernelPerceptron,
    LeastSquares,
    MaxMargin,
    PassiveAggressive,
    Perceptron,
    Relaxation,
    VotedPerceptron,
    load,
    save,
)

IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("cls", [KernelMaxMargin, KernelPerceptron, VotedPerceptron, Perceptron, MaxMargin])
def test_scores_can_be_monitored_in_duels(cls):
    """The attributes of all pairs predict while one of them is being fitted."""
    monitor = ScoringMonitor(scoring="accuracy")
    model = cls(multi_class="ovo").set_callbacks(monitor).fit(*IRIS)
    rows = monitor.get_logs().data
    assert len(rows) > 1
    assert rows[0]["accuracy"] == model.score(*IRIS)  # the row of the whole fit


def test_monitored_scores_are_weighted():
    X, y = IRIS
    weight = np.where(y == 2, 50.0, 1.0)
    monitor = ScoringMonitor(scoring="accuracy")
    model = Perceptron().set_callbacks(monitor).fit(X, y, weight)
    assert monitor.get_logs().data[0]["accuracy"] == pytest.approx(model.score(X, y, weight))
    assert model.score(X, y, weight) != pytest.approx(model.score(X, y))


def test_a_kernel_of_ones_own_may_return_a_sparse_matrix():
    X, y = IRIS
    own = KernelMaxMargin(kernel=lambda a, b: a @ b.T).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(
        own.decision_function(sp.csr_matrix(X)),
        KernelMaxMargin(kernel="linear").fit(X, y).decision_function(X),
        atol=1e-6,
    )


@pytest.mark.parametrize("mode", ["ovr", "ovo"])
@pytest.mark.parametrize("cls", [KernelMaxMargin, KernelPerceptron])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_a_linear_kernel_has_its_vectors(cls, mode, layout):
    X, y = IRIS
    model = cls(kernel="linear", multi_class=mode).fit(layout(X), y)
    assert model.coef_.shape == (3, 4)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model._scores(layout(X)), atol=1e-8)
    with pytest.raises(AttributeError, match='kernel="linear" only'):
        _ = cls().fit(X, y).coef_


def test_features_are_selected_by_a_linear_kernel():
    X, y = IRIS
    model = KernelMaxMargin(kernel="linear")
    assert SelectFromModel(model).fit(X, y).get_support().any()
    assert RFE(model, n_features_to_select=2).fit(X, y).support_.sum() == 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cls", EVERYONE)
def test_everyone_takes_a_random_state_and_counts_iterations(cls):
    X, y = IRIS
    model = cls(random_state=3).fit(X, y)
    assert isinstance(model.n_iter_, int)
    assert model.n_iter_ >= 1


@pytest.mark.parametrize("y", [IRIS[1], IRIS[1] > 0], ids=["three classes", "two"])
def test_a_machine_is_refused_when_parameters_are_checked(y):
    with pytest.raises(ValueError, match="trains no linear machine"):
        LMS(multi_class="joint").fit(IRIS[0], y)


def test_every_fit_that_stops_at_a_limit_warns():
    X, y = IRIS
    for cls in (Perceptron, HoKashyap, LeastSquares):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = cls().fit(X, y)
        assert model.converged_ or model.stop_reason_ == "epochs"
    for model in (
        BatchPerceptron(max_iter=2),
        *(Perceptron(max_iter=2, average=a, until="separated") for a in (False, True)),
    ):
        with pytest.warns(match="stopped before it converged .max_iter"):
            model.fit(X, y)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("mode", ["ovr", "ovo", "joint"])
@pytest.mark.parametrize("C", [0.1, float("inf")])
def test_support_vectors_at_every_price(C, mode, layout, tmp_path):
    """The vectors are combinations of these rows, with the multiples in ``dual_coef_``."""
    X, y = IRIS
    far = X + 10.0 * np.eye(4)[y] if np.isinf(C) else X
    for loss in ("squared_hinge", "hinge"):
        model = MaxMargin(C, loss=loss, multi_class=mode, tol=1e-6).fit(layout(far), y)
        vectors = model.support_vectors_
        assert sp.issparse(vectors) == (layout is sp.csr_matrix)
        np.testing.assert_array_equal(vectors.toarray() if sp.issparse(vectors) else vectors, far[model.support_])
        np.testing.assert_allclose(model.dual_coef_ @ vectors, model.coef_, rtol=1e-3, atol=1e-3)
        assert model.n_support_.sum() == len(model.support_)
        save(model, tmp_path / "model.sx")
        again = load(tmp_path / "model.sx")
        assert not hasattr(again, "support_vectors_")
        np.testing.assert_array_equal(again.predict(far), model.predict(far))


def test_tolerances_are_checked_under_their_own_names():
    X, y = IRIS
    for cls in (Relaxation, PassiveAggressive, ROMMA):
        with pytest.raises(ValueError, match="'margin_tol'"):
            cls(margin_tol=5.0).fit(X, y == 0)
        with pytest.raises(TypeError, match="'tol'"):  # a certified gap, which these rules have not
            cls(tol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("cls", EVERYONE)
def test_defaults_do_not_warn(cls, load):
    X, y = load(return_X_y=True)
    for train, _ in StratifiedKFold(10).split(X, y):
        cls().fit(X[train], y[train])  # warnings are errors
