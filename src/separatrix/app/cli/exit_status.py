"""What happens around a command: mistakes become sentences, and exit statuses mean something."""

import sys
import traceback
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from separatrix.app.cli.terminal import say

ERROR = 3  # exit status of every error, a wrong command line among them; 2 is "undecided" for `check`
INTERRUPTED = 130  # as shells have it for Ctrl-C
UsageError: Any = typer.BadParameter.__mro__[1]


class Program(TyperGroup):
    """Runs a command; a user's mistake ends with a sentence on standard error and no traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _note
                return super().invoke(ctx)
        except UsageError as error:
            error.exit_code = ERROR
            raise
        except KeyboardInterrupt:
            say("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(ERROR) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if not _is_for_users(error):
                traceback.print_exc()
                say("This is a mistake in separatrix, not yours.")
                raise typer.Exit(ERROR) from error
            say(f"Error: {error}")
            raise typer.Exit(ERROR) from error


def _is_for_users(error: Exception) -> bool:
    """Errors of the package, and scikit-learn's complaints about data and parameters."""
    from separatrix.errors import SeparatrixError

    if isinstance(error, (SeparatrixError, OSError, MemoryError)):
        return True
    trace, module = error.__traceback__, ""
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
    return module.startswith(
        ("sklearn.utils.validation", "sklearn.utils._param_validation", "sklearn.utils.multiclass")
    )


def _note(message: Warning | str, *where: Any, **more: Any) -> None:
    """A warning as a sentence, without the line of code that it comes from."""
    say(f"note: {message}")
