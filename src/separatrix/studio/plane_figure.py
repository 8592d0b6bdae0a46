"""The plane on which points are drawn: they, the regions and boundaries of the separators, and the proof."""

from typing import Any

import numpy as np

from separatrix.plots.interactive.canvas import FAINT, INK, SHAPES, new_figure, plain
from separatrix.plots.interactive.meeting_hulls import Meeting, hull_border
from separatrix.plots.static.style import COLOURS
from separatrix.studio.board import MOST_CLASSES, MOST_SEPARATORS, Board
from separatrix.studio.stepping import Picture

CODES = [str(k) for k in range(MOST_CLASSES)]
DASHES = ["solid", "dashed", "dotdash", "dotted"]
LINES = [INK, COLOURS[5], COLOURS[3], COLOURS[2]]  # of the separators; the first is in the colour of text
TYPE, TEXT, SMALL = "system-ui, sans-serif", "14px", "12px"  # of the page, see page_frame
INVITATION = "Tap here to draw points of class 1.\nThen choose class 2 above\nand draw its points."
ROOM = 0.15  # around the points, in parts of their width


def set_type(figure: Any) -> None:
    """Write the axes and the title of a figure in the type of the page."""
    for axis in figure.axis:
        axis.axis_label_text_font = axis.major_label_text_font = TYPE
        axis.axis_label_text_font_size, axis.major_label_text_font_size = TEXT, SMALL
    figure.title.text_font, figure.title.text_font_size = TYPE, TEXT


