"""The drop-in classes and scikit-learn's, called alike: a whole fit with the defaults except C, small data and large.

Seconds of the processor. The two take turns, so that whatever else the machine does meets both. Ours ends with a
certificate. Where scikit-learn warns that it did not converge, this is noted; what takes longer than 10 s by the clock
has no answer.
"""

import math
import time
import warnings

import sklearn.svm
from sklearn.exceptions import ConvergenceWarning

from benchmarks.data import overlapping
from benchmarks.measure import limited
from benchmarks.race import Row, Timing, summary
from separatrix import dropin

SIZES = {
    "LinearSVC": ((100, 5), (1000, 20), (20_000, 20), (100_000, 50)),
    "SVC linear": ((100, 5), (1000, 20), (5000, 20)),
    "SVC rbf": ((100, 5), (500, 10), (1000, 20), (2000, 20), (5000, 20), (10_000, 20)),
}
CS = (0.01, 1.0, 100.0, 1000.0)
LIMIT = 10.0  # seconds of one fit
WORTH = 1.0  # seconds of repetitions


def measure(small):
    for name, sizes in SIZES.items():
        for shape in sizes[:1] if small else sizes:
            X, y = overlapping(*shape, 1.0)
            for C in CS[1:2] if small else CS:
                ours, theirs = (model(home, name, C) for home in (dropin, sklearn.svm))
                ours.fit(X, y)  # compiles
                yield turns(f"{name} {shape[0]:,} x {shape[1]}, C = {C:g}", ours, theirs, X, y)


def model(home, name, C):
    return home.LinearSVC(C=C) if name == "LinearSVC" else home.SVC(kernel=name.split()[1], C=C)


def turns(case, ours, theirs, X, y):
    first = limited(lambda: bool(theirs.fit(X, y)), LIMIT)[0]
    if not first < LIMIT:
        return Row(case, clocked(lambda: ours.fit(X, y)), {"scikit-learn": Timing(math.inf)}, 1.0)
    count, times = min(max(int(WORTH / first), 3), 30), ([], [])
    with warnings.catch_warnings(record=True) as parts:
        warnings.simplefilter("always")
        for _ in range(count):
            for fit, seconds in zip((ours.fit, theirs.fit), times, strict=True):
                start = time.process_time()
                fit(X, y)
                seconds.append(time.process_time() - start)
    late = [str(w.filename) for w in parts if w.category is ConvergenceWarning]
    note = "scikit-learn did not converge" if any("sklearn" in name for name in late) else ""
    note += "separatrix did not converge" if any("sklearn" not in name for name in late) else ""
    return Row(case, summary(times[0]), {"scikit-learn": summary(times[1])}, 1.0, note=note)


def clocked(run):
    start = time.process_time()
    run()
    return Timing(time.process_time() - start)
