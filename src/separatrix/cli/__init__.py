"""The command line. Heavy imports stay inside the commands, so that ``--help`` answers at once."""

import typer

from separatrix.cli.reproduce import app as reproduce

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
    c: float = typer.Option(
        float("inf"), "--C", min=1e-12, help="Price of slack of a soft margin; inf is the hard margin."
    ),
    tol: float = typer.Option(1e-6, min=0.0, max=1.0, help="Certified gap at which to stop."),
) -> None:
    """Fit the maximum margin on the breast cancer data that come with scikit-learn, and prove it.

    The fit stops when 1 - (lower/upper)^2 <= TOL, where lower is the margin that the hyperplane reaches and upper one
    that no hyperplane can exceed. Both are computed from the data.

    Example: separatrix fit --C 1
    """
    from separatrix.cli.fit import fit_breast_cancer

    fit_breast_cancer(c, tol)


app.add_typer(reproduce, name="reproduce")


def main() -> None:
    app()
