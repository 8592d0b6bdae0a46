"""Everything that the online estimators share: validate -> space -> rule -> loop -> attributes."""

from collections.abc import Sequence
from dataclasses import field, replace
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, UnavailableError
from separatrix.estimators._fit.declare import estimator
from separatrix.estimators._fit.early_stopping import hold_out
from separatrix.estimators._fit.one_vs_one import fit_members, gather, like, members_of, part_of, partial_members
from separatrix.estimators._fit.separator import Data, LinearSeparator, fingerprint, warn_not_converged
from separatrix.estimators._fit.starts import starting_planes, starts_of_pairs
from separatrix.estimators._fit.watch import Progress, with_callbacks
from separatrix.estimators._fit.work import Facts, Record, Work
from separatrix.loops.state import EPOCHS, UPDATES, VISITS
from separatrix.patterns.binary_problems import binary_labels, pairs
from separatrix.patterns.kesler_patterns import KeslerPatterns
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certificate import Certificate
from separatrix.proof.certify import certify
from separatrix.rules.base import attribute
from separatrix.space import Vector
from separatrix.training.base import UNLIMITED, Training, adds_single_patterns
from separatrix.training.kesler_training import MachineTraining

ADVICE = (
    "If the data may not be separable, Perceptron(average=True), Pocket or MaxMargin give a useful answer all the "
    "same, and separability(X, y) decides it; otherwise scale your features or raise max_epochs."
)


def _offers_partial_fit(owner: "OnlineClassifier") -> bool:
    if owner._no_partial_fit:
        raise UnavailableError(f"{type(owner).__name__} {owner._no_partial_fit}, so it has no partial_fit: use fit.")
    return True


