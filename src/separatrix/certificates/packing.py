"""Witnesses that share rows: each proves by itself that no hyperplane separates its rows, so one of them is an error.

Shares z_s >= 0 of witnesses such that no row has more shares than its weight bound the weight of the errors from below:
every witness loses a row, so sum z_s <= sum of the weights of the rows that are lost. The best shares solve a linear
program. HiGHS proposes them, and rounded down they are checked as fractions.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.decision import decide
from separatrix.certificates.separability_answer import Separability
from separatrix.certificates.witness import combined
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Vector

BITS = 30  # of shares


class Witness(NamedTuple):
    """Rows, integers > 0 that combine their patterns to 0, and the share in a bound."""

    rows: list[int]
    multipliers: list[int]
    share: Fraction


@dataclass(frozen=True, eq=False)
class Packing:
    """Witnesses with shares."""

    witnesses: list[Witness]

    def bound(self, X: Any, sign: Vector, weight: list[int], intercept: bool) -> int:
        """Return the weight of errors that every hyperplane has, 0 if it is not proved."""
        load: dict[int, Fraction] = {}
        for witness in self.witnesses:
            if witness.share < 0 or any(combined(X, sign, witness.rows, witness.multipliers, intercept)):
                return 0
            for row in witness.rows:
                load[row] = load.get(row, Fraction(0)) + witness.share
        if any(total > weight[row] for row, total in load.items()):
            return 0
        return ceil(sum((w.share for w in self.witnesses), Fraction(0)))


class PackingSearch:
    """Finds witnesses: first disjoint ones, then those that a fractional choice of rows does not hit."""

    def __init__(self, patterns: Patterns, weight: list[int], clock: Clock):
        self.patterns, self.weight, self.clock = patterns, weight, clock
        self.found: list[tuple[list[int], list[int]]] = []
        self.vectors: list[Vector] = []  # that separate the rows which no witness has
        self.packing = Packing([])

    def ask(self, stay: np.ndarray) -> bool:
        """Look for a witness among some rows."""
        self.clock.look()
        if not len(stay):
            return False
        answer: Separability = decide(self.patterns.sample(stay), self.clock.left)
        if answer.separable is None:
            raise OutOfTimeError
        proof = answer.infeasibility_proof
        if proof is None or not proof.exact:
            if answer.certificate is not None and answer.certificate.direction is not None:
                self.vectors.append(answer.certificate.direction)
            return False
        self.found.append((stay[proof.rows].tolist(), list(proof.exact)))
        return True

    def disjoint(self) -> None:
        """Take witnesses until the rows with weight left are separable."""
        left, shares = list(self.weight), []
        while self.ask(np.array([k for k, w in enumerate(left) if w > 0], dtype=np.int64)):
            rows = self.found[-1][0]
            share = min(left[k] for k in rows)
            for k in rows:
                left[k] -= share
            shares.append(Fraction(share))
            self._keep(shares)

    def fractional(self) -> bool:
        """Solve the linear program and add witnesses that its prices do not hit; False if none was found."""
        n, largest = len(self.weight), max(self.weight)
        rows = np.concatenate([np.array(rows) for rows, _ in self.found])
        owner = np.repeat(np.arange(len(self.found)), [len(rows) for rows, _ in self.found])
        A = sp.csr_array((np.ones(len(rows)), (rows, owner)), shape=(n, len(self.found)))
        limits = np.array([w / largest for w in self.weight])
        solved = linprog(-np.ones(len(self.found)), A_ub=A, b_ub=limits, options={"time_limit": self.clock.left})
        if solved.status != 0:
            return False
        self._keep(self._rounded(solved.x, largest))
        price = -solved.ineqlin.marginals
        for most in (0.0, 1.0 / (self.patterns.d + 2), 0.5):
            stay = np.flatnonzero(price <= most)
            if self.ask(stay):
                if sum(price[k] for k in self.found[-1][0]) < 1.0 - 1e-6:
                    return True
                self.found.pop()
        return False

    def _rounded(self, shares: Vector, largest: int) -> list[Fraction]:
        """Return fractions near the shares, so small that no row has more than its weight."""
        exact = [Fraction(int(np.ldexp(max(z, 0.0), BITS)), 1 << BITS) * largest for z in shares.tolist()]
        load: dict[int, Fraction] = {}
        for (rows, _), share in zip(self.found, exact, strict=True):
            for k in rows:
                load[k] = load.get(k, Fraction(0)) + share
        over = max((Fraction(total) / self.weight[k] for k, total in load.items()), default=Fraction(1))
        return [share / max(over, Fraction(1)) for share in exact]

    def _keep(self, shares: list[Fraction]) -> None:
        kept = [Witness(*w, z) for w, z in zip(self.found, shares, strict=True) if z]
        if sum(w.share for w in kept) > sum(w.share for w in self.packing.witnesses):
            self.packing = Packing(kept)

    @property
    def bound(self) -> int:
        """The bound of the best packing so far."""
        return ceil(sum((w.share for w in self.packing.witnesses), Fraction(0)))
