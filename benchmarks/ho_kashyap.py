"""What 100 iterations of Ho-Kashyap cost at 100,000 x 50, in products X @ w, side by side in one run on one thread.

The classes overlap in a few rows and ``tol=0`` asks for no early proof, so that every iteration is made. Reported are
the iterations alone, (T(101) - T(1)), and the whole fit: validation, the factorisation and the certificate included.
Run it on an idle machine:  python -m benchmarks.ho_kashyap
"""

from benchmarks.measure import machine, one_thread

one_thread()

import statistics
import time
import warnings

import numpy as np
import scipy.sparse as sp

from separatrix import HoKashyap

N, D, ITERATIONS, REPEATS, GOAL = 100_000, 50, 100, 5, 250.0


def problem() -> tuple[np.ndarray, np.ndarray]:
    """Labels of a hyperplane with a little noise: Ho-Kashyap neither separates nor ends soon."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    y = np.sign(X @ rng.standard_normal(D) + 0.1 * rng.standard_normal(N))
    return X, y


def seconds(run) -> float:
    clock = time.perf_counter()
    run()
    return time.perf_counter() - clock


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{machine()}; medians of {REPEATS}; n = {N}, d = {D}, {ITERATIONS} iterations\n")
    print("| data | variant | one X @ w (ms) | iterations / X @ w | whole fit / X @ w | goal |")
    print("|---|---|---|---|---|---|")
    X, y = problem()
    w = np.ones(D)
    for name, data in (("float64", X), ("float32", X.astype(np.float32)), ("CSR float64", sp.csr_matrix(X))):
        weights = w.astype(data.dtype)
        for variant in ("standard", "descent"):

            def fit(epochs, data=data, variant=variant):
                return HoKashyap(variant, tol=0.0, max_epochs=epochs).fit(data, y)

            made = fit(ITERATIONS + 1).n_epochs_  # compiles, and shows that no iteration was spared
            assert made == ITERATIONS + 1, made
            product = statistics.median(seconds(lambda data=data, v=weights: data @ v) for _ in range(9 * REPEATS))
            short = statistics.median(seconds(lambda: fit(1)) for _ in range(REPEATS))
            long = statistics.median(seconds(lambda: fit(ITERATIONS + 1)) for _ in range(REPEATS))
            alone, whole = (long - short) / product, long / product
            goal = f"{GOAL:g} {'met' if whole <= GOAL else 'NOT met'}" if name == "float64" else ""
            print(f"| {name} | {variant} | {1e3 * product:.2f} | {alone:.0f} | {whole:.0f} | {goal} |", flush=True)


if __name__ == "__main__":
    main()
