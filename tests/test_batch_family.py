"""What all procedures over all patterns at once share: attributes, weights, callbacks, limits of arithmetic."""

import contextlib
import warnings

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from cases import BATCH, LAYOUTS, batch, each_layout, iterative
from fits import vectors
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError
from strategies import data, many

from separatrix import (
    BatchPerceptron,
    BatchRelaxation,
    DataError,
    GradientDescent,
    HoKashyap,
    Hyperplane,
    LeastSquares,
    LinearProgram,
    NearestPoint,
    cancellation,
    separability,
)
from separatrix.callbacks import MarginTrace
from separatrix.fit.batch import IterativeClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def short(cls, *given, **options):
    """An estimator that ends soon."""
    if issubclass(cls, IterativeClassifier):
        options["max_iter"] = 40
    return cls(*given, **options)


VARIANTS = [
    *(short(cls) for cls in BATCH),
    short(BatchPerceptron, 2.0, "1/k"),
    short(GradientDescent, "perceptron"),
    short(GradientDescent, "quadratic", method="optimal-step"),
    short(GradientDescent, "squared-error", method="newton"),
    short(HoKashyap, "descent"),
    LeastSquares("fisher"),
    LinearProgram("minimax"),
]
each_variant = pytest.mark.parametrize("model", VARIANTS, ids=str)

rng = np.random.default_rng(23)
X = np.round(rng.normal(size=(60, 4)) * 8) / 8
SIDE = np.array([1.0, -2.0, 0.5, 1.0])
TWO = np.where(X @ SIDE + 0.3 > 0, "plus", "minus")
FAR = X + 0.25 * np.outer(np.where(TWO == "plus", 1, -1), SIDE)
THREE = np.arange(60) % 3
NOISE = rng.integers(0, 2, 60)
ALMOST = (X @ SIDE + 0.4 * rng.normal(size=60) > 0).astype(int)  # not separable, and nobody sees it soon


@each_layout
@each_variant
def test_attributes(model, layout):
    data = LAYOUTS[layout](X)
    for y, problems in ((TWO, 1), (THREE, 3)):
        model.fit(data, y)
        assert model.coef_.shape == (problems, 4)
        assert model.coef_.dtype == model.intercept_.dtype == np.float64
        assert type(model.converged_) is bool
        assert (model.stop_reason_ == "converged") == model.converged_
        for name in ("n_updates_", "n_visits_", "n_epochs_"):
            assert type(getattr(model, name)) is int
        assert model.n_visits_ <= 60 * problems * max(model.n_epochs_, 1)
        assert len(model.certificates_) == problems
        values = [model.criterion_values_] if problems == 1 else model.criterion_values_
        assert len(values) == problems
        assert all(np.all(np.isfinite(v)) and len(v) for v in values)
        for k, certificate in enumerate(model.certificates_):
            assert certificate.verify(data, y if problems == 1 else y == k)
            assert np.isfinite(certificate.upper)
    assert model.certificate_.lower == min(c.lower for c in model.certificates_)
    assert model.certificate_.upper == min(c.upper for c in model.certificates_)


@each_variant
def test_the_two_margins(model):
    for options in ({}, {"intercept_scaling": 3.0}, {"fit_intercept": False}):
        model.set_params(fit_intercept=True, intercept_scaling=1.0).set_params(**options).fit(FAR, TWO)
        plane = Hyperplane(model.coef_[0], model.intercept_[0])
        assert model.geometric_margin_ == pytest.approx(plane.geometric_margin(FAR, TWO), rel=1e-9)
        rho = model.intercept_scaling if model.fit_intercept else 1.0
        assert model.directional_margin_ == pytest.approx(plane.directional_margin(FAR, TWO, rho), rel=1e-9)
        assert model.certificate_.lower == pytest.approx(model.directional_margin_, rel=1e-9)
    model.set_params(fit_intercept=True, intercept_scaling=1.0)


@each_variant
@each_layout
def test_weight_zero_is_the_row_removed(model, layout, rng):
    out = rng.random(60) < 0.3
    for y in (TWO, THREE):
        data = LAYOUTS[layout](X)
        model.fit(data, y, sample_weight=np.where(out, 0.0, 1.0))
        weighted, kept = vectors(model), model.certificates_[0].alpha_index
        assert not np.any(out[kept])
        model.fit(data[~out], y[~out])
        np.testing.assert_array_equal(weighted, vectors(model))
        np.testing.assert_array_equal(np.flatnonzero(~out)[model.certificates_[0].alpha_index], kept)


