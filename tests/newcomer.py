"""Someone at a terminal: a command, what was printed, and a file to try it on."""

import polars as pl
from sklearn.datasets import make_classification
from typer.testing import CliRunner

from separatrix.app.cli import app

runner = CliRunner()


def separatrix(*arguments, **options):
    return runner.invoke(app, [str(a) for a in arguments], env={"COLUMNS": "140"}, **options)


def text_of(result):
    """All that was printed, on one line."""
    return " ".join((result.output + result.stderr).split())


def clouds(n=200, d=4, seed=0, apart=1.0, weights=None, classes=2):
    """A frame of numbers and labels that overlap a little."""
    X, y = make_classification(
        n, d, n_informative=d, n_redundant=0, n_clusters_per_class=1, n_classes=classes, class_sep=apart,
        weights=weights, flip_y=0.02, random_state=seed,
    )  # fmt: skip
    return pl.DataFrame(X, schema=[f"x{j}" for j in range(d)]).with_columns(label=pl.Series([f"c{k}" for k in y]))
