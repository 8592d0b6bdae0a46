"""The studio without a browser: its state, its steps, its words, its files and its doors."""

import base64
import builtins
import functools
import math
import queue
import signal
import subprocess
import sys
import threading
import zlib
from contextlib import nullcontext

import numpy as np
import pytest
from cases import EVERYONE
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from separatrix import DataError, KernelMaxMargin, MaxMargin, MissingExtraError, Perceptron, Separability, separability
from separatrix.studio import course_table, in_words
from separatrix.studio import session as studio_session
from separatrix.studio.board import MOST_POINTS, Board, Separator
from separatrix.studio.course_table import verdict_words
from separatrix.studio.files_in import LARGEST_FILE, PROJECTED, load, load_bytes
from separatrix.studio.forms import checked_parameters, fields_of, value_of
from separatrix.studio.point_sets import OWN, SETS, set_of
from separatrix.studio.session import Session, epoch_of
from separatrix.studio.stepping import Frame, frame_at, next_epoch, picture_of, promise

pytest.importorskip("bokeh", reason="the studio draws with Bokeh")

VIEW = (-3.0, 3.0, -3.0, 3.0)
PERCEPTRON = Separator("Perceptron")


def separable():
    return Board.of(*SETS["separable"]())


def test_ready_made_sets_are_what_they_say():
    answers = {name: separability(*make()[:2]).separable for name, make in SETS.items()}
    wanted = {"separable": True, "one point too many": False, "XOR": False, "rings": False}
    assert {name: answers[name] for name in wanted} == wanted
    assert all(2 <= len(Board.of(*make()).classes) <= 5 for make in SETS.values())
    assert len(SETS["500 points"]()[0]) == 500


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(0, 4)), max_size=30),
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 3]),
)
def test_a_link_holds_the_state_to_the_last_bit(points, step, degree):
    places, codes = [p[:2] for p in points], [p[2] for p in points]
    separators = (PERCEPTRON, Separator("MaxMargin", {"C": math.inf}))
    board = Board.of(places, codes, ("a b", "<i>"), separators=separators, step=step, degree=degree)
    again = Board.from_link(board.link())
    np.testing.assert_array_equal(again.points, board.points)
    np.testing.assert_array_equal(again.codes, board.codes)
    assert (again.axes, again.separators, again.step, again.degree) == (board.axes, separators, step, degree)


@pytest.mark.parametrize(
    "change",
    [
        lambda link: "",
        lambda link: "x" * 70_000,
        lambda link: link[:-20],
        lambda link: "e30",
        lambda link: base64.urlsafe_b64encode(zlib.compress(b" " * 10**7)).decode(),
        lambda link: Board.of([[0.0, 1.0]], [0]).changed(separators=(Separator("load"),)).link(),
        lambda link: (
            Board.of([[0.0, 1.0]], [0]).changed(separators=(Separator("MaxMargin", {"checkpoint": "x"}),)).link()
        ),
        lambda link: Board.of([[0.0, 1.0]], [0]).changed(separators=(Separator("MaxMargin", {"C": -1}),)).link(),
        lambda link: Board.of([[0.0, 1.0]], [0]).changed(separators=(PERCEPTRON,) * 9).link(),
        lambda link: Board(np.array([[math.nan, 0.0]]), np.array([0])).link(),
        lambda link: Board(np.zeros((1, 2)), np.array([7])).link(),
        lambda link: Board(np.zeros((1, 2)), np.array([1]), names=("one",)).link(),
    ],
)
def test_nothing_of_a_link_is_believed(change):
    with pytest.raises(DataError, match="The link holds no state"):
        Board.from_link(change(separable().link()))


def test_there_are_limits():
    with pytest.raises(DataError, match="at most 2,000"):
        Board.of(np.zeros((MOST_POINTS + 1, 2)), np.zeros(MOST_POINTS + 1))
    with pytest.raises(DataError, match="takes 5 MB"):
        load_bytes(b"a" * (LARGEST_FILE + 1), "large.csv")


