"""Average ranks over several data sets, with what they do not tell apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.app.ranking import Ranking, ranked
from separatrix.plots.static.style import COLOURS, INK, as_text, matplotlib, styled

LINE = 0.26  # inches from name to name
BAR = 0.55  # of a line, from bar to bar


class CriticalDifferenceDisplay:
    """Demsar's diagram: algorithms at their average ranks, the best on the left, and bars over those that are alike.

    A bar joins algorithms whose average ranks differ by less than Nemenyi's critical difference: the data sets do
    not tell them apart. The length of that difference is drawn above the axis.

    Parameters
    ----------
    ranking : Ranking
        What `from_scores` makes of a table; it has ``names``, ``ranks``, ``data_sets``, ``statistic`` (Friedman's),
        ``p_value``, ``critical_difference``, ``level`` and ``groups``.
    title : str or None, default=None
        None: the numbers of algorithms and data sets, and the p-value of the test that all are equal.

    References
    ----------
    J. Demsar: Statistical comparisons of classifiers over multiple data sets, 2006.

    Examples
    --------
    >>> from separatrix.plots import CriticalDifferenceDisplay
    >>> accuracy = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.95, 0.9, 0.85]]  # data sets x algorithms
    >>> display = CriticalDifferenceDisplay.from_scores(["A", "B", "C"], accuracy)
    >>> display.ranking.ranks
    array([1.  , 2.25, 2.75])
    >>> [[display.ranking.names[j] for j in group] for group in display.ranking.groups]
    [['A', 'B'], ['B', 'C']]
    """

    def __init__(self, *, ranking: Ranking, title: str | None = None):
        self.ranking, self.title = ranking, title

    @classmethod
    def from_scores(
        cls,
        names: Sequence[str],
        scores: ArrayLike,
        *,
        level: float = 0.05,
        title: str | None = None,
        figure: Any = None,
    ) -> Any:
        """Rank the columns of a table of scores (data sets x algorithms, larger is better) and draw the ranks.

        NaN stands for no answer, which is last on its data set.
        """
        return cls(ranking=ranked(names, scores, level), title=title).plot(figure=figure)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that leave every name its line."""
        return 9.0, 0.5 + LINE * (self._depth() + 3.0)

    def plot(self, figure: Any = None) -> Any:
        ranking = self.ranking
        with styled():
            if figure is None:
                matplotlib()
                import matplotlib.pyplot as plt

                figure = plt.figure(layout="constrained", figsize=self.size)
            ax = figure.subplots()
            low, high = np.floor(ranking.ranks.min()), np.ceil(ranking.ranks.max())
            high = max(high, low + np.ceil(ranking.critical_difference))
            self._scale(ax, low, high)
            bars = self._levels()
            for group, level in zip(ranking.groups, bars, strict=True):
                ends = ranking.ranks[group[0]], ranking.ranks[group[-1]]
                ax.plot(ends, [-(level + 1) * BAR] * 2, color=COLOURS[0], lw=3.5, solid_capstyle="round", zorder=3)
            self._names(ax, low, high, 1.0 + BAR * (max(bars, default=-1) + 1))
            parts = (
                f"{len(ranking.names)} algorithms, {ranking.data_sets} data sets; all equal: p = {ranking.p_value:.2g}"
            )
            ax.set_title(as_text(parts if self.title is None else self.title), color=INK)
        self.ax_, self.figure_ = ax, figure
        return self

    def _levels(self) -> list[int]:
        """The height of each bar: the first one on which none is in its way."""
        free: list[float] = []  # where the last bar of each height ends
        levels = []
        for group in self.ranking.groups:
            first, last = self.ranking.ranks[group[0]], self.ranking.ranks[group[-1]]
            level = next((k for k, end in enumerate(free) if end < first), len(free))
            free[level : level + 1] = [last]
            levels.append(level)
        return levels

    def _depth(self) -> float:
        """From the axis down, in lines: bars, then names."""
        return 0.5 + BAR * (max(self._levels(), default=-1) + 1) + (len(self.ranking.names) + 1) // 2

    def _scale(self, ax: Any, low: float, high: float) -> None:
        """The axis of ranks, and the critical difference above it."""
        wide = high - low
        ax.plot([low, high], [0, 0], color=INK, lw=1.2)
        step = max(1, round(wide / 12))
        for tick in np.arange(low, high + 1e-9, step):
            ax.plot([tick, tick], [0, 0.25], color=INK, lw=1.0)
            ax.text(tick, 0.4, f"{tick:g}", ha="center", va="bottom", fontsize=9, color=INK)
        length = self.ranking.critical_difference
        ax.plot([low, low + length], [1.9, 1.9], color=INK, lw=2.0, marker="|", ms=7)
        ax.text(low + length / 2, 2.1, f"critical difference {length:.2f}", ha="center", va="bottom", fontsize=9)
        ax.set(xlim=(low - 0.45 * wide, high + 0.45 * wide), ylim=(-self._depth(), 3.0))
        ax.axis("off")

    def _names(self, ax: Any, low: float, high: float, top: float) -> None:
        """The better half on the left, the others on the right; lines do not cross."""
        order, k = self.ranking.order, len(self.ranking.names)
        half = (k + 1) // 2
        for place, j in enumerate(order):
            left = place < half
            depth = -(top + (place if left else k - 1 - place))
            rank, end = self.ranking.ranks[j], low - 0.02 * (high - low) if left else high + 0.02 * (high - low)
            ax.plot([rank, rank, end], [0, depth, depth], color=INK, lw=0.8)
            words = as_text(self.ranking.names[j])
            text = f"{words}  {rank:.1f} " if left else f" {rank:.1f}  {words}"
            ax.text(end, depth, text, ha="right" if left else "left", va="center", fontsize=9, color=INK)
