"""The small figure in which the bounds of the margin close, step by step."""

import numpy as np

from separatrix.plots.interactive.canvas import INK, new_figure
from separatrix.studio.plane_figure import DASHES, LINES, set_type
from separatrix.studio.session import Shown

MOST_STEPS = 400  # that are drawn


class ClosingBounds:
    """The Bokeh figure, with lower and upper bound of every separator."""

    def __init__(self) -> None:
        from bokeh.models import ColumnDataSource, Range1d

        figure = new_figure(
            "Steps",
            "Margin",
            height=220,
            tools="",
            x_range=Range1d(0, 10),
            y_range=Range1d(0, 1),
        )
        figure.min_width = 240
        figure.title = "Thick: achieved; thin: upper bound"
        figure.title.tags, figure.title.text_font_style = ["ink-text"], "normal"
        set_type(figure)
        self.figure, self.sources = figure, []
        for k in range(len(LINES)):
            source = ColumnDataSource({"step": [], "lower": [], "upper": []})
            for name, width in (("upper", 1.5), ("lower", 2.5)):
                line = figure.line(
                    "step", name, source=source, line_color=LINES[k], line_dash=DASHES[k], line_width=width
                )
                line.glyph.tags = ["ink-line"] if LINES[k] == INK else []
            dots = figure.scatter("step", "lower", source=source, size=5, fill_color=LINES[k], line_color=None)
            dots.glyph.tags = ["ink-fill"] if LINES[k] == INK else []
            self.sources.append(source)

    def show(self, shown: Shown) -> None:
        """All steps, and margins from a little below 0 to three times the best bound."""
        last = max([10, *(step for course in shown.courses for step in course)])
        for k, source in enumerate(self.sources):
            course = shown.courses[k] if k < len(shown.courses) else {}
            steps = sorted(course)[-MOST_STEPS:]
            rows = np.array([course[t] for t in steps]).reshape(-1, 2)
            if steps and shown.frames[k].unit == "solved":  # it stays where it is
                steps, rows = [0, last], np.repeat(rows[:1], 2, axis=0)
            source.data = {"step": steps, "lower": rows[:, 0], "upper": rows[:, 1]}
        uppers = [upper for course in shown.courses for _, upper in course.values() if np.isfinite(upper)]
        best = min((u for u in uppers if u > 0), default=1.0)
        self.figure.x_range.update(start=0, end=last)
        self.figure.y_range.update(start=-0.5 * best, end=min(3 * best, max([best, *uppers])) * 1.05)