def test_forms_come_from_the_constraints_of_the_estimators():
    for cls in EVERYONE:
        fields = {field.name: field for field in fields_of(cls)}
        assert checked_parameters(cls, {f.name: f.default for f in fields.values()}) == {}
        assert not {"n_jobs", "warm_start"} & set(fields)
    fields = {field.name: field for field in fields_of(KernelMaxMargin)}
    assert fields["kernel"].kind == "choice"
    assert set(fields["kernel"].options) == {"linear", "poly", "rbf", "sigmoid"}
    assert fields["C"].kind == "text"
    assert value_of(fields["C"], "inf") == math.inf
    assert value_of(fields["gamma"], "0.5") == 0.5
    assert value_of(fields["gamma"], "scale") == "scale"
    assert value_of(fields["gamma"], "__import__('os')") == "__import__('os')"
    assert next(f.name for f in fields_of(Perceptron)) == "margin"  # those of its own first
    with pytest.raises(DataError, match="'C' parameter"):
        checked_parameters(MaxMargin, {"C": -1.0})
    with pytest.raises(DataError, match="no parameter"):
        checked_parameters(MaxMargin, {"max_time": 3.0})


@pytest.mark.parametrize("cls", EVERYONE, ids=lambda c: c.__name__)
def test_every_estimator_makes_steps(cls):
    board = Board.of(*SETS["iris, petals"]())
    frame = frame_at(board, Separator(cls.__name__), 3)
    assert not frame.error
    picture = picture_of(frame, board, VIEW, steps=12)
    assert picture.winner.shape == (12, 12)
    assert set(np.unique(picture.winner)) <= set(board.classes)
    frame_at(board, Separator(cls.__name__), 0)


def test_the_corrected_row_explains_the_update():
    board, vectors = separable(), [np.zeros(3)]
    for step in range(1, 8):
        frame = frame_at(board, PERCEPTRON, step)
        vectors.append(np.append(frame.model.coef_[0], frame.model.intercept_))
        (row,) = frame.corrected
        sign = 1 if board.codes[row] == 1 else -1
        np.testing.assert_allclose(vectors[-1] - vectors[-2], sign * np.append(board.points[row], 1.0))


def test_epochs_and_the_end():
    board = separable()
    step, epochs = 0, []
    while not (frame := frame_at(board, PERCEPTRON, step)).done:
        step = next_epoch(board, PERCEPTRON, step)
        epochs.append(step)
    assert epochs == sorted(set(epochs))
    assert frame.updates == Perceptron(until="separated").fit(board.points, board.labels).n_updates_
    assert promise(board, PERCEPTRON).bound >= frame.updates
    assert epoch_of(board).step == epochs[0]


def test_the_promise_for_three_classes_is_the_largest():
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(size=(8, 2)) * 0.3 + centre for centre in ([0, 0], [9, 0], [0, 2])])
    board = Board.of(points.tolist(), [0] * 8 + [1] * 8 + [2] * 8)
    bounds = [c.theory.bound for c in Perceptron(until="separated").fit(board.points, board.labels).certificates_]
    assert promise(board, PERCEPTRON).bound == max(bounds) > 2 * min(bounds)


@pytest.mark.parametrize(("lower", "upper", "shown"), [(0.5, 0.5, "100.0%"), (0.25, 0.5, "50.0%"), (0.5, math.inf, "")])
def test_the_share_of_the_optimal_margin(lower, upper, shown):
    assert course_table._share(Frame(PERCEPTRON, 1, "updates", lower=lower, upper=upper)) == shown


def test_parameters_that_do_not_fit_the_points_are_told():
    lonely = Board.of([[0.0, 1.0]], [0])
    assert "two classes" in frame_at(lonely, PERCEPTRON, 1).error
    xor = Board.of(*SETS["XOR"]())
    assert frame_at(xor, Separator("HoKashyap", {"eta": 5.0}), 1).error
    assert "no single" not in frame_at(xor, Separator("MaxMargin", {"C": math.inf}), 1).error


def test_the_same_in_python_gives_the_same_fit(capsys):
    boards = {
        "Perceptron": separable().changed(step=4),
        "MaxMargin": separable().changed(step=1, degree=2),
        "KernelMaxMargin": Board.of(*SETS["iris, petals"](), names=("a", "'b'", "c")).changed(step=1),
        "BatchPerceptron": separable().changed(step=2),
    }
    for name, board in boards.items():
        frame = frame_at(board, Separator(name, {"C": math.inf} if name == "MaxMargin" else {}), board.step)
        names = {}
        with nullcontext() if frame.done else pytest.warns(ConvergenceWarning):
            exec(in_words.same_in_python(frame, board), names)
        mesh = np.array([[0.3, 0.1], [2.0, 0.5], [-1.0, 1.0]])
        np.testing.assert_array_equal(names["model"].decision_function(mesh), frame.model.decision_function(mesh))


