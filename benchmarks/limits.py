"""How late an answer comes: max_time=0.5, and Ctrl-C after half a second, on problems that need a minute.

Every public estimator, and every public function that takes a limit in time, in a process of its own, after the
same call has compiled what it needs. Late is what passes between the limit and the answer: the time on the
clock, and the processor time of that process and all its threads. On a busy machine only the latter means something; a
thread that is left behind, because nobody can stop it from outside, counts there as long as it runs.
"""

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import separatrix
from separatrix import (
    HoKashyap,
    KernelMaxMargin,
    KernelPerceptron,
    LeastSquares,
    LinearProgram,
    MaxMargin,
    MaxMarginCV,
    NearestPoint,
    Perceptron,
    PiecewiseLinearMachine,
    RecursiveLeastSquares,
    VotedPerceptron,
    dropin,
    fewest_errors,
    fewest_features,
    max_margin_path,
    negative_margin,
    separability,
)

LIMIT = 0.5  # seconds; no answer should be later than that by as much again
PATIENCE = 60.0  # seconds after which a call is given up
INF = float("inf")
WARM_UP = 2.0  # seconds for the call before it


class Case(NamedTuple):
    """``call(X, y, **limits)`` on noise, ``size`` = (rows, columns, classes). ``timed``: does it take max_time?"""

    name: str
    call: Callable[..., Any]
    size: tuple[int, int, int]
    timed: bool = True
    dtype: Any = np.float64
    density: float = 1.0


class Late(NamedTuple):
    """Seconds after the limit, on the clock and of the processor; the largest memory, in tables; what was returned."""

    clock: float
    processor: float
    memory: float
    what: str


def noise(case: Case) -> tuple[Any, np.ndarray]:
    """Labels that no hyperplane explains."""
    n, d, classes = case.size
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    if case.density < 1.0:
        return sp.random(n, d, case.density, "csr", random_state=rng, data_rvs=rng.standard_normal), y
    return rng.standard_normal((n, d), dtype=case.dtype), y


def fit(cls: Any, *args: Any, **params: Any) -> Callable[..., Any]:
    return lambda X, y, **limits: cls(*args, **params, **limits).fit(X, y)


def path(X: Any, y: Any, **limits: Any) -> Any:
    return max_margin_path(X, y, [1.0, 10.0, 100.0, 1e3, 1e4], tol=1e-12, **limits)


def endless() -> list[Case]:
    """Online rules and descents, which have no limit in time, with epochs without end."""
    cases = []
    for name in separatrix.__all__:
        cls = getattr(separatrix, name)
        own = (HoKashyap, KernelPerceptron, NearestPoint, PiecewiseLinearMachine, VotedPerceptron)
        if not (isinstance(cls, type) and hasattr(cls, "fit")) or cls in own:
            continue
        known = cls().get_params()
        if "max_iter" in known:
            never = {
                "until": "separated",
                "max_iter": 10**9,
                **dict.fromkeys(("tol", "margin_tol", "step_tol", "bound_tol"), 0.0),
            }
            params = {k: v for k, v in never.items() if k in known and known[k] is not None}
            cases.append(Case(name, fit(cls, **params), (100_000, 60, 2), False))
    return cases


