"""CRAMMA tables 1-4, row by row: margins in the digits that the paper prints, and updates, compared exactly.

Claim (Tsampouka & Shawe-Taylor, section 5): near the maximum margin CRAMMA needs far fewer updates than the Perceptron
with margin and ALMA_2, on sonar, on Wisconsin breast cancer without 11 patterns, and on all of it in the extended
space.

Patterns are visited in file order, cyclically, until a cycle passes without update. The paper counts in three ways:
CRAMMA's counter t, which starts at 1; ALMA's k, also updates + 1; and for the Perceptron updates in tables 1 and 3,
updates + 1 in table 4.

Of the 62 rows 57 come out as printed. The other five, all of them on sonar and longer than 20 million updates, have
other counts. They are run again in an arithmetic that was looked for because of them, a vector that is divided after
every update (`separatrix.reproductions.literal`). `docs/reproductions.md` tells in which rows it gives the paper's
numbers, and of the others both counts.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from separatrix.callbacks import Callback
from separatrix.estimators.margin_rules import ALMA, CRAMMA
from separatrix.estimators.max_margin import MaxMargin
from separatrix.estimators.perceptrons import Perceptron
from separatrix.passes.plain_patterns import Patterns
from separatrix.reproductions.datasets import Labelled, load_sonar, load_wbc
from separatrix.reproductions.literal import literal_alma, literal_cramma
from separatrix.reproductions.outcome import Check, Figure, Report, Table
from separatrix.space import Space, soft_measures

DEFAULT_LIMIT = 30_000_000  # updates of the rows that run unless all are asked for


class Row(NamedTuple):
    """One line of a table: the parameter of an algorithm, what the paper prints, and the number of updates."""

    algorithm: str
    parameter: float
    printed: tuple[str, ...]
    updates: int


class PaperTable(NamedTuple):
    number: int
    title: str
    load: Callable[[], Labelled]
    space: Space
    cramma: dict[str, Any]  # its parameters besides beta
    scale: float  # the paper prints margins times this
    quantities: tuple[str, ...]
    perceptron_counts_one_more: bool
    rows: tuple[Row, ...]


def _rows(algorithm: str, *lines: tuple[float, str, int]) -> tuple[Row, ...]:
    return tuple(Row(algorithm, parameter, tuple(printed.split()), updates) for parameter, printed, updates in lines)


TABLES = {
    1: PaperTable(
        1, "sonar", load_sonar, Space(1.0), {"power": 0.5, "eta0": 0.001, "decay": 1.0}, 1e3, ("10^3 margin",), False,
        _rows("Perceptron", (1, "5.78", 247_140), (3.1, "7.14", 660_698), (5.4, "7.45", 1_117_124),
              (20, "7.80", 3_977_612), (90, "7.91", 17_647_271), (200, "7.92", 39_131_402),
              (500, "7.93", 97_717_549), (1000, "7.93", 195_358_932))
        + _rows("ALMA", (0.75, "5.65", 415_119), (0.55, "7.08", 1_584_785), (0.45, "7.45", 3_133_968),
                (0.35, "7.76", 6_657_109), (0.3, "7.91", 10_170_590), (0.2, "8.11", 28_339_340),
                (0.1, "8.27", 137_693_242), (0.03, "8.37", 1_735_836_937))
        + _rows("CRAMMA", (0.73, "5.73", 248_267), (1.52, "7.12", 669_170), (2, "7.46", 1_047_757),
                (3, "7.82", 2_143_989), (3.45, "7.92", 2_762_005), (5, "8.11", 5_531_113),
                (10, "8.28", 21_220_354), (30.1, "8.37", 188_073_965)),
    ),
    2: PaperTable(
        2, "sonar, CRAMMA^2", load_sonar, Space(1.0), {"power": 2.0, "eta0": 0.4, "decay": 0.3}, 1e3,
        ("10^3 margin",), False,
        _rows("CRAMMA", (1e6, "1.03", 70_798), (1e7, "3.66", 106_507), (1e8, "5.52", 264_396),
              (1e9, "6.69", 756_035), (1e10, "7.37", 2_275_334), (1e11, "7.80", 6_994_002),
              (1e12, "8.10", 21_690_267), (1e13, "8.27", 67_893_557)),
    ),
    3: PaperTable(
        3, "WBC without 11 patterns", partial(load_wbc, separable=True), Space(30.0),
        {"power": 0.5, "eta0": 0.0001, "decay": 1.0}, 1e2, ("10^2 margin",), False,
        _rows("Perceptron", (0.52, "1.784", 1_718_705), (0.9, "2.008", 2_720_447), (1.4, "2.141", 3_976_477),
              (2.1, "2.228", 5_734_457), (4, "2.317", 10_508_566))
        + _rows("ALMA", (0.8, "1.783", 2_704_553), (0.7, "2.008", 6_254_523), (0.6, "2.141", 13_320_425),
                (0.5, "2.228", 27_666_246), (0.35, "2.315", 88_363_792))
        + _rows("CRAMMA", (0.22, "1.794", 259_036), (0.32, "2.019", 431_543), (0.42, "2.143", 660_486),
                (0.49, "2.238", 824_120), (0.8, "2.318", 2_044_555)),
    ),
    4: PaperTable(
        4, "WBC, extended by Delta = 1", load_wbc, Space(10.0, 1.0), {"power": 0.5}, 10.0,
        ("10 (D'-D)/D", "10 dGamma/Gamma", "10 Gamma"), True,
        _rows("Perceptron", (1, "2.22 2.14 1.0244", 67_913), (2.4, "1.13 1.11 1.1585", 144_938),
              (10, "0.39 0.38 1.2542", 560_591), (45, "0.19 0.19 1.2789", 2_474_607),
              (700, "0.15 0.15 1.2837", 38_336_601))
        + _rows("ALMA", (0.75, "2.18 2.19 1.0185", 79_061), (0.6, "1.13 1.16 1.1524", 248_461),
                (0.35, "0.42 0.42 1.2481", 1_625_682), (0.2, "0.19 0.19 1.2784", 7_184_572),
                (0.1, "0.08 0.08 1.2933", 35_542_412))
        + _rows("CRAMMA", (0.95, "2.36 2.22 1.0143", 80_671), (1.64, "1.10 1.12 1.1568", 185_687),
                (3.1, "0.36 0.37 1.2551", 560_229), (5, "0.18 0.19 1.2791", 1_401_588),
                (11.5, "0.08 0.08 1.2934", 7_252_904)),
    ),
}  # fmt: skip
PARAMETERS = {"Perceptron": "b/(eta R^2)", "ALMA": "alpha", "CRAMMA": "beta/R"}


class Numbers(NamedTuple):
    """What a run of a row gave: the printed quantities in the paper's digits, its count, and the margin itself."""

    printed: tuple[str, ...]
    updates: int
    margin: float

    def agree(self, row: Row) -> bool:
        return self.printed == row.printed and self.updates == row.updates


