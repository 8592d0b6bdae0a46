"""``separatrix studio``: draw points in the browser and watch separators learn."""

from typing import Annotated, Any

import typer

from separatrix.app.cli import options, terminal


def studio(
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", show_default=False, help="A file to begin with, as for `fit`.")
    ] = None,
    target: options.Target = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where it listens.", show_default="a free port")] = 0,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Listen for other machines too; asks for a password.", show_default="this one alone"
        ),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME:PORT", help="With --host: another name by which browsers reach it; repeatable."),
    ] = None,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open the page in the browser.")] = True,
) -> None:
    """Draw points in the browser and watch separators learn, step by step.

    Opens a page that this machine alone can reach. Points are added, moved and deleted by hand or read from a file; any
    algorithms learn from them while you look, with their bounds and proofs. Ctrl-C ends it.

    Example: separatrix studio iris.csv --target species
    """
    from separatrix.studio.serving import SHORTEST_PASSWORD, server

    if origin and host is None:
        raise typer.BadParameter("--origin belongs to --host.")
    password: Any = None
    if host is not None:
        password = typer.prompt(
            f"A password for the page (at least {SHORTEST_PASSWORD} characters)",
            hide_input=True,
            confirmation_prompt=True,
        )
    start = None
    if data is not None:
        from separatrix.studio.files_in import load

        start = load(data, target)
    running = server(port, host, password, start, tuple(origin or ()))
    running.start()
    address = f"http://{host or 'localhost'}:{running.port}/"
    if show:
        running.io_loop.add_callback(running.show, "/")
    try:
        terminal.say(f"The studio is at {address} (Ctrl-C ends it).")
        running.io_loop.start()
    except KeyboardInterrupt:
        terminal.say("The studio has ended.")
