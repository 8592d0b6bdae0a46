"""Processes that are killed, disks that are full, files with a wrong value: a correct result, or an error that says so.

Nothing is simulated: processes get SIGKILL at random moments, and writes fail because the system allows no larger file.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import separatrix
from separatrix import MaxMargin
from separatrix.data import memory as memory_module
from separatrix.errors import DataError, SeparatrixError
from separatrix.fit.over_blocks_fit import IN_ORDER
from separatrix.passes import journal

resource = pytest.importorskip("resource", reason="limits of a process are Unix's")
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
N, D = 2000, 6

SETUP = """
import sys, time, warnings
import numpy as np
import separatrix
from separatrix.data import block_store, memory
from separatrix.passes import journal
warnings.simplefilter("ignore")
memory.BLOCK_ROWS, memory.BLOCK_VALUES = 32, 128 * 6
journal.EVERY = 0.0
folder = sys.argv[1]
def news():
    print("here", flush=True)
    time.sleep(0.002)
"""
FIT = """
home = separatrix.data.open_files(folder + "/X.npy", target=folder + "/y.npy")
read = home.blocks_from
def slowly(number):
    for block in read(number):
        news()
        yield block
home.blocks_from = slowly
model = separatrix.{model}.set_params(checkpoint=folder + "/run.checkpoint").fit(home)
np.save(folder + "/result.npy", np.concatenate([model.coef_.ravel(), model.intercept_, [model.certificate_.lower]]))
"""
COPY = """
write = block_store._write_block
def slowly(*args):
    news()
    return write(*args)
block_store._write_block = slowly
separatrix.data.open_files(folder + "/X.npy", target=folder + "/y.npy", cache=folder + "/cache")
"""
SAVE = """
models = [separatrix.load(folder + f"/{k}.sx") for k in range(2)]
for k in range(10_000):
    separatrix.save(models[k % 2], folder + "/saved.sx")
    news()
"""


@pytest.fixture
def folder(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(memory_module, "BLOCK_ROWS", 32)
    monkeypatch.setattr(memory_module, "BLOCK_VALUES", 128 * D)
    X, w = rng.normal(size=(N, D)), rng.normal(size=D)
    y = X @ w > 0
    y[:20] ^= True
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    return tmp_path


def rows(folder, **options):
    return separatrix.data.open_files(folder / "X.npy", target=folder / "y.npy", **options)


def killed(script, folder, news, seed):
    """Run a script and kill it in what follows so many news of it; False where it was done before."""
    run = subprocess.Popen([sys.executable, "-c", SETUP + script, str(folder)], stdout=subprocess.PIPE, text=True)
    for _ in range(news):
        if not run.stdout.readline():
            break
    time.sleep(np.random.default_rng(seed).random() * 0.01)
    if run.poll() is None:
        run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    assert run.returncode in (0, -signal.SIGKILL)
    return run.returncode != 0


@quiet
def test_a_kill_after_the_last_block_costs_no_epoch_more(folder, monkeypatch):
    monkeypatch.setattr(journal, "EVERY", 0.0)
    model = separatrix.Perceptron(average=True, max_iter=2)
    expected = model.fit(rows(folder)).coef_
    add = journal.Journal.add

    def kill(self, key, summary):
        if key == IN_ORDER:
            raise ZeroDivisionError
        add(self, key, summary)

    model.set_params(checkpoint=folder / "run.checkpoint")
    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "add", kill)
        with pytest.raises(ZeroDivisionError):
            model.fit(rows(folder))
    assert_array_equal(model.fit(rows(folder)).coef_, expected)


@quiet
@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("model", ["MaxMargin(tol=1e-9)", "Perceptron(average=True, max_iter=4)"])
def test_a_fit_survives_being_killed(folder, model, kills):
    home = rows(folder)
    expected = eval(f"separatrix.{model}").fit(home)  # the same words here and there
    script, count, tries = FIT.format(model=model), 0, 0
    while count < kills:
        tries += 1
        if killed(script, folder, 2 + tries % 17, tries):
            count += 1
        else:  # it was done: the next run begins again
            (folder / "run.checkpoint").unlink()
    subprocess.run([sys.executable, "-c", SETUP + script, str(folder)], check=True, stdout=subprocess.DEVNULL)
    found = np.concatenate([expected.coef_.ravel(), expected.intercept_, [expected.certificate_.lower]])
    assert_array_equal(np.load(folder / "result.npy"), found)
    assert [p.name for p in folder.glob("run.checkpoint*")] == ["run.checkpoint"]


@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_a_copy_survives_being_killed(folder, kills):
    count = tries = 0
    while count < kills:
        tries += 1
        if killed(COPY, folder, 1 + tries % 14, tries):
            count += 1
        else:  # it was done: the next run begins again
            shutil.rmtree(folder / "cache")
    home = rows(folder, cache=folder / "cache")
    assert_array_equal(np.concatenate([block.whole for block in home.blocks()]), np.load(folder / "X.npy"))
    assert [p.name for p in (folder / "cache").iterdir()] == [home.fingerprint]  # nothing is left behind


@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_a_saved_model_survives_being_killed(folder, kills):
    """The file is that of one of the models, whole, or not there yet."""
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    models = [MaxMargin(C).fit(X, y) for C in (0.1, 10.0)]
    for k, model in enumerate(models):
        separatrix.save(model, folder / f"{k}.sx")
    seen = set()
    for k in range(kills):
        assert killed(SAVE, folder, 1 + k % 7, k)
        found = separatrix.load(folder / "saved.sx")
        seen.add([m.coef_.tolist() for m in models].index(found.coef_.tolist()))
    assert seen <= {0, 1}
    separatrix.save(models[0], folder / "saved.sx")
    assert sorted(p.name for p in folder.glob("*saved*")) == ["saved.sx"]  # what kills have left is swept up


@contextmanager
def little_room(size):
    """No file may be larger: writes fail as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@quiet
