"""The command line. Heavy imports stay inside the commands, so that ``--help`` answers at once.

Every command is a module of its own with a function that is registered here.
"""

import gc

import typer

from separatrix.app.cli.algorithms import algorithms
from separatrix.app.cli.check import check
from separatrix.app.cli.compare import compare
from separatrix.app.cli.exit_status import INTERRUPTED, Program
from separatrix.app.cli.explain import explain
from separatrix.app.cli.fit import fit
from separatrix.app.cli.precompile import precompile
from separatrix.app.cli.predict import predict
from separatrix.app.cli.reproduce import app as reproduce
from separatrix.app.cli.sample import sample
from separatrix.app.cli.show import show
from separatrix.app.cli.studio import studio
from separatrix.app.cli.verify import verify

OBJECTS_BETWEEN_COLLECTIONS = 100_000

app = typer.Typer(
    name="separatrix",
    cls=Program,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(asked: bool) -> None:
    if asked:
        import separatrix

        typer.echo(f"separatrix {separatrix.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Linear separators with proofs: margins that are reached, bounds on the best one, and separability."""


for _command in (fit, check, compare, predict, show, verify, studio, algorithms, explain, sample, precompile):
    app.command()(_command)


app.add_typer(reproduce, name="reproduce")


def main() -> None:
    # Imports make 170,000 containers that stay to the end: collections in between, and at the end, walk them in vain.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        app()
    except KeyboardInterrupt:  # before a command had begun
        raise SystemExit(INTERRUPTED) from None
    finally:
        gc.freeze()
