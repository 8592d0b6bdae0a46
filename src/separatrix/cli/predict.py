"""``separatrix predict``: a model's answers for new data."""

from typing import Annotated, Any

import typer

from separatrix.cli import options


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
    import numpy as np

    from separatrix.errors import DataError
    from separatrix.io.model.files import check_writable, write_atomically

    if output:
        check_writable(output)
    file = options.read_separator(model)
    table = options.read_for(file, data, target, format, header, separator, "optional" if score else "ignored")
    if score and table.y is None:
        raise DataError(f"{table.source} has no column {table.target!r} to compare with: name it with --target.")
    found = file.model.predict(table.X)
    if score:
        _print_score(found, table.y, file.model.classes_, json)
        return
    columns: dict[str, Any] = {"prediction": found}
    if decision:
        values = np.asarray(file.model.decision_function(table.X))
        names = ["decision"] if values.ndim == 1 else [f"decision_{c}" for c in file.model.classes_]
        columns.update(zip(names, values.reshape(len(found), -1).T, strict=True))
    if json:
        options.print_json({name: values.tolist() for name, values in columns.items()})
        return
    import polars as pl

    text = pl.DataFrame({name: values.tolist() for name, values in columns.items()}).write_csv()
    if output:
        write_atomically(output, text.encode())
        typer.echo(f"wrote {output}", err=True)
    else:
        typer.echo(text, nl=False)


def _print_score(found: Any, truth: Any, classes: Any, json: bool) -> None:
    """Accuracy and confusion; labels are compared as text where their types differ."""
    import numpy as np
    from sklearn.metrics import confusion_matrix

    from separatrix.report.proof_words import label_words

    if np.asarray(truth).dtype.kind != np.asarray(classes).dtype.kind:
        found, truth, classes = (label_words(np.asarray(a)) for a in (found, truth, classes))
    labels = np.unique(np.concatenate([classes, truth]))
    right = int(np.sum(found == truth))
    counts = confusion_matrix(truth, found, labels=labels)
    if json:
        options.print_json(
            {
                "rows": len(found),
                "right": right,
                "accuracy": right / len(found),
                "classes": labels.tolist(),
                "confusion": counts.tolist(),
            }
        )
        return
    from rich.table import Table

    console = options.console()
    console.print(f"{right:,} of {len(found):,} rows right: accuracy {100 * right / len(found):.2f}%")
    table = Table("true \\ predicted", *[str(c) for c in labels], box=None, pad_edge=False)
    for label, row in zip(labels, counts, strict=True):
        table.add_row(str(label), *[str(n) for n in row])
    console.print(table)
