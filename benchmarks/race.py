"""The rules of the race: rows, medians with their spread, peers at several tolerances, tables and JSON.

What a solver's vector is worth is computed by the benchmark that holds the race (`objective`), in float64. A peer is
run at several tolerances and counts at the first that truly reaches the target; a run that exceeds the time limit, or
never reaches it, is "no answer". Everything happens in one process and its children, one thread each.
"""

import math
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.measure import limited

SHORT = 2.0  # seconds below which a peer is timed in this process, as we are: a forked child copies pages
PACKAGES = (
    "separatrix", "numpy", "scipy", "numba", "scikit-learn", "liblinear-official", "libsvm-official", "vowpalwabbit",
    "skglm", "snapml", "scikit-learn-intelex", "quadprog", "daqp", "piqp", "clarabel", "highspy", "river",
    "firthmodels",
)  # fmt: skip


@dataclass
class Timing:
    """Median seconds (inf: no answer), half the distance between the quartiles, and what was reached."""

    seconds: float
    spread: float = 0.0
    reached: float = math.nan

    def __str__(self) -> str:
        if math.isnan(self.seconds):
            return ""
        if math.isinf(self.seconds):
            return "no answer" if math.isnan(self.reached) else f"no answer ({self.reached:.0e})"
        value, unit = (self.seconds, "s") if self.seconds >= 0.9995 else (1e3 * self.seconds, "ms")
        return f"{value:.3g} {unit} ± {100 * self.spread / max(self.seconds, 1e-12):.0f}%"


NO_ANSWER = Timing(math.inf)


@dataclass
class Row:
    """One case: our time, the peers' times, and the goal for best peer / ours (or what ``value`` says instead)."""

    case: str
    ours: Timing
    peers: dict[str, Timing] = field(default_factory=dict)
    goal: float | None = None
    at_most: bool = False  # the value has to stay below the goal instead of above it
    value: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        if self.value is not None:
            return self.value
        best = min((peer.seconds for peer in self.peers.values()), default=math.nan)
        return best / self.ours.seconds

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.ratio <= self.goal if self.at_most else self.ratio >= self.goal


def table(rows: Iterable[Row]) -> str:
    """Return a Markdown table with a column per baseline. Targets are listed at the end of a run."""
    rows = list(rows)
    peers = list(dict.fromkeys(name for row in rows for name in row.peers))
    lines = ["| case | separatrix | " + "".join(f"{name} | " for name in peers) + "ratio | note |"]
    lines.append("|" + "---|" * (len(peers) + 4))
    for row in rows:
        times = "".join(f"{row.peers.get(name, '')} | " for name in peers)
        lines.append(f"| {row.case} | {row.ours} | {times}{_ratio(row)} | {row.note} |")
    return "\n".join(lines)


def _ratio(row: Row) -> str:
    if math.isnan(row.ratio):
        return ""
    if math.isinf(row.ratio):
        return "only answer"
    return f"{row.ratio:.3g}" if row.value is not None else f"{row.ratio:.3g}x"


def as_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [asdict(row) | {"ratio": row.ratio, "met": row.met} for row in rows]


def from_json(row: dict[str, Any]) -> Row:
    fields = {name: value for name, value in row.items() if name not in ("ratio", "met")}
    fields["ours"] = Timing(**row["ours"])
    fields["peers"] = {name: Timing(**peer) for name, peer in row["peers"].items()}
    return Row(**fields)


def clock(run: Callable[[], Any], repeats: int = 5) -> Timing:
    """Median and half the distance between the quartiles of so many runs here."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return summary(times)


def summary(times: list[float]) -> Timing:
    low, _, high = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else (times[0],) * 3
    return Timing(statistics.median(times), (high - low) / 2.0)


def first_that_reaches(
    runs: Iterable[Callable[[], Any]], judge: Callable[[Any], float], target: float, limit: float
) -> Timing:
    """A peer's time at the first of its settings whose result is judged ``<= target``; 2 ``limit`` for all of them."""
    best, spent = math.inf, 0.0
    for run in runs:
        try:
            seconds, result = limited(run, limit)
        except Exception:  # a peer that fails has no answer; why is its own matter
            continue
        reached = judge(result)
        if reached <= target:
            timing = clock(run) if seconds < SHORT else Timing(seconds)
            return Timing(timing.seconds, timing.spread, reached)
        best, spent = min(best, reached), spent + seconds
        if spent > 2.0 * limit:  # the next tolerance would take longer still
            break
    return Timing(math.inf, 0.0, best)


def machine() -> dict[str, str]:
    """The processor and the versions of all that races."""
    return {"machine": f"{_processor()}, {platform.machine()}, Python {platform.python_version()}; one thread"} | {
        name: found for name in PACKAGES if (found := _version(name))
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
