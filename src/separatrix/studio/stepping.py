"""A fit at a step: after so many updates of an online rule, so many epochs of a batch one, or solved.

A step is a fit of its own that is allowed so many updates. Orders of visits are drawn from a seed, so step t + 1 goes
through step t to the last bit, one can go back, and the code that gives the same fit is the fit itself.
"""

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from separatrix.app.workflows.progress import limited_and_shown
from separatrix.certificates.theorems import Setting
from separatrix.certificates.theory import ONE_PASS, Theory, theory_of
from separatrix.estimators.max_margin import MaxMargin
from separatrix.online.loops.order import order_of, permutation
from separatrix.online.loops.state import UPDATES, VISITS
from separatrix.plots.static.boundary import leads
from separatrix.studio.board import Board, Separator

GRID = 70  # points of the grid along each axis
MOST_SECONDS = 5.0  # seconds that a step may take
WHOLE = 20_000  # updates after which a theorem's promise is looked up at the latest


@dataclass(frozen=True, eq=False)
class Frame:
    """What the page shows of a separator at a step."""

    separator: Separator
    step: int
    unit: str  # "updates", "epochs" or "solved"
    model: Any = None  # None before the first step
    updates: int = 0
    epochs: int = 0
    done: bool = False
    lower: float | None = None
    upper: float = np.inf
    corrected: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    wrong: int = 0
    seconds: float = 0.0
    error: str = ""
    end: str = ""  # why the fit has no step left: "converged", "solved", "not separable", or the limit it met


def unit_of(estimator: Any) -> str:
    """What a step is."""
    parameters = estimator.get_params()
    return "updates" if "max_updates" in parameters else "epochs" if "max_iter" in parameters else "solved"


def prepared_estimator(separator: Separator, step: int, degree: int) -> Any:
    """The estimator of a step, behind the functions phi where there are some."""
    estimator = separator.estimator()
    unit = unit_of(estimator)
    if unit != "solved":
        name = "max_updates" if unit == "updates" else "max_iter"
        own = getattr(estimator, name)
        estimator.set_params(**{name: step if own is None else min(step, own)})
    if degree == 1:
        return estimator
    return make_pipeline(PolynomialFeatures(degree, include_bias=False), estimator)


def frame_at(board: Board, separator: Separator, step: int) -> Frame:
    """Fit, and gather what the page shows; what is wrong with the parameters or the points is reported, never
    raised."""
    unit = unit_of(separator.estimator())
    if step == 0 or len(board.classes) < 2:
        return Frame(separator, step, unit, error="" if len(board.classes) > 1 else "Draw points of two classes.")
    clock = time.perf_counter()
    try:
        model, seen = _fitted(board, prepared_estimator(separator, step, board.degree))
    except (ValueError, ArithmeticError, MemoryError) as error:
        return Frame(separator, step, unit, error=str(error).splitlines()[0])
    last = last_of(model)
    certificate = getattr(last, "certificate_", None)
    updates, epochs = getattr(last, "n_updates_", 0), getattr(last, "n_epochs_", 0)
    reached = updates if unit == "updates" else epochs
    end = _end(last, unit, _smallest(last, unit) < step)
    return Frame(
        separator,
        step,
        unit,
        model,
        int(updates),
        int(epochs),
        done=bool(end),
        end=end,
        lower=None if certificate is None else certificate.lower,
        upper=np.inf if certificate is None else certificate.upper,
        corrected=_corrected(last, seen, step) if unit == "updates" and reached else np.zeros(0, np.int64),
        wrong=int(np.sum(model.predict(board.points) != board.labels)),
        seconds=time.perf_counter() - clock,
    )


def _end(model: Any, unit: str, spent: bool) -> str:
    """Why a fit has no step left, "" if it has. ``spent``: it used fewer updates or epochs than this step allows."""
    if getattr(model, "outcome_", "") == "not separable":
        return "not separable"
    if getattr(model, "converged_", False):
        return "converged"
    if unit == "solved":
        return "solved"
    epochs = int(getattr(model, "n_epochs_", 0))
    return f"stopped at {epochs:,} epochs" if spent else ""


