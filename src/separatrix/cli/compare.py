"""``separatrix compare``: algorithms on the same data."""

from functools import partial
from typing import Annotated, Any

import typer

from separatrix.cli import options, terminal
from separatrix.cli.exit_status import INTERRUPTED


def compare(
    data: options.MaybeData = None,
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
    json: options.Json = False,
) -> None:
    """Compare algorithms on the same data.

    Each is fitted with its defaults and stops by its own criterion or when its time is over, which the column "done"
    tells; those that were stopped come last. Rows appear as they are finished, and Ctrl-C keeps them. "margin" is the
    certified min u.y over all rows, u = (w, b)/|(w, b)|, y = l (x, 1); "share" is margin/upper, with upper the smallest
    bound |sum alpha_k y_k| / sum alpha_k that any of them proves: at least this part of the best margin is reached.
    "train" and "cv" are accuracies. Times leave compilation out.

    Example: separatrix compare iris.csv --target species --scale --algorithms 'margins,*Perceptron'
    """
    from separatrix.io.output import check_outputs

    check_outputs([plot], [data])
    if plot:
        from separatrix.report.figures import check_ending

        check_ending(plot)

    from separatrix.cli.progress import Progress
    from separatrix.workflows.asked import Options
    from separatrix.workflows.comparing import compare as run

    scaled = data is None if scale is None else scale
    asked = Options(scale=scaled, encode=encode, impute=impute, folds=cv, max_time=max_time)
    with Progress(quiet=json) as tell:
        seen = None if tell is None else partial(_line, tell)
        reading = options.reading(target, format, header, separator, encoding, drop)
        found = run(data, asked, tell, seen, wanted=algorithms or (), jobs=jobs, **reading)
    if json:
        terminal.print_json([r.as_dict() for r in found.results])
    else:
        _print(found)
    if plot:
        from separatrix.report.figures import write_comparison

        write_comparison([r.as_dict() for r in found.results if not r.why_not], found.table, plot)
        terminal.say(f"wrote {plot}")
    if found.left:
        terminal.say(f"Interrupted: {found.left} algorithms were not tried.")
        raise typer.Exit(INTERRUPTED)


def _line(tell: Any, result: Any) -> None:
    """A result above the progress bar, as soon as it is there."""
    told = result.why_not or f"{result.seconds:.2f} s" + ("" if result.cv is None else f", {100 * result.cv:.1f}%")
    tell.above(f"{result.name:24} {told}")


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
    stopped = sum(not r.converged for r in results if not r.why_not)
    if stopped:
        console.print(
            f"{stopped} did not come to their end in {found.each:.2g} s (done: no) and rank last: see --max-time."
        )
    for r in results:
        if r.why_not:
            console.print(terminal.plain(f"{r.name}: not applicable, {r.why_not}"))