@estimator
class OnlineClassifier(LinearSeparator):
    """Base of the estimators that show one pattern after the other to a rule."""

    fit_intercept: bool = field(default=True, kw_only=True)
    rho: float = field(default=1.0, kw_only=True)
    max_epochs: int = field(default=1000, kw_only=True)
    max_updates: int | None = field(default=None, kw_only=True)
    shuffle: bool = field(default=True, kw_only=True)
    random_state: Any = field(default=0, kw_only=True)
    warm_start: bool = field(default=False, kw_only=True)
    early_stopping: bool = field(default=False, kw_only=True)
    validation_fraction: float = field(default=0.1, kw_only=True)
    n_iter_no_change: int | None = field(default=None, kw_only=True)
    multi_class: str = field(default="ovr", kw_only=True)
    rivals: str = field(default="strongest", kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    _parameter_constraints = {
        "fit_intercept": ["boolean"],
        "rho": [Interval(Real, 0, None, closed="neither")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "max_updates": [Interval(Integral, 1, None, closed="left"), None],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "multi_class": [StrOptions({"ovr", "ovo", "kesler"})],
        "rivals": [StrOptions({"strongest", "all"})],
        "n_jobs": [Integral, None],
    }
    _needs_peak = False  # Facts.peak is worth a pass
    _direction_predicts = True  # coef_ is what predicts
    _has_counter = False  # the sources call 1 + updates t
    _no_partial_fit = ""  # why there is none
    _no_machine = ""  # why there is no linear machine
    _complete_after = "converged"  # the way to end that is as good as convergence

    # What a subclass says of its algorithm.

    def _rule(self, facts: Facts) -> Any:
        raise NotImplementedError

    def _prepare(self, training: Training, record: Record, fresh: bool) -> None:
        """Give the training what the rule needs besides its parameters: a memory, weights, a table of rates."""

    def _update_limit(self, facts: Facts) -> int:
        return UNLIMITED if self.max_updates is None else min(int(self.max_updates), UNLIMITED)

    def _predicting(self, training: Training) -> Vector:
        """The vector that predicts: the last one, unless a memory holds a better one."""
        return training.vector

    def _finite(self, training: Training) -> Vector:
        """The vector that predicts; numbers too large for it are an error, never a silent NaN."""
        vector = self._predicting(training)
        if not np.all(np.isfinite(vector)):
            raise DataError(
                f"The vector of {type(self).__name__} overflows float64 after {int(training.state.counts[UPDATES])} "
                "updates. Scale your features and sample weights, or use a smaller rate."
            )
        return vector

    # fit and partial_fit

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, coef_init=None, intercept_init=None):
        """Fit the separator.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
        y : array-like of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            Rows of weight 0 are left out. Other weights multiply a row's corrections as the rule's docstring says;
            certificates concern the unweighted margins.
        coef_init, intercept_init : array-like, default=None
            Where to start.

        Returns
        -------
        self
        """
        progress = Progress(self, X, y)
        data = self._check_training_data(X, y, sample_weight)
        if self._mode(data.classes) == "ovo":
            self._fit_pairs(data, progress, coef_init, intercept_init)
        else:
            self._fit_data(data, progress, coef_init, intercept_init)
        progress.end()
        if not self.converged_ and self.stop_reason_ in ("max_epochs", "max_updates"):
            warn_not_converged(type(self).__name__, self.stop_reason_, ADVICE)
        return self

    def _mode(self, classes: np.ndarray) -> str:
        """How several classes are told apart."""
        return self.multi_class if len(classes) > 2 else "ovr"

    def _fit_data(
        self, data: Data, progress: Any, coef_init: Any = None, intercept_init: Any = None, idle: str = ""
    ) -> None:
        """Fit to checked data; ``idle`` is a reason to stop at the start."""
        records = self._resumable(data)
        if records is None:
            self._seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.multi_class_ = self._mode(data.classes)
        whole = data
        data, held = self._split(data)
        mark = fingerprint(data) if self.warm_start else None
        same = records is not None and mark == getattr(self, "_mark_", None) and records[0].facts.space == self._space()
        patterns = self._problems(data)
        starts = self._starts(data, coef_init, intercept_init, None if same else records)
        work = Work(self, progress, patterns, data)
        for k in range(len(patterns)):
            work.begin(k, records[k] if records is not None and same else None, starts[k])
        self.classes_ = data.classes
        try:
            if not idle:
                work.run_all(held)
            work.leave(idle or "callback")
        except KeyboardInterrupt:
            self._finish(work, data, whole, mark)
            raise
        self._finish(work, data, whole, mark)

    def _fit_pairs(self, data: Data, progress: Progress, coef_init: Any, intercept_init: Any) -> None:
        count, going_on = len(pairs(len(data.classes))), self._resumable(data) is not None
        if going_on:
            for member in self._pairs_:
                own = self._member_params(data)
                member.set_params(**like(self, random_state=member.random_state, **own))
        else:
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            own = self._member_params(data)
            self._pairs_: list[Any] = members_of(self, len(data.classes), random_state=seed, **own)
        options = starts_of_pairs(count, data.width, coef_init, intercept_init)
        fit_members(self, self._pairs_, data, progress, options)

    def _member_params(self, data: Data) -> dict[str, Any]:
        """Parameters in which the estimators of pairs differ from this one."""
        return {}

    def _gather(self, members: list[Any]) -> None:
        """What `pairs.gather` leaves to the estimator."""
        self._records_: list[Record] = [record for member in members for record in member._records_]
        self.validation_rows_ = np.unique(np.concatenate([m.validation_rows_ for m in members]))
        self._set_counts()

    @available_if(_offers_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """One pass over a block of data, continuing from the blocks before.

        The multipliers of the patterns are not kept, only their sum: the upper bound stays valid, because more
        patterns can only lower the optimum, but it can no longer be checked. ``certificate_.lower`` is None until
        `certify` measures it on data.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like, default=None
            All labels that will ever occur; required in the first call.

        Returns
        -------
        self
        """
        self._check_partial()
        first = not hasattr(self, "_records_")
        if first:
            if classes is None:
                raise ValueError("The first call of partial_fit needs classes: all labels that will ever occur.")
            classes = np.unique(classes)
            if len(classes) < 2:
                raise DataError(f"{type(self).__name__} needs at least 2 classes; classes holds only {classes!r}.")
            self._seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={classes!r} is not what the first call of partial_fit had: {self.classes_!r}.")
        data = self._check_training_data(X, y, sample_weight, reset=first, classes=classes if first else self.classes_)
        if not first and self._records_[0].facts.space != self._space():
            raise ValueError(
                f"partial_fit cannot go on in another space: {self._records_[0].facts.space.describe()} before, now "
                f"{self._space().describe()}. Use a new estimator for other values of rho, delta or fit_intercept."
            )
        if not first and self.multi_class_ != self._mode(data.classes):
            raise ValueError(
                f"partial_fit began with multi_class={self.multi_class_!r} and cannot go on with {self.multi_class!r}. "
                "Use a new estimator."
            )
        if self._mode(data.classes) == "ovo":
            if first:
                self._pairs_ = members_of(self, len(data.classes), random_state=self._seed_)
            partial_members(self, self._pairs_, data, first)
        else:
            self._partial_data(data, first)
        return self

    def _partial_data(self, data: Data, first: bool) -> None:
        records: list[Record] = []
        vectors, certificates = [], []
        self.multi_class_ = self._mode(data.classes)
        for k, p in enumerate(self._problems(data)):
            record, vector = self._partial(p, data.weight, None if first else self._records_[k])
            records.append(record)
            vectors.append(vector)
            certificates.append(self._unchecked_certificate(record, vector, p))
        self.classes_ = data.classes
        self._mark_: str | None = None
        self._records_ = records
        self._set_vectors(self._space(), vectors)
        self._set_margins(certificates)
        self.directional_margin_ = self.geometric_margin_ = float("nan")
        self.validation_rows_ = np.zeros(0, np.int64)
        self._set_counts()

    def certify(self, X: Any, y: Any) -> Certificate:
        """Measure the margin of a fitted separator on data; the certificate becomes ``certificate_``.

        The upper bound of `partial_fit` is kept and holds for data that contain all rows seen; that of `fit`, which
        speaks of the data of the fit, is not.
        """
        check_is_fitted(self)
        data = self._check_training_data(X, y, None, reset=False, classes=self.classes_)
        if self.multi_class_ == "ovo":
            for member, (i, j) in zip(self._pairs_, pairs(len(self.classes_)), strict=True):
                member._certify_data(part_of(data, i, j))
            gather(self, self._pairs_, data)
        else:
            self._certify_data(data)
        return self.certificate_

    def _certify_data(self, data: Data) -> None:
        certificates = []
        for k, p in enumerate(self._problems(data, self.multi_class_)):
            kept = self.certificates_[k]
            assert kept.direction is not None
            found = certify(p, kept.direction, None, predicts=self._direction_predicts)
            if kept.alpha is not None:
                kept = found
            if found.lower is not None and found.lower > kept.upper:
                raise DataError(
                    f"These data have a margin of {found.lower:g}, above the upper bound {kept.upper:g} of the data of "
                    "the fit: certify needs all of those."
                )
            certificates.append(replace(found, upper=kept.upper))
        self._set_margins(certificates)

    # The steps of a fit.

    def _problems(self, data: Data, mode: str = "") -> list[Patterns]:
        space = self._space()
        if (mode or self._mode(data.classes)) == "kesler":
            if self._no_machine:
                self._refuse_machine(self._no_machine)
            machine = KeslerPatterns(data.rows, data.codes, len(data.classes), space)
            self._check_scale(machine, data.kept)
            return [machine]
        labels = binary_labels(data.codes, len(data.classes))
        patterns = [Patterns(data.rows, labels[0], space)]
        self._check_scale(patterns[0], data.kept)
        patterns += [patterns[0].relabelled(l) for l in labels[1:]]
        return patterns

    def _refuse_machine(self, why: str) -> NoReturn:
        raise ValueError(f'{type(self).__name__} {why}: it trains no linear machine. Use multi_class="ovr" or "ovo".')

    def _split(self, data: Data) -> tuple[Data, list[Patterns] | None]:
        """Training data, and the problems on the held-out part if there is one."""
        self.validation_rows_ = np.zeros(0, np.int64)
        if not self.early_stopping:
            return data, None
        train, valid = hold_out(data.codes, self.validation_fraction, self._seed_)
        self.validation_rows_ = data.kept[valid]
        return data.take(train), self._problems(data.take(valid))

    def _facts(self, patterns: Patterns) -> Facts:
        peak = patterns.peak() if self._needs_peak else 0.0
        return Facts(patterns.n, patterns.features, patterns.radius2, peak, patterns.space)

    def _resumable(self, data: Data) -> list[Record] | None:
        """What the last fit left, if this one is to go on from it."""
        if not self.warm_start or not hasattr(self, "_records_"):
            return None
        if self._records_[0].facts.d != data.width:
            raise ValueError(
                f"warm_start cannot go on: the last fit had {self._records_[0].facts.d} features, these data have "
                f"{data.width}. Use warm_start=False or a new estimator."
            )
        if not np.array_equal(self.classes_, data.classes):
            raise ValueError(
                f"warm_start cannot go on: the last fit had the classes {self.classes_!r}, these data have "
                f"{data.classes!r}. Use warm_start=False or a new estimator."
            )
        if self.multi_class_ != self._mode(data.classes):
            raise ValueError(
                f"warm_start cannot go on: the last fit had multi_class={self.multi_class_!r}, this one has "
                f"{self.multi_class!r}. Use warm_start=False or a new estimator."
            )
        return self._records_

    def _starts(
        self, data: Data, coef_init: Any, intercept_init: Any, records: list[Record] | None
    ) -> Sequence[Vector | None]:
        """The vector each problem starts from, None for the rule's own start."""
        planes = 1 if len(data.classes) == 2 else len(data.classes)
        space = self._space()
        machine = self.multi_class_ == "kesler"
        if coef_init is not None or intercept_init is not None:
            given = starting_planes(planes, data.width, coef_init, intercept_init)
        elif records is not None:
            given = [self._last_plane(k) for k in range(planes)]
        else:
            return [None] if machine else [None] * planes
        vectors = [space.join(w, b) for w, b in given]
        return [np.concatenate(vectors)] if machine else vectors

    def _last_plane(self, k: int) -> tuple[Vector, float]:
        """Coefficients and intercept from which a fit on other data starts."""
        return self.coef_[k], float(self.intercept_[k])

    def _training(
        self, patterns: Patterns, weight: Vector, record: Record | None, **options: Any
    ) -> tuple[Training, Record]:
        facts = self._facts(patterns) if record is None else record.facts
        rule = self._rule(facts)
        options = {"seed": self._seed_ if self.shuffle else None, "radius2": facts.radius2, **options}
        if isinstance(patterns, KeslerPatterns):
            if not adds_single_patterns(rule):
                self._refuse_machine("does not correct by multiples of single patterns")
            every = self.rivals == "all"
            training: Training = MachineTraining(patterns, rule, weight, every=every, **options)
        else:
            training = Training(patterns, rule, weight, **options)
        if record is None:
            record = Record(facts, training.state, True, patterns.radius)
        return training, record

    def _set_counts(self) -> None:
        counts = np.array([r.state.counts for r in self._records_])
        self.n_updates_ = int(counts[:, UPDATES].sum())
        self.n_visits_ = int(counts[:, VISITS].sum())
        self.n_epochs_ = int(counts[:, EPOCHS].max())
        if self._has_counter:
            self.t_ = int(counts[:, UPDATES].max()) + 1
        reasons = [r.reason for r in self._records_]
        self.converged_: bool = all(r in ("converged", self._complete_after) for r in reasons)
        order = {"interrupted": 0, "callback": 1, "converged": 3}
        self.stop_reason_: str = "converged" if self.converged_ else min(reasons, key=lambda r: order.get(r, 2))

    def _finish(self, work: Work, data: Data, whole: Data, mark: str | None) -> None:
        """Set the attributes. Certificates and margins speak of all rows, also of those that were held out."""
        vectors = [self._finite(t) for t in work.trainings]
        patterns, alphas = work.patterns, [t.alpha for t in work.trainings]
        if whole is not data:
            patterns, trained = self._problems(whole), np.searchsorted(whole.kept, data.kept)
            vectors = [self._on_all_rows(a, trained, len(whole.codes)) for a in vectors]
            alphas = [None if alpha is None else _spread(alpha, trained, len(whole.codes)) for alpha in alphas]
        self._records_, self._mark_ = work.records, mark
        self._set_vectors(self._space(), vectors)
        certificates = []
        for k, (p, a, multipliers) in enumerate(zip(patterns, vectors, alphas, strict=True)):
            certificate = certify(
                p, a, multipliers, predicts=self._direction_predicts, kept=whole.kept, sample_weight=whole.given_weight
            )
            if multipliers is None:  # the multipliers were too many to keep: their sum still bounds the margin
                certificate = replace(certificate, upper=self._accumulated_upper(self._records_[k]))
            certificates.append(replace(certificate, theory=work.theory(k, certificate)))
        self._set_margins(certificates)
        self._measure_margins(patterns, vectors)
        self._set_counts()
        if not self.warm_start:  # the multipliers are in the certificate; a second copy serves resuming alone
            for record in self._records_:
                record.state = record.state._replace(alpha=np.zeros(0))

    def _on_all_rows(self, vector: Vector, trained: np.ndarray, n: int) -> Vector:
        """A vector that was trained on some rows, for certificates about all n."""
        return vector

    # partial_fit

    def _check_partial(self) -> None:
        if self.early_stopping:
            raise UnavailableError("partial_fit cannot hold out data: early_stopping must be False.")
        if self._space().delta > 0:
            raise UnavailableError("partial_fit keeps no multipliers, which delta > 0 needs: use delta=0 or fit.")

    def _partial(self, patterns: Patterns, weight: Vector, record: Record | None) -> tuple[Record, Vector]:
        fresh = record is None
        training, record = self._training(patterns, weight, record, keep_alpha=False)
        if not fresh:
            training.resume_on_new_block(record.state)
            training.from_zero = record.from_zero
        self._prepare(training, record, fresh)
        if fresh:
            training.start()
        record.radius = max(record.radius, patterns.radius)
        reason = training.train(patterns.n, self._update_limit(record.facts))
        record.state, record.reason = training.state, reason
        return record, self._finite(training)

    def _unchecked_certificate(self, record: Record, direction: Vector, patterns: Patterns) -> Certificate:
        return Certificate(
            None, self._accumulated_upper(record), None, patterns.space, record.radius, direction,
            categories=patterns.categories,
        )  # fmt: skip

    def _accumulated_upper(self, record: Record) -> float:
        """|a| / sum alpha without the multipliers, rounded up by what the additions may have lost."""
        rule = self._rule(record.facts)
        if not record.from_zero or not attribute(rule, "additive"):
            return float("inf")
        return Training.accumulated_upper(record.state, rule, record.facts.radius2, record.radius)


def _spread(alpha: Vector, rows: np.ndarray, n: int) -> Vector:
    """Multipliers of the patterns of some rows as multipliers of all."""
    full = np.zeros((n, len(alpha) // len(rows)))
    full[rows] = alpha.reshape(len(rows), -1)
    return full.ravel()
