"""What one more epoch of the Perceptron costs, ours against scikit-learn's, side by side in one run on one thread.

    marginal epoch = (T(11 epochs) - T(1 epoch)) / 10

Both fit the same data from the same start; validation, compilation and the certificate drop out of the difference.
Run it on an idle machine:  python -m benchmarks.epochs
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import functools
import operator
import platform
import statistics
import time
import warnings

import numba
import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import Perceptron as TheirPerceptron

from separatrix import Perceptron as OurPerceptron

N, D, WIDTH, PER_ROW, REPEATS = 200_000, 100, 20_000, 60, 9
GOALS = {"dense float64": 2.5, "dense float32": 4.5, "CSR float64": 1.0, "CSR float32": 1.0}


def problems():
    """Labels of a hyperplane, with some noise where a few epochs would separate: both keep correcting."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    clean, noise = X @ rng.standard_normal(D), rng.standard_normal(N)
    for level in (0.0, 1.0, 3.0):
        y = np.sign(clean + level * noise)
        yield "dense float64", X, y
        yield "dense float32", X.astype(np.float32), y
    columns = np.sort(rng.integers(0, WIDTH, (N, PER_ROW)), axis=1).astype(np.int32)
    S = sp.csr_matrix((rng.standard_normal(N * PER_ROW), columns.ravel(), np.arange(0, N * PER_ROW + 1, PER_ROW)))
    S.sum_duplicates()
    y = np.sign(S @ rng.standard_normal(S.shape[1]))
    yield "CSR float64", S, y
    yield "CSR float32", S.astype(np.float32), y


def seconds(run) -> float:
    clock = time.perf_counter()
    run()
    return time.perf_counter() - clock


def ours(X, y, epochs, shuffle):
    return lambda: OurPerceptron(max_epochs=epochs, shuffle=shuffle).fit(X, y)


def theirs(X, y, epochs, shuffle):
    return lambda: TheirPerceptron(max_iter=epochs, tol=None, shuffle=shuffle).fit(X, y)


def marginal(fit, X, y, shuffle) -> float:
    return (seconds(fit(X, y, 11, shuffle)) - seconds(fit(X, y, 1, shuffle))) / 10


def main() -> None:
    warnings.simplefilter("ignore")
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, ",
        end="",
    )
    print(f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}, numba {numba.__version__}; one thread")
    print(f"median of {REPEATS} marginal epochs in ms; n = {N}, d = {D} dense, {PER_ROW} non-zeros a row sparse\n")
    print("| data | order | separatrix | scikit-learn | ratio | goal | one X @ w | epochs / X @ w |")
    print("|---|---|---|---|---|---|---|---|")
    for name, X, y in problems():
        w = np.ones(X.shape[1], dtype=X.dtype)
        model = ours(X, y, 3, False)()  # compiles
        share = f"{name}, {100 * model.n_updates_ / model.n_visits_:.0f}% corrected"
        for shuffle in (False, True):
            mine, other, product = [], [], []
            for _ in range(REPEATS):
                mine.append(marginal(ours, X, y, shuffle))
                other.append(marginal(theirs, X, y, shuffle))
                product.append(seconds(functools.partial(operator.matmul, X, w)))
            a, b, p = (1e3 * statistics.median(times) for times in (mine, other, product))
            goal = f"{GOALS[name]:g} {'met' if b / a >= GOALS[name] else 'NOT met'}" if not shuffle else ""
            order = "shuffled" if shuffle else "as it comes"
            print(
                f"| {share} | {order} | {a:.1f} | {b:.1f} | {b / a:.2f} | {goal} | {p:.1f} | {a / p:.2f} |", flush=True
            )


if __name__ == "__main__":
    main()
