"""What happens behind one open page: its state, its past, and a thread of its own in which everything is fitted."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates.separability import Separability, separability
from separatrix.certificates.theory import Theory
from separatrix.errors import DataError
from separatrix.plots.interactive.meeting_hulls import Meeting, meeting_of
from separatrix.studio.board import Board, Separator
from separatrix.studio.stepping import Frame, Picture, frame_at, next_epoch, picture_of, promise

log = logging.getLogger(__name__)
PATIENCE = (3.0, 20.0)  # seconds for the question of separability; the first try may spend its own on compiling
LONGEST_PAST = 100  # states that can be undone

MOST_BETWEEN = 30  # steps that are looked up where one jumped ahead

View = tuple[float, float, float, float]
Course = dict[int, tuple[float, float]]  # lower and upper bound of the margin at a step, nan where unknown


@dataclass(frozen=True, eq=False)
class Shown:
    """All that a page shows of a board, computed in the thread."""

    board: Board
    frames: list[Frame]
    pictures: list[Picture | None]
    before: Frame | None  # the first separator, one step earlier
    promises: list[Theory | None]
    answer: Separability | None
    meeting: Meeting | None
    courses: list[Course]  # bounds at the steps so far, of each separator


class Session:
    """``show`` is called in the thread with what was computed; it has to find its own way to the page."""

    def __init__(self, board: Board, show: Callable[[Shown], None]):
        self.board, self.past, self.show = board, [], show  # type: ignore[var-annotated]
        self.worker = ThreadPoolExecutor(1, thread_name_prefix="studio")
        self.lock, self.asked, self.busy = threading.Lock(), 0, False
        self.moves: list[Callable[[Board], Board]] = []  # to be made in the thread, in their order
        self.answers: dict[Any, tuple[Separability | None, Meeting | None]] = {}
        self.theories: dict[Any, Theory | None] = {}
        self.ended: dict[Any, Frame] = {}
        self.courses: dict[Any, Course] = {}

    def close(self) -> None:
        self.asked += 1
        self.worker.shutdown(wait=False, cancel_futures=True)

    def change(self, board: Board, remember: bool = True) -> None:
        if remember:
            self.past = [*self.past, self.board][-LONGEST_PAST:]
        self.board = board

    def undo(self) -> bool:
        if not self.past:
            return False
        self.board = self.past.pop()
        return True

    def ask(self, view: View, then: Callable[[Board], Board] | None = None) -> None:
        """Compute what is to be shown now, after ``then``; an older question that still waits is dropped."""
        with self.lock:
            self.asked += 1
            number = self.asked
            self.busy = True
            if then is not None:
                self.moves.append(then)
        self.worker.submit(self._answer, number, view)

    def _answer(self, number: int, view: View) -> None:
        try:
            if number == self.asked:
                self._move()
                self.show(self.compute(self.board, view))
        except Exception:
            log.exception("A step of the studio failed.")
            raise
        finally:
            if number == self.asked:
                self.busy = False

    def _move(self) -> None:
        """Make the moves that were asked for. A board that is changed meanwhile by hand is the one that counts."""
        while self.moves:
            with self.lock:
                board, move = self.board, self.moves.pop(0)
            moved = move(board)
            with self.lock:
                if self.board is board:
                    self.board = moved

    def compute(self, board: Board, view: View) -> Shown:
        frames = [self._frame(board, separator) for separator in board.separators]
        pictures = [_drawn(frame, board, view) for frame in frames]
        first = board.separators[0]
        online = frames[0].unit == "updates" and board.step > 1 and len(frames[0].corrected)
        before = frame_at(board, first, board.step - 1) if online else None
        answer, meeting = self._answer_for(board)
        promises = [self._promise(board, separator) for separator in board.separators]
        courses = [self._course(board, frame) for frame in frames]
        return Shown(board, frames, pictures, before, promises, answer, meeting, courses)

    def _course(self, board: Board, frame: Frame) -> Course:
        """The bounds so far; steps that were jumped over are looked up, a few of very many."""
        key = (*_key(board), board.degree, repr(frame.separator))
        known = self.courses.get(key, {})
        if frame.model is not None:
            last = max(min(board.step, (frame.updates if frame.unit == "updates" else frame.epochs) + 1), 1)
            between: list[int] = []
            if frame.unit != "solved":
                first = max((step for step in known if step < last), default=0) + 1
                between = np.unique(np.linspace(first, last, MOST_BETWEEN).astype(int)).tolist()
            missing = [step for step in between if step not in known and step != last]
            looked_up = {step: _bounds(frame_at(board, frame.separator, step)) for step in missing}
            known = {**known, **looked_up, last: _bounds(frame)}
            self.courses = {**dict(list(self.courses.items())[-8:]), key: known}
        return {step: bounds for step, bounds in known.items() if step <= board.step}

    def _frame(self, board: Board, separator: Separator) -> Frame:
        """A fit that has ended is the same at every later step."""
        key = (*_key(board), board.degree, repr(separator))
        known = self.ended.get(key)
        if known is not None and board.step >= known.step:
            return known
        frame = frame_at(board, separator, board.step)
        if frame.done:
            self.ended = {**dict(list(self.ended.items())[-8:]), key: frame}
        return frame

    def _answer_for(self, board: Board) -> tuple[Separability | None, Meeting | None]:
        """Is it separable, and if not, where do the hulls meet: decided once for the same points."""
        key = _key(board)
        if key not in self.answers:
            answer, meeting = None, None
            if len(board.classes) > 1:
                try:
                    for patience in PATIENCE:
                        answer = separability(board.points, board.labels, max_time=patience)
                        if answer.separable is not None:
                            break
                    if answer is not None and answer.separable is False:
                        meeting = meeting_of(answer, board.points, board.labels)
                except DataError:  # nothing of it can be drawn
                    pass
            self.answers = {key: (answer, meeting)}
        return self.answers[key]

    def _promise(self, board: Board, separator: Separator) -> Theory | None:
        key = (*_key(board), board.degree, repr(separator))
        if key not in self.theories:
            self.theories = {**dict(list(self.theories.items())[-8:]), key: promise(board, separator)}
        return self.theories[key]


def epoch_of(board: Board) -> Board:
    """The board when the first separator has ended its epoch."""
    return board.changed(step=next_epoch(board, board.separators[0], board.step))


def _bounds(frame: Frame) -> tuple[float, float]:
    lower = np.nan if frame.lower is None else max(frame.lower, -2.0 * min(frame.upper, 1e300))
    return lower, frame.upper if np.isfinite(frame.upper) else np.nan


def _key(board: Board) -> tuple[bytes, bytes]:
    return board.points.tobytes(), np.asarray(board.codes).tobytes()


def _drawn(frame: Frame, board: Board, view: View) -> Picture | None:
    try:
        return picture_of(frame, board, view)
    except (ValueError, ArithmeticError):  # numbers too large to draw
        return None
