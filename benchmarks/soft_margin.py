"""The 2-norm soft margin: time to a gap (P - D)/P of 1e-3, ours against every peer at every tolerance.

    P = |a|^2/2 + C sum xi^2, D from the dual point of the vector, both computed here in float64

C = inf is the hard margin, for which the peers get a large C. The classes of sector and news20 are halved.
"""

import functools
import math
import warnings

import numpy as np

from benchmarks import peers
from benchmarks.data import overlapping, real, text_like
from benchmarks.objective import missing_margin, soft_gap
from benchmarks.race import Row, Timing, clock, first_that_reaches
from separatrix import MaxMargin, NotSeparableError

TARGET = 1e-3
CS = (0.1, 1.0, 10.0, 1000.0, np.inf)
SETS = ("a9a", "w8a", "mushrooms", "sector", "news20")


def cases(small):
    if small:
        yield "text-like 300 x 200", text_like(300, 200, 20, noise=0.5)
        return
    for name in SETS:
        yield name, real(name)
    yield "text-like 50,000 x 100,000", text_like(50_000, 100_000, 60, noise=0.3)
    yield "dense 100,000 x 50", overlapping(100_000, 50, 1.0)


def measure(small):
    limit = 2.0 if small else 5.0
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (X, y) in cases(small):
            MaxMargin(1.0, tol=TARGET).fit(X, y)  # compiles
            for C in CS:
                model = MaxMargin(C, tol=TARGET)
                try:
                    timing = clock(functools.partial(model.fit, X, y))
                except NotSeparableError:
                    continue
                judge = functools.partial(soft_gap, X, y, C)
                if np.isinf(C):
                    judge = functools.partial(missing_margin, X, y, best=model.certificate_.upper)
                timing.reached = model.certificate_.gap
                runs = peers.soft_margin(X, y, C if np.isfinite(C) else peers.LARGE[1])
                others = {peer: first_that_reaches(r, judge, TARGET, limit) for peer, r in runs.items()}
                row = Row(f"{name}, C = {C:g}", timing, others, 1.0, note=model.solver_.split(" ")[0])
                rows.append(row)
                yield row
        yield from means([row for row in rows if not row.case.endswith("inf")], limit)


def means(rows, limit):
    """Geometric means: over the cells that peers answer, and over all, where no answer counts as the time limit."""
    answered = [row.ratio for row in rows if math.isfinite(row.ratio)]
    counted = [limit / row.ours.seconds if math.isinf(row.ratio) else row.ratio for row in rows]
    for what, ratios, goal in (("that peers answer", answered, 3.0), ("with no answer at the limit", counted, None)):
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            yield Row(f"geometric mean of the {len(ratios)} cells with a finite C {what}", Timing(math.nan), goal=goal,
                      value=mean)  # fmt: skip
