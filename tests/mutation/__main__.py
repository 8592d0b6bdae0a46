"""How many small faults the tests notice: python tests/mutation [PACKAGE ...] [--faults 30] [--seed 1] [--out FOLDER]

Faults are drawn at random, with the seed that is printed, from the functions of each package of separatrix. For each
of them the tests run that cover its line, the quickest first; compiled code is run without compilation. Results go
to FOLDER, where an interrupted run resumes. Before the first fault, all tests run once to find which lines they cover
(needs pytest-cov; minutes). Every survivor needs a line in survivors.md: a reason, or a new test.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from coverage import CoverageData
from faults import Fault, apply, sample

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "separatrix"
SURVIVORS = Path(__file__).with_name("survivors.md")
MOST_TESTS = 60  # of one fault


def main() -> None:
    parser = argparse.ArgumentParser(prog="python tests/mutation", description=__doc__.split("\n")[0])
    parser.add_argument("packages", nargs="*", help="such as certificates; by default all packages")
    parser.add_argument("--faults", type=int, default=30, help="of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of the tests of one fault")
    parser.add_argument("--tests", nargs="*", default=[], help="only these test files, instead of all")
    parser.add_argument("--out", type=Path, default=Path("mutation-results"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    out = options.out.resolve()
    packages = options.packages or sorted(p.name for p in SOURCE.iterdir() if (p / "__init__.py").exists())
    print(f"seed {options.seed}, {options.faults} faults a package", flush=True)
    covered = {way: _covered(out, way, options.tests) for way in ("compiled", "plain")}
    tree = out / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "src", tree / "src")
    log = out / f"seed-{options.seed}.jsonl"
    known = {row["fault"]: row for row in map(json.loads, log.read_text().splitlines())} if log.exists() else {}
    for package in packages:
        rows = []
        for fault in sample(SOURCE / package, ROOT, options.faults, options.seed):
            if fault.name not in known:
                known[fault.name] = {"fault": fault.name, "result": _try(fault, tree, covered, options.seconds)}
                with log.open("a") as file:
                    file.write(json.dumps(known[fault.name]) + "\n")
            rows.append(known[fault.name])
        print(_summary(package, rows), flush=True)


def _covered(out: Path, way: str, tests: list[str]) -> dict[str, dict[int, list[str]]]:
    """Return which tests cover which lines of which files; ``plain``: without compilation."""
    data = out / f"{way}.coverage"
    if not data.exists():
        marks = ["-m", "nojit", "-n", "0"] if way == "plain" else []
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--cov=separatrix",
            "--cov-context=test",
            "--cov-report=",
            *marks,
        ]
        subprocess.run([*command, *tests], cwd=ROOT, env=_environment(ROOT / "src", way) | {"COVERAGE_FILE": str(data)})
    found = CoverageData(basename=str(data))
    found.read()
    lines: dict[str, dict[int, list[str]]] = {}
    for file in found.measured_files():
        if Path(file).is_relative_to(ROOT):
            contexts = found.contexts_by_lineno(file)
            names = {n: [c.partition("|")[0] for c in of_line if "::" in c] for n, of_line in contexts.items()}
            lines[str(Path(file).relative_to(ROOT))] = names
    return lines


def _environment(source: Path, way: str) -> dict[str, str]:
    compiled = {} if way == "compiled" else {"NUMBA_DISABLE_JIT": "1"}
    return os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"} | compiled


def _try(fault: Fault, tree: Path, covered: dict[str, dict[str, dict[int, list[str]]]], seconds: float) -> str:
    """Apply a fault, run the tests of its line, and take it back."""
    path, original = tree / fault.file, (ROOT / fault.file).read_bytes()
    times = (ROOT / fault.file).stat()
    tests = {
        way: sorted(set(lines.get(fault.file, {}).get(fault.line, ())))[:MOST_TESTS] for way, lines in covered.items()
    }
    if not any(tests.values()):
        return "not covered"
    path.write_bytes(apply(fault, original))
    try:
        for way in ("plain", "compiled"):
            if not tests[way]:
                continue
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests[way]]
            try:
                run = subprocess.run(
                    command, cwd=ROOT, env=_environment(tree / "src", way), timeout=seconds, capture_output=True
                )
            except subprocess.TimeoutExpired:
                return "killed by time"
            if run.returncode != 0:
                return "killed"
        return "survived"
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _summary(package: str, rows: list[dict[str, str]]) -> str:
    explained = SURVIVORS.read_text() if SURVIVORS.exists() else ""
    killed = sum(row["result"].startswith("killed") for row in rows)
    lines = [f"{package}: {killed} of {len(rows)} killed ({killed / max(len(rows), 1):.0%})"]
    for row in rows:
        if not row["result"].startswith("killed") and row["fault"] not in explained:
            lines.append(f"  {row['result']}: {row['fault']}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
