"""``separatrix explain``: the words of the output."""

from typing import Annotated

import typer

from separatrix.app.cli import options, terminal


def explain(
    term: Annotated[
        list[str] | None, typer.Argument(metavar="TERM", show_default=False, help="A word of the output; none: all.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Explain a term that the output uses.

    Example: separatrix explain margin
    """
    from separatrix.app.report.terms import explained, glossary, grouped

    found = explained(" ".join(term)) if term else glossary()
    if json:
        terminal.print_json(found)
        return
    terminal.print_rows(terminal.console(), None, list(grouped(found).items()))
