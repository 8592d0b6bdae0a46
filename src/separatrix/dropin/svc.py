"""scikit-learn's SVC: hinge loss and a free intercept for each pair of classes, with a certificate."""

from inspect import signature
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.utils import check_random_state

from separatrix.dropin.handover import LARGEST_SEED, BeyondError, HandoverMixin, gap, plain_classes, plain_rows
from separatrix.dropin.pairwise import DuelSettings, PairFit, PairFits
from separatrix.fit.sklearn_api import fit_method
from separatrix.passes.kernel_functions import Kernel

PROBABILITY = signature(sklearn.svm.SVC).parameters["probability"].default  # "deprecated" from scikit-learn 1.9 on


class SVC(HandoverMixin, sklearn.svm.SVC):
    """scikit-learn's ``SVC`` with the same parameters and attributes, and a certified gap.

    For each pair of classes |w|^2/2 + C sum xi_k with a free intercept is solved by separatrix, with linear,
    polynomial, Gaussian, precomputed and own kernels. ``probability``, ``verbose``, a limit ``max_iter``, weights of 0
    and kernels that are not positive semi-definite are left to scikit-learn. Whether a precomputed, sigmoid or own
    kernel is, is looked at up to 1,000 rows in a pair.

    Parameters are those of ``sklearn.svm.SVC``. Of a linear kernel ``tol`` is the certified relative gap ``(P - D)/P``
    at which the fit may stop; of others it is the largest violation of the optimality conditions, as in LIBSVM, and
    where the gap is larger than ``tol`` these are met up to a hundred times closer. ``dual_gap_`` is the gap of the
    vector that ``dual_coef_`` makes: with a large C rounding errors of the multipliers may leave it above ``tol``.
    ``shrinking`` and ``random_state`` change nothing where separatrix solves. If every multiplier of a pair is 0 or at
    its cap, an interval of intercepts is optimal. ``intercept_`` is its middle, as in LIBSVM.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, classes_, n_iter_ : as in scikit-learn
        The fitted model; the support vectors are in the order of their classes. ``n_iter_`` holds the passes over the
        data that each pair of classes took, or with a kernel the steps.
    solver_ : str
        Who solved the problem: "separatrix: ..." or "scikit-learn: ..." with the reason.
    certificate_, certificates_ : Certificate, list of Certificate
        Bounds on the best objective, of all pairs and of each; only where separatrix solved them. Of several classes
        ``certificates_[k].verify(X, y)`` checks a pair by all data.
    dual_gap_ : float
        P - D, certified: the objective of a pair is at most so far above the best; the largest of all pairs.

    See Also
    --------
    separatrix.KernelMaxMargin : Kernels with squared or hinge loss, solved exactly where they are small.
    separatrix.dropin.LinearSVC : Without a kernel, one problem per class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.dropin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(kernel="linear").fit(X, y)
    >>> model.dual_gap_ < 1e-3, model.n_support_.tolist()
    (True, [3, 12, 12])
    >>> SVC().fit(X, y).solver_
    'separatrix: pairs of multipliers'
    >>> SVC(kernel="sigmoid").fit(X, y).solver_
    'scikit-learn: a kernel that is not positive semi-definite on these data'
    """

    intercept_: Any
    dual_coef_: Any
    _num_iter: Any
    _gamma: Any

    @fit_method
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
        if sample_weight is None and self._fit_plain(X, y):
            return self
        return super().fit(X, y, sample_weight)

    def _fit_plain(self, X: Any, y: Any) -> bool:
        """Small data are checked longer than they are solved: rows and labels of which scikit-learn's checks would have
        nothing to say take the steps of its fit without them. False where they are not, or separatrix has no answer."""
        asked = self.probability == PROBABILITY and self.class_weight is None
        plain = plain_classes(y) if asked and not self._explicit_products and plain_rows(X) else None
        if plain is None or len(y) != len(X):
            return False
        self.classes_, codes = plain
        self.class_weight_, self._sparse, self._effective_probability = np.ones(len(self.classes_)), False, False
        self.n_features_in_, self.shape_fit_ = X.shape[1], X.shape
        self.__dict__.pop("feature_names_in_", None)
        spread = X.var() if self.gamma == "scale" else 0.0
        scale = 1.0 / (X.shape[1] * spread) if spread else 1.0
        self._gamma = {"scale": scale, "auto": 1.0 / X.shape[1]}.get(self.gamma, self.gamma)
        try:
            self._check_settings()
            self._take(X, codes, self._duels(X, codes, np.zeros(0)))
        except BeyondError:
            self._forget()
            return False
        check_random_state(self.random_state).randint(LARGEST_SEED)  # a shared generator moves on as with LIBSVM
        self._intercept_, self._dual_coef_, self.n_iter_ = self.intercept_.copy(), self.dual_coef_, self._num_iter
        if len(self.classes_) == 2:
            self.intercept_, self.dual_coef_ = -self.intercept_, -self.dual_coef_
        return True

    def _validate_targets(self, y):
        """The step of scikit-learn's fit that looks at y."""
        plain = plain_classes(y) if self.class_weight is None else None
        if plain is None:
            return super()._validate_targets(y)
        self.classes_, codes = plain
        self.class_weight_ = np.ones(len(self.classes_))
        return codes.astype(np.float64)

    def _dense_fit(self, X, y, sample_weight, solver_type, kernel, random_seed):
        self._fit_duels(X, y, sample_weight, super()._dense_fit, (solver_type, kernel, random_seed))

    def _sparse_fit(self, X, y, sample_weight, solver_type, kernel, random_seed):
        self._fit_duels(X, y, sample_weight, super()._sparse_fit, (solver_type, kernel, random_seed))

    def _fit_duels(self, X: Any, y: np.ndarray, sample_weight: np.ndarray, theirs: Any, options: tuple) -> None:
        """The step of scikit-learn's fit that calls LIBSVM."""
        try:
            self._check_settings()
            codes = y.astype(np.int64)
            if callable(self.kernel):
                self._BaseLibSVM__Xfit = X  # what scikit-learn's predict compares with
            rows = self._compute_kernel(X) if callable(self.kernel) else X
            self._take(rows, codes, self._duels(rows, codes, sample_weight))
        except BeyondError as why:
            solver_type, kernel, seed = options
            self._leave(lambda: theirs(X, y, sample_weight, solver_type, kernel, random_seed=seed), why)

    def _check_settings(self) -> None:
        if getattr(self, "_effective_probability", self.probability):  # before scikit-learn 1.9 the parameter decides
            raise BeyondError("probability=True")
        if self.verbose:
            raise BeyondError("LIBSVM's own output is asked for")
        if self.max_iter != -1:
            raise BeyondError(f"max_iter={self.max_iter}")

    def _duels(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray) -> list[PairFit]:
        weight = np.ones(len(codes)) if not len(sample_weight) else sample_weight
        weight = weight * self.class_weight_[codes]
        if not (np.isfinite(weight) & (weight > 0)).all():
            raise BeyondError("a weight that is not positive")
        if X.shape[0] != len(codes) or (self._explicit_products and X.shape[1] != len(codes)):
            raise BeyondError("a matrix of inner products that is not square")  # its error is scikit-learn's
        kernel = Kernel(self.kernel, float(self._gamma), float(self.degree), float(self.coef0))
        settings = DuelSettings(kernel, float(self.C), float(self.tol), float(self.cache_size))
        return PairFits(X, codes, self.classes_.tolist(), weight, settings).solved()

    @property
    def _explicit_products(self) -> bool:
        """Is X a matrix of inner products?"""
        return self.kernel == "precomputed" or callable(self.kernel)

    def _take(self, X: Any, codes: np.ndarray, class_pairs: list[PairFit]) -> None:
        """LIBSVM's attributes: support vectors by class, and for each the multiples in its pairs with the others, which
        are positive for the first class."""
        support = np.unique(np.concatenate([pair.support for pair in class_pairs]))
        support = support[np.argsort(codes[support], kind="stable")]
        place = np.full(len(codes), -1)
        place[support] = np.arange(len(support))
        table = np.zeros((len(self.classes_) - 1, len(support)))
        for pair in class_pairs:
            line = np.where(codes[pair.support] == pair.i, pair.j - 1, pair.i)
            table[line, place[pair.support]] = -pair.dual
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self._explicit_products else X[support]
        self._n_support = np.bincount(codes[support], minlength=len(self.classes_)).astype(np.int32)
        self.dual_coef_ = table
        if self._sparse:  # every value is listed, zeros too, as LIBSVM has them
            columns = np.tile(np.arange(len(support)), len(table))
            ends = np.arange(len(table) + 1) * len(support)
            self.dual_coef_ = type(X)((table.ravel(), columns, ends), shape=table.shape)
        self.intercept_ = np.array([-pair.intercept for pair in class_pairs])
        self._probA = self._probB = np.empty(0)
        self.fit_status_ = 0
        self._num_iter = np.array([pair.steps for pair in class_pairs], dtype=np.int32)
        self._prove([pair.certificate for pair in class_pairs], class_pairs[0].solver)
        self.dual_gap_ = float(max(gap(pair.certificate) for pair in class_pairs))
