"""What all separators share: checked input, predictions from hyperplanes, and what is said of margins."""

import hashlib
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, check_is_fitted, validate_data

from separatrix.errors import DataError
from separatrix.estimators._fit.watch import CallbackSupportMixin
from separatrix.patterns.binary_problems import claims_by_pairs, votes
from separatrix.patterns.kesler_patterns import distances_from_borders
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certificate import Certificate
from separatrix.proof.certify import joint_certificate
from separatrix.rows.access import Dense, Storage
from separatrix.rows.memory import as_rows, take_rows
from separatrix.rows.validate import check_structure
from separatrix.space import Space, Vector, norm

DTYPES = [np.float64, np.float32]


class Data(NamedTuple):
    """Checked data, without the rows of weight 0."""

    rows: Storage
    codes: np.ndarray  # number of the class of each row
    classes: np.ndarray
    weight: Vector
    kept: np.ndarray  # row numbers in the user's data
    size: int  # rows in the user's data
    given_weight: Vector | None

    @property
    def width(self) -> int:
        """Number of features."""
        return int(self.rows.data.shape[1] if isinstance(self.rows, Dense) else self.rows.width)

    def take(self, index: np.ndarray) -> "Data":
        """The same with some of the rows."""
        return self._replace(
            rows=take_rows(self.rows, index),
            codes=self.codes[index],
            weight=self.weight[index],
            kept=self.kept[index],
        )


