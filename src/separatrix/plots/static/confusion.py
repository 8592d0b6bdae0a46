"""Which classes are taken for which."""

from typing import Any

import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay

from separatrix.plots.static.style import MOST_WRITTEN, as_text, axes_for, styled

ROOM = 0.6  # of the width of a picture that its squares have at least
DIGIT = 0.65  # the width of a digit in its size
SMALLEST_DIGIT = 4.5  # points of a digit that can be read


class ConfusionDisplay(ConfusionMatrixDisplay):
    """scikit-learn's confusion matrix in the looks of the other pictures, with a title that tells the accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import MaxMargin
    >>> from separatrix.plots import ConfusionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ConfusionDisplay.from_estimator(MaxMargin().fit(X, y), X, y)
    """

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Any:
        """Predict with a fitted estimator and draw; options as scikit-learn has them."""
        return super().from_estimator(
            estimator, X, y, **{"cmap": "Blues", "colorbar": False, "values_format": ",d", **options}
        )

    def plot(self, *, ax: Any = None, **options: Any) -> Any:
        with styled():
            ax = axes_for(ax, (4.6, 4.2))
            super().plot(ax=ax, **options)
            texts, count = np.ravel(self.text_), len(self.confusion_matrix)
            room = ROOM * ax.figure.get_figwidth() * 72 / count
            size = min(10.0, room / (DIGIT * max(len(text.get_text()) for text in texts)))
            for text in texts:
                text.set_fontsize(size)
                text.set_visible(count <= MOST_WRITTEN and size >= SMALLEST_DIGIT)
            if count > MOST_WRITTEN:
                ax.tick_params(axis="x", labelrotation=90)
            names = [as_text(label.get_text()) for label in ax.get_xticklabels()]
            ax.set_xticklabels(names)
            ax.set_yticklabels(names)
            counts = np.asarray(self.confusion_matrix)
            right, n = np.trace(counts), counts.sum()
            if counts.dtype.kind == "i":
                ax.set_title(f"{right:,} of {n:,} rows right ({100 * right / n:.1f}%)")
            ax.set(xlabel="predicted", ylabel="true")
            for side in ("top", "right"):
                ax.spines[side].set_visible(True)
        return self
