"""Cold and warm: the first fit after installation, the first in a second process, and predictions.

The first tables are seconds of processor time of a new process that imports, fits with defaults and ends; the cache of
compiled code is empty (cold) or filled (warm). Then whole predictions beside scikit-learn's.
"""

import functools
import os
import resource
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.data import overlapping
from benchmarks.race import Row, clock, summary
from separatrix import MaxMargin

FIT = """
import warnings
warnings.simplefilter("ignore")
from sklearn.datasets import load_{data}
X, y = load_{data}(return_X_y=True)
{code}
"""
CERTIFIED = {
    "MaxMargin()": "from separatrix import MaxMargin; MaxMargin().fit(X, y)",
    "MaxMargin(C=inf)": "from separatrix import MaxMargin; MaxMargin(C=float('inf')).fit(X, y == 0)",
    "MaxMargin(loss='hinge')": "from separatrix import MaxMargin; MaxMargin(loss='hinge').fit(X, y)",
    "dropin.LinearSVC()": "from separatrix.dropin import LinearSVC; LinearSVC().fit(X, y)",
    "dropin.SVC()": "from separatrix.dropin import SVC; SVC().fit(X, y)",
    "LeastSquares()": "from separatrix import LeastSquares; LeastSquares().fit(X, y)",
    "KernelMaxMargin()": "from separatrix import KernelMaxMargin; KernelMaxMargin().fit(X, y)",
    "separability": "from separatrix import separability; separability(X, y)",
}
RULES = ("Perceptron", "PassiveAggressive", "AROW", "Pegasos", "ALMA", "BalancedWinnow")
ONLINE = {f"{name}()": f"from separatrix import {name}; {name}().fit(X, y)" for name in RULES}
PEER = "from sklearn.svm import LinearSVC; LinearSVC().fit(X, y)"


def process(code, data, cache):
    """Seconds of processor time."""
    code = FIT.format(code=code, data=data)
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "SEPARATRIX_COMPILE": "auto"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(small):
    fits = {name: (code, 1.0) for name, code in CERTIFIED.items()} | {n: (code, 3.0) for n, code in ONLINE.items()}
    if small:
        fits = {name: fits[name] for name in ("MaxMargin()",)}
    for data in ("iris",) if small else ("iris", "wine", "breast_cancer"):
        with tempfile.TemporaryDirectory() as folder:
            peer = summary([process(PEER, data, folder) for _ in range(1 if small else 3)])
            for name, (code, goal) in fits.items():
                cold = process(code, data, f"{folder}/{name}")
                warm = process(code, data, f"{folder}/{name}")
                for what, seconds, most in (("empty cache", cold, goal), ("second process", warm, 1.0)):
                    timing, peers = summary([seconds]), {"LinearSVC": peer}
                    yield Row(f"{name} on {data}, {what}: seconds", timing, peers, most, True, seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
