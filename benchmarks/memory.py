"""Memory of a fit on top of its data, as numpy allocates it, in units of the data."""

import tracemalloc
import warnings

import numpy as np

from benchmarks.data import separable
from benchmarks.race import Row, Timing
from separatrix import MaxMargin, Perceptron


def peak(model, X, y) -> float:
    """Bytes that a fit allocates at once, divided by those of X."""
    tracemalloc.start()
    model.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / X.nbytes


def measure(small):
    X, y = separable(20_000 if small else 1_000_000, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in (np.float64, np.float32):
            data = X.astype(dtype)
            for name, model in (
                ("MaxMargin(C=inf)", MaxMargin(np.inf)),
                ("MaxMargin(C=1)", MaxMargin(1.0)),
                ("Perceptron(max_iter=3)", Perceptron(until="separated", max_iter=3)),
            ):
                model.fit(data[:1000], y[:1000])  # compiles
                case = f"{len(X):,} x 50 {np.dtype(dtype)}, {name}: peak / size of X"
                yield Row(case, Timing(float("nan")), {}, 1.5, True, peak(model, data, y))