class Outcome(NamedTuple):
    """A row as it came out, and once more in the authors' arithmetic where that was tried."""

    row: Row
    ours: Numbers
    literal: Numbers | None = None

    @property
    def numbers(self) -> Numbers:
        """Those that are compared with the paper: the authors' arithmetic where it gives the paper's, else ours."""
        return self.literal if self.literal is not None and self.literal.agree(self.row) else self.ours

    @property
    def agrees(self) -> bool:
        return self.numbers.agree(self.row)

    @property
    def mark(self) -> str:
        if self.ours.agree(self.row):
            return "="
        return "= in the authors' arithmetic" if self.agrees else "DIFFERS"


class Steps(Callback):
    """A callback that tells how many updates have been made, and lets a fit be given up."""

    def __init__(self, tell: Callable[[int], None], stop: threading.Event):
        self.tell, self.stop = tell, stop

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        measures = getattr(context, "measures", None)
        if measures:
            self.tell(measures["updates"])
        return self.stop.is_set()


def estimator_of(row: Row, table: PaperTable, radius2: float) -> Any:
    """The estimator of a row. The Perceptron runs on unscaled patterns: WBC has exact ties at the threshold b."""
    common: dict[str, Any] = {
        "intercept_scaling": table.space.rho,
        "delta": table.space.delta,
        "shuffle": False,
        "until": "separated",
        "max_iter": 10**9,
    }
    if row.algorithm == "Perceptron":
        return Perceptron(margin=row.parameter * radius2, **common)
    if row.algorithm == "ALMA":
        return ALMA(row.parameter, **common)
    return CRAMMA(row.parameter, **table.cramma, **common)


