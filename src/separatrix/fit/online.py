"""What the estimators that show one pattern after the other to a rule share: their parameters, and their fit."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar, NoReturn

import numpy as np
from sklearn.utils import check_random_state

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify, lower_bound
from separatrix.certificates.theorems import Setting
from separatrix.certificates.theory import Theory, theory_of, theory_of_budget, theory_of_one_pass, weighted_theory
from separatrix.compile_cache import at_once
from separatrix.data.memory import rows_together
from separatrix.errors import DataError
from separatrix.fit.checkpointed import Checkpoint
from separatrix.fit.declare import COUNT, NOT_NEGATIVE, POSITIVE, between, estimator, one_of
from separatrix.fit.over_blocks_fit import fit_over_blocks
from separatrix.fit.partial_fit import PartialFitMixin
from separatrix.fit.recipe import (
    FEWEST_EPOCHS,
    Before,
    EarlyStopping,
    Recipe,
    Record,
    begin_call,
    begin_half,
    end_half,
    hold_out,
    length_of,
    relative_weights,
    with_mean,
)
from separatrix.fit.result import Result, joined, total, union
from separatrix.fit.separator import starting_planes
from separatrix.fit.sklearn_api import fit_method
from separatrix.fit.training_data import Data, fingerprint
from separatrix.fit.watch import Parts, Watch
from separatrix.online.budgets import ERROR
from separatrix.online.joint_training import JointTraining
from separatrix.online.loops.state import EPOCHS, POSITION, UPDATES, VISITS
from separatrix.online.training import UNLIMITED, Training, adds_single_patterns
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.rules.perceptrons import FuzzyRule
from separatrix.space import Vector

ADVICE = (
    'If the data may not be separable, until="accurate" or MaxMargin give a useful answer, and separability(X, y) '
    "decides whether they are; otherwise scale your features or raise {}."
)


NO_ROWS = np.zeros(0, np.int64)


@estimator
class OnlineClassifier(PartialFitMixin):
    """Base of the estimators that show one pattern after the other to a rule.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Learn a bias by augmenting every row with the constant ``intercept_scaling``. False: a hyperplane through the
        origin.
    intercept_scaling : float, default=1.0
        The augmenting constant (the rho of the sources, not LIBSVM's). The larger it is, the closer the directional
        margin comes to the geometric one and the less the bias is penalised.
    until : {"accurate", "separated"}, default="accurate"
        "accurate": a few epochs, and the mean of the vector over the second half of them predicts; if an epoch passes
        without an update, the fit ends there with the last vector. It does not promise to separate separable data, nor
        what a theorem promises for the last vector: "separated" is the algorithm of the theorem, with the last vector
        of at most ``max_iter`` epochs.
    max_iter : int, default=1000
        Passes over the data, per call of `fit`, at most. "accurate" takes 5 (20 for some rules), and as many as
        visit 5,000 rows if there are fewer.
    max_updates : int or None, default=None
        Corrections, in all.
    shuffle : bool or "blocks", default=True
        Draw a new order for every epoch. False: the rows as they come. "blocks": blocks of some hundred neighbouring
        rows in a random order. Memory is then read in sequence, so that an epoch over many rows takes a fraction of the
        time. Take True if neighbours are alike, as in a file sorted by class.
    random_state : int, RandomState or None, default=0
        Seed of the orders.
    warm_start : bool, default=False
        Let `fit` go on where the last one ended, exactly; on other data it starts from the last vector.
    early_stopping : bool, default=False
        Hold out a part of the data and stop when its accuracy has not risen for ``n_iter_no_change`` epochs. For
        ``until="separated"``: before half of the epochs there is no mean yet, and the last vector predicts.
    validation_fraction : float, default=0.1
        The part that is held out.
    n_iter_no_change : int or None, default=None
        Patience in epochs. Without ``early_stopping``: stop when an epoch's number of corrections has not fallen
        below its minimum for so long; None never stops for that. With it, None means 5.
    multi_class : {"ovr", "ovo", "joint"}, default="ovr"
        More than two classes: a hyperplane for each against the rest, one for each pair, or one linear machine with a
        vector per class, trained as a whole (Kesler's construction, DHS eq. 115). Its certificate speaks of the
        machine, ``certificate_.verify(X, y)``.
    joint_update : {"strongest", "all", "together"}, default="strongest"
        What a visit of the machine corrects: the strongest wrong class, or every one that violates the rule, one after
        the other, or, of `PassiveAggressive` alone, together.
    n_jobs : int or None, default=None
        Threads over the problems of "ovr" and "ovo"; -1 takes all cores. With callbacks there is one.
    mix : bool or None, default=None
        For out-of-core rows (`separatrix.data`). False: they are visited block after block, as one run over all
        of them would; ``shuffle`` then draws an order within each block. True: in every epoch each block runs the rule
        from the same vector, and the mean of what they come to is the next one (McDonald 2010). None mixes on Dask.

    Attributes
    ----------
    classes_ : ndarray
        The labels; of two, the second is the positive class.
    coef_, intercept_ : ndarray
        The separating vectors, (1, d) for two classes and (c, d) for c, one per pair for "ovo", and their biases.
    multi_class_ : str
        How several classes were distinguished; of two classes "ovr".
    certificate_ : Certificate
        What the fit proves: lower and upper bound of the margin, separability. ``certificates_``: one per problem.
    directional_margin_, geometric_margin_ : float
        min u.y_k in the augmented space, and the smallest distance from the hyperplane (negative: an error).
    converged_ : bool
        One complete epoch without update. ``stop_reason_`` says how the fit ended; "epochs": it made all those of
        ``until="accurate"``.
    n_updates_, n_visits_, n_epochs_ : int
        Corrections, rows looked at, complete passes; ``n_iter_``, scikit-learn's name, is the last.
    validation_rows_ : ndarray
        Rows that ``early_stopping`` held out. Certificates and margins speak of them too.
    """

    _: KW_ONLY
    fit_intercept: bool = True
    intercept_scaling: Annotated[float, POSITIVE] = 1.0
    until: Annotated[str, one_of("accurate", "separated")] = "accurate"
    max_iter: Annotated[int, COUNT] = 1000
    max_updates: Annotated[int | None, COUNT] = None
    shuffle: Annotated[bool | str, one_of("blocks")] = True
    random_state: Annotated[Any, "random_state"] = 0
    warm_start: bool = False
    early_stopping: bool = False
    validation_fraction: Annotated[float, between(0, 1, "neither")] = 0.1
    n_iter_no_change: Annotated[int | None, COUNT] = None
    multi_class: Annotated[str, one_of("ovr", "ovo", "joint")] = "ovr"
    joint_update: Annotated[str, one_of("strongest", "all")] = "strongest"
    n_jobs: int | None = None
    mix: bool | None = None
    checkpoint: Checkpoint = None

    _accepts_row_sources = True

    _refuses: ClassVar[dict[str, str]] = {}  # why there is no "partial_fit" or "joint"
    _joins = {
        "_records_": joined, "n_updates_": total, "n_visits_": total, "n_epochs_": max, "n_iter_": max,
        "validation_rows_": union,
    }  # fmt: skip
    _epochs: ClassVar[int] = FEWEST_EPOCHS  # of until="accurate" on many rows; rules with small steps need 20

    def _recipe(self, record: Record) -> Recipe:
        """What a subclass says of its algorithm; ``record`` has the data that it saw first."""
        raise NotImplementedError

    def _full_recipe(self, record: Record) -> Recipe:
        """The recipe, with the mean that ``until`` and ``average`` ask for."""
        return with_mean(self, self._recipe(record))

    @fit_method
    def fit(self, X, y=None, sample_weight=None, coef_init=None, intercept_init=None):
        """Fit the separator.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), Dask array or data frame, or a row source
            A row source (``separatrix.data``) holds the labels too, and rows that need not fit into memory.
        y : array-like of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            Rows of weight 0 are left out. Other weights multiply a row's corrections as the rule's docstring says,
            which also says where a common factor of all weights makes no difference; certificates concern the
            unweighted margins.
        coef_init, intercept_init : array-like, default=None
            Where to start.

        Returns
        -------
        self
            The fitted estimator.
        """
        with at_once():  # no decorator: its frame would stand between a warning and the user's line
            return self._fit(X, y, sample_weight, coef_init=coef_init, intercept_init=intercept_init)

    def _doubt(self, n: int) -> tuple[str, str]:
        limit = self.stop_reason_ if self.stop_reason_ in ("max_updates", "max_time") else "max_iter"
        return self.stop_reason_, ADVICE.format(limit)

    def _resume_from(self, data: Data) -> Before:
        records = self._resumable(data)
        if records is not None:
            return Before(self._seed_, records)
        self._seed_ = self._draw_seed()
        if self._mode(data.classes) == "ovo":  # drawn twice: orders stay those of former releases
            self._seed_ = _drawn(self._seed_)
        return Before(self._seed_)

    def _results(
        self, data: Data, watch: Watch, before: Before, coef_init: Any = None, intercept_init: Any = None
    ) -> list[Result]:
        if not data.here:
            return fit_over_blocks(self, data, watch, before, coef_init, intercept_init)
        train, patterns, held, all_patterns = self._split(data, before.seed)
        mark, former = fingerprint(train) if self.warm_start else None, before.records
        same = former is not None and former[0].mark == mark and former[0].space == self._space()
        starts = self._starts(data, coef_init, intercept_init, before if former is not None and not same else None)
        fresh = former is None or not same or starts[0] is not None
        records = [self._record(p) for p in patterns] if former is None or fresh else former
        recipe = self._on_rows(self._full_recipe(records[0]), train)
        trainings = self._trainings(patterns, train, recipe, before.seed, records, starts)
        reasons = [""] * len(trainings)

        def parts() -> list[dict[str, Any]]:
            return [self._attributes_of(t.patterns, recipe.predicting(t), train, t) for t in trainings]

        def task(k: int) -> None:
            training, record = trainings[k], records[k]
            patience = self.n_iter_no_change or (5 if self.early_stopping else None)
            stopping = EarlyStopping(patience, held[k] if held else None, record.patience) if patience else None
            by_epoch = bool(stopping or recipe.ended)
            pause = pausing(k, recipe, watch, stopping, parts) if by_epoch or watch.needed else None
            length, most = length_of(self, training.rows), self._update_limit(recipe)
            begin_call(self, training)
            end, first = training.visits + length.epochs * training.rows, min(most, recipe.limit // 2)
            reason = training.train(length.before * training.rows, first, pause, by_epoch)
            if length.before < length.epochs and (reason == "max_iter" or (reason == "max_updates" and first < most)):
                begin_half(self, recipe, training)
                reason = training.train(end - training.visits, most, pause, by_epoch)
            if reason == "converged":
                end_half(self, training)
            planned = reason == "max_iter" or (reason == "max_updates" and most == recipe.limit)
            reasons[k] = length.reason if planned else reason

        watch.run_each(task, len(patterns), self.n_jobs)
        records = [
            record.stands(training, reason or watch.stop.reason, mark=mark)
            for record, training, reason in zip(records, trainings, reasons, strict=True)
        ]
        trained, validation = None, NO_ROWS
        if held:
            trained, validation = np.searchsorted(data.kept, train.kept), np.setdiff1d(data.kept, train.kept)
        results = self._certified(data, train, all_patterns, trained, trainings, records, recipe, fresh)
        return [r._replace(own={**r.own, "validation_rows_": validation}) for r in results]

    @at_once(False)
    def _certified(
        self,
        data: Data,
        train: Data,
        patterns: list[Patterns],
        trained: np.ndarray | None,
        trainings: list[Any],
        records: list[Record],
        recipe: Recipe,
        fresh: bool,
    ) -> list[Result]:
        """The results, with certificates and margins. These speak of all rows, also where only the ``trained`` ones
        were shown."""
        results = []
        how: dict[str, Any] = {"predicts": recipe.predicts, "kept": data.kept, "sample_weight": data.given_weight}
        for p, training, record in zip(patterns, trainings, records, strict=True):
            vector, alpha = self._vector(training, recipe), training.alpha
            predicting = self._attributes_of(training.patterns, vector, train, training)
            if trained is not None:
                vector = self._on_all_rows(vector, trained, len(data.codes))
                alpha = None if alpha is None else _spread(alpha, trained, len(data.codes))
            certificate = certify(p, vector, alpha, **how)
            if alpha is None:  # they were too many to keep: their sum still bounds the margin
                certificate = replace(certificate, upper=self._accumulated_upper(record, recipe))
            if fresh:
                certificate = replace(certificate, theory=theory_at_work(training, record, certificate))
            margins = self._margins_of(p, vector) if recipe.predicts else None
            if not self.warm_start:  # the multipliers are in the certificate; a second copy serves resuming alone
                record = replace(record, state=record.state._replace(alpha=np.zeros(0)))
            results.append(self._result(predicting, certificate, margins, training, record, recipe))
        return results

    def _result(
        self,
        predicting: dict[str, Any],
        certificate: Certificate,
        margins: tuple[float, float] | None,
        training: Any,
        record: Record,
        recipe: Recipe,
    ) -> Result:
        counts = record.state.counts
        own = {
            "_records_": [record],
            "n_updates_": int(counts[UPDATES]),
            "n_visits_": int(counts[VISITS]),
            "n_epochs_": int(counts[EPOCHS]),
            "n_iter_": int(counts[EPOCHS]),
            "validation_rows_": NO_ROWS,
            **({} if training is None else self._own(training, record)),
        }
        return Result(predicting, recipe.ending(record.reason), certificate, margins, own)

    def _own(self, training: Any, record: Record) -> dict[str, Any]:
        """Attributes of a problem that not all online estimators have."""
        return {}

    # The steps of a fit.

    def _draw_seed(self) -> int:
        return _drawn(self.random_state)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.multi_class == "joint" and "joint" in self._refuses:
            self._refuse_machine(self._refuses["joint"])

    def _refuse_machine(self, why: str) -> NoReturn:
        raise ValueError(f'{type(self).__name__} {why}: it trains no linear machine. Use multi_class="ovr" or "ovo".')

    def _split(self, data: Data, seed: int) -> tuple[Data, list[Patterns], list[Patterns] | None, list[Patterns]]:
        """The data to train with, and the problems on these, on the held-out part if there is one, and on all rows."""
        problems = self._problems(data)
        if not self.early_stopping:
            return data, problems, None, problems
        train, valid = hold_out(data.codes, self.validation_fraction, seed)
        part = data.take(train)
        return part, *self._parts(part, data.take(valid)), problems

    def _parts(self, train: Data, valid: Data) -> tuple[list[Patterns], list[Patterns]]:
        """The problems of two parts of the rows."""
        return self._problems(train), self._problems(valid)

    def _on_rows(self, recipe: Recipe, data: Data) -> Recipe:
        """The recipe with what it needs of the rows of this fit."""
        return recipe

    def _record(self, patterns: Patterns) -> Record:
        return Record(patterns.n, patterns.features, patterns.radius2, 0.0, patterns.space, patterns.radius)

    def _resumable(self, data: Data) -> list[Record] | None:
        """What the last fit left, if this one is to go on from it."""
        if not self.warm_start or not hasattr(self, "_records_"):
            return None
        before, now = self._records_[0].d, data.width
        if before != now:
            self._cannot_go_on(f"{before} features, these data have {now}")
        if not np.array_equal(self.classes_, data.classes):
            self._cannot_go_on(f"the classes {self.classes_!r}, these data have {data.classes!r}")
        if self.multi_class_ != self._mode(data.classes):
            self._cannot_go_on(f"multi_class={self.multi_class_!r}, this one has {self.multi_class!r}")
        return self._records_

    def _cannot_go_on(self, what: str) -> NoReturn:
        raise ValueError(f"warm_start cannot go on: the last fit had {what}. Use warm_start=False or a new estimator.")

    def _starts(self, data: Data, coef_init: Any, intercept_init: Any, left: Before | None) -> Sequence[Vector | None]:
        """The vector each problem starts from, None for the rule's own start. ``left``: go on from the last fit's."""
        machine = self._mode(data.classes) == "joint"
        if coef_init is not None or intercept_init is not None:
            given = starting_planes(data.planes, data.width, coef_init, intercept_init)
        elif left is not None:
            given = [self._last_plane(left.first + k) for k in range(data.planes)]
        else:
            return [None] * (1 if machine else data.planes)
        vectors = [self._space().join(w, b) for w, b in given]
        return [np.concatenate(vectors)] if machine else vectors

    def _last_plane(self, k: int) -> tuple[Vector, float]:
        """Coefficients and intercept from which a fit on other data starts."""
        return self.coef_[k], float(self.intercept_[k])

    def _trainings(
        self,
        patterns: list[Patterns],
        data: Data,
        recipe: Recipe,
        seed: int,
        records: list[Record],
        starts: Sequence[Vector | None] = (),
        *,
        block: bool = False,
    ) -> list[Any]:
        """The problems, ready to be trained: from a start, from where they stood, or on a new ``block`` of data."""
        options = {"seed": seed if self.shuffle else None, "radius2": records[0].radius2}
        if self.shuffle == "blocks":
            options["together"] = rows_together(patterns[0].home)
        weight = relative_weights(data.weight) if recipe.relative and not block else data.weight
        trainings = self._new_trainings(patterns, recipe.rule, weight, data, keep_alpha=not block, **options)
        for training, record, start in zip(trainings, records, starts or [None] * len(records), strict=True):
            recipe.prepare(training, record, start, block)
        return trainings

    def _new_trainings(
        self, patterns: list[Patterns], rule: Any, weight: Vector, data: Data, **options: Any
    ) -> list[Any]:
        kind: Any = Training
        if isinstance(patterns[0], KeslerPatterns):
            if not adds_single_patterns(rule):
                self._refuse_machine("does not correct by multiples of single patterns")
            kind, options["rivals"] = JointTraining, self.joint_update
        return [kind(p, rule, weight, **options) for p in patterns]

    def _update_limit(self, recipe: Recipe) -> int:
        return min(recipe.limit, UNLIMITED if self.max_updates is None else int(self.max_updates))

    def _vector(self, training: Training, recipe: Recipe) -> Vector:
        """The vector that predicts; numbers too large for it are an error, never a silent NaN."""
        vector = recipe.predicting(training)
        if not np.all(np.isfinite(vector)):
            raise DataError(
                f"The vector of {type(self).__name__} overflows float64 after {int(training.state.counts[UPDATES])} "
                "updates. Scale your features and sample weights, or use a smaller rate."
            )
        return vector

    def _on_all_rows(self, vector: Vector, trained: np.ndarray, n: int) -> Vector:
        """A vector that was trained on some rows, for certificates about all n."""
        return vector


@estimator
class AdditiveClassifier(OnlineClassifier):
    """Base of the rules that only add multiples of patterns: they can run in the extended space.

    Parameters
    ----------
    delta : float, default=0.0
        Soft margin: the extension of the space by ``delta`` per pattern, which makes all data separable there
        (``LinearSVC(loss="squared_hinge")`` has C = 1/(2 delta^2)). 0 is the hard margin.
    """

    _: KW_ONLY
    delta: Annotated[float, NOT_NEGATIVE] = 0.0


def pausing(
    k: int, recipe: Recipe, watch: Watch, stopping: EarlyStopping | None, parts: Callable[[], Parts]
) -> Callable[[Training], str | None]:
    """What to do between two pieces of problem k: tell callbacks, and see whether it is to end."""

    def pause(training: Training) -> str | None:
        counts = training.state.counts
        reason = watch.look(
            k,
            lambda: {
                "visits": int(counts[VISITS]),
                "epochs": int(counts[EPOCHS]),
                "updates": int(counts[UPDATES]),
                "upper": training.running_upper(),
                "lower": lambda: lower_bound(training.patterns, recipe.predicting(training)),
            },
            parts,
        )
        if not reason and stopping is not None and stopping.due(counts, recipe.predicting(training)):
            return "early_stopping"
        if not reason and recipe.ended is not None and counts[POSITION] == 0 and recipe.ended(training):
            return "converged"
        return reason or None

    return pause


def _drawn(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def theory_at_work(training: Training, record: Record, certificate: Certificate) -> Theory | None:
    """What theory says of a run: from the rule's own start, on patterns of weight 1."""
    if getattr(training, "rivals", "") == "all":  # one visit shows several patterns in turn
        return None
    rule, updates = training.rule, int(training.state.counts[UPDATES])
    if not (training.from_zero and training.state.counts[VISITS]):
        return None
    if getattr(training, "budgeted", False):  # what was added is taken out again
        return _theory_within_budget(training, certificate, updates)
    if isinstance(rule, FuzzyRule):
        return weighted_theory(
            rule, training.patterns, training.weight, training.vector, certificate.upper, training.alpha, updates
        )
    if not np.all(training.weight == 1.0):
        return None
    if training.state.counts[VISITS] <= training.rows and not (certificate.lower or 0.0) > 0:
        once = theory_of_one_pass(rule, training.patterns, training.patterns.unit(training.vector), updates)
        if once is not None:
            return once
    setting = Setting(training.patterns.radius, record.peak, record.d + (record.space.rho > 0))
    return theory_of(rule, setting, certificate.lower, certificate.upper, certificate.direction, updates)


def _theory_within_budget(training: Any, certificate: Certificate, updates: int) -> Theory | None:
    if not np.all(training.weight == 1.0) or training.policy == "random":
        return None
    error, radius = float(training.state.memory.sums[ERROR]), training.patterns.radius
    return theory_of_budget(
        training.policy, training.budget or 0, error, radius, certificate.lower, certificate.upper, updates
    )


def _spread(alpha: Vector, rows: np.ndarray, n: int) -> Vector:
    """Multipliers of the patterns of some rows as multipliers of all."""
    full = np.zeros((n, len(alpha) // len(rows)))
    full[rows] = alpha.reshape(len(rows), -1)
    return full.ravel()
