"""The main job: `separatrix fit` on twelve generated tables beside a scaled logistic regression with cross-validated C.

Both are whole processes, from the start of the interpreter to its end, with one thread: the command line, and pandas
with ColumnTransformer(StandardScaler, OneHotEncoder) and LogisticRegressionCV(Cs=10, cv=5, max_iter=1000). They take
turns; a first run fills the cache of compiled code. Accuracies are cross-validated, of the C that each selects.
``--interrupt N`` then sends Ctrl-C at N random moments: how long the process goes on, and whether a model is there
whenever its line was shown.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from sklearn.datasets import make_classification

MOST_TIMES, MOST_POINTS = 3.0, 0.005  # as long, and as much less accurate, as it may be
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
PEER = """
import json, sys, warnings
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
warnings.simplefilter("ignore")
table = pd.read_csv(sys.argv[1])
y = table.pop("y")
columns = ColumnTransformer([
    ("numbers", StandardScaler(), make_column_selector(dtype_include="number")),
    ("texts", OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
])
model = make_pipeline(columns, LogisticRegressionCV(Cs=10, cv=5, max_iter=1000)).fit(table, y)
scores = model[-1].scores_
scores = next(iter(scores.values())) if isinstance(scores, dict) else scores
print(json.dumps(float(scores.mean(axis=0).max())))
"""


class Case(NamedTuple):
    rows: int
    numbers: int
    texts: tuple[int, ...]  # how many values the columns of text have, most of them rare
    classes: int

    @property
    def name(self) -> str:
        width = self.numbers + sum(self.texts)
        return f"{self.rows:,} x {width}, {self.classes} classes" + (", one-hot" if self.texts else "")


CASES = [
    Case(5_000, 10, (), 2),
    Case(5_000, 20, (), 3),
    Case(8_000, 6, (30, 20, 10, 6), 2),
    Case(10_000, 20, (), 10),
    Case(10_000, 15, (40, 25), 4),
    Case(12_000, 20, (), 60),
    Case(20_000, 50, (), 2),
    Case(20_000, 30, (), 6),
    Case(20_000, 8, (50, 20, 12), 3),
    Case(30_000, 20, (), 30),
    Case(50_000, 20, (), 2),
    Case(50_000, 10, (60, 30), 2),
]


def write(case: Case, path: Path) -> None:
    """A table with noise in its labels; values of text shift the first columns, and the last ones are rare."""
    rng = np.random.default_rng(case.rows + case.classes)
    informative = min(case.numbers, max(5, round(2 * np.log2(case.classes) + 3)))
    X, y = make_classification(
        case.rows, case.numbers, n_informative=informative, n_redundant=0, n_classes=case.classes,
        n_clusters_per_class=1, class_sep=1.0 + np.log2(case.classes) / 2, flip_y=0.02, random_state=case.rows,
    )  # fmt: skip
    table = {f"x{j}": column for j, column in enumerate(X.T)}
    for j, count in enumerate(case.texts):
        shares = 1.0 / np.arange(1, count + 1) ** 1.5
        values = rng.choice(count, case.rows, p=shares / shares.sum())
        table["x0"] = table["x0"] + rng.normal(size=count)[values]
        table[f"t{j}"] = np.array([f"v{k}" for k in range(count)])[values]
    pl.DataFrame({**table, "y": [f"c{k}" for k in y]}).write_csv(path)


def ours(path: Path, more: list[str]) -> list[str]:
    program = "from separatrix.app.cli import main; main()"
    return [sys.executable, "-c", program, "fit", str(path), "--target", "y", "--scale", "--encode", *more]


def run(command: list[str]) -> tuple[str, float, float]:
    """What it prints, seconds, and seconds of processor time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **ONE_THREAD})
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(case: Case, folder: Path) -> bool:
    path = folder / "table.csv"
    write(case, path)
    run(ours(path, ["--json"]))
    peer, peer_seconds, peer_cpu = run([sys.executable, "-c", PEER, str(path)])
    text, seconds, cpu = run(ours(path, ["--json"]))
    found, accuracy = json.loads(text), json.loads(peer)
    own = found["cross_validated_accuracy"]["mean"]
    fits = cpu <= MOST_TIMES * peer_cpu and own >= accuracy - MOST_POINTS
    separable = {True: "yes", False: "no", None: "undecided"}[found["separability"]["separable"]]
    print(
        f"{case.name:36} {seconds:7.2f} s ({cpu:6.2f} cpu) {peer_seconds:7.2f} s ({peer_cpu:6.2f} cpu) "
        f"{cpu / peer_cpu:5.2f}x  {100 * own:5.1f}% {100 * accuracy:5.1f}%  separable: {separable:9} "
        f"{'' if fits else 'MISSED'}",
        flush=True,
    )
    return fits


def interrupt(case: Case, folder: Path, seconds: float, seed: int) -> bool:
    """Ctrl-C at a random moment within so many seconds."""
    path, model = folder / "table.csv", folder / "model.sx"
    model.unlink(missing_ok=True)
    with subprocess.Popen(
        ours(path, ["--save", str(model)]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **ONE_THREAD, "PYTHONUNBUFFERED": "1"},
    ) as job:  # fmt: skip
        time.sleep(random.Random(seed).uniform(0.2, seconds))
        sent = time.perf_counter()
        job.send_signal(signal.SIGINT)
        shown, _ = job.communicate()
    late = time.perf_counter() - sent
    kept = model.exists() or "Model  " not in shown
    print(
        f"Ctrl-C: status {job.returncode:4}, {late:5.2f} s, model line: {'Model  ' in shown!s:5} file: {model.exists()}"
    )
    return late <= 1.0 and kept


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.main_job", description=__doc__)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of cases, from 0")
    parser.add_argument("--interrupt", type=int, default=0, metavar="N")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, cases = Path(name), [CASES[k] for k in asked.only or range(len(CASES))]
        held = [compare(case, folder) for case in cases]
        print(f"{sum(held)} of {len(held)} within {MOST_TIMES:g} times the processor time and half a point")
        if asked.interrupt:
            write(cases[0], folder / "table.csv")
            seconds = run(ours(folder / "table.csv", ["--json"]))[1]
            soon = [interrupt(cases[0], folder, seconds, seed) for seed in range(asked.interrupt)]
            print(
                f"{sum(soon)} of {len(soon)} interrupts were answered within a second, with a model where one was shown"
            )


if __name__ == "__main__":
    main()