def run_row(row: Row, table: PaperTable, tell: Callable[[int], None], stop: threading.Event) -> Outcome:
    """Fit one row and put its numbers into the paper's form."""
    X, y = table.load()
    patterns = Patterns(X, y, table.space)
    model = estimator_of(row, table, patterns.radius2).set_callbacks(Steps(tell, stop)).fit(X, y)
    counts_one_more = row.algorithm != "Perceptron" or table.perceptron_counts_one_more
    if table.space.delta == 0:
        values: tuple[float, ...] = (model.directional_margin_,)
    else:
        values = extended_values(model.certificate_, X, y)
    ours = _numbers(row, table, values, model.n_updates_ + counts_one_more)
    if ours.agree(row) or row.algorithm == "Perceptron" or table.space.delta > 0:
        return Outcome(row, ours)
    return Outcome(row, ours, run_literally(row, table, tell, stop))


def run_literally(row: Row, table: PaperTable, tell: Callable[[int], None], stop: threading.Event) -> Numbers:
    """A row of CRAMMA or ALMA in the arithmetic of its authors."""
    X, y = table.load()
    Y = Patterns(X, y, table.space).dense_rows(np.arange(len(y)))
    if row.algorithm == "ALMA":
        procedure, a = literal_alma(Y, row.parameter)
    else:
        rate = table.cramma["eta0"] * row.parameter ** -table.cramma["decay"]
        procedure, a = literal_cramma(Y, float(row.parameter), float(table.cramma["power"]), rate)
    t, a = procedure.run(Y, a, tell, stop.is_set)
    return _numbers(row, table, (float((Y @ a).min() / np.linalg.norm(a)),), t)


def _numbers(row: Row, table: PaperTable, values: Sequence[float], updates: int) -> Numbers:
    digits = [len(text.partition(".")[2]) for text in row.printed]
    printed = tuple(f"{table.scale * v:.{n}f}" for v, n in zip(values, digits, strict=True))
    return Numbers(printed, updates, values[-1])


