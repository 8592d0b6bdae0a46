"""Predictions from hyperplanes: scores, distances, classes, and regions that nobody or several claim."""

import warnings
from functools import partial, wraps
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from separatrix.certificates.notebook import figures_of
from separatrix.data.base import RowSource
from separatrix.data.device import DeviceRows, beside, namespace, stays_there, to_numpy
from separatrix.data.out_of_core import block_by_block, is_dask
from separatrix.data.validate import check_structure
from separatrix.errors import DataError, UnavailableError
from separatrix.fit.sklearn_api import CallbackSupportMixin, KnownParametersMixin
from separatrix.geometry import dual_lengths
from separatrix.passes.binary_problems import claims_by_pairs, votes
from separatrix.passes.kesler_patterns import distances_from_borders
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space, default_errstate, norm

DTYPES = [np.float64, np.float32]


def blockwise(method):
    """A method whose answer for a row depends on this row alone: of a collection of Dask it is a Dask array."""

    @wraps(method)
    @default_errstate()
    def answer(self, X, **options):
        if not is_dask(X):
            return method(self, X, **options)
        check_is_fitted(self)
        call, named = partial(method, self, **options), hasattr(self, "feature_names_in_")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that this row has no names
            example = call(np.zeros((1, self.n_features_in_)))
        return block_by_block(partial(_with_names, call, named), X, example)

    return answer


def _with_names(call, named, block):
    """A block as the estimator was fitted: names of columns say whether they stand in the right order."""
    return call(block if named or not hasattr(block, "columns") else block.to_numpy())


