"""The table and the picture of ``python -m benchmarks defaults``."""

import math
import re
from pathlib import Path
from typing import Any

from benchmarks.defaults import Cell, has_counterpart

SHORT = 5e-3  # seconds of a counterpart up to which a difference counts, and not a ratio
LATER, AT_LEAST = 3e-3, 0.9  # seconds that ours may take longer there; the least ratio elsewhere
POINTS, POINTS_OF_OTHERS, TIMES_OF_OTHERS = 0.005, 0.02, 10.0  # accuracy that may be lost; time of the others
BEGIN, END = "<!-- defaults: begin -->", "<!-- defaults: end -->"
HEAD = """## Estimators as users first call them

`python -m benchmarks defaults`: every estimator with its default parameters, beside the scikit-learn class that one
would call instead. One thread, compiled code in memory, medians of runs that take turns, seconds of the processor.
Accuracy is the mean of five stratified splits. Memory is the peak of a fit minus that before it. Above 1x separatrix is
faster, below 1x scikit-learn is.
"""


def ratio(cell: Cell) -> float:
    """The time of scikit-learn's fit over ours; 0 if ours has not ended, nan if neither has."""
    ours, theirs = (cell.get(side, {}).get("fit", math.nan) for side in ("ours", "theirs"))
    if math.isnan(ours):
        return 0.0 if "late" in cell or "failed" in cell else math.nan
    return theirs / ours


def lost(cell: Cell) -> float:
    """Accuracy of scikit-learn's minus ours."""
    return cell.get("theirs", {}).get("accuracy", math.nan) - cell.get("ours", {}).get("accuracy", math.nan)


def in_target(cell: Cell) -> bool:
    """As fast and as accurate as the class beside it, or, without a counterpart, not far behind."""
    ours, theirs = cell.get("ours", {}), cell.get("theirs", {})
    if "failed" in cell or not {"fit", "accuracy"} <= ours.keys():
        return False
    if not {"fit", "accuracy"} <= theirs.keys():
        return True
    if not has_counterpart(cell["contest"]):
        return ours["fit"] <= TIMES_OF_OTHERS * theirs["fit"] and lost(cell) <= POINTS_OF_OTHERS
    fast = ours["fit"] <= theirs["fit"] + LATER if theirs["fit"] <= SHORT else ratio(cell) >= AT_LEAST
    return fast and lost(cell) <= max(POINTS, theirs.get("error", 0.0))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.3g} s" if seconds >= 1.0 else f"{1e3 * seconds:.3g} ms"


def _of(cell: Cell, side: str) -> tuple[str, str, str, str]:
    values = cell.get(side, {})
    accuracy = f"{100 * values['accuracy']:.1f}%" if "accuracy" in values else ""
    memory = f"{values['memory'] / 1e6:.1f} MB" if "memory" in values else ""
    fit = _time(values.get("fit")) + ("" if values.get("runs", 0) > 1 or "fit" not in values else " (1 run)")
    return fit, _time(values.get("predict")), accuracy, memory


def _verdict(cell: Cell) -> str:
    if "failed" in cell:
        return cell["failed"]
    if "fit" not in cell.get("ours", {}):
        return f"no answer in {cell.get('late', 0):g} s"
    return "" if in_target(cell) else "**behind**"


def line(cell: Cell) -> str:
    """One cell as a line of text."""
    ours, theirs = _of(cell, "ours"), _of(cell, "theirs")
    parts = f"{cell['data']}: {cell['contest']}", f"{ratio(cell):.2g}x", " ".join(ours), "|", " ".join(theirs)
    return "  ".join((*parts, _verdict(cell)))


def _mean(ratios: list[float]) -> float:
    known = [r for r in ratios if r > 0]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else math.nan


def _by_estimator(cells: list[Cell]) -> list[tuple[str, list[Cell]]]:
    names = dict.fromkeys(cell["contest"] for cell in cells)
    ordered = sorted(names, key=lambda name: (not has_counterpart(name), name))
    return [(name, [cell for cell in cells if cell["contest"] == name]) for name in ordered]


