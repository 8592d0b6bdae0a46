"""Callbacks for ``estimator.set_callbacks(...)``; scikit-learn's own, such as its ProgressBar, work as well."""

from typing import Any

from separatrix.estimators._fit.watch import MarginTrace

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
