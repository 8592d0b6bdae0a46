"""Cold and warm: the first fit after installation, the first in a second process, and predictions.

Seconds of a new process that imports, fits 1,000 x 20 rows and ends, less those of scikit-learn's LinearSVC.
"""

import functools
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.data import overlapping
from benchmarks.race import Row, clock
from separatrix import MaxMargin

FIT = """
import numpy as np
from {module} import {name}
X = np.random.default_rng(0).standard_normal((1000, 20))
{name}().fit(X, X[:, 0] + 0.5 * X[:, 1] > 0.1)
"""


def process(module, name, cache):
    code = FIT.format(module=module, name=name)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, env=os.environ | {"NUMBA_CACHE_DIR": cache}
    )


def measure(small):
    repeats = 1 if small else 5
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = clock(functools.partial(process, "sklearn.svm", "LinearSVC", folder), repeats)
        for name in ("Perceptron",) if small else ("Perceptron", "MaxMargin"):
            cold = clock(functools.partial(process, "separatrix", name, f"{folder}/{name}"), 1)
            warm = clock(functools.partial(process, "separatrix", name, f"{folder}/{name}"), repeats)
            for what, timing, goal in (("first fit ever", cold, 3.0), ("first fit of a process", warm, 0.5)):
                yield Row(f"{name}, {what}: seconds more than LinearSVC's", timing, {"LinearSVC": theirs}, goal, True,
                          timing.seconds - theirs.seconds)  # fmt: skip
        X, y = overlapping(2_000, 50, 1.0)
        ours, other = MaxMargin().fit(X, y), LinearSVC().fit(X, y)
        n = 10_000 if small else 1_000_000
        large = np.random.default_rng(1).standard_normal((n, 50))
        for rows, count in ((X[:1], 300), (large, 5)):
            mine = clock(functools.partial(ours.predict, rows), count)
            peer = clock(functools.partial(other.predict, rows), count)
            product = clock(functools.partial(np.matmul, rows, ours.coef_[0]), count)
            case = f"predict, {len(rows):,} x 50"
            yield Row(case, mine, {"LinearSVC": peer, "X @ w": product}, value=peer.seconds / mine.seconds, goal=1.0)
