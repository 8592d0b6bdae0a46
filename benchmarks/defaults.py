"""Estimators as users first call them: python -m benchmarks defaults [--quick] [--seconds S] [--only WORDS]

Every public estimator and drop-in class with its default parameters, on ordinary data, beside the scikit-learn class
that one would call instead. Both get the same preprocessing and the same container, one thread, and compiled code that
is already in memory. Reported are the seconds of the processor of ``fit`` and ``predict`` (medians of five runs that
take turns), the test accuracy (mean of five stratified splits, 30% of the rows for testing), and the peak memory of a
fit minus that before it.

A cell is one estimator on one data set. It runs in a process of its own and ends after ``--seconds``; what it has
measured until then is kept, with the number of runs. ``--quick`` takes five data sets, three runs and ten seconds a
cell. ``--only`` takes the cells that have these words in their names ("a9a", "digits, dense: LeastSquares").
``--folder`` adds the files of a folder, in any format that ``separatrix fit`` reads, with the class in the last column.
Results are kept in FOLDER/defaults.json: a run that is stopped goes on where it was. ``--docs`` writes the table into
docs/benchmarks.md and the picture into docs/pictures.
"""

import json
import math
import multiprocessing
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets, linear_model, svm
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

import separatrix
from benchmarks.data import mnist, real, svmlight
from benchmarks.measure import peak_memory
from separatrix import dropin

Cell = dict[str, Any]
Pair = tuple[Any, Any]

QUICK = ("iris, dense", "breast cancer, dense", "sonar, dense", "digits, dense", "a9a, CSR")
LIMIT, QUICK_LIMIT = 60.0, 10.0  # seconds of a cell
RUNS, QUICK_RUNS = 5, 3
SPLITS, TEST_SHARE = 5, 0.3
FEWEST_OF_A_CLASS = 2  # rows; a class with fewer cannot be split
COUNTERPARTS: dict[str, Callable[[], Any]] = {
    "Perceptron": linear_model.Perceptron,
    "PassiveAggressive": linear_model.SGDClassifier,
    "Pegasos": linear_model.SGDClassifier,
    "LeastSquares": linear_model.RidgeClassifier,
    "MaxMargin": svm.LinearSVC,
    'KernelMaxMargin(loss="hinge")': svm.SVC,
}
KERNELS = ("KernelMaxMargin", "KernelPerceptron")  # beside SVC, the others beside LinearSVC


