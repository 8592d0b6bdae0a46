"""The whole race: python -m benchmarks [race | map | study | limits] [--smoke] [--goal NAME ...] [--out DIR] [--docs]
Beside scikit-learn: python -m benchmarks defaults [--quick] [--seconds S] [--only WORDS] [--folder DIR] [--out DIR]
The main job beside a logistic regression: python -m benchmarks.main_job [--only K ...] [--interrupt N]
Two versions compared: python -m benchmarks gate COMMIT [--quick] [--only WORDS] [--out FOLDER]

Run it on an idle machine with SEPARATRIX_DATA set; `pip install '.[bench]'` brings the peers. Results go to FOLDER as
results.json and results.md. ``--smoke`` runs tiny cases of everything in less than a minute: it shows that the race
works, and its times mean nothing. ``map`` is the race as a map of rows against columns (`benchmarks.regime_map`):
map.json and map.txt. ``study`` asks which classifier predicts best (`benchmarks.study`): study.json. ``limits`` prints
how late max_time and Ctrl-C are answered (`benchmarks.limits`). ``--docs`` writes the page of docs/ as well:
benchmarks.md begins with summary.md, study.md ends with study_remarks.md. NOTES.md has what was tried.
``gate`` compares the working tree with a commit (`benchmarks.gate`): gate.json and gate.txt.
``defaults`` compares every estimator, with its defaults, with scikit-learn's (`benchmarks.defaults`): defaults.json,
defaults.md and defaults.png.
"""

from benchmarks.measure import one_thread

one_thread()

import argparse
import importlib
import json
import re
import sys
import time
from pathlib import Path

from benchmarks.defaults_report import BEGIN, END, placed
from benchmarks.race import Row, as_json, from_json, machine, table

HERE = Path(__file__).parent
# Separability before soft margins: snapml makes a process take subnormal numbers for 0, and there `verify` refuses.
GOALS = {
    "epochs": "Perceptron epochs, marginal cost",
    "hard_margin": "Hard margin, dense",
    "separability": "Separability, decided and proved",
    "separation": "Kinds of separation and infinite coefficients",
    "soft_margin": "Soft margin",
    "hinge": "Soft margin with hinge loss, linear and with a kernel",
    "dropin": "The drop-in classes and scikit-learn's",
    "ho_kashyap": "Ho-Kashyap",
    "multiclass": "Many classes",
    "best_rule": "To 99% of the maximum margin",
    "first_call": "Cold and warm",
    "memory": "Memory",
    "growth": "Growth of time with rows, columns and accuracy",
}


OTHERS = {  # besides the race: the module and its function
    "map": ("regime_map", "draw"),
    "study": ("study", "study"),
    "gate": ("gate", "gate"),
    "limits": ("limits", "measure"),
    "defaults": ("defaults", "run"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="A race against other solvers.")
    parser.add_argument(
        "what",
        nargs="?",
        choices=("race", *OTHERS),
        default="race",
        help="the race, the map of regimes, the study of accuracy, the comparison with another version, "
        "how late limits are answered, or every estimator with its defaults",
    )
    parser.add_argument("baseline", nargs="?", help="the commit to compare with, for the gate")
    parser.add_argument("--quick", action="store_true", help="a part of the gate or of the defaults")
    parser.add_argument("--seconds", type=float, help="limit of a peer's run (map), or of a cell (defaults)")
    parser.add_argument("--folder", type=Path, help="more data files, for the defaults")
    parser.add_argument(
        "--only", metavar="WORDS", help="only what has these words in its name (map, gate, limits, defaults)"
    )
    parser.add_argument("--smoke", action="store_true", help="tiny cases of everything, in less than a minute")
    parser.add_argument("--goal", action="append", choices=GOALS, help="only this one; may be given several times")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"), help="folder for results.json and .md")
    parser.add_argument("--docs", action="store_true", help="write docs/benchmarks.md from the results in FOLDER")
    options = parser.parse_args()
    if options.what != "race":
        module, name = OTHERS[options.what]
        sys.exit(getattr(importlib.import_module(f"benchmarks.{module}"), name)(options))
    results: dict[str, list[Row]] = {}
    setting = machine()
    print("; ".join(f"{name} {what}" if name != "machine" else what for name, what in setting.items()), flush=True)
    for name in options.goal or GOALS:
        module = importlib.import_module(f"benchmarks.{name}")
        start, rows = time.perf_counter(), []
        print(f"\n## {GOALS[name]}\n", flush=True)
        for row in module.measure(options.smoke):
            rows.append(row)
            print(f"... {row.case}", flush=True)
        results[name] = rows
        print(f"\n{table(rows)}\n\n({time.perf_counter() - start:.0f} s)", flush=True)
        write(options.out, setting, results)
    if options.docs:
        text = (HERE / "summary.md").read_text() + "\n" + (options.out / "results.md").read_text()
        page = HERE.parent / "docs" / "benchmarks.md"
        first = re.search(rf"{BEGIN}\n(.*?)\n{END}", page.read_text(), re.DOTALL)
        page.write_text(placed(text, first[1]) if first else text)
    missed = [row.case for rows in results.values() for row in rows if row.met is False]
    print(f"\n{len(missed)} goals not met" + "".join(f"\n- {case}" for case in missed))


def write(folder: Path, setting: dict[str, str], results: dict[str, list[Row]]) -> None:
    """After every goal: a race that is stopped keeps what it measured, and goals measured earlier stay."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "results.json"
    known = json.loads(file.read_text())["results"] if file.exists() else {}
    content = known | {name: as_json(rows) for name, rows in results.items()}
    ordered = {name: content[name] for name in GOALS if name in content}
    file.write_text(json.dumps({"setting": setting, "results": ordered}, indent=1))
    parts = ["; ".join(f"{name} {what}" if name != "machine" else what for name, what in setting.items())]
    for name, rows in ordered.items():
        module = importlib.import_module(f"benchmarks.{name}")
        parts.append(f"## {GOALS[name]}\n\n{(module.__doc__ or '').strip()}\n\n{table(map(from_json, rows))}")
    (folder / "results.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
