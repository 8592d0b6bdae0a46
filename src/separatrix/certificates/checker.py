"""Is a certificate true? One file to read in an hour: it needs numpy, trusts no solver and shares no code with one.

``python checker.py data.npz certificate.json [all]``. data.npz: X (n, d), or a CSR matrix as data, indices, indptr and
shape; y; perhaps sample_weight. ``all``: all rows have to take part. Exit status 0 if every claim holds, else 1.

Row k and its label give the pattern y_k = l_k (x_k, rho); l is +1 for the larger of two labels, else -1. Of c > 2
categories in order, row k of category i against its r-th rival j is the pattern k (c - 1) + r: (x_k, rho) in block i,
its negative in block j. |a| leaves the last entry out if the bias is free. A certificate is a JSON object of
    rho (1 if absent), delta (0), free, weighted (false), n_classes (2), class_pair (two labels: only their rows count)
    signs           for each column of X "+" (w_j >= 0), "-" (w_j <= 0) or "0": claims are about vectors a with these
                    signs; direction and weak have them. Then P, the nearest vector with these signs, is applied to
                    sum alpha_k y_k in upper (a.y <= |P y|), and separable false holds if it combines to a v with
                    a.v <= 0 for all these vectors (Farkas). Two classes only
    l1              true: 2 sum |a_i| takes the place of |a|^2 in J, without the last entry if the bias is free. upper:
                    with t = 1 / max(1, max |sum alpha y|), J >= 2 t sum alpha - t^2 sum delta_k^2 alpha^2. Two classes,
                    a hinge or fixed_length, no signs and no slack_vector
    sample_weight   rows of weight 0 take no part. With delta > 0 each pattern has a dimension of its own, of the size
                    delta_k = delta, or delta / sqrt(weight) if weighted
    direction       a vector a. lower: a.y_k >= lower |a| for all k, or if |a| = 0 what every unit vector reaches, minus
                    the radius; if delta > 0: some v >= 0, or v = 1 if fixed_length (false) is true, has the objective
                    J = v^2 |a|^2 + sum max(0, 1 - v a.y_k)^2 / delta_k^2 <= lower^-2. separable true: all a.y_k > 0
    hinge           C > 0: hinge loss, c_k the weight if weighted, else 1. lower: J = |a|^2 + 2 C sum c_k xi_k <=
                    lower^-2, xi_k = max(0, 1 - a.y_k), the largest over the rivals of row k. upper: every vector has
                    J >= upper^-2, since J >= 2 sum alpha - |sum alpha y|^2 if the alphas of row k sum to C c_k at most
    alpha_index, alpha   multipliers >= 0 of distinct patterns. upper: no unit vector has a larger margin, for it has
                    at most |sum alpha_k y_k| / sum alpha_k. Or slack_vector a: they are weight_k max(0, 1 - a.y_k)
    alpha_exact     integers as text ("0x1f"), else alpha. separable false: they combine the patterns to 0 (Gordan)
    weak            a vector with a.y_k >= 0 for all k, > 0 for some. radius: max |y_k| but for 1e-12 of it or 3/2^1076
Floats with proved error bounds come first; what they leave in doubt is done again by the same lines in fractions.
"""

import json
import math
import sys
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

INF, MAX, EPS, TINY, TOLERANCE = math.inf, sys.float_info.max, 2.0**-52, 2.0**-1018, Fraction(1, 10**12)
SMALLEST, MOST_PATTERNS = sys.float_info.min, 2**28
MOST_EXACT = 1_000_000  # values of a claim that may become fractions, four times as many of separable false: 10-60 s
DEFAULT: Any = {"rho": 1.0, "delta": 0.0, "hinge": 0.0, "free": False, "weighted": False, "fixed_length": False}
DEFAULT |= {"signs": "", "l1": False, "class_pair": None, "n_classes": 2}
CLAIMS = ["lower", "upper", "separable", "weak", "radius"]
VECTORS = ["sample_weight", "direction", "alpha_index", "alpha", "alpha_exact", "slack_vector"]


class _StopError(Exception):
    """(False, why): not well-formed, hence no claim. (None, why): beyond the limits."""


