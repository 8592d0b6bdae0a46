"""``separatrix reproduce``: the tables, figures and exercises of the sources, computed again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from separatrix.reproductions.outcome import Report

app = typer.Typer(
    help="The tables, figures and exercises of the sources, computed again. Exit status 1 where a number differs.",
    no_args_is_help=True,
)

Output = Annotated[Path | None, typer.Option(help="Folder for the report as Markdown, JSON and PNG.")]
Plots = Annotated[bool, typer.Option("--plots/--no-plots", help="Draw the figures (with --output).")]
Full = Annotated[bool, typer.Option("--full", help="All rows, also those of more than 30 million updates.")]
Jobs = Annotated[int, typer.Option(min=1, help="Rows at a time.")]
CORES = os.cpu_count() or 1


@app.command()
def cramma(
    table: Annotated[list[int] | None, typer.Option(min=1, max=4, help="1, 2, 3 or 4; may be repeated.")] = None,
    full: Full = False,
    jobs: Jobs = CORES,
    output: Output = None,
    plots: Plots = True,
) -> None:
    """CRAMMA tables 1-4, row by row: margins in the digits that the paper prints, and updates, compared exactly.

    Rows of at most 30 million updates; with --full all 62.

    A row whose numbers differ is run again in the arithmetic of the paper's authors, and marked if it has them there.
    One has not: table 1 CRAMMA 30.1 (--full), 12 of 188 million updates apart in ours, 4,774 in theirs: exit status 1.

    Example: separatrix reproduce cramma --table 3
    """
    _ready(output, "cramma", plots)
    _finish([_cramma(sorted(set(table or (1, 2, 3, 4))), full, jobs)], output, plots)


def _cramma(tables: list[int], full: bool, jobs: int) -> "Report":
    from separatrix.reproductions.cramma_tables import DEFAULT_LIMIT, reproduce

    with _progress() as watch:
        return reproduce(tables, float("inf") if full else DEFAULT_LIMIT, jobs, watch)


@app.command()
def greedy(output: Output = None, plots: Plots = True) -> None:
    """The greedy Perceptron: figure 3.4 in numbers, and the figures of the dissertation.

    Example: separatrix reproduce greedy --output reports
    """
    from separatrix.reproductions.greedy_tables import reproduce

    _ready(output, "greedy", plots)
    _finish([reproduce()], output, plots)


@app.command()
def margin_perceptron(output: Output = None, plots: Plots = True) -> None:
    """The margin Perceptron's guarantee of a quarter of the maximum margin, on twenty data sets.

    Example: separatrix reproduce margin-perceptron
    """
    from separatrix.reproductions.margin_perceptron_tables import reproduce

    _ready(output, "margin-perceptron", plots)
    _finish([reproduce()], output, plots)


@app.command()
def dhs(
    exercise: Annotated[int | None, typer.Option(min=1, max=12, help="One computer exercise.")] = None,
    output: Output = None,
    plots: Plots = True,
) -> None:
    """Duda, Hart & Stork, chapter 5: computer exercises, examples and problems, answered in words.

    Example: separatrix reproduce dhs --exercise 9
    """
    from separatrix.reproductions.dhs import reproduce

    _ready(output, "dhs", plots)
    _finish([reproduce(exercise)], output, plots)


@app.command(name="all")
def everything(full: Full = False, jobs: Jobs = CORES, output: Output = None, plots: Plots = True) -> None:
    """Everything above in one report, reproductions.md.

    With --full one row of CRAMMA's tables differs (separatrix reproduce cramma --help): the exit status is 1.

    Example: separatrix reproduce all --full --output docs
    """
    from separatrix.reproductions import dhs
    from separatrix.reproductions import greedy_tables as greedy
    from separatrix.reproductions import margin_perceptron_tables as margin_perceptron

    _ready(output, "reproductions", plots)
    reports = [_cramma([1, 2, 3, 4], full, jobs), greedy.reproduce(), margin_perceptron.reproduce(), dhs.reproduce()]
    _finish(reports, output, plots, stem="reproductions")


@contextmanager
def _progress() -> Iterator[Any]:
    """Bars on standard error, one for each row that runs: ``watch(name, total)`` returns a function of steps done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        def watch(name: str, total: int) -> Any:
            task = bars.add_task(name, total=total)

            def tell(done: int) -> None:
                bars.update(task, completed=min(done, total), visible=done < total)

            return tell

        yield watch


def _ready(output: Path | None, stem: str, plots: bool) -> None:
    """Complain of a missing extra, or of a folder that cannot be written, before the work and not after it."""
    if output is not None:
        from separatrix.reproductions.outcome import blank_figure, prepare

        if plots:
            blank_figure((1.0, 1.0))
        prepare(output, stem, plots)


def _finish(reports: list["Report"], output: Path | None, plots: bool, stem: str | None = None) -> None:
    """Show the reports, write them, and exit with 1 where a number differs."""
    from rich.console import Console
    from rich.table import Table as Grid

    from separatrix.reproductions.outcome import Heading, Table, Words, write

    console = Console()
    for report in reports:
        console.print(f"\n[bold]{report.title}[/bold]\n{report.claim}", highlight=False)
        for part in report.parts:
            if isinstance(part, Words):
                console.print(part.text, highlight=False)
            elif isinstance(part, Heading):
                console.print(f"\n[bold]{part.text}[/bold]", highlight=False)
            elif isinstance(part, Table):
                grid = Grid(*part.columns, title=part.title)
                for row in part.rows:
                    grid.add_row(*(str(cell) for cell in row))
                console.print(grid)
        console.print(report.verdict(), style="green" if report.agrees else "red", highlight=False)
    if output is not None:
        written = write(reports, output, stem or reports[0].name, plots)
        console.print("Written: " + ", ".join(str(path) for path in written), highlight=False)
    if not all(report.agrees for report in reports):
        raise typer.Exit(1)
