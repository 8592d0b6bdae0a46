"""Piecewise linear machines."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from separatrix.compile_cache import at_once
from separatrix.errors import DataError
from separatrix.fit.declare import COUNT, NOT_NEGATIVE, POSITIVE, estimator
from separatrix.fit.prediction import scores_of
from separatrix.fit.recipe import enough_epochs
from separatrix.fit.result import Result, each
from separatrix.fit.separator import LinearSeparator
from separatrix.fit.sklearn_api import fit_method
from separatrix.fit.training_data import Data
from separatrix.fit.watch import Watch
from separatrix.online.loops import piecewise_loop as pieces
from separatrix.online.loops.order import order_of, permutation
from separatrix.passes.compiled import all_scores
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import default_errstate

MOST_EPOCHS = 200  # of a start, by default


@dataclass
class Best:
    """The machine with the fewest errors so far."""

    errors: int
    machine: np.ndarray


@estimator
class PiecewiseLinearMachine(LinearSeparator):
    """A piecewise linear machine: several linear discriminants per class, of which the largest speaks for it.

    ``g_i(x) = max_j w_ij.x + b_ij``, and x goes to the class with the largest g_i. It is a linear machine for
    subclasses that nobody has named, so its regions need be neither convex nor connected. Where the best piece of a
    row's own class does not exceed the best of all others by more than ``margin``, the row is added to the one and
    taken from the other (eq. 115 for subclasses). That ends where no row is corrected, which even for separable
    subclasses is not guaranteed; the machine with the fewest errors is kept, over ``n_init`` starts.

    The problem is not convex: there is no certificate. Sample weights multiply the increment; rows of weight 0 are left
    out.

    Parameters
    ----------
    n_pieces : int or array-like of int, default=2
        Pieces per class; one number for all, or one for each in the order of ``classes_``.
    margin : float, default=0.0
        By how much the right class has to win, in units of the increment times |y|^2.
    fit_intercept : bool, default=True
        Learn biases by augmenting every row with the constant ``intercept_scaling``.
    max_iter : int or None, default=None
        Passes over the data for each start, at most. None: as many as visit 5,000 rows, at least 5 and at most 200.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_, intercept_ : ndarray of shapes (pieces, d) and (pieces,)
        The pieces of all classes, one after the other.
    owners_ : ndarray of shape (pieces,)
        The number of the class that each piece speaks for.
    n_errors_ : int
        Errors on the data of the fit.
    converged_ : bool
        An epoch passed without a correction. ``stop_reason_``: "converged", "max_iter", or "callback" if one of them
        stopped the fit; they are reported of every epoch.
    n_updates_, n_epochs_ : int
        Corrections and epochs of all starts together.

    See Also
    --------
    MaxMargin : One linear machine, with a proof: ``multi_class="joint"``.
    KernelPerceptron : Other boundaries that are not straight.

    References
    ----------
    Nilsson, Learning Machines (1965); Duda, Hart & Stork, problems 9 and 10.

    Examples
    --------
    The parity of two bits, which no linear machine can tell (problem 10):

    >>> from separatrix import PiecewiseLinearMachine
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> PiecewiseLinearMachine([2, 1]).fit(X, y).predict(X).tolist()
    [0, 1, 1, 0]
    """

    n_pieces: Annotated[Any, COUNT, "array-like"] = 2
    margin: Annotated[float, NOT_NEGATIVE] = 0.0
    _: KW_ONLY
    fit_intercept: bool = True
    intercept_scaling: Annotated[float, POSITIVE, "The augmenting constant."] = 1.0
    max_iter: Annotated[int | None, COUNT] = None
    n_init: Annotated[int, COUNT, "Starts, at most; the first without an error ends the fit."] = 5
    shuffle: Annotated[bool, "Draw a new order for every epoch."] = True
    random_state: Annotated[Any, "random_state", "Seed of the starts and orders."] = 0

    @fit_method
    @at_once()
    def fit(self, X, y, sample_weight=None):
        """Fit the machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            Factors on the increments; rows of weight 0 are left out.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _mode(self, classes: np.ndarray) -> str:
        return "joint"

    def _doubt(self, n: int) -> tuple[str, str]:
        advice = "More pieces, more starts (n_init) or more epochs may help; noisy data keep some errors."
        return f"{self.stop_reason_} with {self.n_errors_} errors left", advice

    _joins = dict.fromkeys(("n_errors_", "n_iter_", "converged_"), each)

    def _results(self, data: Data, watch: Watch, before: None) -> list[Result]:
        patterns = Patterns(data.rows, np.ones(len(data.codes)), self._space())
        self._check_scale(patterns, data.kept)
        self.owners_ = np.repeat(np.arange(len(data.classes)), self._pieces(len(data.classes)))
        self.n_updates_, self.n_epochs_, self.converged_ = 0, 0, False
        best = Best(len(data.codes) + 1, self._along_the_diagonal(data, patterns))
        rng = check_random_state(self.random_state)

        def task(start: int) -> None:
            if best.errors > 0:
                V = best.machine.copy() if start == 0 else self._at_random(data, patterns, rng)
                self._run(data, patterns, V, rng, best, watch)

        watch.run_each(task, int(self.n_init), n_jobs=1)
        self.converged_ = best.errors == 0 or self.converged_  # from that machine an epoch makes no correction
        own = {
            "n_errors_": best.errors,
            "n_iter_": self.n_epochs_,
            "converged_": self.converged_,
        }
        reason = watch.stop.reason or ("converged" if self.converged_ else "max_iter")
        return [Result(self._attributes_of(patterns, best.machine.ravel(), data), reason, None, None, own)]

    def _pieces(self, classes: int) -> np.ndarray:
        given = np.asarray(self.n_pieces)
        whole = given.dtype.kind in "iu" and given.ndim <= 1 and given.size and given.min() >= 1
        if not whole or (given.ndim == 1 and len(given) != classes):
            raise ValueError(
                f"n_pieces={self.n_pieces!r} must be a positive integer, or one for each of the {classes} classes."
            )
        return np.broadcast_to(given, classes)

    def _along_the_diagonal(self, data: Data, patterns: Patterns) -> np.ndarray:
        """The first start: a class's rows ordered by the sum of their features and cut into groups, whose means are the
        prototypes. It solves parity, whose pieces are multiples of (1, ..., 1) (DHS problem 10)."""
        V = np.zeros((len(self.owners_), patterns.d + 1))
        sums = patterns.margins(np.append(np.ones(patterns.d), 0.0))
        for k in range(len(data.classes)):
            rows, mine = np.flatnonzero(data.codes == k), np.flatnonzero(self.owners_ == k)
            values, group = np.unique(sums[rows], return_inverse=True)
            if len(values) != len(mine):
                group = (np.argsort(np.argsort(sums[rows], kind="stable")) * len(mine)) // len(rows)
            for g, p in enumerate(mine):
                members = rows[group == g] if np.any(group == g) else rows
                V[p] = patterns.combine(members, np.full(len(members), 1.0 / len(members)))
        return V

    def _at_random(self, data: Data, patterns: Patterns, rng: np.random.RandomState) -> np.ndarray:
        """Later starts: random rows of the classes as prototypes."""
        V = np.zeros((len(self.owners_), patterns.d + 1))
        for k in range(len(data.classes)):
            rows, mine = np.flatnonzero(data.codes == k), np.flatnonzero(self.owners_ == k)
            V[mine] = patterns.dense_rows(rng.choice(rows, len(mine), replace=len(rows) < len(mine)))
        return V

    def _run(
        self, data: Data, patterns: Patterns, V: np.ndarray, rng: np.random.RandomState, best: Best, watch: Watch
    ) -> None:
        """Epochs from the rule of the nearest prototype, which is a machine of pieces w.x - |w|^2/2."""
        rho = patterns.space.rho
        V[:, -1] = -0.5 * np.sum(V[:, :-1] ** 2, axis=1) / rho if rho else 0.0
        order = order_of(patterns.n, int(rng.randint(np.iinfo(np.int32).max)) if self.shuffle else None)
        epoch, margin = pieces.epoch(), float(self.margin) * patterns.radius2
        self._keep(data, V, rho, best)
        for e in range(int(self.max_iter or min(MOST_EPOCHS, enough_epochs(patterns.n)))):
            with np.errstate(over="ignore"):
                permutation()(order, e)
                updates = epoch(data.rows, data.codes, self.owners_, order.sequence, data.weight, rho, margin, V)
            self.n_updates_ += int(updates)
            self.n_epochs_ += 1
            if not np.all(np.isfinite(V)):
                raise DataError("The vectors of PiecewiseLinearMachine overflow float64. Scale your features.")
            self._keep(data, V, rho, best)
            self.converged_ |= updates == 0
            stopped = watch.look(
                0,
                lambda: {"epochs": self.n_epochs_, "updates": self.n_updates_, "errors": best.errors},
                lambda: [self._attributes_of(patterns, best.machine.ravel(), data)],
            )
            if stopped or updates == 0:
                return

    def _keep(self, data: Data, V: np.ndarray, rho: float, best: Best) -> None:
        """The later of equally good machines, which has the larger margins."""
        scores = np.empty((len(data.codes), len(V)))
        all_scores()(data.rows, rho, V, scores)
        errors = int(np.count_nonzero(self._maxima(scores).argmax(axis=1) != data.codes))
        if errors <= best.errors:
            best.errors, best.machine = errors, V.copy()

    def _maxima(self, scores: np.ndarray) -> np.ndarray:
        """The largest score of each class's pieces."""
        first = np.searchsorted(self.owners_, np.arange(len(self.classes_)))
        return np.maximum.reduceat(scores, first, axis=1)

    def _scores(self, X):
        largest = self._maxima(scores_of(X, self.coef_, self.intercept_))
        return largest[:, 1] - largest[:, 0] if largest.shape[1] == 2 else largest

    def _fitted_as(self) -> str:
        return "joint"

    @default_errstate()
    def piece(self, X):
        """The number of the piece that speaks for each row, a row of ``coef_``: its subclass.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of int of shape (n,)
            The numbers.
        """
        check_is_fitted(self)
        return scores_of(self._checked(X), self.coef_, self.intercept_).argmax(axis=1)

    @property
    def signed_distance(self):
        raise AttributeError("PiecewiseLinearMachine has no single hyperplane per class: use decision_function(X).")

    radius = signed_distance