def _need(condition: Any, why: str, verdict: bool | None = False) -> None:
    if not condition:
        raise _StopError(verdict, why)


def _list(values: Any, name: str, fine: Any, length: int | None = None) -> Any:
    _need(values is not None, f"it comes without {name}", None)
    values = _plain(values).tolist() if isinstance(values, np.ndarray) else values
    _need(type(values) is list and length in (None, len(values)), f"{name} is no list of the right length")
    _need(all(map(fine, values)), f"{name} holds what does not belong there, or is not finite")
    return values


def _vector(values: Any, length: int, name: str, least: float = -MAX) -> np.ndarray:
    """Finite float64s: NaN fails the comparisons, and an integer that no float64 equals is refused as well."""
    fine = lambda v: type(v) in (int, float) and least <= v <= MAX and float(v) == v  # noqa: E731
    return np.array(_list(values, name, fine, length), dtype=np.float64)


def _plain(values: Any) -> np.ndarray:
    """An array as it is, or of lists whose numbers and labels all stay what they are: no mask, nothing rounded."""
    array = np.asarray(values)
    kept = isinstance(values, np.ndarray) or array.tolist() == np.array(values, dtype=object).tolist()
    _need(
        kept and not isinstance(values, np.ma.MaskedArray), "X, y or sample_weight is masked, or holds what is rounded"
    )
    return array


def _scaled(v: np.ndarray) -> tuple[np.ndarray, int]:
    """v / 2^u and u, so that no entry exceeds 1."""
    u = math.frexp(float(np.abs(v).max(initial=0.0)))[1]
    return np.ldexp(v, -u), u


def _up(x: Any) -> Any:
    """Of a float: above the true result of the one rounded operation that gave it, underflow and overflow included."""
    return x if np.asarray(x).dtype == object else np.nextafter(x, INF)


def _total(x: np.ndarray) -> Any:
    """Not below the sum, which `math.fsum` rounds once; inf where it might overflow or a number is not finite."""
    if x.dtype == object:
        return sum(x.tolist(), Fraction(0))
    return float(_up(math.fsum(x.tolist()))) if np.abs(x).max(initial=0.0) < 2.0**900 else INF


