"""scikit-learn's examples, as they are and with the drop-in classes.

``python tests/conformance/examples.py FOLDER [NAME ...]``: FOLDER is ``examples`` of scikit-learn's source
distribution; nothing of it is copied. Every example that names one of the classes is run twice, each time in a process
of its own, and what the two print is compared letter by letter, times aside. Examples that need the network have no
answer where there is none. NAME: only those whose path contains it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

NAMES = re.compile(r"\b(LinearSVC|SVC|Perceptron|PassiveAggressiveClassifier)\(")
TIMES = re.compile(r"\d+(\.\d+)?\s*(s|ms|sec|seconds|minutes)\b|(time|duration|done in)\S*\s*:?\s*\d\S*", re.IGNORECASE)
LIMIT = int(os.environ.get("SEPARATRIX_EXAMPLE_SECONDS", "600"))
RUN = """
import collections, json, os, runpy, sys, warnings
import matplotlib
matplotlib.use("Agg")
warnings.simplefilter("ignore")
tally = collections.Counter()
if os.environ.get("SEPARATRIX_PATCH"):
    from separatrix import dropin
    dropin.patch()
    for cls in (dropin.LinearSVC, dropin.SVC, dropin.Perceptron, dropin.PassiveAggressiveClassifier):
        def fit(self, *args, _fit=cls.fit, **kwargs):
            found = _fit(self, *args, **kwargs)
            tally[type(self).__name__ + ", " + self.solver_.split(":")[0]] += 1
            return found
        cls.fit = fit
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
sys.stdout.flush()
sys.stderr.write("\\n" + json.dumps(tally))
"""


def run(file: Path, patched: bool) -> tuple[str | None, str]:
    """What an example prints, None where it fails; and who solved its problems, or the error."""
    environment = {**os.environ, "SEPARATRIX_PATCH": "1" if patched else "", "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(file)], env=environment, capture_output=True, text=True, timeout=LIMIT,
            cwd=file.parent, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"not done after {LIMIT} s"
    lines = done.stderr.strip().splitlines() or [""]
    return (TIMES.sub("TIME", done.stdout) if done.returncode == 0 else None), lines[-1]


def main() -> None:
    folder, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:]
    files = sorted(file for file in folder.rglob("*.py") if NAMES.search(file.read_text()))
    counts = dict.fromkeys(("equal", "different", "fails with the drop-in classes only", "no answer"), 0)
    for file in files:
        name = str(file.relative_to(folder))
        if wanted and not any(part in name for part in wanted):
            continue
        plain, why = run(file, patched=False)
        ours, who = run(file, patched=True) if plain is not None else (None, why)
        if plain is None:
            verdict = "no answer"
        elif ours is None:
            verdict = "fails with the drop-in classes only"
        else:
            verdict = "equal" if ours == plain else "different"
        counts[verdict] += 1
        printed = 0 if plain is None else len(plain.split())
        print(f"{verdict}: {name}, {printed} words; {who}", flush=True)
        if verdict == "different":
            for a, b in zip((plain or "").splitlines(), (ours or "").splitlines(), strict=False):
                if a != b:
                    print(f"    - {a}\n    + {b}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if counts["different"] or counts["fails with the drop-in classes only"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
