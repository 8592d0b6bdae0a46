"""``separatrix predict``: a model's answers for new data."""

import sys
from typing import Annotated, Any

import typer

from separatrix.app.cli import options, terminal


def predict(
    model: options.Model,
    data: options.Data,
    score: Annotated[bool, typer.Option("--score", help="Compare with the target column instead.")] = False,
    decision: Annotated[bool, typer.Option("--decision", help="Add the decision values: w.x + b.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add the probability of each class, calibrated on held-out rows.")
    ] = False,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Carry this column of DATA to the predictions.")
    ] = None,
    strict: options.Strict = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write CSV to a file instead of printing it.")
    ] = None,
    target: options.Target = None,
    format: options.Format = None,
    header: options.Header = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
    not_missing: options.NotMissing = None,
    sheet: options.Sheet = None,
    everything: options.Everything = False,
    json: options.Json = False,
) -> None:
    """Predict the classes of new data: one line per row, as CSV.

    A target column that is present is ignored, or compared with the predictions by --score. Columns are found by their
    names; others are ignored.

    Example: separatrix predict iris.sx new.csv --probabilities -o predictions.csv
    """
    from separatrix.app.saved_models import used
    from separatrix.app.workflows import predicting
    from separatrix.app.workflows.advice import raise_if_strict
    from separatrix.persistence.output import check_outputs, write_atomically

    check_outputs([output], [model, data])
    reading = options.reading(
        target, format, header, separator, encoding, missing=missing, not_missing=not_missing, sheet=sheet
    )
    if score:
        scored = predicting.score(model, data, **reading)
        _tell([*raise_if_strict(scored.notes, strict), *scored.filled])
        _print_score(scored.answers, everything, json)
        return
    found = predicting.predict(model, data, decision=decision, probabilities=probabilities, id=id, **reading)
    _tell([*raise_if_strict(found.notes, strict), *found.filled])
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


def _tell(notes: list[str]) -> None:
    for note in notes:
        terminal.say(f"note: {note}")


def _print_score(found: Any, everything: bool, json: bool) -> None:
    """Accuracy, other scores, each class and the confusion."""
    from separatrix.app.report.summary import answers_dict, baseline_in_words, scores_line

    rows, right = len(found.truth), int((found.truth == found.predicted).sum())
    if json:
        parts = {
            "rows": rows,
            "right": right,
            **answers_dict(found),
            "scores_of_classes": answers_dict(found)["classes"],
        }
        terminal.print_json({**parts, "classes": found.classes.tolist()})
        return
    console = terminal.console()
    scores = f"{scores_line(found.summary)}; {baseline_in_words(found)}"
    console.print(f"{right:,} of {rows:,} rows correctly classified: {scores}")
    console.print()
    terminal.print_classes(console, found, everything)
