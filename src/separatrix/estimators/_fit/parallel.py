"""Several problems at once, in threads: the kernels let go of the interpreter."""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from joblib import effective_n_jobs

from separatrix.optimum.thread_limit import one_blas_thread


def threads_for(n_jobs: int | None, count: int) -> int:
    """How many of so many problems are at work at a time."""
    return min(effective_n_jobs(n_jobs), count)


def run_each(task: Callable[[int], None], count: int, n_jobs: int | None, stop: threading.Event) -> None:
    """Call ``task(k)`` for every k < count. What the results are does not depend on the number of threads.

    After an exception ``stop`` is set, which the tasks are to heed, and those that have not begun are left out.
    """
    threads = threads_for(n_jobs, count)
    if threads <= 1:
        for k in range(count):
            task(k)
            if stop.is_set():
                return
        return
    with one_blas_thread, ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(task, k) for k in range(count)]
        try:
            waiting = set(futures)
            while waiting:  # with a limit: a lock without one may not hear Ctrl-C
                done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