class Plane:
    """The Bokeh figure and its sources; ``points`` is what the user draws on."""

    def __init__(self, board: Board):
        from bokeh.models import ColumnDataSource, CustomJS, Label, LinearColorMapper, PointDrawTool, Range1d
        from bokeh.transform import factor_cmap, factor_mark

        self.figure = new_figure(
            *board.axes, height=460, tools="wheel_zoom,reset", x_range=Range1d(), y_range=Range1d(), name="drawing"
        )
        self.figure.min_width = 280
        set_type(self.figure)
        self.figure.toolbar.autohide = False
        figure = self.figure

        def source(*columns: str, called: str | None = None) -> Any:
            return ColumnDataSource({name: [] for name in columns}, name=called)

        self.points, self.corrected = source("x", "y", "code", called="points"), source("x", "y", called="corrected")
        self.star = source("x", "y", called="meeting")
        self.region, self.doubtful = source("image", "x", "y", "dw", "dh"), source("image", "x", "y", "dw", "dh")
        self.lines = [source("xs", "ys", called=f"boundary {k + 1}") for k in range(MOST_SEPARATORS)]
        self.edges = source("xs", "ys")
        self.hulls = source("xs", "ys", "colour")
        mapper = LinearColorMapper(palette=COLOURS[:MOST_CLASSES], low=-0.5, high=MOST_CLASSES - 0.5)
        place = {"x": "x", "y": "y", "dw": "dw", "dh": "dh"}
        figure.image(image="image", **place, source=self.region, color_mapper=mapper, global_alpha=0.18, level="image")
        figure.image_rgba(image="image", **place, source=self.doubtful, level="image")
        figure.patches(
            "xs", "ys", source=self.hulls, fill_color="colour", fill_alpha=0.25, line_color="colour", line_width=2
        )
        edges = figure.multi_line("xs", "ys", source=self.edges, line_color=INK, line_dash="dotted")
        edges.glyph.tags = ["ink-line"]
        for k, lines in enumerate(self.lines):
            drawn = figure.multi_line(
                "xs", "ys", source=lines, line_color=LINES[k], line_dash=DASHES[k], line_width=2.5
            )
            drawn.glyph.tags = ["ink-line"] if k == 0 else []
        figure.scatter("x", "y", source=self.corrected, size=26, fill_color=COLOURS[6], fill_alpha=0.65,
                               line_color=COLOURS[5], line_width=3)  # fmt: skip
        self.drawn = figure.scatter(
            "x",
            "y",
            source=self.points,
            size=11,
            marker=factor_mark("code", SHAPES[:MOST_CLASSES], CODES),
            fill_color=factor_cmap("code", COLOURS[:MOST_CLASSES], CODES),
            line_color=FAINT,
            nonselection_fill_alpha=0.85,
            selection_line_color=COLOURS[5],
            selection_line_width=3,
        )
        star = figure.scatter("x", "y", source=self.star, marker="star", size=24, fill_color=COLOURS[5], line_color=INK)
        star.glyph.tags = ["ink-line"]
        self.invitation = Label(x=0.0, y=0.0, text=INVITATION, text_align="center", text_baseline="middle",
            text_font=TYPE, text_font_size=TEXT, text_color=INK, name="invitation",
        )  # fmt: skip
        self.invitation.tags = ["ink-text"]
        figure.add_layout(self.invitation)
        self.tool = PointDrawTool(renderers=[self.drawn], name="pencil", description="add, move and delete points")
        self.new_class(0)
        figure.add_tools(self.tool)
        figure.toolbar.active_tap = figure.toolbar.active_drag = self.tool
        into_address = CustomJS(code="history.replaceState(null, '', '?s=' + cb_obj.tags[0])")
        figure.js_on_change("tags", into_address)

    def new_class(self, code: int) -> None:
        """The class of points that are added from now on."""
        self.tool.default_overrides = {"code": str(code)}

    def remember(self, link: str) -> None:
        """Put the state into the address of the page."""
        self.figure.tags = [link]

    @property
    def view(self) -> tuple[float, float, float, float]:
        x, y = self.figure.x_range, self.figure.y_range
        return float(x.start), float(x.end), float(y.start), float(y.end)

    def show_points(self, board: Board, fit_range: bool) -> None:
        self.points.data = {
            "x": board.points[:, 0].tolist(),
            "y": board.points[:, 1].tolist(),
            "code": [str(code) for code in board.codes],
        }
        if fit_range:
            low, high = (-2.0 * np.ones(2), 2.0 * np.ones(2))
            if len(board.points):
                low, high = board.points.min(axis=0), board.points.max(axis=0)
            room = ROOM * np.where(high > low, high - low, 1.0) + 1e-9
            for axis, k in ((self.figure.x_range, 0), (self.figure.y_range, 1)):
                axis.update(start=low[k] - room[k], end=high[k] + room[k], reset_start=low[k] - room[k],
                            reset_end=high[k] + room[k])  # fmt: skip
        x, y = self.figure.x_range, self.figure.y_range
        self.invitation.update(x=(x.start + x.end) / 2, y=(y.start + y.end) / 2, visible=not len(board.points))
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = (plain(name, 60) for name in board.axes)

    def show_picture(self, k: int, picture: Picture | None) -> None:
        """The boundary of separator k; of the first its regions too."""
        lines = [] if picture is None else picture.lines
        self.lines[k].data = {"xs": [a[:, 0] for a in lines], "ys": [a[:, 1] for a in lines]}
        if k:
            return
        if picture is None:
            self.region.data = {name: [] for name in self.region.data}
            self.doubtful.data = {name: [] for name in self.doubtful.data}
            self.edges.data = {"xs": [], "ys": []}
            return
        place = {
            "x": [picture.xs[0]],
            "y": [picture.ys[0]],
            "dw": [picture.xs[-1] - picture.xs[0]],
            "dh": [picture.ys[-1] - picture.ys[0]],
        }
        self.region.data = {"image": [picture.winner], **place}
        self.edges.data = {"xs": [a[:, 0] for a in picture.edges], "ys": [a[:, 1] for a in picture.edges]}
        shade = np.zeros(picture.winner.shape, dtype=np.uint32)
        if picture.doubtful is not None:  # a chequered veil, which is seen in light and dark
            squares = np.indices(shade.shape) // 2
            grid = squares.sum(axis=0) % 2 == 0
            shade[picture.doubtful & grid] = 0x88888888
        self.doubtful.data = {"image": [shade], **place}

    def forget(self) -> None:
        """Points alone, until what belongs to them is computed."""
        for k in range(len(self.lines)):
            self.show_picture(k, None)
        self.show_corrected(np.zeros((0, 2)))
        self.show_meeting(None)

    def show_corrected(self, places: np.ndarray) -> None:
        self.corrected.data = {"x": places[:, 0].tolist(), "y": places[:, 1].tolist()}

    def show_meeting(self, meeting: Meeting | None, board: Board | None = None) -> None:
        """The hulls of the rows of a proof, and the point in which they meet."""
        if meeting is None or board is None:
            self.hulls.data, self.star.data = {"xs": [], "ys": [], "colour": []}, {"x": [], "y": []}
            return
        xs, ys, colours = [], [], []
        for side in (True, False):
            rows = meeting.rows[meeting.positive == side]
            border = hull_border(board.points[rows])
            xs.append(border[:, 0].tolist())
            ys.append(border[:, 1].tolist())
            colours.append(COLOURS[int(np.bincount(board.codes[rows]).argmax())])
        self.hulls.data = {"xs": xs, "ys": ys, "colour": colours}
        self.star.data = {"x": [meeting.point[0]], "y": [meeting.point[1]]}
