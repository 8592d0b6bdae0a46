"""Follows one fit: runs its problems, in threads if asked to, tells callbacks how far they are, and passes on the word
to stop."""

import contextvars
import copy
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

from joblib import effective_n_jobs

from separatrix.cancellation import out_of_time
from separatrix.solvers.thread_limit import one_blas_thread

# What callbacks receive, None where an algorithm does not have it: rows looked at, passes over the data, corrections,
# bounds on the margin (the lower one as a function, because it may cost a pass), the relative gap between them, the
# criterion of a descent, errors, the share of a cross-validation that is done.
MEASURES = ("visits", "epochs", "updates", "upper", "lower", "gap", "criterion", "errors", "share")

VALUES_OF_ONE_THREAD = 1 << 16  # so many are one piece of work in every pass

Parts = list[dict[str, Any]]  # attributes of problems


class Stop:
    """Why a fit is to end early: "callback", "interrupted", "max_time", or "" while it may go on, for all problems."""

    reason = ""
    interrupt: KeyboardInterrupt | None = None


class Watch:
    """One per call of ``fit``."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None):
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.arguments = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self.watched = bool(getattr(estimator, "_skl_callbacks", None))
        self.context: Any = None  # where nobody would hear of it, scikit-learn's would take as long as a small pass
        if self.watched or hasattr(estimator, "_parent_callback_ctx"):
            self.context = estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(**self.arguments)
        self.clock, self.stop = time.perf_counter(), Stop()
        self.problem: int | None = None
        self.whole: Callable[[Parts], dict[str, Any]] = lambda parts: parts[0]

    def of(self, whole: Callable[[Parts], dict[str, Any]], problem: int | None = None) -> "Watch":
        """For the fit of some problems, or of one; ``whole``: the attributes of the estimator from those of them."""
        part = copy.copy(self)
        part.problem, part.whole = problem, whole
        return part

    @property
    def needed(self) -> bool:
        """Whether anybody may have a word to say during the fit: a callback, or another thread."""
        return self.watched or threading.current_thread() is not threading.main_thread()

    def look(self, problem: int, measures: Callable[[], dict[str, Any]], parts: Callable[[], Parts]) -> str:
        """Between two pieces of a problem: tells callbacks where it stands; returns why it is to end, if it is.

        ``measures``: values for some of `MEASURES`, which callbacks find as ``context.measures``. They are not the
        metadata of scikit-learn's API, which are the sample weights: its own callbacks pass those to scorers.
        ``parts``: the attributes of the problems as they are now.
        """
        if self.stop.reason or not self.watched:
            return self.stop.reason
        piece = self.context.subcontext(task_name="piece")
        piece.call_on_fit_task_begin(**self.arguments)
        piece.measures = {
            "problem": problem if self.problem is None else self.problem,
            "seconds": time.perf_counter() - self.clock,
            **dict.fromkeys(MEASURES),
            **measures(),
        }
        try:
            if piece.call_on_fit_task_end(**self.arguments, reconstruction_attributes=lambda: self.whole(parts())):
                self.stop.reason = "callback"
        finally:
            del piece.measures
        return self.stop.reason

    def run_each(self, task: Callable[[int], None], count: int, n_jobs: int | None) -> None:
        """Call ``task(k)`` for every k < count, or until the fit is stopped or its time is up; with callbacks one after
        the other.

        What the results are does not depend on the number of threads. Ctrl-C stops the fit, which then sets its
        attributes; `end` raises it again.
        """
        try:
            threads = 1 if self.watched else threads_for(n_jobs, count)
            if threads > 1:
                self._run_in_threads(task, count, threads)
                return
            for k in range(count):
                self._begin(task, k)
        except KeyboardInterrupt as interrupt:
            self.interrupt(interrupt)

    def interrupt(self, interrupt: KeyboardInterrupt) -> None:
        """End the fit early; `end` raises the interrupt again."""
        self.stop.reason, self.stop.interrupt = "interrupted", interrupt

    def _begin(self, task: Callable[[int], None], k: int) -> None:
        if out_of_time():
            self.stop.reason = self.stop.reason or "max_time"
        if not self.stop.reason:
            task(k)

    def _run_in_threads(self, task: Callable[[int], None], count: int, threads: int) -> None:
        """The compiled loops let go of the interpreter."""
        with one_blas_thread, ThreadPoolExecutor(threads) as pool:
            waiting = {pool.submit(contextvars.copy_context().run, self._begin, task, k) for k in range(count)}
            try:
                while waiting:  # with a limit: a lock without one may not hear Ctrl-C
                    done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                    for future in done:
                        future.result()
            except BaseException:
                self.stop.reason = "interrupted"  # the tasks check it, those that have not begun are left out
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def end(self) -> None:
        if self.stop.interrupt is not None:
            raise self.stop.interrupt
        if self.context is not None:  # the estimator itself is fitted
            self.context.call_on_fit_task_end(**self.arguments, reconstruction_attributes={})


def threads_of_passes(n_jobs: int | None, values: int) -> int:
    """How many share a pass over so many values. Where they would not, joblib is not asked what its default is."""
    return 1 if n_jobs is None and values <= VALUES_OF_ONE_THREAD else effective_n_jobs(n_jobs)


def threads_for(n_jobs: int | None, count: int) -> int:
    """How many of so many problems are at work at a time."""
    return 1 if count == 1 else min(effective_n_jobs(n_jobs), count)
