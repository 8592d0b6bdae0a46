"""The whole race: python -m benchmarks [--smoke] [--goal NAME ...] [--out FOLDER]

Run it on an idle machine with SEPARATRIX_DATA set; `pip install '.[bench]'` brings the peers. Results go to FOLDER as
results.json and results.md. ``--smoke`` runs tiny cases of everything in less than a minute: it shows that the race
works, and its times mean nothing.
"""

from benchmarks.measure import one_thread

one_thread()

import argparse
import importlib
import json
import time
from pathlib import Path

from benchmarks.race import Row, as_json, machine, table

GOALS = {
    "epochs": "Perceptron epochs, marginal cost",
    "hard_margin": "Hard margin, dense",
    "soft_margin": "Soft margin",
    "separability": "Separability, decided and proved",
    "best_rule": "To 99% of the maximum margin",
    "first_call": "Cold and warm",
    "memory": "Memory",
    "growth": "Growth of cost",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="A race against other solvers.")
    parser.add_argument("--smoke", action="store_true", help="tiny cases of everything, in less than a minute")
    parser.add_argument("--goal", action="append", choices=GOALS, help="only this one; may be given several times")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"), help="folder for results.json and .md")
    options = parser.parse_args()
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
    missed = [row.case for rows in results.values() for row in rows if row.met is False]
    print(f"\n{len(missed)} goals not met" + "".join(f"\n- {case}" for case in missed))


def write(folder: Path, setting: dict[str, str], results: dict[str, list[Row]]) -> None:
    """After every goal: a race that is stopped keeps what it measured."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"setting": setting, "results": {name: as_json(rows) for name, rows in results.items()}}
    (folder / "results.json").write_text(json.dumps(content, indent=1))
    parts = ["; ".join(f"{name} {what}" if name != "machine" else what for name, what in setting.items())]
    for name, rows in results.items():
        module = importlib.import_module(f"benchmarks.{name}")
        parts.append(f"## {GOALS[name]}\n\n{(module.__doc__ or '').strip()}\n\n{table(rows)}")
    (folder / "results.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
