"""The gate: python -m benchmarks gate COMMIT [--quick] [--only WORDS] [--out FOLDER]

Compare the working tree with a commit, the baseline, through the public API: the time of every configuration of
`benchmarks.gate_configurations`, and the numbers that every public estimator returns. The exit status is 1 if a limit
is exceeded.

Both versions are copied to FOLDER/versions, where their compiled kernels stay for the next run, and use the packages of
this environment. A run is a new process of each version; within it the versions take turns, configuration by
configuration, so that other load meets all of them. The baseline takes part twice: its ratio to itself is the scatter.
A configuration counts by its median over 5 runs; if that exceeds a limit, by its median over 20. A run counts by its
smallest seconds of the processor, on one thread; seconds of the wall are reported beside them.

Results are written to FOLDER/gate.json and FOLDER/gate.txt. A result that changes is listed, to be explained in the
commit; it exceeds no limit.
"""

import contextlib
import hashlib
import io
import json
import os
import select
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import gate_configurations as wanted
from benchmarks.gate_configurations import Configuration, Data
from benchmarks.gate_report import VERSIONS, Change, Report, Verdict, differences, judge
from benchmarks.race import machine

ROOT = Path(__file__).parents[1]
SETTINGS = Path(__file__).with_name("gate.toml")
RUNS, MORE_RUNS = 5, 15
PATIENCE = 10.0  # a fit is given up after so many times its limit


# Versions


def keep(source: Path, versions: Path) -> Path:
    """Copy a source folder to a place named by its content, unless it is there. Return that place."""
    content = hashlib.sha256()
    for file in sorted(source.rglob("*.py")):
        content.update(f"{file.relative_to(source)}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    place = versions / content.hexdigest()[:16]
    if not place.exists():
        versions.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=versions) as folder:
            unfinished = shutil.ignore_patterns("*.pyc*", "*.nbc.*")  # other processes may be writing them
            shutil.copytree(source, Path(folder, "src"), ignore=unfinished)
            os.replace(Path(folder, "src"), place)
    return place


