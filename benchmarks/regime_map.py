"""The map: python -m benchmarks map [--smoke] [--seconds S] [--only WORDS] [--out FOLDER]

Rows against columns, up to a million of each, dense and sparse: hard margins, soft ones from C = 0.01 to 1e4 with
squared and with hinge loss, Gaussian kernels, many classes, and least squares. Generated data of stated margin, noise
and condition, their seeds taken from the date. In every cell the best peer that reaches the same accuracy; ours and the
peers near the best take turns, and seconds of the processor are counted, so that whatever else the machine does meets
all of them. Printed as a picture, n against d, a colour for the ratio, and as a list of the ten worst cells: tuning
goes there first.

What was measured is kept in FOLDER: a map that is stopped goes on where it was when it is called again, with the same
seed. ``--only`` measures the cells whose name holds these words ("dense, 100 x", "rbf"), again where they were measured
before.
"""

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.measure import limited
from benchmarks.race import Row, Timing, as_json, from_json, summary
from benchmarks.regime_cells import TARGET, Cell, cells, contest, data
from separatrix import NotSeparableError

COLOURS = ((0.5, 196), (0.9, 208), (1.1, 226), (3.0, 154), (math.inf, 46))  # red to green, of a terminal's 256
WORTH, LEAST, MOST = 1.0, 3, 15  # seconds of repetitions, and how many
SLOW = 5.0  # seconds of a run that is not repeated
SECONDS = 3.0  # limit of a peer's run
NEAR, SOON = 1.5, 0.05  # peers within this factor of the best, or so many seconds, take turns with us

Run = Callable[[], Any]


def measure(wanted: list[Cell], limit: float, seed: int) -> Iterator[tuple[Cell, Row]]:
    """A row of the race for every cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in wanted:
            try:
                yield cell, _race(cell, *data(cell, seed), limit)
            except NotSeparableError:
                continue


def _race(cell: Cell, X: Any, y: Any, limit: float) -> Row:
    model, settings, judge = contest(cell, X, y)
    model.fit(X, y)  # compiles, where nothing is in the cache
    best, others, runs = math.inf, {}, {"": lambda: model.fit(X, y)}
    for name, tries in settings.items():
        others[name], run = _first_that_reaches(tries, judge(model), min(limit, NEAR * best + SOON))
        best = min(best, others[name].seconds)
        if run is not None:
            runs[name] = run
    near = {name: run for name, run in runs.items() if not name or others[name].seconds <= NEAR * best + SOON / NEAR}
    times = _turns(near)
    ours = times.pop("")
    ours.reached = getattr(model.certificate_, "gap", math.nan)
    return Row(str(cell), ours, others | times, 0.9, note=getattr(model, "solver_", "").split(" ")[0])


def _first_that_reaches(tries: list[Run], judge: Callable[[Any], float], limit: float) -> tuple[Timing, Run | None]:
    """A peer's time at the first of its settings that reaches the target, in a process of its own; and the run."""
    best, spent = math.inf, 0.0
    for run in tries:
        try:
            seconds, result = limited(run, 2.0 * limit, time.process_time)
        except Exception:  # a peer that fails has no answer; why is its own matter
            continue
        reached = 1.0 if result is None else judge(result)
        if reached <= TARGET and seconds <= limit:
            return Timing(seconds, 0.0, reached), run
        best, spent = min(best, reached), spent + seconds
        if spent > limit:  # the next tolerance would take longer still
            break
    return Timing(math.inf, 0.0, best), None


def _turns(runs: dict[str, Run]) -> dict[str, Timing]:
    """Seconds of the processor of runs that take turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    count = rounds = 0
    while count <= rounds:
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name].append(time.process_time() - start)
        if not count:
            first = sum(seconds[0] for seconds in times.values())
            rounds = 0 if first > SLOW else min(max(int(WORTH / first), LEAST), MOST)
        count += 1
    return {name: summary(seconds[1:] or seconds) for name, seconds in times.items()}


def picture(rows: list[tuple[Cell, Row]], colours: bool) -> str:
    """For every problem and layout the ratios, n downwards and d to the right."""
    parts = []
    for problem, layout in dict.fromkeys((cell.problem, cell.layout) for cell, _ in rows):
        mine = {(c.n, c.d): row for c, row in rows if (c.problem, c.layout) == (problem, layout)}
        columns = sorted({d for _, d in mine})
        lines = [f"{problem}, {layout}", "".join(f"{x:>11}" for x in ("n \\ d", *(f"{d:,}" for d in columns)))]
        for n in sorted({n for n, _ in mine}):
            lines.append(f"{n:>11,}" + "".join(_shade(mine.get((n, d)), colours) for d in columns))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _shade(row: Row | None, colours: bool) -> str:
    if row is None:
        return " " * 11
    words = f"{'only us' if math.isinf(row.ratio) else f'{row.ratio:.2g}x':>10} "
    colour = next(code for most, code in COLOURS if row.ratio <= most)
    return f"\033[38;5;{colour}m{words}\033[0m" if colours else words


def worst(rows: list[tuple[Cell, Row]], count: int = 10) -> str:
    """The cells in which we are farthest behind, and the mean over all that a peer answers."""
    ranked = sorted((row for _, row in rows), key=lambda row: row.ratio)
    answered = [row.ratio for row in ranked if math.isfinite(row.ratio)]
    lines = [f"{row.ratio:8.2f}x  {row.case}: {row.ours}, best peer {_best(row)} {row.note}" for row in ranked[:count]]
    if answered:
        mean = math.exp(sum(map(math.log, answered)) / len(answered))
        behind = sum(ratio < 0.9 for ratio in answered)
        lines.append(f"{len(rows)} cells, {behind} below 0.9x; geometric mean {mean:.2f} of {len(answered)} answered")
    return "\n".join(lines)


def _best(row: Row) -> str:
    name = min(row.peers, key=lambda peer: row.peers[peer].seconds)
    return f"{name} {row.peers[name]}"


def draw(options: Any) -> None:
    """What ``python -m benchmarks map`` does."""
    options.out.mkdir(parents=True, exist_ok=True)
    seed, known = _kept(options.out / "map.json")
    everything = cells(options.smoke)
    again = options.only is not None
    wanted = [cell for cell in everything if (options.only in str(cell) if again else str(cell) not in known)]
    for _, row in measure(wanted, options.seconds or SECONDS, seed):
        known[row.case] = row
        print(f"... {row.case}: {row.ratio:.2f}x", flush=True)
        rows = as_json(known.values())
        (options.out / "map.json").write_text(json.dumps({"seed": seed, "rows": rows}, indent=1))
    rows = [(cell, known[str(cell)]) for cell in everything if str(cell) in known]
    (options.out / "map.txt").write_text(f"{picture(rows, False)}\n\nThe ten worst cells\n\n{worst(rows)}\n")
    print(f"\n{picture(rows, True)}\n\nThe ten worst cells\n\n{worst(rows)}")


def _kept(file: Path) -> tuple[int, dict[str, Row]]:
    """The seed of the map in a folder, and the cells that were measured."""
    if not file.exists():
        return date.today().toordinal(), {}
    content = json.loads(file.read_text())
    return content["seed"], {row["case"]: from_json(row) for row in content["rows"]}
