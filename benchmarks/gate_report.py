"""What the gate's answers amount to: verdicts on times and gaps, changes of results, the report."""

import math
import statistics
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gate_configurations import Configuration

VERSIONS = ("baseline", "tree", "baseline again")
MOST_MEAN = 1.05  # of the ratios, geometric
SHORT, MOST_LONGER = 0.010, 0.010  # seconds of a short fit, and how many more it may take
MOST_RATIO = 1.3  # of any other
TOL = 1e-4  # the gap that every certified configuration has to reach


# Times


class Verdict(NamedTuple):
    """What the answers to a configuration amount to. ``over`` and ``remarks`` are empty if all is well.

    ``seconds`` and ``wall`` are medians over the runs, ``each`` holds the seconds of all runs.
    """

    name: str
    group: str
    seconds: dict[str, float]
    wall: dict[str, float]
    gap: dict[str, float | None]
    each: dict[str, list[float]]
    over: str
    remarks: str

    @property
    def ratio(self) -> float:
        return self.seconds["tree"] / self.seconds["baseline"]

    @property
    def scatter(self) -> float:
        return self.seconds["baseline again"] / self.seconds["baseline"]


def judge(configuration: Configuration, answers: dict[str, list[dict[str, Any]]], exceptions: Any) -> Verdict:
    def median(what: str) -> dict[str, float]:
        return {name: statistics.median(answer[what] for answer in answers[name]) for name in VERSIONS}

    seconds = median("seconds")
    each = {name: [answer["seconds"] for answer in answers[name]] for name in VERSIONS}
    last = {name: answers[name][-1] for name in VERSIONS}
    gaps = {name: max((_gap(bound[2]) for bound in last[name]["bounds"]), default=None) for name in VERSIONS}
    over, remarks = [], []
    before, after = seconds["baseline"], seconds["tree"]
    most = before + MOST_LONGER if before < SHORT else MOST_RATIO * before
    errors = [last[name]["error"] for name in VERSIONS[:2]]
    if after > most and not errors[0]:
        exception = exceptions.get(configuration.name)
        if exception and after <= exception["at_most"] * before:
            remarks.append(f"slower, an exception: {exception['reason']}")
        else:
            over.append(f"{after / before:.2f} times as long")
    if errors[1] and not errors[0]:
        over.append(f"error: {errors[1]}")
    elif any(errors):
        remarks.append(f"errors: {errors[0]} before, {errors[1]} now")
    if configuration.is_certified:
        missed = [gaps[name] is not None and gaps[name] > TOL for name in VERSIONS[:2]]
        if missed[1]:
            (remarks if missed[0] else over).append(f"gap {gaps['tree']:.1e}, before {_short(gaps['baseline'])}")
        elif missed[0]:
            remarks.append(f"gap {gaps['baseline']:.1e} before, now {_short(gaps['tree'])}")
        over += _contradictions(last["baseline"]["bounds"], last["tree"]["bounds"])
    return Verdict(configuration.name, configuration.group, seconds, median("wall"), gaps, each,
                   "; ".join(over), "; ".join(remarks))  # fmt: skip


def _gap(value: float | None) -> float:
    return 1.0 if value is None else value


def _short(gap: float | None) -> str:
    return "none" if gap is None else f"{gap:.1e}"


def _contradictions(before: list[Any], after: list[Any]) -> list[str]:
    """A margin that one version achieves cannot lie above the bound that the other one proves."""
    for (below, above, _), (low, high, _) in zip(before, after, strict=False):
        if (below or 0.0) > high or (low or 0.0) > above:
            return ["the certificates of both versions contradict each other"]
    return []


def mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


# Results


class Change(NamedTuple):
    """A number that differs between both versions. ``steady``: the baseline returns it the same way twice."""

    row: str
    what: str
    amount: str
    steady: bool