class LinearPredictor(KnownParametersMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Base of the estimators that predict with hyperplanes."""

    def _get_fitted_attr_html(self, doc_link=""):
        """scikit-learn's table of a fitted estimator in notebooks, alone or within a Pipeline, and what was proved."""
        parts = super()._get_fitted_attr_html(doc_link)
        certificate = getattr(self, "certificate_", None)
        if certificate is None:
            return parts
        table, words = parts._repr_html_inner, escape(str(certificate))
        parts._repr_html_inner = lambda: f"{table()}<p>{words}</p>{figures_of(self)}"
        return parts

    if not TYPE_CHECKING:  # a type checker would believe that every attribute exists

        def __getattr__(self, name):
            if name in ("predict_proba", "predict_log_proba") and not hasattr(type(self), name):
                raise UnavailableError(
                    f"{type(self).__name__} has no {name}. Use MaxMarginCV, or wrap it in "
                    "sklearn.calibration.CalibratedClassifierCV."
                )
            if name == "set_callbacks":
                raise UnavailableError("Callbacks need scikit-learn 1.9 or newer: pip install --upgrade scikit-learn.")
            return object.__getattribute__(self, name)  # raises the error of a method that is not available, again

    @blockwise
    def decision_function(self, X):
        """Signed score of each row: positive for ``classes_[1]``, or one column per class.

        One-vs-one: the number of pairs that each class wins, ties broken by the sum of its scores.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            The scores.
        """
        if stays_there(X) and self._fitted_as() != "ovo":
            return self._scores_on_device(X)
        scores = self._scores_of_rows(X)
        return votes(scores, len(self.classes_)) if self._fitted_as() == "ovo" else scores

    def _hyperplanes(self) -> tuple[np.ndarray, np.ndarray]:
        """``coef_`` and ``intercept_`` in the memory of this process, wherever they are."""
        return to_numpy(self.coef_), to_numpy(self.intercept_)

    def _checked(self, X, finite=True):
        """The rows as numbers, for an estimator that is fitted."""
        check_structure(X)
        return validate_data(self, X, accept_sparse="csr", dtype=DTYPES, reset=False, ensure_all_finite=finite)

    def _scores_of_rows(self, X):
        """The scores of rows that have to be finite.

        A score is finite only if its row is, unless a weight of 0 hides it: the pass over X that looks for infinite
        values, a third of the time, is made where a weight is 0 or a score is not finite.
        """
        check_is_fitted(self)
        if stays_there(X):
            return to_numpy(self._scores_on_device(X))
        if isinstance(X, RowSource):
            return np.concatenate([self._scores(block.whole) for block in X.blocks()])
        if type(self)._scores is not LinearPredictor._scores or not self._hyperplanes()[0].all():  # scores may not tell
            return self._scores(self._checked(X))
        rows = self._checked(X, finite=False)
        with np.errstate(invalid="ignore"):
            scores = self._scores(rows)
        if not np.isfinite(scores).all():
            assert_all_finite(rows, input_name="X", estimator_name=type(self).__name__)
        return scores

    def _scores_on_device(self, X):
        """The scores of rows of the array API, computed in float64 where they are, block by block."""
        check_is_fitted(self)
        coef, intercept = self._hyperplanes()
        if X.ndim != 2 or X.shape[1] != coef.shape[1]:
            raise DataError(f"X has shape {tuple(X.shape)}, the weights are for {coef.shape[1]} features.")
        xp, rows = namespace(X), DeviceRows(X, None)
        with rows.room():
            W, b = beside(coef.T, X), beside(intercept, X)
            scores = xp.concat([xp.astype(block.X, xp.float64) @ W + b for block in rows.blocks()])
        if not bool(xp.all(xp.isfinite(scores))):
            raise DataError("X holds NaN, infinity, or values whose scores overflow float64.")
        return scores[:, 0] if coef.shape[0] == 1 else scores

    def _scores(self, X):
        """The scores of the hyperplanes: (n,) for one, else (n, number of hyperplanes)."""
        return scores_of(X, *self._hyperplanes())

    def _fitted_as(self) -> str:
        """ "ovr", "ovo" or "joint"; of two classes "ovr" always."""
        return getattr(self, "multi_class_", "ovr")

    @blockwise
    def signed_distance(self, X):
        """The scores in units of length: the distance from each hyperplane, with the side as the sign.

        Where the largest score decides, as in a linear machine, there is none for each class but a border between any
        two: then it is the smallest of ``(g_i - g_j)/|w_i - w_j|`` over the rivals j of each class i. For the class of
        a row that is the distance from the border of its region; it is negative for the other classes.
        Infinite where all coefficients are 0 and the bias alone decides.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, number of hyperplanes)
            The distances.
        """
        scores = self._scores_of_rows(X)
        if scores.ndim > 1 and self._fitted_as() == "joint":
            return distances_from_borders(scores, self._hyperplanes()[0])
        lengths = np.array([norm(w) for w in self._hyperplanes()[0]])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return scores / (lengths[0] if scores.ndim == 1 else lengths)

    @blockwise
    def radius(self, X, norm=2):
        """Return how far each row may move before its predicted class changes: the robustness of its prediction.

        It is the score divided by the dual norm of the weights, and for several classes the smallest such quotient of
        the differences to all rivals. The formula is exact for a linear classifier; its value is computed in float64
        and not rounded down. A row whose class does not depend on the features has an infinite radius.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.
        norm : {2, 1, inf}, default=2
            How moves are measured: Euclidean, the sum of all changes, or the largest change of a feature.

        Returns
        -------
        ndarray of shape (n,)
            The radii.

        Examples
        --------
        >>> from separatrix import MaxMargin
        >>> model = MaxMargin(C=float("inf")).fit([[0.0, 0.0], [2.0, 0.0]], [0, 1])
        >>> model.radius([[3.0, 5.0]]).round(6)
        array([2.])
        """
        if self._fitted_as() == "ovo":
            raise UnavailableError(
                'radius: the regions of one-vs-one are not convex. Fit with multi_class="ovr" or "joint".'
            )
        dual_lengths(np.zeros((1, 1)), norm)
        scores, W = self._scores_of_rows(X), self._hyperplanes()[0]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if scores.ndim == 1:
                length = dual_lengths(W, norm)[0]
                return np.abs(scores) / length if length > 0 else np.full(len(scores), np.inf)
            predicted, radius = scores.argmax(axis=1), np.full(len(scores), np.inf)
            for c in range(len(W)):
                lengths, rows = dual_lengths(W[c] - W, norm), np.flatnonzero(predicted == c)
                for j in np.flatnonzero(lengths > 0):
                    radius[rows] = np.minimum(radius[rows], (scores[rows, c] - scores[rows, j]) / lengths[j])
            return radius

    @blockwise
    def classes_claiming(self, X):
        """Which classes claim each row, (n, c): a row may have none or several of them (DHS fig. 5.3).

        One-vs-rest: the classes with a positive score. One-vs-one: the class that wins against every other class. A
        linear
        machine: the class with the largest score, unless two share it.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of bool of shape (n, c)
            Which classes claim which rows.
        """
        scores = self._scores_of_rows(X)
        if scores.ndim == 1:
            return np.column_stack([scores < 0, scores > 0])
        if self._fitted_as() == "ovo":
            return claims_by_pairs(scores, len(self.classes_))
        if self._fitted_as() == "ovr":
            return scores > 0
        largest = scores == scores.max(axis=1, keepdims=True)
        return largest & (largest.sum(axis=1, keepdims=True) == 1)

    @blockwise
    def is_ambiguous(self, X):
        """The rows that no class claims, or several do; `classes_claiming` tells which. `predict` decides them all the
        same.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of bool of shape (n,)
            Whether a row is one of these.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import MaxMargin
        >>> X, y = load_iris(return_X_y=True)
        >>> int(MaxMargin().fit(X, y).is_ambiguous(X).sum())
        40
        >>> int(MaxMargin(multi_class="joint").fit(X, y).is_ambiguous(X).sum())
        0
        """
        return self.classes_claiming(X).sum(axis=1) != 1

    @blockwise
    def predict(self, X):
        """The class of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels of ``classes_``.
        """
        scores = self.decision_function(X)
        if isinstance(scores, np.ndarray):
            codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
            return to_numpy(self.classes_)[codes]
        xp = namespace(X)
        codes = xp.astype(scores > 0, xp.int64) if scores.ndim == 1 else xp.argmax(scores, axis=1)
        classes = beside(to_numpy(self.classes_), X)
        return classes[to_numpy(codes)] if isinstance(classes, np.ndarray) else xp.take(classes, codes, axis=0)


def scores_of(X: Any, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """X w + b in float64, without a float64 copy of X: (n,) for one hyperplane, else (n, c)."""
    if coef.shape[1] != X.shape[1]:  # compiled code would not see it
        raise DataError(f"X has {X.shape[1]} features, the weights are for {coef.shape[1]}.")
    if X.dtype == np.float64:
        scores = np.asarray(X @ coef.T)
        scores += intercept
    else:
        patterns = Patterns(X, np.ones(X.shape[0]), Space(1.0))
        scores = np.column_stack([patterns.margins(np.append(w, b)) for w, b in zip(coef, intercept, strict=True)])
    return scores.ravel() if scores.shape[1] == 1 else scores