def test_a_step_in_words():
    board = Board.of(*SETS["separable"](), names=("<b>", "two"))
    before, frame = (frame_at(board, PERCEPTRON, step) for step in (3, 4))
    words = in_words.formula(frame, before, board)
    assert "Update 4" in words
    assert "a += eta" in words
    assert "<b>," not in words
    m = float(before.model.decision_function(board.points[frame.corrected])[0])
    sign = 1 if board.codes[frame.corrected[0]] == 1 else -1
    assert f"= {sign * m:.4g};" in words
    assert "(R/gamma)^2" in in_words.theorem(frame, promise(board, PERCEPTRON))
    no = Board.of(*SETS["XOR"]())
    assert "No limit" in in_words.theorem(frame_at(no, PERCEPTRON, 5), promise(no, PERCEPTRON))
    for cls in EVERYONE:
        in_words.formula(frame_at(board, Separator(cls.__name__), 2), None, board)


def test_a_session_computes_undoes_and_drops_stale_questions():
    shown = []
    session = Session(separable(), shown.append)
    session.ask(VIEW)
    session.ask(VIEW, epoch_of)
    session.worker.shutdown(wait=True)
    assert shown[-1].board.step > 0
    assert shown[-1].answer.separable is True
    assert not session.busy
    first = session.board
    session.change(Board.of(*SETS["XOR"]()))
    printed = session.compute(session.board, VIEW)
    assert printed.meeting is not None
    assert printed.answer.separable is False
    assert session.undo()
    assert session.board is first
    assert not session.undo()
    session.close()


def test_points_are_decided_also_where_compiling_takes_the_first_seconds(monkeypatch):
    given = []

    def slow_at_first(points, labels, max_time):
        given.append(max_time)
        return separability(points, labels) if len(given) > 1 else Separability(None, "undecided", False)

    monkeypatch.setattr(studio_session, "separability", slow_at_first)
    session = Session(separable(), lambda shown: None)
    assert session.compute(session.board, VIEW).answer.separable is True
    assert len(given) == 2
    assert given[1] > given[0]
    session.compute(session.board, VIEW)
    assert len(given) == 2  # it is remembered
    session.close()


def test_a_set_has_its_name_until_a_point_changes():
    for name, make in SETS.items():
        assert set_of(Board.of(*make())) == name
    board = separable()
    assert set_of(Board.of(board.points[1:], board.codes[1:])) == OWN


def test_a_verdict_in_words():
    triangle = Board.of([[0, 0], [4, 0], [0, 4], [1, 1]], [0, 0, 0, 1])
    session = Session(triangle, lambda shown: None)
    words = verdict_words(session.compute(triangle, VIEW))
    assert "No line separates class 1 from class 2" in words
    assert "a point of class 2 is exactly a weighted mean of 3 points of class 1" in words
    session.close()
    solved = frame_at(triangle, Separator("MaxMargin"), 1)
    assert "solved at once" in in_words.theorem(solved, None)


def test_files_become_points(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("length,width,kind,species\n" + "\n".join(f"{k},{k % 3},x,{'ab'[k > 4]}" for k in range(9)))
    loaded = load(path, "species")
    assert loaded.columns == ["length", "width"]
    places, _, axes, names, printed = loaded.points("length", "width")
    np.testing.assert_array_equal(places[:, 0], np.arange(9))
    assert (axes, names, printed) == (("length", "width"), ("a", "b"), "")
    assert loaded.labels == ["length", "width", "kind", "species"]
    assert len(loaded.again("width").points("length", "length")[3]) == 3
    assert "projected" in loaded.points(PROJECTED, PROJECTED)[-1]
    assert (
        "2,000 of 2,500 rows"
        in load_bytes(b"x,y,l\n" + b"".join(b"%d,1,%d\n" % (k, k % 2) for k in range(2500)), "many.csv").points(
            "x", "y"
        )[-1]
    )
    for content, words in (
        (b"\x00\xff" * 100, "broken.csv"),
        (b"", "broken.csv"),
        (b"a,b\n1,x\n2,y\n3,z\n4,u\n5,v\n6,w\n", "6 classes"),
        (b"a,b\n1,\n2,y\n3,\n", "broken.csv"),
    ):
        with pytest.raises(DataError, match=words):
            load_bytes(content, "broken.csv").points("a", "a")


def test_the_door_is_open_to_this_machine_alone():
    pytest.importorskip("panel", reason="panel comes with the studio extra")
    from separatrix.studio.serving import server

    before = signal.getsignal(signal.SIGINT)
    made = server()
    assert signal.getsignal(signal.SIGINT) is before  # Panel would keep Ctrl-C from every fit of this process
    try:
        assert made.address == "127.0.0.1"
        (sockets,) = ([s.getsockname()[0] for s in made._http._sockets.values()],)
        assert set(sockets) == {"127.0.0.1"}
        assert made._tornado.websocket_origins == {f"127.0.0.1:{made.port}", f"localhost:{made.port}"}
    finally:
        made.stop()
    with pytest.raises(DataError, match="password"):
        server(host="0.0.0.0")
    with pytest.raises(DataError, match="password"):
        server(host="0.0.0.0", password="short")


def test_ctrl_c_ends_it():
    pytest.importorskip("panel", reason="panel comes with the studio extra")
    command = [sys.executable, "-m", "separatrix", "studio", "--no-show"]
    obeys = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)  # whoever ignores it here
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=obeys) as process:
        assert "(Ctrl-C ends it)" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read().strip() == "The studio has ended."