@each_variant
def test_a_weight_is_so_many_copies(model, rng):
    c = rng.integers(1, 4, 60)
    model.fit(X, NOISE, sample_weight=c)
    weighted = vectors(model)
    model.fit(np.repeat(X, c, axis=0), np.repeat(NOISE, c))
    np.testing.assert_allclose(weighted, vectors(model), rtol=1e-6, atol=1e-6 * np.abs(weighted).max())


def test_a_minimax_that_nothing_meets():
    """Where nothing separates, a = 0 is the answer, without the rounding errors of the simplex method."""
    assert not np.any(vectors(LinearProgram("minimax").fit(X, NOISE)))


@each_variant
@given(data(), st.booleans())
@many
def test_bounds_bracket_the_best_margin(model, problem, intercept):
    """On any small data: what is claimed holds, the best margin lies between the bounds, answers agree."""
    points, y = problem
    assume(np.all((points == 0) | (np.abs(points) > 1e-100)))  # the oracle squares them
    try:
        model.set_params(fit_intercept=intercept).fit(points, y)
    except DataError:
        reject()
    finally:
        model.set_params(fit_intercept=True)
    certificate = model.certificate_
    best = oracle.max_margin(oracle.patterns(points, y, 1.0 if intercept else 0.0))[0]
    assert certificate.verify(points, y)
    assert certificate.lower <= best * (1 + 1e-9) + 1e-6 * certificate.radius  # below that the oracle finds nothing
    assert best * (1 - 1e-9) <= certificate.upper
    answer = separability(points, y, fit_intercept=intercept).separable
    assert certificate.separable in (None, answer) or answer is None


class Watcher:
    """Counts what it is reported; may stop or break the fit at a given piece."""

    def __init__(self, stop_at=None, error=None):
        self.stop_at, self.error, self.pieces = stop_at, error, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if not hasattr(context, "measures"):
            return False
        self.pieces.append((dict(context.measures), fitted_estimator.predict(X)))
        if self.error and len(self.pieces) == self.stop_at:
            raise self.error
        return len(self.pieces) == self.stop_at


@batch
@pytest.mark.parametrize("classes", [2, 3])
def test_callbacks(cls, classes):
    y = ALMOST if classes == 2 else THREE
    watcher, trace = Watcher(), MarginTrace()
    model = short(cls).set_callbacks(watcher, trace).fit(X, y)
    plain = short(cls).fit(X, y)
    np.testing.assert_array_equal(vectors(model), vectors(plain))
    np.testing.assert_array_equal(watcher.pieces[-1][1], model.predict(X))
    values = model.criterion_values_ if classes == 3 else [model.criterion_values_]
    for k, of_problem in enumerate(
        values
    ):  # each epoch is reported once, with the criterion; a slow one is asked in between
        shown = [m["criterion"] for m, _ in watcher.pieces if m["problem"] == k and m["criterion"] is not None]
        np.testing.assert_array_equal(shown, of_problem)
    rows = [row for row in trace.rows if row["lower"] is not None]
    assert rows
    assert all(row["lower"] <= row["upper"] for row in rows)


