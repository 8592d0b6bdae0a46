"""Algorithms side by side."""

from typing import Any

import numpy as np

from separatrix.plots.static.style import COLOURS, FAINT, INK, as_text, matplotlib, styled

SMALL_PRINT: dict[str, Any] = {
    "va": "center",
    "fontsize": 7,
    "color": INK,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1.5},
}


class ComparisonDisplay:
    """What ``separatrix compare`` found: certified share of the best margin, accuracy and time of every algorithm.

    Parameters
    ----------
    rows : list of dict
        ``name``, ``share`` (or None), ``train``, ``cv`` (or None) and ``seconds`` of each algorithm.
    title : str
    """

    def __init__(self, *, rows: list[dict[str, Any]], title: str = "Algorithms compared"):
        self.rows, self.title = rows, title

    @classmethod
    def from_results(cls, rows: list[dict[str, Any]], *, title: str = "Algorithms compared", figure: Any = None) -> Any:
        """Draw the rows of a comparison, best first as they come."""
        return cls(rows=rows, title=title).plot(figure=figure)

    def plot(self, figure: Any = None) -> Any:
        with styled():
            if figure is None:
                matplotlib()
                import matplotlib.pyplot as plt

                figure = plt.figure(layout="constrained", figsize=(9.0, 1.3 + 0.28 * len(self.rows)))
            margins = any(row["share"] is not None for row in self.rows)
            axes = figure.subplots(1, 3 if margins else 2, sharey=True)
            places = np.arange(len(self.rows))[::-1]
            if margins:
                self._share(axes[0], places)
            self._accuracy(axes[-2], places)
            self._time(axes[-1], places)
            axes[0].set_yticks(places, [as_text(row["name"]) for row in self.rows])
            for ax in axes:
                ax.tick_params(axis="y", length=0)
                ax.spines["left"].set_visible(False)
                ax.hlines(places, *ax.get_xlim(), color=FAINT, lw=0.7, zorder=0)
                ax.set_ylim(-0.7, len(self.rows) - 0.3)
            axes[-2].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8, handletextpad=0.2)
            figure.suptitle(as_text(self.title), x=0.01, ha="left", fontsize=11, color=INK)
        self.axes_, self.figure_ = axes, figure
        return self

    def _share(self, ax: Any, places: np.ndarray) -> None:
        values = np.array([np.nan if row["share"] is None else 100 * max(row["share"], 0.0) for row in self.rows])
        ax.barh(places, np.nan_to_num(values), height=0.62, color=COLOURS[0])
        for place, row in zip(places, self.rows, strict=True):
            if row["share"] is None:
                ax.text(1, place, "no single hyperplane", **SMALL_PRINT)
            elif row["share"] <= 0:
                ax.text(1, place, "does not separate", **SMALL_PRINT)
        ax.set(xlabel="certified share of\nthe best margin, %", xlim=(0, 101))

    def _accuracy(self, ax: Any, places: np.ndarray) -> None:
        train = np.array([100 * row["train"] for row in self.rows])
        ax.plot(train, places, "o", color="white", mec=INK, ms=6, label="on the data")
        cv = np.array([np.nan if row["cv"] is None else 100 * row["cv"] for row in self.rows])
        if np.isfinite(cv).any():
            ax.plot(cv, places, "D", color=COLOURS[1], mec=INK, mew=0.6, ms=5, label="cross-validated")
        low = float(np.nanmin(np.concatenate([train, cv])))
        ax.set(xlabel="accuracy, %", xlim=(max(0.0, low - 0.1 * (100 - low) - 0.5), 100.5 + 0.02 * (100 - low)))

    def _time(self, ax: Any, places: np.ndarray) -> None:
        seconds = np.array([max(row["seconds"], 1e-6) for row in self.rows])
        ax.set_xscale("log")
        ax.set_xlim(seconds.min() / 2, seconds.max() * 2)
        ax.plot(seconds, places, "s", color=COLOURS[2], mec=INK, mew=0.6, ms=6)
        ax.set(xlabel="seconds for the fit")
