"""The search for the fewest errors: line searches for a vector, a tree of cones (`error_tree`) for the proof."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.error_tree import MOST_SWEPT, ErrorTree, fewest_on, integer_weights, merged
from separatrix.certificates.exact import dot, pieces_of
from separatrix.certificates.integer_rows import FloatRows
from separatrix.certificates.integer_systems import LIMB, PRIMES, basis_columns, residues, solve
from separatrix.certificates.witness import dense
from separatrix.solvers.loops import cone_tree as loops
from separatrix.space import Vector

EPS = 2.0**-52
WORK = 10_000_000  # of a piece of the search, between two looks at the clock
FINEST = -9.0  # of directions from a small cone
AWAY = (12, 24, 36)  # bits of distances from a hyperplane that goes through points of both classes
NARROWEST = 1e-9  # of the angles between two rows
SHARES = (0.0, 0.125, 0.25, 0.5, 0.75, 0.875)  # of the errors that are proved by small trees before all are
ROUNDING = 1e-9  # of sums of weights that have more than 53 bits
DIRECTIONS, STARTS, SORTED = (
    60,
    8,
    2_000_000,
)  # of line searches, at a time; vectors from which these start before the first tree; rows


def scaled_columns(X: np.ndarray, side: Vector, intercept: bool) -> tuple[np.ndarray, list[float], list[int], bool]:
    """Return centered and scaled rows times their classes, what was subtracted, the shifts, and whether it is exact."""
    out, centers, shifts, exact = [], [], [], True
    for j in range(X.shape[1]):
        x = X[:, j]
        if intercept and j == X.shape[1] - 1:  # the column of ones
            out.append(side.copy())
            centers.append(0.0)
            shifts.append(0)
            continue
        top = int(np.frexp(np.abs(x).max(initial=0.0))[1])
        small = np.ldexp(x, -top)
        center = float(np.sort(small)[len(small) // 2]) if intercept else 0.0
        moved = small - center
        back = small - moved
        error = (small - (moved + back)) + (back - center)  # of the subtraction, exactly (Knuth's two-sum)
        spread = float(np.abs(moved).mean()) if np.any(moved) else 1.0
        shift = 1 - int(np.frexp(spread)[1])
        column = np.ldexp(moved, shift)
        exact &= bool(np.all(error == 0.0) and np.array_equal(np.ldexp(small, top), x))
        out.append(column * side)
        centers.append(float(np.ldexp(center, top)))
        shifts.append(shift - top)
    return np.ascontiguousarray(np.column_stack(out)), centers, shifts, exact


def limit_of(B: np.ndarray) -> float:
    """Return the largest size up to which sums of multiples of the values' common unit are exact."""
    mantissa, exponent = np.frexp(B[B != 0])
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return float(np.ldexp(1.0, int((exponent + trailing).min()))) if len(whole) else 1.0


def independent(rows: FloatRows, intercept: bool, clock: Clock) -> tuple[list[int], dict[int, list[int]]]:
    """Return columns that span all, the intercept among them, and how the others follow from these."""
    width = rows.m
    order = [width - 1, *range(width - 1)] if intercept else list(range(width))
    table = residues(pieces_of(rows.floats, rows.unit), PRIMES[0], LIMB)[:, order]
    chosen_rows = basis_columns(np.ascontiguousarray(table.T), PRIMES[0], clock)
    names = [order[c] for c in basis_columns(table[chosen_rows], PRIMES[0], clock)]
    names = [*sorted(set(names) - {width - 1}), width - 1] if intercept else sorted(names)
    dependent, unit = {}, rows.unit.tolist()
    top = max(unit)
    system = [[rows.row(k)[c] for c in names] for k in chosen_rows]
    for j in set(range(width)) - set(names):
        found = solve(system, [rows.row(k)[j] for k in chosen_rows], clock) if names else ([], 1)
        if found is None:
            return [], {}
        relation = [found[1], *found[0]]
        if any(
            dot([-relation[0], *relation[1:]], [r[j], *(r[c] for c in names)]) for r in map(rows.row, range(rows.n))
        ):
            return [], {}
        dependent[j] = [x << top - u for x, u in zip(relation, [unit[j], *(unit[c] for c in names)], strict=True)]
    return names, dependent


