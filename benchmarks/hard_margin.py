"""The hard margin, dense: time to within 1e-3 of the best margin, ours against general solvers and large C.

The best margin is certified; what a solver's vector reaches is computed here, in float64. Data: Gaussian rows without
those closer than 0.03 to a hyperplane; condition is the ratio of the columns' scales.
"""

import functools
import operator
import warnings

import numpy as np

from benchmarks import peers
from benchmarks.data import real, separable
from benchmarks.objective import missing_margin
from benchmarks.race import Row, Timing, clock, first_that_reaches
from separatrix import MaxMargin
from separatrix.estimators.max_margin import VALUES_TO_PRECISION
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import PRECISE_GAP, Problem
from separatrix.space import Space

TARGET = 1e-3
AHEAD = 20.0  # times as fast as the best peer, from 100,000 rows on
SIZES = ((20_000, 20, 1.0), (100_000, 50, 1.0), (100_000, 50, 100.0), (20_000, 500, 1.0), (1_000_000, 50, 1.0))
LARGEST = (10_000_000, 10, 1.0)
REAL = ("sonar", "WBC without 11", "MNIST 0-1")


def cases(small):
    sizes = ((500, 5, 1.0),) if small else SIZES
    for n, d, condition in sizes:
        yield f"{n:,} x {d}, condition {condition:g}", separable(n, d, condition=condition), n >= 100_000
    for name in () if small else REAL:
        yield name, real(name), False


def measure(small):
    limit = 2.0 if small else 5.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MaxMargin(np.inf).fit(*separable(1000, 5))  # compiles
        for case, (X, y), large in cases(small):
            model = MaxMargin(np.inf, tol=1e-6)
            timing = clock(functools.partial(model.fit, X, y))
            best = MaxMargin(np.inf, tol=1e-9).fit(X, y).certificate_.upper
            judge = functools.partial(missing_margin, X, y, best=best)
            timing.reached = judge(np.append(model.coef_[0], model.intercept_[0]))
            others = {
                name: first_that_reaches(runs, judge, TARGET, limit) for name, runs in peers.hard_margin(X, y).items()
            }
            yield Row(case, timing, others, AHEAD if large else None)
            if case in REAL:
                yield Row(f"{case}, the solver alone", clock(functools.partial(solve, X, y)), others)
            if len(X) >= 500_000:
                yield from in_products(case, X, y, timing, 6.0)
        if not small:
            X, y = separable(*LARGEST[:2])
            timing = clock(functools.partial(MaxMargin(np.inf, tol=1e-6).fit, X, y), 3)
            yield from in_products(f"{LARGEST[0]:,} x {LARGEST[1]}", X, y, timing, 9.0)


def solve(X, y):
    """What a fit does besides checks, labels, support vectors and the certificate, and as precisely."""
    tol = PRECISE_GAP if X.size <= VALUES_TO_PRECISION else 1e-6
    problem = Problem(Patterns(X, y.astype(np.float64), Space(1.0)), np.inf, tol=tol)
    solvers.solve(problem)


def in_products(case, X, y, whole: Timing, goal):
    """The solver alone and the whole fit, to a gap of 1e-6, in units of one product X @ w."""
    product = clock(functools.partial(operator.matmul, X, np.ones(X.shape[1])), 9)
    solver = clock(functools.partial(solve, X, y))
    for what, timing, most in (("the solver", solver, None), ("the whole fit", whole, goal)):
        yield Row(f"{case}: {what} in products X @ w", timing, {"X @ w": product}, most, True,
                  timing.seconds / product.seconds)  # fmt: skip
