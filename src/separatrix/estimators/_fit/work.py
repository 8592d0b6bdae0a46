"""The work of one fit of an online estimator: its binary problems, and what is kept of them between two calls."""

import copy
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from separatrix.estimators._fit.early_stopping import Patience
from separatrix.estimators._fit.parallel import run_each
from separatrix.estimators._fit.separator import Data
from separatrix.estimators._fit.watch import Progress
from separatrix.loops.state import EPOCHS, UPDATES, VISITS, State
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certificate import Certificate
from separatrix.proof.certify import lower_bound
from separatrix.proof.theory import Setting, Theory, theory_of
from separatrix.space import Space, Vector
from separatrix.training.base import Training


class Facts(NamedTuple):
    """What a rule's parameters may depend on; fixed by the first data that an estimator sees."""

    n: int
    d: int
    radius2: float
    peak: float  # max |y_ki|, 0 where the rule has no use for it
    space: Space

    @property
    def radius(self) -> float:
        return float(np.sqrt(self.radius2))


@dataclass
class Record:
    """One binary problem between two calls: what is needed to go on, and what it came to."""

    facts: Facts
    state: State
    from_zero: bool
    radius: float
    reason: str = "max_epochs"
    patience: dict[str, Any] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)  # what an estimator remembers besides


class Work:
    """The binary problems of one fit: all begun at once, then run one after the other."""

    def __init__(self, owner: Any, progress: Progress, patterns: list[Patterns], data: Data):
        self.owner, self.progress, self.patterns, self.weight = owner, progress, patterns, data.weight
        self.trainings: list[Training] = []
        self.records: list[Record] = []
        self.clock, self.stop = time.perf_counter(), threading.Event()
        self.fresh: list[bool] = []

    def begin(self, k: int, record: Record | None, start: Vector | None) -> None:
        """Set problem k up: afresh, from ``start``, or where ``record`` stands."""
        owner, fresh = self.owner, record is None or start is not None
        training, record = owner._training(self.patterns[k], self.weight, None if fresh else record)
        if not fresh:
            training.resume(record.state)
            training.from_zero = record.from_zero
        if fresh:
            training.start(start)
            record.from_zero = training.from_zero
        owner._prepare(training, record, fresh)
        record.state, record.reason = training.state, "interrupted"
        self.trainings.append(training)
        self.records.append(record)
        self.fresh.append(fresh)

    def run(self, k: int, held: Patterns | None) -> str:
        """Train problem k; returns how it ended."""
        owner, training, record = self.owner, self.trainings[k], self.records[k]
        patience = owner.n_iter_no_change or (5 if owner.early_stopping else None)
        watcher = Patience(patience, held, record.patience) if patience else None
        threaded = threading.current_thread() is not threading.main_thread()
        pause = self._pause(k, watcher) if watcher or threaded or self.progress.watched else None
        visits = int(owner.max_epochs) * training.rows
        record.reason = training.train(visits, owner._update_limit(record.facts), pause, watcher is not None)
        return record.reason

    def run_all(self, held: list[Patterns] | None) -> None:
        """Train all problems, several at once if the owner has ``n_jobs``, until a callback stops them."""
        self.stop = getattr(self.owner, "_stop_", None) or threading.Event()

        def task(k: int) -> None:
            if self.run(k, held[k] if held else None) == "callback":
                self.stop.set()

        run_each(task, len(self.patterns), None if self.progress.watched else self.owner.n_jobs, self.stop)

    def leave(self, reason: str) -> None:
        """The problems that were not run stay where they began."""
        for record in self.records:
            if record.reason == "interrupted":
                record.reason = reason

    def theory(self, k: int, certificate: Certificate) -> Theory | None:
        """What theory says of problem k: of a run from the rule's own start, on patterns of weight 1."""
        training = self.trainings[k]
        if certificate.categories > 2 or certificate.kernel is not None:
            return None
        if not (self.fresh[k] and training.from_zero and np.all(training.weight == 1.0)):
            return None
        facts, updates = self.records[k].facts, int(training.state.counts[UPDATES])
        setting = Setting(facts.radius, facts.peak, facts.d + (facts.space.rho > 0))
        direction = certificate.direction
        assert direction is not None
        return theory_of(training.rule, setting, certificate.lower, certificate.upper, direction, updates)

    def _pause(self, k: int, patience: Patience | None) -> Callable[[Training], str | None]:
        def pause(training: Training) -> str | None:
            if self.stop.is_set():
                return "interrupted"
            if self.progress.watched:
                counts = training.state.counts
                measures = {
                    "problem": k,
                    "visits": int(counts[VISITS]),
                    "epochs": int(counts[EPOCHS]),
                    "updates": int(counts[UPDATES]),
                    "upper": training.running_upper(),
                    "seconds": time.perf_counter() - self.clock,
                    "lower": lambda: lower_bound(training.patterns, self.owner._predicting(training)),
                }
                if self.progress.report(measures, self._attributes_now):
                    return "callback"
            if patience is not None and patience.ran_out(training.state.counts, self.owner._predicting(training)):
                return "early_stopping"
            return None

        return pause

    def _attributes_now(self) -> dict[str, Any]:
        """What a fit that ended now would predict with."""
        now = copy.copy(self.owner)
        now._records_ = self.records
        before = set(vars(self.owner))
        now._set_vectors(self.owner._space(), [self.owner._predicting(t) for t in self.trainings])
        return {k: v for k, v in vars(now).items() if k not in before or v is not vars(self.owner)[k]}
