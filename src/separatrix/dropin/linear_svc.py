"""scikit-learn's LinearSVC: the squared hinge by `MaxMargin`'s solvers, to a certified gap."""

import warnings
from inspect import signature
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify
from separatrix.data.memory import MemoryRows
from separatrix.dropin.handover import LARGEST_SEED, BeyondError, HandoverMixin, gap, plain_classes, plain_rows
from separatrix.errors import SeparatrixError
from separatrix.estimators.max_margin import MaxMargin
from separatrix.fit.margin_classifier import REACHED, Solution
from separatrix.fit.sklearn_api import check_sample_weight, fit_method
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Vector

SQUARED_HINGE_TOL = 0.01  # part of tol: LIBLINEAR's last step often ends that far below its own
SMALL_HINGE_TOL = 1e-6  # part of tol: a gap of tol itself leaves an error of about sqrt(tol) in the coefficients
NOT_CONVERGED = "Liblinear failed to converge, increase the number of iterations."  # scikit-learn's words
COUNTS_WEIGHTS = "sample_weight" in signature(compute_class_weight).parameters  # scikit-learn 1.6 counts rows


class LinearSVC(HandoverMixin, sklearn.svm.LinearSVC):
    """scikit-learn's ``LinearSVC`` with the same parameters and attributes, solved to a certified gap.

    One problem per class is solved by separatrix: |w|^2/2 plus C sum xi_k^2 or C sum xi_k, and with ``penalty="l1"``
    sum |w_j| plus C sum xi_k^2, with the intercept as part of w, as LIBLINEAR has it.
    ``multi_class="crammer_singer"``, ``verbose`` and negative weights are left to scikit-learn.

    Parameters are those of ``sklearn.svm.LinearSVC``. ``tol`` is the certified relative gap ``(P - D)/P`` at which
    the fit counts as converged (squared hinge loss goes on to a hundredth of it), ``max_iter`` the passes over the data
    that it may take where it is not small enough to be solved at once; ``dual`` and ``random_state`` change nothing,
    because the answer does not depend on them. With ``loss="hinge"`` a class whose optimal vector is 0 has a ``coef_``
    of exactly 0; of several such classes the first is predicted. LIBLINEAR leaves rounding errors, which decide there.

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
    >>> LinearSVC(penalty="l1").fit(X, y).dual_gap_ < 1e-4
    True
    >>> LinearSVC(multi_class="crammer_singer", max_iter=100_000).fit(X, y).solver_
    'scikit-learn: multi_class="crammer_singer"'
    """

    @fit_method
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
        X, codes = self._checked(X, y)
        factors = np.ones(len(self.classes_))
        if self.class_weight is not None:
            given = {"sample_weight": sample_weight} if COUNTS_WEIGHTS else {}
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[codes], **given)
        weight = None
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, X, dtype=np.float64)
            if not (weight >= 0).all():
                raise BeyondError("a weight that is negative")
        if not (factors > 0).all():
            raise BeyondError("a class without weight")
        solved = self._solved(X, codes, weight, factors)
        check_random_state(self.random_state).randint(LARGEST_SEED)  # a shared generator moves on as with LIBLINEAR
        self.coef_ = np.array([s.plane[0] for s in solved])
        self.intercept_ = np.array([s.plane[1] for s in solved]) if self.fit_intercept else 0.0
        self.n_iter_ = max(s.passes for s in solved)
        self._prove([s.certificate for s in solved], solved[0].how)
        self.dual_gap_ = float(max(gap(s.certificate) for s in solved))
        gaps = [s.certificate.gap for s in solved]
        if not all(g is not None and g <= max(self.tol, REACHED) for g in gaps):
            warnings.warn(NOT_CONVERGED, ConvergenceWarning, stacklevel=5)
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """The rows and the numbers of their classes; what is not plain is scikit-learn's to check."""
        plain = plain_classes(y) if plain_rows(X) and len(X) == len(y) else None
        if plain is not None:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            self.classes_, codes = plain
            return X, codes
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )  # fmt: skip
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BeyondError("one class")  # its error is scikit-learn's
        return X, codes

    def _check_settings(self) -> None:
        if self.penalty != "l2" and not (self.penalty == "l1" and self.loss == "squared_hinge"):
            raise BeyondError(f'penalty="{self.penalty}" with loss="{self.loss}"')
        if self.penalty == "l1" and self.dual is True:
            raise BeyondError("penalty='l1' and dual=True, a combination that has no solver")  # its error is theirs
        if self.multi_class != "ovr":
            raise BeyondError(f'multi_class="{self.multi_class}"')
        if self.loss == "hinge" and self.dual is False:
            raise BeyondError("loss='hinge' and dual=False, a combination that has no solver")  # its error is theirs
        if self.verbose or not self.max_iter:
            raise BeyondError("LIBLINEAR's own output is asked for" if self.verbose else "max_iter=0")

    def _solved(self, X: Any, codes: np.ndarray, weight: Vector | None, factors: Vector) -> list["SolvedClass"]:
        """A problem for each class against the rest. LIBLINEAR multiplies the weights of the class alone by its factor,
        not those of the rest; of two classes each has its own."""
        tol = self.tol * (1.0 if self.loss == "hinge" else SQUARED_HINGE_TOL)
        margin = QuietMargin(
            self.C, loss=self.loss, penalty=self.penalty, fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling, tol=tol, max_passes=int(self.max_iter),
        )  # fmt: skip
        binary = [1] if len(factors) == 2 else range(len(factors))
        try:
            solved: list[SolvedClass] = []
            shared: Patterns | None = None
            for k in binary:
                own = _weights_of(k, codes, weight, factors)
                labels = np.where(codes == k, 1.0, -1.0)
                kept = None if own is None or own.all() else np.flatnonzero(own)
                if shared is None or own is not None:
                    shared = margin.patterns(X, labels, own, kept)
                else:
                    shared = shared.relabelled(labels)
                solved.append(margin.solved(shared, kept, own))
            return solved
        except SeparatrixError as why:
            raise BeyondError(str(why)) from why


