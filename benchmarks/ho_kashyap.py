"""What 100 iterations of Ho-Kashyap cost at 100,000 x 50, in products X @ w.

The classes overlap in a few rows and ``bound_tol=0`` asks for no early proof, so that every iteration is made. The
value is the whole fit: validation, the factorisation and the certificate included.
"""

import functools
import operator
import warnings

import numpy as np
import scipy.sparse as sp

from benchmarks.data import overlapping
from benchmarks.race import Row, clock
from separatrix import HoKashyap

GOAL = 250.0


def measure(small):
    n, d, iterations = (500, 5, 5) if small else (100_000, 50, 100)
    X, y = overlapping(n, d, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in (("float64", X), ("float32", X.astype(np.float32)), ("CSR float64", sp.csr_matrix(X))):
            for variant in ("standard", "descent"):
                model = HoKashyap(variant, bound_tol=0.0, max_iter=iterations)
                assert model.fit(data, y).n_epochs_ == iterations  # compiles, and shows that no iteration was spared
                timing = clock(functools.partial(model.fit, data, y))
                product = clock(functools.partial(operator.matmul, data, np.ones(d, data.dtype)), 50)
                goal = GOAL if name == "float64" else None
                yield Row(f"{n:,} x {d} {name}, {variant}, {iterations} iterations in products X @ w", timing,
                          {"X @ w": product}, goal, True, timing.seconds / product.seconds)  # fmt: skip
