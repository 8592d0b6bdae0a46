"""scikit-learn's Perceptron and PassiveAggressiveClassifier, row by row in its order, with a certificate."""

from typing import Any

import numpy as np
import sklearn.linear_model
from joblib import Parallel, delayed
from scipy import sparse as sp
from sklearn.utils import check_random_state

from separatrix.certificates.certify import certify
from separatrix.compile_cache import at_once
from separatrix.data.memory import MemoryRows, as_rows
from separatrix.dropin.handover import LARGEST_SEED, BeyondError, HandoverMixin
from separatrix.online.loops import sgd_loop
from separatrix.online.loops.sgd_loop import Steps
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space, Vector, default_errstate

SPARSE_DECAY = 0.01  # scikit-learn's, of the bias on sparse data
WORK_BETWEEN_LOOKS = 1e8  # multiplications between two returns to Python, where Ctrl-C is heard
KINDS = {"constant": sgd_loop.CONSTANT, "pa1": sgd_loop.PA1, "pa2": sgd_loop.PA2}


class SequentialMixin(HandoverMixin):
    """A fit that visits rows one by one; scikit-learn's ``_fit_binary`` and ``_fit_multiclass`` are its two steps."""

    _proving = False  # whether all data of the fit are at hand
    # what scikit-learn's class has
    penalty: Any
    early_stopping: Any
    average: Any
    verbose: Any
    random_state: Any
    n_jobs: Any
    classes_: Any
    coef_: Any
    intercept_: Any
    t_: Any
    _expanded_class_weight: Any

    @default_errstate()
    def _fit(self, *args: Any, **kwargs: Any) -> Any:
        self._forget()
        self._proving = True
        try:
            return super()._fit(*args, **kwargs)  # type: ignore[misc]
        finally:
            del self._proving

    def _partial_fit(self, *args: Any, **kwargs: Any) -> Any:
        self._forget()
        return super()._partial_fit(*args, **kwargs)  # type: ignore[misc]

    def _fit_binary(self, X, y, *, sample_weight, learning_rate, max_iter, **more):
        try:
            self._check_settings()
        except BeyondError as why:
            ask = super()._fit_binary  # type: ignore[misc]
            parts = {"sample_weight": sample_weight, "learning_rate": learning_rate, "max_iter": max_iter}
            self._leave(lambda: ask(X, y, **parts, **more), why)
            return
        rng = check_random_state(self.random_state)
        rng.randint(1, LARGEST_SEED)  # scikit-learn draws one for its data set before it draws the order
        weight = self._expanded_class_weight[(y == self.classes_[1]).astype(int)] * sample_weight
        run = _Run(self, X, learning_rate)
        run.train(y == self.classes_[1], weight, self.coef_.ravel(), self.intercept_[0], int(max_iter), rng)
        self._take([run], X, max_iter)

    def _fit_multiclass(self, X, y, *, sample_weight, learning_rate, max_iter, **more):
        try:
            self._check_settings()
        except BeyondError as why:
            ask = super()._fit_multiclass  # type: ignore[misc]
            parts = {"sample_weight": sample_weight, "learning_rate": learning_rate, "max_iter": max_iter}
            self._leave(lambda: ask(X, y, **parts, **more), why)
            return
        seeds = check_random_state(self.random_state).randint(LARGEST_SEED, size=len(self.classes_))

        def one(k: int) -> _Run:
            rng, positive = check_random_state(seeds[k]), y == self.classes_[k]
            rng.randint(1, LARGEST_SEED)
            weight = np.where(positive, self._expanded_class_weight[k] * sample_weight, sample_weight)
            run = _Run(self, X, learning_rate)
            run.train(positive, weight, self.coef_[k], self.intercept_[k], int(max_iter), rng)
            return run

        runs = Parallel(n_jobs=self.n_jobs, require="sharedmem")(delayed(one)(k) for k in range(len(seeds)))
        self._take(runs, X, max_iter)

    def _check_settings(self) -> None:
        if self.penalty is not None:
            raise BeyondError(f'penalty="{self.penalty}"')
        if self.early_stopping:
            raise BeyondError("early_stopping=True")
        if self.average:
            raise BeyondError(f"average={self.average}")
        if self.verbose:
            raise BeyondError("scikit-learn's own output is asked for")

    def _take(self, runs: list["_Run"], X: Any, max_iter: int) -> None:
        """The attributes of a fit; scikit-learn's warning about ``max_iter`` comes after it."""
        self.coef_ = np.array([run.v[:-1] for run in runs], dtype=X.dtype)
        # scikit-learn's intercept of two classes is float64 always
        self.intercept_ = np.array([run.v[-1] for run in runs], dtype=np.float64 if len(runs) == 1 else X.dtype)
        self.n_iter_ = max(run.n_iter for run in runs)
        self.t_ += self.n_iter_ * X.shape[0]
        how = "row by row in scikit-learn's order"
        if self._proving:
            self._prove([run.certificate() for run in runs], how)
        else:
            self.solver_ = f"separatrix: {how}"


