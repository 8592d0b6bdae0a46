"""``separatrix precompile``: no later process waits for the compiler."""

from typing import Annotated

import typer

from separatrix.app.cli import options, terminal


def precompile(
    estimators: Annotated[
        list[str] | None,
        typer.Option(
            help="Names, patterns, families as for compare; LinearSVC, SVC, separability, fewest_errors. Default: all."
        ),
    ] = None,
    float32: Annotated[bool, typer.Option("--float32", help="For rows of float32 as well.")] = False,
    json: options.Json = False,
) -> None:
    """Compile estimators ahead of time, for container images and CI.

    Compiled code is kept in a cache folder; NUMBA_CACHE_DIR says where. All estimators take several minutes.

    Example: separatrix precompile --estimators MaxMargin,SVC,separability
    """
    from separatrix.app.cli.progress import Progress
    from separatrix.app.workflows.precompiling import precompile as run

    with Progress(quiet=json) as watch:
        made = run(estimators or (), float32, watch)
    if json:
        terminal.print_json(made._asdict())
    else:
        terminal.console().print(
            f"{made.compiled} compiled forms added, {made.loaded} found in {made.folder}", markup=False, soft_wrap=True
        )