class LinearSeparator(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Base of the estimators that predict with hyperplanes."""

    fit_intercept: Any
    rho: float

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _html_repr(self):
        """scikit-learn's diagram for notebooks, and the certificate of a fit below it."""
        certificate = getattr(self, "certificate_", None)
        return super()._html_repr() + ("" if certificate is None else certificate._repr_html_())

    def _space(self) -> Space:
        return Space(float(self.rho) if self.fit_intercept else 0.0, float(getattr(self, "delta", 0.0)))

    def _check_training_data(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None
    ) -> Data:
        check_structure(X)  # before anything reads it
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=DTYPES, order="C", reset=reset)
        check_classification_targets(y)
        given = None
        size, weight, kept = len(y), np.ones(len(y)), np.arange(len(y))
        if sample_weight is not None:
            given = weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if weight.max() > np.sqrt(np.finfo(np.float64).max) / len(weight):
                raise DataError(f"A sample weight of {weight.max():g} overflows float64 in squared sums. Scale them.")
            kept = np.flatnonzero(weight > 0)
            if len(kept) < len(y):
                X, y, weight = X[kept], y[kept], weight[kept]
        if classes is None:
            classes = np.unique(y)
            codes = np.searchsorted(classes, y)  # return_inverse would sort all labels
            if len(classes) < 2:
                raise DataError(
                    f"{type(self).__name__} needs rows of at least 2 classes; these data have 1 class: all rows that "
                    f"take part have the label {classes.tolist()[0]!r}."
                )
        else:
            try:
                codes = np.searchsorted(classes, y)
            except TypeError as error:
                raise DataError(f"y holds labels of another type than the classes {classes!r}.") from error
            known = codes < len(classes)
            known[known] = classes[codes[known]] == y[known]
            if not np.all(known):
                raise DataError(f"y holds the label {y[~known][0]!r}, which is not among the classes {classes!r}.")
        return Data(as_rows(X), codes, classes, np.ascontiguousarray(weight), kept, size, given)

    def _check_scale(self, patterns: Patterns, kept: np.ndarray) -> None:
        """Squares of the data must be representable: bounds and rates are made of them."""
        rho, delta = patterns.space.rho, patterns.space.delta
        if not np.isfinite(rho * rho + delta * delta):
            raise DataError(f"The square of rho = {rho:g} or delta = {delta:g} overflows float64: use a smaller one.")
        if delta > 0 and delta * delta < np.finfo(np.float64).tiny:
            raise DataError(f"The square of delta = {delta:g} underflows: use a larger one, or 0 for the hard margin.")
        if not np.isfinite(patterns.radius2):
            row = int(kept[np.flatnonzero(~np.isfinite(patterns.row_norms2))[0]])
            raise DataError(f"The squared norm of row {row} overflows float64. Scale your features.")
        if patterns.radius2 < np.finfo(np.float64).tiny:
            nothing = not np.any(patterns.rows.data)
            what = "All rows are zero" if nothing else "The largest squared norm of a row underflows"
            raise DataError(f"{what}, and there is no bias that could tell them apart. Scale your features.")

    def _set_margins(self, certificates: list[Certificate]) -> None:
        self.certificates_ = certificates
        self.certificate_ = joint_certificate(certificates)

    def _measure_margins(
        self, patterns: list[Patterns], vectors: list[Vector], margins: list[Vector] | None = None
    ) -> None:
        """The two margins of the vectors that predict, smallest over the problems; nan for a zero vector.

        ``margins``: those of their unit vectors, where they are at hand.
        """
        units = [p.unit(a) for p, a in zip(patterns, vectors, strict=True)]
        if margins is None:
            margins = [p.margins(a) for p, a in zip(patterns, units, strict=True)]
        directional, geometric = [], []
        for p, a, m in zip(patterns, units, margins, strict=True):
            with np.errstate(divide="ignore", invalid="ignore"):
                directional.append(m.min() / norm(a))
            geometric.append(p.distance(a, m))
        self.directional_margin_ = float(min(directional))
        self.geometric_margin_ = float(min(geometric))

    def _set_vectors(self, space: Space, vectors: list[Vector]) -> None:
        width = self.n_features_in_ + 1  # a linear machine's vector holds those of its categories
        parts = [space.split(a) for vector in vectors for a in vector.reshape(-1, width)]
        self.coef_ = np.array([w for w, _ in parts])
        self.intercept_ = np.array([b for _, b in parts])

    def decision_function(self, X):
        """Signed score of each row: positive for ``classes_[1]``, or one column per class.

        One-vs-one: the number of duels that each class wins, ties broken by the sum of its scores.
        """
        scores = self._scores_of_rows(X)
        return votes(scores, len(self.classes_)) if self._fitted_as() == "ovo" else scores

    def _checked(self, X, finite=True):
        check_is_fitted(self)
        check_structure(X)
        return validate_data(self, X, accept_sparse="csr", dtype=DTYPES, reset=False, ensure_all_finite=finite)

    def _scores_of_rows(self, X):
        """The scores of rows that have to be finite.

        A score is finite only if its row is, unless a weight of 0 hides it: the pass over X that looks for infinite
        values, a third of the time, is made where a weight is 0 or a score is not finite.
        """
        check_is_fitted(self)
        if type(self)._scores is not LinearSeparator._scores or not self.coef_.all():  # scores may not tell
            return self._scores(self._checked(X))
        rows = self._checked(X, finite=False)
        with np.errstate(invalid="ignore"):
            scores = self._scores(rows)
        if not np.isfinite(scores).all():
            assert_all_finite(rows, input_name="X", estimator_name=type(self).__name__)
        return scores

    def _scores(self, X):
        """The scores of the hyperplanes: (n,) for one, else (n, number of hyperplanes)."""
        return scores_of(X, self.coef_, self.intercept_)

    def _fitted_as(self) -> str:
        """ "ovr", "ovo" or "kesler"; of two classes "ovr" always."""
        return getattr(self, "multi_class_", "ovr")

    def signed_distance(self, X):
        """The scores in units of length: the distance from each hyperplane, with the side as the sign.

        Where the largest score decides, as in a linear machine, there is none for each class but a border between any
        two: then it is the smallest of ``(g_i - g_j)/|w_i - w_j|`` over the rivals j of each class i. For the class of
        a row that is the distance from the border of its region; it is negative for the other classes.
        Infinite where all coefficients are 0 and the bias alone decides.
        """
        scores = self._scores_of_rows(X)
        if scores.ndim > 1 and self._fitted_as() == "kesler":
            return distances_from_borders(scores, self.coef_)
        lengths = np.linalg.norm(self.coef_, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return scores / (lengths[0] if scores.ndim == 1 else lengths)

    def claims(self, X):
        """Which classes claim each row, (n, c): a row may have none or several of them (DHS fig. 5.3).

        One-vs-rest: the classes with a positive score. One-vs-one: the class that wins all of its duels. A linear
        machine: the class with the largest score, unless two share it.
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

    def ambiguous(self, X):
        """The rows that no class claims, or several do; `claims` tells which. `predict` decides them all the same.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import MaxMargin
        >>> X, y = load_iris(return_X_y=True)
        >>> int(MaxMargin().fit(X, y).ambiguous(X).sum())
        40
        >>> int(MaxMargin(multi_class="kesler").fit(X, y).ambiguous(X).sum())
        0
        """
        return self.claims(X).sum(axis=1) != 1

    def predict(self, X):
        """The class of each row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


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


def fingerprint(data: Data) -> str:
    """Tells whether two fits saw the same data."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (*(part for part in data.rows if isinstance(part, np.ndarray)), data.codes, data.weight):
        digest.update(repr((array.dtype, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    digest.update(repr(data.classes.tolist()).encode())
    return digest.hexdigest()


def warn_not_converged(name: str, reason: str, advice: str, *, depth: int = 5) -> None:
    """``depth``: frames up to the user's line."""
    warnings.warn(f"{name} ended by {reason} before it converged. {advice}", ConvergenceWarning, stacklevel=depth)
