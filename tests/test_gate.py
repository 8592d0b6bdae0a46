"""The gate between two versions: limits, changes of results, translated names, processes."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import separatrix

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="the benchmarks are not in the wheel")

FORMER = {
    "absent": "separatrix.no_such_module",
    "modules": {"separatrix.current": "separatrix.rules"},
    "parameters": {"current": "former", "lost": "forgotten"},
    "values": {"multi_class": {"joint": "formerly"}},
}


@pytest.fixture(scope="module")
def benchmarks():
    sys.path.insert(0, str(ROOT))
    try:
        import benchmarks.gate
        import benchmarks.gate_worker

        yield benchmarks
    finally:
        sys.path.remove(str(ROOT))


@pytest.fixture
def verdict(benchmarks):
    """A verdict on invented answers: seconds, gap, bounds and error of the tree."""
    parameters = {"C": 1.0}
    configuration = benchmarks.gate.Configuration("c", "real", "key", lambda: None, "MaxMargin", parameters)

    def answer(seconds, gap=1e-6, lower=0.5, upper=0.6, error=None):
        return {"seconds": seconds, "wall": seconds, "error": error, "bounds": [[lower, upper, gap]]}

    def judged(before, after, exceptions=(), **tree):
        answers = {"baseline": [answer(before)] * 3, "baseline again": [answer(before)] * 3}
        runs = [answer(seconds, **tree) for seconds in (after, 100.0, 0.0)]  # the median counts
        return benchmarks.gate.judge(configuration, answers | {"tree": [*runs, runs[0]]}, dict(exceptions))

    return judged


def test_a_short_fit_may_take_10_ms_more_and_a_long_one_a_factor(verdict):
    assert not verdict(0.001, 0.0109).over
    assert "11.10 times" in verdict(0.001, 0.0111).over
    assert not verdict(0.1, 0.129).over
    assert verdict(0.1, 0.131).over


def test_a_listed_exception_may_be_slower_up_to_its_own_limit(verdict):
    listed = {"c": {"at_most": 2.0, "reason": "why"}}
    assert not verdict(0.1, 0.19, listed).over
    assert "why" in verdict(0.1, 0.19, listed).remarks
    assert verdict(0.1, 0.21, listed).over
    assert not verdict(0.1, 0.11, listed).remarks


def test_a_lost_gap_an_error_and_a_contradiction_exceed_a_limit(verdict):
    assert "gap 1.0e-03" in verdict(0.1, 0.1, gap=1e-3).over
    assert "NotSeparableError" in verdict(0.1, 0.1, error="NotSeparableError").over
    assert "contradict" in verdict(0.1, 0.1, lower=0.61, upper=0.62).over
    assert "contradict" in verdict(0.1, 0.1, lower=0.4, upper=0.49).over


def test_the_report_counts_the_mean_and_lists_what_changed(benchmarks, verdict):
    Report, differences = benchmarks.gate.Report, benchmarks.gate.differences
    steady = {"coef_": np.array([1.0, 2.0]), "n_iter_": np.asarray(3), "error": np.asarray("none")}
    other = {"coef_": np.array([1.0, 2.0 + 1e-9]), "n_visits_": np.asarray(5), "error": np.asarray("none")}
    changes = differences("row", steady, other, steady)
    assert [(change.what, change.amount[:9]) for change in changes] == [
        ("coef_", "relativel"), ("n_iter_", "only befo"), ("n_visits_", "only now"),
    ]  # fmt: skip
    assert differences("row", steady, dict(steady), steady) == []
    assert [c.what for c in differences("row", steady, {"error": np.asarray("DataError")}, steady)] == ["error"]
    report = Report([verdict(0.1, 0.12), verdict(0.1, 0.1)], 1, changes, {"machine": "m"})
    assert report.exceeded == ["geometric mean 1.095"]
    text = report.text()
    assert "relatively 5.0e-10" in text
    assert "n_iter_: only before, 1 rows" in text
    assert len({line.count("|") for line in text.splitlines() if "|" in line}) == 1
    assert report.as_json()["configurations"][0]["ratio"] == pytest.approx(1.2)


def test_names_are_translated_for_a_version_that_has_the_former_ones(benchmarks):
    def made(former=0, kept=0, multi_class="ovr"):
        pass

    names = benchmarks.gate_worker.Names(FORMER)
    wanted = {"current": 1, "kept": 2, "multi_class": "joint"}
    assert names.translated(made, wanted, {"lost": 3}) == {"former": 1, "kept": 2, "multi_class": "formerly"}
    assert names.translated(made, {"lost": 3}, {}) == {"forgotten": 3}  # refused by the version, as it should be
    assert names.module("separatrix.current") is separatrix.rules
    current = benchmarks.gate_worker.Names(FORMER | {"absent": "separatrix.rules"})
    same = {"current": 1, "multi_class": "joint"}
    assert current.translated(made, same, {}) == same


def test_the_configurations_are_as_many_as_the_gate_says(benchmarks):
    from benchmarks import gate_configurations as wanted

    everything = wanted.configurations()
    names = {configuration.name for configuration in everything}
    assert len(names) == len(everything)
    groups = [configuration.group for configuration in everything]
    assert (groups.count("real"), groups.count("generated")) == (85, 66)
    assert len(wanted.QUICK) == 30
    assert names.issuperset(wanted.QUICK)
    assert len(wanted.result_data()) == 12
    assert wanted.result_data().keys() >= set(wanted.QUICK_RESULTS)


def test_a_version_meets_itself(benchmarks, tmp_path):
    from benchmarks import gate_configurations as wanted

    gate = benchmarks.gate
    place = Path(separatrix.__file__).parents[1]
    cell = benchmarks.regime_cells.Cell(30, 3, 0, 1.0, 0.05, 1.0, "hinge")
    chosen, known = [wanted._generated(cell)], {}
    gate.measure(chosen, [place] * 3, range(1), tmp_path, known)
    assert chosen[0].parameters["loss"] == "hinge"
    found = gate.judge(chosen[0], known[chosen[0].name], {})
    assert all(gap is not None and gap <= 1e-4 for gap in found.gap.values())
    assert "contradict" not in found.over
    rows = gate.result_rows(["PassiveAggressive"], quick=False)
    assert len(rows) == 12
    assert gate.compare_results([place] * 3, rows, tmp_path) == []


def test_a_process_that_dies_has_no_answer_and_is_started_anew(benchmarks):
    version = benchmarks.gate.Version(Path(separatrix.__file__).parents[1])
    try:
        assert version.ask("stop_working")["error"] == "no answer"
        assert "Perceptron" in version.ask("list")["names"]
    finally:
        version.stop()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_commit_is_copied_once(benchmarks, tmp_path):
    repository, versions = tmp_path / "repository", tmp_path / "versions"
    (repository / "src").mkdir(parents=True)
    (repository / "src" / "a.py").write_text("1\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "a"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    place = benchmarks.gate.install("HEAD", versions, repository)
    assert (place / "a.py").read_text() == "1\n"
    assert benchmarks.gate.keep(repository / "src", versions) == place
    (repository / "src" / "a.py").write_text("2\n")
    assert benchmarks.gate.keep(repository / "src", versions) != place
    with pytest.raises(SystemExit, match="no source of commit"):
        benchmarks.gate.install("nothing", versions, repository)
