"""``separatrix fit``: the main job."""

from glob import has_magic
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.app.cli import options, terminal
from separatrix.app.cli.exit_status import ERROR, INTERRUPTED

TOLERANCE = 1e-6


def fit(
    data: options.MaybeData = None,
    target: options.Target = None,
    c: Annotated[
        float | None,
        typer.Option(
            "--C",
            min=1e-12,
            help="Price of slack of a soft margin; inf is the hard margin.",
            show_default="chosen by cross-validation",
        ),
    ] = None,
    tol: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Certified gap at which to stop.", show_default=f"{TOLERANCE:g}"),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another separator than MaxMargin; `separatrix algorithms` lists them."),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of --algorithm; repeatable.")
    ] = None,
    score: options.Score = options.ScoreName.accuracy,
    multi_class: options.MultiClassWay = None,
    class_weight: options.Weights = None,
    scale: options.Scale = None,
    encode: options.Encode = False,
    impute: options.Impute = False,
    cv: options.Folds = 5,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Rows to try the model on, which it is not fitted on.")
    ] = None,
    id: options.Id = None,
    strict: options.Strict = False,
    max_time: options.MaxTime = None,
    save: Annotated[str | None, typer.Option(metavar="FILE", help="Save the model, for example as model.sx.")] = None,
    report: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Write a report: .html, .md or .json, by its ending; repeatable."),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Interactive figures in .html reports; needs Bokeh.")
    ] = False,
    plot: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Draw the boundary: .png, .svg, .pdf or .html, by its ending; repeatable."),
    ] = None,
    export: Annotated[
        str | None, typer.Option(metavar="FILE", help="Export the model: .onnx, .c or .json, by its ending.")
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
    everything: options.Everything = False,
    json: options.Json = False,
    memory: options.Memory = None,
    cache: options.Cache = None,
    checkpoint: options.Checkpoint = None,
    dask: options.Dask = None,
    workers: options.Workers = None,
) -> None:
    """Fit a model that predicts well, and prove how good it is: the main job.

    First the model: C is chosen by cross-validation, one standard error towards the smaller C, and for several classes
    one-vs-rest or one-vs-one. Then, within --max-time or as long as the model took (at least 2 s): whether a hyperplane
    separates the classes, and the largest margin if one does. Each line appears when it is known, and the model is
    saved then: Ctrl-C keeps what is there. `separatrix explain margin` explains terms.

    The fit stops when 1 - (lower/upper)^2 <= TOL, where lower is the margin that the hyperplane reaches and upper one
    that no hyperplane can exceed. Both are computed from the data. The soft margin minimises
    |w|^2/2 + C sum max(0, 1 - l (w.x + b))^2 and stops when (P - D)/P <= TOL, P the value reached and D a lower bound.

    With --memory, --dask or --workers, or a pattern such as 'data/*.parquet' as DATA, files are read block by block and
    need not fit into memory. Without --C the model is the hard margin if it exists, otherwise the soft one at C = 1.

    Example: separatrix fit iris.csv --target species --scale --save iris.sx --report iris.html
    """
    from separatrix.persistence.output import check_outputs

    written = check_outputs([save, export, *(report or []), *(plot or [])], [data, test])
    writers = _writers(report or [], plot or [], interactive)
    if export:
        from separatrix.persistence.export import check_export

        check_export(export)
    named = {"class_weight": class_weight and class_weight.value, "multi_class": multi_class and multi_class.value}
    estimator = _estimator(algorithm, setting or [], c, tol, max_time, named)

    by_blocks = _is_read_by_blocks(data, memory, cache, checkpoint, dask, workers)
    if by_blocks:
        _refuse_options(
            impute=impute, id=id, report=report, plot=plot, drop=drop, format=format, header=header is not None,
            separator=separator, encoding=encoding, missing=missing, not_missing=not_missing, sheet=sheet,
        )  # fmt: skip
    reading = options.reading(
        target, format, header, separator, encoding,
        drop=drop, missing=missing, not_missing=not_missing, sheet=sheet, classes=classes,
    )  # fmt: skip

    from separatrix.app.cli.progress import Progress

    console, closed = terminal.console(), list[str]()

    def show(part: str, print_rows: Any, *shown: Any) -> None:
        if tell is not None:
            tell.pause()
        if json or closed:
            return
        try:
            print_rows(console, *shown)
        except (BrokenPipeError, SystemExit):  # rich's: who reads stops early, as `head` does; files are written
            closed.append(part)

    with Progress(quiet=json) as tell:
        table: Any = data
        if not by_blocks:  # the first line comes before the imports of the fit
            from separatrix.app.tables.formats import read_table

            if tell is not None:
                tell("Reading")
            table = read_table(data, id=id, **reading)
            show("table", terminal.print_table, table)

        from separatrix.app.report.summary import as_dict, provenance
        from separatrix.app.workflows.fitting import fit as run
        from separatrix.app.workflows.options import Options
        from separatrix.app.workflows.out_of_core import BlockReading

        def keep(found: Any) -> None:
            if save:
                from separatrix.persistence.files import save as save_model

                save_model(found.model, save, provenance(found))

        def seen(part: str, found: Any) -> None:
            if part == "model":
                keep(found)  # before it is shown
            if part != "table":
                show(part, terminal.print_part, part, found)
            elif by_blocks:
                show(part, terminal.print_table, found.table)

        requested = Options(
            C=c,
            tol=TOLERANCE if tol is None else tol,
            scale=data is None if scale is None else scale,
            encode=encode,
            impute=impute,
            folds=cv,
            max_time=max_time,
            estimator=estimator,
            score=score.value,
            **named,
            strict=strict,
            test=test,
        )
        blocks = BlockReading(memory or "1GB", cache, checkpoint, dask, workers) if by_blocks else None
        found = run(table, requested, tell, seen, blocks, **({"target": target} if by_blocks else {}))
    try:
        keep(found)  # with separability
        if export:
            from separatrix.persistence.export import export as export_model

            export_model(found.model, export)
        with Progress(quiet=json) as tell:
            if tell and writers:
                tell("Reports and plots")
            for write, path in writers:
                write(found, path)
    finally:
        if json:
            terminal.print_json(as_dict(found))
        elif not closed:
            terminal.print_part(console, "missing", found)
            terminal.print_details(console, found, everything)
    if closed:
        raise typer.Exit(ERROR)
    for path in written:
        terminal.say(f"wrote {path}")
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)


