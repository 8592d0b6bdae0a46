"""What a fit remembers besides the current vector: nothing, an average, voters, or a pocket (DHS 5.7).

``note(memory, rows, state, norm2)`` is called just before an update at a visit replaces ``a = c v``, which has survived
the visits since the last one. ``enter(memory, rows, at, step)``: ``step`` times a pattern is being added to v.
``set_aside(memory, rows, state)``: v is about to be measured in other units. The kind of memory is a type, so a fit
without one pays nothing. Memories of other updates also have ``score`` and ``apply`` (loop.py).
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.online.loops.rows import errors, fold, remember
from separatrix.online.loops.state import FACTOR, RUN, VISITS, copy, inlined

FACTORS, COUNTED, BEGUN = 0, 1, 2  # places in Mean.sums
SWITCHED_OFF = -1.0  # in the place BEGUN


class Nothing(NamedTuple):
    empty: np.ndarray


class Mean(NamedTuple):
    """The sum of the vector a = c v over visits, without a look at v between updates.

    With F the sum of the factors c over the visits so far, an update v += D costs late += F D, and the sum is
    F v - late + base. What the vector was before v is measured in other units stays in ``base``. With ``directions`` it
    is the sum of a/|a|, F that of c/|a|: for rules that let a grow.
    """

    late: np.ndarray  # as long as v
    base: np.ndarray = np.zeros(0)
    sums: np.ndarray = np.zeros(0)  # F, the visit up to which it is counted, and that after which counting began
    directions: bool = False

    def note(self, rows, state, norm2):
        count_visits(self, state.counts[VISITS] - 1, state.real[FACTOR], norm2)

    def enter(self, rows, at, step):
        if self.sums[BEGUN] >= 0.0:
            remember(rows, at, step, self.sums[FACTORS], self.late)

    def set_aside(self, rows, state):
        if self.sums[BEGUN] >= 0.0:
            fold(rows, state, self.sums[FACTORS], self.base)
            for j in range(self.late.shape[0]):
                self.base[j] -= self.late[j]
                self.late[j] = 0.0
            self.sums[FACTORS] = 0.0


@inlined
def count_visits(mean, visits, c, norm2):
    """The vector a = c v was the same in all visits up to this one that are not counted yet."""
    if mean.directions:
        c = c / np.sqrt(norm2) if norm2 > 0.0 else 0.0
    mean.sums[FACTORS] += c * (visits - mean.sums[COUNTED])
    mean.sums[COUNTED] = visits


@inlined
def sum_up(mean, visits, w):
    """Add w for the visits up to this one that are not counted yet: before w changes as a whole."""
    if mean.sums[BEGUN] >= 0.0:
        times = visits - mean.sums[COUNTED]
        for j in range(w.shape[0]):
            mean.base[j] += times * w[j]
    mean.sums[COUNTED] = visits


NO_MEAN = Mean(np.zeros(0))  # of models of 0.1.0


class Voters(NamedTuple):
    """The vectors that survived longest, with the number of visits each survived."""

    vectors: np.ndarray  # (max_voters, as long as v)
    votes: np.ndarray  # (max_voters,), 0: an empty place

    def note(self, rows, state, norm2):
        last = np.argmin(self.votes)
        # Freund & Schapire count the visit that made the vector; none made the first
        votes = min(state.counts[RUN], state.counts[VISITS] - 1)
        if votes > self.votes[last]:
            self.votes[last] = votes
            copy(state.v, self.vectors[last])


class Pocket(NamedTuple):
    """The vector with the longest run; with the ratchet it also has to make fewer errors on all patterns."""

    vector: np.ndarray  # as long as v
    best: np.ndarray  # run length, errors, replacements
    ratchet: bool

    def note(self, rows, state, norm2):
        run = state.counts[RUN] - 1
        if run <= self.best[0]:
            return
        if self.ratchet:
            wrong = errors(rows, state.v)
            if wrong >= self.best[1]:
                return
            self.best[1] = wrong
        self.best[0] = run
        self.best[2] += 1
        copy(state.v, self.vector)


# Means, seen from Python.


def room_for_a_mean(width: int, directions: bool = False) -> Mean:
    """A mean that nobody has asked for yet."""
    return Mean(np.zeros(width), np.zeros(width), np.array([0.0, 0.0, SWITCHED_OFF]), directions)


def known_mean(mean: np.ndarray, visits: int) -> Mean:
    """A mean that is known after so many visits."""
    return Mean(np.zeros_like(mean), mean, np.array([0.0, visits, visits - 1.0]))


def mean_in(memory: Any) -> Mean | None:
    """The mean that a memory is, or holds besides other things."""
    found = memory if isinstance(memory, Mean) else getattr(memory, "mean", None)
    return found if isinstance(found, Mean) and len(found.sums) else None


def begin_mean(state: Any) -> None:
    """Take the mean over the visits from now on."""
    mean = mean_in(state.memory)
    if mean is not None:
        mean.late[:], mean.base[:] = 0.0, 0.0
        visits = float(state.counts[VISITS])
        mean.sums[:] = 0.0, visits, visits


def end_mean(state: Any) -> None:
    """Leave the mean: the last vector is the answer."""
    mean = mean_in(state.memory)
    if mean is not None:
        mean.sums[BEGUN] = SWITCHED_OFF


def mean_or_last(state: Any, a: np.ndarray, norm2: float) -> np.ndarray:
    """The mean of the vector over the visits since `begin_mean`; ``a``, the last one, where there were none."""
    mean, visits = mean_in(state.memory), float(state.counts[VISITS])
    if mean is None or mean.sums[BEGUN] < 0 or visits <= mean.sums[BEGUN]:
        return a
    c, over = float(state.real[FACTOR]), visits - mean.sums[BEGUN]
    now = (1.0 / np.sqrt(norm2) if norm2 > 0 else 0.0) if mean.directions else 1.0
    times = mean.sums[FACTORS] / c + now * (visits - mean.sums[COUNTED])
    return a * (times / over) - (mean.late - mean.base) / over
