"""What every estimator shows: attributes, counts, words, parameters, names."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import ESTIMATORS, LAYOUTS, everyone, online
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import separatrix
from separatrix import (
    ALMA,
    CRAMMA,
    LMS,
    MICRA,
    DataError,
    DynamicMargin,
    FixedMargin,
    Hyperplane,
    NotSeparableError,
    Perceptron,
    Pocket,
    RecursiveLeastSquares,
    SeparatrixError,
    VotedPerceptron,
)
from separatrix.errors import UnavailableError
from separatrix.fit.online import OnlineClassifier

# The best of all vectors that were met, or a rule made for one pass.

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(17)
X = rng.normal(size=(60, 4))
SIDE = np.array([1.0, -2.0, 0.5, 1.0])
TWO = np.where(X @ SIDE + 0.3 > 0, "plus", "minus")
FAR = X + 0.25 * np.outer(np.where(TWO == "plus", 1, -1), SIDE)
THREE = np.arange(60) % 3
COMMON = {
    "until",
    "fit_intercept",
    "intercept_scaling",
    "max_iter",
    "max_updates",
    "shuffle",
    "random_state",
    "warm_start",
} | {
    "early_stopping",
    "validation_fraction",
    "n_iter_no_change",
}


@quiet
@online
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_attributes(cls, layout):
    for y, problems in ((TWO, 1), (THREE, 3)):
        model = cls(max_iter=20).fit(layout(X), y)
        assert list(model.classes_) == sorted(set(y))
        assert model.n_features_in_ == 4
        assert type(model.converged_) is bool
        assert model.stop_reason_ in ("converged", "max_iter", "max_updates")
        assert (model.stop_reason_ == "converged") == model.converged_
        for name in ("n_updates_", "n_visits_", "n_epochs_"):
            assert type(getattr(model, name)) is int
        assert model.n_updates_ <= model.n_visits_ <= problems * 60 * (model.n_epochs_ + 1)  # the last may be cut
        assert len(model.certificates_) == problems
        assert model.predict(layout(X)).shape == (60,)
        assert model.decision_function(layout(X)).shape == ((60,) if problems == 1 else (60, 3))
        assert model.decision_function(layout(X)).dtype == np.float64
        if cls is VotedPerceptron:
            continue
        assert model.coef_.shape == (problems, 4)
        assert model.intercept_.shape == (problems,)
        assert model.coef_.dtype == model.intercept_.dtype == np.float64
        assert type(model.directional_margin_) is float
        assert type(model.geometric_margin_) is float
    assert not hasattr(model, "margin_")


@quiet
@online
def test_the_two_margins(cls):
    if cls is VotedPerceptron:
        return
    for options in ({}, {"intercept_scaling": 3.0}, {"fit_intercept": False}):
        model = cls(max_iter=200, **options).fit(FAR, TWO)
        w, b = model.coef_[0], model.intercept_[0]
        assert b == 0 or model.fit_intercept
        plane = Hyperplane(w, b)
        np.testing.assert_allclose(model.signed_distance(X), plane.signed_distance(X), rtol=1e-12)
        np.testing.assert_allclose(model.signed_distance(X), model.decision_function(X) / np.linalg.norm(w))
        assert model.geometric_margin_ == pytest.approx(plane.geometric_margin(FAR, TWO), rel=1e-9)
        if model.fit_intercept:
            assert model.directional_margin_ == pytest.approx(
                plane.directional_margin(FAR, TWO, model.intercept_scaling), rel=1e-9
            )
        else:
            assert model.directional_margin_ == pytest.approx(model.geometric_margin_)
        assert abs(model.directional_margin_) <= abs(model.geometric_margin_) * (1 + 1e-12)
        if model.certificate_.space.delta == 0:
            assert model.certificate_.lower == pytest.approx(model.directional_margin_, rel=1e-9)
            assert model.certificate_.lower <= model.directional_margin_


@quiet
@everyone
def test_predictions_follow_the_scores(cls):
    model = cls().fit(FAR, TWO)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "plus", "minus"))
    assert model.score(FAR, TWO) > 0.9  # classes_[1] is the positive one
    several = cls().fit(X, THREE)
    np.testing.assert_array_equal(several.predict(X), several.decision_function(X).argmax(axis=1))
    assert model.decision_function(X[:1]).shape == (1,)
    assert several.decision_function(X[:1]).shape == (1, 3)


@quiet
@everyone
def test_scores_in_single_and_double_precision(cls):
    for y in (TWO, THREE):
        model = cls().fit(X, y)
        single = X.astype(np.float32)
        exact = model.decision_function(single.astype(np.float64))
        small = 1e-13 * np.abs(exact).max()
        np.testing.assert_allclose(model.decision_function(single), exact, rtol=1e-12, atol=small)
        np.testing.assert_allclose(model.decision_function(sp.csr_matrix(single)), exact, rtol=1e-12, atol=small)
        if cls is not VotedPerceptron:
            np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T.squeeze() + model.intercept_)
            if y is THREE:
                lengths = np.linalg.norm(model.coef_, axis=1)
                with np.errstate(divide="ignore"):  # a bias alone, where that is the minimum of a criterion
                    distances = model.decision_function(X) / lengths
                np.testing.assert_allclose(model.signed_distance(X), distances)


@quiet
@pytest.mark.parametrize("eta", [0.01, 0.3, 0.99])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_directions_stay_unit_vectors(eta, layout):
    """The loop keeps |a|^2 up to date instead of summing it; rounding errors must not grow from update to update."""
    for model in (CRAMMA(beta=1.0, eta0=eta), MICRA(eta0=eta, decay=0.1), FixedMargin(beta=0.01, eta=eta)):
        model.set_params(max_iter=2000, until="separated").fit(layout(X), THREE)
        assert model.n_updates_ > 10_000
        lengths = np.linalg.norm(np.column_stack([model.coef_, model.intercept_]), axis=1)
        np.testing.assert_allclose(lengths, 1.0, rtol=1e-9)


@quiet
@online
def test_several_classes_are_judged_by_the_weakest(cls):
    model = cls(max_iter=30).fit(X, THREE)
    joint, each = model.certificate_, model.certificates_
    if cls is VotedPerceptron:
        assert joint.lower is None
    else:
        assert joint.lower == min(c.lower for c in each)
        assert model.directional_margin_ == pytest.approx(joint.lower, rel=1e-9)
    assert joint.upper == min(c.upper for c in each)
    for k, certificate in enumerate(each):
        assert certificate.verify(X, k == THREE)
        alone = cls(max_iter=30).fit(X, k == THREE)
        assert alone.certificate_.upper == certificate.upper
        assert alone.certificate_.lower == certificate.lower
    alone = [cls(max_iter=30).fit(X, k == THREE) for k in range(3)]
    assert model.n_updates_ == sum(m.n_updates_ for m in alone)
    assert model.n_visits_ == sum(m.n_visits_ for m in alone)
    assert model.n_epochs_ == max(m.n_epochs_ for m in alone)
    assert model.converged_ == all(m.converged_ for m in alone)


def test_separable_in_all_problems_or_not():
    three = np.array([[0.0, 5.0], [0.5, 6.0], [-5.0, -2.0], [-6.0, -2.5], [5.0, -2.0], [6.0, -2.5]])
    model = Perceptron().fit(three, [0, 0, 1, 1, 2, 2])
    assert model.certificate_.separable is True
    assert model.converged_
    line = np.arange(6.0)[:, None]  # the middle class is not separable from the rest
    with pytest.warns(ConvergenceWarning):
        model = Perceptron(max_iter=20, until="separated").fit(line, [0, 0, 1, 1, 2, 2])
    assert [c.separable for c in model.certificates_] == [True, None, True]
    assert model.certificate_.separable is None
    assert not model.converged_


@quiet
def test_the_voted_perceptron_has_no_hyperplane():
    for voters in (1, 5, 1000):
        model = VotedPerceptron(max_voters=voters, max_iter=20).fit(X, THREE)
        for name in ("coef_", "intercept_", "directional_margin_", "geometric_margin_", "signed_distance"):
            assert not hasattr(model, name)
        with pytest.raises(AttributeError, match="many hyperplanes"):
            _ = model.signed_distance
        for w, b, votes in zip(model.voters_, model.voter_intercepts_, model.votes_, strict=True):
            assert w.shape == (len(votes), 4)
            assert b.shape == (len(votes),)
            assert 1 <= len(votes) <= voters
            assert np.all(votes > 0)
        shares = model.decision_function(X)
        assert np.all(np.abs(shares) <= 1)
        by_hand = np.sign(X @ model.voters_[1].T + model.voter_intercepts_[1]) @ model.votes_[1] / model.votes_[1].sum()
        np.testing.assert_allclose(shares[:, 1], by_hand, atol=1e-12)
        assert model.certificate_.lower is None
        assert np.isfinite(model.certificate_.upper)
    assert VotedPerceptron().fit(FAR, TWO).certificate_.separable is True  # its last vector is the witness


@quiet
@online
def test_the_counter_of_the_papers(cls):
    model = cls(max_iter=7).fit(X, TWO)
    if cls in (ALMA, CRAMMA, MICRA):
        assert model.t_ == model.n_updates_ + 1
        several = cls(max_iter=7).fit(X, THREE)
        assert several.t_ == 1 + max(int(r.state.counts[2]) for r in several._records_)
    else:
        assert not hasattr(model, "t_")


@online
def test_how_a_fit_ends(cls, rng):
    noise = rng.integers(0, 2, 60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        by_epochs = cls(max_iter=3, until="separated").fit(X, noise)
        by_updates = cls(max_updates=4, until="separated").fit(X, noise)
    assert by_updates.stop_reason_ == "max_updates"
    assert by_updates.n_updates_ == 4
    assert by_updates.converged_ is False
    if cls is RecursiveLeastSquares:  # complete after the epochs it was given
        assert by_epochs.stop_reason_ == "converged"
        assert len(caught) == 1
    elif not by_epochs.converged_:
        assert by_epochs.stop_reason_ == "max_iter"
        assert (by_epochs.n_epochs_, by_epochs.n_visits_) == (3, 180)
        assert len(caught) == 2
    for warning in caught:
        assert warning.category is ConvergenceWarning
        assert warning.filename == __file__  # it points to the user's line
        text = str(warning.message)
        assert text.startswith(f"{cls.__name__} stopped before it converged (max_")
        for help_ in ('until="accurate"', "MaxMargin", "separability", "raise max_", "cale your features"):
            assert help_ in text


def test_what_converged_means():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Perceptron().fit(FAR, TWO)
        assert model.converged_
        assert model.n_visits_ == 60 * model.n_epochs_  # the last epoch was complete
        assert model.certificate_.separable
        again = Perceptron(max_iter=model.n_epochs_).fit(FAR, TWO)
        assert again.converged_
    with pytest.warns(ConvergenceWarning):
        short = Perceptron(max_iter=model.n_epochs_ - 1, until="separated").fit(FAR, TWO)
    assert not short.converged_
    assert DynamicMargin(epsilon=0.2, max_iter=10_000, until="separated").fit(FAR, TWO).certificate_.ratio >= 0.8


def test_repr_shows_what_differs():
    assert repr(Perceptron()) == "Perceptron()"
    assert repr(Perceptron(0.5, intercept_scaling=2.0)) == "Perceptron(intercept_scaling=2.0, margin=0.5)"
    assert repr(Pocket("run")) == "Pocket(variant='run')"


@everyone
def test_docstrings_are_complete(cls):
    text = inspect.getdoc(cls)
    named = {name for line in text.splitlines() if " : " in line for name in line.split(" : ")[0].split(", ")}
    assert set(cls().get_params()) <= named
    for section in ("Parameters\n", "Attributes\n", "Examples\n"):
        assert section in text
    for mark in ("{shared}", "{delta}", "{attributes}"):
        assert mark not in text
    for name in ("certificate_", "converged_"):
        assert name in text
    for method in ("fit", "predict", "decision_function"):
        assert inspect.getdoc(getattr(cls, method))
    if issubclass(cls, OnlineClassifier):
        assert cls().get_params().keys() >= COMMON
        assert "ample weight" in text or cls.__name__ == "PerceptronLike"


@everyone
def test_parameters(cls):
    model = cls()
    signature = inspect.signature(cls)
    assert set(signature.parameters) == set(model.get_params())
    for name, parameter in signature.parameters.items():
        assert parameter.default == model.get_params()[name] or parameter.default is model.get_params()[name]
        if name in COMMON:
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    changed = clone(model).set_params(intercept_scaling=2.5)
    assert changed.intercept_scaling == 2.5
    assert model.intercept_scaling == 1.0
    assert changed.get_params() == {**model.get_params(), "intercept_scaling": 2.5}
    with pytest.raises(ValueError, match="no_such"):
        model.set_params(no_such=1)
    with pytest.raises(TypeError):
        cls(no_such=1)


@everyone
def test_before_fit(cls):
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(cls(), method)(X)


def test_the_names_of_the_package():
    names = dir(separatrix)
    assert set(separatrix.__all__) <= set(names)
    assert names == sorted(names)
    for name in separatrix.__all__:
        assert getattr(separatrix, name) is not None
    assert separatrix.__version__
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = separatrix.no_such_name
    assert {cls.__name__ for cls in ESTIMATORS} >= {
        "ALMA", "BalancedWinnow", "CRAMMA", "DynamicMargin", "FixedMargin", "FuzzyPerceptron", "GreedyPerceptron",
        "LMS", "MICRA", "MarginFuzzyPerceptron", "MarginPerceptron", "PassiveAggressive", "Perceptron",
        "PerceptronLike", "Pocket", "ROMMA", "RecursiveLeastSquares", "Relaxation", "VotedPerceptron",
    }  # fmt: skip


def test_errors_are_a_family_and_travel():
    certificate = Perceptron().fit(FAR, TWO).certificate_
    for error in (DataError("row 3"), NotSeparableError("no", certificate), UnavailableError("not here")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert isinstance(error, SeparatrixError)
        assert isinstance(error, ValueError)
    assert pickle.loads(pickle.dumps(NotSeparableError("no", certificate))).certificate.upper == certificate.upper
    with pytest.raises(SeparatrixError):
        LMS(eta="1/k").fit(1e6 * X, TWO)  # the book's rate diverges, and says so
