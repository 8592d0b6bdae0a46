"""The way of the weight vector through its space."""

from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.callbacks import Callback
from separatrix.errors import DataError
from separatrix.plots.static.style import COLOURS, INK, as_text, axes_for, styled


class WeightTrace(Callback):
    """Callback that records the weight vector at every return to Python: densely at first, then ever more thinly."""

    def __init__(self) -> None:
        self.vectors: list[np.ndarray] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.vectors = []

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> None:
        coef = getattr(fitted_estimator, "coef_", None)
        if coef is not None:
            self.vectors.append(np.array(coef))


class PathDisplay:
    """The path of the weight vector during a fit.

    Two features: w as it is. More: its part along the last vector, and along the first principal direction of what is
    left of the path. The vectors are divided by the length of the last one.

    Parameters
    ----------
    path : ndarray of shape (steps, 2)
    labels : tuple of str
    name : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import Perceptron
    >>> from separatrix.plots import PathDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = PathDisplay.from_estimator(Perceptron(), X, y == 0)
    """

    def __init__(self, *, path: np.ndarray, labels: tuple[str, str], name: str = ""):
        self.path, self.labels, self.name = path, labels, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, problem: int = 0, feature_names: Any = None
    ) -> Any:
        """Fit a clone of the estimator, record its weight vectors and draw them."""
        return cls.computed(estimator, X, y, problem=problem, feature_names=feature_names).plot(ax=ax)

    @classmethod
    def computed(cls, estimator: Any, X: Any, y: Any, *, problem: int = 0, feature_names: Any = None) -> Any:
        """The same without drawing it."""
        trace = WeightTrace()
        fitted = clone(estimator).set_callbacks(trace).fit(X, y)
        if not hasattr(fitted, "coef_"):
            raise DataError(f"{type(estimator).__name__} has no weight vector, so there is no path of it.")
        vectors = np.array([v[problem] for v in trace.vectors] + [fitted.coef_[problem]])
        vectors = np.vstack([np.zeros(vectors.shape[1]), vectors]) / (np.linalg.norm(vectors[-1]) or 1.0)
        if vectors.shape[1] == 2:
            names = feature_names if feature_names is not None else ("the first feature", "the second feature")
            path, labels = vectors, (f"weight of {names[0]}", f"weight of {names[1]}")
        else:
            last = vectors[-1] / (np.linalg.norm(vectors[-1]) or 1.0)
            along = vectors @ last
            rest = vectors - np.outer(along, last)
            first = np.linalg.svd(rest, full_matrices=False)[2][0]
            path = np.column_stack([along, rest @ first])
            labels = ("along the last weight vector", "main direction across it")
        return cls(path=path, labels=labels, name=type(estimator).__name__)

    def plot(self, ax: Any = None) -> Any:
        with styled():
            ax = axes_for(ax)
            from matplotlib.collections import LineCollection

            segments: Any = np.stack([self.path[:-1], self.path[1:]], axis=1)
            lines = LineCollection(segments, cmap="cividis", array=np.linspace(0, 1, len(segments)), lw=1.6)
            ax.add_collection(lines)
            ax.plot(*self.path.T, ".", color=INK, ms=3)
            ax.plot(*self.path[0], "o", color="white", mec=INK, ms=9, label="start")
            ax.plot(*self.path[-1], "*", color=COLOURS[5], mec=INK, ms=15, label="end")
            ax.annotate(
                "", self.path[-1], self.path[0], arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.6, "ls": ":"}
            )
            bar = ax.figure.colorbar(lines, ax=ax, ticks=[0, 1], pad=0.02, fraction=0.04)
            bar.ax.set_yticklabels(["early", "late"])
            bar.outline.set_visible(False)
            parts = f"the path of the weight vector, seen {len(self.path) - 1} times"
            ax.set_title(f"{self.name}: {parts}" if self.name else parts[0].upper() + parts[1:])
            ax.set(xlabel=as_text(self.labels[0]), ylabel=as_text(self.labels[1]))
            ax.margins(0.08)
            ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self
