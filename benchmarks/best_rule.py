"""To 99% of the maximum margin: the Perceptron-like rules against LIBLINEAR and against the exact solver.

Every rule is run with a short list of parameters, from the cheapest to the dearest, and counts with the first that
reaches 99% of the certified optimum within 5 seconds. Updates stand beside the time.
"""

import functools
import warnings

import numpy as np

from benchmarks import peers
from benchmarks.data import real, separable
from benchmarks.measure import limited
from benchmarks.objective import missing_margin
from benchmarks.race import NO_ANSWER, Row, Timing, clock, first_that_reaches
from separatrix import ALMA, CRAMMA, MICRA, DynamicMargin, MaxMargin

TARGET = 0.01
RULES = {
    "dynamic margin": [DynamicMargin(epsilon) for epsilon in (0.1, 0.03, 0.01)],
    "CRAMMA": [CRAMMA(beta, eta0=eta) for eta in (0.03, 0.001) for beta in (3.0, 10.0, 20.0)],
    "MICRA": [MICRA(beta) for beta in (1.0, 3.0, 10.0)],
    "ALMA": [ALMA(alpha) for alpha in (0.3, 0.1, 0.03)],
}


def cases(small):
    if small:
        yield "300 x 5", separable(300, 5)
        return
    yield "sonar", real("sonar")
    yield "WBC without 11", real("WBC without 11")
    yield "100,000 x 50", separable(100_000, 50)


def measure(small):
    limit = 2.0 if small else 5.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case, (X, y) in cases(small):
            best = MaxMargin(np.inf, tol=1e-9).fit(X, y).certificate_.upper
            judge = functools.partial(missing_margin, X, y, best=best)
            timing = clock(functools.partial(MaxMargin(np.inf, tol=1e-3).fit, X, y))
            others, winners = {}, []
            for name, candidates in RULES.items():
                others[name], how = race(X, y, candidates, judge, limit)
                winners += [f"{name}: {how}"] if how else []
            hard = peers.hard_margin(X, y)
            for name in ("LinearSVC primal", "LinearSVC dual"):
                others[name] = first_that_reaches(hard[name], judge, TARGET, limit)
            yield Row(case, timing, others, note="; ".join(winners))


def race(X, y, candidates, judge, limit):
    """Time of the first setting that reaches the target, and which it was with how many updates."""
    for model in candidates:
        model.set_params(until="separated", max_iter=1).fit(X[: 2 * len(X) // 3], y[: 2 * len(X) // 3])  # compiles
        model.set_params(max_iter=10**9)

        def run(model=model):
            model.fit(X, y)
            return np.append(model.coef_[0], model.intercept_[0]), model.n_updates_

        seconds, found = limited(run, limit)
        if found is not None and judge(found[0]) <= TARGET:
            values = ", ".join(f"{name}={getattr(model, name):g}" for name in ("epsilon", "beta", "eta0", "alpha")
                               if isinstance(getattr(model, name, None), float))  # fmt: skip
            return (clock(run, 3) if seconds < 5 else Timing(seconds)), f"{values}, {found[1]:,} updates"
    return NO_ANSWER, ""
