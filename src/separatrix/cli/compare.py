"""``separatrix compare``: every applicable algorithm on the same data."""

from typing import Annotated, Any

import typer

from separatrix.cli import options, terminal


def compare(
    data: options.MaybeData = None,
    target: options.Target = None,
    scale: options.Scale = None,
    encode: options.Encode = False,
    impute: options.Impute = False,
    cv: options.Folds = 5,
    max_time: Annotated[float, typer.Option(min=1e-3, metavar="SECONDS", help="Stop each fit after so long.")] = 10.0,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the comparison: .png, .svg, .pdf or .html, by its ending.")
    ] = None,
    drop: options.Drop = None,
    format: options.Format = None,
    header: options.Header = None,
    separator: options.Separator = None,
    json: options.Json = False,
) -> None:
    """Compare every applicable algorithm on the same data.

    Each is fitted with its defaults and stops by its own criterion or after MAX_TIME. "margin" is the certified
    min u.y over all rows, u = (w, b)/|(w, b)|, y = l (x, 1); "share" is margin/upper, with upper the smallest bound
    |sum alpha_k y_k| / sum alpha_k that any of them proves: at least this part of the best margin is reached. Times
    leave compilation out.

    Example: separatrix compare iris.csv --target species --scale --plot comparison.png
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
        found = run(data, asked, tell, **options.reading(target, format, header, separator, drop))
    if json:
        terminal.print_json([r.as_dict() for r in found.results])
    else:
        _print(found.results, found.table)
    if plot:
        from separatrix.report.figures import write_comparison

        write_comparison([r.as_dict() for r in found.results if not r.why_not], found.table, plot)
        terminal.say(f"wrote {plot}")


def _print(results: list[Any], table: Any) -> None:
    from rich.table import Table

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
    for r in results:
        if r.why_not:
            console.print(terminal.plain(f"{r.name}: not applicable, {r.why_not}"))
