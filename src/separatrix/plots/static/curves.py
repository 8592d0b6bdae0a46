"""ROC curves and precision-recall curves."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from separatrix.errors import DataError
from separatrix.plots.static.style import INK, as_text, axes_for, look, styled

MOST_CURVES = 8  # classes that have a line of their own
ROC, PRECISION_RECALL = "ROC curve: area", "Precision and recall: average precision"
LABELS = {
    ROC: ("share of other rows taken for the class", "share of the class found"),
    PRECISION_RECALL: ("recall: share of the class found", "precision: share that is right"),
}


class Curve(NamedTuple):
    """A class, its number among all, and its curve with the number that sums it up."""

    name: Any
    number: int
    x: np.ndarray
    y: np.ndarray
    value: float


class CurvesDisplay:
    """A ROC curve or precision-recall curve of each class against the rest.

    Parameters
    ----------
    kind : str
        The beginning of the title.
    curves : list of Curve
        Those with the smallest value come first; at most eight are drawn.
    where : str, default=""
        On which data, for the title.

    Examples
    --------
    >>> from separatrix.plots import CurvesDisplay
    >>> CurvesDisplay.computed("ROC curve: area", [0, 0, 1, 1], [-1.0, 0.5, 0.2, 2.0]).title
    'ROC curve: area 0.75'
    """

    def __init__(self, *, kind: str, curves: list[Curve], where: str = ""):
        self.kind, self.curves, self.where = kind, curves, where

    @classmethod
    def computed(cls, kind: str, truth: Any, scores: Any, *, classes: Any = None, where: str = "") -> Any:
        """Measure the curves without drawing them."""
        truth, scores = np.asarray(truth), np.asarray(scores)
        classes = np.unique(truth) if classes is None else np.asarray(classes)
        alone = [(1, scores)] if scores.ndim == 1 else [(k, scores[:, k]) for k in range(len(classes))]
        problems = [(classes[k], k, truth == classes[k], values) for k, values in alone]
        measure = _roc if kind == ROC else _precision_recall
        found = [Curve(c, k, *measure(one, values)) for c, k, one, values in problems if 0 < one.sum() < len(one)]
        if not found:
            raise DataError("A curve needs rows of the class and rows that do not belong to it.")
        return cls(kind=kind, curves=sorted(found, key=lambda curve: curve.value), where=where)

    @property
    def title(self) -> str:
        several = " (mean over the classes)" if len(self.curves) > 1 else ""
        value = float(np.mean([curve.value for curve in self.curves]))
        return f"{self.kind} {value:.4g}{several}{self.where and ', ' + self.where}"

    def plot(self, ax: Any = None) -> Any:
        with styled():
            ax = axes_for(ax)
            if self.kind == ROC:
                ax.plot([0, 1], [0, 1], color=INK, ls=":", lw=1, label="chance")
            for curve in self.curves[:MOST_CURVES]:
                drawn = {"color": look(curve.number)["color"], "ls": ["-", "--", "-."][curve.number // 8 % 3]}
                ax.plot(curve.x, curve.y, lw=1.8, label=f"{as_text(curve.name)}: {curve.value:.3f}", **drawn)
            ax.set_title(as_text(self.title))
            ax.set(**dict(zip(("xlabel", "ylabel"), LABELS[self.kind], strict=True)), ylim=(-0.02, 1.05))
            ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _roc(one: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    wrong, found, _ = roc_curve(one, values)
    return wrong, found, float(roc_auc_score(one, values))


def _precision_recall(one: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    precision, recall, _ = precision_recall_curve(one, values)
    return recall[::-1], precision[::-1], float(average_precision_score(one, values))
