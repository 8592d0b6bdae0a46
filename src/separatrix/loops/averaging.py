"""What a fit remembers besides the current vector: nothing, an average, voters, or a pocket (DHS 5.7).

``note(memory, ...)`` is called just before an update replaces ``a = c v``, which has survived ``run`` visits since the
last update; ``g`` is the signed step. The kind of memory is a type, so a fit without one pays nothing.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from separatrix.rows.access import axpy, dot


class Nothing(NamedTuple):
    empty: np.ndarray


class Mean(NamedTuple):
    """sum over updates of (visits before it) * (its step); `average` turns it into the mean over all visits."""

    late: np.ndarray  # d + 1


class Voters(NamedTuple):
    """The vectors that survived longest, with the number of visits each survived."""

    vectors: np.ndarray  # (max_voters, d + 1)
    votes: np.ndarray  # (max_voters,), 0: an empty place


class Pocket(NamedTuple):
    """The vector with the longest run; with the ratchet it also has to make fewer errors on all patterns."""

    vector: np.ndarray  # d + 1
    best: np.ndarray  # run length, errors, replacements
    ratchet: bool


def _ignore(memory, X, labels, i, frame, v, c, g, visits, run):
    return None


def _average(memory, X, labels, i, frame, v, c, g, visits, run):
    earlier = g * (visits - 1)
    axpy(earlier, X, i, memory.late)
    memory.late[v.shape[0] - 1] += earlier * frame.rho


def _vote(memory, X, labels, i, frame, v, c, g, visits, run):
    last = np.argmin(memory.votes)
    votes = min(run + 1, visits - 1)  # Freund & Schapire count the visit that made the vector; none made the first
    if votes > memory.votes[last]:
        memory.votes[last] = votes
        memory.vectors[last] = v


def _pocket(memory, X, labels, i, frame, v, c, g, visits, run):
    if run <= memory.best[0]:
        return
    if memory.ratchet:
        d, errors = v.shape[0] - 1, 0
        for k in range(labels.shape[0]):
            if labels[k] * (dot(X, k, v) + frame.rho * v[d]) <= 0.0:
                errors += 1
        if errors >= memory.best[1]:
            return
        memory.best[1] = errors
    memory.best[0] = run
    memory.best[2] += 1
    memory.vector[:] = v


_NOTES = {Nothing: _ignore, Mean: _average, Voters: _vote, Pocket: _pocket}


def note(memory, X, labels, i, frame, v, c, g, visits, run):
    return _NOTES[type(memory)](memory, X, labels, i, frame, v, c, g, visits, run)


@overload(note)
def _note(memory, X, labels, i, frame, v, c, g, visits, run):
    return _NOTES[memory.instance_class]


def average(late: np.ndarray, a: np.ndarray, visits: int) -> np.ndarray:
    """The mean of the vector over the visits so far."""
    return a - late / visits if visits else a.copy()
