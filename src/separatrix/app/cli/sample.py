"""``separatrix sample``: a table to try things on."""

from pathlib import Path
from typing import Annotated

import typer

from separatrix.app.cli import terminal


def sample(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", show_default=False, help="iris.csv, wine.csv or breast_cancer.csv; none: list."),
    ] = None,
) -> None:
    """Write a table to try things on: it comes with scikit-learn, nothing is downloaded.

    Example: separatrix sample iris.csv
    """
    from separatrix.persistence.output import check_outputs, write_atomically
    from separatrix.reproductions.datasets.samples import SAMPLES, sample_table

    if file is None:
        terminal.print_rows(terminal.console(), None, [(f"{name}.csv", words) for name, (_, words) in SAMPLES.items()])
        return
    check_outputs([file])
    frame, target = sample_table(Path(file).stem)
    write_atomically(file, frame.write_csv().encode())
    terminal.say(f"wrote {file}: {frame.height:,} rows, the classes are in the column {target!r}")
    terminal.say(f"next: separatrix fit {file} --target {target} --scale --save {Path(file).stem}.sx")
