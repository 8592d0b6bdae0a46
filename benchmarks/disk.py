"""Certified margins of rows on disk within a budget: ``python -m benchmarks.disk --gigabytes 20 --folder DIR``.

Rows are generated as .npy files of float32. Every fit runs in a process of its own, whose peak memory is measured, and
begins with files that the system was asked to forget. Peers get ``--peer-seconds``: they pass over the rows as often as
that allows (at least a part of one pass), and the margin of their vector is then measured by a pass of ours, which is
not counted. A table in Markdown is printed at the end. What is generated is removed unless ``--keep`` is given.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

COLUMNS, MARGIN, PART = 50, 0.05, 2_000_000
OURS = {
    "hard": "`MaxMargin(C=inf)`",
    "soft": "`MaxMargin(C=1)`",
    "flipped": "one flipped label: `separability`",
    "parquet": "reading 0.4 GB as Parquet, once",
}
PEERS = {
    "sgd": "`SGDClassifier.partial_fit`",
    "river": "river's `Perceptron`",
    "dask-ml": "dask-ml's `LogisticRegression`, gradient descent, 5 steps",
}
HEAD = "| fit | gap | passes | seconds | GB/s in each pass (of the disk's) | peak memory, MB |"


def generate(folder: Path, gigabytes: float) -> int:
    """Separable rows, in files of two million; their number. Files that are there already are taken as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    u = rng.normal(size=COLUMNS).astype(np.float32)
    u /= np.linalg.norm(u)
    parts = max(1, round(gigabytes * 1e9 / (PART * COLUMNS * 4)))
    for part in range(parts):
        if (folder / f"y{part:04}.npy").exists():  # it is written after X
            continue
        X = np.random.default_rng(part).standard_normal((PART, COLUMNS), np.float32)
        side = np.sign(X @ u)
        X += np.outer(side * np.float32(MARGIN), u)
        np.save(folder / f"X{part:04}.npy", X)
        np.save(folder / f"y{part:04}.npy", (side > 0).astype(np.int8))
    X, y = np.load(folder / "X0000.npy"), np.load(folder / "y0000.npy")
    pl.DataFrame({**{f"x{k}": X[:, k] for k in range(COLUMNS)}, "y": y}).write_parquet(folder / "first.parquet")
    flipped = np.load(folder / "y0000.npy")
    flipped[12345] ^= 1
    (folder / "flipped").mkdir(exist_ok=True)
    for part in range(parts):
        path = folder / "flipped" / f"y{part:04}.npy"
        np.save(path, flipped) if part == 0 else shutil.copy(folder / path.name, path)
    return parts * PART


def cold(folder: Path) -> None:
    """Ask the system to forget the files."""
    for path in [*folder.glob("*.npy"), *folder.glob("*.parquet")]:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def sequential(folder: Path) -> float:
    """Bytes per second of reading all files once, from their beginning to their end, and nothing else."""
    cold(folder)
    buffer, total, clock = np.empty(1 << 24, np.uint8), 0, time.perf_counter()
    for path in sorted(folder.glob("X*.npy")):
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(buffer):
                total += count
    return total / (time.perf_counter() - clock)


