"""One thread, a child process with a time limit, and the peak memory of a call."""

import ctypes
import gc
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")


def one_thread() -> None:
    """To be called before numpy is imported."""
    for variable in THREADS:
        os.environ[variable] = "1"
    os.environ.setdefault("SEPARATRIX_COMPILE", "always")  # the first of several runs is as fast as the others


def _child(run: Callable[[], Any], pipe: Any, clock: Callable[[], float]) -> None:
    start = clock()
    try:
        result = run()
    except Exception as error:
        result = error
    pipe.send((clock() - start, result))
    pipe.close()


def limited(
    run: Callable[[], Any], seconds: float, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    """Time and result of ``run()`` in a forked child; (inf, None) if it takes longer. Its errors are raised here."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(run, send, clock))
    child.start()
    send.close()
    try:
        spent, result = receive.recv() if receive.poll(seconds) else (float("inf"), None)
    finally:
        child.kill()
        child.join()
    if isinstance(result, Exception):
        raise result
    return spent, result


def peak_memory(run: Callable[[], Any]) -> int:
    """Bytes by which the memory of this process grows at most while ``run()`` works, as Linux counts them."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed before counts as free
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins again
    before = _resident("VmRSS")
    run()
    return max(_resident("VmHWM") - before, 0)


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
