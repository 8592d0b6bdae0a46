"""What a fit remembers besides the current vector: nothing, an average, voters, or a pocket (DHS 5.7).

``note(memory, patterns, at, g, visits, run, v)`` is called just before an update by g y replaces ``a = c v``, which has
survived ``run`` visits since the last one. The kind of memory is a type, so a fit without one pays nothing.
"""

from typing import NamedTuple

import numpy as np

from separatrix.online.loops.state import copy
from separatrix.online.loops.update import errors, remember


class Nothing(NamedTuple):
    empty: np.ndarray

    def note(self, patterns, at, g, visits, run, v):
        return None


class Mean(NamedTuple):
    """sum over updates of (visits before it) * (its step); `average` turns it into the mean over all visits."""

    late: np.ndarray  # as long as v

    def note(self, patterns, at, g, visits, run, v):
        remember(patterns, at, g, visits - 1, self.late)


class Voters(NamedTuple):
    """The vectors that survived longest, with the number of visits each survived."""

    vectors: np.ndarray  # (max_voters, as long as v)
    votes: np.ndarray  # (max_voters,), 0: an empty place

    def note(self, patterns, at, g, visits, run, v):
        last = np.argmin(self.votes)
        votes = min(run + 1, visits - 1)  # Freund & Schapire count the visit that made the vector; none made the first
        if votes > self.votes[last]:
            self.votes[last] = votes
            copy(v, self.vectors[last])


class Pocket(NamedTuple):
    """The vector with the longest run; with the ratchet it also has to make fewer errors on all patterns."""

    vector: np.ndarray  # as long as v
    best: np.ndarray  # run length, errors, replacements
    ratchet: bool

    def note(self, patterns, at, g, visits, run, v):
        if run <= self.best[0]:
            return
        if self.ratchet:
            wrong = errors(patterns, v)
            if wrong >= self.best[1]:
                return
            self.best[1] = wrong
        self.best[0] = run
        self.best[2] += 1
        copy(v, self.vector)


def average(late: np.ndarray, a: np.ndarray, visits: int) -> np.ndarray:
    """The mean of the vector over the visits so far."""
    return a - late / visits if visits else a.copy()
