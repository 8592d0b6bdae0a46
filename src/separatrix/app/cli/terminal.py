"""What is printed: rows, weights and fits on a terminal, JSON for machines."""

import json
import os
import re
from typing import Any

import typer

WIDTH = 120  # characters of a line where there is no terminal
TABLE_CLASSES, TABLE_CLASSES_ASKED = 8, 30  # up to which a confusion is a table, without being asked for and with
LABELS = 17  # characters of the labels of a fit, which is printed part by part
WORST = 5  # classes that are listed
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and ends of lines


def printable(text: str) -> str:
    """The text with its control characters spelled out: names in a file must not command a terminal."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def plain(text: Any) -> Any:
    """Text without markup for a console."""
    from rich.text import Text

    return Text(printable(str(text)))


def console() -> Any:
    from rich.console import Console

    shown = Console(highlight=False)
    if not shown.is_terminal and "COLUMNS" not in os.environ:
        shown.width = WIDTH
    return shown


def print_json(content: Any) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    typer.echo(re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text))  # JSON spells out the others


def say(text: str) -> None:
    """A sentence on standard error."""
    typer.echo(printable(text), err=True)


def print_rows(console: Any, heading: str | None, rows: list[tuple[str, str]], width: int | None = None) -> None:
    """A title, and pairs of a label and a text. ``width``: of the labels."""
    from rich.table import Table

    table = Table(title=heading and plain(heading), title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", no_wrap=True, min_width=width)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(plain(label.replace("\n", "\\n")), plain(text))
    console.print(table)


def print_weights(console: Any, weights: list[tuple[str, list[tuple[str, float]]]], several: bool) -> None:
    """The largest weights, with bars to both sides."""
    from rich.table import Table

    for name, pairs in weights:
        if not pairs:
            continue
        largest = max(abs(w) for _, w in pairs)
        head = f"largest weights, {'for ' if several else 'positive for '}{name}"
        table = Table(title=plain(head), title_justify="left", show_header=False, box=None, pad_edge=False)
        table.add_column(overflow="ellipsis", max_width=40)
        table.add_column(justify="right")
        table.add_column(no_wrap=True)
        for feature, w in pairs:
            width = max(1, round(20 * abs(w) / largest))
            bar = "█" * width if w > 0 else "░" * width
            table.add_row(plain(feature), plain(f"{w:+.4g}"), plain(bar))
        console.print(table)


def print_classes(console: Any, answers: Any, everything: bool, where: str = "") -> None:
    """How each class fares, the worst of them where there are many, and what is taken for what."""
    from rich.table import Table

    scores, many = answers.by_class, len(answers.classes) > TABLE_CLASSES and not everything
    if many:
        scores = sorted(scores, key=lambda c: c.f1)[:WORST]
    head = f"the {WORST} classes with the lowest F1 of {len(answers.classes)}" if many else "each class"
    console.print(plain(head + where))
    table = Table(box=None, pad_edge=False)
    table.add_column("class", overflow="ellipsis", max_width=30)
    for name in ("rows", "precision", "recall", "F1"):
        table.add_column(name, justify="right")
    for c in scores:
        table.add_row(plain(c.name), f"{c.rows:,}", *(f"{value:.3f}" for value in (c.precision, c.recall, c.f1)))
    console.print(table)
    console.print()
    if not many and len(answers.classes) <= (TABLE_CLASSES_ASKED if everything else TABLE_CLASSES):
        print_confusion(console, answers)
        return
    console.print("most frequent mistakes")
    table = Table(box=None, pad_edge=False)
    for name in ("true", "predicted", "rows"):
        table.add_column(name, overflow="ellipsis", max_width=30, justify="right" if name == "rows" else "left")
    for true, predicted, rows in answers.mistaken[: None if everything else 2 * WORST]:
        table.add_row(plain(true), plain(predicted), f"{rows:,}")
    console.print(table)


def print_confusion(console: Any, answers: Any) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("true \\ predicted", overflow="ellipsis", max_width=30)
    for name in answers.classes:
        table.add_column(plain(name), justify="right", overflow="ellipsis", no_wrap=True)
    for name, row in zip(answers.classes, answers.confusion, strict=True):
        table.add_row(plain(name), *[f"{n:,}" for n in row])
    console.print(table)


def print_table(console: Any, table: Any) -> None:
    """The title and the classes of a table, before anything is fitted."""
    from separatrix.app.report.table_rows import table_rows, title

    console.print(plain(title(table)))
    print_rows(console, None, table_rows(table), LABELS)


def print_part(console: Any, part: str, fit: Any) -> None:
    """The rows of a part of a fit as soon as it is known."""
    from separatrix.app.report.summary import rows_of_part

    rows = rows_of_part(part, fit)
    if rows:
        print_rows(console, None, rows, LABELS)


def print_details(console: Any, fit: Any, everything: bool = False) -> None:
    """Scores of each class, the largest weights and data quality warnings."""
    from separatrix.app.report.summary import largest_weights, notes

    console.print()
    if fit.cv is not None:
        print_classes(console, fit.cv.answers, everything, ", in cross-validation: on rows that each fold left out")
        console.print()
    weights = largest_weights(fit.model)
    print_weights(console, weights if everything else weights[:3], len(weights) > 1)
    if len(weights) > 3 and not everything:
        console.print(f"(and the weights of {len(weights) - 3} more: --all tells them)")
    for note in notes(fit):
        console.print(f"note: {note}", markup=False)
