"""The rules of the benchmark race: who counts, and how it is written down."""

import functools
import importlib.util
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import blobs_2d
from sklearn.svm import LinearSVC

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="the benchmarks are not in the wheel")


@pytest.fixture(scope="module")
def race():
    sys.path.insert(0, str(ROOT))
    try:
        import benchmarks.objective
        import benchmarks.race

        yield benchmarks
    finally:
        sys.path.remove(str(ROOT))


def test_a_peer_counts_at_the_first_setting_that_truly_reaches_the_target(race):
    timing = race.race.first_that_reaches([lambda: 3.0, lambda: 0.5, lambda: 0.0], lambda value: value, 1.0, 10.0)
    assert timing.reached == 0.5
    assert 0 < timing.seconds < 1.0


def test_a_peer_that_fails_stalls_or_misses_has_no_answer(race):
    import time

    def fails():
        raise RuntimeError("no")

    for runs in ([fails], [lambda: time.sleep(5)], [lambda: 2.0]):
        judge = lambda value: 1.0 if value is None else value  # noqa: E731
        assert math.isinf(race.race.first_that_reaches(runs, judge, 0.1, 0.3).seconds)


def test_ratio_goal_and_table(race):
    Row, Timing = race.race.Row, race.race.Timing
    rows = [
        Row("a", Timing(0.5), {"p": Timing(1.0), "q": Timing(3.0)}, 1.5),
        Row("b", Timing(1.0), {"q": race.race.NO_ANSWER}, 1.0),
        Row("c", Timing(1.0), {}, 1.5, at_most=True, value=2.0),
    ]
    assert [row.ratio for row in rows] == [2.0, math.inf, 2.0]
    assert [row.met for row in rows] == [True, True, False]
    text = race.race.table(rows)
    assert "only answer" in text
    assert len({line.count("|") for line in text.splitlines()}) == 1
    back = [race.race.from_json(row) for row in json.loads(json.dumps(race.race.as_json(rows)))]
    assert race.race.table(back) == text


def test_the_objective_judges_as_the_certificate_does(race):
    from separatrix import MaxMargin

    X, y = blobs_2d()
    y = 2 * y - 1
    model = MaxMargin(np.inf).fit(X, y)
    a = np.append(model.coef_[0], model.intercept_[0])
    assert race.objective.missing_margin(X, y, a, model.certificate_.upper) == pytest.approx(0.0, abs=1e-9)
    for C in (0.1, 10.0):
        soft = MaxMargin(C).fit(X, y)
        gap = functools.partial(race.objective.soft_gap, X, y, C)
        assert abs(gap(np.append(soft.coef_[0], soft.intercept_[0]))) < 1e-7
        rough = LinearSVC(C=C, tol=0.5).fit(X, y)
        assert gap(np.append(rough.coef_[0], rough.intercept_[0])) > 1e-4


def test_every_goal_has_its_module():
    text = (ROOT / "benchmarks" / "__main__.py").read_text()
    names = [line.split('"')[1] for line in text.split("GOALS = {")[1].split("}")[0].strip().splitlines()]
    assert len(names) >= 8
    for name in names:
        assert importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py") is not None
        assert "def measure(small)" in (ROOT / "benchmarks" / f"{name}.py").read_text()


def test_a_map_goes_on_where_it_was(race, monkeypatch, tmp_path, capsys):
    from argparse import Namespace

    from benchmarks import regime_cells, regime_map

    few = [regime_cells.Cell(30, 3, 0, C, 0.05, 1.0) for C in (1.0, 100.0)]
    monkeypatch.setattr(regime_map, "cells", lambda small: few)
    monkeypatch.setattr(regime_map, "MOST", 1)
    monkeypatch.setattr(regime_map, "LEAST", 1)
    options = Namespace(out=tmp_path, smoke=True, seconds=1.0, only="C = 1,")
    regime_map.draw(options)
    assert "1 cells" in (tmp_path / "map.txt").read_text()
    regime_map.draw(Namespace(**vars(options) | {"only": None}))
    measured = [line for line in capsys.readouterr().out.splitlines() if line.startswith("...")]
    assert [line.split(":")[0] for line in measured] == [f"... {cell}" for cell in few]  # each once
    assert "2 cells" in (tmp_path / "map.txt").read_text()


def test_every_kind_of_cell_has_its_peers_and_its_judge(race):
    from benchmarks.regime_cells import cells, contest, data

    for kind in ("squared", "hinge", "rbf", "least squares", "machine"):
        cell = min((c for c in cells(small=True) if c.kind == kind), key=lambda c: c.n)
        X, y = data(cell, 0)
        model, runs, judge = contest(cell, X, y)
        assert runs
        assert callable(judge(model.fit(X, y)))


def test_defaults_are_measured_beside_scikit_learn(race):
    from benchmarks import defaults

    pairs = defaults.contests()
    assert {"LeastSquares", "PiecewiseLinearMachine", "dropin.SVC", 'KernelMaxMargin(loss="hinge")'} <= pairs.keys()
    X, y = blobs_2d()
    cell = defaults.limited_cell(pairs["MaxMargin"], X, y, 2, 60.0, {})
    assert "late" not in cell
    assert "failed" not in cell
    for side in ("ours", "theirs"):
        assert cell[side]["runs"] == 2
        assert cell[side]["accuracy"] == 1.0
        assert {"fit", "predict", "memory"} <= cell[side].keys()
    late = defaults.limited_cell(pairs["MaxMargin"], X, y, 2, 0.0, {})
    assert late == {"late": 0.0}
    failed = defaults.limited_cell(pairs["MaxMargin"], X, y[:-1], 2, 60.0, {})
    assert "ValueError" in failed["failed"]


def test_a_slower_or_less_accurate_default_is_behind(race):
    from benchmarks import defaults_report as report

    def cell(contest, ours, theirs, gained=0.0):
        sides = {"ours": (ours, 0.9 + gained), "theirs": (theirs, 0.9)}
        values = {side: {"fit": fit, "accuracy": accuracy, "runs": 5} for side, (fit, accuracy) in sides.items()}
        return values | {"data": "d", "shape": [2, 1], "contest": contest, "counterpart": "S()"}

    verdicts = {
        (0.010, 0.0091): True,
        (0.012, 0.009): False,
        (0.004, 0.001): True,  # short: 3 ms later
        (0.005, 0.001): False,
    }
    for (ours, theirs), met in verdicts.items():
        assert report.in_target(cell("MaxMargin", ours, theirs)) is met
        assert report.in_target(cell("HoKashyap", ours, theirs))
    assert not report.in_target(cell("MaxMargin", 0.001, 0.001, -0.006))
    assert report.in_target(cell("HoKashyap", 0.001, 0.001, -0.006))
    assert not report.in_target(cell("HoKashyap", 0.011, 0.001))
    late = cell("MaxMargin", 1.0, 2.0) | {"ours": {}, "late": 5.0}
    cells = [cell("MaxMargin", 1.0, 4.0), cell("MaxMargin", 1.0, 1.0), late]
    assert "2x, 1 without an answer | 0x (d)" in report.summary(cells)
    assert "no answer in 5 s" in report.table(cells)
    assert "**behind**" in report.table([cell("MaxMargin", 2.0, 1.0)])
    once = report.placed("# Benchmarks\n\nold\n", "new")
    assert once == report.placed(once, "new")
    assert once.index("new") < once.index("old")