def contests() -> dict[str, Pair]:
    """Our estimators by name, each with scikit-learn's to compare with."""
    named = {name: getattr(separatrix, name) for name in sorted(separatrix.__all__) if name != "PerceptronLike"}
    ours = {name: cls for name, cls in named.items() if isinstance(cls, type) and issubclass(cls, ClassifierMixin)}
    ours['KernelMaxMargin(loss="hinge")'] = partial(separatrix.KernelMaxMargin, loss="hinge")
    pairs = {
        name: (make(), COUNTERPARTS.get(name, svm.SVC if name in KERNELS else svm.LinearSVC)())
        for name, make in ours.items()
    }
    for name in dropin.__all__:
        if hasattr(linear_model, name) or hasattr(svm, name):
            theirs = getattr(svm if hasattr(svm, name) else linear_model, name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a class that scikit-learn will remove
                pairs[f"dropin.{name}"] = getattr(dropin, name)(), theirs()
    pairs['dropin.SVC(kernel="linear")'] = dropin.SVC(kernel="linear"), svm.SVC(kernel="linear")
    return pairs


def has_counterpart(name: str) -> bool:
    """Is the class of scikit-learn one that answers the same question, and not only the usual linear SVM?"""
    return name in COUNTERPARTS or name.startswith("dropin.")


# Data


def _standardized(load: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
    X, y = load()
    return StandardScaler().fit_transform(X), y


def _mnist_rows() -> tuple[Any, Any]:
    X, y = mnist()
    return np.ascontiguousarray(X[:10_000], dtype=np.float64), y[:10_000]


def _text(name: str) -> tuple[Any, Any]:
    if name == "sector":
        return svmlight("sector", "sector.scale")
    from separatrix.reproductions.datasets.papers import data_file

    X = sp.csr_matrix(sp.load_npz(data_file("news20", "news20_train.npz")), dtype=np.float64)
    return X, np.load(data_file("news20", "news20_labels.npz"))["train"]


def _scaled_digits() -> tuple[Any, Any]:
    X, y = datasets.load_digits(return_X_y=True)
    return X / 16.0, y


def _file(file: Path) -> tuple[Any, Any]:
    from separatrix.app.tables.formats import read_table
    from separatrix.app.tables.prepare import prepare

    table = read_table(file)
    return prepare(table, scale=True, encode=True, impute=True)[1], table.y


def data_sets(folder: Path | None) -> dict[str, Callable[[], tuple[Any, Any]]]:
    """Loaders by the name of a data set and its container."""
    small = {
        "iris": partial(datasets.load_iris, return_X_y=True),
        "wine": partial(datasets.load_wine, return_X_y=True),
        "breast cancer": partial(datasets.load_breast_cancer, return_X_y=True),
        "sonar": partial(real, "sonar"),
        "wbc": partial(real, "WBC"),
    }
    sets: dict[str, Callable[[], tuple[Any, Any]]] = {
        f"{name}, dense": partial(_standardized, load) for name, load in small.items()
    }
    both: dict[str, Callable[[], tuple[Any, Any]]] = {
        "digits": _scaled_digits,
        "mushrooms": partial(real, "mushrooms"),
        "a9a": partial(real, "a9a"),
        "w8a": partial(real, "w8a"),
        "MNIST, 10,000 rows": _mnist_rows,
    }
    for name, load in both.items():
        for container in ("dense", "CSR"):
            sets[f"{name}, {container}"] = partial(_in_container, load, container)
    sets |= {f"{name}, CSR": partial(_text, name) for name in ("sector", "news20")}
    files = sorted(file for file in folder.iterdir() if file.is_file()) if folder else []
    return sets | {f"{file.name}, as read": partial(_file, file) for file in files}


def _in_container(load: Callable[[], tuple[Any, Any]], container: str) -> tuple[Any, Any]:
    X, y = load()
    if container == "CSR":
        return sp.csr_matrix(X), y
    return (np.ascontiguousarray(X.toarray()) if sp.issparse(X) else X), y


def _splittable(X: Any, y: Any) -> tuple[Any, Any]:
    """The rows of the classes that can be in both parts of a split."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = counts[codes] >= FEWEST_OF_A_CLASS
    return (X, y) if kept.all() else (X[np.flatnonzero(kept)], np.asarray(y)[kept])


# One cell


def _timed(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measure_cell(pair: Pair, X: Any, y: Any, runs: int, known: Cell) -> Iterator[Cell]:
    """What is known of a cell, again and again, as more of it is measured; `known`: accuracy and memory of theirs."""
    warnings.simplefilter("ignore")
    sides = dict(zip(("ours", "theirs"), pair, strict=True))
    found: Cell = {side: dict(known) if side == "theirs" else {} for side in sides}
    for side, model in sides.items():
        found[side]["fit"], found[side]["runs"] = _timed(partial(model.fit, X, y)), 0
        yield found
    times: dict[str, list[float]] = {side: [] for side in sides}
    for k in range(runs):
        for side, model in sides.items():
            times[side].append(_timed(partial(model.fit, X, y)))
        for side in sides:
            found[side]["fit"], found[side]["runs"] = statistics.median(times[side]), len(times[side])
        yield found
        if k == 0:  # what a cell that runs out of time should have as well
            for more in (_predictions(sides, X, runs), _accuracies(sides, X, y, found), _memory(sides, X, y, found)):
                for side, name, value in more:
                    found[side][name] = value
                    yield found


def _predictions(sides: dict[str, Any], X: Any, runs: int) -> Iterator[tuple[str, str, Any]]:
    times: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(runs):
        for side, model in sides.items():
            times[side].append(_timed(partial(model.predict, X)))
    yield from ((side, "predict", statistics.median(seconds)) for side, seconds in times.items())


def _accuracies(sides: dict[str, Any], X: Any, y: Any, found: Cell) -> Iterator[tuple[str, str, Any]]:
    splits = StratifiedShuffleSplit(SPLITS, test_size=TEST_SHARE, random_state=0).split(np.zeros(len(y)), y)
    scores: dict[str, list[float]] = {side: [] for side in sides if "accuracy" not in found[side]}
    for train, test in splits:
        for side in scores:
            model = sides[side].fit(X[train], y[train])
            scores[side].append(float(np.mean(model.predict(X[test]) == y[test])))
    for side, values in scores.items():
        yield side, "error", statistics.stdev(values) / math.sqrt(SPLITS)
        yield side, "accuracy", statistics.mean(values)


def _memory(sides: dict[str, Any], X: Any, y: Any, found: Cell) -> Iterator[tuple[str, str, Any]]:
    for side, model in sides.items():
        if "memory" not in found[side]:
            yield side, "memory", peak_memory(partial(model.fit, X, y))


def _child(pipe: Any, pair: Pair, X: Any, y: Any, runs: int, known: Cell) -> None:
    try:
        for found in measure_cell(pair, X, y, runs, known):
            pipe.send(found)
    except Exception as error:
        pipe.send({"failed": f"{type(error).__name__}: {error}".split("\n")[0][:200]})
    pipe.send(None)


def limited_cell(pair: Pair, X: Any, y: Any, runs: int, seconds: float, known: Cell) -> Cell:
    """A cell in a process of its own; ``late`` if its time was up."""
    fork, end, found = multiprocessing.get_context("fork"), time.perf_counter() + seconds, {}
    receive, send = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(send, pair, X, y, runs, known))
    child.start()
    send.close()
    try:
        while receive.poll(max(end - time.perf_counter(), 0.0)):
            parts = receive.recv()
            if parts is None:
                return found
            found = found | parts
    except EOFError:
        return found | {"failed": "the process died"}
    finally:
        child.kill()
        child.join()
    return found | {"late": seconds}


def run(options: Any) -> None:
    """What ``python -m benchmarks defaults`` does."""
    from benchmarks import defaults_report

    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / ("defaults_quick.json" if options.quick else "defaults.json")
    cells: dict[str, Cell] = json.loads(file.read_text()) if file.exists() else {}
    limit = options.seconds or (QUICK_LIMIT if options.quick else LIMIT)
    again = options.only is not None
    pairs = contests()
    for name, load in data_sets(options.folder).items():
        if options.quick and name not in QUICK and not name.endswith("as read"):
            continue
        keys = {contest: f"{name}: {contest}" for contest in pairs}
        wanted = {c: key for c, key in keys.items() if (options.only in key if again else key not in cells)}
        if not wanted:
            continue
        X, y = _splittable(*load())
        known: dict[str, Cell] = {}
        for contest, key in wanted.items():
            pair = pairs[contest]
            whose = repr(pair[1])
            runs = QUICK_RUNS if options.quick else RUNS
            cells[key] = limited_cell(pair, X, y, runs, limit, known.get(whose, {}))
            theirs = cells[key].get("theirs", {})
            known[whose] = {n: theirs[n] for n in ("accuracy", "error", "memory") if n in theirs}
            cells[key] |= {"data": name, "shape": list(X.shape), "contest": contest, "counterpart": whose}
            print(defaults_report.line(cells[key]), flush=True)
            file.write_text(json.dumps(cells, indent=1))
    print("\n" + defaults_report.summary(list(cells.values())))
    defaults_report.write(options.out, list(cells.values()), options.docs)
