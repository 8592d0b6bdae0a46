"""``separatrix compare``: algorithms on the same data."""

from collections import Counter
from functools import partial
from typing import Annotated, Any

import typer

from separatrix.app.cli import options, terminal
from separatrix.app.cli.exit_status import INTERRUPTED
from separatrix.errors import DataError


def compare(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA...",
            show_default=False,
            help="A file, as `separatrix fit` takes it, or several; - is stdin. Without it: scikit-learn's breast "
            "cancer data, standardised.",
        ),
    ] = None,
    target: options.Target = None,
    scale: options.Scale = None,
    encode: options.Encode = False,
    impute: options.Impute = False,
    cv: options.Folds = 5,
    algorithms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Names, patterns like '*Perceptron', or families: perceptrons, margins, kernels, batch, squares; "
            "separated by commas, repeatable.",
            show_default="all",
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            min=1e-3,
            metavar="SECONDS",
            help="For each algorithm, its cross-validation included.",
            show_default="about a minute for all",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Algorithms that run at the same time.")] = 1,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the comparison: .png, .svg, .pdf or .html, by its ending.")
    ] = None,
    drop: options.Drop = None,
    format: options.Format = None,
    header: options.Header = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
    not_missing: options.NotMissing = None,
    sheet: options.Sheet = None,
    classes: options.Classes = False,
    json: options.Json = False,
) -> None:
    """Compare algorithms on the same data.

    Each is fitted with its defaults and stops by its own criterion or when its time is over, which the column "done"
    tells; those that were stopped come last. Rows appear as they are finished, and Ctrl-C keeps them. "margin" is the
    certified min u.y over all rows, u = (w, b)/|(w, b)|, y = l (x, 1); "share" is margin/upper, with upper the smallest
    bound |sum alpha_k y_k| / sum alpha_k that any of them proves: at least this part of the best margin is reached.
    "train" and "cv" are accuracies. Times leave compilation out.

    Several files are compared one after the other, and then the algorithms are ranked: rank 1 on a file has the best
    "cv", and one that does not apply there is last. Average ranks that differ by less than the critical difference
    (Nemenyi, 5%) are not distinguished; --plot draws them.

    Example: separatrix compare iris.csv --target species --scale --algorithms 'margins,*Perceptron'
    """
    from separatrix.persistence.output import check_outputs

    files = data or []
    check_outputs([plot], files)
    if plot:
        from separatrix.app.report.figures import check_ending

        check_ending(plot, pages=len(files) < 2)

    from separatrix.app.cli.progress import Progress
    from separatrix.app.workflows.comparing import check_ranks
    from separatrix.app.workflows.comparing import compare as run
    from separatrix.app.workflows.options import Options

    scaled = not files if scale is None else scale
    asked = Options(scale=scaled, encode=encode, impute=impute, folds=cv, max_time=max_time)
    if len(files) > 1:
        check_ranks(files, asked, algorithms or ())
    comparisons: list[Any] = []
    sources: list[str | None] = [*files] or [None]  # None: the example
    with Progress(quiet=json) as tell:
        seen = None if json else partial(_line, tell)
        reading = options.reading(
            target,
            format,
            header,
            separator,
            encoding,
            drop=drop,
            missing=missing,
            not_missing=not_missing,
            sheet=sheet,
            classes=classes,
        )
        for file in sources:
            try:
                found = run(file, asked, tell, seen, wanted=algorithms or (), jobs=jobs, **reading)
            except KeyboardInterrupt:  # before this file had a result
                if not comparisons:
                    raise
                break
            comparisons.append(found)
            if found.left:
                break
    _show(comparisons, len(files), json, plot)
    left, untried = comparisons[-1].left, len(sources) - len(comparisons)
    if left or untried:
        more = f"{untried} more {'file' if untried == 1 else 'files'}" if untried else ""
        what = " and ".join(part for part in (f"{left} algorithms" if left else "", more) if part)
        terminal.say(f"Interrupted: {what} were not tried.")
        raise typer.Exit(INTERRUPTED)


