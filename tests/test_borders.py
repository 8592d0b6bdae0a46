"""Claims at the border of truth, where data, weights, spaces and vectors hold the smallest and largest numbers.

Every verdict of the checker is compared with `oracle_exact`, which says in fractions what the claim means.
"""

import math
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_exact import Meaning, meaning

from separatrix.certificates.checker import check

LARGEST = 1.7976931348623157e308
SIZES = [5e-324, 1e-320, 2.0**-1022, 1e-300, 1e-160, 1e-154, 1e-12, 0.5, 1.0, 3.0, 1e12, 1e154, 1e160, 1e300, LARGEST]


class Draw:
    """Random numbers of all sizes."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def chance(self, p):
        return bool(self.rng.random() < p)

    def size(self):
        """0 or positive."""
        value = float(self.rng.choice(SIZES)) * float(self.rng.choice([1.0, 1.0, 1.3, 0.7]))
        return 0.0 if self.chance(0.05) else min(value, LARGEST)

    def sizes(self, n):
        return [self.size() for _ in range(n)]

    def vector(self, n):
        """Of many sizes with signs, or small integers in one unit."""
        if self.chance(0.4):
            return [size * float(self.rng.choice([-1.0, 1.0])) for size in self.sizes(n)]
        unit = self.size()
        return [max(-LARGEST, min(int(k) * unit, LARGEST)) for k in self.rng.integers(-3, 4, n)]

    def matrix(self, n, d):
        if self.chance(0.2):
            return self.rng.integers(-(2**62), 2**62, (n, d))
        return np.array([self.vector(d) for _ in range(n)]) if self.chance(0.5) else self.rng.normal(size=(n, d))


def problem(draw):
    """Data, labels and a certificate without claims."""
    c, d = int(draw.rng.choice([2, 2, 2, 3])), int(draw.rng.integers(1, 4))
    n = int(draw.rng.integers(c, 6))
    width, count = (d + 1) * (c if c > 2 else 1), n * (c - 1)
    claim = {"rho": draw.size() if draw.chance(0.5) else 1.0, "n_classes": c, "weighted": draw.chance(0.5)}
    claim["free"], claim["fixed_length"] = c == 2 and draw.chance(0.3), draw.chance(0.5)
    slack = draw.rng.integers(3)
    if slack:
        claim["delta" if slack == 1 or c > 2 else "hinge"] = draw.size() if draw.chance(0.5) else 1.0
    if draw.chance(0.6):
        claim["sample_weight"] = draw.sizes(n)
    index = draw.rng.permutation(count)[: draw.rng.integers(1, count + 1)].tolist()
    alpha = draw.sizes(len(index)) if draw.chance(0.5) else draw.rng.integers(0, 4, len(index)).astype(float).tolist()
    claim |= {"direction": draw.vector(width), "alpha_index": index, "alpha": alpha}
    if draw.chance(0.2):
        claim["alpha_exact"] = [hex(int(k)) for k in draw.rng.integers(0, 3, len(index))]
    return draw.matrix(n, d), draw.rng.permutation(np.arange(n) % c), claim


def values(draw, name, rows, y, claim):
    """What to claim: by bisection near the border, so that some of it is true."""
    if name == "separable":
        return [True, False]
    if name == "weak":
        return [claim["direction"]]
    if name == "radius":
        try:
            m = Meaning(rows, y, claim)
            square = max(m.square(v) + m.delta**2 / m.price[p] for p, v in m.y.items())
            r = math.isqrt(square.numerator * 4**1100 // square.denominator) / 2**1100
        except (ValueError, OverflowError):
            return [1.0]
        return [r * f for f in (1, 1 + 1e-12, 1 - 1e-12, 1 + 2e-12, 1 + 9e-13, 0.5, 2**0.5) if r * f < math.inf] + [0.0]
    low, high, tried = 0.0, LARGEST, [-draw.size(), 0.0]
    for _ in range(10):
        middle = math.sqrt(low) * math.sqrt(high) if low > 0 else draw.size()
        true = meaning(rows, y, {**claim, name: middle}, name)
        tried.append(middle)
        low, high = (middle, high) if bool(true) == (name == "lower") else (low, middle)
    return tried


def attack(seed, count):
    draw, seen = Draw(seed), Counter()
    while seen["claims"] < count:
        X, y, claim = problem(draw)
        rows, labels = X.tolist(), y.tolist()
        sparse = sp.csr_array(X)
        forms = [X, (sparse.data, sparse.indices, sparse.indptr, X.shape[1])]
        for name in ("lower", "upper", "radius", "separable", "weak"):
            for value in values(draw, name, rows, labels, claim):
                claimed = {**claim, name: value}
                found, true = check(forms[draw.rng.integers(2)], y, claimed), meaning(rows, labels, claimed, name)
                (place,) = (place for place in ("checked", "failed", "unchecked") if found[place])
                seen.update(["claims", place])
                wrong = (place == "checked" and true is False) or (place == "failed" and true is True)
                assert not wrong, (name, value, found, X, labels, claim)
    return seen


def test_borders():
    seen = attack(0, 500)
    assert min(seen["checked"], seen["failed"]) > 50, seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_a_hundred_thousand_claims_at_the_border(seed):
    print(attack(seed, 10_000))
