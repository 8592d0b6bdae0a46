"""The fit of an online estimator to out-of-core rows: in their order, or mixed on a cluster."""

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.errors import UnavailableError
from separatrix.fit.recipe import Before, Recipe, Record, begin_half, end_half, length_of, takes_half
from separatrix.fit.result import Result
from separatrix.online.loops.state import EPOCHS, UPDATES, VISITS
from separatrix.online.over_blocks import BlockRule, Course, leaves, mixed_block, mixed_state, put_back
from separatrix.online.training import Training, adds_single_patterns
from separatrix.passes import journal
from separatrix.passes.summaries import Mixture, Standing
from separatrix.rules.base import attribute

if TYPE_CHECKING:
    from separatrix.fit.training_data import Data
    from separatrix.fit.watch import Watch

IN_ORDER = "in-order"  # the key of a run in a checkpoint


def check(owner: Any) -> None:
    """Refuse what needs all rows at once, or a number of every row."""
    name = type(owner).__name__
    if "partial_fit" in owner._refuses:
        raise UnavailableError(f"{name} {owner._refuses['partial_fit']}: it needs rows in the memory of this process.")
    if owner._space().delta > 0:
        raise UnavailableError(f"{name}(delta > 0) keeps a multiplier of every row, which out-of-core rows forbid.")
    for option in ("early_stopping", "warm_start", "n_iter_no_change"):
        if getattr(owner, option):
            raise UnavailableError(f"{name}({option}=...) needs rows in the memory of this process.")


def fit_over_blocks(
    owner: Any, data: "Data", watch: "Watch", before: Before, coef_init: Any, intercept_init: Any
) -> list[Result]:
    """Return what the problems come to."""
    check(owner)
    problems: list[Any] = owner._problems(data)
    for p in problems[1:]:
        p.shape = problems[0].shape  # sizes do not depend on labels
    owner._check_scale(problems[0], None)
    records = [owner._record(p) for p in problems]
    recipe = owner._full_recipe(records[0])
    if recipe.ended is not None:
        raise UnavailableError(f"{type(owner).__name__} tests all rows after each epoch: it needs rows in memory.")
    starts = owner._starts(data, coef_init, intercept_init, None)
    how = BlockRule(recipe.rule, before.seed if owner.shuffle else None, records[0].radius2, owner.joint_update)
    fit = _Mixing if _mixes(owner, data, owner._recipe(records[0])) else _InOrder
    run = fit(owner, data, watch, problems, records, recipe, how, starts)
    trainings = run.run()
    return owner._certified(data, data, problems, None, trainings, run.records, recipe, False)


def _mixes(owner: Any, data: "Data", recipe: Recipe) -> bool:
    """Asked for, or by default on a cluster, where order would bring every block here."""
    can = (
        adds_single_patterns(recipe.rule)
        and recipe.memory is None
        and not getattr(owner, "average", False)
        and recipe.weight is None
        and recipe.rates is None
        and not attribute(recipe.rule, "starts_on_first")
    )
    if owner.mix and not can:
        raise UnavailableError(
            f"mix=True takes the mean of vectors that a rule reaches on its own: {type(owner).__name__} with these "
            "parameters keeps more than a vector. Use mix=False."
        )
    return bool(can and (owner.mix or (owner.mix is None and data.rows.prefers_mixing)))


