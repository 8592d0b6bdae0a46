"""scikit-learn's own tests, run on the drop-in classes: ``python tests/conformance``, with options of pytest.

The test files are those of the installed scikit-learn; nothing of them is copied. A pytest of its own runs them with
the plugin of this folder, which puts the drop-in classes in the place of scikit-learn's. Tests that never touch one of
these do not count. What fails has to be in `expected.toml`, with the reason; what is there has to fail.
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import sklearn

HERE = Path(__file__).parent
REQUIRED = 0.98  # of the tests that touch a class, as they are
KNOWN = tomllib.loads((HERE / "expected.toml").read_text())


def run(folder: Path) -> dict[str, list]:
    """Outcomes by test id."""
    environment = {"SEPARATRIX_COMPILE": "always", **os.environ, "SEPARATRIX_CONFORMANCE": str(folder / "results")}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [
        *(sys.executable, "-m", "pytest", "-p", "bound_classes", "-c", str(HERE / "pytest.ini")),
        *("--rootdir", str(Path(sklearn.__file__).parent), "--pyargs", "-q", "-n", "2", *sys.argv[1:]),
        *(f"sklearn.{file}" for file in KNOWN["files"]),
    ]
    with open(folder / "log", "w") as log:
        subprocess.run(command, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False, cwd=folder)
    results: dict[str, list] = {}
    for file in folder.glob("resultsgw*"):
        results |= json.loads(file.read_text())
    if not results:
        sys.exit((folder / "log").read_text())
    return results


def main() -> None:
    expected = {line["test"]: line["reason"] for line in KNOWN["differences"]}
    with tempfile.TemporaryDirectory() as folder:
        results = run(Path(folder))
        log = (Path(folder) / "log").read_text()
    counted = {name: outcome for name, (outcome, touched) in results.items() if touched and outcome != "skipped"}
    failed = {name for name, outcome in counted.items() if outcome == "failed"}
    share = 1.0 - len(failed) / len(counted)
    print(f"{len(counted)} of scikit-learn's tests touch a drop-in class; {len(failed)} fail, {share:.2%} pass.")
    for name in sorted(failed & set(expected)):
        print(f"  {name}\n      {expected[name]}")
    problems = [f"fails, and is not expected to: {name}" for name in sorted(failed - set(expected))]
    problems += [f"is expected to fail, and does not: {name}" for name in sorted(set(expected) - failed)]
    if share < REQUIRED:
        problems.append(f"{share:.2%} pass, {REQUIRED:.0%} have to")
    if problems:
        sys.exit(log + "\n" + "\n".join(problems))


if __name__ == "__main__":
    main()
