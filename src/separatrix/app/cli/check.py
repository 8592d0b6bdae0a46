"""``separatrix check``: separability and its proof, nothing else."""

from typing import Annotated

import typer

from separatrix.app.cli import options, terminal

SEPARABLE, NOT_SEPARABLE, UNDECIDED = 0, 1, 2


def check(
    data: options.Data,
    target: options.Target = None,
    through_origin: Annotated[
        bool, typer.Option("--through-origin", help="Only hyperplanes through the origin: no bias.")
    ] = False,
    scale: options.Scale = None,
    encode: options.Encode = False,
    impute: options.Impute = False,
    max_time: options.MaxTime = None,
    id: options.Id = None,
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
    strict: options.Strict = False,
    json: options.Json = False,
) -> None:
    """Is there a separating hyperplane? Answers with a proof.

    It stops when a hyperplane a with min a.y > 0 is found (separable), or rows whose combination with weights
    lambda >= 0, sum lambda = 1, vanishes: sum lambda_k y_k = 0, in exact arithmetic (not separable: Gordan's theorem).
    Here y = l (x, 1) with the label l = -1 or +1. Several classes are separable if one linear machine separates them.

    Exit status: 0 separable, 1 not separable, 2 undecided, 3 error.

    Example: separatrix check iris.csv --target species && echo separable
    """
    from separatrix.app.cli.progress import Progress
    from separatrix.app.report.summary import separability_dict, separability_rows
    from separatrix.app.workflows.checking import check as run
    from separatrix.app.workflows.options import Options

    asked = Options(scale=bool(scale), encode=encode, impute=impute, max_time=max_time, strict=strict)
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
        id=id,
    )
    with Progress(quiet=json) as tell:
        found = run(data, asked, tell, through_origin=through_origin, **reading)
    answer, table = found.answer, found.table
    if json:
        parts = separability_dict(answer)
        if found.errors is not None:
            parts["fewest_errors"] = {"at_least": found.errors.lower, "at_most": found.errors.upper}
        if found.margin is not None:
            parts["best_margin"] = {"at_least": found.margin.lower, "at_most": found.margin.upper}
        terminal.print_json(parts)
    else:
        rows = separability_rows(answer, everything)
        if answer.infeasibility_proof is not None and not answer.one_vs_rest:
            rows.append(("the rows", f"{table.places(answer.infeasibility_proof.rows, 20)} of {table.source}"))
            if found.errors is not None:
                which = f" One hyperplane has them in {table.places(found.errors.rows, 20)}."
                margin = "" if found.margin is None else f" {found.margin}"
                rows.append(("fewest errors", f"{found.errors}{which}{margin}"))
        elif answer.certificate is not None and answer.separable:
            what = "linear machine" if answer.one_vs_rest else "hyperplane"
            rows.append(("proof", f"the {what} itself, checked against every row with bounds on rounding errors"))
        terminal.print_rows(terminal.console(), None, rows)
        for note in found.notes:
            terminal.say(f"note: {note}")
    raise typer.Exit({True: SEPARABLE, False: NOT_SEPARABLE, None: UNDECIDED}[answer.separable])