def _weights_of(k: int, codes: np.ndarray, weight: Vector | None, factors: Vector) -> Vector | None:
    """The prices of slack in the problem of class k; None where all are 1."""
    if (factors == 1.0).all():
        return weight
    own = factors[codes] if len(factors) == 2 else np.where(codes == k, factors[k], 1.0)
    return own if weight is None else own * weight


class SolvedClass(NamedTuple):
    """One problem, solved: coefficients and intercept, the rows that support them and their multipliers, what they
    prove, passes over the rows, and by what."""

    plane: tuple[Vector, float]
    support: np.ndarray
    alpha: Vector
    certificate: Certificate
    passes: int
    how: str
    gap: float  # of the vector that the solver found


class QuietMargin(MaxMargin):
    """Without what the drop-in classes do themselves: checks, warnings and attributes. Small problems of the plain
    hinge, whose last digits cost most of the time, are solved to `SMALL_HINGE_TOL` times the tolerance and not to
    machine precision."""

    def patterns(self, X: Any, labels: Vector, weight: Vector | None, kept: np.ndarray | None) -> Patterns:
        """Rows with labels -1 and +1; ``kept``: those with a weight, None for all."""
        if kept is not None and weight is not None:
            X, labels, weight = X[kept], labels[kept], weight[kept]
            if abs(labels.sum()) == len(labels):
                raise BeyondError("rows with a weight of at least 2 classes are needed")  # its error is scikit-learn's
        made = Patterns(MemoryRows(X).without_empty_columns(), labels, self._space(), weight)
        self._check_scale(made, np.arange(len(labels)) if kept is None else kept)
        return made

    def solved(self, patterns: Patterns, kept: np.ndarray | None, weight: Vector | None) -> SolvedClass:
        """``kept``: the numbers of the rows among those of ``weight``, None for all."""
        problem = self._problem(patterns, None)
        about: Any = SimpleNamespace(kept=np.arange(patterns.n) if kept is None else kept, given_weight=weight)
        found = self._solve(problem, about)
        a, multiple, margins = self._vector_of(patterns, found)
        certificate = certify(
            patterns, a, (found.index, found.alpha), kept=kept, sample_weight=weight, measured=(a, margins)
        )
        positive = found.alpha > 0
        return SolvedClass(
            patterns.space.split(patterns.in_all_columns(a)), found.index[positive], multiple * found.alpha[positive],
            certificate, int(np.ceil(problem.passes)), found.how, problem.gap,
        )  # fmt: skip

    def _vector_of(self, patterns: Patterns, found: Solution) -> tuple[Vector, float, Vector]:
        """The vector that predicts, the multiple of the multipliers that belongs to it, and its margins."""
        return found.a, 1.0, patterns.margins(found.a)

    def _problem(self, patterns: Any, data: Any, threads: int = 1) -> Any:
        problem = super()._problem(patterns, data, threads)
        if self.loss == "hinge":
            problem.tol = max(problem.tol, SMALL_HINGE_TOL * float(self.tol))
        return problem
