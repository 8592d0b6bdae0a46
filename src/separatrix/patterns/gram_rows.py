"""Rows of the Gram matrix in a cache, for loops and solvers that ask for few of them again and again."""

import numpy as np

from separatrix.patterns.kernel_patterns import KernelPatterns
from separatrix.space import Vector


class GramRows:
    """Rows of l_i l_k (K + rho^2), times a factor, in a cache of bounded size; the oldest make room."""

    def __init__(self, patterns: KernelPatterns, megabytes: float, factor: float = 1.0):
        self.patterns, self.factor = patterns, factor
        n = patterns.n
        size = int(np.clip(megabytes * 1e6 / (8.0 * n), min(n, 2), n))
        self.rows = np.empty((size, n))
        self.slot = np.full(n, -1, dtype=np.int64)
        self.owner = np.full(size, -1, dtype=np.int64)
        self.next = 0
        self.computed = 0
        self.batch = max(1, min(size // 2, 64, 200_000 // n))  # to compute at a time: few are thrown away unused

    def fetch(self, index: np.ndarray) -> None:
        """Bring rows into the cache; the first of them is there for sure afterwards."""
        fresh = index[self.slot[index] < 0][: self.batch]
        if len(fresh) == 0:
            return
        p = self.patterns
        block = p.gram(fresh)
        block += p._rho2
        block *= p.labels
        block *= (self.factor * p.labels[fresh])[:, None]
        self.computed += len(fresh)
        for i, row in zip(fresh.tolist(), block, strict=True):
            place = self.next
            self.next = (self.next + 1) % len(self.owner)
            if self.owner[place] >= 0:
                self.slot[self.owner[place]] = -1
            self.rows[place], self.owner[place], self.slot[i] = row, i, place

    def row(self, i: int) -> Vector:
        if self.slot[i] < 0:
            self.fetch(np.array([i]))
        return self.rows[self.slot[i]]
