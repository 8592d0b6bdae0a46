"""Is a certificate true? One file to read in an hour: it needs numpy, trusts no solver and shares no code with one.

``python checker.py data.npz certificate.json [all]``. data.npz: X (n, d), or a CSR matrix as data, indices, indptr and
shape; y; perhaps sample_weight. ``all``: all rows have to take part. Exit status 0 if every claim holds, else 1.

Row k and its label give the pattern y_k = l_k (x_k, rho); l is +1 for the larger of two labels, else -1. Of c > 2
categories in order, row k of category i against its r-th rival j is the pattern k (c - 1) + r: (x_k, rho) in block i,
its negative in block j. |a| leaves the last entry out if the bias is free. A certificate is a JSON object of
    rho (1 if absent), delta (0), free, weighted (false), categories (2), between (two labels: only their rows count)
    sample_weight   rows of weight 0 take no part. With delta > 0 each pattern has a dimension of its own, of the size
                    delta_k = delta, or delta / sqrt(weight) if weighted
    direction       a vector a. lower: a.y_k >= lower |a| for all k; if delta > 0: some v >= 0 has the objective
                    J = v^2 |a|^2 + sum max(0, 1 - v a.y_k)^2 / delta_k^2 <= lower^-2. separable true: all a.y_k > 0
    hinge           C > 0: plain slack of a hyperplane, c_k the weight if weighted, else 1. lower: J = |a|^2 +
                    2 C sum c_k max(0, 1 - a.y_k) <= lower^-2. upper: every vector has J >= upper^-2, since
                    J >= 2 sum alpha_k - |sum alpha_k y_k|^2 if all alpha_k <= C c_k
    alpha_index, alpha   multipliers >= 0 of distinct patterns. upper: no unit vector has a larger margin, for it has
                    at most |sum alpha_k y_k| / sum alpha_k. Or slack_vector a: they are weight_k max(0, 1 - a.y_k)
    alpha_exact     integers as text ("0x1f"), else alpha. separable false: they combine the patterns to 0 (Gordan)
    weak            a vector with a.y_k >= 0 for all k and > 0 for some. radius: max |y_k| within 1e-12

Everything is computed in floats with proved error bounds, and what they leave in doubt in fractions, by the same lines.
Floats see data, vectors and multipliers divided by powers of two, so that no number exceeds 1.
"""

import json
import math
import re
import sys
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

INF, MAX, EPS, FLOOR, TWO = math.inf, sys.float_info.max, 2.0**-52, 2.0**-1018, Fraction(2)
TOLERANCE = Fraction(1, 10**12)
MOST_EXACT = 1_000_000  # values of a claim that may become fractions, four times as many of separable false: 10-60 s
CLAIMS = ["lower", "upper", "separable", "weak", "radius"]
GIVEN = "rho delta hinge free weighted categories between sample_weight direction alpha_index alpha alpha_exact"
GIVEN += " slack_vector"


class _StopError(Exception):
    """(False, why): not well-formed, hence no claim. (None, why): beyond the limits."""


def _need(condition: Any, why: str) -> None:
    if not condition:
        raise _StopError(False, why)


def _plain(values: Any, name: str) -> Any:
    if values is None:
        raise _StopError(None, f"it comes without {name}")
    return values.tolist() if isinstance(values, np.ndarray) else values


def _vector(values: Any, length: int, name: str, least: float = -MAX) -> np.ndarray:
    """Finite float64s: NaN fails the comparisons, and an integer that no float64 equals is refused as well."""
    values = _plain(values, name)
    _need(isinstance(values, list) and len(values) == length, f"{name} is not a list of {length} numbers")
    fine = all(
        isinstance(v, (int, float)) and type(v) is not bool and least <= v <= MAX and float(v) == v for v in values
    )
    _need(fine, f"{name} is not finite" + (f" and >= {least:g}" if least > -MAX else ""))
    return np.array(values, dtype=np.float64)


def _fractions(values: np.ndarray) -> np.ndarray:
    return np.array([Fraction(v) for v in values.tolist()], dtype=object)


def _scaled(v: np.ndarray) -> tuple[np.ndarray, int]:
    """v / 2^u and u, so that no entry exceeds 1."""
    u = math.frexp(float(np.abs(v).max(initial=0.0)))[1]
    return np.ldexp(v, -u), u


