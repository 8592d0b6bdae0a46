"""Rows on Dask: the result of memory for any cut, with and without a cluster, and with workers that are killed."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix
from separatrix.certificates.certify import certify
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError, SeparatrixError
from separatrix.passes import in_memory, journal
from separatrix.passes.patterns import PassedPatterns, Seen
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.space import Space

da = pytest.importorskip("dask.array", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask's data frames are not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

N, D = 3000, 5


def travelling(function):
    """Workers cannot import this file, and would ask for it for ever; a function of __main__ is sent as it stands."""
    function.__module__ = "__main__"
    return function


@travelling
def table(flipped=0, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(classes, D))
    X = rng.normal(size=(N, D))
    y = (X @ W.T).argmax(axis=1)
    X += 0.2 * W[y]
    y = (X @ W.T).argmax(axis=1)
    y[:flipped] = (y[:flipped] + 1) % classes
    return X, y


def solved(home, C=np.inf):
    space = Space(1.0) if np.isinf(C) else Space(1.0, (2 * C) ** -0.5, weighted=True)
    problem = Problem(PassedPatterns(home, 1 if len(home.classes) == 2 else None, space), C, tol=1e-9)
    solvers.solve(problem)
    certificate = certify(problem.patterns, problem.a, None, slack_vector=problem.slack_vector)
    return problem, certificate


def same(one, other):
    """Two solutions, bit for bit."""
    np.testing.assert_array_equal(one[0].a, other[0].a)
    assert (one[0].lower, one[0].upper, one[1].lower) == (other[0].lower, other[0].upper, other[1].lower)


def unknown(array):
    """The same array without sizes."""
    array._chunks = ((np.nan,) * len(array.chunks[0]), *array.chunks[1:])
    return array


CUTS = {
    "even": (750,) * 4,
    "uneven": (1, 1999, 1000),
    "empty": (0, 1500, 0, 1500, 0),
    "many": (100,) * 30,
    "one": (3000,),
}


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("name", CUTS)
def test_any_cut_gives_the_margin_of_memory(name, C):
    X, y = table(0 if np.isinf(C) else 50)
    here, certificate = solved(MemoryRows(X, y, classes=np.arange(2)), C)
    home = separatrix.data.from_dask(da.from_array(X, (CUTS[name], (D,))), da.from_array(y, (CUTS[name],)))
    there, other = solved(home, C)
    assert (home.n, home.width) == (N, D)
    assert there.lower == pytest.approx(here.lower, rel=1e-8)
    assert other.lower == pytest.approx(certificate.lower, rel=1e-8)
    assert other.separable == certificate.separable


def blocks_of(kind, X, y):
    cuts = (1000, 0, 1999, 1)
    if kind == "columns":
        return da.from_array(X, (cuts, (2, 3))), da.from_array(y, (500,))
    if kind == "unknown":
        return unknown(da.from_array(X, (cuts, (D,)))), unknown(da.from_array(y, (cuts,)))
    if kind == "sparse":
        return da.from_array(X, (cuts, (D,))).map_blocks(sp.csr_matrix), y
    if kind == "float32":
        return da.from_array(X.astype(np.float32), (cuts, (D,))), y
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=np.array(["no", "yes"])[y])
    if kind == "categories":
        frame["y"] = frame["y"].astype("category")
    if kind == "series":
        return dd.from_pandas(frame.drop(columns="y"), 4), dd.from_pandas(frame["y"], 4)
    return dd.from_pandas(frame, 4), "y"


@pytest.mark.parametrize("kind", ["columns", "unknown", "sparse", "float32", "frame", "categories", "series"])
def test_collections_of_every_kind(kind):
    X, y = table()
    home = separatrix.data.from_dask(*blocks_of(kind, X, y))
    assert (home.n, home.width, len(home.classes)) == (N, D, 2)
    kept = X.astype(np.float32).astype(float) if kind == "float32" else X
    few = home.take(np.array([2999, 0, 1500, 0]))
    np.testing.assert_array_equal(few.dense(np.arange(4)), kept[[2999, 0, 1500, 0]])
    np.testing.assert_array_equal(few.codes, y[[2999, 0, 1500, 0]])
    np.testing.assert_array_equal(np.concatenate([b.codes for b in home.blocks()]), y)
    assert few.sparse == (kind == "sparse")
    assert separatrix.separability(home)


def test_a_class_that_a_block_lacks():
    X, y = table(classes=3)
    order = np.argsort(y, kind="stable")
    home = separatrix.data.from_dask(da.from_array(X[order], (300, D)), da.from_array(y[order], 300))
    assert home.classes.tolist() == [0, 1, 2]
    assert separatrix.separability(home).separable


def test_weights_travel():
    X, y = table(50)
    weight = np.random.default_rng(1).random(N) + 0.5
    here, _ = solved(MemoryRows(X, y, weight, classes=np.arange(2)), 1.0)
    home = separatrix.data.from_dask(da.from_array(X, (700, D)), y, weight=weight)
    assert solved(home, 1.0)[0].lower == pytest.approx(here.lower, rel=1e-8)


@pytest.mark.parametrize("kind", ["columns", "unknown", "sparse", "frame", "series"])
def test_a_collection_is_taken_as_it_is(kind):
    """By fit, predict, separability and verify, without a home being made by hand."""
    X, y = table()
    there, labels = blocks_of(kind, X, y)
    model = separatrix.MaxMargin(np.inf, tol=1e-9).fit(there, labels)
    assert model.certificate_.lower == pytest.approx(separatrix.MaxMargin(np.inf).fit(X, y).certificate_.lower)
    assert model.certificate_.verify(there, labels)
    assert separatrix.separability(there, labels)
    features = there.drop(columns="y") if kind == "frame" else there
    found = model.predict(features)
    assert isinstance(found, da.Array)
    np.testing.assert_array_equal(found.compute(), model.classes_[y])
    scores = model.decision_function(features)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores.compute(), X @ model.coef_[0] + model.intercept_[0])
    if kind == "frame":
        assert model.feature_names_in_.tolist() == list("abcde")
        with pytest.raises(ValueError, match="in the same order"):
            model.predict(features[list("bacde")]).compute()
    several = separatrix.MaxMargin().fit(X, (X[:, 0] > 0.5).astype(int) + (X[:, 0] > -0.5))
    rows = da.from_array(X, (700, 3))
    np.testing.assert_array_equal(several.classes_claiming(rows).compute(), several.classes_claiming(X))
    with pytest.raises(SeparatrixError, match="in the memory of this process"):
        separatrix.Pocket().fit(there, labels)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_online_rules_are_mixed_or_keep_the_order():
    import dask

    X, y = table()
    rows = da.from_array(X, (CUTS["uneven"], (D,))), da.from_array(y, (CUTS["uneven"],))
    options = {"shuffle": False, "max_iter": 3, "until": "separated"}
    here = separatrix.Perceptron(**options).fit(X, y)
    in_order = separatrix.Perceptron(mix=False, **options).fit(*rows)
    np.testing.assert_array_equal(in_order.coef_, here.coef_)
    mixed = separatrix.Perceptron(**options).fit(*rows)
    with dask.config.set(scheduler="synchronous"):
        np.testing.assert_array_equal(separatrix.Perceptron(**options).fit(*rows).coef_, mixed.coef_)
    parts = [separatrix.Perceptron(shuffle=False, max_iter=1, until="separated") for _ in range(2)]
    borders = [slice(0, 1), slice(1, 2000), slice(2000, 3000)]
    one_epoch = separatrix.Perceptron(shuffle=False, max_iter=1, until="separated").fit(*rows)
    start = y[0] * 2 - 1.0  # the block of a single row adds it to the vector 0
    vectors = [start * X[0]] + [p.fit(X[b], y[b]).coef_[0] for p, b in zip(parts, borders[1:], strict=True)]
    np.testing.assert_allclose(one_epoch.coef_[0], np.mean(vectors, axis=0))


def test_a_flipped_label_is_proved():
    X, y = table(1)
    answer = separatrix.separability(separatrix.data.from_dask(da.from_array(X, (700, D)), y))
    assert (answer.separable, answer.exact) == (False, True)
    assert answer.certificate.verify(X, y)


def test_bad_collections():
    X, y = table()
    good = da.from_array(X, (1000, D))
    with pytest.raises(DataError, match="give y"):
        separatrix.data.from_dask(good)
    with pytest.raises(DataError, match="Dask array of two dimensions"):
        separatrix.data.from_dask(X, y)
    with pytest.raises(DataError, match="3 blocks and its labels 2"):
        separatrix.data.from_dask(unknown(da.from_array(X, (1000, D))), da.from_array(y, 1500))
    with pytest.raises(DataError, match="cannot be matched"):
        separatrix.data.from_dask(good, y[:-1])
    with pytest.raises(DataError, match="'a' holds"):
        separatrix.data.from_dask(dd.from_pandas(pd.DataFrame({"a": ["x", "z"], "y": [1, 2]}), 1), "y")
    X[1500, 2] = np.nan
    with pytest.raises(DataError, match=r"Block 1, row 500 .*column 2 holds nan"):
        separatrix.data.from_dask(da.from_array(X, (1000, D)), y)
    with pytest.raises(DataError, match="every block is empty"):
        separatrix.data.from_dask(da.from_array(X[:0], (1, D)), da.from_array(y[:0], 1))


def test_work_is_small_and_names_compiled_code():
    work = partial(Seen(Space(1.0), 1).work, in_memory.extremes, (np.zeros(D + 1), 20))
    content = pickle.dumps(work)
    assert len(content) < 1000
    assert b"numba" not in content


# A cluster of two processes


@pytest.fixture(scope="module")
def cluster():
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),  # how long a dead worker is waited for
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield cluster, client


@travelling
def slow_block(k, seconds, rows):
    """Block k of a table whose blocks take their time."""
    time.sleep(seconds)
    return table()[0][rows * k : rows * (k + 1)]


def slow(seconds, rows=250):
    from dask import delayed

    parts = [da.from_delayed(delayed(slow_block)(k, seconds, rows), (rows, D), float) for k in range(N // rows)]
    return da.concatenate(parts), da.from_array(table()[1], rows)


def test_a_cluster_gives_the_bits_of_one_process(cluster):
    import dask

    X, y = table()
    rows = da.from_array(X, (250, D)), da.from_array(y, 250)
    there = solved(separatrix.data.from_dask(*rows))
    with dask.config.set(scheduler="synchronous"):
        same(solved(separatrix.data.from_dask(*rows)), there)
    with dask.config.set(scheduler="threads"):
        same(solved(separatrix.data.from_dask(*rows)), there)


def test_a_pass_is_kept_group_by_group(tmp_path, monkeypatch):
    """What a checkpoint may lose is a group of blocks; its sums have the bits of a pass in one piece."""
    import dask

    monkeypatch.setattr(journal, "EVERY", 0.0)
    X, y = table()
    work = partial(Seen(Space(1.0), 1).work, in_memory.piece, (np.ones(D + 1), True))
    with dask.config.set(scheduler="synchronous"):
        home = separatrix.data.from_dask(da.from_array(X, (20, D)), da.from_array(y, 20))
        expected = home.run(work)
        places = [done for done, _ in home.merged(work)]
        assert places == [64, 128, 150]
        with journal.JournaledRows(home, tmp_path / "run") as kept:
            passed = home.merged(work)
            kept.journal.note("0" * 32, *next(passed))
            done, part = kept.journal.on_its_way("0" * 32)
            *_, (_, whole) = home.merged(work, done, part)
    for one, other in zip(expected, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def traffic(client, pass_):
    """Bytes that went over the wires of scheduler and workers during a pass."""

    def outgoing(dask_worker):
        return dask_worker.transfer_outgoing_bytes_total

    before = sum(client.run(outgoing).values())
    pass_()
    return sum(client.run(outgoing).values()) - before


def test_the_traffic_of_a_pass_does_not_depend_on_the_rows(cluster):
    _, client = cluster
    sent = []
    for times in (1, 20):
        X, y = (np.concatenate([part] * times) for part in table())
        rows = len(X) // 8
        rows = client.persist([da.from_array(X, (rows, D)), da.from_array(y, rows)])
        distributed.wait(rows)
        home = separatrix.data.from_dask(*rows)
        patterns = PassedPatterns(home, 1, Space(1.0))
        pass_ = partial(patterns.extremes, np.ones(D + 1), 100)
        pass_()
        sent.append(max(traffic(client, pass_) for _ in range(3)))
        data = X.nbytes
    assert max(sent) < 50_000 < data / 40


def test_a_killed_worker_costs_time_and_nothing_else(cluster):
    scheduler, client = cluster
    expected = solved(separatrix.data.from_dask(*slow(0.0)))
    home = separatrix.data.from_dask(*slow(0.02))
    victims = client.run(os.getpid)
    threading.Timer(0.15, os.kill, (next(iter(victims.values())), signal.SIGKILL)).start()
    same(solved(home), expected)
    client.wait_for_workers(2, timeout=120)
    assert set(client.run(os.getpid).values()) != set(victims.values())
    del scheduler


@travelling
def deadly_block(k, poison):
    """Block k of a table; it takes its worker with it once the file is there."""
    if os.path.exists(poison):
        os.kill(os.getpid(), signal.SIGKILL)
    return slow_block(k, 0.0, 250)


def test_rows_that_kill_their_workers_are_told(cluster, tmp_path):
    from dask import delayed

    poison = tmp_path / "poison"
    blocks = [da.from_delayed(delayed(deadly_block)(k, str(poison)), (250, D), float) for k in range(4)]
    home = separatrix.data.from_dask(da.concatenate(blocks), table()[1][:1000])
    allowed, cluster[0].scheduler.allowed_failures = cluster[0].scheduler.allowed_failures, 0
    poison.touch()
    try:
        with pytest.raises(SeparatrixError, match="cluster lost this pass"):
            home.run(partial(Seen(Space(1.0), 1).work, in_memory.extremes, (np.ones(D + 1), 10)))
    finally:
        cluster[0].scheduler.allowed_failures = allowed


def cluster_of_processes(folder):
    """A scheduler and its worker as processes of their own, and the file that tells where they are."""
    place = folder / "scheduler.json"
    common = ["--scheduler-file", str(place), "--no-dashboard"]
    commands = (["scheduler", "--port", "0", *common], ["worker", "--nthreads", "1", "--no-nanny", *common])
    return place, [
        subprocess.Popen(
            [sys.executable, "-m", "dask", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for command in commands
    ]


def fit_for_ever(model, home):
    """Fit after fit, each with a checkpoint of its own."""
    while True:
        model.set_params(tol=model.tol / 2, checkpoint=f"{model.checkpoint}-").fit(home)


@pytest.mark.slow
def test_a_lost_scheduler_is_told_and_a_checkpoint_goes_on(tmp_path):
    """The passes that were done are not made again on another cluster."""
    import dask

    place, processes = cluster_of_processes(tmp_path)
    rows = partial(separatrix.data.from_dask, *slow(0.05))
    model = separatrix.MaxMargin(np.inf, checkpoint=tmp_path / "run")
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
            distributed.Client(scheduler_file=place, timeout=30) as client,
        ):
            client.wait_for_workers(1, timeout=30)
            home = rows()
            threading.Timer(1.0, processes[0].kill).start()
            with pytest.raises(SeparatrixError, match="cluster lost this pass"):
                fit_for_ever(model, home)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    with dask.config.set(scheduler="synchronous"):
        again = model.fit(rows())
        expected = separatrix.MaxMargin(np.inf, tol=model.tol).fit(rows())
    np.testing.assert_array_equal(again.coef_, expected.coef_)
    assert again.certificate_.lower == expected.certificate_.lower
