"""Runs that survive: a fit that is killed goes on from its checkpoint, and ends with the same bits."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import separatrix
from separatrix import BatchPerceptron, HoKashyap, LeastSquares, MaxMargin, NotSeparableError, Perceptron
from separatrix.data import memory as memory_module
from separatrix.data.changed_rows import ScaledRows, WeightedRows
from separatrix.errors import DataError, SeparatrixError
from separatrix.passes import journal, summaries
from separatrix.passes.journal import Journal, JournaledRows

N, D = 2000, 6


@pytest.fixture
def folder(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(memory_module, "BLOCK_ROWS", 32)
    monkeypatch.setattr(memory_module, "BLOCK_VALUES", 128 * D)
    X, w = rng.normal(size=(N, D)), rng.normal(size=D)
    X += np.sign(X @ w)[:, None] * 0.1 * w / np.linalg.norm(w)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", X @ w > 0)
    noisy = X @ w > 0
    noisy[:20] ^= True
    np.save(tmp_path / "z.npy", noisy)
    return tmp_path


def rows(folder, target="y"):
    return separatrix.data.open_files(folder / "X.npy", target=folder / f"{target}.npy")


def result(model):
    return np.concatenate([model.coef_.ravel(), model.intercept_, [model.certificate_.lower, model.certificate_.upper]])


class BrokenOffError(Exception):
    """What ends a run in the middle."""


def broken_after(home, blocks):
    """The same home, which breaks off behind so many blocks."""
    read, left = home.blocks_from, [blocks]

    def some(number):
        for block in read(number):
            if left[0] == 0:
                raise BrokenOffError
            left[0] -= 1
            yield block

    home.blocks_from = some
    return home


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        MaxMargin(1.0, tol=1e-9),
        MaxMargin(np.inf, tol=1e-9),
        LeastSquares("fisher"),
        BatchPerceptron(),
        HoKashyap("descent"),
        Perceptron(average=True, max_iter=5, n_jobs=1),
        Perceptron(max_iter=5, mix=True),
    ],
)
def test_a_fit_that_breaks_off_again_and_again_ends_with_the_same_bits(folder, monkeypatch, model):
    monkeypatch.setattr(journal, "EVERY", 0.0)
    soft = getattr(model, "C", np.inf) == 1.0
    target, path = "z" if soft else "y", folder / "run.checkpoint"
    expected = clone(model).fit(rows(folder, target))
    attempts = 0
    while True:
        attempts += 1
        try:
            fitted = clone(model).set_params(checkpoint=path).fit(broken_after(rows(folder, target), 7))
            break
        except BrokenOffError:
            assert attempts < 100
    assert attempts > 2
    assert_array_equal(result(fitted), result(expected))
    assert [p.name for p in folder.glob("run.checkpoint*")] == ["run.checkpoint"]
    again = clone(model).set_params(checkpoint=path).fit(broken_after(rows(folder, target), 0))  # no pass is needed
    assert_array_equal(result(again), result(expected))


def test_a_checkpoint_is_guarded(folder):
    path = folder / "run.checkpoint"
    with pytest.raises(BrokenOffError):
        MaxMargin(checkpoint=path).fit(broken_after(rows(folder), 15))
    for model, target in ((MaxMargin(2.0), "y"), (MaxMargin(), "z")):
        with pytest.raises(DataError, match="other data or with other parameters"):
            model.set_params(checkpoint=path).fit(rows(folder, target))
    MaxMargin(checkpoint=path).fit(rows(folder))
    model = MaxMargin(2.0, checkpoint=path).fit(rows(folder))  # a finished run gives the file free
    assert_array_equal(result(model), result(MaxMargin(2.0).fit(rows(folder))))


@pytest.mark.parametrize("changed", ["class weights", "scale"])
def test_a_checkpoint_of_other_weights_or_scales_is_refused(folder, changed):
    path = folder / "run.checkpoint"

    def prepared(factor, blocks=10**9):
        source = broken_after(rows(folder), blocks)
        if changed == "scale":
            return ScaledRows(source, np.zeros(D), np.full(D, factor))
        return WeightedRows(source, np.array([factor, 1.0]))

    with pytest.raises(BrokenOffError):
        MaxMargin(checkpoint=path).fit(prepared(2.0, blocks=15))
    with pytest.raises(DataError, match="other data or with other parameters"):
        MaxMargin(checkpoint=path).fit(prepared(3.0))
    model = MaxMargin(checkpoint=path).fit(prepared(2.0))
    assert_array_equal(result(model), result(MaxMargin().fit(prepared(2.0))))


def test_what_is_no_checkpoint_is_left_alone(folder):
    path = folder / "letter.txt"
    path.write_text("dear reader, " * 30)
    with pytest.raises(DataError, match="not a checkpoint"):
        MaxMargin(checkpoint=path).fit(rows(folder))
    assert path.read_text().startswith("dear reader")
    with pytest.raises(SeparatrixError, match="cannot be written"):
        MaxMargin(checkpoint=folder / "nowhere" / "a").fit(rows(folder))
    with pytest.raises(ValueError, match="requires out-of-core data"):
        MaxMargin(checkpoint=path).fit(np.array([[0.0], [1.0]]), [0, 1])


@pytest.mark.parametrize("cut", [1, 5, 100])
def test_a_torn_record_is_cut_off(folder, cut):
    path = folder / "run.checkpoint"
    expected = MaxMargin(checkpoint=path).fit(rows(folder))
    os.truncate(path, path.stat().st_size - cut)
    assert_array_equal(result(MaxMargin(checkpoint=path).fit(rows(folder))), result(expected))
    with path.open("r+b") as file:  # a flipped byte in the middle: what follows is not trusted
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff")
    assert_array_equal(result(MaxMargin(checkpoint=path).fit(rows(folder))), result(expected))


def test_one_process_at_a_time(folder):
    with (
        JournaledRows(rows(folder), folder / "a"),
        pytest.raises(DataError, match="in use by another process"),
    ):
        JournaledRows(rows(folder), folder / "a")


def test_records_keep_every_bit(tmp_path):
    numbers, margins = np.array([3, 1]), np.array([0.1, -np.inf])
    worst = summaries.Extremes(np.float64(0.1), 2, numbers, margins, 5)
    kept = summaries.Sides(worst, worst._replace(minimum=float("nan")))
    first = Journal(tmp_path / "a", "f")
    first.add("k", kept)
    first.note("l", 7, worst)
    first.file.close()
    second = Journal(tmp_path / "a", "f")
    back = second.passes["k"]
    assert type(back) is summaries.Sides
    assert_array_equal(back.positive.margins, margins)
    assert_array_equal(back.positive.numbers, numbers)
    assert type(back.positive.minimum) is np.float64
    assert back.positive.minimum == 0.1
    assert np.isnan(back.negative.minimum)
    assert second.on_its_way("l")[0] == 7
    second.file.close()


def test_separability_from_a_journal(folder):
    with JournaledRows(rows(folder, "z"), folder / "a") as home:
        assert separatrix.separability(home).separable is False
    with pytest.raises(NotSeparableError):
        MaxMargin(np.inf, checkpoint=folder / "b").fit(rows(folder, "z"))