def test_a_password_guards_what_others_can_reach():
    pytest.importorskip("panel", reason="panel comes with the studio extra")
    from separatrix.studio.serving import server

    made = server(host="127.0.0.1", password="correct horse")
    try:
        guard = made._tornado.auth_provider
        assert guard.login_handler is not None
        assert len(made._tornado.settings["cookie_secret"]) == 64
        page = guard._login_template.render(errormessage="<b>", login_endpoint="/login")
        assert 'action="./login"' in page
        assert "&lt;b&gt;" in page
        assert "http" not in page
    finally:
        made.stop()


def test_without_panel_the_install_line_is_told(monkeypatch):
    from separatrix.studio.page import panel

    real = builtins.__import__

    def missing(name, *arguments, **options):
        if name.split(".")[0] == "panel":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[studio\]'"):
        panel()


def test_an_epoch_that_was_asked_for_is_not_lost_when_the_view_changes_meanwhile():
    shown = queue.Queue()
    session = Session(Board.of(*SETS["separable"]()), shown.put)
    gate = threading.Event()
    session.worker.submit(gate.wait)  # both questions wait, as behind a long fit
    session.ask((-2, 2, -2, 2), epoch_of)
    session.ask((-3, 3, -3, 3))
    gate.set()
    assert shown.get(timeout=60).board.step > 0
    session.close()


def test_a_board_changed_by_hand_is_not_undone_by_a_move_in_the_thread():
    session = Session(Board.of(*SETS["separable"]()), lambda shown: None)
    by_hand = session.board.changed(degree=2)

    def slow_move(board):
        session.change(by_hand)
        return board.changed(step=5)

    session.moves.append(slow_move)
    session._move()
    assert session.board is by_hand
    session.close()


@pytest.mark.parametrize("name", ["XOR", "one point too many"])
def test_a_fit_that_met_its_limit_of_epochs_is_not_called_converged(name):
    board = Board.of(*SETS[name]())
    frame = frame_at(board, PERCEPTRON, 10**7)
    assert frame.done
    assert not frame.model.converged_
    words = in_words.formula(frame, None, board)
    assert f"Stopped at {frame.epochs:,} epochs: not converged, {frame.wrong:,} row" in words
    assert "without an update" not in words
    assert course_table._state(frame) == f"Stopped at {frame.epochs:,} epochs"


def test_a_fit_that_converged_says_so():
    frame = frame_at(separable(), PERCEPTRON, 10**7)
    assert "A whole epoch passed without an update: converged." in in_words.formula(frame, None, separable())
    assert course_table._state(frame) == "Converged"


def test_ho_kashyap_reports_its_proof():
    board = Board.of(*SETS["one point too many"]())
    frame = frame_at(board, Separator("HoKashyap"), 10**7)
    assert frame.model.outcome_ == "not separable"
    assert "Not linearly separable: the error vector has no positive component" in in_words.formula(frame, None, board)
    assert course_table._state(frame) == "Not separable"


def test_limits_are_shown_only_where_the_theorem_applies():
    for name in SETS:
        board = Board.of(*SETS[name]())
        limit = promise(board, PERCEPTRON)
        frame = frame_at(board, PERCEPTRON, 10**7)
        assert limit is None or frame.updates <= limit.bound, name
