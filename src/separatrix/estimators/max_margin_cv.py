"""The maximum margin whose C is chosen by cross-validation, with calibrated probabilities."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY
from functools import partial
from inspect import signature
from typing import Annotated, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from separatrix.cancellation import limited
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError, NotSeparableError, UnavailableError
from separatrix.estimators.max_margin import VALUES_TO_PRECISION, MaxMargin, solutions_along
from separatrix.fit.calibration import (
    ROWS_FOR_ISOTONIC,
    Calibration,
    IsotonicCalibration,
    calibrate,
    calibrate_isotonic,
    calibrate_slope,
)
from separatrix.fit.declare import COUNT, NOT_NEGATIVE, POSITIVE, estimator, one_of
from separatrix.fit.prediction import blockwise, scores_of
from separatrix.fit.result import joined
from separatrix.fit.separator import LinearSeparator
from separatrix.fit.sklearn_api import fit_method
from separatrix.fit.training_data import Data, weighted_by_class
from separatrix.fit.watch import Watch
from separatrix.passes.binary_problems import pairs, votes
from separatrix.solvers.choice import LARGE_BLAS
from separatrix.solvers.thread_limit import one_blas_thread

SMALLEST, LARGEST = -3.0, 4.0  # powers of ten: the ends of the path, in units of 1/mean |x|^2
COMPARING_GAP = 1e-3  # gap that is good enough to compare values of C
FOLDS = 5
STRIDE = 3  # every third C tells on the first fold whether pairs are worth the other folds
FOR_FOLDS = 0.8  # share of max_time after which no more folds are solved: the model needs the rest

AnyCalibration = Calibration | IsotonicCalibration


@estimator
class MaxMarginCV(LinearSeparator):
    """Maximum margin classifier with C chosen by cross-validation, and calibrated probabilities.

    It fits a model for each C and fold: 30 to 60 times the time of one LinearSVC of scikit-learn on small tables.

    Each fold follows one path of growing C, on which every solution starts from the one before it. The model is
    `MaxMargin` at the chosen C, fitted to all rows, with its certificate.

    Parameters
    ----------
    Cs : int or array-like of shape (n_values,), default=8
        The values of C; inf, the hard margin, may be among them. A number of values: so many from 1e-3 to 1e4 on a
        logarithmic scale, divided by the mean squared length of the rows, so that the data's scale does not matter.
    cv : int, splitter, iterable or None, default=None
        As in `sklearn.linear_model.LogisticRegressionCV`: None is 5 stratified folds. A number is lowered to the size
        of the largest class. Rows of weight 0 are in no fold.
    scoring : str, callable or None, default=None
        What the values of C are compared by, larger is better; None is the accuracy, weighted by ``class_weight``. If
        a score needs probabilities, those of a fold are calibrated on the other folds. ``sample_weight`` weighs the
        rows of all scores.
    one_standard_error : bool, default=False
        True: take the smallest C whose mean score is within one standard error of the best one.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        As in `MaxMargin`, like ``fit_intercept`` and ``intercept_scaling``.
    fit_intercept : True, False or "unpenalized", default=True
        Whether there is an intercept, and whether it is part of the penalty.
    tol : float, default=1e-4
        The certified relative gap of the model. The models of the folds are solved to 1e-3.
    max_time : float or None, default=None
        Seconds for the whole fit, at most. Folds that are not solved in time do not count.
    class_weight : dict, "balanced" or None, default=None
        Factors on the penalty by class; they multiply ``sample_weight`` in the fits, and do not count in named scores
        and in probabilities.
    multi_class : {"auto", "ovr", "ovo", "joint"}, default="auto"
        More than two classes: one-vs-rest, one-vs-one, or joint. "auto" begins with one-vs-rest, and goes on with
        one-vs-one near the best of a third of the values if that is better on the first fold. ``multi_class_`` is the
        better one.
    random_state : int, RandomState or None, default=None
        Accepted for tools that set it, and ignored: nothing here is random.

    Attributes
    ----------
    C_ : float
        The chosen C; ``Cs_`` are the values that were compared, in growing order.
    scores_ : ndarray of shape (n_folds, n_values)
        The score of each fold for each C; nan if there is none, as for a hard margin of rows that are not separable.
    calibration_method_ : {"isotonic", "sigmoid"}
        How out-of-fold scores became probabilities: isotonic regression from 1,000 rows on, otherwise Platt's logistic
        regression. ``calibration_`` holds the numbers.
    out_of_fold_decision_ : ndarray of shape (n,) or (n, n_classes)
        The scores of each row by the model that was not fitted to it, for the chosen C; nan for rows in no fold.
    fold_ : ndarray of shape (n,)
        The fold in which each row was left out, -1 if in none. Model files hold neither.
    classes_, coef_, intercept_, certificate_, support_, dual_gap_, converged_, ... :
        The attributes of `MaxMargin`, for the chosen C and all rows.

    See Also
    --------
    MaxMargin : One value of C.
    max_margin_path : Many values of C, each with a certificate.

    References
    ----------
    Platt, Probabilistic outputs for support vector machines (1999). Zadrozny & Elkan, Transforming classifier scores
    into accurate multiclass probability estimates (2002).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from separatrix import MaxMarginCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MaxMarginCV().fit(scale(X), y)
    >>> model.C_, round(float(model.scores_.mean(axis=0).max()), 3)
    (0.032, 0.977)
    >>> model.predict_proba(scale(X)[:1]).round(2), model.calibration_method_
    (array([[1., 0.]]), 'sigmoid')
    """

    Cs: Annotated[Any, COUNT, "array-like"] = 8
    cv: Annotated[Any, "cv_object"] = None
    scoring: Annotated[str | Callable | None, one_of(*get_scorer_names())] = None
    _: KW_ONLY
    one_standard_error: bool = False
    loss: Annotated[str, one_of("squared_hinge", "hinge")] = "squared_hinge"
    fit_intercept: Annotated[bool | str, one_of("unpenalized")] = True
    intercept_scaling: Annotated[float, POSITIVE, "The constant that every row is augmented with."] = 1.0
    tol: Annotated[float, NOT_NEGATIVE] = 1e-4
    max_time: Annotated[float | None, POSITIVE] = None
    class_weight: Annotated[dict | str | None, one_of("balanced")] = None
    multi_class: Annotated[str, one_of("auto", "ovr", "ovo", "joint")] = "auto"
    n_jobs: Annotated[int | None, "Threads over the folds, and over the classes of the model."] = None
    random_state: Annotated[Any, "random_state"] = None

    _not_saved = ("support_vectors_", "out_of_fold_decision_", "fold_")

    @fit_method
    def fit(self, X, y=None, sample_weight=None):
        """Choose C by cross-validation, and fit the maximum margin.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            The rows, in memory.
        y : array-like of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            Factors on the penalty, and weights in scores and probabilities; rows of weight 0 are left out.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _model(self, C: float, **params: Any) -> MaxMargin:
        names = ("loss", "fit_intercept", "intercept_scaling", "tol", "n_jobs")
        way = getattr(self, "multi_class_", "ovr")
        model = MaxMargin(C, multi_class=way, **{**{name: getattr(self, name) for name in names}, **params})
        model.n_features_in_ = self.n_features_in_
        return model

    def _space(self) -> Any:
        return self._model(getattr(self, "C_", 1.0))._space()

    def _doubt(self, n: int) -> tuple[str, str]:
        return self.stop_reason_, "Raise max_time, or scale your features."

    def _mode(self, classes: np.ndarray) -> str:
        return super()._mode(classes) if self.multi_class != "auto" else "ovr"

    def _fit_checked(self, data: Data, watch: Watch, start: dict[str, Any]) -> None:
        self.classes_ = data.classes
        search, self.scores_, late = self._search(data, watch)
        self.multi_class_, self.Cs_ = search.way, search.Cs
        self.C_, place = search.chosen(self.scores_)
        model = self._model(self.C_)
        with nullcontext() if data.width >= LARGE_BLAS else one_blas_thread:
            model._fit_checked(search.weighted, watch, {})
        self._set({name: value for name, value in vars(model).items() if name.endswith("_") and name[0] != "_"})
        self._set_probabilities(search, place)
        if late:
            self.converged_, self.stop_reason_ = False, "max_time"

    def _search(self, data: Data, watch: Watch) -> tuple["_Search", np.ndarray, bool]:
        """The solved folds, of the better way to distinguishes classes; their scores; and whether time ended
        them."""
        share = None if self.max_time is None else FOR_FOLDS * self.max_time
        self.multi_class_ = self._mode(data.classes)  # callbacks may predict before the end
        several = self.multi_class == "auto" and len(data.classes) > 2
        with (
            nullcontext() if data.width >= LARGE_BLAS else one_blas_thread,
            nullcontext() if share is None else limited(share),
        ):
            search = _Search(self, data, self.multi_class_, 2 if several else 1)
            search.run(watch)
            scores = search.scores()
            if several and not watch.stop.reason:
                self.multi_class_ = "ovo"
                first = _Search(self, data, "ovo", 2, search, search.Cs[::STRIDE])
                first.run(watch, [0])
                on_first = first.scores([0])
                if not watch.stop.reason and _best(on_first) > _best(scores[:1]):
                    near = STRIDE * int(np.nanargmax(on_first[0]))
                    near_values = search.Cs[max(near - 1, 0) : near + 2]
                    other = _Search(self, data, "ovo", 2, search, near_values)
                    other.run(watch)
                    by_pairs = other.scores()
                    if not watch.stop.reason and _best(by_pairs) > _best(scores):
                        search, scores = other, by_pairs
        late = watch.stop.reason == "max_time"
        if late:
            watch.stop.reason = ""
        return search, scores, late

    def _set_probabilities(self, search: "_Search", place: int) -> None:
        data = search.data
        self.fold_ = np.full(data.size, -1)
        decision = np.full((data.size, 1 if len(data.classes) == 2 else len(data.classes)), np.nan)
        for k in search.solved(place):
            rows = data.kept[search.folds[k][1]]
            self.fold_[rows], decision[rows] = k, search.decision(k, place)
        self.out_of_fold_decision_ = decision[:, 0] if decision.shape[1] == 1 else decision
        self.calibration_, self.calibration_method_ = search.calibration(place)

    @blockwise
    def predict_proba(self, X):
        """Calibrated probabilities of the classes.

        They are learned from out-of-fold scores. `predict` follows the sign of the score, or the largest one, and may
        differ from the most probable class where these are close.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            A column for each of ``classes_``.
        """
        check_is_fitted(self)
        if self.calibration_ is None:
            raise UnavailableError("The fit was stopped before a fold was solved: there are no probabilities.")
        return self.calibration_.probabilities(self.decision_function(X))

    @blockwise
    def predict_log_proba(self, X):
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            A column for each of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class _Candidate(MaxMargin):
    """A maximum margin whose score is compared; solved to machine precision if that costs nothing for all of them."""

    _candidates = 1

    def _costs_nothing(self, patterns: Any) -> bool:
        few = self._candidates * patterns.n * (patterns.d + 1) <= VALUES_TO_PRECISION
        return few and super()._costs_nothing(patterns)


