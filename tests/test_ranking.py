"""Average ranks over data sets: against ranks counted by hand, and the numbers of Demsar's paper."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

from separatrix.app.cli import app
from separatrix.app.ranking import Ranking, critical_difference, ranked
from separatrix.app.workflows import comparing
from separatrix.errors import DataError
from separatrix.plots import CriticalDifferenceDisplay

# Demsar (2006), table 6: AUC of C4.5, with pruning of leaves (m), of confidence (cf), and of both.
DEMSAR = [
    (0.763, 0.768, 0.771, 0.798),
    (0.599, 0.591, 0.590, 0.569),
    (0.954, 0.971, 0.968, 0.967),
    (0.628, 0.661, 0.654, 0.657),
    (0.882, 0.888, 0.886, 0.898),
    (0.936, 0.931, 0.916, 0.931),
    (0.661, 0.668, 0.609, 0.685),
    (0.583, 0.583, 0.563, 0.625),
    (0.775, 0.838, 0.866, 0.875),
    (1.000, 1.000, 1.000, 1.000),
    (0.940, 0.962, 0.965, 0.962),
    (0.619, 0.666, 0.614, 0.669),
    (0.972, 0.981, 0.9751, 0.975),  # printed alike, ranked 2 and 3: the paper had more digits
    (0.957, 0.978, 0.946, 0.970),
]
C45 = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def test_the_example_of_demsar():
    found = ranked(C45, DEMSAR)
    np.testing.assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert found.statistic == pytest.approx(9.28, abs=5e-3)
    F = 13 * found.statistic / (14 * 3 - found.statistic)
    assert F == pytest.approx(3.69, abs=5e-3)
    assert found.p_value == pytest.approx(stats.f.sf(F, 3, 39))
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert ranked(C45, DEMSAR, level=0.10).critical_difference == pytest.approx(1.12, abs=5e-3)


@pytest.mark.parametrize(
    ("level", "critical"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_values_of_his_table_5(level, critical):
    k = np.arange(2, 11)
    ours = [critical_difference(int(j), 20, level) / np.sqrt(j * (j + 1) / 120) for j in k]
    np.testing.assert_allclose(ours, critical, atol=1.1e-3)


def test_ranks_counted_by_hand():
    """Ties share their ranks, and no answer is worse than any."""
    found = ranked("ABCD", [[0.9, 0.8, 0.8, 0.1], [0.5, 0.5, 0.5, np.nan], [0.2, np.nan, 0.3, np.nan]])
    np.testing.assert_allclose(found.ranks * 3, [1 + 2 + 2, 2.5 + 2 + 3.5, 2.5 + 2 + 1, 4 + 4 + 3.5])


def test_groups_are_the_longest_runs_within_the_critical_difference():
    def groups(ranks, difference):
        names = [f"{j}" for j in range(len(ranks))]
        return Ranking(names, np.array(ranks), 9, 1.0, 0.01, difference, 0.05).groups

    assert groups([3.0, 1.0, 1.9, 4.5], 1.2) == [[1, 2], [2, 0]]
    assert groups([1.0, 2.0], 1.0) == []  # a difference of exactly CD tells apart
    assert groups([1.0, 1.5, 2.0, 2.5], 2.0) == [[0, 1, 2, 3]]
    assert groups([1.0, 1.5, 3.0, 3.4], 1.0) == [[0, 1], [2, 3]]


@settings(max_examples=20)
@given(st.integers(2, 6), st.integers(2, 6), st.randoms(use_true_random=False))
def test_order_and_scale_of_scores_do_not_matter(n, k, random):
    scores = np.array([[random.randint(0, 4) for _ in range(k)] for _ in range(n)], dtype=float)
    names = [f"{j}" for j in range(k)]
    found = ranked(names, scores)
    assert found.ranks.sum() == pytest.approx(k * (k + 1) / 2)
    assert 0.0 <= found.p_value <= 1.0
    np.testing.assert_allclose(ranked(names, np.exp(scores)).ranks, found.ranks)
    turned = np.array(random.sample(range(k), k))
    np.testing.assert_allclose(ranked(names, scores[:, turned]).ranks, found.ranks[turned])
    for group in found.groups:
        assert np.ptp(found.ranks[group]) < found.critical_difference


def test_one_who_always_wins():
    found = ranked(["first", "second"], [[1.0, 0.0]] * 8)
    assert found.p_value == 0.0
    assert found.groups == []
    same = ranked(["first", "second"], [[1.0, 1.0]] * 8)
    assert same.p_value == 1.0
    assert same.groups == [[0, 1]]


@pytest.mark.parametrize(
    ("scores", "level", "words"),
    [
        ([[1.0, 2.0]], 0.05, "two data sets"),
        ([[1.0], [2.0]], 0.05, "no table"),
        ([1.0, 2.0], 0.05, "no table"),
        ([[1.0, 2.0], [1.0, 2.0]], 1.0, "level"),
    ],
)
def test_what_cannot_be_ranked(scores, level, words):
    with pytest.raises(DataError, match=words):
        ranked(["A", "B"], scores, level)


def test_the_diagram_shows_every_name_at_its_rank():
    display = CriticalDifferenceDisplay.from_scores(C45, DEMSAR, title="$4 \\% of trees")
    texts = [t.get_text() for t in display.ax_.texts]
    for name, rank in zip(C45, display.ranking.ranks, strict=True):
        assert any(name in text and f"{rank:.1f}" in text for text in texts)
    assert "critical difference 1.25" in texts
    bars = [line for line in display.ax_.lines if line.get_linewidth() == 3.5]
    ends = [sorted(display.ranking.ranks[group])[:: len(group) - 1] for group in display.ranking.groups]
    assert [list(bar.get_xdata()) for bar in bars] == ends
    plt.close(display.figure_)


@pytest.fixture
def three_files(tmp_path):
    rng = np.random.default_rng(0)
    for k in range(3):
        X, y = rng.normal(size=(24, 2)), np.arange(24) % 2
        X[:, 0] += (1.0 + k) * y
        lines = [f"{a},{b},c{label}" for (a, b), label in zip(X, y, strict=True)]
        (tmp_path / f"{k}.csv").write_text("\n".join(["a,b,label", *lines]))
    return [str(tmp_path / f"{k}.csv") for k in range(3)]


@pytest.mark.parametrize("results", [0, 1])
def test_compare_of_several_files_is_interrupted(three_files, monkeypatch, results):
    """Before the second file has a result, or after its first: the table of the first file is shown."""
    calls, measure = [], comparing._measure

    def interrupted(*given):
        calls.append(given[0])
        if len(calls) > 2 + results:
            raise KeyboardInterrupt
        return measure(*given)

    monkeypatch.setattr(comparing, "_measure", interrupted)
    asked = ["compare", *three_files, "-t", "label", "--cv", "2", "--algorithms", "LeastSquares,Perceptron"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 130
    assert result.stdout.count("LeastSquares") + result.stdout.count("Perceptron") == 2 + results
    assert "No ranks: Ranking needs at least two data files" in result.stderr
    assert "not tried" in result.stderr


def test_compare_ranks_over_several_files(three_files, tmp_path):
    asked = ["compare", *three_files, "-t", "label", "--cv", "2", "--algorithms", "LeastSquares,Perceptron,Pocket"]
    picture = tmp_path / "ranks.svg"
    shown = CliRunner().invoke(app, [*asked, "--plot", str(picture)])
    assert shown.exit_code == 0
    assert "average ranks by cross-validated accuracy, 3 files" in shown.output
    assert "All equal? p =" in shown.output
    assert picture.read_text().lstrip().startswith("<?xml")
    printed = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    scores = [{row["name"]: row["cv"] for row in rows} for rows in printed["files"].values()]
    names = ["LeastSquares", "Perceptron", "Pocket"]
    expected = ranked(names, [[row[name] for name in names] for row in scores])
    assert printed["ranking"]["ranks"] == pytest.approx(dict(zip(names, expected.ranks, strict=True)))
    assert printed["ranking"]["critical_difference"] == pytest.approx(critical_difference(3, 3))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--cv", "0"], "--cv has to be 2"),
        (["--algorithms", "Pocket"], "two algorithms"),
        (["--plot", "ranks.html"], "a diagram of ranks ends with .png, .svg, .pdf"),
        (["{first}"], "named twice"),
    ],
)
def test_what_several_files_need(three_files, more, words):
    more = [word.format(first=three_files[0]) for word in more]
    result = CliRunner().invoke(app, ["compare", *three_files, "-t", "label", *more])
    assert result.exit_code == 3
    assert words in result.stderr
