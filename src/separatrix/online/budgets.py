"""How a vector in dual form is kept within a budget of rows, after each update.

Forgetron: Dekel, Shalev-Shwartz & Singer, The Forgetron: A Kernel-Based Perceptron on a Budget, SIAM J. Computing 37
(2008), the self-tuned form. It shrinks its vector and drops the oldest row. Patterns are divided by R, so that
K(x, x) <= 1.

Projectron: Orabona, Keshet & Caputo, The Projectron: a Bounded Kernel-Based Perceptron (ICML 2008): ``a.y <= 0``:
``a += P y`` if |y - P y| <= eta R, else ``a += y``, P the projection on the span of the patterns in a.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg as la

from separatrix.online.loops.state import FACTOR, NORM2, SPREAD, TOTAL, UPDATES

if TYPE_CHECKING:
    from separatrix.online.kernel_training import KernelTraining


HELD, MISTAKES, SPENT, SHRUNK, ERROR = 0, 1, 2, 3, 4  # places in Ledger.sums
SHARE = 15.0 / 32.0  # of the mistakes that all removals may cost


class Ledger(NamedTuple):
    """The rows of the vector, the oldest first, a row as often as it was added; and sums of the run."""

    rows: np.ndarray  # budget + 1
    sizes: np.ndarray  # budget + 1: their multiples
    sums: np.ndarray  # entries held, mistakes, what removals cost, sum of 1 - phi, the largest |y - P y|/R


def removal_cost(size: float, mu: float) -> float:
    """Psi = l^2 + 2l - 2 l mu: what the removal of l y costs at most, where mu = a.y before it (eq. 3.3)."""
    return size * size + 2.0 * size - 2.0 * size * mu


def shrinking(sigma: float, mu: float, spent: float, mistakes: float) -> float:
    """The largest phi <= 1 with spent + Psi(sigma phi, mu phi) <= 15/32 mistakes (section 5).

    ``sigma``: the multiple of the oldest pattern y, ``mu`` = a.y; Psi = a phi^2 + b phi with a = sigma^2 - 2 sigma mu,
    b = 2 sigma. A phi of 1 does, or the first zero of a phi^2 + b phi + c does, c = spent - 15/32 mistakes < 0.
    """
    a, b, c = sigma * sigma - 2.0 * sigma * mu, 2.0 * sigma, spent - SHARE * mistakes
    if a + b + c <= 0.0:
        return 1.0
    return min(1.0, -2.0 * c / (b + math.sqrt(max(b * b - 4.0 * a * c, 0.0))))


class Span:
    """Some patterns by their inner products G, to project others on."""

    def __init__(self, G: np.ndarray):
        self.G = G
        try:
            self.factor: Any = la.cho_factor(G)
        except la.LinAlgError:  # patterns that depend on each other
            self.factor, self.inverse = None, la.pinvh(G)

    def project(self, products: np.ndarray, square: float) -> tuple[np.ndarray, float]:
        """The multiples of the patterns in P y, and |y - P y|; ``products`` of y with them, ``square`` = |y|^2."""
        d = self.inverse @ products if self.factor is None else la.cho_solve(self.factor, products)
        # of these very multiples, however well G determines them: what enters the theorem
        return d, float(np.sqrt(max(square - 2.0 * (products @ d) + d @ self.G @ d, 0.0)))


def take_out(training: "KernelTraining", k: int, part: float) -> None:
    """a -= part y_k, in units of v; the multiplier is the caller's."""
    v = training.state.v
    v[:-1] -= part * training.gram.row(k)
    v[-1] -= part * training.patterns.labels[k] * training.frame.scale * training.frame.rho


def count_anew(training: "KernelTraining") -> None:
    """The sums of the multipliers and the length, from what they are sums of."""
    state, c, delta2 = training.state, training.state.real[FACTOR], training.frame.delta2
    state.real[TOTAL] = state.alpha.sum()
    state.real[SPREAD] = state.alpha @ state.alpha if delta2 > 0 else 0.0
    state.real[NORM2] = c * c * max(training._length2() + delta2 * state.real[SPREAD], 0.0)


def at_random(training: "KernelTraining", before: np.ndarray) -> None:
    """Take one of the former members out; which one depends on the seed and the number of updates alone
    (Cavallanti, Cesa-Bianchi & Gentile 2007)."""
    alpha = training.state.alpha
    if training.budget is None or np.count_nonzero(alpha) <= training.budget:
        return
    former = np.flatnonzero((before > 0) & (alpha > 0))
    seed = [max(training.order.seed, 0), int(training.state.counts[UPDATES])]
    k = int(np.random.default_rng(seed).choice(former))
    take_out(training, k, alpha[k])
    alpha[k] = 0.0
    count_anew(training)


def forgetron(training: "KernelTraining", before: np.ndarray) -> None:
    """Shrink the vector by phi and drop its oldest pattern, where there is one too many."""
    state, ledger = training.state, training.state.memory
    rows, sizes, sums, alpha = ledger.rows, ledger.sizes, ledger.sums, state.alpha
    k, held = int(np.flatnonzero(alpha != before)[0]), int(sums[HELD])
    rows[held], sizes[held] = k, alpha[k] - before[k]
    sums[HELD], sums[MISTAKES] = held + 1, sums[MISTAKES] + 1
    if held + 1 < len(rows):
        return
    oldest, sigma = int(rows[0]), float(sizes[0])
    mu = (state.v[oldest] + training.frame.delta2 * alpha[oldest]) / training.frame.radius2
    phi = shrinking(sigma, mu, sums[SPENT], sums[MISTAKES])
    sums[SPENT] += removal_cost(phi * sigma, phi * mu)
    sums[SHRUNK] += 1.0 - phi
    state.v[:] *= phi
    take_out(training, oldest, phi * sigma)
    rows[:-1], sizes[:-1] = rows[1:].copy(), phi * sizes[1:]
    sums[HELD] = held
    alpha *= phi
    alpha[oldest] = sizes[:-1][rows[:-1] == oldest].sum()
    count_anew(training)


def projectron(training: "KernelTraining", before: np.ndarray) -> None:
    """Replace the pattern that was added by its projection on the former ones, if it is near or the budget is used up.

    Multipliers may then be negative: their sum bounds no margin."""
    state, alpha = training.state, training.state.alpha
    k, members = int(np.flatnonzero(alpha != before)[0]), np.flatnonzero(before)
    if len(members) and before[k] == 0:
        row = training.gram.row(k)
        d, error = training.span(members).project(row[members], float(training.norms2[k]))
        error /= float(np.sqrt(training.frame.radius2))
        full = training.budget is not None and len(members) >= training.budget
        if full or error <= training.near:
            state.memory.sums[ERROR] = max(state.memory.sums[ERROR], error)
            step = alpha[k]
            take_out(training, k, step)
            for i, part in zip(members.tolist(), (step * d).tolist(), strict=True):
                take_out(training, i, -part)
            alpha[k] = 0.0
            alpha[members] += step * d
    count_anew(training)
    state.real[TOTAL] = 0.0


POLICIES: dict[str, Callable[[Any, np.ndarray], None]] = {
    "random": at_random,
    "forgetron": forgetron,
    "projectron": projectron,
}


def empty_ledger(budget: int | None) -> Ledger:
    size = 1 if budget is None else budget + 1
    return Ledger(np.zeros(size, np.int64), np.zeros(size), np.zeros(5))