class _Planes(NamedTuple):
    """The hyperplanes of a fold for one C, and the classes that its rows have."""

    coef: np.ndarray
    intercept: np.ndarray
    present: np.ndarray


class _FoldAnswers(ClassifierMixin, BaseEstimator):
    """What a scorer sees of a fold: the answers for its rows, whatever X it is given."""

    def __init__(self, classes: np.ndarray, decision: np.ndarray, calibration: Any):
        self.classes_, self.decision, self.calibration = classes, decision, calibration

    def decision_function(self, X: Any) -> np.ndarray:
        return self.decision[:, 0] if self.decision.shape[1] == 1 else self.decision

    def predict(self, X: Any) -> np.ndarray:
        codes = (self.decision[:, 0] > 0) if self.decision.shape[1] == 1 else self.decision.argmax(axis=1)
        return self.classes_[codes.astype(np.int64)]

    def predict_proba(self, X: Any) -> np.ndarray:
        found: np.ndarray = self.calibration().probabilities(self.decision)
        return found


class _Search:
    """The folds of one fit, the hyperplanes of each fold and C, and what follows from them."""

    def __init__(
        self,
        owner: MaxMarginCV,
        data: Data,
        way: str,
        ways: int = 1,
        like: "_Search | None" = None,
        Cs: np.ndarray | None = None,
    ):
        self.owner, self.data, self.way, self.ways = owner, data, way, ways
        self.planes: dict[tuple[int, int], _Planes] = {}
        self.done = 0 if like is None else len(like.planes)
        self.weighted: Data = data
        self.given = None if data.given_weight is None else data.weight
        self.folds: list[tuple[np.ndarray, np.ndarray]] = self._folds() if like is None else like.folds
        self.tests: list[Any] = like.tests if like is not None else [self._rows(test) for _, test in self.folds]
        if like is not None:
            self.weighted = like.weighted
        elif owner.class_weight is not None:
            self.weighted = weighted_by_class(data, owner.class_weight)
        self.Cs: np.ndarray = self._values() if like is None else like.Cs if Cs is None else Cs

    def _rows(self, index: np.ndarray) -> Any:
        return MemoryRows(self.data.rows).take(index).whole

    def _values(self) -> np.ndarray:
        owner, data = self.owner, self.data
        least = float(np.finfo(np.float64).tiny)  # of data that no C suits, as the fits will say
        if not isinstance(owner.Cs, (int, np.integer)):
            values = np.unique(np.asarray(owner.Cs, dtype=np.float64))
            if values.ndim != 1 or not len(values) or not np.all(values > 0):
                raise ValueError(f"Cs={owner.Cs!r} must be a number of values, or values of C above 0.")
            return values
        size = float(np.average(data.squares, weights=self.weighted.weight)) + 1.0
        powers = np.linspace(SMALLEST, LARGEST, int(owner.Cs)) if owner.Cs > 1 else np.zeros(1)
        return np.unique([max(float(f"{10.0**p / size:.1e}"), least) for p in powers])

    def _folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows for training and for the test of each fold, as numbers among those that take part."""
        cv, data = self.owner.cv, self.data
        cv, place = FOLDS if cv is None else cv, np.full(data.size, -1)
        place[data.kept] = np.arange(len(data.kept))
        if isinstance(cv, (int, np.integer)):
            largest = int(np.bincount(data.codes).max())
            if largest < 2:
                raise DataError(f"Cross-validation needs a class with 2 rows; these {data.size} rows have none.")
            cv = StratifiedKFold(max(min(int(cv), largest), 2))
        if hasattr(cv, "split"):
            with warnings.catch_warnings():  # a class with fewer rows than folds is in some of them
                warnings.simplefilter("ignore", UserWarning)
                folds = list(cv.split(np.zeros(len(data.codes)), data.codes))
        else:
            folds = [
                tuple(p[p >= 0] for p in (place[np.asarray(train)], place[np.asarray(test)])) for train, test in cv
            ]
        found = [(train, test) for train, test in folds if len(test)]
        for k, (train, _) in enumerate(found):
            if len(np.unique(data.codes[train])) < 2:
                raise DataError(f"Fold {k} of cv has training rows of 1 class; it needs rows of at least 2.")
        if not found:
            raise DataError("cv has no fold with rows to test.")
        return found

    def run(self, watch: Watch, folds: Sequence[int] | None = None) -> None:
        """Solve folds that are not solved yet, all by default."""
        total = self.ways * len(self.folds) * len(self.Cs)
        left = [k for k in (range(len(self.folds)) if folds is None else folds) if (k, 0) not in self.planes]

        def measures() -> dict[str, Any]:
            return {"share": (self.done + len(self.planes)) / total}

        def task(number: int) -> None:
            k = left[number]
            for i, planes in self._path(k):
                self.planes[k, i] = planes
                now = [{"coef_": planes.coef, "intercept_": planes.intercept}]
                complete = len(planes.present) == len(self.data.classes)
                if watch.look(k, measures, partial(list, now)) if complete else watch.stop.reason:
                    return

        watch.run_each(task, len(left), self.owner.n_jobs)

    def _path(self, k: int) -> Any:
        """Yield the number of each C with the hyperplanes of fold k, the smallest C first."""
        train = self.folds[k][0]
        part = self.weighted.take(train)
        present, codes = np.unique(part.codes, return_inverse=True)
        part = part._replace(codes=codes, classes=part.classes[present], threads=1)
        params = {"tol": max(COMPARING_GAP, self.owner.tol), "n_jobs": None}
        models = [self._candidate(C, params) for C in self.Cs]
        numbers = {id(model): i for i, model in enumerate(models)}
        if self.way == "ovo" and len(present) > 2:
            yield from self._path_of_pairs(part, models, present)
            return
        try:
            for model, solutions in solutions_along(models, part):
                yield numbers[id(model)], _planes_of(model, solutions, part, present)
        except NotSeparableError:  # the last one: a hard margin that these rows do not have
            return

    def _path_of_pairs(self, part: Data, models: list[MaxMargin], present: np.ndarray) -> Any:
        """The same one-vs-one: each pair has a path of its own."""
        found: list[list[_Planes]] = [[] for _ in models]
        for i, j in pairs(len(part.classes)):
            pair = part.pair(i, j)
            try:
                for place, (model, solutions) in enumerate(solutions_along(models, pair)):
                    found[place].append(_planes_of(model, solutions, pair, present))
            except NotSeparableError:
                pass
        whole = len(pairs(len(part.classes)))
        for place, planes in enumerate(found):
            if len(planes) == whole:
                coef = np.concatenate([p.coef for p in planes])
                yield place, _Planes(coef, np.concatenate([p.intercept for p in planes]), present)

    def _candidate(self, C: float, params: dict[str, Any]) -> MaxMargin:
        model = self.owner._model(C, **params)
        model.__class__, model._candidates = _Candidate, len(self.folds) * len(self.Cs)
        return model

    def solved(self, place: int) -> list[int]:
        """The folds that have hyperplanes for a C."""
        return [k for k in range(len(self.folds)) if (k, place) in self.planes]

    def decision(self, k: int, place: int) -> np.ndarray:
        """Scores of the rows that fold k leaves out, of shape (rows, 1) or (rows, n_classes)."""
        planes, count = self.planes[k, place], len(self.data.classes)
        scores = scores_of(self.tests[k], planes.coef, planes.intercept)
        found = len(planes.present)
        if found > 2 and self.way == "ovo":
            scores = votes(scores, found)
        scores = scores.reshape(len(scores), -1)
        if found == count:
            return scores
        table = np.hstack([-scores, scores]) if found == 2 else scores
        whole = np.repeat(table.min(axis=1, keepdims=True) - 1.0, count, axis=1)  # a class that was not there is last
        whole[:, planes.present] = table
        return whole

    def scores(self, folds: Sequence[int] | None = None) -> np.ndarray:
        """Scores of shape (folds, values of C), nan where there is none."""
        scoring = self.owner.scoring
        scorer = get_scorer(scoring or "accuracy") if scoring is None or isinstance(scoring, str) else scoring
        given = self.given if scoring is not None or self.owner.class_weight is None else self.weighted.weight
        weighs = given is not None and "sample_weight" in signature(scorer).parameters
        table = np.full((len(self.folds), len(self.Cs)), np.nan)
        for place in range(len(self.Cs)):
            solved = self.solved(place)
            for k in solved if folds is None else [k for k in solved if k in folds]:
                test = self.folds[k][1]
                others = [other for other in solved if other != k]
                if not others and len(self.folds) > 1:
                    others = [k]  # before other folds are solved
                answers = _FoldAnswers(
                    self.data.classes, self.decision(k, place), partial(self._calibrated, place, others)
                )
                weight = {"sample_weight": given[test]} if weighs and given is not None else {}
                truth = self.data.classes[self.data.codes[test]]
                table[k, place] = scorer(answers, self.tests[k], truth, **weight)
        return table if folds is None else table[folds]

    def chosen(self, scores: np.ndarray) -> tuple[float, int]:
        """The best C by the mean over the folds that have all scores, or the smallest within one standard error; the
        middle one if nothing was solved."""
        finite = np.isfinite(self.Cs)
        table = scores[np.all(np.isfinite(scores[:, finite]), axis=1)] if finite.any() else scores
        if not len(table) or np.all(np.isnan(table.mean(axis=0))):
            place = len(self.Cs[finite]) // 2
            return float(self.Cs[place]), place
        means = np.nan_to_num(np.round(table.mean(axis=0), 12), nan=-np.inf)
        best = int(np.argmax(means))
        if self.owner.one_standard_error and len(table) > 1:
            error = float(np.std(table[:, best], ddof=1)) / np.sqrt(len(table))
            best = int(np.argmax(means >= means[best] - error))
        return float(self.Cs[best]), best

    def calibration(self, place: int) -> tuple[AnyCalibration | None, str]:
        solved = self.solved(place)
        if not solved:
            return None, "none"
        made = self._calibrated(place, solved)
        return made, "isotonic" if isinstance(made, IsotonicCalibration) else "sigmoid"

    def _calibrated(self, place: int, folds: Sequence[int]) -> AnyCalibration:
        """Learned from the rows that these folds leave out."""
        if not folds:
            raise DataError("A score of probabilities needs two folds at least: one to learn them, one to test them.")
        rows = np.concatenate([self.folds[k][1] for k in folds])
        scores = np.concatenate([self.decision(k, place) for k in folds])
        weight = None if self.given is None else self.given[rows]
        # with class weights a score of 0 does not stand for 1/2
        few = calibrate_slope if self.owner.class_weight is None else calibrate
        make = calibrate_isotonic if len(rows) >= ROWS_FOR_ISOTONIC else few
        return make(scores, self.data.codes[rows], self.data.classes, weight)


def _best(scores: np.ndarray) -> float:
    """The best mean score over some folds."""
    return float(np.max(np.nan_to_num(scores, nan=-np.inf).mean(axis=0)))


def _planes_of(model: MaxMargin, solutions: list[Any], data: Data, present: np.ndarray) -> _Planes:
    found = [model._attributes_of(s.problem.patterns, s.a, data) for s in solutions]
    return _Planes(joined([p["coef_"] for p in found]), joined([p["intercept_"] for p in found]), present)
