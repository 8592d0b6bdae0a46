"""Two versions of the library against each other: python -m benchmarks.versions OTHER_SRC [--cell GLOB] [--rounds 5]

The versions take turns, cell by cell and round by round, so that whatever else the machine does meets both. Every round
has new processes: where arrays happen to lie in the memory of one is worth a tenth of the time, as long as it lives.
A cell's time is its smallest. Ratios are this version / other: above 1 this one is slower.
"""

from benchmarks.measure import one_thread

one_thread()

import argparse
import fnmatch
import os
import subprocess
import sys
import time
import warnings
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.data import overlapping, real, separable, text_like

HERE = Path(__file__).parents[1]
WORST = 1.03  # a cell above it is told apart
ENOUGH = 0.5  # seconds of repetitions in a round


def cells():
    """Names of cells, and what makes the call that is timed."""
    from separatrix import HoKashyap, LeastSquares, MaxMargin, Perceptron, separability

    made = {}

    def add(name, data, call):
        made[name] = lambda: partial(call, *data())

    sizes = {"100 x 5": (100, 5), "20,000 x 20": (20_000, 20), "100,000 x 50": (100_000, 50)}
    for size, shape in sizes.items():
        add(f"hard {size}", partial(cached, separable, *shape), lambda X, y: MaxMargin(np.inf).fit(X, y))
        for C in (0.01, 1.0, 100.0):
            add(f"soft {size}, C = {C:g}", partial(cached, overlapping, *shape, 1.0),
                lambda X, y, C=C: MaxMargin(C).fit(X, y))  # fmt: skip
        add(f"separability {size}", partial(cached, separable, *shape), separability)
        add(f"separability, overlapping {size}", partial(cached, overlapping, *shape, 0.1), separability)
        add(f"predict {size}", partial(fitted, *shape), lambda model, X: model.predict(X))
    for name in ("a9a", "mushrooms", "w8a", "sonar", "WBC"):
        for C in (0.1, 1.0, 100.0):
            add(f"{name}, C = {C:g}", partial(real, name), lambda X, y, C=C: MaxMargin(C).fit(X, y))
    for name in ("mushrooms", "sonar", "WBC without 11", "sector"):
        add(f"{name}, hard", partial(real, name), lambda X, y: MaxMargin(np.inf, tol=1e-3).fit(X, y))
    add("text-like, C = 1", partial(cached, text_like, 20_000, 50_000, 60), lambda X, y: MaxMargin(1.0).fit(X, y))
    for dtype in (np.float64, np.float32):
        for shuffle in (False, True):
            order = "shuffled" if shuffle else "in order"
            data = partial(cached, overlapping, 100_000, 100, 1.0, dtype=dtype)
            add(f"20 epochs {order}, dense {np.dtype(dtype)}", data,
                lambda X, y, shuffle=shuffle: Perceptron(max_epochs=20, shuffle=shuffle).fit(X, y))  # fmt: skip
    add("20 epochs, CSR", partial(real, "a9a"), lambda X, y: Perceptron(max_epochs=20).fit(X, y))
    add("Perceptron 100 x 5", partial(cached, separable, 100, 5), lambda X, y: Perceptron().fit(X, y))
    add("Perceptron, linear machine", several, lambda X, y: Perceptron(multi_class="kesler", max_epochs=50).fit(X, y))
    for how in ("kesler", "ovr", "ovo"):
        add(f"soft, {how}", several, lambda X, y, how=how: MaxMargin(1.0, multi_class=how).fit(X, y))
    add("LeastSquares 100,000 x 50", partial(cached, overlapping, 100_000, 50, 1.0),
        lambda X, y: LeastSquares().fit(X, y))  # fmt: skip
    add("Ho-Kashyap 20,000 x 20", partial(cached, overlapping, 20_000, 20, 1.0),
        lambda X, y: HoKashyap(max_epochs=50).fit(X, y))  # fmt: skip
    return made


@cache
def cached(make, *args, **options):
    return make(*args, **options)


def several():
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)


@cache
def fitted(n, d):
    from separatrix import MaxMargin

    X, y = overlapping(n, d, 1.0)
    return MaxMargin().fit(X, y), X


def work(name):
    """Of the process of a version: tells how long the cell takes."""
    warnings.simplefilter("ignore")
    try:
        call = cells()[name]()
        call()
        best, start = np.inf, time.perf_counter()
        while not np.isfinite(best) or time.perf_counter() - start < ENOUGH:
            clock = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - clock)
        print(best)
    except Exception as error:
        print("nan", type(error).__name__)


def asked(source, name):
    known = os.environ.get("PYTHONPATH", "")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(source), str(HERE), *([known] if known else [])])}
    command = [sys.executable, "-m", "benchmarks.versions", "--work", name]
    return float(subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True).stdout.split()[0])


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=__doc__.splitlines()[0])
    parser.add_argument("other", nargs="?", type=Path, help="the src folder of the other version")
    parser.add_argument("--cell", action="append", help="only cells of such a name; may be given several times")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", metavar="CELL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    pair = HERE / "src", options.other
    names = [n for n in cells() if any(fnmatch.fnmatch(n, g) for g in options.cell or ["*"])]
    print("| cell | this, ms | other, ms | ratio |\n|---|---|---|---|", flush=True)
    slower = []
    for name in names:
        times = np.array([[asked(source, name) for source in pair] for _ in range(options.rounds)])
        ours, theirs = times.min(axis=0)
        slower += [name] if ours > WORST * theirs else []
        print(f"| {name} | {1e3 * ours:.2f} | {1e3 * theirs:.2f} | {ours / theirs:.2f} |", flush=True)
    print(f"\n{len(slower)} of {len(names)} cells are more than {WORST - 1:.0%} slower")


if __name__ == "__main__":
    main()
