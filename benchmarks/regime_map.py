"""The map: python -m benchmarks map [--smoke] [--seconds S] [--out FOLDER]

Rows against columns, up to a million of each, dense and sparse: hard margins, soft ones from C = 0.01 to 1e4, and least
squares. Generated data of stated margin, noise and condition, their seeds taken from the date. In every cell the best
peer that reaches the same accuracy, side by side with us. Printed as a picture, n against d, a colour for the ratio,
and as a list of the ten worst cells: tuning goes there first.
"""

import functools
import json
import math
import warnings
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import peers
from benchmarks.objective import missing_margin, soft_gap
from benchmarks.race import Row, Timing, as_json, clock, first_that_reaches
from separatrix import LeastSquares, MaxMargin, NotSeparableError

TARGET = 1e-3
ROWS = (30, 100, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (3, 10, 50, 200, 1_000, 10_000, 1_000_000)
VALUES = 60_000_000  # of a dense matrix, at most
STORED = 30_000_000  # of a sparse one
PER_ROW = (3, 30, 300)
CS = (0.01, 1.0, 100.0, 1e4, math.inf)
COLOURS = ((0.5, 196), (0.9, 208), (1.1, 226), (3.0, 154), (math.inf, 46))  # red to green, of a terminal's 256


class Cell(NamedTuple):
    """``per_row``: stored values of a sparse row, or 0 where it is dense. ``C`` nan: least squares."""

    n: int
    d: int
    per_row: int
    C: float
    noise: float
    condition: float

    @property
    def problem(self) -> str:
        return "least squares" if math.isnan(self.C) else "hard" if math.isinf(self.C) else f"C = {self.C:g}"

    @property
    def layout(self) -> str:
        return f"{self.per_row} values a row" if self.per_row else "dense"

    def __str__(self) -> str:
        return f"{self.problem}, {self.layout}, {self.n:,} x {self.d:,}"


def cells(small: bool) -> list[Cell]:
    rows, columns, per_row = ((30, 300), (3, 100), (3,)) if small else (ROWS, COLUMNS, PER_ROW)
    found = []
    for n in rows:
        for d in columns:
            condition = 100.0 if (n + d) % 3 == 0 else 1.0
            if n * d <= VALUES:
                found += [Cell(n, d, 0, C, 0.0 if math.isinf(C) else 0.05, condition) for C in CS]
                if n > 4 * d:
                    found.append(Cell(n, d, 0, math.nan, 0.05, condition))
            for k in per_row:
                if k < d and d >= 100 and n * k <= STORED:
                    found += [Cell(n, d, k, C, 0.05, 1.0) for C in CS if not math.isinf(C)]
    return found


def data(cell: Cell, seed: int) -> tuple[Any, np.ndarray]:
    """Rows of a hyperplane with a margin of 0.05, or labels of which some are wrong."""
    rng = np.random.default_rng([seed, cell.n, cell.d, cell.per_row])
    w = rng.standard_normal(cell.d)
    if cell.per_row:
        columns = rng.integers(0, cell.d, (cell.n, cell.per_row))
        start = np.arange(0, columns.size + 1, cell.per_row)
        X = sp.csr_matrix((rng.random(columns.size) + 0.1, columns.ravel(), start), (cell.n, cell.d))
        X.sum_duplicates()
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        score = X @ w
        y = np.where(score > np.median(score), 1, -1)
    else:
        X = rng.standard_normal((cell.n, cell.d))
        score = X @ w / np.linalg.norm(w)
        y = np.where(score > 0, 1, -1)
        X += np.outer(0.05 * y, w / np.linalg.norm(w))
        X *= np.geomspace(1.0, cell.condition, cell.d)
    wrong = rng.random(cell.n) < cell.noise
    y[wrong] = -y[wrong]
    y[0], y[-1] = (1, -1) if len(np.unique(y)) < 2 else (y[0], y[-1])
    return X, y


def measure(small: bool, limit: float = 3.0, seed: int | None = None):
    """A row of the race for every cell."""
    seed = date.today().toordinal() if seed is None else seed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in cells(small):
            X, y = data(cell, seed)
            try:
                yield cell, _race(cell, X, y, limit)
            except NotSeparableError:
                continue


def _race(cell: Cell, X: Any, y: np.ndarray, limit: float) -> Row:
    if math.isnan(cell.C):
        from sklearn.linear_model import RidgeClassifier

        ridge = clock(functools.partial(RidgeClassifier(alpha=1e-10).fit, X, y), 3)
        return Row(str(cell), _ours(LeastSquares(), X, y), {"RidgeClassifier": ridge}, 0.9)
    model = MaxMargin(cell.C, tol=TARGET)
    ours = _ours(model, X, y)
    ours.reached = model.certificate_.gap
    judge = functools.partial(soft_gap, X, y, cell.C)
    runs = peers.soft_margin(X, y, cell.C)
    if math.isinf(cell.C):
        judge = functools.partial(missing_margin, X, y, best=model.certificate_.upper)
        runs = peers.hard_margin(X, y)
    others = {name: first_that_reaches(settings, judge, TARGET, limit) for name, settings in runs.items()}
    return Row(str(cell), ours, others, 0.9, note=model.solver_.split(" ")[0])


def _ours(model: Any, X: Any, y: np.ndarray) -> Timing:
    first = clock(functools.partial(model.fit, X, y), 1)  # compiles, where nothing is in the cache
    return clock(functools.partial(model.fit, X, y), 3) if first.seconds < 20.0 else first


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
    rows: list[tuple[Cell, Row]] = []
    options.out.mkdir(parents=True, exist_ok=True)
    for cell, row in measure(options.smoke, options.seconds):
        rows.append((cell, row))
        print(f"... {row.case}: {row.ratio:.2f}x", flush=True)
        (options.out / "map.json").write_text(json.dumps(as_json(r for _, r in rows), indent=1))
    text = picture(rows, colours=False) + "\n\nThe ten worst cells\n\n" + worst(rows) + "\n"
    (options.out / "map.txt").write_text(text)
    print("\n" + picture(rows, colours=True) + "\n\nThe ten worst cells\n\n" + worst(rows))
