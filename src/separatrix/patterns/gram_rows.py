"""Rows of the Gram matrix in a cache, for loops and solvers that ask for few of them again and again."""

import numpy as np

from separatrix.passes.compiled import signed_row
from separatrix.patterns.kernel_patterns import KernelPatterns
from separatrix.space import Vector

TOGETHER = 32  # rows that are computed at a time where many are wanted


class GramRows:
    """Rows of l_i l_k (K + rho^2), times a factor, in a cache of bounded size; the oldest make room."""

    def __init__(self, patterns: KernelPatterns, megabytes: float, factor: float = 1.0):
        self.patterns, self.factor = patterns, factor
        n = patterns.n
        size = int(np.clip(megabytes * 1e6 / (8.0 * n), min(n, 2), n))
        self.rows = np.empty((size, n))
        self.slot = np.full(n, -1, dtype=np.int64)
        self.owner = np.full(size, -1, dtype=np.int64)
        self.busy = np.zeros(size, dtype=bool)  # places that are not to be given away
        self.next = 0
        self.computed = 0
        self.batch = max(1, min(size // 2, 64, 200_000 // n))  # to compute at a time: few are thrown away unused

    def fetch(self, index: np.ndarray) -> None:
        """Bring rows into the cache; the first of them is there for sure afterwards."""
        fresh = index[self.slot[index] < 0][: self.batch]
        if len(fresh):
            self._place(fresh)

    def bring(self, index: np.ndarray) -> None:
        """Bring rows into the cache, all of them: no more than half of what it holds."""
        wanted = self.slot[index] < 0
        for i in index[~wanted].tolist():
            self.busy[self.slot[i]] = True
        fresh = index[wanted]
        for first in range(0, len(fresh), TOGETHER):
            self._place(fresh[first : first + TOGETHER])
            self.busy[self.slot[fresh[first : first + TOGETHER]]] = True
        self.busy[:] = False

    def _place(self, fresh: np.ndarray) -> None:
        p = self.patterns
        block, write = p.gram(fresh), signed_row()
        self.computed += len(fresh)
        for i, row in zip(fresh.tolist(), block, strict=True):
            while self.busy[self.next]:
                self.next = (self.next + 1) % len(self.owner)
            place = self.next
            self.next = (self.next + 1) % len(self.owner)
            if self.owner[place] >= 0:
                self.slot[self.owner[place]] = -1
            write(row, p._rho2, self.factor * p.labels[i], p.labels, self.rows[place])
            self.owner[place], self.slot[i] = i, place

    def row(self, i: int) -> Vector:
        if self.slot[i] < 0:
            self.fetch(np.array([i]))
        return self.rows[self.slot[i]]