def _beyond(x: Fraction, to: float) -> float:
    """A float beyond x on the side of ``to``: the quotient is rounded correctly, so its neighbour is beyond."""
    try:
        return math.nextafter(x.numerator / x.denominator, to)
    except OverflowError:
        return math.nextafter(INF if x > 0 else -INF, to)


def _up(x: Any, to: float = INF) -> Any:
    """Of a float: above the true result of the one rounded operation that gave it, underflow and overflow included."""
    return x if np.asarray(x).dtype == object else np.nextafter(x, to)


def _down(x: Any) -> Any:
    return _up(x, -INF)


def _sums(index: np.ndarray, terms: np.ndarray, size: int) -> np.ndarray:
    if terms.dtype != object:
        return np.bincount(index, terms, size)
    out = np.zeros(size, dtype=object)
    np.add.at(out, index, terms)
    return out


def _total(terms: np.ndarray) -> Any:
    """The sum, rounded up by less than two neighbours; inf where it might overflow or a number is not finite."""
    if terms.dtype == object:
        return sum(terms.tolist(), Fraction(0))
    return _up(math.fsum(terms.tolist())) if np.abs(terms).max(initial=0.0) < 2.0**900 else INF


class _Problem:
    """The patterns that take part, in floats or in fractions."""

    def __init__(self, X: Any, y: Any, claim: Any, weight: Any):
        _need(isinstance(claim, dict) and {*claim} <= {*CLAIMS, *GIVEN.split()}, "the certificate has unknown fields")
        csr, y, self.claim, self.left = isinstance(X, tuple), np.asarray(y), claim, 0
        self.values = values = np.asarray(X[0] if csr else X)
        _need(values.dtype.kind in "fiub" and values.dtype.itemsize <= 8, "X holds other numbers than 64 bits can hold")
        _need(values.ndim == 2 - csr, "X is no matrix")
        n, self.d = (len(X[2]) - 1, int(X[3])) if csr else values.shape
        self.start, self.column = np.arange(n + 1) * self.d, None
        if csr:
            self.column, self.start = (np.asarray(part).astype(np.int64, casting="same_kind") for part in X[1:3])
            row = np.repeat(np.arange(n), np.maximum(np.diff(self.start), 0))
            fits = self.start[0] == 0 and len(row) == len(self.column) == values.size == self.start[-1]
            _need(fits and np.all((self.column >= 0) & (self.column < self.d)), "X is no CSR matrix")
            _need(np.all(np.diff(row * self.d + self.column) > 0), "the columns of a row of X do not increase")
        ends = np.array([values.max(), values.min()] if values.size else [0], dtype=np.float64)
        _need(np.all(np.isfinite(ends)), "X is not finite")  # NaN and inf show up in the maximum or the minimum
        _need(y.shape == (n,) and (y.dtype.kind != "f" or np.all(np.isfinite(y))), f"y does not hold {n} labels")
        given = claim.get("sample_weight") if weight is None else np.asarray(weight, dtype=np.float64)
        self.weight = np.ones(n) if given is None else _vector(given, n, "sample_weight", 0.0)
        given = [claim.get("rho", 1.0), claim.get("delta", 0.0), claim.get("hinge", 0.0)]
        self.rho, delta, hinge = _vector(given, 3, "rho, delta or hinge", 0.0).tolist()
        self.c, self.free, pair = claim.get("categories", 2), claim.get("free", False), claim.get("between")
        self.weighted = claim.get("weighted", False)
        _need(type(self.free) is type(self.weighted) is bool, "free or weighted is neither true nor false")
        (labels, code), part = np.unique(y, return_inverse=True), self.weight > 0
        if pair is not None:
            named = [i for i, label in enumerate(labels.tolist()) if isinstance(pair, list) and label in pair]
            _need(len(named) == 2 == len(pair), "between does not name two of the labels")
            part &= np.isin(code, named)
        kept, present = np.flatnonzero(part), np.unique(code[part])
        fits = type(self.c) is int and self.c == len(present) >= 2
        _need(fits, f"it is about {self.c!r} categories, the rows that take part have {len(present)}")
        _need(self.c == 2 or not (self.free or hinge), "a free bias and a hinge are for two categories")
        _need(not (hinge and delta), "slack is either plain or squared")
        self.hinge = Fraction(hinge)
        self.code, self.rivals, self.delta2 = np.searchsorted(present, code), self.c - 1, Fraction(delta) ** 2
        self.all = (kept[:, None] * self.rivals + np.arange(self.rivals)).ravel()
        self.rows, self.width = (n, len(kept)), (self.d + 1) * (self.c if self.c > 2 else 1)
        self.unit = _scaled(np.append(ends, self.rho))[1]
        self.terms = (int(np.diff(self.start).max()) + 1) * min(self.rivals, 2)  # of a pattern
        self.step = max(1, min(1024, 2**22 // self.terms))  # patterns that are summed before they enter a total

    def number(self, name: str, least: float = -MAX) -> Fraction:
        return Fraction(_vector([self.claim[name]], 1, name, least)[0])

    def bound(self, x: Fraction, exact: bool, power: int, to: float = INF) -> Any:
        """A length (to some power) in the unit of the data; of floats, one beyond it."""
        return x if exact else _beyond(x / TWO ** (power * self.unit), to)

    def spend(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise _StopError(None, "floats leave too many values in doubt to go through them in fractions")

    def blocks(self, patterns: np.ndarray, exact: bool) -> Any:
        """The values of patterns, to which pattern and column they belong; block by block, with its slice."""
        for first in range(0, len(patterns), self.step):
            part = slice(first, first + self.step)
            k, r = np.divmod(patterns[part], self.rivals)
            i, size, here = self.code[k], self.start[k + 1] - self.start[k], np.arange(len(k))
            if self.column is None:
                values, column = self.values[k].ravel(), np.tile(np.arange(self.d), len(k))
            else:
                at = np.arange(size.sum()) + np.repeat(self.start[k] - np.cumsum(size) + size, size)
                values, column = self.values[at], self.column[at]
            row, column = np.append(np.repeat(here, size), here), np.append(column, np.full(len(k), self.d))
            bias = np.full(len(k), self.rho)
            if exact:
                self.spend(len(row))
                values = np.append(_fractions(values), _fractions(bias))
            else:
                values = np.ldexp(np.append(values.astype(np.float64), bias), -self.unit)
            if self.c == 2:
                yield values * (2 * i - 1)[row], row, column, part
            else:
                both = column + (self.d + 1) * i[row], column + (self.d + 1) * (r + (r >= i))[row]
                yield np.append(values, -values), np.append(row, row), np.concatenate(both), part

    def price(self, patterns: np.ndarray, exact: bool) -> np.ndarray:
        """delta_k^2 = delta^2 / price."""
        price = self.weight[patterns // self.rivals] if self.weighted else np.ones(len(patterns))
        return _fractions(price) if exact else price

    def ranges(self, patterns: np.ndarray, exact: bool, a: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Between which numbers every a.y lies, or without an a every |y|^2; floats take a divided by a power of two.

        Proof; u = 2^-53, n = terms. Entries x, w are at most 1 in size. Scaling lost at most 2^-1022 of each, even on a
        processor that takes subnormal numbers for 0; making a float of a 64-bit integer lost u |x|. A product loses
        u |x w| + 2^-1022; a sum of n terms, in any order, (n - 1) u / (1 - n u) times the sum of their sizes. Together
        less than 1.01 (n + 6) u s + 4 n 2^-1022, s = sum |x w|; and s < 1.01 A + 2 n 2^-1022 if it is computed as A.
        The error is more than twice that: the other half pays for its own rounding and that of m - error, m + error.
        """
        low, high = [np.zeros(0)], [np.zeros(0)]
        w = None if a is None else _fractions(a) if exact else _scaled(a)[0]
        for values, row, column, part in self.blocks(patterns, exact):
            terms = values * (values * ~(self.free & (column == self.d)) if w is None else w[column])
            m, A = (_sums(row, x, len(patterns[part])) for x in (terms, np.abs(terms)))
            if w is None and self.delta2:
                own = self.bound(self.delta2, exact, 2) / self.price(patterns[part], exact)
                m, A = m + own, A + own
            error = 0 if exact else (self.terms + 16) * EPS * A + self.terms * FLOOR
            low.append(m - error)
            high.append(m + error)
        return np.concatenate(low), np.concatenate(high)

    @cache  # noqa: B019 - the problem lives as long as a call of `check`
    def margins(self, name: str) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
        """A vector, u, and between which floats a.y / 2^u lies for all patterns, in the unit of the data."""
        a = _vector(self.claim.get(name), self.width, name)
        return a, _scaled(a)[1], *self.ranges(self.all, False, a)

    def lower(self) -> bool:
        t, (a, u, low, high) = self.number("lower"), self.margins("direction")
        square = sum((Fraction(w) ** 2 for w in (a[:-1] if self.free else a).tolist()), Fraction(0))
        if self.hinge:
            return t <= 0 or self.hinge_objective(t, a, u, low, square)
        if self.delta2:
            return t <= 0 or self.objective(t, a, u, low, square)
        if not square:  # no direction: what every unit vector reaches
            return bool(t < 0 and np.all(self.ranges(self.all, False)[1] <= self.bound(t * t, False, 2, -INF)))
        ends = (max(_beyond(square / TWO ** (2 * u), to), 0.0) for to in (-INF, INF))
        length = [to(math.sqrt(end)) for to, end in zip((_down, _up), ends, strict=True)]  # |a| / 2^u is between these
        if np.any(high < _down(self.bound(t, False, 1, -INF) * length[t < 0])):
            return False
        doubt = ~(low > _up(self.bound(t, False, 1) * length[t > 0]))
        m, s = self.ranges(self.all[doubt], True, a)[0], t * t * square
        return bool(np.all((m >= 0) & (m * m >= s)) if t >= 0 else np.all((m >= 0) | (m * m <= s)))

    def objective(self, t: Fraction, a: np.ndarray, u: int, m: np.ndarray, square: Fraction) -> bool:
        """Is t^2 J <= 1 for some v >= 0? Newton's steps on the derivative, piecewise linear in v, within brackets."""
        v: Any = 0.0
        for exact in (False, True):
            low, high = 0, INF
            if exact:
                v, m = Fraction(v) / TWO ** (u + self.unit), self.ranges(self.all, True, a)[0]
            length = self.bound(t * t * square / (1 if exact else TWO ** (2 * u)), exact, 2)
            q = self.bound(t * t / self.delta2, exact, 0)
            q = _up(q * self.price(self.all, exact))
            for _ in range(100):
                self.spend(8 * len(m) * exact)
                slack = np.maximum(_up(1 - _down(v * m)), 0)
                if _up(_total(_up(q * _up(slack * slack))) + _up(length * _up(v * v))) <= 1:
                    return True
                slope, curve = length * v - np.sum(q * m * slack), length + np.sum(q * m * m * (slack > 0))
                low, high = (v, high) if slope < 0 else (low, v)
                step = v - slope / curve if curve else v
                step = step if low <= step <= high else (low + high) / 2
                if step == v or not step < INF:
                    break
                v = step
        if step != v:
            raise _StopError(None, "no end was found of Newton's steps")
        return False  # v is the minimum, exactly

    def hinge_objective(self, t: Fraction, a: np.ndarray, u: int, m: np.ndarray, square: Fraction) -> bool:
        """Is t^2 J <= 1? Floats know that a.y >= m 2^(u + unit)."""
        for exact in (False, True):
            m = self.ranges(self.all, True, a)[0] if exact else _down(np.ldexp(m, u + self.unit))
            q = _up(self.bound(2 * t * t * self.hinge, exact, 0) * self.price(self.all, exact))
            slack = _total(_up(q * np.maximum(_up(1 - m), 0)))
            if _up(slack + self.bound(t * t * square, exact, 0)) <= 1:
                return True
        return False

    def within_caps(self, patterns: np.ndarray, alpha: np.ndarray) -> bool:
        """Is alpha_k <= C c_k for all of them?"""
        doubt = ~(alpha <= _down(float(self.hinge) * self.price(patterns, False)))
        self.spend(int(doubt.sum()))
        return bool(np.all(_fractions(alpha[doubt]) <= self.hinge * self.price(patterns[doubt], True)))

    def hinge_bound(self, most: Fraction, exact: bool, power: int, square: Any, mass: Any, lean: Any, R: Any) -> bool:
        """Is 1 + 2 e (upper^2 + R upper) <= upper^2 (2 sum alpha - |sum alpha y|^2), e = |sum alpha l| of a free bias?

        The best bias is where some row has a margin of 1, for rows of both classes take part: |b| <= 1 + R |w|. So
        J + 2 e (1 + R |w|) >= 2 sum alpha - |sum alpha y|^2, and |w|^2 <= J: J cannot be less than upper^-2. Floats
        see alpha divided by 2^power.
        """
        s, unit = (Fraction(1), Fraction(1)) if exact else (TWO**power, TWO**self.unit)
        factors = most**2 * s, most * s * unit, (most * s * unit) ** 2
        one, two, three = factors if exact else (_beyond(x, INF) for x in factors)
        left = _up(1 + _up(three * square))
        left = _up(left + _up(2 * lean * _up(one + _up(two * R))))
        least = 2 * most**2 * s if exact else _beyond(2 * most**2 * s, -INF)
        return bool(left <= _down(least * mass))

    def index(self) -> np.ndarray:
        """The patterns of the multipliers: distinct ones of those that take part."""
        index = _plain(self.claim.get("alpha_index"), "alpha_index")
        fine = isinstance(index, list) and all(type(i) is int and 0 <= i <= self.all[-1] for i in index)
        _need(fine and len({*index}) == len(index), "alpha_index does not hold distinct patterns")
        _need(np.all(np.isin(index, self.all)), "alpha_index holds patterns that take no part")
        return np.array(index, dtype=np.int64)

    def multipliers(self) -> tuple[np.ndarray, np.ndarray]:
        """Patterns and numbers >= 0; a common factor matters to a hinge only. Any such numbers prove a bound."""
        if self.claim.get("slack_vector") is None:
            patterns = self.index()
            alpha = _vector(self.claim.get("alpha"), len(patterns), "alpha", 0.0)
        else:
            _need(not self.hinge, "a hinge takes multipliers as they are, and slack_vector gives them up to a factor")
            patterns, (_, u, low, high) = self.all, self.margins("slack_vector")
            slack = 1.0 - np.ldexp((low + high) / 2, u + self.unit)
            alpha = _scaled(self.weight)[0][patterns // self.rivals] * np.maximum(slack, 0.0)
        _need(0 < alpha.max(initial=0.0) < INF, "the multipliers are 0 or not finite")
        return patterns, alpha

    def upper(self) -> bool:
        """|sum alpha y| + R |sum alpha l| <= upper sum alpha, R = max |y|; or `hinge_bound`.

        The second term is for a free bias b: if all l (w.x + rho b) >= m >= 0, |w| = 1, then |rho b| <= R - m, since
        there are rows of both classes.
        """
        most, (patterns, alpha) = self.number("upper", 0.0), self.multipliers()
        lean: Any = 0
        R: Any = 0
        if self.hinge and not self.within_caps(patterns, alpha):
            return False
        for exact in (False, True):
            a, total, mass = (_fractions(alpha) if exact else _scaled(alpha)[0]), np.array(0), np.array(0)
            for values, row, column, part in self.blocks(patterns, exact):
                terms = values * a[part][row]
                total, mass = total + _sums(column, terms, self.width), mass + _sums(column, np.abs(terms), self.width)
            # The proof of `ranges`: a sum has as many terms as a block has patterns, and one for each block.
            depth = self.step + len(patterns) / self.step + 16
            size = np.abs(total) + (0 if exact else depth * EPS * mass + len(patterns) * FLOOR)
            square = _total(_up((size[:-1] if self.free else size) ** 2))
            if self.delta2:
                own = _up(_up(a * a) / self.price(patterns, exact))
                square = _up(square + _total(_up(self.bound(self.delta2, exact, 2) * own)))
            mass = _down(_down(_total(a)))
            if self.free:
                lean = _total(a * (2 * self.code[patterns] - 1))
                lean = max(lean, -_down(_down(lean)))
                R = _up(math.sqrt(self.ranges(self.all, False)[1].max()))
                R = Fraction(R) * TWO**self.unit if exact else R  # inf is an OverflowError
            if self.hinge:
                if self.hinge_bound(most, exact, _scaled(alpha)[1], square, mass, lean, R):
                    return True
                continue
            right = _down(self.bound(most, exact, 1, -INF) * mass)
            right = _down(right - _up(R * lean)) if self.free else right
            if right >= 0 and square <= _down(right * right):
                return True
        return False

    def sides(self, name: str) -> tuple[bool, bool]:
        """Is every a.y > 0? Is every one >= 0, and one of them > 0?"""
        a, _, low, high = self.margins(name)
        if np.any(high < 0) or not np.any(a):
            return False, False
        m = self.ranges(self.all[~(low > 0)], True, a)[0]
        return bool(np.all(m > 0)), bool(np.all(m >= 0) and (np.any(low > 0) or np.any(m > 0)))

    def weak(self) -> bool:
        return self.sides("weak")[1]

    def separable(self) -> bool:
        if self.claim["separable"] is True:
            return self.sides("direction")[0]
        _need(self.claim["separable"] is False, "it is neither true nor false")
        if self.claim.get("direction") is not None and self.sides("direction")[0]:
            return False
        patterns, exact, self.left = self.index(), self.claim.get("alpha_exact"), 4 * self.left
        if exact is None:
            weight = _fractions(_vector(self.claim.get("alpha"), len(patterns), "alpha", 0.0))
        else:
            fine = isinstance(exact, list) and all(isinstance(g, str) and re.fullmatch("0x[0-9a-f]+", g) for g in exact)
            _need(fine and len(exact) == len(patterns), f"alpha_exact is not a list of {len(patterns)} texts like 0x1f")
            weight = np.array([int(g, 16) for g in exact], dtype=object)
        _need(np.any(weight > 0), "the multipliers are 0")
        blocks = self.blocks(patterns, True)
        total = sum(_sums(column, values * weight[part][row], self.width) for values, row, column, part in blocks)
        if np.any(total != 0) and exact is None:
            raise _StopError(None, "alpha is rounded and combines the patterns to nearly 0: alpha_exact is wanted")
        return not np.any(total != 0)

    def radius(self) -> bool:
        r, some = self.number("radius", 0.0), self.all[:: self.rivals]
        least, most = (r * (1 - TOLERANCE)) ** 2, (r * (1 + TOLERANCE)) ** 2
        low, high = self.ranges(some, False)
        if not (np.any(low > self.bound(least, False, 2)) and np.all(high < self.bound(most, False, 2, -INF))):
            low = high = self.ranges(some[~(high < self.bound(least, False, 2, -INF))], True)[0]
            return bool(len(low) and least <= max(low) <= most)
        return True


def check(X: Any, y: Any, claim: Any, sample_weight: Any = None, all_rows: bool = False) -> dict[str, list[str]]:
    """Which claims were checked, failed, or are beyond the limits ("unchecked"); what else has to be known ("notes").

    X: a matrix, or (data, indices, indptr, columns) of a CSR matrix. ``sample_weight``: instead of the certificate's.
    The certificate holds if something was checked, nothing failed and nothing is unchecked.
    """
    found: dict[str, list[str]] = {"checked": [], "failed": [], "unchecked": [], "notes": []}
    try:
        problem = _Problem(X, y, claim, sample_weight)
    except _StopError as stop:
        return {**found, "failed": [f"refused: {stop.args[1]}"]}
    if problem.rows[1] < problem.rows[0]:
        out = problem.rows[0] - problem.rows[1]
        note = f"{out} of {problem.rows[0]} rows have weight 0 or other labels and take no part"
        found["failed" if all_rows else "notes"].append(note)
    for name in CLAIMS:
        if claim.get(name) is not None:
            problem.left = MOST_EXACT
            try:
                with np.errstate(all="ignore"):
                    holds, why = getattr(problem, name)(), ""
            except _StopError as stop:
                holds, why = stop.args
            except OverflowError:
                holds, why = None, "its numbers are too far apart"
            said = f"{name} ({str(claim[name])[:40]}{why and ': ' + why})"
            found["unchecked" if holds is None else "checked" if holds else "failed"].append(said)
    return found


def main(data: str, certificate: str, *rows: str) -> int:
    with np.load(data) as file, open(certificate, encoding="utf-8") as text:
        parts = {name: file[name] for name in file.files}
        claims = json.load(text)
    X: Any = parts.get("X")
    if X is None:
        X = (parts["data"], parts["indices"], parts["indptr"], int(parts["shape"][1]))
    claims = claims if isinstance(claims, list) else [claims]
    found = [check(X, parts["y"], claim, parts.get("sample_weight"), "all" in rows) for claim in claims]
    print(json.dumps(found, indent=2))
    return 0 if found and all(f["checked"] and not f["failed"] and not f["unchecked"] for f in found) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