class _Patterns:
    """Those that take part: in floats, all divided by 2^unit so that none exceeds 1, or in fractions."""

    def __init__(self, X: Any, y: Any, claim: Any, weight: Any):
        _need(type(claim) is dict and {*claim} <= {*CLAIMS, *DEFAULT, *VECTORS}, "the certificate has unknown fields")
        _need(SMALLEST * 0.5 > 0, "this processor takes subnormal numbers for 0")
        csr, y, self.claim, self.left = isinstance(X, tuple), _plain(y), claim, 0
        self.values = values = _plain(X[0] if csr else X)
        fits: Any = values.dtype.kind in "fiub" and values.dtype.itemsize <= 8 and values.ndim == 2 - csr
        _need(fits, "X is no matrix of numbers of at most 64 bits")
        n, self.d = (len(X[2]) - 1, int(X[3])) if csr else values.shape
        _need(not csr or self.d == X[3], "the number of columns is none")
        self.start, self.column = np.arange(n + 1) * self.d, None
        if csr:
            self.column, self.start = (_plain(part).astype(np.int64, casting="same_kind") for part in X[1:3])
            fits = self.start[0] == 0 and values.shape == self.column.shape == (self.start[-1],)
            fits = fits and np.all(np.diff(self.start) >= 0) and 0 <= self.d < 2**31 > n
            _need(fits and np.all((self.column >= 0) & (self.column < self.d)), "X is no CSR matrix")
            row = np.repeat(np.arange(n), np.diff(self.start))
            _need(np.all(np.diff(row * self.d + self.column) > 0), "X is no CSR matrix whose columns increase")
        ends = np.array([values.max(), values.min()] if values.size else [0], dtype=np.float64)
        _need(np.all(np.isfinite(ends)), "X is not finite")  # NaN and inf show up in the maximum or the minimum
        fits = y.shape == (n,) and np.all(y == y) and (y.dtype.kind != "f" or np.all(np.isfinite(y)))
        _need(fits, f"y does not hold {n} labels")
        given = claim.get("sample_weight") if weight is None else _plain(weight)
        self.weight = np.ones(n) if given is None else _vector(given, n, "sample_weight", 0.0)
        *lengths, self.free, weighted, self.fixed, signs, self.l1, pair, c = (
            claim.get(s, absent) for s, absent in DEFAULT.items()
        )
        self.rho, self.delta, self.hinge = _vector(lengths, 3, "rho, delta or hinge", 0.0)
        _need(not (self.hinge and self.delta), "slack is either plain or squared")
        switches = {type(self.free), type(weighted), type(self.fixed), type(self.l1)}
        _need(switches == {bool}, "free, weighted, fixed_length or l1 is neither true nor false")
        fits = not self.l1 or (c == 2 and not signs and (self.hinge or (self.delta and self.fixed)))
        _need(fits, "an l1 penalty has two classes, no signs, and the loss of the direction as it is")
        fits = type(signs) is str and len(signs) in (0, self.d) and {*signs} <= {*"+-0"} and (not signs or c == 2)
        _need(fits, "signs are one of + - 0 for each column, of two classes")
        self.sign = np.array([*map("0+-".index, signs), 0]) if signs else np.zeros(1)  # 1: >= 0, 2: <= 0
        self.price = self.weight if weighted else np.ones(n)  # delta_k^2 = delta^2 / price
        (labels, code), part = np.unique(y, return_inverse=True), self.weight > 0
        if pair is not None:
            named = [i for i, label in enumerate(labels.tolist()) if isinstance(pair, list) and label in pair]
            _need(len(named) == 2 == len(pair), "between does not name two of the labels")
            part &= np.isin(code, named)
        kept, present = np.flatnonzero(part), np.unique(code[part])
        fits = type(c) is int and c == len(present) >= 2 and not (self.free and c > 2)
        _need(fits, f"it is about {c!r} classes, the rows that take part have {len(present)}; or a bias is free")
        _need(len(kept) * c < MOST_PATTERNS, f"more than {MOST_PATTERNS} patterns are not gone through")
        self.code, self.rivals, self.rows = np.searchsorted(present, code), c - 1, (n, len(kept))
        self.all = (kept[:, None] * self.rivals + np.arange(self.rivals)).ravel()
        self.width, self.unit = (self.d + 1) * (c if c > 2 else 1), _scaled(np.append(ends, self.rho))[1]
        self.terms = (int(np.diff(self.start).max()) + 1) * min(self.rivals, 2)  # of a pattern
        self.near: Any = cache(self._near)
        self.step = max(1, min(1024, 2**22 // self.terms))  # patterns that are summed before they enter a total

    def exactly(self, values: np.ndarray) -> np.ndarray:
        self.left -= len(values)
        _need(self.left >= 0, "floats leave too many values in doubt to go through them in fractions", None)
        return np.array([Fraction(v) for v in values.tolist()], dtype=object)

    def blocks(self, patterns: np.ndarray, exact: bool) -> Any:
        """The values of patterns, to which pattern and column they belong; block by block, with its slice."""
        for first in range(0, len(patterns), self.step):
            k, r = np.divmod(patterns[first : first + self.step], self.rivals)
            i, size, here = self.code[k], self.start[k + 1] - self.start[k], np.arange(len(k))
            if self.column is None:
                values, column = self.values[k].ravel(), np.tile(np.arange(self.d), len(k))
            else:
                at = np.arange(size.sum()) + np.repeat(self.start[k] - np.cumsum(size) + size, size)
                values, column = self.values[at], self.column[at]
            row, column = np.append(np.repeat(here, size), here), np.append(column, np.full(len(k), self.d))
            form = self.exactly if exact else lambda v: np.ldexp(v.astype(np.float64), -self.unit)
            values = np.append(form(values), form(np.full(len(k), self.rho)))
            if self.rivals == 1:
                yield values * (2 * i - 1)[row], row, column, slice(first, first + len(k))
            else:
                column = np.append(column + (self.d + 1) * i[row], column + (self.d + 1) * (r + (r >= i))[row])
                yield np.append(values, -values), np.append(row, row), column, slice(first, first + len(k))

    def sums(self, patterns: np.ndarray, w: Any, exact: bool, across: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Between which numbers lie w.y of every pattern, without a w -|y|^2; or not ``across``: all of sum w_k y_k.

        In floats no w exceeds 1. Proof; u = 2^-53, n terms. Entries x, w are at most 1 in size. Scaling
        lost at most 2^-1022 of each, even on a processor that takes subnormal numbers for 0; making a float of a 64-bit
        integer lost u |x|. A product loses u |x w| + 2^-1022; a sum, in which no number is part of more than g
        additions, g u / (1 - g u) times the sum of the sizes: g = n in any order, here at most a block's and one for
        each block. Together less than 1.01 (g + 6) u s + 4 n 2^-1022, s = sum |x w|; and s < 1.01 A + 2 n 2^-1022 if it
        is computed as A. The error is more than twice that: the other half pays for its own rounding and that of m -
        error, m + error. delta_k^2 loses 4 u of itself and 2^-720 if the weight exceeds 2^-300, else it is NaN.
        """
        m, A = (np.zeros(len(patterns) if across else self.width, object if exact else np.float64) for _ in range(2))
        for values, row, column, part in self.blocks(patterns, exact):
            places, index = (part, row) if across else (slice(None), column)
            terms = -values * ~(self.free & (column == self.d)) if w is None else w[column] if across else w[part][row]
            for out, x in ((m, values * terms), (A, np.abs(values * terms))):
                if exact:
                    np.add.at(out[places], index, x)
                else:
                    out[places] += np.bincount(index, x, len(out[places]))
        if w is None and self.delta:
            price, delta = self.price[patterns // self.rivals], np.ldexp(self.delta, -self.unit)
            own = delta**2 / np.where(price > 2.0**-300, price, np.nan)
            own = Fraction(self.delta) ** 2 / self.exactly(price) if exact else own
            m, A = m - own, A + own
        n, depth = (self.terms, self.terms) if across else (len(patterns), self.step + len(patterns) / self.step)
        error = 0 if exact else (depth + 16) * EPS * A + (2.0**-700 if w is None else n * TINY)
        return m - error, m + error

    def outside(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """At least the sizes of the entries of P v, if v is between low and high: P is monotone in every entry."""
        return np.maximum(np.where(self.sign == 2, 0, high), np.where(self.sign == 1, 0, -low))

    def number(self, name: str, least: float = -MAX) -> Fraction:
        return Fraction(_vector([self.claim[name]], 1, name, least)[0])

    def _near(self, name: str, sign: int = 1) -> tuple[np.ndarray, Any, Fraction, np.ndarray, np.ndarray]:
        """Patterns, a vector of the claim or none, and what `sums` says in floats after the unit in which it does."""
        patterns = self.all[:: 1 if name else self.rivals]
        a: Any = sign * _vector(self.claim.get(name), self.width, name) if name else None
        if name in ("direction", "weak"):
            kept = np.where(self.sign == 1, sign * a >= 0, (self.sign == 0) | (sign * a <= 0))
            _need(kept.all(), f"{name} does not have the signs")
        w, u = (None, self.unit) if a is None else _scaled(a)
        return patterns, a, Fraction(2) ** (self.unit + u), *self.sums(patterns, w, False)

    def decide(self, holds: Any, name: str = "", sign: int = 1) -> bool:
        """``holds`` of the smallest a.y or -|y|^2: false up to some number, true from there on. Where it is the same
        at both ends of the range that is the answer; otherwise those that may be the smallest are computed exactly."""
        patterns, a, unit, low, high = self.near(name, sign)
        ends = low.min(), high.min()
        answers = [holds(Fraction(end) * unit) for end in ends] if np.all(np.isfinite(ends)) else [False, True]
        if answers[0] == answers[1]:
            return bool(answers[0])
        w = None if a is None else self.exactly(a)
        return bool(holds(min(self.sums(patterns[~(low > ends[1])], w, True)[0])))

    def lower(self) -> bool:
        t, a = self.number("lower"), self.near("direction")[1]
        square = sum((Fraction(w) ** 2 for w in (a[:-1] if self.free else a).tolist()), Fraction(0))
        if self.l1:
            square = 2 * sum((abs(Fraction(w)) for w in (a[:-1] if self.free else a).tolist()), Fraction(0))
        if self.hinge or self.delta:
            return t <= 0 or (self.as_it_is if self.hinge or self.fixed else self.objective)(t, square)
        if not square:  # no direction: what every unit vector reaches
            return t < 0 and self.decide(lambda s: -s <= t * t)
        s = t * t * square
        return self.decide(lambda m: m >= 0 and m * m >= s if t >= 0 else m >= 0 or m * m <= s, "direction")

    def objective(self, t: Fraction, square: Fraction) -> bool:
        """Is t^2 J <= 1 for some v >= 0? By Newton's steps on J', which is piecewise linear and concave where v >= 0:
        from the left of its zero they grow towards it, and in fractions they reach it."""
        v: Any = 0.0
        (_, a, unit, m, _), price = self.near("direction"), self.price[self.all // self.rivals]
        factors = t * t * square / unit**2, (t / Fraction(self.delta)) ** 2
        length, q = [math.nextafter(float(x), INF) if x < MAX else INF for x in factors]  # type: Any, Any
        for exact in (False, True):
            if exact:
                v, m = Fraction(v) / unit, self.sums(self.all, self.exactly(a), True)[0]
                length, q, price = factors[0] * unit**2, factors[1], self.exactly(price)
            q = _up(q * price)
            for _ in range(20 if exact else 100):
                slack = np.maximum(_up(1 + _up(-v * m)), 0)
                if _up(_total(_up(q * _up(slack * slack))) + _up(length * _up(v * v))) <= 1:
                    return True
                slope, curve = length * v - np.sum(q * m * slack), length + np.sum(q * m * m * (slack > 0))
                step = max(v - slope / curve, 0) if curve else v
                if step == v or not step < INF:
                    break
                v = step
        _need(step == v, "no end was found of Newton's steps", None)
        return False  # v is the minimum, exactly

    def as_it_is(self, t: Fraction, square: Fraction) -> bool:
        """Is t^2 J <= 1 of the vector as it is? hinge loss is one for each row, whose patterns follow in `all`."""
        (_, a, unit, m, _), k = self.near("direction"), self.rivals if self.hinge else 1
        price, C2 = self.price[self.all[::k] // self.rivals], 2 * Fraction(self.hinge) or Fraction(self.delta) ** -2
        for exact in (False, True):
            if exact:
                m, price, unit = self.sums(self.all, self.exactly(a), True)[0], self.exactly(price), Fraction(1)
            slack = np.maximum(_up(1 + _up(-m.reshape(-1, k).min(axis=1) * (unit if exact else float(unit)))), 0)
            paid = _total(_up(price * (slack if self.hinge else _up(slack * slack))))
            if paid < INF and t * t * (square + C2 * Fraction(paid)) <= 1:
                return True
        return False

    def index(self) -> np.ndarray:
        """The patterns of the multipliers: distinct ones of those that take part."""
        fine = lambda i: type(i) is int and 0 <= i <= self.all[-1]  # noqa: E731
        index = _list(self.claim.get("alpha_index"), "alpha_index", fine)
        fits = len({*index}) == len(index) and np.all(np.isin(index, self.all))
        _need(fits, "alpha_index does not hold distinct patterns that take part")
        return np.array(index, dtype=np.int64)

    def upper(self) -> bool:
        """|sum alpha y| + R |sum alpha l| <= upper sum alpha, R = max |y|; any alpha >= 0 proves it, rounded or not.

        The second term is for an unpenalized intercept b: if all l (w.x + rho b) >= m >= 0, |w| = 1, then |rho b| <= R
        - m, since
        there are rows of both classes. With a hinge and e = |sum alpha l|: 1 + 2 e (upper^2 + R upper) <=
        upper^2 (2 sum alpha - |sum alpha y|^2). The best bias is where some row has a margin of 1, |b| <= 1 + R |w|,
        and |w|^2 <= J: J + 2 e (1 + R |w|) >= 2 sum alpha - |sum alpha y|^2 fails if J < upper^-2. With l1 and t = 1/M
        |b| <= 1 + R sum |w_j| and 2 sum |w_j| <= J, so that J + 2 t e + t e R J is at least the bound of e = 0.
        """
        most, patterns = self.number("upper", 0.0), self.all
        if self.claim.get("slack_vector") is None:
            patterns = self.index()
            alpha = _vector(self.claim.get("alpha"), len(patterns), "alpha", 0.0)
        else:
            _need(not self.hinge and not self.l1, "a hinge and l1 take multipliers as they are, not slack_vector")
            _, a, _, low, high = self.near("slack_vector")
            slack = 1.0 - np.ldexp((low + high) / 2, self.unit + _scaled(a)[1])
            alpha = _scaled(self.weight)[0][patterns // self.rivals] * np.maximum(slack, 0.0)
        _need(0 < alpha.max(initial=0.0) < INF, "the multipliers are 0 or not finite")
        if self.hinge:
            rows, row = np.unique(patterns // self.rivals, return_inverse=True)
            c, sums = self.price[rows], np.bincount(row, alpha, len(rows))
            plain = (c == 1) & (self.rivals == 1)
            doubt = ~np.where(plain, sums <= self.hinge, sums < self.hinge * c * (1 - 4 * self.rivals * EPS))
            order, ends = np.argsort(row, kind="stable"), np.append(0, np.cumsum(np.bincount(row)))
            for k in np.flatnonzero(doubt):
                if sum(self.exactly(alpha[order[ends[k] : ends[k + 1]]])) > Fraction(self.hinge) * Fraction(c[k]):
                    return False
        for exact in (False, True):
            (a, u), price, unit = _scaled(alpha), self.price[patterns // self.rivals], Fraction(2) ** self.unit
            if exact:
                a, price, unit, u = self.exactly(alpha), self.exactly(price), Fraction(1), 0
            size = np.maximum(self.outside(*self.sums(patterns, a, exact, across=False)), 0)
            size = size[:-1] if self.free else size
            square = _total(_up(size**2))
            own, mass = _total(_up(_up(a * a) / price)) if self.delta else 0, -Fraction(_total(-a))
            R = out = Fraction(0)
            if self.free:
                l = 2 * self.code[patterns] - 1
                R = Fraction(_up(math.sqrt(-self.near("")[3].min()))) * Fraction(2) ** self.unit
                out = Fraction(max(_total(a * l), _total(-a * l)))
            if self.l1:
                if own < INF and size.max() < INF:
                    scale = Fraction(2) ** u
                    M, e = max(Fraction(1), Fraction(size.max()) * unit * scale), out * scale
                    value = 2 * M * (mass * scale - e) - Fraction(self.delta) ** 2 * Fraction(own) * scale**2
                    if M**2 + M * e * R <= most**2 * value:
                        return True
                continue
            if self.hinge:
                value = 2 * mass - Fraction(square) * unit**2 * Fraction(2) ** u
                if Fraction(2) ** -u + 2 * out * (most**2 + R * most) <= most**2 * value:
                    return True
                continue
            right = most * mass - R * out
            left = Fraction(square) * unit**2 + Fraction(self.delta) ** 2 * Fraction(own) if own < INF else INF
            if right >= 0 and left <= right * right:
                return True
        return False

    def separable(self) -> bool:
        if self.claim["separable"] is True:
            return self.decide(lambda m: m > 0, "direction")
        _need(self.claim["separable"] is False, "it is neither true nor false")
        patterns, exact, self.left = self.index(), self.claim.get("alpha_exact"), 4 * self.left
        if exact is None:
            weight = self.exactly(_vector(self.claim.get("alpha"), len(patterns), "alpha", 0.0))
        else:
            texts = _list(exact, "alpha_exact", lambda g: type(g) is str and g[:2] == "0x", len(patterns))
            weight = np.array([int(g, 16) for g in texts], dtype=object)
        _need(np.any(weight > 0), "the multipliers are 0")
        v = self.sums(patterns, weight, True, across=False)[0]
        v = np.maximum(self.outside(v, v), 0)
        R2 = Fraction(-self.near("")[3].min()) * Fraction(4) ** self.unit  # |y|^2 at most
        nearly = np.any(v) and not exact and np.sum(v * v) <= Fraction(2) ** -40 * R2 * np.sum(weight) ** 2
        _need(not nearly, "alpha is rounded and combines the patterns to nearly 0: alpha_exact is wanted", None)
        return not np.any(v)

    def weak(self) -> bool:
        return self.decide(lambda m: m >= 0, "weak") and not self.decide(lambda m: m >= 0, "weak", -1)

    def radius(self) -> bool:
        r = self.number("radius", 0.0)
        slip: Any = max(r * TOLERANCE, Fraction(3, 2**1076))  # no float is nearer than 2^-1075; rounded twice
        return self.decide(lambda s: -s <= (r + slip) ** 2) and not self.decide(lambda s: -s < max(r - slip, 0) ** 2)


def check(X: Any, y: Any, claim: Any, sample_weight: Any = None, all_rows: bool = False) -> dict[str, list[str]]:
    """Which claims were checked, failed, or are beyond the limits ("unchecked"); what else has to be known ("notes").

    X: a matrix, or (data, indices, indptr, columns) of a CSR matrix. ``sample_weight``: instead of the certificate's.
    The certificate holds if something was checked, nothing failed and nothing is unchecked.
    """
    found: dict[str, list[str]] = {"checked": [], "failed": [], "unchecked": [], "notes": []}
    try:
        with np.errstate(all="ignore"):
            patterns = _Patterns(X, y, claim, sample_weight)
    except (_StopError, TypeError, ValueError, OverflowError, LookupError, MemoryError, RecursionError) as error:
        return {
            **found,
            "failed": [
                f"refused: {error.args[-1] if isinstance(error, (_StopError, ValueError)) else type(error).__name__}"
            ],
        }
    n, kept = patterns.rows
    if kept < n:
        note = f"{n - kept} of {n} rows have weight 0 or other labels and take no part"
        found["failed" if all_rows else "notes"].append(note)
    for name in CLAIMS:
        if claim.get(name) is not None:
            patterns.left = MOST_EXACT
            try:
                with np.errstate(all="ignore"):
                    holds, why = getattr(patterns, name)(), ""
            except _StopError as stop:
                holds, why = stop.args
            except (OverflowError, ValueError, MemoryError, RecursionError):
                holds, why = None, "its numbers are too far apart"
            what = claim[name] if type(claim[name]) in (bool, float) else type(claim[name]).__name__
            said = f"{name} ({what}{why and ': ' + why})"
            found["unchecked" if holds is None else "checked" if holds else "failed"].append(said)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _need(len({name for name, _ in pairs}) == len(pairs), "a field stands twice in the certificate")
    return dict(pairs)


def main(data: str, certificate: str, *rows: str) -> int:
    with np.load(data) as file, open(certificate, encoding="utf-8") as text:
        parts, claims = {name: file[name] for name in file.files}, json.load(text, object_pairs_hook=_once)
    y, weight, X = parts.pop("y"), parts.pop("sample_weight", None), parts.pop("X", None)
    csr = parts.pop("format", b"csr") == b"csr" and (X is None or not parts)
    _need(csr and rows in ((), ("all",)), "one matrix is wanted, dense or CSR, and perhaps the word all")
    if X is None:
        shape, X = parts.pop("shape"), (parts.pop("data"), parts.pop("indices"), parts.pop("indptr"))
        _need(shape.shape == (2,) and shape[0] == len(X[2]) - 1, "the shape is none of these rows")
        X = (*X, shape[1])
    _need({*parts} <= {"_is_array"}, f"the data hold what has no meaning: {', '.join(parts)}")
    claims = claims if isinstance(claims, list) else [claims]
    found = [check(X, y, claim, weight, bool(rows)) for claim in claims]
    print(json.dumps(found, indent=2))
    return 0 if found and all(f["checked"] and not f["failed"] and not f["unchecked"] for f in found) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (Exception, RecursionError) as error:
        sys.exit(f"refused: {error.args[-1] if error.args else error!r}")
