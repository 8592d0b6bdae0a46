"""Perceptron-like rules in the dual form, with a kernel."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, fields
from typing import Annotated, Any

import numpy as np

from separatrix.errors import DataError, UnavailableError
from separatrix.estimators.own_rule import checked_rule
from separatrix.fit.declare import COUNT, between, estimator, one_of
from separatrix.fit.kernel_separator import KernelMixin
from separatrix.fit.online import AdditiveClassifier, OnlineClassifier
from separatrix.fit.recipe import Before, Recipe, Record
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.fit.watch import threads_for
from separatrix.online.budgets import ERROR, POLICIES, empty_ledger
from separatrix.online.kernel_training import KernelTraining
from separatrix.online.loops.averaging import room_for_a_mean
from separatrix.online.loops.greedy import Margins
from separatrix.online.training import Training, adds_single_patterns
from separatrix.rules.perceptrons import GreedyRule, PerceptronRule
from separatrix.space import Vector


@estimator
class KernelPerceptron(ClassWeightMixin, KernelMixin, AdditiveClassifier):
    """Any additive rule with a kernel: the vector is kept as multiples of the rows.

    A visit costs nothing, because all ``a.y_k`` are at hand; an update costs one row of the Gram matrix. The
    certificate is that of the linear case, in the space of the kernel: it needs inner products alone.

    Sample weights enter as the rule says; for the plain Perceptron they multiply the increment.

    Parameters
    ----------
    rule : None, an online estimator or a rule, default=None
        The rule: None is the Perceptron; ``DynamicMargin(0.1)`` or any other additive estimator lends its own, with
        the parameters of the rule (all others are given here); or a ``NamedTuple`` with formulas, as for
        `PerceptronLike`.
    budget : int or None, default=None
        The most rows that a vector may be a combination of, so that predictions stay cheap.
    budget_policy : {"random", "forgetron", "projectron"}, default="random"
        What happens where an update would bring one row too many. "random": another one, drawn at random, goes out.
        "forgetron": the vector is shrunk and the oldest goes, so that at most 2 |g|^2 + 4 (the sum of g's hinge losses)
        mistakes are made, for every vector g that is not too long (`separatrix.bounds.forgetron`). "projectron": the
        new pattern is replaced by its projection on the others (`separatrix.bounds.projectron`); its multipliers may be
        negative, so that they bound no margin. The last two are for the plain Perceptron, ``rule=None``.
    budget_tol : float, default=0.1
        Of "projectron": a pattern that is no further than that from its projection, as a part of R, is projected even
        while there is room, or without a ``budget``.
    average : bool, default=False
        Predict with the mean of the vector over all visits. There is no mean with a ``budget``, whose rows it would
        hold: the last vector predicts, also with ``until="accurate"``.

    Attributes
    ----------
    support_ : ndarray
        Rows that support a vector, in all problems together; ``support_vectors_`` are these rows of X.
    dual_coef_ : ndarray of shape (number of vectors, number of support vectors)
        Multiples of these rows.
    intercept_ : ndarray
        The biases.
    certificate_ : Certificate
        What the fit proves, in the space of the kernel.
    classes_, converged_, n_updates_, n_visits_, n_epochs_, directional_margin_, geometric_margin_ : as for `Perceptron`
    projection_error_ : float
        Of "projectron": how far a projection was from its pattern at most, as a part of R.

    See Also
    --------
    Perceptron : Without a kernel.
    KernelMaxMargin : The maximum margin with a kernel.
    VotedPerceptron : Predicts by a vote of all vectors.

    References
    ----------
    Aizerman, Braverman & Rozonoer (1964); Freund & Schapire (1999); Duda, Hart & Stork, section 5.11. Budgets:
    Cavallanti, Cesa-Bianchi & Gentile, Machine Learning 69 (2007); Dekel, Shalev-Shwartz & Singer, SIAM Journal on
    Computing 37 (2008); Orabona, Keshet & Caputo (ICML 2008).

    Examples
    --------
    >>> from separatrix import DynamicMargin, KernelPerceptron
    >>> X, y = [[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, 0, 0]
    >>> model = KernelPerceptron(DynamicMargin(0.01), kernel="poly", degree=2, gamma=1, coef0=1, fit_intercept=False)
    >>> print(model.fit(X, y).certificate_)  # doctest: +ELLIPSIS
    linearly separable: margin 1.41421, proven upper bound 1.41421, relative gap ... (no intercept)
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> small = KernelPerceptron(budget=15, budget_policy="projectron", gamma=2.0, max_iter=20).fit(X, y)
    >>> len(small.support_) <= 15, small.score(X, y) > 0.95
    (True, True)
    """

    rule: Any = None
    average: bool = False
    _: KW_ONLY
    budget: Annotated[int | None, COUNT] = None
    budget_policy: Annotated[str, one_of(*POLICIES)] = "random"
    budget_tol: Annotated[float, between(0, 1, "left")] = 0.1
    shuffle: bool = True  # rows of the Gram matrix are not neighbours in memory

    _accepts_row_sources = False
    _joins = {**AdditiveClassifier._joins, "projection_error_": max}
    _refuses = {
        "partial_fit": "keeps multiples of the rows that it was fitted to",
        "joint": "keeps one combination of the rows per problem",
    }

    def _recipe(self, record: Record) -> Recipe:
        lent = self._lent(record)
        if self.budget_policy != "random":
            return self._with_ledger(lent)
        if isinstance(lent.rule, GreedyRule):
            if self.average:
                raise ValueError("The greedy rule keeps no mean of its vectors: average must be False.")
            return lent._replace(memory=self._products_at_hand)
        if not adds_single_patterns(lent.rule):
            raise self._has_no_dual_form()
        if lent.memory is not None:
            raise ValueError(
                f"rule={self.rule!r} predicts with more than its last vector, which has no dual form. Use "
                "rule=Perceptron(), and average=True of KernelPerceptron where the classes overlap."
            )
        if self.average and self.budget is not None:
            raise self._holds_all()
        return lent if self.budget is None else lent._replace(averaging="none")

    def _with_ledger(self, lent: Recipe) -> Recipe:
        if self.average:
            raise self._holds_all()
        if not (isinstance(lent.rule, PerceptronRule) and lent.rule == PerceptronRule()):
            raise ValueError(f"budget_policy={self.budget_policy!r} is for the plain Perceptron: rule must be None.")
        if self.budget is None and self.budget_policy == "forgetron":
            raise ValueError('budget_policy="forgetron" needs a budget.')
        budget = None if self.budget_policy == "projectron" else self.budget
        return lent._replace(memory=lambda training: empty_ledger(None if budget is None else int(budget)))

    def _lent(self, record: Record) -> Recipe:
        """What the rule's estimator would do; it lends its rule, its rates and its limit of updates."""
        lender = self.rule
        if not isinstance(lender, OnlineClassifier):
            return Recipe(PerceptronRule() if lender is None else checked_rule(lender))
        lender._validate_params()
        self._refuse_dropped(lender)
        recipe = lender._recipe(record)
        return recipe._replace(limit=lender._update_limit(recipe))

    def _products_at_hand(self, training: Training) -> Margins:
        n = training.patterns.n
        used = np.zeros(len(training.rule.etas), np.int64)
        return Margins(np.zeros(n), np.zeros(n), np.zeros(0), used, room_for_a_mean(n + 1))

    def _holds_all(self) -> ValueError:
        return ValueError(
            "A budget takes rows out again, and a mean over all visits holds them: average must be False."
        )

    def _has_no_dual_form(self) -> ValueError:
        return ValueError(
            f"rule={self.rule!r} has no dual form here: a kernel needs corrections by multiples >= 0 of the pattern at "
            "hand, decided by a.y and lengths alone."
        )

    def _refuse_dropped(self, lender: OnlineClassifier) -> None:
        """A lender gives its rule and its limit of updates: what else was asked of it would be lost."""
        shared = {f.name for f in fields(AdditiveClassifier)} - {"max_updates"}
        dropped = [f.name for f in fields(lender) if f.name in shared and getattr(lender, f.name) != f.default]
        dropped += ["average"] if getattr(lender, "average", False) else []
        if dropped:
            raise ValueError(
                f"rule={lender!r} lends its rule alone, so {', '.join(dropped)} would be lost: tell KernelPerceptron."
            )

    @property
    def certify(self):
        raise UnavailableError(
            "KernelPerceptron has no certify: its vector belongs to the rows of the fit, of which certificate_ speaks. "
            "On other rows decision_function(X) tells the sides."
        )

    def _parts(self, train: Data, valid: Data) -> tuple[list[Any], list[Any]]:
        """The held-out rows are seen from those that are trained with."""
        trained: list[Any] = self._problems(train)
        held: list[Any] = self._problems(valid)
        for ours, theirs in zip(held, trained, strict=True):
            ours._centres = theirs
        return trained, held

    def _new_trainings(self, patterns: list[Any], rule: Any, weight: Vector, data: Data, **options: Any) -> list[Any]:
        megabytes = self._megabytes(data, threads_for(self.n_jobs, len(patterns)))
        budget = None if self.budget is None else int(self.budget)
        how: dict[str, Any] = {"budget": budget, "policy": self.budget_policy, "near": float(self.budget_tol)}
        return [KernelTraining(p, rule, weight, megabytes=megabytes, **how, **options) for p in patterns]

    def _starts(self, data: Data, coef_init: Any, intercept_init: Any, left: Before | None) -> Sequence[Vector | None]:
        if coef_init is not None or intercept_init is not None:
            raise ValueError("KernelPerceptron has no coef_init: its vector belongs to the rows of the fit.")
        if left is not None:
            raise DataError("warm_start goes on with the same data only: a kernel's vector belongs to its rows.")
        return [None] * data.planes

    def _on_all_rows(self, vector: Vector, trained: np.ndarray, n: int) -> Vector:
        full = np.zeros(n + 1)
        full[trained], full[-1] = vector[:-1], vector[-1]
        return full

    def _own(self, training: Training, record: Record) -> dict[str, Any]:
        if self.budget_policy != "projectron":
            return {}
        return {"projection_error_": float(training.state.memory.sums[ERROR])}
