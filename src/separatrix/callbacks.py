"""Callbacks for ``estimator.set_callbacks(...)``; scikit-learn's own, such as its ProgressBar, work as well."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Callback", "MarginTrace"]


class Callback:
    """Base of callbacks of one's own: it does nothing, and a subclass says what it does.

    During a fit ``context.measures`` tells how far it is: ``updates``, ``epochs``, ``upper``, ``gap`` and more.
    `on_fit_task_end` may return True to stop the fit, which keeps what it has.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.callbacks import Callback
    >>> class Enough(Callback):
    ...     def on_fit_task_end(self, estimator, context):
    ...         return True
    >>> model = Perceptron().set_callbacks(Enough()).fit([[0.0], [2.0], [1.0]] * 100, [0, 0, 1] * 100)
    >>> model.stop_reason_
    'callback'
    """

    def setup(self, estimator: Any, context: Any) -> None:
        """Called before a fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Called before every piece of a fit."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool | None:
        """Called after every piece of a fit."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Called after a fit."""


@dataclass
class MarginTrace(Callback):
    """Records updates, lower and upper bound of the margin while an estimator is fitted.

    The upper bound is free. The lower bound costs a pass over the data, so it is evaluated when the number of visits
    has grown by ``factor`` since the last time. Several classes: the traces of the binary problems follow each other,
    distinguished by ``problem``.

    Parameters
    ----------
    factor : float, default=2.0
        Spacing of the evaluations of the lower bound.

    Attributes
    ----------
    rows : list of dict
        ``problem``, ``visits``, ``epochs``, ``updates``, ``upper``, ``lower`` (None between evaluations), ``seconds``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import DynamicMargin
    >>> from separatrix.callbacks import MarginTrace
    >>> X, y = load_iris(return_X_y=True)
    >>> trace = MarginTrace()
    >>> model = DynamicMargin(epsilon=0.1).set_callbacks(trace).fit(X, y == 0)
    >>> trace.rows[-1]["updates"] == model.n_updates_
    True
    """

    factor: float = 2.0

    def __post_init__(self) -> None:
        if not self.factor > 1:
            raise ValueError(f"factor = {self.factor!r}: the spacing has to be larger than 1.")
        self.setup(None, None)

    def setup(self, estimator: Any, context: Any) -> None:
        self.rows: list[dict[str, Any]] = []
        self._next, self._problem = 0.0, None

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        measures = getattr(context, "measures", {})
        if measures.get("visits") is None:
            return
        row = {k: measures[k] for k in ("problem", "visits", "epochs", "updates", "upper", "seconds")}
        if row["problem"] != self._problem:
            self._problem, self._next = row["problem"], 0.0
        row["lower"] = None
        if row["visits"] >= self._next:
            row["lower"] = measures["lower"]()
            self._next = self.factor * row["visits"]
        self.rows.append(row)
