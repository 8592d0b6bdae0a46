"""The command line. Heavy imports stay inside the commands, so that ``--help`` answers at once."""

import typer

app = typer.Typer(
    name="separatrix",
    help="Linear separators with proofs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _program() -> None:
    """Linear separators with proofs: margins that are reached, bounds on the best one, and separability."""


@app.command()
def fit(
    epsilon: float = typer.Option(
        0.5, min=0.001, max=1.0, help="Stop when the margin is at least 1 - EPSILON of the best possible one."
    ),
    delta: float = typer.Option(0.0, min=0.0, help="Soft margin: extend the space by DELTA per row."),
    max_epochs: int = typer.Option(100_000, min=1, help="Passes over the data, at most."),
) -> None:
    """Fit a separator with a certified margin on the breast cancer data that come with scikit-learn.

    The fit stops when every row has u.y > (1 - EPSILON) |a| / sum(alpha): then the margin is certainly at least
    1 - EPSILON of the best one, because no direction has a margin above |a| / sum(alpha).

    Example: separatrix fit --epsilon 0.3
    """
    from separatrix.cli.fit import fit_breast_cancer

    fit_breast_cancer(epsilon, delta, max_epochs)


def main() -> None:
    app()
