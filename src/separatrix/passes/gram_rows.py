"""Rows of the Gram matrix in a cache, for loops and solvers that ask for few of them again and again."""

import numpy as np
from numpy.typing import NDArray

from separatrix.passes.compiled import keep_columns, signed_row
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.space import Vector

TOGETHER = 200_000  # values that are computed at a time where many are wanted


def computed_at_once(n: int, megabytes: float) -> bool:
    """Is the whole Gram matrix of n rows computed when one row of it is asked for?"""
    return n * n <= 2 * TOGETHER and 8e-6 * n * n <= megabytes


class GramRows:
    """Rows of l_i l_k (K + rho^2), times a factor, in a cache of bounded size; those that were used longest ago make
    room. ``signed=False``: rows of K alone. `narrow` leaves out rows, and their columns. ``K``: the whole Gram matrix,
    if it is known; the cache takes its memory."""

    def __init__(
        self,
        patterns: KernelPatterns,
        megabytes: float,
        factor: float = 1.0,
        signed: bool = True,
        K: NDArray[np.float64] | None = None,
    ):
        self.patterns, self.factor, self.signed = patterns, factor, signed
        n = patterns.n
        places = int(np.clip(megabytes * 1e6 / (8.0 * n), min(n, 2), n))
        self.store = np.empty(n * places) if K is None else K.ravel()
        self.clock = self.computed = 0
        self._take_part(np.arange(n))
        if K is not None:
            self.slot, self.owner, self.used, self.filled = np.arange(n), np.arange(n), np.zeros(n, np.int64), n

    def _take_part(self, members: np.ndarray) -> None:
        self.members, q = members, len(members)
        size = min(q, len(self.store) // q)
        self.rows = self.store[: size * q].reshape(size, q)
        self.slot = np.full(q, -1, dtype=np.int64)
        self.owner = np.full(size, -1, dtype=np.int64)
        self.used = np.full(size, -1, dtype=np.int64)  # when a place was last asked for
        self.filled = 0
        self.batch = max(1, min(size // 2, 64, TOGETHER // q))  # to compute at a time: few are thrown away unused
        self.part = self.patterns.part(None if q == self.patterns.n else members)

    def narrow(self, kept: np.ndarray) -> None:
        """Only these of the members, in ascending order, take part from now on; what is known of them stays."""
        places, wide, used = self.slot[kept], len(self.members), self.used
        order = np.argsort(places)
        order = order[places[order] >= 0]
        keep_columns()(self.store, wide, places[order], kept)
        self._take_part(self.members[kept])
        self.slot[order], self.owner[: len(order)] = np.arange(len(order)), order
        self.used[: len(order)] = used[places[order]]
        self.filled = len(order)

    def widen(self, members: np.ndarray) -> None:
        """Other rows take part; nothing is known of them."""
        self._take_part(members)

    def fetch(self, index: np.ndarray) -> None:
        """Bring rows into the cache; the first of them is there for sure afterwards."""
        fresh = index[self.slot[index] < 0][: self.batch]
        if len(fresh):
            self.clock += 1
            self._place(fresh)

    def bring(self, index: np.ndarray) -> None:
        """Bring rows into the cache, all of them: no more than half of what it holds."""
        self.clock += 1
        places = self.slot[index]
        self.used[places[places >= 0]] = self.clock
        fresh, step = index[places < 0], max(1, TOGETHER // len(self.slot))
        for first in range(0, len(fresh), step):
            self._place(fresh[first : first + step])

    def _place(self, fresh: np.ndarray) -> None:
        p, count = self.patterns, len(fresh)
        block = p.kernel.values(p.centres.points[self.members[fresh]], *self.part)
        self.computed += count
        if self.filled + count <= len(self.owner):
            places = np.arange(self.filled, self.filled + count)
        else:
            places = np.argpartition(self.used, count - 1)[:count]
            former = self.owner[places]
            self.slot[former[former >= 0]] = -1
        self.filled = min(self.filled + count, len(self.owner))
        self.owner[places], self.slot[fresh], self.used[places] = fresh, places, self.clock
        if not self.signed:
            self.rows[places] = block
            return
        labels, write = p.labels[self.members], signed_row()
        for i, row, place in zip(fresh.tolist(), block, places.tolist(), strict=True):
            write(row, p._rho2, self.factor * labels[i], labels, self.rows[place])

    def combination(self, beta: Vector) -> Vector | None:
        """sum_k beta_k K_k of all rows, where all of them take part and those with beta_k != 0 are here."""
        support = np.flatnonzero(beta)
        places = self.slot[support] if len(self.slot) == self.patterns.n else np.array([-1])
        if places.min(initial=0) < 0:
            return None
        of_place = np.zeros(self.filled)
        of_place[places] = beta[support]
        return of_place @ self.rows[: self.filled]

    def among(self, index: np.ndarray) -> NDArray[np.float64]:
        """K of some rows of the patterns with each other; nothing is computed where all of these are here."""
        at = np.minimum(np.searchsorted(self.members, index), len(self.members) - 1)
        places = self.slot[at]
        if places.min(initial=0) < 0 or not np.array_equal(self.members[at], index):
            return self.patterns._gram_among(index)
        return self.rows[np.ix_(places, at)]

    def row(self, i: int) -> Vector:
        if self.slot[i] < 0:
            self.fetch(np.array([i]))
        return self.rows[self.slot[i]]