def install(commit: str, versions: Path, repository: Path = ROOT) -> Path:
    """Copy the source of a commit as `keep` does. It is plain Python: nothing has to be built."""
    command = ["git", "-C", str(repository), "archive", commit, "src"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        sys.exit(f"gate: git finds no source of commit {commit!r}. {done.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
        return keep(Path(folder, "src"), versions)


class Version:
    """A process that works with one version."""

    def __init__(self, place: Path):
        self.place = place
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Return the answer of `gate_worker`. A process that dies or takes too long is ended: it has no answer."""
        if self.process is None:
            self.process = self._start()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        start = time.perf_counter()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"do": do, **request}).encode() + b"\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE * wanted.MAX_TIME)
            line = self.process.stdout.readline() if ready else b""
            if line:
                return json.loads(line)
        self.stop()
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "wall": seconds, "error": "no answer", "bounds": []}

    def _start(self) -> subprocess.Popen[bytes]:
        names = json.dumps(tomllib.loads(SETTINGS.read_text())["former"])
        paths = [str(self.place), *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", str(Path(__file__).with_name("gate_worker.py")), names],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


@contextlib.contextmanager
def working(places: Iterable[Path]) -> Any:
    """Give the versions, and end their processes afterwards."""
    versions = dict(zip(VERSIONS, map(Version, places), strict=True))
    try:
        yield versions
    finally:
        for version in versions.values():
            version.stop()


# Data


def save(data: Data, folder: Path) -> str:
    """Write a data set as `gate_worker.load` reads it, once."""
    if not folder.exists():
        folder.mkdir(parents=True)
        parts = {"X": data.X, "y": data.y, "weight": data.weight}
        if sp.issparse(data.X):
            X = data.X.tocsr()
            parts |= {"X": None, "data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        for name, array in parts.items():
            if array is not None:
                np.save(folder / f"{name}.npy", array)
    return str(folder)


# Times

Answers = dict[str, dict[str, list[dict[str, Any]]]]  # of a configuration, by version


def measure(chosen: list[Configuration], places: list[Path], runs: Iterable[int], folder: Path, known: Answers) -> None:
    """Add the answers of all versions to every configuration: in each run new processes, in another order."""
    for run in runs if chosen else ():
        start = time.perf_counter()
        with working(places) as versions:
            for configuration in chosen:
                known.setdefault(configuration.name, {name: [] for name in VERSIONS})
                data = folder / hashlib.sha256(configuration.key.encode()).hexdigest()[:16]
                if not data.exists():
                    save(configuration.make(), data)
                for name in VERSIONS[run % 3 :] + VERSIONS[: run % 3]:
                    answer = versions[name].ask(
                        "time", data=str(data), again=run == 0, estimator=configuration.estimator,
                        parameters=configuration.parameters, optional={"max_time": wanted.MAX_TIME},
                    )  # fmt: skip
                    known[configuration.name][name].append(answer)
        print(f"... run {run + 1}, {len(chosen)} configurations, {time.perf_counter() - start:.0f} s", flush=True)


def compare_times(
    places: list[Path], chosen: list[Configuration], exceptions: dict[str, Any], folder: Path
) -> list[Verdict]:
    """Return a verdict on every configuration. What exceeds a limit runs more often."""
    known: Answers = {}

    def judged() -> list[Verdict]:
        return [judge(configuration, known[configuration.name], exceptions) for configuration in chosen]

    measure(chosen, places, range(RUNS), folder, known)
    doubtful = {verdict.name for verdict in judged() if verdict.over}
    again = [configuration for configuration in chosen if configuration.name in doubtful]
    measure(again, places, range(RUNS, RUNS + MORE_RUNS), folder, known)
    return judged()


# Results


def result_rows(names: Iterable[str], quick: bool) -> list[tuple[str, str, dict[str, Any], str]]:
    """Return rows of results: name, estimator, parameters, data set."""
    rows = []
    for name in names:
        for variant in [{}, *([] if quick else wanted.VARIANTS.get(name, []))]:
            said = ", ".join(f"{key}={value!r}" for key, value in variant.items())
            rows += [
                (f"{name}({said}), {key}", name, parameters | variant, key)
                for key, (_, parameters) in wanted.result_data().items()
                if not quick or key in wanted.QUICK_RESULTS
            ]
    return rows


def list_estimators(places: list[Path]) -> list[str]:
    """Return the public estimators that any version has. A version that does not work ends the gate here."""
    names: set[str] = set()
    with working(places) as versions:
        for version in versions.values():
            answer = version.ask("list")
            if not Path(answer.get("file", "")).is_relative_to(version.place):
                sys.exit(f"gate: the version in {version.place} does not work (see above).")
            names.update(answer["names"])
    return sorted(names)


def compare_results(places: list[Path], rows: list[tuple[str, str, dict[str, Any], str]], folder: Path) -> list[Change]:
    """Return what differs in these rows."""
    changes = []
    with working(places) as versions:
        for row, estimator, parameters, key in rows:
            data = wanted.result_data()[key][0]
            place = save(data, folder / "results" / key.replace(" ", "-"))
            found = []
            for turn in VERSIONS:
                file = folder / f"{turn}.npz"
                file.unlink(missing_ok=True)
                answer = versions[turn].ask(
                    "results", data=place, to=str(file), files=data.files, estimator=estimator,
                    parameters=parameters, optional=wanted.RESULT_OPTIONS,
                )  # fmt: skip
                with np.load(file) if file.exists() else contextlib.nullcontext({}) as arrays:
                    found.append(dict(arrays) | {"error": np.asarray(answer["error"] or "none")})
            changes += differences(row, *found)
    return changes


# The course


def gate(options: Any) -> int:
    """Run ``python -m benchmarks gate``. Return the exit status."""
    if not options.baseline:
        sys.exit("gate: which commit is the baseline? For example: python -m benchmarks gate main")
    exceptions = tomllib.loads(SETTINGS.read_text())["exceptions"]
    everything = {configuration.name: configuration for configuration in wanted.configurations()}
    unknown = [name for name in (*exceptions, *wanted.QUICK) if name not in everything]
    if unknown:
        sys.exit(f"gate: there is no configuration {unknown[0]!r}. Correct {SETTINGS.name} or QUICK.")
    names, only = wanted.QUICK if options.quick else everything, options.only or ""
    chosen = [everything[name] for name in names if only in name]
    versions = (options.out / "versions").resolve()
    tree, baseline = keep(ROOT / "src", versions), install(options.baseline, versions)
    places = [baseline, tree, baseline]
    rows = [row for row in result_rows(list_estimators(places), options.quick) if only in row[0]]
    if not chosen and not rows:
        sys.exit(f"gate: no name holds {only!r}.")
    with tempfile.TemporaryDirectory() as folder:
        verdicts = compare_times(places, chosen, exceptions, Path(folder))
        changes = compare_results(places, rows, Path(folder))
    setting = machine() | {"baseline": f"{options.baseline} ({baseline.name})", "tree": tree.name}
    report = Report(verdicts, len(rows), changes, setting)
    (options.out / "gate.json").write_text(json.dumps(report.as_json(), indent=1))
    (options.out / "gate.txt").write_text(report.text())
    print(f"\n{report.text()}")
    return 1 if report.exceeded else 0