def summary(cells: list[Cell]) -> str:
    """A line for every estimator: ratios over its data, accuracy lost, cells in their target."""
    rows = [
        "| estimator | beside | times as fast, geometric mean | worst | points of accuracy gained, mean | in target |",
        "|---|---|---|---|---|---|",
    ]
    means = []
    for name, mine in _by_estimator(cells):
        ratios = [r for r in map(ratio, mine) if not math.isnan(r)]
        losses = [x for x in map(lost, mine) if not math.isnan(x)]
        gained = f"{-100 * sum(losses) / len(losses):+.1f}" if losses else ""
        worst = min(mine, key=lambda cell: ratio(cell) if not math.isnan(ratio(cell)) else math.inf)
        late = sum(r == 0.0 for r in ratios)
        mean = _mean(ratios)
        means += [mean] if has_counterpart(name) and not math.isnan(mean) else []
        unanswered = f", {late} without an answer" if late else ""
        beside = mine[0]["counterpart"].replace("()", "")
        met = sum(map(in_target, mine))
        rows.append(
            f"| {name} | {beside} | {mean:.2g}x{unanswered} | {ratio(worst):.2g}x ({worst['data']}) "
            f"| {gained} | {met} of {len(mine)} |"
        )
    rows.append(f"\nGeometric mean over the estimators with a counterpart: {_mean(means):.2f}x.")
    return "\n".join(rows)


def table(cells: list[Cell]) -> str:
    """All cells, a table for every data set."""
    parts = []
    for data in dict.fromkeys(cell["data"] for cell in cells):
        mine = [cell for cell in cells if cell["data"] == data]
        n, d = mine[0]["shape"]
        rows = [
            f"### {data} ({n:,} x {d:,})\n",
            "| estimator | times as fast | fit | predict | accuracy | memory | beside | fit | predict | accuracy "
            "| memory | |",
            "|---" * 12 + "|",
        ]
        for name, found in _by_estimator(mine):
            for cell in found:
                ours, theirs = (" | ".join(_of(cell, side)) for side in ("ours", "theirs"))
                rows.append(
                    f"| {name} | {ratio(cell):.2g}x | {ours} | {cell['counterpart']} | {theirs} | {_verdict(cell)} |"
                )
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def draw(cells: list[Cell], file: Path) -> None:
    """A field for every cell: red where scikit-learn is faster, blue where separatrix is."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    names = [name for name, _ in _by_estimator(cells)]
    sets = list(dict.fromkeys(cell["data"] for cell in cells))
    values: Any = np.full((len(names), len(sets)), np.nan)
    for cell in cells:
        values[names.index(cell["contest"]), sets.index(cell["data"])] = ratio(cell)
    figure, axes = plt.subplots(figsize=(2.5 + 0.55 * len(sets), 1.5 + 0.26 * len(names)), layout="constrained")
    shades = np.log10(np.clip(values, 0.01, 100.0))
    image = axes.imshow(shades, cmap="RdBu", vmin=-2.0, vmax=2.0, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            dark = abs(shades[i, j]) > 1.2
            text = f"{value:.2g}" if value else "late"
            axes.text(j, i, text, ha="center", va="center", fontsize=6, color="white" if dark else "black")
    axes.set_xticks(range(len(sets)), sets, rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    bar = figure.colorbar(image, ticks=[-2, -1, 0, 1, 2], shrink=0.5)
    bar.ax.set_yticklabels(["0.01x", "0.1x", "1x", "10x", "100x"], fontsize=7)
    bar.set_label("times as fast as scikit-learn", fontsize=7)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def write(folder: Path, cells: list[Cell], docs: bool) -> None:
    """defaults.md and defaults.png; with ``docs`` also first on the page of the benchmarks."""
    if not cells:
        return
    picture = "![Times as fast as scikit-learn](pictures/defaults.png)"
    text = f"{HEAD}\n{picture}\n\n{summary(cells)}\n"
    (folder / "defaults.md").write_text(f"{text}\n{table(cells)}\n")
    draw(cells, folder / "defaults.png")
    if docs:
        root = Path(__file__).parent.parent / "docs"
        draw(cells, root / "pictures" / "defaults.png")
        page = root / "benchmarks.md"
        page.write_text(placed(page.read_text(), f"{text}\n{table(cells)}"))


def placed(page: str, section: str) -> str:
    """The page with this section first, in the place of the one that was there."""
    page = re.sub(rf"{BEGIN}.*?{END}\n\n", "", page, flags=re.DOTALL)
    title, rest = page.split("\n\n", 1)
    return f"{title}\n\n{BEGIN}\n{section}\n{END}\n\n{rest}"