def line_searches(B: np.ndarray, W: Vector, w: Vector, Z: np.ndarray) -> tuple[Vector, float]:
    """Move w along directions, each to a point with the fewest errors on the circle of w and the direction.

    On it each row changes its side once within half a circle: one sort of these angles gives all counts. Returns the
    vector and the weight of its errors.
    """
    now, along = np.inf, B @ Z.T
    x = B @ w
    for r in range(len(Z)):
        y = along[:, r]
        turn = np.arctan2(y, x)
        turning = (x != 0) | (y != 0)
        sign = np.where(turning, np.where(turn < 0, -W, W), 0.0)
        turn = np.where(turn < 0, turn + np.pi, turn)
        order = np.argsort(turn)
        turn, fixed = turn[order], float(W[~turning].sum())
        total = float(W.sum()) - fixed
        errors = np.maximum(sign, 0.0).sum() - np.concatenate([[0.0], np.cumsum(sign[order])])
        low, high = np.append(turn[-1] - np.pi, turn), np.append(turn, turn[0] + np.pi)
        fewest = np.where(high - low > NARROWEST, np.minimum(errors, total - errors) + fixed, np.inf)
        k = int(np.argmin(fewest))
        if fewest[k] > now:
            continue
        now = float(fewest[k])
        t = 0.5 * (low[k] + high[k] - np.pi) + (np.pi if total - errors[k] < errors[k] else 0.0)
        w = np.cos(t) * w + np.sin(t) * Z[r]
        w = w / np.abs(w).max()
        x = B @ w
    return w, now


