"""``separatrix algorithms``: what exists."""

from separatrix.app.cli import options, terminal


def algorithms(json: options.Json = False) -> None:
    """List the algorithms: what each is, and its source.

    Example: separatrix algorithms
    """
    from separatrix.app.workflows.known_algorithms import algorithms as known

    found = known()
    if json:
        terminal.print_json([{"name": a.name, "description": a.line, "source": a.source} for a in found])
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("what it is", ratio=3)
    table.add_column("source", ratio=2, style="dim")
    for a in found:
        table.add_row(Text(a.name), Text(a.line), Text(a.source))
    terminal.console().print(table)