def _fitted(board: Board, estimator: Any) -> tuple[Any, int]:
    """The fitted model, and the number of its rows; with a limit in time where a fit can be stopped."""
    last = last_of(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with limited_and_shown(last, MOST_SECONDS):
            return estimator.fit(board.points, board.labels), len(board.points)


def last_of(model: Any) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _smallest(model: Any, unit: str) -> int:
    """Updates or epochs of the problem that made the most: less than was allowed means that all have ended."""
    if unit == "updates" and hasattr(model, "_records_"):
        return max(int(record.state.counts[UPDATES]) for record in model._records_)
    return int(getattr(model, "n_updates_" if unit == "updates" else "n_epochs_", 0))


def _corrected(model: Any, rows: int, step: int) -> np.ndarray:
    """The rows whose corrections were the last, one for each problem that made all updates it was allowed.

    The visit that brought the last update is the last visit; the order of its epoch is drawn from (seed, epoch).
    """
    found = []
    for record in getattr(model, "_records_", []):
        visits = int(record.state.counts[VISITS])
        if visits and int(record.state.counts[UPDATES]) == step:
            epoch, place = divmod(visits - 1, rows)
            order = order_of(rows, model._seed_ if model.shuffle else None)
            if model.shuffle:
                permutation()(order, epoch)
            found.append(order.sequence[place])
    return np.unique(np.array(found, dtype=np.int64))


def next_epoch(board: Board, separator: Separator, step: int) -> int:
    """The step at which the running epoch has ended."""
    frame = frame_at(board, separator, max(step, 1)) if step else None
    if unit_of(separator.estimator()) != "updates":
        return step + 1
    epochs = 0 if frame is None else frame.epochs
    estimator = separator.estimator().set_params(max_iter=epochs + 1)
    whole = (
        make_pipeline(PolynomialFeatures(board.degree, include_bias=False), estimator)
        if board.degree > 1
        else estimator
    )
    try:
        model, _ = _fitted(board, whole)
    except (ValueError, ArithmeticError, MemoryError):
        return step + 1
    return max(_smallest(last_of(model), "updates"), step + 1)


def promise(board: Board, separator: Separator) -> Theory | None:
    """What a theorem says of the whole fit, where one does: with the best margin there is, not the one it reached."""
    estimator = prepared_estimator(separator, WHOLE, board.degree)
    if len(board.classes) < 2 or unit_of(separator.estimator()) != "updates":
        return None
    try:
        model, _ = _fitted(board, estimator)
    except (ValueError, ArithmeticError, MemoryError):
        return None
    last = last_of(model)
    theories = [c.theory for c in getattr(last, "certificates_", []) if c.theory is not None]
    theories = [theory for theory in theories if theory.theorem != ONE_PASS]  # the fit goes on after its first epoch
    if len(theories) == 1 and not getattr(last, "delta", 0.0):
        return _with_the_best_margin(last, model, board) or theories[0]
    return max(theories, key=lambda theory: theory.bound) if theories else None


def _with_the_best_margin(last: Any, model: Any, board: Board) -> Theory | None:
    inner = model[:-1].transform(board.points) if hasattr(model, "steps") else board.points
    record = last._records_[0]
    with suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = MaxMargin(
            np.inf, fit_intercept=last.fit_intercept, intercept_scaling=last.intercept_scaling, max_time=MOST_SECONDS
        ).fit(inner, board.labels)
        known = best.certificate_
        setting = Setting(known.radius, record.peak, record.d + (record.space.rho > 0))
        rule = last._recipe(record).rule
        return theory_of(rule, setting, known.lower, known.upper, known.direction, int(last.n_updates_))
    return None


@dataclass(frozen=True, eq=False)
class Picture:
    """Where a model says what: a grid, the winning class, the lines on which two classes tie, and doubtful places."""

    xs: np.ndarray
    ys: np.ndarray
    winner: np.ndarray
    lines: list[np.ndarray]
    edges: list[np.ndarray]
    doubtful: np.ndarray | None


def picture_of(
    frame: Frame, board: Board, view: tuple[float, float, float, float], steps: int = GRID
) -> Picture | None:
    """The regions of a frame in a part of the plane (left, right, bottom, top); None before the first step."""
    from separatrix.plots.interactive.regions import contours

    if frame.model is None:
        return None
    xs, ys = np.linspace(*view[:2], steps), np.linspace(*view[2:], steps)
    mesh = np.column_stack([part.ravel() for part in np.meshgrid(xs, ys)])
    values = np.asarray(frame.model.decision_function(mesh))
    values = values.reshape(steps, steps, *values.shape[1:])
    last = last_of(frame.model)
    places = np.array([int(np.flatnonzero(board.labels == c)[0]) for c in last.classes_])
    codes = board.codes[places].astype(np.uint8)
    if values.ndim == 2:
        level = 1.0 if hasattr(last, "support_") else 0.0
        edges = contours(xs, ys, values, level) + contours(xs, ys, values, -level) if level else []
        return Picture(xs, ys, codes[(values > 0).astype(int)], contours(xs, ys, values, 0.0), edges, None)
    lines = [line for lead in leads(values) for line in contours(xs, ys, lead, 0.0)]
    doubtful = None
    if hasattr(last, "is_ambiguous"):
        inner = frame.model[:-1].transform(mesh) if hasattr(frame.model, "steps") else mesh
        doubtful = last.is_ambiguous(inner).reshape(steps, steps)
    return Picture(xs, ys, codes[values.argmax(axis=2)], lines, [], doubtful)