def cases() -> list[Case]:
    wide, tall, many, few = (20_000, 800, 2), (100_000, 60, 2), (100_000, 60, 15), (20_000, 30, 8)
    exact = {"tol": 1e-12}
    pairs, together = {"multi_class": "ovo", **exact}, {"multi_class": "joint", **exact}
    kernels = [
        Case(
            f"KernelMaxMargin({kernel}, {loss}, {mode})",
            fit(KernelMaxMargin, 1e4, kernel=kernel, loss=loss, multi_class=mode, **exact),
            (20_000, 30, classes),
        )
        for kernel in ("rbf", "poly", "linear")
        for loss in ("hinge", "squared_hinge")
        for mode, classes in (("ovr", 2), ("ovo", 8))
    ]
    forever = {"max_iter": 10**9}
    return [
        Case("MaxMargin", fit(MaxMargin, 100.0, **exact), (200_000, 200, 2), dtype=np.float32),
        Case("MaxMargin, free", fit(MaxMargin, 100.0, fit_intercept="unpenalized", **exact), (20_000, 1500, 2)),
        Case("MaxMargin, hard", fit(MaxMargin, INF, **exact), wide),
        Case("MaxMargin, hinge", fit(MaxMargin, 100.0, loss="hinge", **exact), (60_000, 300, 2)),
        Case("MaxMargin, hinge, free", fit(MaxMargin, 1e4, loss="hinge", fit_intercept="unpenalized", **exact), tall),
        Case("MaxMargin, dual", fit(MaxMargin, 1e4, solver="dual", **exact), wide),
        Case("MaxMargin, sample", fit(MaxMargin, 1e4, **exact), (300_000, 100, 2)),
        Case("MaxMargin, sparse", fit(MaxMargin, 100.0, **exact), (100_000, 50_000, 2), density=1e-3),
        Case("MaxMargin, hard, sparse", fit(MaxMargin, INF, **exact), (20_000, 50_000, 2), density=1e-3),
        Case("MaxMargin, ovr", fit(MaxMargin, 100.0, **exact), many),
        Case("MaxMargin, ovr, n_jobs=2", fit(MaxMargin, 100.0, n_jobs=2, **exact), many),
        Case("MaxMargin, ovr, 100 classes", fit(MaxMargin, 100.0, **exact), (100_000, 60, 100)),
        Case("MaxMargin, ovo", fit(MaxMargin, 100.0, **pairs), many),
        Case("MaxMargin, ovo, n_jobs=2", fit(MaxMargin, 100.0, n_jobs=2, **pairs), many),
        Case("MaxMargin, ovo, hinge", fit(MaxMargin, 100.0, loss="hinge", **pairs), many),
        Case("MaxMargin, ovo, 100 classes", fit(MaxMargin, 100.0, **pairs), (100_000, 60, 100)),
        Case("MaxMargin, joint", fit(MaxMargin, 100.0, **together), (50_000, 60, 15)),
        Case("MaxMargin, joint, hinge", fit(MaxMargin, 100.0, loss="hinge", **together), (50_000, 60, 15)),
        Case("MaxMargin, joint, hard", fit(MaxMargin, INF, **together), (20_000, 60, 15)),
        Case("max_margin_path", path, (100_000, 60, 8)),
        Case("MaxMarginCV", fit(MaxMarginCV, **exact), many),
        Case("MaxMarginCV, n_jobs=2", fit(MaxMarginCV, n_jobs=2, **exact), (200_000, 200, 2), dtype=np.float32),
        *kernels,
        Case("KernelMaxMargin, hard, linear", fit(KernelMaxMargin, INF, kernel="linear", **exact), (5_000, 30, 2)),
        Case("KernelMaxMargin, hard, rbf", fit(KernelMaxMargin, INF, **exact), (20_000, 30, 2)),
        Case("KernelMaxMargin, n_jobs=2", fit(KernelMaxMargin, 1e4, loss="hinge", n_jobs=2, **exact), few),
        Case("LinearProgram", fit(LinearProgram), (60_000, 60, 2)),
        Case("LinearProgram, minimax", fit(LinearProgram, "minimax"), (60_000, 60, 2)),
        Case("LinearProgram, l1", fit(LinearProgram, "l1"), (60_000, 60, 2)),
        Case("LinearProgram, ovo", fit(LinearProgram, multi_class="ovo"), (60_000, 60, 8)),
        Case("LinearProgram, n_jobs=2", fit(LinearProgram, n_jobs=2), (60_000, 60, 8)),
        Case("separability, wide", separability, wide),
        Case("separability, tall", separability, (400_000, 100, 2)),
        Case("separability, few rows per column", separability, (1500, 1000, 2)),
        Case("separability, many classes", separability, (50_000, 60, 15)),
        Case("separability, sparse", separability, (20_000, 3_000, 2), density=1e-2),
        Case("fewest_errors", fewest_errors, tall),
        Case("fewest_errors, few rows", fewest_errors, (300, 10, 2)),
        Case("fewest_features", fewest_features, (300, 1_000, 2)),  # fewer rows than columns: separable
        Case("fewest_features, large", fewest_features, (1_500, 2_000, 2)),
        Case("negative_margin", negative_margin, (3_000, 40, 2)),
        Case("negative_margin, large", negative_margin, (40_000, 100, 2)),
        *endless(),
        Case("Perceptron, joint", fit(Perceptron, multi_class="joint", **forever), (50_000, 60, 15), False),
        Case("Perceptron, ovo", fit(Perceptron, multi_class="ovo", **forever), many, False),
        Case("Perceptron, n_jobs=2", fit(Perceptron, n_jobs=2, **forever), many, False),
        Case("VotedPerceptron", fit(VotedPerceptron, max_voters=10**6, **forever), tall, False),
        Case("KernelPerceptron", fit(KernelPerceptron, **forever), (20_000, 30, 2), False),
        Case("NearestPoint", fit(NearestPoint, tol=0.0, **forever), tall, False),
        Case("PiecewiseLinearMachine", fit(PiecewiseLinearMachine, **forever), tall, False),
        Case("HoKashyap", fit(HoKashyap, **forever), (20_000, 1_000, 2), False),
        Case("LeastSquares", fit(LeastSquares), (40_000, 3_000, 2), False, np.float32),
        Case("RecursiveLeastSquares", fit(RecursiveLeastSquares), (40_000, 800, 2), False),
        Case(
            "dropin.LinearSVC",
            fit(dropin.LinearSVC, C=1e4, loss="hinge", max_iter=10**9, **exact),
            (60_000, 300, 2),
            False,
        ),
        Case("dropin.SVC", fit(dropin.SVC, C=1e4, **exact), (20_000, 30, 2), False),
        Case("dropin.SVC, linear", fit(dropin.SVC, C=1e4, kernel="linear", **exact), many, False),
        Case("dropin.Perceptron", fit(dropin.Perceptron, max_iter=10**9, tol=None), tall, False),
    ]


