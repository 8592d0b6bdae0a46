"""scikit-learn's SVC: a linear kernel by `MaxMargin`'s solvers for the plain hinge, to a certified gap."""

from typing import Any, NamedTuple

import numpy as np
import sklearn.svm

from separatrix.dropin.handover import BeyondError, HandoverMixin
from separatrix.dropin.linear_svc import QuietMargin
from separatrix.errors import SeparatrixError
from separatrix.estimators.sklearn_api import validated
from separatrix.patterns.binary_problems import pairs


class SVC(HandoverMixin, sklearn.svm.SVC):
    """scikit-learn's ``SVC`` with the same parameters and attributes; a linear kernel is solved to a certified gap.

    ``kernel="linear"`` is solved by separatrix, for each pair of classes |w|^2/2 + C sum xi_k with a free intercept.
    Other kernels, ``probability``, ``verbose``, a limit ``max_iter`` and weights of 0 are left to scikit-learn.

    Parameters are those of ``sklearn.svm.SVC``. ``tol`` is the certified relative gap ``(P - D)/P`` at which the fit
    may stop; ``shrinking``, ``cache_size`` and ``random_state`` change nothing where separatrix solves.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, classes_, n_iter_ : as in scikit-learn
        The fitted model; the support vectors are in the order of their classes. ``n_iter_`` holds the passes over the
        data that each pair of classes took.
    solver_ : str
        Who solved the problem: "separatrix: ..." or "scikit-learn: ..." with the reason.
    certificate_, certificates_ : Certificate, list of Certificate
        Bounds on the best margin, of all pairs and of each; only where separatrix solved them.
    dual_gap_ : float
        P - D, certified: the objective of a pair is at most so far above the best; the largest of all pairs.

    See Also
    --------
    separatrix.KernelMaxMargin : Kernels with squared slack, with a certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.dropin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(kernel="linear").fit(X, y)
    >>> model.dual_gap_ < 1e-3, model.n_support_.tolist()
    (True, [3, 12, 12])
    >>> SVC().fit(X, y).solver_
    'scikit-learn: kernel="rbf"'
    """

    @validated
    def fit(self, X, y, sample_weight=None):
        """Fit the model to data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows, or the values of a precomputed kernel.
        y : array-like of shape (n_samples,)
            The labels of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._forget()
        return super().fit(X, y, sample_weight)

    def _dense_fit(self, X, y, sample_weight, solver_type, kernel, random_seed):
        self._fit_duels(X, y, sample_weight, super()._dense_fit, (solver_type, kernel, random_seed))

    def _sparse_fit(self, X, y, sample_weight, solver_type, kernel, random_seed):
        self._fit_duels(X, y, sample_weight, super()._sparse_fit, (solver_type, kernel, random_seed))

    def _fit_duels(self, X: Any, y: np.ndarray, sample_weight: np.ndarray, theirs: Any, options: tuple) -> None:
        """The step of scikit-learn's fit that calls LIBSVM."""
        try:
            self._check_settings()
            self._take(X, y.astype(np.int64), self._duels(X, y.astype(np.int64), sample_weight))
        except BeyondError as why:
            solver_type, kernel, seed = options
            self._leave(lambda: theirs(X, y, sample_weight, solver_type, kernel, random_seed=seed), why)

    def _check_settings(self) -> None:
        if self.kernel != "linear":
            raise BeyondError(f'kernel="{self.kernel}"' if isinstance(self.kernel, str) else "a kernel of one's own")
        if self._effective_probability:
            raise BeyondError("probability=True")
        if self.verbose:
            raise BeyondError("LIBSVM's own output is asked for")
        if self.max_iter != -1:
            raise BeyondError(f"max_iter={self.max_iter}")

    def _duels(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray) -> list["Duel"]:
        weight = np.ones(len(codes)) if not len(sample_weight) else sample_weight
        weight = weight * self.class_weight_[codes]
        if not (np.isfinite(weight) & (weight > 0)).all():
            raise BeyondError("a weight that is not positive")
        duels = []
        for i, j in pairs(len(self.classes_)):
            rows = np.flatnonzero((codes == i) | (codes == j))
            model = QuietMargin(self.C, loss="hinge", fit_intercept="free", tol=self.tol)
            try:
                model.fit(X[rows], codes[rows] == i, weight[rows])
            except SeparatrixError as why:
                raise BeyondError(str(why)) from why
            if not model.converged_:
                raise BeyondError(f"a gap of {model.certificate_.gap:.1e}")
            duels.append(Duel(i, j, rows[model.support_], model.dual_coef_[0], model))
        return duels

    def _take(self, X: Any, codes: np.ndarray, duels: list["Duel"]) -> None:
        """LIBSVM's attributes: support vectors by class, and for each the multiples in its duels with the others."""
        support = np.unique(np.concatenate([duel.support for duel in duels]))
        support = support[np.argsort(codes[support], kind="stable")]
        place = np.full(len(codes), -1)
        place[support] = np.arange(len(support))
        table = np.zeros((len(self.classes_) - 1, len(support)))
        for duel in duels:
            line = np.where(codes[duel.support] == duel.i, duel.j - 1, duel.i)
            table[line, place[duel.support]] = duel.dual
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = X[support]
        self._n_support = np.bincount(codes[support], minlength=len(self.classes_)).astype(np.int32)
        self.dual_coef_ = table
        if self._sparse:  # every value is listed, zeros too, as LIBSVM has them
            columns = np.tile(np.arange(len(support)), len(table))
            ends = np.arange(len(table) + 1) * len(support)
            self.dual_coef_ = type(X)((table.ravel(), columns, ends), shape=table.shape)
        self.intercept_ = np.array([float(duel.model.intercept_[0]) for duel in duels])
        self._probA = self._probB = np.empty(0)
        self.fit_status_ = 0
        self._num_iter = np.array([duel.model.n_iter_ for duel in duels], dtype=np.int32)
        self._prove([duel.model.certificate_ for duel in duels], duels[0].model.solver_)
        self.dual_gap_ = float(max(np.max(duel.model.dual_gap_) for duel in duels))


class Duel(NamedTuple):
    """Two classes: the rows that support their border, with multiples that are positive for class i."""

    i: int
    j: int
    support: np.ndarray
    dual: np.ndarray
    model: QuietMargin
