"""scikit-learn's LinearSVC: the squared hinge by `MaxMargin`'s solvers, to a certified gap."""

import warnings
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from separatrix.dropin.handover import BeyondError, HandoverMixin
from separatrix.errors import SeparatrixError
from separatrix.estimators._fit.separator import Data
from separatrix.estimators.max_margin import MaxMargin
from separatrix.estimators.sklearn_api import check_sample_weight, validated
from separatrix.patterns.plain_patterns import squares_of
from separatrix.rows.memory import MemoryRows

CLOSER = 1e-6  # a gap of tol leaves an error of about sqrt(tol) in the coefficients
LARGEST_SEED = np.iinfo(np.int32).max
NOT_CONVERGED = "Liblinear failed to converge, increase the number of iterations."  # scikit-learn's words


class LinearSVC(HandoverMixin, sklearn.svm.LinearSVC):
    """scikit-learn's ``LinearSVC`` with the same parameters and attributes, solved to a certified gap.

    Squared and plain hinge with an l2 penalty and one problem per class are solved by separatrix: |w|^2/2 plus
    C sum xi_k^2 or C sum xi_k, with the intercept as part of w, as LIBLINEAR has it. ``penalty="l1"``,
    ``multi_class="crammer_singer"``, ``verbose`` and negative weights are left to scikit-learn.

    Parameters are those of ``sklearn.svm.LinearSVC``. ``tol`` is the certified relative gap ``(P - D)/P`` at which
    the fit may stop, ``max_iter`` the passes over the data that it may take where it is not small enough to be solved
    at once; ``dual`` and ``random_state`` change nothing, because the answer does not depend on them.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, n_iter_ : as in scikit-learn
        ``n_iter_`` is the largest number of passes over the data that a class needed.
    solver_ : str
        Who solved the problem, how and why: "separatrix: ..." or "scikit-learn: ...".
    certificate_, certificates_ : Certificate, list of Certificate
        Bounds on the best margin, of all problems and of each; only where separatrix solved them.
    dual_gap_ : float
        P - D, certified: the objective of a class is at most so far above the best; the largest of all classes.

    See Also
    --------
    separatrix.MaxMargin : The same with a hard margin, an unpenalised bias and a linear machine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.dropin import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(C=10).fit(X, y)
    >>> model.dual_gap_ < 1e-8, model.coef_.shape
    (True, (3, 4))
    >>> LinearSVC(penalty="l1", tol=0.01).fit(X, y).solver_
    'scikit-learn: penalty="l1"'
    """

    @validated
    def fit(self, X, y, sample_weight=None):
        """Fit the model to data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the price of slack of each row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        try:
            return self._fit_here(X, y, sample_weight)
        except BeyondError as why:
            return self._leave(lambda: super(LinearSVC, self).fit(X, y, sample_weight=sample_weight), why)

    def _fit_here(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._forget()
        self._check_settings()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )  # fmt: skip
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise BeyondError("one class")  # its error is scikit-learn's
        factors = compute_class_weight(
            self.class_weight, classes=self.classes_, y=y, sample_weight=sample_weight
        )  # fmt: skip
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        if not (weight >= 0).all() or not (factors > 0).all():
            raise BeyondError("a weight that is negative, or a class without any")
        models = self._models(X, np.searchsorted(self.classes_, y), weight, factors)
        check_random_state(self.random_state).randint(LARGEST_SEED)  # a shared generator moves on as with LIBLINEAR
        self.coef_ = np.vstack([m.coef_ for m in models])
        self.intercept_ = np.concatenate([m.intercept_ for m in models]) if self.fit_intercept else 0.0
        self.n_iter_ = max(m.n_iter_ for m in models)
        self._prove([c for m in models for c in m.certificates_], models[0].solver_)
        self.dual_gap_ = float(max(np.max(m.dual_gap_) for m in models))
        if not all(m.converged_ for m in models):
            warnings.warn(NOT_CONVERGED, ConvergenceWarning, stacklevel=4)
        return self

    def _check_settings(self) -> None:
        if self.penalty != "l2":
            raise BeyondError(f'penalty="{self.penalty}"')
        if self.multi_class != "ovr":
            raise BeyondError(f'multi_class="{self.multi_class}"')
        if self.loss == "hinge" and self.dual is False:
            raise BeyondError("loss='hinge' and dual=False, a combination that has no solver")  # its error is theirs
        if self.verbose or not self.max_iter:
            raise BeyondError("LIBLINEAR's own output is asked for" if self.verbose else "max_iter=0")

    def _models(self, X: Any, codes: np.ndarray, weight: np.ndarray, factors: np.ndarray) -> list[MaxMargin]:
        """One model of all classes, or one for each: LIBLINEAR multiplies the weights of the class alone by its factor,
        not those of the rest."""
        settings: dict[str, Any] = {
            "C": self.C,
            "loss": self.loss,
            "fit_intercept": self.fit_intercept,
            "rho": self.intercept_scaling,
            "tol": self.tol,
            "max_passes": int(self.max_iter),
        }
        try:
            if len(factors) == 2 or (factors == 1.0).all():
                return [QuietMargin(**settings).fit(X, codes, weight * factors[codes])]
            return [
                QuietMargin(**settings).fit(X, codes == k, np.where(codes == k, weight * factor, weight))
                for k, factor in enumerate(factors)
            ]
        except SeparatrixError as why:
            raise BeyondError(str(why)) from why


class QuietMargin(MaxMargin):
    """Does not warn: the drop-in class does, in scikit-learn's words. Small problems of the plain hinge, whose last
    digits cost most of the time, are solved to `CLOSER` times the tolerance and not to machine precision."""

    def _problem(self, patterns: Any, data: Any, threads: int = 1) -> Any:
        problem = super()._problem(patterns, data, threads)
        problem.tol = max(problem.tol, CLOSER * float(self.tol)) if self.loss == "hinge" else problem.tol
        return problem

    def _check_training_data(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Data:
        """The drop-in class has looked at X, y holds the numbers of classes, and weights are none or not negative."""
        if not (sample_weight > 0).all():
            return super()._check_training_data(X, y, sample_weight, **options)
        self.n_features_in_ = X.shape[1]
        classes, everyone, rows = np.unique(y), np.arange(len(y)), MemoryRows(X)
        codes = np.searchsorted(classes, y)
        return Data(
            rows.storage, codes, classes, sample_weight, everyone, len(y), X.shape[1], sample_weight, squares_of(rows)
        )  # fmt: skip

    def _set_support_vectors(self, patterns: Any, support: np.ndarray) -> None:
        """The drop-in classes have the rows themselves."""

    def _warn_not_converged(self, n: int) -> None:
        pass
