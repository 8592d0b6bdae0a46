"""``separatrix compare``: every applicable algorithm on the same data."""

from typing import Annotated, Any

import typer

from separatrix.cli import options


def compare(
    data: options.MaybeData = None,
    target: options.Target = None,
    scale: options.Scale = None,
    encode: options.Encode = False,
    impute: options.Impute = False,
    cv: options.Folds = 5,
    max_time: Annotated[float, typer.Option(min=1e-3, metavar="SECONDS", help="Stop each fit after so long.")] = 10.0,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the comparison: .png, .svg or .pdf, by its ending.")
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
    from separatrix.io.model.files import check_writable

    if plot:
        from separatrix.plot.style import check_ending

        check_writable(plot)
        check_ending(plot)

    import numpy as np
    from sklearn.pipeline import Pipeline

    from separatrix.cli.job import splits, usable_folds
    from separatrix.cli.progress import Progress
    from separatrix.io.data.prepare import preparation
    from separatrix.report.comparison import compare as run

    progress = Progress(quiet=json)
    with progress.stage("Reading"):
        table = options.read(data, target, format, header, separator, drop)
    steps = preparation(table, scale=data is None if scale is None else scale, encode=encode, impute=impute)
    X = Pipeline(steps).fit_transform(table.X) if steps else table.X
    X = X.tocsr() if hasattr(X, "tocsr") else np.ascontiguousarray(X)
    folds = usable_folds(table.y, cv)
    parts = list(splits(table, steps, folds)) if folds else None
    with progress.stage("Comparing") as stage:
        results = run(X, table.y, None if parts is None else lambda: parts, max_time, stage.update)
    if json:
        options.print_json([r.as_dict() for r in results])
    else:
        _print(results, table)
    if plot:
        from separatrix.report.figures import write_comparison

        write_comparison([r.as_dict() for r in results if not r.why_not], table, plot)
        typer.echo(f"wrote {plot}", err=True)


def _print(results: list[Any], table: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    title = f"{table.source}: {table.n:,} rows, {table.d} features"
    shown = Table(title=Text(title), title_justify="left", box=None, pad_edge=False)
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
    console = options.console()
    console.print(shown)
    for r in results:
        if r.why_not:
            console.print(f"{r.name}: not applicable, {r.why_not}", markup=False)
