"""How cost grows: exponents of time in n, d and 1/gap, fitted by least squares to logarithms."""

import functools
import warnings

import numpy as np

from benchmarks.data import overlapping, separable, text_like
from benchmarks.race import Row, clock
from separatrix import MaxMargin, Perceptron

HARD_IN_D = 1.3  # of a hard margin in the number of columns, at most


def exponent(sizes, timings):
    return float(np.polyfit(np.log(sizes), np.log([t.seconds for t in timings]), 1)[0])


def measure(small):
    ns = (500, 1000, 2000) if small else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    ds = (5, 10, 20) if small else (10, 30, 100, 300)
    n, d = (500, 10) if small else (20_000, 20)
    models = {
        "MaxMargin(C=inf)": (lambda: MaxMargin(np.inf, tol=1e-6), separable),
        "MaxMargin(C=1)": (lambda: MaxMargin(1.0), lambda n, d: overlapping(n, d, 1.0)),
        "Perceptron, 10 epochs": (
            lambda: Perceptron(until="separated", max_iter=10),
            lambda n, d: overlapping(n, d, 1.0),
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (make, data) in models.items():
            for what, sizes, shape in (("n", ns, lambda k: (k, d)), ("d", ds, lambda k: (n, k))):
                timings = []
                for size in sizes:
                    X, y = data(*shape(size))
                    make().fit(X[:100], y[:100])
                    timings.append(clock(functools.partial(make().fit, X, y), 3))
                case = f"{name}: exponent in {what} = {sizes[0]:,} to {sizes[-1]:,}"
                goal = HARD_IN_D if name == "MaxMargin(C=inf)" and what == "d" else None
                yield Row(case, timings[-1], {}, goal, True, exponent(sizes, timings))
        X, y = text_like(300, 200, 20) if small else text_like(20_000, 50_000, 60, noise=0.3)
        gaps = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
        timings = [clock(functools.partial(MaxMargin(10.0, tol=gap).fit, X, y), 3) for gap in gaps]
        case = f"MaxMargin(C=10), text-like {X.shape[0]:,} x {X.shape[1]:,}: exponent in 1/gap"
        yield Row(case, timings[-1], value=exponent(1.0 / np.array(gaps), timings))