class ConeSearch:
    """Bounds of the weight of errors of two classes; ``tell(lower, upper)`` is called as they close.

    ``lower`` and ``upper`` are in units of integer weights; ``vector`` is (w, b) of the columns of the data.
    """

    def __init__(self, X: np.ndarray, sign: Vector, weight: Vector, intercept: bool, clock: Clock):
        self.X, self.sign, self.intercept, self.clock = X, sign, intercept, clock
        self.weight, self.factor = integer_weights(weight)
        points, self.side, self.net, self.lost = merged(X, sign, self.weight, intercept)
        self.whole = sum(self.weight) < 2**53
        self.W = (
            np.array([float(w) for w in self.net]) if self.whole else np.array(self.net, dtype=object).astype(float)
        )
        self.points = dense(points, intercept)
        self.lower, self.upper = 0, sum(self.weight) + 1
        self.vector: tuple[Any, ...] = ()
        self.tree: ErrorTree | None = None
        self.random = np.random.default_rng(0)
        self.rows = FloatRows(dense(X, intercept) * sign[:, None], clock)
        self.swept: dict[tuple[int, ...], int] = {}

    def prepare(self) -> int:
        """Find the basis; return the number of its vectors, 0 if it was not found."""
        if not len(self.points):
            return 0
        self.integers = FloatRows(self.points * self.side[:, None], self.clock)
        self.columns, self.dependent = independent(self.integers, self.intercept, self.clock)
        if not self.columns:
            return 0
        self.B, self.center, self.shift, exact = scaled_columns(self.points[:, self.columns], self.side, self.intercept)
        self.exact = exact
        self.limit = limit_of(self.B) if exact else 0.0
        return self.B.shape[1]

    def errors_of(self, a: list[Fraction]) -> int:
        """Return the weight of the errors of (w, b), exactly."""
        used = a if self.intercept else a[:-1]
        signs = self.rows.signs(self.rows.integers(used)[0], self.clock)
        return sum(w for w, s in zip(self.weight, signs.tolist(), strict=True) if s <= 0)

    def offer_in_basis(self, u: Vector) -> None:
        """Keep a vector of the basis if it has fewer errors than any before: in floats, or if these lose rows exactly.

        w_j = 2^shift u_j, and b makes up for the centers."""
        a = [Fraction(0)] * (self.X.shape[1] + 1)
        for c, v, center, shift in zip(self.columns, u.tolist(), self.center, self.shift, strict=True):
            if self.intercept and c == self.X.shape[1]:
                a[-1] += Fraction(v)
            else:
                a[c] = Fraction(v) * Fraction(2) ** shift
                a[-1] -= a[c] * Fraction(center)
        largest = max(abs(v) for v in a)
        exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
        a = [v / Fraction(2) ** exponent for v in a]
        expected = float(self.W[self.B @ u <= 0.0].sum()) + self.lost
        for vector in ([Fraction(float(v)) for v in a], a, *(self._beside(a, bits) for bits in AWAY)):
            errors = self.errors_of(vector)
            if errors < self.upper:
                self.upper, self.vector = errors, tuple(a if vector is a else map(float, vector))
            if errors <= expected:
                return

    def _beside(self, a: list[Fraction], bits: int) -> list[Fraction]:
        """Return a vector near another: of points that both classes share, one class is right beside the hyperplane."""
        moved = self.random.standard_normal(len(a)) * 2.0**-bits
        return [Fraction(float(v) + float(z)) for v, z in zip(a, moved, strict=True)]

    def improve(self, starts: list[Vector], finest: float = -2.0) -> bool:
        """Search along random lines from some vectors, each as long as that helps; is one better than all before?

        ``finest``: the decimal logarithm of the smallest directions."""
        D, before = self.B.shape[1], self.upper
        count = int(np.clip(SORTED // len(self.B), 1, DIRECTIONS))
        for w in starts:
            last, w = np.inf, w / np.abs(w).max()
            while True:
                self.clock.look()
                size = 10.0 ** self.random.uniform(finest, 0.5, (count, 1))
                Z = self.random.standard_normal((count, D)) * size
                axes = self.random.random(count) < 0.4
                Z[axes] = np.eye(D)[self.random.integers(0, D, int(axes.sum()))] * size[axes]
                w, now = line_searches(self.B, self.W, w, Z)
                if now >= last:
                    break
                last = now
            self.offer_in_basis(w)
        return self.upper < before

    def _starts(self) -> list[Vector]:
        D = self.B.shape[1]
        mean = self.B.T @ self.W
        starts = list(self.random.standard_normal((STARTS, D)))
        return [mean, *starts] if np.any(mean) else starts

    def run(self, upper: int, tell: Callable[[], Any]) -> None:
        """Close the bounds, from a known weight of errors that suffices. What is proved stays if time ends."""
        self.upper = min(self.upper, upper)
        self.improve(self._starts())
        tell()
        nothing = self._grown(0)
        if nothing is not None:
            self._prove(self.lost, nothing)
        proved = 0
        while self.lower < self.upper:
            share = SHARES[proved] if proved < len(SHARES) else 1.0
            target = max(self.lower + 1, int(share * self.upper)) if share < 1 else self.upper
            numbers = self._grown(target - self.lost)
            if numbers is not None:
                self._prove(target, numbers)
                proved += 1
                if not self.whole and target == self.upper:
                    return
            tell()

    def _prove(self, target: int, numbers: np.ndarray) -> None:
        tree = ErrorTree(self.columns, self.dependent, self.center, self.shift, numbers)
        if not self.whole:  # sums of weights were rounded
            target = min(self.upper, tree.bound(self.X, self.sign, self.weight, self.intercept))
        if target > self.lower:
            self.lower, self.tree = target, tree

    def _grown(self, K: int) -> np.ndarray | None:
        """Return a tree that proves K errors, or None if a better vector was found."""
        B, (n, D) = self.B, self.B.shape
        G, V, E, I, M, N = loops.empty_stack(n, D)
        tree, size, grow = np.zeros(1 << 12, np.int64), 0, loops.grow()
        rounding = 0.0 if self.exact else 2.0 * EPS * float(np.abs(B).max()) + 2.0**-1000
        goal = float(K) * (1.0 if self.whole else 1.0 - ROUNDING)
        for orthant in range(2**D):
            signs = np.array([1.0 if orthant >> c & 1 else -1.0 for c in range(D)])
            G[0], E[0] = np.diag(signs), rounding
            v = (B * signs).T
            wrong, mixed = np.all(v <= -rounding, axis=0), np.any(v > -rounding, axis=0) & np.any(v <= 0, axis=0)
            kept = np.flatnonzero(mixed)
            V[0, :, : len(kept)], I[0, : len(kept)] = v[:, kept], kept
            M[0], N[0], top, asked = len(kept), self.W[wrong].sum(), 0, False
            while top >= 0:
                self.clock.look()
                state, top, size, _ = grow(
                    G, V, E, I, M, N, top, self.W, goal, self.limit, MOST_SWEPT // 2, asked, WORK, tree, size
                )
                asked = False
                if state == loops.FULL:
                    tree = np.concatenate([tree, np.zeros(max(len(tree), 2 * n + 8), np.int64)])
                elif state == loops.ASKS:
                    rows = I[top, : M[top]].tolist()
                    if N[top] + self._swept(rows) >= goal:
                        tree[size], size, top = 1, size + 1, top - 1
                    elif self.improve([G[top].sum(axis=0)], FINEST):  # some vector near the cone has fewer errors
                        return None
                    else:
                        asked = True
                elif state == loops.STUCK:
                    if self.improve([G[top].sum(axis=0)], FINEST):
                        return None
                    raise OutOfTimeError  # floats cannot split further
        return tree[:size].copy()

    def _swept(self, rows: list[int]) -> int:
        key = tuple(rows)
        if key not in self.swept:
            self.swept[key] = fewest_on([self._row(i) for i in rows], [self.net[i] for i in rows])
        return self.swept[key]

    def _row(self, i: int) -> list[int]:
        row = self.integers.row(i)
        return [row[c] for c in self.columns]