def peak_memory() -> int:
    """Bytes. The system's own account of a process would count what its parent had when it was started."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def fit(folder: Path, what: str, memory: str, limit: float) -> dict:
    """One fit, in this process."""
    import separatrix

    if what == "parquet":
        return decoding(folder, memory)
    labels = folder / "flipped" if what == "flipped" else folder
    rows = separatrix.data.open_files(folder / "X*.npy", target=labels / "y*.npy", memory=memory)
    size = rows.n * COLUMNS * 4
    seconds, began = [], time.perf_counter()
    read = rows.blocks_from

    def timed(number):
        clock = time.perf_counter()
        yield from read(number)
        seconds.append(time.perf_counter() - clock)

    rows.blocks_from = timed
    if what in ("hard", "soft"):
        model = separatrix.MaxMargin(np.inf if what == "hard" else 1.0).fit(rows)
        found = {"gap": model.certificate_.gap, "lower": model.certificate_.lower, "upper": model.certificate_.upper}
    elif what == "flipped":
        answer = separatrix.separability(rows)
        found = {"separable": answer.separable, "exact": answer.exact, "rows": len(answer.infeasibility_proof.rows)}
    else:
        return peer(rows, folder, what, limit)
    spent, peak = time.perf_counter() - began, peak_memory()
    return {"seconds": spent, "passes": len(seconds), "speed": [size / s for s in seconds], "peak": peak, **found}


def decoding(folder: Path, memory: str) -> dict:
    """What decoding allows: one pass over the first file as Parquet."""
    import separatrix

    rows = separatrix.data.open_files(folder / "first.parquet", target="y", memory=memory)
    cold(folder)
    clock = time.perf_counter()
    for _ in rows.blocks():
        pass
    seconds = time.perf_counter() - clock
    return {"seconds": seconds, "passes": 1, "speed": [rows.n * COLUMNS * 4 / seconds], "peak": peak_memory()}


def peer(rows, folder: Path, what: str, limit: float) -> dict:
    """Another package for so many seconds, and the margin that its vector has."""
    from separatrix.certificates.certify import lower_bound
    from separatrix.passes.patterns import PassedPatterns
    from separatrix.space import Space

    clock, done = time.perf_counter(), 0

    def in_time() -> bool:
        return time.perf_counter() - clock < limit

    if what == "sgd":
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier(random_state=0)
        while in_time():
            for block in rows.blocks():
                model.partial_fit(block.whole, block.codes, classes=[0, 1])
                done += block.n
                if not in_time():
                    break
        w, b = model.coef_[0], model.intercept_[0]
    elif what == "river":
        from river.linear_model import Perceptron

        model = Perceptron()
        for block in rows.blocks():
            for x, code in zip(block.whole, block.codes, strict=True):
                model.learn_one(dict(enumerate(x.tolist())), bool(code))
                done += 1
                if done % 1000 == 0 and not in_time():
                    break
            if not in_time():
                break
        w, b = np.array([model.weights.get(j, 0.0) for j in range(COLUMNS)]), model.intercept
    else:
        w, b = dask_ml(folder)
    spent, peak = time.perf_counter() - clock, peak_memory()
    patterns = PassedPatterns(rows, 1, Space(1.0))
    lower = lower_bound(patterns, np.append(w, b).astype(np.float64))
    return {"seconds": spent, "lower": lower, "passes": done / rows.n or None, "speed": [], "peak": peak}


def dask_ml(folder: Path) -> tuple[np.ndarray, float]:
    """Logistic regression by gradient descent over a Dask array of the files; it has no margin to maximise."""
    import dask.array as da
    from dask_ml.linear_model import LogisticRegression

    def table(pattern: str):
        paths = sorted(folder.glob(pattern))
        return da.concatenate([da.from_array(np.load(path, mmap_mode="r"), chunks=100_000) for path in paths])

    X, y = table("X*.npy"), table("y*.npy")
    X = X.rechunk({1: -1})
    model = LogisticRegression(solver="gradient_descent", max_iter=5, C=1e3).fit(X, y)
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def line(name: str, row: dict, disk: float, best: float | None) -> str:
    """A row of the table."""
    gap = row.get("gap")
    if gap is None and best and "lower" in row:
        gap = 1.0 - (max(row["lower"], 0.0) / best) ** 2
    shown = "" if gap is None else f"{gap:.1g}"
    if "separable" in row:
        shown = f"separable: {row['separable']}, exact: {row['exact']}, by {row['rows']} rows"
    speeds = ", ".join(f"{s / 1e9:.2f} ({s / disk:.0%})" for s in row["speed"])
    passes = "" if row["passes"] is None else f"{row['passes']:.3g}"
    return f"| {name} | {shown} | {passes} | {row['seconds']:.0f} | {speeds} | {row['peak'] / 1e6:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=20.0)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--peer-seconds", type=float, default=600.0)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", choices=[*OURS, *PEERS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(fit(options.folder, options.only, options.memory, options.peer_seconds)))
        return
    try:
        n = generate(options.folder, options.gigabytes)
        os.sync()  # else the disk is still writing what was generated
        disk = sequential(options.folder)
        size = f"{n:,} rows of {COLUMNS} float32 numbers, {n * COLUMNS * 4 / 1e9:.1f} GB"
        print(f"{size}, margin {MARGIN}, budget {options.memory}; the disk alone reads {disk / 1e9:.2f} GB/s\n")
        print(f"{HEAD}\n|---|---|---|---|---|---|")
        best = None
        for what, name in {**OURS, **PEERS}.items():
            cold(options.folder)
            command = [sys.executable, "-m", "benchmarks.disk", "--folder", str(options.folder), "--only", what]
            command += ["--memory", options.memory, "--peer-seconds", str(options.peer_seconds)]
            try:  # a peer that does not look at the clock is ended
                limit = 2.0 * options.peer_seconds + 120.0 if what in PEERS else None
                run = subprocess.run(command, capture_output=True, text=True, timeout=limit)
            except subprocess.TimeoutExpired:
                print(f"| {name} | not done after {limit:.0f} s | | | | |", flush=True)
                continue
            if run.returncode:
                reason = (run.stderr.strip().splitlines() or ["no message"])[-1]
                print(f"| {name} | ended with status {run.returncode}: {reason} | | | | |", flush=True)
                continue
            row = json.loads(run.stdout.strip().splitlines()[-1])
            best = row["upper"] if what == "hard" else best
            print(line(name, row, disk, best if what in PEERS else None), flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(options.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