class _InOrder:
    """Block after block by the compiled loop with its resumable state."""

    def __init__(self, owner: Any, data: "Data", watch: "Watch", problems: Any, records: Any, recipe: Recipe,
                 how: BlockRule, starts: Any):  # fmt: skip
        self.owner, self.data, self.watch, self.problems = owner, data, watch, problems
        self.records: list[Record] = records
        self.recipe, self.how, self.starts = recipe, how, starts
        self.limit, self.length = owner._update_limit(recipe), length_of(owner, data.rows.n)
        self.trainings: list[Training] = []
        self.journal = getattr(data.rows, "journal", None)

    def run(self) -> list[Training]:
        course, home = Course(len(self.problems)), self.data.rows
        last_note = time.monotonic()
        done = self._resumed(course)
        self._end(course)  # a checkpoint may be of the moment after the last block
        while course.running and done is not None:
            for number, block in enumerate(home.blocks_from(done), done):
                if block.n == 0:
                    continue
                last = block.first + block.n == home.n
                self._show(block.here(), last, course)
                if last:
                    self._turn(course)
                done = 0 if last else number + 1
                if self.journal is not None and time.monotonic() - last_note >= journal.EVERY:
                    self.journal.note(IN_ORDER, done, self._standing(course))
                    last_note = time.monotonic()
                stopped = self._look()
                if stopped or not course.running:
                    break
            self._end(course, stopped)
        self.records = [replace(r, reason=reason) for r, reason in zip(self.records, course.reasons, strict=True)]
        if self.journal is not None and not self.watch.stop.reason and done is not None:
            self.journal.add(IN_ORDER, self._standing(course))
        return self.trainings

    def _end(self, course: Course, stopped: str = "") -> None:
        """Give the reason to all problems that have none, where there is one."""
        passed = max((int(r.state.counts[EPOCHS]) for r in self.records if r.state is not None), default=0)
        if stopped or passed >= self.length.epochs:
            course.reasons = [r or stopped or self.length.reason for r in course.reasons]

    def _turn(self, course: Course) -> None:
        """An epoch has ended: does a mean begin, or is none needed?"""
        for training, reason in zip(self.trainings, course.reasons, strict=True):
            if reason == "converged":
                end_half(self.owner, training)
            elif not reason and training.state.counts[EPOCHS] == self.length.before:
                begin_half(self.owner, self.recipe, training)

    def _show(self, block: Any, last: bool, course: Course) -> None:
        self.trainings = []
        for k, (p, record) in enumerate(zip(self.problems, self.records, strict=True)):
            training = self._on(p.seen.patterns(block), block.weight, record, k)
            course.show(k, training, last, self.limit)
            self.trainings.append(training)

    def _on(self, patterns: Any, weight: Any, record: Record, k: int) -> Training:
        """The training of a problem on a block, from where it stands."""
        if self.recipe.relative and weight is not None:
            sizes = self.problems[k].shape
            weight = weight * (sizes.n / sizes.weight)
        training = self.how.training(patterns, weight)
        self.recipe.prepare(training, record, self.starts[k], block=True)
        if record.state is None and self.length.before == 0:
            begin_half(self.owner, self.recipe, training)
        self.records[k] = record.stands(training, "")
        return training

    def _look(self) -> str:
        """Tell callbacks, once for each problem."""
        stopped = ""
        for k, training in enumerate(self.trainings):
            counts = training.state.counts
            stopped = self.watch.look(
                k,
                lambda: {
                    "visits": int(counts[VISITS]),  # noqa: B023 -- called at once
                    "epochs": int(counts[EPOCHS]),  # noqa: B023
                    "updates": int(counts[UPDATES]),  # noqa: B023
                    "upper": training.running_upper(),  # noqa: B023
                },
                lambda: [
                    self.owner._attributes_of(t.patterns, self.recipe.predicting(t), self.data, t)
                    for t in self.trainings
                ],
            )
        return stopped

    # Checkpoints

    def _standing(self, course: Course) -> Standing:
        arrays = [array for record in self.records for array in leaves(record.state)]
        return Standing(course.fresh, course.reasons, arrays)

    def _resumed(self, course: Course) -> int | None:
        """Blocks of the epoch that are done; None where the run had ended."""
        done, kept, ended = 0, None, None
        if self.journal is not None:
            done, kept = self.journal.on_its_way(IN_ORDER)
            ended = self.journal.passes.get(IN_ORDER)
            kept = kept if ended is None else ended
        if kept is None:
            return 0
        if self.recipe.weight is not None:
            raise UnavailableError(f"{type(self.owner).__name__} cannot go on from a checkpoint. Remove it.")
        # a row tells the shapes of the arrays that are filled again
        self._show(self.data.rows.take(np.zeros(1, np.int64)), True, Course(len(self.problems)))
        arrays = iter(kept.arrays)
        for record in self.records:
            put_back(record.state, arrays)
        course.fresh[:], course.reasons[:] = kept.fresh, kept.reasons
        return done if ended is None else None


class _Mixing(_InOrder):
    """One epoch over every block at the same time, then the mean."""

    def run(self) -> list[Training]:
        owner, count = self.owner, len(self.problems)
        d = self.problems[0].d + 1
        vectors = np.array([np.zeros(d) if start is None else start for start in self.starts])
        totals, updates, visits = np.zeros(count), np.zeros(count, np.int64), 0
        reason, epoch, sums = self.length.reason, 0, np.zeros_like(vectors)
        while epoch < self.length.epochs:
            how = self.how if self.how.seed is None else self.how._replace(seed=(self.how.seed + epoch) % 2**31)
            work = partial(mixed_block, how, [p.seen for p in self.problems], vectors)
            found: Mixture = self.data.rows.run(partial(work, totals, updates, visits))
            epoch += 1
            visits += found.rows
            vectors, totals = found.vectors / found.blocks, found.totals / found.blocks
            updates = updates + found.updates
            converged = not found.fresh.any()
            after = 0 if converged or not takes_half(owner, self.recipe) else max(epoch - self.length.before, 0)
            sums += vectors if after else 0.0
            self._set(vectors, totals, updates, visits, epoch, sums / after if after else None)
            stopped = self._look()
            if stopped or converged:
                reason = stopped or "converged"
                break
            if np.all(updates >= self.limit):
                reason = "max_updates"
                break
        self.records = [replace(r, reason=reason) for r in self.records]
        return self.trainings

    def _set(self, vectors: Any, totals: Any, updates: Any, visits: int, epochs: int, means: Any) -> None:
        """``means``: the vectors that predict, if they are not the last ones."""
        few = self.data.rows.take(np.zeros(1, np.int64))
        self.trainings = []
        for k, (p, record) in enumerate(zip(self.problems, self.records, strict=True)):
            training = self.how.training(p.seen.patterns(few), few.weight)
            training.from_zero = self.starts[k] is None
            counts, mean = (int(updates[k]), visits, epochs), None if means is None else means[k]
            training.state = mixed_state(vectors[k].copy(), float(totals[k]), counts, mean)
            self.records[k] = record.stands(training, "")
            self.trainings.append(training)
