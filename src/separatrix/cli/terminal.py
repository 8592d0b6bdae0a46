"""What is printed: rows, weights and fits on a terminal, JSON for machines."""

import json
import os
import re
from typing import Any

import typer

WIDE = 120  # columns where there is no terminal
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
        shown.width = WIDE
    return shown


def print_json(content: Any) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    typer.echo(re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text))  # JSON spells out the others


def say(text: str) -> None:
    """A sentence on standard error."""
    typer.echo(printable(text), err=True)


def print_rows(console: Any, heading: str | None, rows: list[tuple[str, str]]) -> None:
    """A title, and pairs of a label and a text."""
    from rich.table import Table

    table = Table(title=heading and plain(heading), title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(plain(label), plain(text))
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


def print_fit(console: Any, fit: Any) -> None:
    from separatrix.report.summary import largest_weights, notes, rows_of, title

    print_rows(console, title(fit), rows_of(fit))
    console.print()
    weights = largest_weights(fit.model)
    print_weights(console, weights[:3], len(weights) > 1)
    if len(weights) > 3:
        console.print(f"(and {len(weights) - 3} more classes: --json or --report tell all)")
    for note in notes(fit):
        console.print(f"note: {note}", markup=False)
