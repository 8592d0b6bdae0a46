"""Summaries on a terminal."""

from typing import Any

from separatrix.report.summary import Summary


def print_rows(console: Any, title: str | None, rows: list[tuple[str, str]]) -> None:
    """A title, and pairs of a label and a text."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title and Text(title), title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(Text(label), Text(text))
    console.print(table)


def print_weights(console: Any, weights: list[tuple[str, list[tuple[str, float]]]], several: bool) -> None:
    """The largest weights, with bars to both sides."""
    from rich.table import Table
    from rich.text import Text

    for name, pairs in weights:
        if not pairs:
            continue
        largest = max(abs(w) for _, w in pairs)
        head = f"largest weights, {'for ' if several else 'positive for '}{name}"
        table = Table(title=Text(head), title_justify="left", show_header=False, box=None, pad_edge=False)
        table.add_column(overflow="ellipsis", max_width=40)
        table.add_column(justify="right")
        table.add_column(no_wrap=True)
        for feature, w in pairs:
            width = max(1, round(20 * abs(w) / largest))
            bar = "█" * width if w > 0 else "░" * width
            table.add_row(Text(feature), Text(f"{w:+.4g}"), Text(bar))
        console.print(table)


def print_summary(console: Any, summary: Summary) -> None:
    print_rows(console, summary.title, summary.rows())
    console.print()
    weights = summary.weights()
    print_weights(console, weights[:3], len(weights) > 1)
    if len(weights) > 3:
        console.print(f"(and {len(weights) - 3} more classes: --json or --report tell all)")
    for note in summary.notes:
        console.print(f"note: {note}", markup=False)