def _answer(case: Case, how: str, pipe: Any) -> None:
    """In the child: warm up, say that it begins, call, say that it has ended."""
    import resource

    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = noise(case)
    _warm_up(case, X, y)
    size = (X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes) / 1024.0
    Path("/proc/self/clear_refs").write_text("5")  # the peak of the warm-up does not count
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pipe.send(0.0)
    try:
        found = case.call(X, y, **({"max_time": LIMIT} if how == "max_time" else {}))
        what = f"converged_={found.converged_}" if hasattr(found, "converged_") else type(found).__name__
        what += f" {getattr(found, 'stop_reason_', '')}"
    except KeyboardInterrupt:
        what = "KeyboardInterrupt"
    except Exception as error:
        what = f"{type(error).__name__}: {error}"[:90]
    ended = time.perf_counter(), time.process_time()
    pipe.send((*ended, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / size, what))
    os._exit(0)


def _warm_up(case: Case, X: Any, y: Any) -> None:
    """The same call once before, so that all that it needs is compiled."""
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, 2.0 * WARM_UP)
    with suppress(KeyboardInterrupt, separatrix.SeparatrixError):
        case.call(X, y, **({"max_time": WARM_UP} if case.timed else {}))
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    for thread in threading.enumerate():  # HiGHS and LAPACK run on after their answer was dropped
        if thread is not threading.current_thread():
            thread.join()


def _processor(pid: int) -> float:
    """Processor time of another process: Linux's number of its clock."""
    return time.clock_gettime((~pid << 3) | 2)


def late(case: Case, how: str) -> Late | None:
    """How late the answer to max_time or Ctrl-C is; None where the call ended before."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    child = fork.Process(target=_answer, args=(case, how, send))
    child.start()
    send.close()
    try:
        if not receive.poll(10 * PATIENCE):
            return Late(INF, INF, INF, "no warm-up")
        receive.recv()
        begin = time.perf_counter()
        if receive.poll(LIMIT):
            return None
        limit, spent = time.perf_counter(), _processor(child.pid)
        if how == "Ctrl-C":
            os.kill(child.pid, signal.SIGINT)
        if not receive.poll(PATIENCE):
            return Late(PATIENCE, _processor(child.pid) - spent, INF, "no answer")
        clock, processor, memory, what = receive.recv()
        return Late(clock - max(limit, begin + LIMIT), processor - spent, memory, what)
    except EOFError:
        return Late(INF, INF, INF, "died")
    finally:
        child.kill()
        child.join()


def measure(options: Any) -> None:
    """Print the table, line by line."""
    print("| problem | limit | late (clock) | late (processor) | memory / table | answer |\n|---|---|---|---|---|---|")
    for case in cases():
        if options.only and options.only not in case.name:
            continue
        case = case._replace(size=(2_000, *case.size[1:])) if options.smoke else case
        n, d, classes = case.size
        name = f"{case.name}: {n:,} x {d:,}" + (f", {classes} classes" if classes > 2 else "")
        for how in ("max_time", "Ctrl-C") if case.timed else ("Ctrl-C",):
            found = late(case, how)
            parts = "earlier | | |"
            if found is not None:
                times = f"{found.clock:.2f} s | {found.processor:.2f} s"
                parts = f"{times} | {found.memory:.1f} | {found.what}"
            print(f"| {name} | {how} | {parts} |", flush=True)
