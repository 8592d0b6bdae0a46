"""Certified margins of up to a billion rows on one GPU. `python benchmarks/gpu.py all --out gpu.json`.

Data are made on the device: normal rows, labels by a hyperplane, and either a gap around it (hard margin) or 5% of the
labels flipped (soft margin). A fit begins with arrays on the device and ends with a certificate; a first one, which
compiles, is not counted. Needs torch with Triton, a CUDA device, and SCIPY_ARRAY_API=1 in the environment for the tasks
"estimator" and "peers".
"""

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
import sklearn
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from separatrix import MaxMargin
from separatrix.cancellation import Clock
from separatrix.certificates.certify import certify, upper_bound
from separatrix.certificates.exact import vanishing_weights
from separatrix.certificates.separability import separability
from separatrix.data.device import DeviceRows
from separatrix.data.memory import MemoryRows
from separatrix.passes import triton_kernels
from separatrix.passes.device_patterns import passed
from separatrix.passes.in_memory import extremes
from separatrix.passes.patterns import PassedPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.space import Space

CUDA = "cuda"
CHUNK = 1 << 24  # rows made at a time


def make(n, d, *, gap=0.0, flipped=0.0, condition=1.0, seed=0):
    """Rows, labels 0 and 1 in a byte each."""
    g = torch.Generator(device=CUDA).manual_seed(seed)
    w = torch.randn(d, device=CUDA, generator=g)
    w /= w.norm()
    scale = torch.logspace(0, -np.log10(condition), d, device=CUDA)
    X, y = torch.empty(n, d, device=CUDA), torch.empty(n, dtype=torch.int8, device=CUDA)
    for first in range(0, n, CHUNK):
        x = X[first : first + CHUNK]
        x.normal_(generator=g)
        s = x @ w
        plus = s > 0
        if gap:
            short = (gap - s.abs()).clamp(min=0) * (1 + torch.rand(len(x), device=CUDA, generator=g))
            x += torch.where(plus, short, -short)[:, None] * w
        y[first : first + CHUNK] = plus ^ (torch.rand(len(x), device=CUDA, generator=g) < flipped)
        x *= scale
    return X, y


class Passes:
    """Counts the kernels that read all rows, and how long each takes, while it is entered."""

    def __enter__(self):
        self.times, self.kernels = [], {name: getattr(triton_kernels, name) for name in ("below", "sizes", "slacks")}
        for name, kernel in self.kernels.items():
            setattr(triton_kernels, name, self._timed(name, kernel))
        self.run = DeviceRows.run
        DeviceRows.run = lambda rows, work: self._timed("blocks", self.run)(rows, work)
        return self

    def _timed(self, name, kernel):
        def run(rows, *args):
            torch.cuda.synchronize()
            clock = time.perf_counter()
            out = kernel(rows, *args)
            torch.cuda.synchronize()
            self.times.append((name, time.perf_counter() - clock))
            return out

        return run

    def __exit__(self, *_):
        for name, kernel in self.kernels.items():
            setattr(triton_kernels, name, kernel)
        DeviceRows.run = self.run


def fit(X, y, C, tol):
    """What a fit does: from arrays on the device to a certificate."""
    patterns = passed(DeviceRows.of(X, y), 1, Space(1.0, 0.0 if np.isinf(C) else (2 * C) ** -0.5))
    problem = Problem(patterns, C, tol=tol)
    solvers.solve(problem)
    if np.isinf(C):
        certificate = certify(patterns, problem.a, None)
        upper = upper_bound(patterns, problem.alpha_index, problem.alpha)
        return problem, certificate.lower, upper
    certificate = certify(patterns, problem.a, None, slack_vector=problem.slack_vector)
    return problem, certificate.lower, certificate.upper


def measured(X, y, C, tol, repeats=3):
    """The median time of a fit, its certified gap, its passes and what each of them reads a second."""
    fit(X, y, C, tol)
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        clock = time.perf_counter()
        _, lower, upper = fit(X, y, C, tol)
        times.append(time.perf_counter() - clock)
    with Passes() as passes:
        fit(X, y, C, tol)
    read = X.numel() * X.element_size() + len(y)
    rates = [(name, round(read / t / 1e12, 3)) for name, t in passes.times]
    return {
        "n": len(X), "d": X.shape[1], "C": None if np.isinf(C) else C * len(X), "seconds": float(np.median(times)),
        "all_seconds": times, "lower": lower, "upper": upper, "gap": 1 - (lower / upper) ** 2,
        "passes": len(passes.times), "TB/s": rates,
    }  # fmt: skip


def copy_bandwidth(gigabytes=16):
    """Bytes read and written a second by a copy on the device, in TB/s."""
    a = torch.rand(gigabytes << 28, device=CUDA)
    return 2 * a.numel() * a.element_size() / median_time(torch.empty_like(a).copy_, a) / 1e12


