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
    assert "**not met**" in text
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
