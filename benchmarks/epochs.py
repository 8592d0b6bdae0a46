"""What one more epoch of the Perceptron costs: (T(21 epochs) - T(11 epochs)) / 10, ours against scikit-learn's.

Both fit the same data from the same start; validation, compilation and the certificate drop out of the difference.
(They would not with a single epoch, for which ours computes a theorem of its own.)
Vowpal Wabbit makes the same passes from its cache file; river takes one row at a time and is given fewer of them.
"""

import functools
import operator
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Perceptron as TheirPerceptron

from benchmarks.data import overlapping
from benchmarks.peers import installed
from benchmarks.race import Row, Timing, clock, summary
from separatrix import Perceptron as OurPerceptron

N, D, WIDTH, PER_ROW, REPEATS = 200_000, 100, 20_000, 60, 9
GOALS = {"dense float64": 2.5, "dense float32": 4.5, "CSR float64": 1.0, "CSR float32": 1.0}
PRODUCTS = 1.2  # epochs on CSR in units of a product X @ w
SHUFFLED, IN_BLOCKS = 2.0, 1.5  # shuffled epochs, row by row and by blocks, in units of sequential ones: 4 before


def problems(n):
    """Labels of a hyperplane, with some noise where a few epochs would separate: both keep correcting."""
    for level in (0.0, 1.0, 3.0):
        for dtype in (np.float64, np.float32):
            yield f"dense {np.dtype(dtype)}", *overlapping(n, D, level, dtype=dtype)
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, WIDTH, (n, PER_ROW)), axis=1).astype(np.int32)
    S = sp.csr_matrix((rng.standard_normal(n * PER_ROW), columns.ravel(), np.arange(0, n * PER_ROW + 1, PER_ROW)))
    S.sum_duplicates()
    y = np.sign(S @ rng.standard_normal(S.shape[1]))
    yield "CSR float64", S, y
    yield "CSR float32", S.astype(np.float32), y


def ours(X, y, epochs, shuffle):
    OurPerceptron(until="separated", max_iter=epochs, shuffle=shuffle).fit(X, y)


def theirs(X, y, epochs, shuffle):
    TheirPerceptron(max_iter=epochs, tol=None, shuffle=shuffle).fit(X, y)


def marginal(fit, X, y, shuffle, repeats) -> list[float]:
    def seconds(epochs):
        start = time.perf_counter()
        fit(X, y, epochs, shuffle)
        return time.perf_counter() - start

    return [(seconds(21) - seconds(11)) / 10 for _ in range(repeats)]


def measure(small):
    n, repeats = (5_000, 2) if small else (N, REPEATS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X, y in problems(n):
            model = OurPerceptron(until="separated", max_iter=3).fit(X, y)  # compiles
            case = f"{name}, {100 * model.n_updates_ / model.n_visits_:.0f}% corrected"
            product = clock(functools.partial(operator.matmul, X, np.ones(X.shape[1], dtype=X.dtype)), 2 * repeats)
            mine = summary(marginal(ours, X, y, False, repeats))
            other = summary(marginal(theirs, X, y, False, repeats))
            yield Row(case, mine, {"scikit-learn": other}, GOALS[name])
            if sp.issparse(X):
                yield Row(f"{case}: in products X @ w", mine, {"X @ w": product}, PRODUCTS, True,
                          mine.seconds / product.seconds)  # fmt: skip
            shuffled = summary(marginal(ours, X, y, True, repeats))
            other = summary(marginal(theirs, X, y, True, repeats))
            yield Row(f"{case}, shuffled", shuffled, {"scikit-learn": other})
            yield Row(f"{case}, shuffled: in epochs in stored order", shuffled, {}, SHUFFLED, True,
                      shuffled.seconds / mine.seconds)  # fmt: skip
            in_blocks = summary(marginal(ours, X, y, "blocks", repeats))
            yield Row(f"{case}, shuffled in blocks: in epochs in stored order", in_blocks, {}, IN_BLOCKS, True,
                      in_blocks.seconds / mine.seconds)  # fmt: skip
        X, y = overlapping(n // 10, D, 1.0)
        mine = summary(marginal(ours, X, y, False, repeats))
        peers = {}
        if installed("vowpalwabbit"):
            peers["Vowpal Wabbit"] = vowpal_wabbit(X, y, 1 if small else 3)
        if installed("river"):
            peers["river"] = river(X[:200], y[:200], len(X) / 200)
        yield Row(f"dense float64, {n // 10} rows, a pass", mine, peers, 2.0)


def vowpal_wabbit(X, y, repeats) -> Timing:
    """One more pass from the cache file."""
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data")
        with file.open("w") as lines:
            for x, l in zip(X, y, strict=True):
                lines.write(f"{int(l)} | " + " ".join(f"{j}:{v:.8g}" for j, v in enumerate(x)) + "\n")

        def fit(X, y, epochs, shuffle):
            cache = Path(folder, f"cache{epochs}")
            options = f"-d {file} --passes {epochs + 1} --cache_file {cache} --holdout_off --loss_function hinge --sgd"
            Workspace(f"{options} -b 18 --quiet").finish()

        return summary(marginal(fit, X, y, False, repeats))


def river(X, y, factor) -> Timing:
    from river.linear_model import Perceptron

    rows = [dict(enumerate(x)) for x in X]

    def run():
        model = Perceptron()
        for row, l in zip(rows, y, strict=True):
            model.learn_one(row, l > 0)

    timing = clock(run, 3)
    return Timing(timing.seconds * factor, timing.spread * factor)
