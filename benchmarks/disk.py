"""Certified margins of rows on disk within a budget: ``python -m benchmarks.disk --gigabytes 20 --folder DIR``.

Rows are generated as .npy blocks of float32. Every fit runs in a process of its own, whose peak memory is measured.
What is generated is removed afterwards unless ``--keep`` is given.
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

COLUMNS, MARGIN, PART = 50, 0.05, 2_000_000
FITS = ["hard", "soft", "flipped", "sgd", "river"]
RIVER_ROWS = 20_000  # river takes rows one by one: its speed is measured on so many


def generate(folder: Path, gigabytes: float) -> int:
    """Separable rows, in files of two million; their number."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    u = rng.normal(size=COLUMNS).astype(np.float32)
    u /= np.linalg.norm(u)
    parts = max(1, round(gigabytes * 1e9 / (PART * COLUMNS * 4)))
    for part in range(parts):
        X = np.random.default_rng(part).standard_normal((PART, COLUMNS), np.float32)
        side = np.sign(X @ u)
        X += np.outer(side * np.float32(MARGIN), u)
        np.save(folder / f"X{part:04}.npy", X)
        np.save(folder / f"y{part:04}.npy", (side > 0).astype(np.int8))
    flipped = np.load(folder / "y0000.npy")
    flipped[12345] ^= 1
    (folder / "flipped").mkdir(exist_ok=True)
    for part in range(parts):
        path = folder / "flipped" / f"y{part:04}.npy"
        np.save(path, flipped) if part == 0 else shutil.copy(folder / path.name, path)
    return parts * PART


def cold(folder: Path) -> None:
    """Ask the system to forget the files."""
    for path in folder.glob("*.npy"):
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


def fit(folder: Path, what: str, memory: str) -> dict:
    """One fit, in this process."""
    import separatrix

    labels = folder / "flipped" if what == "flipped" else folder
    rows = separatrix.rows.files(folder / "X*.npy", target=labels / "y*.npy", memory=memory)
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
        found = {"separable": answer.separable, "exact": answer.exact, "rows": len(answer.gordan.rows)}
    else:
        found = peer(rows, what)
    spent = time.perf_counter() - began
    peak = peak_memory()
    speed = [size / s for s in seconds]
    return {"what": what, "seconds": spent, "passes": len(seconds), "speed": speed, "peak": peak, **found}


def peer(rows, what: str) -> dict:
    """One epoch of another package, and the gap that its vector has against the best margin."""
    from separatrix.patterns.base import PassedPatterns
    from separatrix.proof.certify import lower_bound
    from separatrix.space import Space

    if what == "sgd":
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier(random_state=0)
        for block in rows.blocks():
            model.partial_fit(block.whole, block.codes, classes=[0, 1])
        w, b, done = model.coef_[0], model.intercept_[0], rows.n
    else:
        from river.linear_model import Perceptron

        model, done = Perceptron(), 0
        for block in rows.blocks():
            for x, code in zip(block.whole[:RIVER_ROWS], block.codes, strict=False):
                model.learn_one(dict(enumerate(x.tolist())), bool(code))
                done += 1
            break
        w, b = np.array([model.weights.get(j, 0.0) for j in range(COLUMNS)]), model.intercept
    patterns = PassedPatterns(rows, 1, Space(1.0))
    return {"lower": lower_bound(patterns, np.append(w, b).astype(np.float64)), "rows": done}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=20.0)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", choices=FITS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(fit(options.folder, options.only, options.memory)))
        return
    try:
        n = generate(options.folder, options.gigabytes)
        speed = sequential(options.folder)
        print(f"{n:,} x {COLUMNS} float32, {n * COLUMNS * 4 / 1e9:.1f} GB; the disk reads {speed / 1e9:.2f} GB/s")
        best = None
        for what in FITS:
            cold(options.folder)
            command = [sys.executable, "-m", "benchmarks.disk", "--folder", str(options.folder), "--only", what]
            run = subprocess.run([*command, "--memory", options.memory], capture_output=True, text=True)
            if run.returncode:
                print(f"{what}: {run.stderr.strip().splitlines()[-1]}")
                continue
            told = json.loads(run.stdout)
            best = told["upper"] if what == "hard" else best
            if what in ("sgd", "river") and best:
                told["gap"] = 1.0 - (max(told["lower"], 0.0) / best) ** 2
            passes = ", ".join(f"{s / 1e9:.2f}" for s in told.pop("speed"))
            peak = told.pop("peak")
            print(f"{what}: {told}, GB/s per pass: {passes}, peak memory {peak / 1e6:.0f} MB", flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(options.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