def extended_values(certificate: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """(D' - D)/D, the relative distance of Gamma from the certified optimum, and Gamma (sections 4 and 5)."""
    space = certificate.space
    patterns = Patterns(X, y, Space(space.rho))
    alpha = np.zeros(len(y))
    alpha[certificate.alpha_index] = certificate.alpha
    a = patterns.combine(certificate.alpha_index, certificate.alpha)
    measures = soft_measures(a, alpha, patterns.margins(a), space.delta)
    Gamma = measures.gamma / float(np.hypot(1.0, measures.D_prime / space.delta))  # gamma |a| / |a^ext|
    best = optimum(X, y, space)
    return measures.deviation, (best - Gamma) / best, Gamma


def optimum(X: np.ndarray, y: np.ndarray, space: Space) -> float:
    """The certified maximum margin of a space, to all digits that matter."""
    C = np.inf if space.delta == 0 else 0.5 / space.delta**2
    return float(MaxMargin(C, intercept_scaling=space.rho, tol=1e-12).fit(X, y).certificate_.lower)


def reproduce(
    tables: Sequence[int] = (1, 2, 3, 4),
    limit: float = DEFAULT_LIMIT,
    jobs: int = 2,
    watch: Callable[[str, int], Callable[[int], None]] | None = None,
) -> Report:
    """Run the rows with at most ``limit`` updates, ``jobs`` at a time.

    ``watch(name, updates)`` is called when a row starts, and what it returns whenever there is news of its updates.
    """
    chosen = [(TABLES[k], row) for k in tables for row in TABLES[k].rows if row.updates <= limit]
    for k in tables:
        TABLES[k].load()  # missing data are reported before anything runs
    outcomes: dict[tuple[int, Row], Outcome] = {}
    stop = threading.Event()
    longest_first = sorted(chosen, key=lambda pair: -_work(*pair))

    def run(table: PaperTable, row: Row) -> Outcome:
        tell = watch(_name(table, row), row.updates) if watch else lambda updates: None
        outcome = run_row(row, table, tell, stop)
        tell(row.updates)
        return outcome

    with ThreadPoolExecutor(jobs) as pool:  # the kernels release the GIL
        waiting = {pool.submit(run, table, row): (table.number, row) for table, row in longest_first}
        try:
            for done in as_completed(waiting):
                outcomes[waiting[done]] = done.result()
        except BaseException:  # Ctrl-C too: fits in progress end at their next return to Python
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    report = _report([TABLES[k] for k in tables], outcomes)
    for (k, row), outcome in sorted(outcomes.items()):
        if outcome.literal is not None:
            report.say(f"{_name(TABLES[k], row)}: {_second_run(row, outcome.ours, outcome.literal)}")
    return report


def _second_run(row: Row, ours: Numbers, literal: Numbers) -> str:
    """What the authors' arithmetic did to a row whose numbers differ in ours."""
    form = "a kept at length beta" if row.algorithm == "CRAMMA" else "a kept in the ball of radius R"
    return (
        f"{row.updates:,} updates and a margin of {row.printed[0]} in the paper, {ours.updates:,} and "
        f"{ours.printed[0]} here; {literal.updates:,} and {literal.printed[0]} with {form}, divided after every update."
    )


def _work(table: PaperTable, row: Row) -> float:
    """What a row costs, roughly: on WBC there are many visits to an update."""
    return row.updates * {1: 1.0, 2: 1.0, 3: 8.0, 4: 1.0}[table.number]


def _name(table: PaperTable, row: Row) -> str:
    return f"table {table.number} {row.algorithm} {row.parameter:g}"


def _report(tables: Sequence[PaperTable], outcomes: dict[tuple[int, Row], Outcome]) -> Report:
    report = Report(
        "cramma",
        "CRAMMA, tables 1-4" if len(tables) == 4 else f"CRAMMA, table {', '.join(str(t.number) for t in tables)}",
        "Tsampouka & Shawe-Taylor, section 5: near the maximum margin CRAMMA needs far fewer updates than the "
        "Perceptron with margin and ALMA_2. Margins are compared in all digits that the paper prints, updates exactly. "
        "Patterns are visited in file order, cyclically, until a cycle passes without update; CRAMMA's and ALMA's "
        "counts, and the Perceptron's in table 4, are updates + 1. `=`: the same numbers; `= in the authors' "
        "arithmetic`: the same if the vector is divided after every update, as their program seems to have done; it "
        "was found by looking for what gives their counts. This library does not divide.",
    )
    for table in tables:
        done = [(row, outcomes[table.number, row]) for row in table.rows if (table.number, row) in outcomes]
        for row, outcome in done:
            name = _name(table, row)
            report.checks += [
                Check(f"{name}, {what}", source, here)
                for what, source, here in zip(table.quantities, row.printed, outcome.numbers.printed, strict=True)
            ]
            report.checks.append(Check(f"{name}, updates", f"{row.updates:,}", f"{outcome.numbers.updates:,}"))
        report.parts.append(_table(table, done))
        left_out = len(table.rows) - len(done)
        if left_out:
            report.say(f"{left_out} longer rows of table {table.number} were not run; `--full` runs them.")
        report.data[f"table {table.number}"] = [
            {
                **row._asdict(),
                "margin": outcome.ours.margin,
                "here": outcome.ours.printed,
                "updates_here": outcome.ours.updates,
                "authors_arithmetic": outcome.literal and outcome.literal._asdict(),
            }
            for row, outcome in done
        ]
        if table.number == 1 and done:
            best = optimum(*table.load(), table.space)
            report.data["sonar optimum"] = best
            report.parts.append(
                Figure(
                    "cramma-table-1",
                    "Table 1: the margin achieved against the number of updates. The dashed line is the certified "
                    f"maximum, {best:.7f}.",
                    partial(_draw, done=done, best=best),
                )
            )
    return report


def _table(table: PaperTable, done: Sequence[tuple[Row, Outcome]]) -> Table:
    columns = ["algorithm", "parameter"]
    for quantity in table.quantities:
        columns += [f"{quantity}, paper", "here"]
    columns += ["updates, paper", "here", ""]
    rows = []
    for row, outcome in done:
        cells = [row.algorithm, f"{PARAMETERS[row.algorithm]} = {row.parameter:g}"]
        for source, here in zip(row.printed, outcome.ours.printed, strict=True):
            cells += [source, here]
        rows.append([*cells, f"{row.updates:,}", f"{outcome.ours.updates:,}", outcome.mark])
    return Table(f"Table {table.number}: {table.title}", columns, rows)


def _draw(figure: Any, done: Sequence[tuple[Row, Outcome]], best: float) -> None:
    axes = figure.subplots()
    for name, marker in (("Perceptron", "o"), ("ALMA", "s"), ("CRAMMA", "^")):
        points = [(outcome.ours.updates, outcome.ours.margin) for row, outcome in done if row.algorithm == name]
        axes.plot(*zip(*points, strict=True), marker=marker, label=name)
    axes.axhline(best, color="black", linestyle="--", linewidth=1)
    axes.set(xscale="log", xlabel="updates", ylabel="directional margin", title="Sonar")
    axes.legend(frameon=False, loc="lower right")