class _Run:
    """One binary problem: its vector (w, b), the multiples of the patterns in it, and the epochs that it took."""

    def __init__(self, model: Any, X: Any, learning_rate: str):
        self.model, self.kind = model, KINDS[learning_rate]
        self.X, self.sparse = X, sp.issparse(X)

    @at_once()
    def train(
        self, positive: np.ndarray, weight: Vector, coef: Vector, intercept: float, max_iter: int, rng: Any
    ) -> None:
        model, n = self.model, self.X.shape[0]
        decay = (SPARSE_DECAY if self.sparse else 1.0) if model.fit_intercept else 0.0
        eta = model.C if self.kind != sgd_loop.CONSTANT else model.eta0
        seed = int(rng.randint(LARGEST_SEED)) if model.shuffle else -1
        tol = -np.inf if model.tol is None else float(model.tol)
        steps = Steps(
            self.kind, 0.0 if self.kind == sgd_loop.CONSTANT else 1.0, float(eta), decay, tol,
            float(model.n_iter_no_change), seed, float(np.finfo(self.X.dtype).max),
        )  # fmt: skip
        labels = np.where(positive, 1.0, -1.0)
        space = Space(float(np.sqrt(decay)))
        self.patterns = Patterns(MemoryRows(as_rows(self.X)), labels, space)
        self.v = np.append(np.asarray(coef, dtype=np.float64), float(intercept))
        self.from_zero = not self.v.any()
        self.alpha = np.zeros(n)
        order, progress = np.arange(n), np.array([np.inf, 0.0])
        weight = np.ascontiguousarray(weight, dtype=np.float64)
        piece = max(1, int(WORK_BETWEEN_LOOKS / (n * (self.patterns.entries_per_row + 10.0))))
        self.n_iter, status = 0, sgd_loop.RUNNING
        while status == sgd_loop.RUNNING and self.n_iter < max_iter:
            budget = min(piece, max_iter - self.n_iter)
            made, status = sgd_loop.epochs()(
                self.patterns.rows, labels, weight, self.patterns.squares, steps, order, self.v, self.alpha, progress,
                budget,
            )  # fmt: skip
            self.n_iter += int(made)
        if status == sgd_loop.OVERFLOW:
            raise ValueError(
                f"Floating-point under-/overflow occurred at epoch #{self.n_iter}. Scaling input data with "
                "StandardScaler or MinMaxScaler might help."
            )

    def certificate(self) -> Any:
        a = self.patterns.space.join(self.v[:-1], self.v[-1])
        return certify(self.patterns, a, self.alpha if self.from_zero else None)


class Perceptron(SequentialMixin, sklearn.linear_model.Perceptron):
    """scikit-learn's ``Perceptron`` with the same parameters, attributes and result, and a certificate.

    The same rows are visited in the same order, so the result is scikit-learn's but for rounding; sums are taken in
    float64 also where X is float32. A ``penalty``, ``early_stopping`` and ``verbose`` are left to scikit-learn.

    Parameters are those of ``sklearn.linear_model.Perceptron``.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, n_iter_, t_ : as in scikit-learn
        The fitted model.
    solver_ : str
        Who solved the problem: "separatrix: ..." or "scikit-learn: ..." with the reason.
    certificate_, certificates_ : Certificate, list of Certificate
        The margin that is reached and a bound on the best one, of all problems and of each. Only after `fit` by
        separatrix, not after ``partial_fit``, which sees some of the rows.

    See Also
    --------
    separatrix.Perceptron : Margins, increments, averages, linear machines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.dropin import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron().fit(X, y == 0)
    >>> model.n_iter_, model.certificate_.separable
    (7, True)
    """


if hasattr(sklearn.linear_model, "PassiveAggressiveClassifier"):  # scikit-learn 1.10 has none

    class PassiveAggressiveClassifier(SequentialMixin, sklearn.linear_model.PassiveAggressiveClassifier):
        """scikit-learn's ``PassiveAggressiveClassifier``: the same parameters and result, and a certificate.

        The same rows are visited in the same order. ``average``, ``early_stopping`` and ``verbose`` are left to
        scikit-learn, which warns that it will remove this class in 1.10; so does this one.

        Parameters are those of ``sklearn.linear_model.PassiveAggressiveClassifier``.

        Attributes
        ----------
        coef_, intercept_, classes_, n_features_in_, n_iter_, t_ : as in scikit-learn
            The fitted model.
        solver_ : str
            Who solved the problem: "separatrix: ..." or "scikit-learn: ..." with the reason.
        certificate_, certificates_ : Certificate, list of Certificate
            The margin that is reached and a bound on the best one, of all problems and of each; after `fit` only.

        See Also
        --------
        separatrix.PassiveAggressive : The rule of the paper, which counts the bias in ``|y|^2``.

        Examples
        --------
        >>> import warnings
        >>> from sklearn.datasets import load_iris
        >>> from separatrix.dropin import PassiveAggressiveClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     model = PassiveAggressiveClassifier(random_state=0).fit(X, y == 0)
        >>> model.certificate_.separable
        True
        """
