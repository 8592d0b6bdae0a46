"""Perceptron-like rules in the dual form, with a kernel."""

from dataclasses import field, fields
from typing import Any

import numpy as np

from separatrix.errors import DataError, UnavailableError
from separatrix.estimators._fit.declare import estimator
from separatrix.estimators._fit.kernel_separator import CONSTRAINTS, KERNEL, SUPPORT, KernelMixin
from separatrix.estimators._fit.online import OnlineClassifier
from separatrix.estimators._fit.parallel import threads_for
from separatrix.estimators._fit.separator import Data
from separatrix.estimators._fit.work import Facts, Record
from separatrix.estimators.own_rule import checked_rule
from separatrix.estimators.perceptrons import AdditiveClassifier
from separatrix.loops.averaging import Mean, average
from separatrix.loops.state import VISITS
from separatrix.patterns.binary_problems import binary_labels, pairs
from separatrix.patterns.kernel_patterns import KernelPatterns
from separatrix.patterns.plain_patterns import Patterns
from separatrix.rules.perceptron import PerceptronRule
from separatrix.space import Space, Vector
from separatrix.training.base import Training, adds_single_patterns
from separatrix.training.kernel_training import KernelTraining


@estimator
class KernelPerceptron(KernelMixin, AdditiveClassifier):
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
    average : bool, default=False
        Predict with the mean of the vector over all visits (for rules that do not rescale the vector).
    {kernel}
    {shared}
    {delta}

    Attributes
    ----------
    {support}
    certificate_ : Certificate
        What the fit proves, in the space of the kernel.
    classes_, converged_, n_updates_, n_visits_, n_epochs_, directional_margin_, geometric_margin_ : as for `Perceptron`

    References
    ----------
    Aizerman, Braverman & Rozonoer (1964); Freund & Schapire (1999); Duda, Hart & Stork, section 5.11.

    Examples
    --------
    >>> from separatrix import DynamicMargin, KernelPerceptron
    >>> X, y = [[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, 0, 0]
    >>> model = KernelPerceptron(DynamicMargin(0.01), kernel="poly", degree=2, gamma=1, coef0=1, fit_intercept=False)
    >>> print(model.fit(X, y).certificate_)
    separable: margin 1.41421, at least 100.00% of the best; no margin above 1.41421 exists (no bias)
    """

    rule: Any = None
    average: bool = False
    kernel: Any = field(default="rbf", kw_only=True)
    gamma: Any = field(default="scale", kw_only=True)
    degree: float = field(default=3, kw_only=True)
    coef0: float = field(default=0.0, kw_only=True)
    cache_size: float = field(default=500, kw_only=True)

    _parameter_constraints = {
        **AdditiveClassifier._parameter_constraints,
        **CONSTRAINTS,
        "rule": [object],
        "average": ["boolean"],
    }
    _no_partial_fit = "keeps multiples of the rows that it was fitted to"
    _no_machine = "keeps one combination of the rows per problem"

    def _lender(self) -> OnlineClassifier | None:
        return self.rule if isinstance(self.rule, OnlineClassifier) else None

    def _rule(self, facts: Facts) -> Any:
        lender = self._lender()
        if lender is not None:
            lender._validate_params()
            self._refuse_dropped(lender)
            rule = lender._rule(facts)
        else:
            rule = PerceptronRule() if self.rule is None else checked_rule(self.rule)
        if not adds_single_patterns(rule) or (lender is not None and lender._no_machine):
            raise ValueError(
                f"rule={self.rule!r} does not correct by multiples of single patterns: it has no dual form."
            )
        if self.average and (hasattr(rule, "keep") or hasattr(rule, "shrink")):
            raise ValueError(f"rule={self.rule!r} rescales the vector, which has no mean then: average must be False.")
        return rule

    def _refuse_dropped(self, lender: OnlineClassifier) -> None:
        """A lender gives its rule and its limit of updates: what else was asked of it would be lost."""
        dropped = [
            f.name
            for f in fields(AdditiveClassifier)
            if f.name != "max_updates" and getattr(lender, f.name, f.default) != f.default
        ]
        dropped += ["average"] if getattr(lender, "average", False) else []
        if dropped:
            raise ValueError(
                f"rule={lender!r} lends its rule alone, so {', '.join(dropped)} would be lost: tell KernelPerceptron."
            )

    def _update_limit(self, facts: Facts) -> int:
        own, lender = super()._update_limit(facts), self._lender()
        return own if lender is None else min(own, lender._update_limit(facts))

    def _prepare(self, training: Training, record: Record, fresh: bool) -> None:
        lender = self._lender()
        if lender is not None:
            ours = training.state.memory
            lender._prepare(training, record, fresh)
            if training.state.memory is not ours:
                raise ValueError(
                    f"rule={lender!r} predicts with more than its last vector, which has no dual form. Use "
                    "rule=Perceptron(), and average=True of KernelPerceptron where the classes overlap."
                )
        if self.average and not isinstance(training.state.memory, Mean):
            training.state = training.state._replace(memory=Mean(np.zeros(training.patterns.n + 1)))

    def _predicting(self, training: Training) -> Vector:
        memory = training.state.memory
        if not (self.average and isinstance(memory, Mean)):
            return training.vector
        return average(memory.late, training.vector, int(training.state.counts[VISITS]))

    def _problems(self, data: Data, mode: str = "") -> list[Patterns]:
        if (mode or self._mode(data.classes)) == "kesler":
            self._refuse_machine(self._no_machine)
        patterns = self._kernel_patterns(data, binary_labels(data.codes, len(data.classes)), self._space())
        self._check_scale(patterns[0], data.kept)
        return patterns

    def _member_params(self, data: Data) -> dict[str, Any]:
        share = self.cache_size / threads_for(self.n_jobs, len(pairs(len(data.classes))))
        return {"gamma": self._kernel(data).gamma, "cache_size": share}

    @property
    def certify(self):
        raise UnavailableError(
            "KernelPerceptron has no certify: its vector belongs to the rows of the fit, of which certificate_ speaks. "
            "On other rows decision_function(X) tells the sides."
        )

    def _split(self, data: Data) -> tuple[Data, list[Patterns] | None]:
        self._fixed_kernel_ = None
        self._fixed_kernel_ = self._kernel(data)
        count = 1 if len(data.classes) == 2 else len(data.classes)
        self._megabytes_ = float(self.cache_size) / threads_for(self.n_jobs, count)
        train, held = super()._split(data)
        self._kept_ = train.kept
        if held is not None:
            for ours, theirs in zip(held, self._problems(train), strict=True):
                ours.centres = theirs  # type: ignore[attr-defined]
        return train, held

    def _training(self, patterns: Patterns, weight: Vector, record: Record | None, **options: Any) -> Any:
        assert isinstance(patterns, KernelPatterns)
        self._centres_ = patterns
        facts = self._facts(patterns) if record is None else record.facts
        seed = self._seed_ if self.shuffle else None
        training = KernelTraining(
            patterns, self._rule(facts), weight, megabytes=self._megabytes_, seed=seed, radius2=facts.radius2
        )
        return training, Record(facts, training.state, True, patterns.radius) if record is None else record

    def _starts(self, data: Data, coef_init: Any, intercept_init: Any, records: Any) -> list[Vector | None]:
        if coef_init is not None or intercept_init is not None:
            raise ValueError("KernelPerceptron has no coef_init: its vector belongs to the rows of the fit.")
        if records is not None:
            raise DataError("warm_start goes on with the same data only: a kernel's vector belongs to its rows.")
        return [None] * (1 if len(data.classes) == 2 else len(data.classes))

    def _on_all_rows(self, vector: Vector, trained: np.ndarray, n: int) -> Vector:
        full = np.zeros(n + 1)
        full[trained], full[-1] = vector[:-1], vector[-1]
        return full

    def _set_vectors(self, space: Space, vectors: list[Vector]) -> None:
        if len(vectors[0]) == self._centres_.n + 1:  # else they are spread over rows that were held out
            self._set_duals(self._centres_, vectors, self._kept_)

    def _finish(self, work: Any, data: Data, whole: Data, mark: str | None) -> None:
        super()._finish(work, data, whole, mark)
        self._set_duals(work.patterns[0], [self._finite(t) for t in work.trainings], data.kept)
        del self._centres_, self._kept_, self._fixed_kernel_, self._megabytes_


KernelPerceptron.__doc__ = (KernelPerceptron.__doc__ or "").replace("{kernel}", KERNEL).replace("{support}", SUPPORT)
