"""To 99% of the maximum margin: the Perceptron-like rules against LIBLINEAR and against the exact solver.

Every rule is run with a short list of parameters, from the cheapest to the dearest, and counts with the first that
reaches 99% of the certified optimum within 50 million visits. Updates stand beside the time.
"""

import functools
import warnings

import numpy as np

from benchmarks import peers
from benchmarks.data import real, separable
from benchmarks.objective import missing_margin
from benchmarks.race import NO_ANSWER, Row, clock, first_that_reaches
from separatrix import ALMA, CRAMMA, MICRA, DynamicMargin, MaxMargin

TARGET = 0.01
BUDGET = 50_000_000  # visits


RULES = {
    "dynamic margin": [DynamicMargin(epsilon) for epsilon in (0.1, 0.03, 0.01)],
    "CRAMMA": [CRAMMA(beta) for beta in (1.0, 3.0, 10.0, 30.0)],
    "MICRA": [MICRA(beta) for beta in (0.3, 1.0, 3.0)],
    "ALMA": [ALMA(alpha) for alpha in (0.95, 0.98, 0.99)],
}


def cases(small):
    if small:
        yield "300 x 5", separable(300, 5)
        return
    yield "sonar", real("sonar")
    yield "WBC without 11", real("WBC without 11")
    yield "100,000 x 50", separable(100_000, 50)


def measure(small):
    limit, budget = (2.0, BUDGET // 100) if small else (20.0, BUDGET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case, (X, y) in cases(small):
            exact = MaxMargin(np.inf, tol=1e-9).fit(X, y)
            best = exact.certificate_.upper
            judge = functools.partial(missing_margin, X, y, best=best)
            timing = clock(functools.partial(MaxMargin(np.inf, tol=1e-3).fit, X, y))
            others, updates = {}, []
            epochs = max(1, budget // len(X))
            for name, candidates in RULES.items():
                others[name] = NO_ANSWER
                for model in candidates:
                    model.set_params(max_epochs=epochs).fit(X, y)
                    if judge(np.append(model.coef_[0], model.intercept_[0])) <= TARGET:
                        others[name] = clock(functools.partial(model.fit, X, y), 3)
                        updates.append(f"{model!r} {model.n_updates_:,}".replace(f", max_epochs={epochs}", ""))
                        break
            hard = peers.hard_margin(X, y)
            for name in ("LinearSVC primal", "LinearSVC dual"):
                others[name] = first_that_reaches(hard[name], judge, TARGET, limit)
            yield Row(case, timing, others, note="updates: " + ", ".join(updates))
