"""Across processes: a quick import, rules from anywhere, fork and spawn; what a fit leaves in its process."""

import gc
import json
import math
import subprocess
import sys
import textwrap
import weakref
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from cases import EVERYONE
from processes import run

from separatrix import KernelMaxMargin, MaxMargin, Perceptron, PerceptronLike

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_the_import_is_quick_and_light():
    script = """
        import sys, time, json
        start = time.process_time()
        import separatrix
        names = dir(separatrix)
        taken = time.process_time() - start
        heavy = [m for m in ("numba", "sklearn", "scipy", "numpy", "polars", "typer") if m in sys.modules]
        print(json.dumps([taken, heavy, "Perceptron" in names]))
    """
    times = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=True
        )
        taken, heavy, listed = json.loads(done.stdout)
        assert not {"numba", "sklearn"} & set(heavy)
        assert listed
        times.append(taken)
    assert min(times) < 0.2


MAIN = """
    from typing import NamedTuple
    from separatrix import Perceptron, PerceptronLike

    class Mine(NamedTuple):
        margin: float

        def violates(self, m, s):
            return m <= self.margin

        def gain(self, m, s):
            return 1.0

    how = {"max_iter": 30, "until": "separated"}
    mine, ours = PerceptronLike(Mine(2.0), **how).fit(X, y), Perceptron(margin=2.0, **how).fit(X, y)
    print(json.dumps([mine.n_updates_ == ours.n_updates_, mine.coef_.tolist() == ours.coef_.tolist()]))
"""


def test_a_rule_in_main():
    assert run(MAIN) == [True, True]


def test_rules_of_one_name_are_kept_apart():
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = (X[:, 0] > 0.2).astype(int)

    def make(limit):
        class Mine(NamedTuple):
            margin: float

            def violates(self, m, s):
                return m <= self.margin + limit

            def gain(self, m, s):
                return 1.0

        return Mine(1.0)

    for limit in (0.0, 3.0):
        mine = PerceptronLike(make(limit), max_iter=20, until="separated").fit(X, y)
        np.testing.assert_array_equal(
            mine.coef_, Perceptron(margin=1.0 + limit, max_iter=20, until="separated").fit(X, y).coef_
        )


WORKERS = """
    import json, multiprocessing, pickle, sys, warnings
    import numpy as np
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)

    def work(name):
        import separatrix
        model = getattr(separatrix, name)(max_iter=10).fit(X, y)
        return model, model.coef_

    if __name__ == "__main__":
        names = ["Perceptron", "CRAMMA", "GreedyPerceptron", "RecursiveLeastSquares"]
        here = [work(name)[1] for name in names]
        same = []
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                for (model, coef), ours in zip(pool.map(work, names), here):
                    same.append(bool(np.array_equal(coef, ours) and np.array_equal(model.coef_, ours)))
                    same.append(model.predict(X).shape == (60,))
        print(json.dumps(same))
"""


def test_fork_and_spawn(tmp_path):
    path = tmp_path / "workers.py"
    path.write_text(textwrap.dedent(WORKERS))
    assert run("", path=str(path)) == [True] * 16


def test_fits_in_threads_leave_the_process_as_it_was():
    import threading
    import warnings

    from threadpoolctl import threadpool_info

    from separatrix import MaxMargin

    def blas():
        return sorted(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = X[:, 0] > 0.1
    MaxMargin().fit(X, y)
    before, filters = blas(), list(warnings.filters)
    threads = [threading.Thread(target=lambda: [MaxMargin().fit(X, y) for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blas() == before
    assert list(warnings.filters) == filters


@pytest.mark.parametrize(
    "cls",
    [
        *EVERYONE,
        partial(KernelMaxMargin, loss="hinge", fit_intercept=True),
        partial(MaxMargin, math.inf),
        partial(MaxMargin, loss="hinge"),
    ],
)
def test_a_fit_lets_go_of_the_rows(cls, rng):
    """A circle of references would keep them until Python looks for circles: too late for who has 100 GB of them."""
    X = rng.normal(size=(40, 3)) ** 2
    y = np.where(X[:, 0] > X[:, 1], 1, 0)
    X[:, 0] += y
    cls().fit(X, y)  # what is made once per process is made here
    gc.collect()
    gc.disable()
    try:
        there = weakref.ref(X)
        model = cls().fit(X, y)
        del X
        kept = {k for k, v in vars(model).items() if v is there()} if there() is not None else set()
        del model
        assert there() is None, f"somebody still holds the rows; the model had them as {kept}"
    finally:
        gc.enable()
