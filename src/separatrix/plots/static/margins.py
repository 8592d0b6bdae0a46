"""How far the rows lie on their sides."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.plots.static.style import COLOURS, HATCHES, INK, as_text, axes_for, separator_in, styled


class MarginDisplay:
    """The distribution of the margins: the distance of every row from the boundary, negative on the wrong side.

    Of several classes the margin is the score of the true class minus the best of the others.

    Parameters
    ----------
    margins : ndarray of shape (n,)
    y, classes : ndarray
    unit : str
        What the margins are measured in.
    band : float or None
        The edge of the margin band.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separatrix import MaxMargin
    >>> from separatrix.plots import MarginDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = MarginDisplay.from_estimator(MaxMargin().fit(X, y), X, y)
    """

    def __init__(self, *, margins: np.ndarray, y: np.ndarray, classes: np.ndarray, unit: str, band: float | None):
        self.margins, self.y, self.classes, self.unit, self.band = margins, y, classes, unit, band

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
        """Measure the rows with a fitted separator, alone or at the end of a Pipeline, and draw."""
        return cls.computed(estimator, X, y).plot(ax=ax)

    @classmethod
    def computed(cls, estimator: Any, X: Any, y: Any) -> Any:
        """The same without drawing it."""
        check_is_fitted(estimator)
        separator = separator_in(estimator)
        y, scores = np.asarray(y), np.asarray(estimator.decision_function(X))
        unit, band = "decision value", None
        codes = np.searchsorted(separator.classes_, y)
        if scores.ndim == 1:
            margins = np.where(codes == 1, scores, -scores)
            if hasattr(separator, "coef_"):
                length = float(np.linalg.norm(separator.coef_[0])) or 1.0
                margins, unit = margins / length, "distance from the hyperplane"
                band = 1.0 / length if hasattr(separator, "support_") else None
        else:
            rows = np.arange(len(y))
            others = scores.copy()
            others[rows, codes] = -np.inf
            margins, unit = scores[rows, codes] - others.max(axis=1), "score of the true class above the others"
        return cls(margins=margins, y=y, classes=separator.classes_, unit=unit, band=band)

    @property
    def title(self) -> str:
        wrong, worst = int(np.sum(self.margins <= 0)), float(self.margins.min())
        what = "Distances from the boundary" if self.unit.startswith("distance") else "How sure the scores are"
        if not wrong:
            return f"{what}: every row classified correctly, the nearest at {worst:.3g}"
        return f"{what}: {wrong:,} of {len(self.margins):,} rows on the wrong side, the worst at {worst:.3g}"

    def plot(self, ax: Any = None) -> Any:
        with styled():
            ax = axes_for(ax)
            parts = [self.margins[self.y == c] for c in self.classes]
            colours = [COLOURS[k % len(COLOURS)] for k in range(len(parts))]
            _, _, bars = ax.hist(
                parts,
                bins=40,
                stacked=True,
                color=colours,
                label=[as_text(c) for c in self.classes],
                edgecolor="white",
                lw=0.4,
            )
            for k, group in enumerate(bars if len(parts) > 1 else [bars]):
                for bar in group:
                    bar.set_hatch(HATCHES[k % len(HATCHES)])
            ax.axvline(0.0, color=INK, lw=1.6)
            if self.band is not None:
                ax.axvline(self.band, color=INK, lw=1.0, ls="--", label="edge of the band")
            ax.set_title(self.title)
            ax.set(xlabel=f"{self.unit} (right of 0: on its side)", ylabel="rows")
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, ncols=1 + len(self.classes) // 14)
        self.ax_, self.figure_ = ax, ax.figure
        return self
