"""What the claims of a certificate mean, word for word, in fractions: slow, for small data, and without any float."""

import math
import sys
from fractions import Fraction

import numpy as np


def fraction(value):
    """Refuses what is not a finite float64."""
    if isinstance(value, Fraction):
        return value
    if type(value) not in (int, float) or not math.isfinite(value) or float(value) != value:
        raise ValueError(value)
    return Fraction(value)


def vector(values, length):
    values = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(values, list) or len(values) != length:
        raise ValueError(values)
    return [fraction(v) for v in values]


class Meaning:
    """``rows``: lists of numbers; ``claim``: the plain form. Every method: is that claim true?"""

    def __init__(self, rows, y, claim):
        self.claim, n, d = claim, len(rows), len(rows[0])
        self.rho, self.delta = fraction(claim.get("rho", 1)), fraction(claim.get("delta", 0))
        self.hinge = fraction(claim.get("hinge", 0))
        self.free, c, weight = claim.get("free", False), claim.get("n_classes", 2), claim.get("sample_weight")
        weight = [Fraction(1)] * n if weight is None else vector(weight, n)
        between = claim.get("class_pair")
        part = [k for k in range(n) if weight[k] > 0 and (between is None or y[k] in between)]
        classes = sorted({y[k] for k in part})
        if len(classes) != c or type(c) is not int or c < 2 or min(weight) < 0 or self.rho < 0 or self.delta < 0:
            raise ValueError(claim)
        switches = [self.free, claim.get("weighted", False), claim.get("fixed_length", False)]
        if any(type(switch) is not bool for switch in switches) or (self.free and c > 2):
            raise ValueError(claim)
        self.rivals = c - 1
        self.l1 = claim.get("l1", False)
        loss = self.hinge or (self.delta and claim.get("fixed_length", False))
        if type(self.l1) is not bool or (self.l1 and (c > 2 or claim.get("signs", "") or not loss)):
            raise ValueError(claim)
        self.signs = claim.get("signs", "")
        if type(self.signs) is not str or {*self.signs} - {*"+-0"} or (self.signs and (len(self.signs) != d or c > 2)):
            raise ValueError(claim)
        if self.hinge < 0 or (self.hinge and self.delta):
            raise ValueError(claim)
        if between is not None and (not isinstance(between, list) or len(between) != 2):
            raise ValueError(claim)
        self.width, self.y, self.price, self.l, self.weight = (d + 1) * (c if c > 2 else 1), {}, {}, {}, {}
        for k in part:
            x, i = [*map(Fraction, rows[k]), self.rho], classes.index(y[k])
            for r, j in enumerate(j for j in range(c) if j != i):
                zero = [Fraction(0)] * (d + 1)
                sign = {i: 1, j: -1}
                blocks = [[sign[b] * v for v in x] if b in sign else zero for b in range(c)]
                p = k * (c - 1) + r
                self.y[p] = blocks[1] if c == 2 else [v for block in blocks for v in block]
                self.price[p] = weight[k] if claim.get("weighted", False) else Fraction(1)
                self.weight[p], self.l[p] = weight[k], 2 * i - 1

    def square(self, v):
        return sum(x * x for x in (v[:-1] if self.free else v))

    def margins(self, name):
        a = vector(self.claim[name], self.width)
        signed = zip(self.signs, a, strict=False)  # the bias has no sign
        if name != "slack_vector" and any((s == "+" and v < 0) or (s == "-" and v > 0) for s, v in signed):
            raise ValueError(a)
        return a, {p: sum(v * w for v, w in zip(y, a, strict=True)) for p, y in self.y.items()}

    def lower(self):
        t, (a, m) = fraction(self.claim["lower"]), self.margins("direction")
        square = 2 * sum(map(abs, a[:-1] if self.free else a)) if self.l1 else self.square(a)
        if self.hinge:
            rows = {p // self.rivals: self.price[p] for p in m}
            worst = {k: min(m[p] for p in m if p // self.rivals == k) for k in rows}
            slack = sum(price * max(0, 1 - worst[k]) for k, price in rows.items())
            return t <= 0 or t * t * (square + 2 * self.hinge * slack) <= 1
        if self.delta == 0 and square == 0:
            return t < 0 and t * t >= max(map(self.square, self.y.values()))
        if self.delta == 0:
            return all(
                (v >= 0 and v * v >= t * t * square) if t >= 0 else (v >= 0 or v * v <= t * t * square)
                for v in m.values()
            )

        def objective(v):
            return v * v * square + sum(max(0, 1 - v * m[p]) ** 2 * self.price[p] for p in m) / self.delta**2

        if self.claim.get("fixed_length", False):
            return t <= 0 or t * t * objective(1) <= 1
        ends = [Fraction(0), *sorted(1 / v for v in m.values() if v > 0)]  # between them J is a parabola
        best = min(map(objective, ends))
        for low, high in zip(ends, [*ends[1:], None], strict=True):
            inside = [p for p in m if (low if high is None else (low + high) / 2) * m[p] < 1]
            bend = square + sum(m[p] ** 2 * self.price[p] for p in inside) / self.delta**2
            v = sum(m[p] * self.price[p] for p in inside) / self.delta**2 / bend if bend else low
            if v >= low and (high is None or v <= high):
                best = min(best, objective(v))
        return t <= 0 or t * t * best <= 1

    def multipliers(self, name):
        index = self.claim["alpha_index"]
        if not isinstance(index, list) or any(type(i) is not int or i not in self.y for i in index):
            raise ValueError(index)
        if len(set(index)) < len(index):
            raise ValueError(index)
        if name == "alpha_exact":
            alpha = [Fraction(int(text, 16)) for text in self.claim[name]]
        else:
            alpha = vector(self.claim[name], len(index))
        if len(alpha) != len(index) or min(alpha, default=-1) < 0 or max(alpha) == 0:
            raise ValueError(alpha)
        return dict(zip(index, alpha, strict=True))

    def combination(self, alpha):
        """Entries that no vector with the signs can use are 0."""
        v = [sum(alpha[p] * self.y[p][i] for p in alpha) for i in range(self.width)]
        useless = {"+": lambda x: x < 0, "-": lambda x: x > 0, "0": lambda x: False}
        return [Fraction(0) if useless[s](x) else x for s, x in zip(self.signs.ljust(self.width, "0"), v, strict=True)]

    def keeps_caps(self, alpha):
        """The multipliers of a row, against all its rivals together, are at most C times its price."""
        caps = {p // self.rivals: self.hinge * self.price[p] for p in alpha}
        return all(sum(v for p, v in alpha.items() if p // self.rivals == k) <= cap for k, cap in caps.items())

    def keeps_caps_of_loss(self, alpha):
        return not self.hinge or self.keeps_caps(alpha)

    def upper(self):
        """None: the bias is free and the multipliers are out of balance, so that a rounded radius decides."""
        bound = fraction(self.claim["upper"])
        if self.claim.get("slack_vector") is None:
            return self.proves(self.multipliers("alpha"), bound)
        if self.hinge or self.l1:
            raise ValueError(self.claim["slack_vector"])
        m = self.margins("slack_vector")[1]
        exact = {p: self.weight[p] * max(0, 1 - m[p]) for p in m}
        # any multipliers prove a bound: before a huge rho those that floats make equal cancel, exact ones do not
        rounded = {p: Fraction(float(v)) if v < sys.float_info.max else v for p, v in exact.items()}
        return (not self.free and self.proves(rounded, bound)) or self.proves(exact, bound)

    def proves(self, alpha, bound):
        if self.free and sum(alpha[p] * self.l[p] for p in alpha) != 0:
            return None if not self.hinge or self.keeps_caps(alpha) else False
        if self.l1:
            v = self.combination(alpha)
            t = 1 / max(Fraction(1), *map(abs, v[:-1] if self.free else v))
            own = sum(v * v * self.delta**2 / self.price[p] for p, v in alpha.items())
            value = 2 * t * sum(alpha.values()) - t * t * own
            return self.keeps_caps_of_loss(alpha) and bound >= 0 and bound**2 * value >= 1
        if self.hinge:
            value = 2 * sum(alpha.values()) - self.square(self.combination(alpha))
            return self.keeps_caps(alpha) and bound >= 0 and bound**2 * value >= 1
        square = self.square(self.combination(alpha)) + sum(
            v * v * self.delta**2 / self.price[p] for p, v in alpha.items()
        )
        return bound >= 0 and sum(alpha.values()) > 0 and square <= (bound * sum(alpha.values())) ** 2

    def separable(self):
        if self.claim["separable"] is True:
            return min(self.margins("direction")[1].values()) > 0
        if self.claim["separable"] is not False:
            raise ValueError(self.claim["separable"])
        return not any(
            self.combination(self.multipliers("alpha_exact" if self.claim.get("alpha_exact") is not None else "alpha"))
        )

    def weak(self):
        m = self.margins("weak")[1].values()
        return min(m) >= 0 and max(m) > 0

    def radius(self):
        r = fraction(self.claim["radius"])
        off = max(r / 10**12, Fraction(3, 2**1076))  # a float64 may be half of 2^-1074 away, and rounded twice
        R2 = max(self.square(y) + self.delta**2 / self.price[p] for p, y in self.y.items())
        return r >= 0 and max(r - off, 0) ** 2 <= R2 <= (r + off) ** 2


def meaning(rows, y, claim, name):
    """True, False, or None where only one side is decided; what is not well-formed is not true."""
    try:
        return getattr(Meaning(rows, y, claim), name)()
    except (ValueError, TypeError, KeyError, OverflowError):
        return False
