"""``separatrix predict``: a model's answers for new data."""

import sys
from typing import Annotated, Any

import typer

from separatrix.cli import options, terminal


def predict(
    model: options.Model,
    data: options.Data,
    score: Annotated[bool, typer.Option("--score", help="Compare with the target column instead.")] = False,
    decision: Annotated[bool, typer.Option("--decision", help="Add the decision values: w.x + b.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write CSV to a file instead of printing it.")
    ] = None,
    target: options.Target = None,
    format: options.Format = None,
    header: options.Header = None,
    separator: options.Separator = None,
    json: options.Json = False,
) -> None:
    """Predict the classes of new data: one line per row, as CSV.

    A target column that is present is ignored, or compared with the predictions by --score. Columns are found by their
    names; others are ignored.

    Example: separatrix predict iris.sx new.csv --decision -o predictions.csv
    """
    from separatrix.io.model.apply import used
    from separatrix.io.output import check_outputs, write_atomically
    from separatrix.workflows import predicting

    check_outputs([output], [model, data])
    reading = options.reading(target, format, header, separator)
    if score:
        _print_score(predicting.score(model, data, **reading), json)
        return
    found = predicting.predict(model, data, decision=decision, **reading)
    if json:
        with used(model):
            terminal.print_json(found.columns)
        return
    import polars as pl

    if found.formula is not None:
        terminal.say(
            f"note: a spreadsheet takes {found.formula!r} for a formula and may run it: import the predictions as text."
        )
    text = pl.DataFrame(found.columns).write_csv()
    if output:
        write_atomically(output, text.encode())
        terminal.say(f"wrote {output}")
    else:
        typer.echo(terminal.printable(text) if sys.stdout.isatty() else text, nl=False, color=True)


def _print_score(found: Any, json: bool) -> None:
    """Accuracy and confusion."""
    accuracy = found.right / found.rows
    if json:
        terminal.print_json(
            {
                "rows": found.rows,
                "right": found.right,
                "accuracy": accuracy,
                "classes": found.classes.tolist(),
                "confusion": found.confusion.tolist(),
            }
        )
        return
    from rich.table import Table

    console = terminal.console()
    console.print(f"{found.right:,} of {found.rows:,} rows right: accuracy {100 * accuracy:.2f}%")
    table = Table("true \\ predicted", box=None, pad_edge=False)
    for name in found.classes:
        table.add_column(terminal.plain(name))
    for name, row in zip(found.classes, found.confusion, strict=True):
        table.add_row(terminal.plain(name), *[str(n) for n in row])
    console.print(table)
