"""scikit-learn's examples, as they are and with the drop-in classes.

``python tests/conformance/examples.py FOLDER [NAME ...]``: FOLDER is ``examples`` of scikit-learn's source
distribution; nothing of it is copied. Every example that names one of the classes is run twice, each time in a process
of its own, and what the two print is compared letter by letter, except for times. Where they differ, the example is run
twice more without them: as it is, since some draw without a seed or choose what was fastest, and with ``tol`` at 1e-9,
which is scikit-learn's answer without what it leaves out. What an example would fetch from the network is made up by
``stand_ins.py``. Figures that are drawn alike are counted, which is all that some examples show. NAME: only those
whose path contains it.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

NAMES = re.compile(r"\b(LinearSVC|SVC|Perceptron|PassiveAggressiveClassifier)\(")
TIMES = re.compile(
    r"\s*\d+(\.\d+)?\s*(s|ms|sec|seconds|minutes|MB/s|docs/s)\b|(time|duration|done in)\S*\s*:?\s*\d\S*", re.IGNORECASE
)  # fmt: skip
LIMIT = int(os.environ.get("SEPARATRIX_EXAMPLE_SECONDS", "600"))
EXPLAINED = ("equal", "equal at a small tol", "differs from itself")
ALIKE = 0.002  # the share of pixels in which two drawings of a figure may differ,
VISIBLE = 25  # by more than so much of 255: lines that move by a part of a pixel are shaded again
RUN = """
import collections, json, os, runpy, sys, warnings
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
sys.path.insert(0, sys.argv[1])
import stand_ins
stand_ins.install(sys.argv[3])
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
if os.environ.get("SEPARATRIX_CLOSELY"):
    import sklearn.svm
    for cls in (sklearn.svm.LinearSVC, sklearn.svm.SVC):
        def fit(self, *args, _fit=cls.fit, **kwargs):
            return _fit(self.set_params(tol=1e-9), *args, **kwargs)
        cls.fit = fit
figures, sys.argv = sys.argv[2], sys.argv[3:]
np.random.seed(0)
runpy.run_path(sys.argv[0], run_name="__main__")
for number in plt.get_fignums():
    figure = plt.figure(number)
    figure.set_dpi(50)
    figure.canvas.draw()
    np.save(f"{figures}/{number}.npy", np.asarray(figure.canvas.buffer_rgba()))
sys.stdout.flush()
sys.stderr.write("\\n" + json.dumps(tally))
"""


class Outcome(NamedTuple):
    """What an example prints, None where it fails; who solved its problems, or the error; what it draws."""

    printed: str | None
    remark: str
    figures: dict[str, np.ndarray]


def run(file: Path, how: str = "") -> Outcome:
    """``how``: "SEPARATRIX_PATCH" with the drop-in classes, "SEPARATRIX_CLOSELY" with a small tolerance."""
    environment = {**os.environ, **({how: "1"} if how else {}), "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-c", RUN, str(Path(__file__).resolve().parent), folder, str(file)], env=environment,
                capture_output=True, text=True, timeout=LIMIT, cwd=file.parent, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(None, f"not done after {LIMIT} s", {})
        figures = {name.name: np.load(name) for name in Path(folder).iterdir()}
    lines = done.stderr.strip().splitlines() or [""]
    return Outcome(TIMES.sub(" TIME", done.stdout) if done.returncode == 0 else None, lines[-1], figures)


def alike(one: Outcome, other: Outcome) -> int:
    """The number of figures that look the same."""
    return sum(
        name in other.figures
        and a.shape == other.figures[name].shape
        and float(np.mean((np.abs(a.astype(int) - other.figures[name]) > VISIBLE).any(axis=-1))) <= ALIKE
        for name, a in one.figures.items()
    )


def judge(file: Path) -> tuple[str, Outcome, Outcome]:
    plain = run(file)
    if plain.printed is None:
        return "no answer", plain, plain
    ours = run(file, "SEPARATRIX_PATCH")
    if ours.printed is None:
        return "fails with the drop-in classes only", plain, ours
    if ours.printed == plain.printed:
        return "equal", plain, ours
    if run(file).printed != plain.printed:
        return "differs from itself", plain, ours
    closely = run(file, "SEPARATRIX_CLOSELY")
    return ("equal at a small tol" if closely.printed == ours.printed else "different"), plain, ours


def main() -> None:
    folder, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:]
    files = sorted(file for file in folder.rglob("*.py") if NAMES.search(file.read_text()))
    counts = dict.fromkeys(
        (*EXPLAINED, "different", "fails with the drop-in classes only", "no answer"), 0
    )  # fmt: skip
    for file in files:
        name = str(file.relative_to(folder))
        if wanted and not any(part in name for part in wanted):
            continue
        verdict, plain, ours = judge(file)
        counts[verdict] += 1
        words = len((plain.printed or "").split())
        figures = f"{alike(plain, ours)} of {len(plain.figures)} figures alike"
        print(f"{verdict}: {name}, {words} words, {figures}; {ours.remark}", flush=True)
        if verdict != "equal":
            for a, b in zip((plain.printed or "").splitlines(), (ours.printed or "").splitlines(), strict=False):
                if a != b:
                    print(f"    - {a}\n    + {b}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if counts["different"] or counts["fails with the drop-in classes only"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