@iterative
@pytest.mark.parametrize("classes", [2, 3])
def test_a_callback_stops_the_fit(cls, classes):
    y = ALMOST if classes == 2 else ALMOST + (X[:, 0] > 1)
    watcher = Watcher(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = cls().set_callbacks(watcher).fit(X, y)
    assert len(watcher.pieces) == 3
    assert model.converged_ is False
    assert model.stop_reason_ == "callback"
    assert model.n_epochs_ == 3
    for k, certificate in enumerate(model.certificates_):
        assert certificate.verify(X, y if classes == 2 else y == k)


@iterative
def test_control_c_keeps_what_there_is(cls):
    model = cls().set_callbacks(Watcher(3, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, ALMOST)
    assert model.stop_reason_ == "interrupted"
    assert model.converged_ is False
    np.testing.assert_array_equal(vectors(model), vectors(cls(max_iter=3).fit(X, ALMOST)))
    assert model.certificate_.verify(X, ALMOST)


@iterative
@pytest.mark.parametrize("error", [None, KeyboardInterrupt()], ids=["stop", "ctrl-c"])
def test_pairs_that_end_early(cls, error):
    y = ALMOST + (X[:, 0] > 1)
    watcher = Watcher(3, error)
    model = cls(multi_class="ovo", n_jobs=2).set_callbacks(watcher)
    with contextlib.nullcontext() if error is None else pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(watcher.pieces) == 3
    assert all(set(labels) <= set(y) for _, labels in watcher.pieces)
    if cls not in (HoKashyap, NearestPoint):  # they begin elsewhere; callbacks see 0 for pairs that have not begun
        np.testing.assert_array_equal(watcher.pieces[-1][1], model.predict(X))
    assert model.stop_reason_ == ("callback" if error is None else "interrupted")
    assert len(model.certificates_) == 3
    assert all(certificate.verify(X, y) for certificate in model.certificates_)


def test_bars_and_monitors(capsys):
    for cls in BATCH:
        monitor = ScoringMonitor(scoring="accuracy")
        model = short(cls).set_callbacks(ProgressBar(), monitor).fit(X, THREE)
        scores = [row["accuracy"] for row in monitor.get_logs(select="most_recent").data if "accuracy" in row]
        scores = [score for score in scores if score is not None and not np.isnan(score)]
        assert scores[-1] == pytest.approx(model.score(X, THREE))
        assert cls.__name__ in capsys.readouterr().out


@iterative
def test_how_a_fit_ends(cls):
    with pytest.warns(ConvergenceWarning, match=f"{cls.__name__} stopped before .*max_iter.* separability") as caught:
        model = cls(max_iter=1).fit(X, TWO)
    assert caught[0].filename == __file__  # it points to the user's line
    assert (model.n_epochs_, model.n_visits_) == (1, 60)


@batch
def test_rows_of_zeros(cls):
    nothing, y = np.zeros((6, 3)), [0, 1, 0, 1, 0, 1]
    for zeros in (nothing, sp.csr_matrix(nothing)):
        with pytest.raises(ValueError, match="zero"):
            cls(fit_intercept=False).fit(zeros, y)
        model = cls().fit(zeros, y)
        assert np.all(model.coef_ == 0)
        assert model.certificate_.separable is not True
        assert model.certificate_.verify(zeros, y)
    some = FAR.copy()
    some[3] = 0
    model = cls(fit_intercept=False).fit(some, TWO)
    assert model.certificate_.separable is not True
    assert model.certificate_.verify(some, TWO)


@batch
def test_too_large_and_too_small(cls):
    huge = X.copy()
    huge[7] = 1e300
    with pytest.raises(ValueError, match="row 7 overflows"):
        cls().fit(huge, TWO)
    with pytest.raises(ValueError, match="underflows"):
        cls(fit_intercept=False).fit(X * 1e-300, TWO)
    for scale in (1e-12, 1e-6, 1e6, 1e12):
        model = cls(fit_intercept=False).fit(FAR * scale, TWO)
        assert np.all(np.isfinite(model.coef_))
        assert model.certificate_.verify(FAR * scale, TWO)


@batch
@pytest.mark.parametrize("size", [1e-100, 1e-10, 1e10, 1e100])
def test_weights_of_any_size(cls, size):
    weight = np.full(60, size)
    model = cls().fit(FAR, TWO, sample_weight=weight)
    assert np.all(np.isfinite(vectors(model)))
    assert model.certificate_.verify(FAR, TWO, sample_weight=weight)
    if cls is not BatchPerceptron:  # whose rate knows no scale
        plain = cls().fit(FAR, TWO)
        np.testing.assert_allclose(vectors(model), vectors(plain), rtol=1e-6, atol=1e-9)


WRONG = {
    "random_state": ["a", -1],
    "class_weight": ["heavy", 3],
    "checkpoint": [3, ["a"]],
    "fit_intercept": ["yes", None, 2],
    "intercept_scaling": [0, -1, np.nan, np.inf, "1", None],
    "max_iter": [0, 1.5, None],
    "max_time": [0, -1, np.nan, "1"],
    "multi_class": ["joint", None],
    "n_jobs": [1.5, "2"],
    "eta": [0, -1, np.nan, np.inf, "2/k", None],
    "margin": [-1.0, np.nan, np.inf, "1", None],
    "theta": [-1.0, np.nan, np.inf, "1", None],
    "b_min": [0.0, -1.0, np.nan, np.inf, "1"],
    "tol": [-1e-9, np.nan, np.inf, "1"],
    "margin_tol": [-1e-9, np.nan, np.inf, "1", None],
    "step_tol": [-1e-9, np.nan, np.inf, "1", None],
    "bound_tol": [-1e-9, np.nan, np.inf, "1", None],
    "criterion": ["J_p", None, 3],
    "C": [0, -1, np.nan, np.inf, "1", None],
    "method": ["steepest", None],
    "until": ["converged", None],
    "variant": ["III", None],
    "target": ["two", None, 1.0],
    "loss": ["0/1", 1.0],
    "R": ["I", 1.0],
}


@batch
def test_every_parameter_is_checked(cls):
    for name in cls().get_params():
        for value in WRONG[name]:
            with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {cls.__name__}"):
                cls(**{name: value}).fit(X, TWO)


def test_rates_that_are_none():
    for cls in (BatchPerceptron, BatchRelaxation, GradientDescent, HoKashyap):
        with pytest.raises(ValueError, match="finite and not negative"):
            cls(eta=lambda k: -1.0).fit(X, NOISE)


@each_variant
@each_layout
def test_pairs_of_classes(model, layout):
    """Each is what a fit to its two classes alone gives; threads change nothing."""
    data, weight = LAYOUTS[layout](X), np.where(np.arange(60) % 7 == 0, 0.0, 1.0)
    whole = clone(model).set_params(multi_class="ovo", n_jobs=2).fit(data, THREE, weight)
    assert whole.multi_class_ == "ovo"
    assert len(whole.criterion_values_) == 3
    alone = []
    for p, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.isin(THREE, (i, j))
        alone.append(clone(model).fit(data[rows], THREE[rows], weight[rows]))
        np.testing.assert_array_equal(whole.coef_[p], alone[-1].coef_[0])
        np.testing.assert_array_equal(whole.criterion_values_[p], alone[-1].criterion_values_)
        assert whole.certificates_[p].class_pair == (i, j)
        assert whole.certificates_[p].verify(data, THREE)
    assert whole.n_updates_ == sum(m.n_updates_ for m in alone)
    assert whole.converged_ == all(m.converged_ for m in alone)
    votes = np.array([m.predict(data) for m in alone]).T
    clear = np.flatnonzero([len(set(v)) < 3 for v in votes.tolist()])
    np.testing.assert_array_equal(whole.predict(data)[clear], np.median(votes, axis=1)[clear])
    several = clone(model).set_params(n_jobs=3).fit(data, THREE)
    np.testing.assert_array_equal(vectors(several), vectors(clone(model).fit(data, THREE)))


def test_pairs_with_a_number_for_each_row(rng):
    target = rng.random(60) + 0.5
    rows = THREE != 1
    for model in (LeastSquares(target), HoKashyap(margin=target, max_iter=5), LinearProgram(margin=target)):
        parameter = "target" if isinstance(model, LeastSquares) else "margin"
        whole = clone(model).set_params(multi_class="ovo").fit(X, THREE)
        alone = clone(model).set_params(**{parameter: target[rows]}).fit(X[rows], THREE[rows])
        np.testing.assert_array_equal(whole.coef_[1], alone.coef_[0])


def test_what_pairs_do_not_have():
    with pytest.raises(ValueError, match="loss matrix weighs all classes"):
        LeastSquares(loss=1.0 - np.eye(3), multi_class="ovo").fit(X, THREE)
    class_pairs = LeastSquares("indicator", multi_class="ovo").fit(X, THREE)
    with pytest.raises(AttributeError) as caught:
        class_pairs.predict_proba(X)
    assert "not available with multi_class" in str(caught.value.__cause__)
    assert class_pairs.fisher_direction_.shape == (3, 4)
    assert LeastSquares(multi_class="ovo").fit(X, TWO).predict_proba(X).shape == (60, 2)


@pytest.mark.parametrize("mode", ["ovr", "ovo"])
def test_the_attributes_of_problems_together(mode):
    how = {"multi_class": mode, "n_jobs": 2}
    assert GradientDescent("squared-error", method="newton", **how).fit(X, THREE).n_singular_ == 0
    assert LinearProgram(**how).fit(X, THREE).n_iter_ > 0
    iteration = HoKashyap(**how).fit(X, THREE)
    assert len(iteration.outcomes_) == len(iteration.margin_vector_) == 3
    assert iteration.outcome_ == "not separable"


@pytest.mark.parametrize("run", [HoKashyap().fit, separability])
def test_a_stop_request_is_for_its_own_fit(run):
    """Not for what a callback of this fit calls, which gives it back."""
    with cancellation.stoppable(lambda: True):
        request = cancellation._call.get().request
        request.last = -np.inf
        run(X, TWO)
        assert cancellation._call.get().request is request
        with pytest.raises(cancellation.StoppedError):
            cancellation.check_cancelled()


def test_a_stop_request_ends_with_its_fit():
    """Also if Ctrl-C came before a fit could take it back."""
    with cancellation.limited():
        cancellation._call.set(cancellation._Call(request=cancellation._Request(lambda: True)))
    assert cancellation._call.get().request is None