def kernels(n=200_000_000):
    """The fused kernels against passes in the array API, and what they read a second."""
    return {f"d={d}": compared(*make(n * 24 // d, d, flipped=0.05)) for d in (24, 64)}


def compared(X, y):
    d, home = X.shape[1], DeviceRows.of(X, y)
    a = np.append(np.random.default_rng(0).normal(size=d), 0.1)
    fused, plain = (kind(home, 1, Space(1.0, 100.0)) for kind in (passed, PassedPatterns))
    ours, theirs = fused.piece(a), plain.piece(a)
    differences = {
        name: float(np.abs(np.asarray(getattr(ours, name)) / np.asarray(getattr(theirs, name)) - 1).max())
        for name in ("squares", "slack", "pull", "active", "minimum")
    }
    differences["matrix"] = float(np.abs(np.tril(ours.matrix - theirs.matrix)).max() / np.abs(theirs.matrix).max())
    differences["shape"] = float(np.abs(np.array(fused.shape[:5]) / np.array(plain.shape[:5]) - 1).max())
    worst, known = fused.extremes(a, 1000), plain.extremes(a, 1000)
    same = set(worst.numbers) == set(known.numbers) and worst.errors == known.errors
    differences["minimum margin"] = abs(worst.minimum - known.minimum)
    limit, read = float(np.max(worst.margins)), X.numel() * X.element_size() + len(y)
    calls = {
        "below": (triton_kernels.below, home, 1, a, limit, 1 << 16),
        "sizes": (triton_kernels.sizes, home),
        "slacks": (triton_kernels.slacks, home, 1, a),
        "curvature": (triton_kernels.curvature, home, 1, a, 1),
        "array API, extremes": (plain.run, extremes, a, 1000),
    }
    rates = {name: read / median_time(*call) / 1e12 for name, call in calls.items()}
    return {"differences": differences, "same rows": same, "TB/s": rates}


def median_time(call, *args, repeats=5):
    call(*args)
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        clock = time.perf_counter()
        call(*args)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - clock)
    return float(np.median(times))


def hard(n=1_000_000_000, d=24):
    X, y = make(n, d, gap=0.02)
    out = {"fit": measured(X, y, np.inf, 1e-6)}
    row = n - 12_345
    y[row] ^= 1
    torch.cuda.synchronize()
    clock = time.perf_counter()
    answer = separability(DeviceRows.of(X, y))
    seconds = time.perf_counter() - clock
    rows = answer.certificate.alpha_index
    few = DeviceRows.of(X, y).take(rows)
    few = Patterns(few, np.where(few.codes == 1, 1.0, -1.0), Space(1.0))
    out["flipped row"] = {
        "row": row, "separable": answer.separable, "exact": answer.exact, "seconds": seconds,
        "in the proof": bool(np.any(rows == row)), "rows of the proof": len(rows),
        "checked in rationals": vanishing_weights(few.dense_rows(np.arange(len(rows))), Clock()) is not None,
    }  # fmt: skip
    return out


def soft(n=1_000_000_000, d=24):
    X, y = make(n, d, flipped=0.05)
    return {f"C={C:g}": measured(X, y, C / n, 1e-5) for C in (1e2, 1e5)} | {"L-BFGS": lbfgs(X, y, 1e2 / n)}


def wide(n=200_000_000, d=64):
    X, y = make(n, d, gap=0.02, condition=100.0)
    out = {"hard": measured(X, y, np.inf, 1e-6)}
    del X, y
    X, y = make(n, d, flipped=0.05, condition=100.0)
    return out | {f"C={C:g}": measured(X, y, C / n, 1e-5) for C in (1e2, 1e5)}


def many(n=2_300_000_000, d=8):
    """More rows than 32 bits count: the last one is the worst."""
    X, y = make(n, d, gap=0.02)
    y[n - 1] ^= 1
    worst = passed(DeviceRows.of(X, y), 1, Space(1.0)).extremes(np.append(X[n - 1].double().cpu().numpy(), 0.0), 10)
    answer = separability(DeviceRows.of(X, y))
    rows = answer.certificate.alpha_index
    return {"n": n, "separable": answer.separable, "exact": answer.exact, "last row": bool(np.any(rows == n - 1)),
            "largest number": int(max(worst.numbers.max(), rows.max()))}  # fmt: skip


def growth(largest=1_000_000_000, d=24, on_cpu=10_000_000):
    """Time against n, here and in the memory of the host."""
    out = []
    for n in (10**6, 3 * 10**6, 10**7, 3 * 10**7, 10**8, 3 * 10**8, 10**9):
        if n > largest:
            break
        for kind, options, C, tol in (
            ("hard", {"gap": 0.02}, np.inf, 1e-6),
            ("soft", {"flipped": 0.05}, 1e2 / n, 1e-5),
        ):
            X, y = make(n, d, **options)
            row = {"kind": kind} | measured(X, y, C, tol)
            if n <= on_cpu:
                row["cpu"] = in_memory(X.cpu().numpy(), y.cpu().numpy(), C, tol)
            out.append(row)
            del X, y
    return out


def in_memory(X, y, C, tol):
    times = []
    for _ in range(2):
        clock = time.perf_counter()
        space = Space(1.0, 0.0 if np.isinf(C) else (2 * C) ** -0.5)
        patterns = Patterns(MemoryRows(X, n_jobs=16), np.where(y == 1, 1.0, -1.0), space)
        problem = Problem(patterns, C, tol=tol)
        solvers.solve(problem)
        alpha = np.zeros(patterns.n)
        alpha[problem.alpha_index] = problem.alpha
        certificate = certify(patterns, problem.a, alpha)
        times.append(time.perf_counter() - clock)
    return {"seconds": min(times), "gap": 1 - (certificate.lower / certificate.upper) ** 2}


def lbfgs(X, y, C, rounds=(5, 10, 20, 40)):
    """torch's L-BFGS on the same objective, its gradient written out; the gap of its vector by the same certificate."""
    d = X.shape[1]
    sign = 2.0 * y.float() - 1.0
    a = torch.zeros(d + 1, device=CUDA, requires_grad=True)
    optimizer = torch.optim.LBFGS([a], max_iter=1, history_size=20, line_search_fn="strong_wolfe", tolerance_change=0.0)
    evaluations = 0

    def closure():
        nonlocal evaluations
        evaluations += 1
        with torch.no_grad():
            s = torch.mv(X, a[:d])
            s.add_(a[d]).mul_(sign).neg_().add_(1.0).clamp_(min=0.0)
            value = 0.5 * (a @ a) + C * torch.dot(s, s)
            s.mul_(sign)
            a.grad = a.detach().clone()
            a.grad[:d] -= 2 * C * torch.mv(X.T, s)
            a.grad[d] -= 2 * C * s.sum()
        return value

    out, seconds = [], 0.0
    patterns = passed(DeviceRows.of(X, y), 1, Space(1.0, (2 * C) ** -0.5))
    for round_ in range(1, rounds[-1] + 1):
        torch.cuda.synchronize()
        clock = time.perf_counter()
        optimizer.step(closure)
        torch.cuda.synchronize()
        seconds += time.perf_counter() - clock
        if round_ in rounds:
            problem = Problem(patterns, C, tol=1e-12)
            vector = a.detach().double().cpu().numpy()
            problem.enter_piece(vector, problem.piece(vector))
            out.append({"rounds": round_, "evaluations": evaluations, "seconds": seconds, "gap": problem.gap})
    return out


def estimator(n=1_000_000_000, d=24):
    """What a user calls: fit, predict, score and verify with arrays on the device, under scikit-learn's dispatch."""
    out = {}
    for kind, C, tol, options in (
        ("hard", np.inf, 1e-6, {"gap": 0.02}),
        ("soft, C=1e2", 1e2 / n, 1e-5, {"flipped": 0.05}),
    ):
        X, y = make(n, d, **options)
        with sklearn.config_context(array_api_dispatch=True):
            model = MaxMargin(C, tol=tol)
            fit_seconds = median_time(model.fit, X, y, repeats=3)
            row = {
                "fit": fit_seconds, "gap": model.certificate_.gap, "passes": model.n_passes_,
                "predict": median_time(model.predict, X, repeats=2), "coef_": str(model.coef_.device),
                "score": model.score(X, y), "verify": median_time(model.certificate_.verify, X, y, repeats=1),
                "holds": bool(model.certificate_.verify(X, y)),
            }  # fmt: skip
        out[kind] = row
        del X, y, model
        torch.cuda.empty_cache()
    return out


def peers(n=30_000_000, d=24):
    """scikit-learn's own estimators that take arrays on a device, and ours, on the same rows: time, training error."""
    X, y = make(n, d, flipped=0.05)
    models = {
        "MaxMargin": MaxMargin(1e2 / n, tol=1e-5), "RidgeClassifier": RidgeClassifier(solver="svd"),
        "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
        "LogisticRegression": LogisticRegression(max_iter=100),
    }  # fmt: skip
    out = {}
    with sklearn.config_context(array_api_dispatch=True):
        for name, model in models.items():
            try:
                out[name] = {"seconds": median_time(model.fit, X, y, repeats=1), "accuracy": float(model.score(X, y))}
            except Exception as error:
                out[name] = repr(error)[:300]
            torch.cuda.empty_cache()
    return out


TASKS = {"kernels": kernels, "hard": hard, "soft": soft, "wide": wide, "many": many, "growth": growth,
         "estimator": estimator, "peers": peers}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+", choices=[*TASKS, "all"])
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    parser.add_argument("--rows", type=int, help="rows instead of those of each task")
    options = parser.parse_args()
    results = {
        "device": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton_kernels.triton.__version__,
        "numpy": np.__version__, "python": platform.python_version(), "copy TB/s": copy_bandwidth(),
    }  # fmt: skip
    for name in TASKS if "all" in options.tasks else options.tasks:
        clock = time.perf_counter()
        try:
            results[name] = TASKS[name](*([options.rows] if options.rows else []))
        except Exception as error:
            results[name] = repr(error)
        torch.cuda.empty_cache()
        print(
            f"{name}: {time.perf_counter() - clock:.1f} s", json.dumps(results[name], indent=1, default=str), flush=True
        )
        options.out.write_text(json.dumps(results, indent=1, default=str))


if __name__ == "__main__":
    main()