def _is_read_by_blocks(data: str | None, *places: Any) -> bool:
    """Whether DATA stays in its files. ``places``: --memory, --cache, --checkpoint, --dask and --workers."""
    if all(option is None for option in places) and not (data and has_magic(data) and not Path(data).exists()):
        return False
    if data is None or data == "-":
        raise typer.BadParameter("--memory, --cache, --checkpoint, --dask and --workers need files as DATA.")
    if None not in places[-2:]:
        raise typer.BadParameter("--dask names a cluster that is there, --workers starts one: use one of them.")
    return True


def _refuse_options(**in_memory: Any) -> None:
    """Refuse options that need rows in memory."""
    for name, value in in_memory.items():
        if value:
            option = name.replace("_", "-")
            raise typer.BadParameter(f"--{option} needs rows in memory, not rows that are read block by block.")


def _writers(reports: list[str], plots: list[str], interactive: bool) -> list[Any]:
    """What writes each file; endings are checked before the work."""
    found: list[Any] = []
    if reports:
        from separatrix.app.report.report_files import report_writer

        found = [(report_writer(path, interactive), path) for path in reports]
    if plots:
        from separatrix.app.report.figures import check_ending, write_boundary

        for path in plots:
            check_ending(path)
            found.append((write_boundary, path))
    return found


def _estimator(
    name: str | None,
    settings: list[str],
    c: float | None,
    tol: float | None,
    max_time: float | None,
    named: dict[str, str | None],
) -> Any:
    """The separator that --algorithm, --set and the options of the same name describe, None: the maximum margin."""
    if name is None:
        if settings:
            raise typer.BadParameter("--set belongs to --algorithm.")
        return None
    for option, value in (("C", c), ("tol", tol)):
        if value is not None:
            raise typer.BadParameter(
                f"--{option} belongs to the maximum margin; with --algorithm use --set {option}=... where it has one."
            )
    from separatrix.app.workflows.known_algorithms import algorithm_named, with_settings

    estimator = with_settings(algorithm_named(name).cls(), settings)
    chosen = {parameter: choice for parameter, choice in named.items() if choice is not None}
    for parameter in chosen:
        if parameter not in estimator.get_params():
            option = parameter.replace("_", "-")
            raise typer.BadParameter(f"--{option}: {type(estimator).__name__} has no parameter {parameter}.")
    estimator.set_params(**chosen)
    if max_time is not None:
        from separatrix.app.workflows.progress import can_be_limited

        if not can_be_limited(estimator):
            raise typer.BadParameter(f"--max-time: a fit of {type(estimator).__name__} cannot be stopped on the way.")
    return estimator
