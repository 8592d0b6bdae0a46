"""Quasi-complete separation: is there a vector a with a.y_k >= 0 for all rows, and > 0 for some?

Floats propose an answer (`separatrix.certificates.logistic_witness`), integers prove it.

- No row grows: if positive weights combine the rows to 0 exactly, no such vector exists (Stiemke). Floats prove that
  for independent columns, otherwise integers near the weights do (`separatrix.certificates.exact`).
- Some rows grow: the vector is rounded to integers in the coordinates that the tight rows leave free. The others follow
  from one linear system. If all products are >= 0 exactly, and one is > 0, this is such a vector.

A proof that fails is tried again after more steps. What floats do not see, such as rows that are tight but for rounding
errors, facial reduction decides in exact arithmetic (`separatrix.certificates.facial_reduction`).
"""

from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.exact import (
    dot,
    heavy_rows,
    integers_of,
    pieces_of,
    regular_part,
    scaled_columns,
    vanishing_weights,
    without_factor,
)
from separatrix.certificates.facial_reduction import weak_vector
from separatrix.certificates.integer_rows import FloatRows
from separatrix.certificates.integer_systems import Integers, solve
from separatrix.certificates.logistic_witness import Proposal, proposals, proved_weights
from separatrix.certificates.wolfe import LARGEST_TABLE, decide
from separatrix.space import Vector

VECTOR_BITS = (3, 10, 30)  # of free coordinates: few, if they suffice


class Answer(NamedTuple):
    """``vector``: integers a with a.y_k >= 0 for all rows and > 0 for some; None: it is proved that there is none.

    ``weight``: then integers > 0 that combine all rows to 0, if they were requested and found."""

    vector: Integers | None
    weight: Integers | None = None


def decide_quasi_complete(
    rows: FloatRows, clock: Clock, tight: list[int] | None = None, explicit: bool = False
) -> Answer:
    """Return a vector, or that none exists, each with an exact proof; raise `OutOfTimeError` if neither was proved.

    ``explicit``: that none exists is proved by weights, which are returned, and not by bounds on rounding errors.
    ``tight``: rows that a combination with weights > 0 makes 0, if they are known."""
    answer = _by_floats(rows, clock, explicit)
    if answer is not None:
        return answer
    if rows.n * rows.m > LARGEST_TABLE:
        raise OutOfTimeError
    if tight is None:
        first = decide(rows, clock)
        if first.vector is not None:
            return Answer(first.vector)
        tight = first.rows
    return Answer(weak_vector(rows.table(clock), tight, clock))


def _by_floats(rows: FloatRows, clock: Clock, explicit: bool) -> Answer | None:
    V = rows.floats
    _, columns, _ = regular_part(pieces_of(V, rows.unit), np.arange(rows.n), clock)
    if not len(columns):  # rows of zeros, or of multiples of the prime
        return None if V.any() else Answer(None, [1] * rows.n)
    A = scaled_columns(V[:, columns])
    if A is None:
        return None
    for proposal in proposals(A, clock):
        if proposal.tight is None:
            independent = len(columns) == rows.m  # otherwise floats do not see whether other columns vanish too
            if not explicit and independent and proved_weights(A, proposal.weight) is not None:
                return Answer(None)
            weight = vanishing_weights(V, proposal.weight, clock)
            if weight is not None and min(weight) > 0:
                return Answer(None, weight)
            continue
        found = _weak_vector(rows, A, columns, proposal, clock)
        if found is not None:
            return Answer(found)
    return None


def one_sided_columns(patterns: Any) -> Vector | None:
    """Return the sum of all vectors with one coordinate, 1 or -1, and no negative product; None if there are none.

    Such a column is not negative in one class and not positive in all others, or the other way round: that of a rare
    category, which occurs in one class alone. Signs are the proof.
    """
    codes = patterns.codes if patterns.n_classes > 2 else (patterns.labels > 0).astype(np.int64)
    extremes = [patterns.home.take(np.flatnonzero(codes == c)).column_extremes() for c in range(patterns.n_classes)]
    smallest, largest = (np.array([e[i] for e in extremes], dtype=np.float64) for i in (1, 2))
    used = np.any((smallest != 0) | (largest != 0), axis=0)
    a = np.zeros((patterns.n_classes, smallest.shape[1] + 1))
    for c in range(patterns.n_classes):
        others = np.arange(patterns.n_classes) != c
        up = (smallest[c] >= 0) & np.all(largest[others] <= 0, axis=0)
        down = (largest[c] <= 0) & np.all(smallest[others] >= 0, axis=0)
        a[c, :-1] = np.where(used, up.astype(np.float64) - down, 0.0)
    if not np.any(a):
        return None
    return a.ravel() if patterns.n_classes > 2 else a[1]


def _weak_vector(
    rows: FloatRows, A: NDArray[np.float64], columns: np.ndarray, proposal: Proposal, clock: Clock
) -> Integers | None:
    """Return integers near a proposed vector that vanish on the tight rows, if no product with a row is negative."""
    V, tight = rows.floats, proposal.tight
    assert tight is not None
    unit, size = rows.unit[columns], np.array(rows.size)[columns]
    here = np.flatnonzero(tight)
    part = V[np.ix_(here, columns)]
    basis, bound, _ = regular_part(pieces_of(part, unit), heavy_rows(part, np.ones(len(here))), clock)
    basis, free = here[basis], np.setdiff1d(np.arange(len(columns)), bound)
    if not len(free):
        return None
    fixed, loose, others = A[np.ix_(basis, bound)], A[np.ix_(basis, free)], A[~tight]
    for vector, bits in product(proposal.vectors, VECTOR_BITS):
        clock.look()
        largest = float(np.abs(vector[free]).max())
        if not 0 < largest < np.inf:
            continue
        z = np.zeros(len(columns))
        z[free] = np.rint(np.ldexp(vector[free] / largest, bits))
        with suppress(np.linalg.LinAlgError):
            z[bound] = -np.linalg.solve(fixed, loose @ z[free])
        if float((others @ z).min()) < 0:
            continue
        top = int(size[free].max())  # z in the units of the integers
        chosen = [int(x) << top - u for x, u in zip(z[free].tolist(), size[free].tolist(), strict=True)]
        rest = integers_of(V[np.ix_(basis, columns[free])], unit[free])
        right = [-dot(row, chosen) for row in (rest.tolist() if isinstance(rest, np.ndarray) else rest)]
        found: tuple[Integers, int] | None = ([], 1)
        if len(bound):
            found = solve(integers_of(V[np.ix_(basis, columns[bound])], unit[bound]), right, clock)
        if found is None:
            return None
        x = [0] * rows.m
        for j, v in zip(columns[bound].tolist(), found[0], strict=True):
            x[j] = v
        for j, v in zip(columns[free].tolist(), chosen, strict=True):
            x[j] = v * found[1]
        x = without_factor(x)
        if rows.supports(x, clock):
            return x
    return None
