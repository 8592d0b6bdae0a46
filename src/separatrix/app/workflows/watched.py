"""One fit under watch: how far it is, and a limit in time."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from separatrix.app.workflows.asked import Tell
from separatrix.callbacks import Callback
from separatrix.estimators.max_margin_cv import MaxMarginCV
from separatrix.fit.batch import IterativeClassifier
from separatrix.fit.online import OnlineClassifier


class Watch(Callback):
    """Callback that tells the gap, as a share of the digits that are asked for, or the updates."""

    def __init__(self, tell: Tell, stage: str, tol: float = 1e-6):
        self.tell, self.stage, self.tol = tell, stage, tol

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        measures = getattr(context, "measures", None) or {}
        gap, share = measures.get("gap"), measures.get("share")
        if share is not None:
            self.tell(self.stage, share, "")
        elif isinstance(estimator, MaxMarginCV):
            self.tell(self.stage, 1.0, "")  # its folds are solved
        elif gap is not None and 0 < gap < math.inf:
            digits = math.log(min(gap, 1.0)) / math.log(min(self.tol, 0.5)) if self.tol > 0 else None
            self.tell(self.stage, None if digits is None else min(max(digits, 0.0), 1.0), f"gap {gap:.1e}")
        elif measures.get("updates") is not None:
            epochs, most = measures.get("epochs") or 0, getattr(estimator, "max_iter", None)
            self.tell(self.stage, epochs / most if most else None, f"{measures['updates']:,} updates")


class Deadline(Callback):
    """Callback that ends a fit after so many seconds; it keeps what it has."""

    def __init__(self, seconds: float):
        self.seconds, self.start = seconds, time.perf_counter()

    def setup(self, estimator: Any, context: Any) -> None:
        self.start = time.perf_counter()

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        return time.perf_counter() - self.start > self.seconds


@contextmanager
def watched(estimator: Any, max_time: float | None = None, watch: Watch | None = None) -> Iterator[None]:
    """While it is fitted here, an estimator has a limit in time and tells how far it is; no trace of it is left."""
    callbacks: list[Callback] = [watch] if watch is not None else []
    if max_time is not None:
        if "max_time" in estimator.get_params():
            estimator.set_params(max_time=max_time)
        else:
            callbacks.append(Deadline(max_time))
    if callbacks and hasattr(estimator, "set_callbacks"):
        estimator.set_callbacks(*callbacks)
    try:
        yield
    finally:
        vars(estimator).pop("_skl_callbacks", None)


def can_be_limited(estimator: Any) -> bool:
    """Whether a fit returns to Python in between, or has a limit of its own; what is solved at once does neither."""
    return "max_time" in estimator.get_params() or isinstance(estimator, (OnlineClassifier, IterativeClassifier))