@pytest.mark.parametrize("model", [MaxMargin(tol=1e-9), separatrix.Perceptron(average=True, max_iter=3)])
def test_a_checkpoint_on_a_full_disk(folder, model, monkeypatch):
    """What was kept is good: with room the same call goes on from it."""
    monkeypatch.setattr(separatrix.passes.journal, "EVERY", 0.0)
    expected = model.set_params(checkpoint=None).fit(rows(folder)).coef_
    model.set_params(checkpoint=folder / "run.checkpoint")
    with little_room(300), pytest.raises(SeparatrixError, match="make room"):
        model.fit(rows(folder))
    assert_array_equal(model.fit(rows(folder)).coef_, expected)


def test_a_copy_on_a_full_disk_leaves_nothing(folder):
    with little_room(2000), pytest.raises(DataError, match="The rows themselves are as they were"):
        rows(folder, cache=folder / "cache")
    assert list((folder / "cache").iterdir()) == []
    assert rows(folder, cache=folder / "cache").store is not None


def test_a_model_on_a_full_disk_is_as_it_was(folder):
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    separatrix.save(MaxMargin(0.1).fit(X, y), folder / "model.sx")
    before = (folder / "model.sx").read_bytes()
    with little_room(500), pytest.raises(SeparatrixError, match="as it was before"):
        separatrix.save(MaxMargin(10.0).fit(X, y), folder / "model.sx")
    assert (folder / "model.sx").read_bytes() == before
    assert not list(folder.glob(".model*"))


@quiet
@pytest.mark.parametrize("model", [MaxMargin(), separatrix.Perceptron(max_iter=2), separatrix.LeastSquares()])
def test_a_value_in_block_517_is_named_and_nothing_is_lost(folder, model):
    """The file is mended behind the back of a fit: it is another one then, and the fit begins again."""
    step, place = 128, 517 * 128 + 77
    X = np.random.default_rng(0).normal(size=(600 * step, D))
    y = X[:, 0] > 0
    X[place, 3] = np.nan
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    home = rows(folder)
    assert home.block_count == 600
    model.set_params(checkpoint=folder / "run.checkpoint")
    with pytest.raises(DataError, match=rf"X.npy, row {place} .*column 3 holds nan"):
        model.fit(home)
    X[place, 3] = 0.0
    np.save(folder / "X.npy", X)
    with pytest.raises(DataError, match="has changed since it was opened"):
        model.fit(home)
    with pytest.raises(DataError, match="other data"):
        model.fit(rows(folder))
    (folder / "run.checkpoint").unlink()
    assert model.fit(rows(folder)).score(X, y) > 0.9


def test_a_file_that_shrinks_during_a_fit(folder):
    """Cut off while its blocks are read: an error that names the file, not a result of half of the rows."""
    home = rows(folder)
    read, path = home.blocks_from, folder / "X.npy"

    def cut(number):
        for k, block in enumerate(read(number)):
            if k == 3:
                os.truncate(path, path.stat().st_size // 2)
            yield block

    home.blocks_from = cut
    with pytest.raises(DataError, match=r"X\.npy"):
        MaxMargin().fit(home)
