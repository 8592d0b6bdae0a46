"""The page: widgets around the plane, and what each of them does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from html import escape
from typing import Any

import numpy as np

from separatrix.errors import DataError, MissingExtraError
from separatrix.plots.interactive.canvas import FOLLOW_THEME, plain
from separatrix.studio import in_words
from separatrix.studio.board import DEGREES, MOST_CLASSES, Board
from separatrix.studio.bounds_figure import ClosingBounds
from separatrix.studio.course_table import course_table, verdict_words
from separatrix.studio.files_in import PROJECTED, Loaded, first_choice, load_bytes
from separatrix.studio.page_frame import CLASSES, WAITING, WIDGET, WORDS, template
from separatrix.studio.plane_figure import Plane
from separatrix.studio.point_sets import OWN, SETS, set_of
from separatrix.studio.separator_forms import Forms
from separatrix.studio.session import Session, Shown, epoch_of

PERIOD = 80  # milliseconds between two looks while it plays
SPEEDS = {"1 a second": 1, "2 a second": 2, "5 a second": 5, "10 a second": 10, "50 a second": 50, "500 a second": 500}
SOON = 600  # milliseconds after which it is said that something is computed
MARKS = "●▲■◆▼"  # the shapes of the points, class by class
END = 10**7  # a step that every fit has ended before


def panel() -> Any:
    """The package, or an error with the line that installs it."""
    try:
        import panel
    except ImportError as error:
        raise MissingExtraError.of("panel", "studio", "The studio") from error
    return panel


def _buttons(names: tuple[str, ...]) -> dict[str, int]:
    """What stands on the buttons of the classes: their shapes, and their names where they have some."""
    parts = [names[k] if k < len(names) else f"class {k + 1}" for k in range(MOST_CLASSES)]
    return {f"{mark} {plain(name, 16)}": k for k, (mark, name) in enumerate(zip(MARKS, parts, strict=True))}


class Page:
    """One open page. Everything of it belongs to its session: two windows know nothing of each other."""

    def __init__(self, start: Loaded | None = None):
        self.pn = pn = panel()
        self.doc = pn.state.curdoc
        self.ended = False  # no separator has a step left
        self.message, self.loaded, self.due = "", start, 0.0
        self.seen, self.waits = 0, False  # how often something was shown; whether one looks if it comes soon
        self.session = Session(self._first_board(start), self._computed)
        self.plane = Plane(self.session.board)
        self.quiet = False
        self._make_widgets()
        changed, complain = self._locked(self._separators_changed), self._locked(self._complain)
        self.forms = Forms(self.session.board.separators, changed, complain)
        self.plane.points.on_change("data", self._drawn)
        self.plane.figure.on_event("rangesupdate", lambda event: self._ask())
        self.ticker = pn.state.add_periodic_callback(self._tick, period=PERIOD, start=False)
        pn.state.on_session_destroyed(lambda context: self.session.close())
        if self.loaded is not None:
            self._offer_columns()
        self._show_board(fit_range=True)

    def _first_board(self, start: Loaded | None) -> Board:
        token = (self.pn.state.session_args.get("s") or [b""])[0].decode("ascii", "ignore")
        if token:
            try:
                return Board.from_link(token)
            except DataError as error:
                self.message = str(error)
        if start is not None:
            return self._from_file(*first_choice(start))
        return Board.of(*SETS["separable"]())

    def _locked(self, act: Callable[..., None]) -> Callable[..., None]:
        """Panel may call its watchers without the lock of the document; Bokeh takes it for its next tick."""

        def later(*arguments: Any) -> None:
            if not self.quiet:
                self.doc.add_next_tick_callback(partial(act, *arguments))

        return later

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """While the page itself changes points and widgets nobody else did."""
        self.quiet = True
        try:
            yield
        finally:
            self.quiet = False

    # What one sees.

    def _make_widgets(self) -> None:
        pn = self.pn
        looks: dict[str, Any] = {"stylesheets": [WIDGET], "margin": (2, 5)}

        def button(name: str, act: Any, **more: Any) -> Any:
            made = pn.widgets.Button(name=name, **{**looks, **more})
            made.on_click(self._locked(act))
            return made

        self.sets = pn.widgets.Select(name="points", options=[OWN, *SETS], value=OWN, width=210, **looks)
        self.sets.param.watch(self._locked(self._choose_set), "value")
        self.upload = pn.widgets.FileInput(
            accept=".csv,.tsv,.txt,.parquet,.json,.ndjson,.arff,.npy,.npz,.svm,.libsvm,.gz",
            width=220,
            **looks,
        )
        self.upload.param.watch(self._locked(self._file_came), "value")
        self.column_x, self.column_y, self.target = (
            pn.widgets.Select(name=name, width=150, visible=False, **looks) for name in ("across", "up", "labels")
        )
        for chosen in (self.column_x, self.column_y):
            chosen.param.watch(self._locked(self._columns_changed), "value")
        self.target.param.watch(self._locked(self._labels_chosen), "value")
        coloured = {**looks, "stylesheets": [WIDGET, CLASSES]}
        self.classes = pn.widgets.RadioButtonGroup(name="class", options=_buttons(()), value=0, **coloured)
        self.classes.param.watch(self._locked(self._class_chosen), "value")
        tools = [
            button("recolor", self._recolor, description="give the chosen points this class"),
            button("delete", self._delete),
            button("clear", self._clear),
            button("undo", self._undo),
        ]
        self.degree = pn.widgets.Select(name="features", options=DEGREES, value=1, width=220, **looks)
        self.degree.param.watch(self._locked(self._degree_changed), "value")
        files = pn.FlexBox(
            self.sets, self.upload, self.target, self.column_x, self.column_y, self.degree, margin=0, align_items="end"
        )
        self.controls = pn.Column(files, pn.FlexBox(self.classes, *tools, margin=0), sizing_mode="stretch_width")
        self.play = pn.widgets.Toggle(name="play", button_type="primary", width=64, **looks)
        self.play.param.watch(self._locked(self._played), "value")
        self.speed = pn.widgets.Select(name="", options=SPEEDS, value=5, width=120, **looks)
        self.steps = pn.FlexBox(
            self.play,
            button("one update", partial(self._advance, 1)),
            button("one back", partial(self._advance, -1)),
            button("one epoch", self._epoch),
            button("to the end", self._to_the_end),
            button("restart", self._restart),
            self.speed,
            margin=0,
        )
        self.status, self.words, self.code, self.proof = (
            pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[WORDS], margin=(0, 5)) for _ in range(4)
        )
        self.status.object = WAITING
        self.bounds = ClosingBounds()

    def view(self) -> Any:
        """The whole page, for the server."""
        pn = self.pn
        page = pn.Template(template(FOLLOW_THEME))
        page.add_panel("controls", self.controls)
        page.add_panel("plane", pn.pane.Bokeh(self.plane.figure, sizing_mode="stretch_width"))
        page.add_panel("steps", self.steps)
        page.add_panel("status", self.status)
        page.add_panel("proof", self.proof)
        page.add_panel("separators", self.forms.place)
        page.add_panel("words", self.words)
        page.add_panel("bounds", pn.pane.Bokeh(self.bounds.figure, sizing_mode="stretch_width"))
        page.add_panel("code", self.code)
        return page

    # What one does.

    def _drawn(self, attribute: str, old: Any, new: Any) -> None:
        """A point was added, moved or deleted by hand."""
        if self.quiet:
            return
        try:
            codes = [int(code) for code in new["code"]]
            board = Board.of(np.column_stack([new["x"], new["y"]]), codes, self.session.board.axes)
        except (DataError, ValueError, TypeError) as error:
            self._complain(str(error))
            self._show_board()
            return
        self._change(self._like(board))

    def _like(self, board: Board) -> Board:
        """With the separators of the page; names of classes stay where they name all of them."""
        now = self.session.board
        names = now.names if len(now.names) > int(board.codes.max(initial=0)) else ()
        return board.changed(separators=now.separators, degree=now.degree, step=now.step, names=names)

    def _change(self, board: Board, fit_range: bool = False) -> None:
        self.session.change(board)
        self.message, self.ended = "", False
        if fit_range:  # other points: what was drawn for the former says nothing of them
            self.plane.forget()
        self._show_board(fit_range)

    def _choose_set(self, event: Any) -> None:
        if event.new in SETS:
            self._forget_file()
            self._change(self._like(Board.of(*SETS[event.new]())).changed(step=0, names=()), fit_range=True)

    def _class_chosen(self, event: Any) -> None:
        self.plane.new_class(event.new)

    def _chosen_rows(self) -> list[int]:
        count = len(self.session.board.codes)
        return [i for i in self.plane.points.selected.indices if i < count]

    def _recolor(self, event: Any) -> None:
        rows = self._chosen_rows()
        if not rows:
            self._complain("Tap a point first, then recolor it.")
            return
        board = self.session.board
        codes = board.codes.copy()
        codes[rows] = self.classes.value
        self._change(self._like(Board.of(board.points, codes, board.axes)))

    def _delete(self, event: Any) -> None:
        rows = self._chosen_rows()
        if not rows:
            self._complain("Tap a point first, then delete it.")
            return
        kept = np.setdiff1d(np.arange(len(self.session.board.codes)), rows)
        board = self.session.board
        self.plane.points.selected.indices = []
        self._change(self._like(Board.of(board.points[kept], board.codes[kept], board.axes)))

    def _clear(self, event: Any) -> None:
        self._forget_file()
        self._change(self._like(Board.of(np.zeros((0, 2)), [])).changed(step=0, names=()))

    def _undo(self, event: Any) -> None:
        if not self.session.undo():
            self._complain("There is nothing to undo.")
            return
        self.message, self.ended = "", False
        self.forms.show(self.session.board.separators)
        self._show_board(fit_range=True)

    def _degree_changed(self, event: Any) -> None:
        self._change(self.session.board.changed(degree=event.new))

    def _separators_changed(self, separators: Any) -> None:
        self._change(self.session.board.changed(separators=separators))

    def _file_came(self, event: Any) -> None:
        if not event.new:
            return
        self._load(lambda: load_bytes(event.new, self.upload.filename or "the file"))

    def _labels_chosen(self, event: Any) -> None:
        if self.loaded is not None:
            again = self.loaded.again
            self._load(lambda: again(event.new))

    def _load(self, read: Callable[[], Loaded]) -> None:
        """Take the points of a file; where it cannot be used, say why and stay with what there is."""
        former = self.loaded
        try:
            self.loaded = read()
            board = self._from_file(*first_choice(self.loaded))
        except (DataError, OSError) as error:
            self.loaded = former
            self._complain(str(error))
            return
        self._offer_columns()
        self._change(self._like(board).changed(step=0, names=board.names), fit_range=True)
        self._complain(self.note)

    def _from_file(self, x: str, y: str) -> Board:
        assert self.loaded is not None
        places, codes, axes, names, self.note = self.loaded.points(x, y)
        return Board.of(places, codes, axes, names=names)

    def _offer_columns(self) -> None:
        assert self.loaded is not None
        first = first_choice(self.loaded)
        labels = self.loaded.labels
        target = str(self.loaded.table.target) if labels else None
        with self._quietly():
            for chosen, value in zip((self.column_x, self.column_y), first, strict=True):
                chosen.param.update(options=[PROJECTED, *self.loaded.columns], value=value, visible=True)
            self.target.param.update(options=labels, value=target, visible=bool(labels))

    def _forget_file(self) -> None:
        self.loaded = None
        self.column_x.visible = self.column_y.visible = self.target.visible = False

    def _columns_changed(self, event: Any) -> None:
        if self.loaded is None:
            return
        board = self._from_file(self.column_x.value, self.column_y.value)
        self._change(self._like(board).changed(step=0, names=board.names), fit_range=True)
        self._complain(self.note)

    # Steps.

    def _played(self, event: Any) -> None:
        self.play.name = "pause" if event.new else "play"
        if event.new:
            self.ticker.start()
        else:
            self.ticker.stop()
            self._ask()

    def _tick(self) -> None:
        if self.session.busy:
            return
        self.due += self.speed.value * PERIOD / 1000
        if self.due >= 1:
            self._advance(int(self.due))
            self.due -= int(self.due)

    def _advance(self, by: int, event: Any = None) -> None:
        board = self.session.board
        if by < 0 or not self.ended:
            self.session.change(board.changed(step=max(board.step + by, 0)), remember=False)
            self._ask()
        elif self.play.value:
            self.play.value = False

    def _epoch(self, event: Any) -> None:
        self._ask(epoch_of)

    def _to_the_end(self, event: Any) -> None:
        self.session.change(self.session.board.changed(step=END), remember=False)
        self._ask()

    def _restart(self, event: Any) -> None:
        self.ended = False
        self.session.change(self.session.board.changed(step=0), remember=False)
        self._ask()

    # From the thread to the page.

    def _ask(self, then: Any = None) -> None:
        self.session.ask(self.plane.view, then)
        if not self.waits:
            self._look_soon()

    def _look_soon(self) -> None:
        self.waits = True
        self.doc.add_timeout_callback(partial(self._look, self.seen), SOON)

    def _look(self, seen: int) -> None:
        """Say that something is computed where it takes long; while it plays, frames come."""
        self.waits = False
        if self.session.busy and self.seen == seen:
            self.status.object = WAITING + self.status.object
        elif self.session.busy:
            self._look_soon()

    def _computed(self, shown: Shown) -> None:
        self.doc.add_next_tick_callback(partial(self._show, shown))

    def _complain(self, words: str) -> None:
        self.message = words
        self._show_status(None)

    def _show_board(self, fit_range: bool = False) -> None:
        board = self.session.board
        with self._quietly():
            self.plane.show_points(board, fit_range)
            self.degree.value, self.sets.value = board.degree, set_of(board)
            self.classes.options = _buttons(board.names)
        self._ask()

    def _show(self, shown: Shown) -> None:
        if shown.board is not self.session.board:  # it has changed since
            return
        self.seen += 1
        with self.pn.io.hold():
            self._show_frames(shown)
        if self.play.value and self.ended:
            self.play.value = False
        if not self.play.value:
            self._remember_in_link()

    def _remember_in_link(self) -> None:
        self.plane.remember(self.session.board.link())

    def _show_frames(self, shown: Shown) -> None:
        first = shown.frames[0]
        self.ended = all(frame.done or frame.error for frame in shown.frames)
        if self.ended:  # the step that showed it is the last
            last = max(frame.updates if frame.unit == "updates" else frame.epochs for frame in shown.frames) + 1
            self.session.change(shown.board.changed(step=min(shown.board.step, last)), remember=False)
        for k in range(len(self.plane.lines)):
            self.plane.show_picture(k, shown.pictures[k] if k < len(shown.pictures) else None)
        self.plane.show_corrected(shown.board.points[first.corrected])
        self.plane.show_meeting(shown.meeting, shown.board)
        self.bounds.show(shown)
        self._show_status(shown)
        self.words.object = in_words.formula(first, shown.before, shown.board) + in_words.theorem(
            first, shown.promises[0]
        )
        if len(shown.board.classes) < 2:
            self.code.object = ""
        elif not self.play.value or self.ended:  # nobody reads it while it changes
            code = escape(in_words.same_in_python(first, shown.board))
            self.code.object = f"<h2>The same in Python</h2><pre>{code}</pre>"
        self.proof.object = verdict_words(shown)

    def _show_status(self, shown: Shown | None) -> None:
        words = f'<p class="error" role="status">{escape(self.message)}</p>' if self.message else ""
        if shown is not None:
            self.table = course_table(shown)
        self.status.object = words + getattr(self, "table", "")
