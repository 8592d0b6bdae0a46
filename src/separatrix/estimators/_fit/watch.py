"""Progress and traces through scikit-learn's callback API. Nothing else imports ``sklearn.callback``."""

from dataclasses import dataclass
from typing import Any

from sklearn.callback import CallbackSupportMixin, with_callbacks

__all__ = ["CallbackSupportMixin", "MarginTrace", "Progress", "with_callbacks"]


class Progress:
    """The subtasks of one fit: one per return to Python. Without callbacks it does nothing."""

    def __init__(self, estimator: Any, X: Any, y: Any):
        self.estimator, self.X, self.y = estimator, X, y
        self.context = estimator._init_callback_context(max_subtasks=None)
        self.context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    @property
    def watched(self) -> bool:
        return bool(getattr(self.estimator, "_skl_callbacks", None))

    def report(self, measures: dict[str, Any], attributes: Any) -> bool:
        """Tell the callbacks where the fit stands; True if one of them wants it to stop.

        ``measures``: numbers about the fit, which callbacks find as ``context.measures``. They are not the metadata of
        the API: scikit-learn's own callbacks pass those to scorers. ``attributes``: a function that returns the fitted
        attributes as they would be now.
        """
        piece = self.context.subcontext(task_name="piece")
        piece.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)
        piece.measures = measures
        try:
            return piece.call_on_fit_task_end(
                estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes=attributes
            )
        finally:
            del piece.measures

    def end(self) -> None:
        self.context.call_on_fit_task_end(estimator=self.estimator, X=self.X, y=self.y)


@dataclass
class MarginTrace:
    """Records updates, lower and upper bound of the margin while an estimator is fitted.

    The upper bound is free. The lower bound costs a pass over the data, so it is evaluated when the number of visits
    has grown by ``factor`` since the last time. Several classes: the traces of the binary problems follow each other,
    told apart by ``problem``.

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
        self.rows: list[dict[str, Any]] = []
        self._next = 0.0
        self._problem: Any = None

    def setup(self, estimator: Any, context: Any) -> None:
        self.rows, self._next, self._problem = [], 0.0, None

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        measures = getattr(context, "measures", None)
        if not measures or "visits" not in measures:
            return
        row = {k: measures.get(k) for k in ("problem", "visits", "epochs", "updates", "upper", "seconds")}
        if row["problem"] != self._problem:
            self._problem, self._next = row["problem"], 0.0
        row["lower"] = None
        if row["visits"] >= self._next:
            row["lower"] = measures["lower"]()
            self._next = self.factor * row["visits"]
        self.rows.append(row)

    def teardown(self, estimator: Any, context: Any) -> None:
        pass