def _show(comparisons: list[Any], files: int, json: bool, plot: str | None) -> None:
    """One table, or a table for each file and the ranks over those that were compared with all algorithms."""
    ranking, why, whole = None, "", [c for c in comparisons if not c.left]
    if files > 1:
        from separatrix.app.workflows.comparing import ranked_over_files

        try:
            ranking = ranked_over_files(whole)
        except DataError as error:  # the tables are there all the same
            why = str(error)
    if json and files < 2:
        terminal.print_json([r.as_dict() for r in comparisons[0].results])
    elif json:
        tables = {c.table.source: [r.as_dict() for r in c.results] for c in comparisons}
        terminal.print_json({"files": tables, "ranking": ranking and ranking.as_dict()})
    else:
        for found in comparisons:
            _print(found)
        if ranking is not None:
            _print_ranks(ranking)
    if why:
        terminal.say(f"No ranks: {why}")
    if plot and (ranking is not None or files < 2):
        from separatrix.app.report.figures import write_comparison, write_ranks

        if ranking is not None:
            write_ranks(ranking, plot)
        else:
            (found,) = comparisons
            write_comparison([r.as_dict() for r in found.results if not r.why_not], found.table, plot)
        terminal.say(f"wrote {plot}")


def _line(tell: Any, result: Any) -> None:
    """Show a result as soon as it is there, on standard error: above the progress bar, if there is one."""
    parts = result.why_not or f"{result.seconds:.2f} s" + ("" if result.cv is None else f", {100 * result.cv:.1f}%")
    line = f"{result.name:24} {parts}"
    if tell is None:
        terminal.say(line)  # not among the table on standard output
    else:
        tell.above(line)


def _print(found: Any) -> None:
    from rich.table import Table

    results, table = found.results, found.table
    title = f"{table.source}: {table.n:,} rows, {table.d} features"
    shown = Table(title=terminal.plain(title), title_justify="left", box=None, pad_edge=False)
    shown.add_column("algorithm", no_wrap=True)
    for name in ("seconds", "updates", "margin", "share", "train", "cv", "converged"):
        shown.add_column(name if name != "converged" else "done", justify="right", no_wrap=True)
    for r in results:
        if r.why_not:
            continue
        shown.add_row(
            r.name,
            f"{r.seconds:.3f}",
            "" if r.updates is None else f"{r.updates:,}",
            "" if r.margin is None else f"{r.margin:.3g}",
            "" if r.share is None else f"{100 * r.share:.1f}%" if r.share > 0 else "-",
            f"{100 * r.train:.1f}%",
            "" if r.cv is None else f"{100 * r.cv:.1f}%",
            "yes" if r.converged else "no",
        )
    console = terminal.console()
    console.print(shown)
    reasons = Counter(r.stopped for r in results if not r.converged and not r.why_not)
    if reasons:
        late = f"the {found.each:.2g} s of each algorithm (see --max-time)"
        parts = ", ".join(f"{count} at {late if why == 'time' else why}" for why, count in reasons.items())
        console.print(f"Stopped before they converged (done: no; they rank last): {parts}.")
    for r in results:
        if r.why_not:
            console.print(terminal.plain(f"{r.name}: not applicable, {r.why_not}"))


def _print_ranks(ranking: Any) -> None:
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    shown.add_column("algorithm", no_wrap=True)
    shown.add_column("rank", justify="right", no_wrap=True)
    for j in ranking.order:
        shown.add_row(terminal.plain(ranking.names[j]), f"{ranking.ranks[j]:.2f}")
    console = terminal.console()
    console.print(f"average ranks by cross-validated accuracy, {ranking.data_sets} files")
    console.print(shown)
    differ = ranking.p_value < ranking.level
    console.print(
        f"All equal? p = {ranking.p_value:.2g} (Friedman's test, as Iman and Davenport have it): "
        + ("no." if differ else "it may be, so that none is distinguished from another.")
    )
    if differ:
        alike = sum(ranking.ranks < ranking.ranks.min() + ranking.critical_difference) - 1
        console.print(
            f"Critical difference {ranking.critical_difference:.2f} (Nemenyi, {100 * ranking.level:g}%): "
            f"{alike} of the others are not distinguished from the first."
        )