def differences(row: str, before: dict, after: dict, again: dict) -> list[Change]:
    """Return what is not bitwise identical. A number that only one version returns counts if both have results."""
    changes = []
    for name in sorted(before.keys() | after.keys()):
        a, b, c = (found.get(name) for found in (before, after, again))
        if not _same(a, b) and (name == "error" or _same(before["error"], after["error"])):
            changes.append(Change(row, name, _amount(a, b), _same(a, c)))
    return changes


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def _amount(a: np.ndarray | None, b: np.ndarray | None) -> str:
    """Say how far two arrays are apart."""
    if a is None or b is None:
        return "only before" if b is None else "only now"
    if "U" in (a.dtype.kind, b.dtype.kind):
        return f"{a} -> {b}"
    if a.shape != b.shape:
        return f"shape {a.shape} -> {b.shape}"
    if a.size == 1:
        return f"{a.item()!r} -> {b.item()!r}"
    finite = np.isfinite(a) & np.isfinite(b)
    size, other, apart = (
        np.max(np.abs(x[finite].astype(float)), initial=0.0) for x in (a, b, np.subtract(b, a, dtype=float))
    )
    return f"relatively {apart / max(size, other):.1e}" if apart > 0 else "in type, sign of zero, nan or infinity"


# Report


class Report(NamedTuple):
    """All that the gate found."""

    verdicts: list[Verdict]
    rows: int
    changes: list[Change]
    setting: dict[str, str]

    @property
    def exceeded(self) -> list[str]:
        found = [f"{verdict.name}: {verdict.over}" for verdict in self.verdicts if verdict.over]
        average = mean(verdict.ratio for verdict in self.verdicts)
        return found + ([f"geometric mean {average:.3f}"] if average > MOST_MEAN else [])

    def text(self) -> str:
        lines = ["; ".join(f"{name} {what}" for name, what in self.setting.items()), "", *_table(self.verdicts), ""]
        groups = list(dict.fromkeys(verdict.group for verdict in self.verdicts))
        for group in [*groups, "all"] if groups else []:
            mine = [verdict for verdict in self.verdicts if group in (verdict.group, "all")]
            wall = mean(verdict.wall["tree"] / verdict.wall["baseline"] for verdict in mine)
            lines.append(f"{group}: {len(mine)} configurations, geometric mean of tree / baseline "
                         f"{mean(verdict.ratio for verdict in mine):.3f} (wall {wall:.3f}), "
                         f"of baseline / baseline {_scatter(mine)}")  # fmt: skip
        lines += ["", *_changes(self.rows, self.changes), ""]
        lines += [f"{len(self.exceeded)} limits exceeded", *(f"- {line}" for line in self.exceeded)]
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        return {
            "setting": self.setting,
            "exceeded": self.exceeded,
            "configurations": [v._asdict() | {"ratio": v.ratio, "scatter": v.scatter} for v in self.verdicts],
            "rows": self.rows,
            "changes": [change._asdict() for change in self.changes],
        }


def _table(verdicts: list[Verdict]) -> list[str]:
    lines = ["| configuration | baseline, ms | tree, ms | ratio | baseline again | runs | remarks |"]
    lines.append("|---|---|---|---|---|---|---|")
    for v in verdicts:
        before, after = (f"{1e3 * v.seconds[name]:.2f}" for name in VERSIONS[:2])
        over = f"**{v.over}** " if v.over else ""
        runs = len(v.each["tree"])
        lines.append(
            f"| {v.name} | {before} | {after} | {v.ratio:.2f} | {v.scatter:.2f} | {runs} | {over}{v.remarks} |"
        )
    return lines


def _scatter(verdicts: list[Verdict]) -> str:
    ratios = [verdict.scatter for verdict in verdicts]
    low, high = np.quantile(ratios, (0.05, 0.95))
    return f"{mean(ratios):.3f} (nine of ten between {low:.2f} and {high:.2f}, {min(ratios):.2f} to {max(ratios):.2f})"


def _changes(rows: int, changes: list[Change]) -> list[str]:
    """Say what differs, row by row; numbers that only one version returns, by name."""
    lines = [f"{rows} rows of results, {len({change.row for change in changes})} are not bitwise identical"]
    one_sided: dict[tuple[str, str], int] = {}
    for change in changes:
        if change.amount.startswith("only"):
            key = change.what, change.amount
            one_sided[key] = one_sided.get(key, 0) + 1
        else:
            steady = "" if change.steady else " (the baseline differs from itself)"
            lines.append(f"- {change.row}: {change.what} {change.amount}{steady}")
    return lines + [f"- {what}: {amount}, {count} rows" for (what, amount), count in one_sided.items()]
