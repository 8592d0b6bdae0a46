"""Arguments and options that several commands share, and how they lead to a table."""

import os
from typing import Annotated, Any

import typer

WIDE = 120  # columns where there is no terminal

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, TSV, Parquet, NDJSON, LIBSVM, ARFF, npy, npz, also .gz; - is stdin.")
]
MaybeData = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="CSV, TSV, Parquet, NDJSON, LIBSVM, ARFF, npy, npz, also .gz; - is stdin. Without it: scikit-learn's "
        "breast cancer data, standardised.",
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that `separatrix fit --save` wrote.")]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="Column of the labels, by name or number (-1: the last)."),
]
Format = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="Format of DATA, if its content does not tell.")
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether line 1 holds names.", show_default="told by content"),
]
Separator = Annotated[
    str | None, typer.Option("--separator", metavar="CHAR", help="Separator of fields.", show_default="told by content")
]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Leave a column out; repeatable.")]
Scale = Annotated[bool | None, typer.Option("--scale/--no-scale", help="Standardise the numbers.", show_default=False)]
Encode = Annotated[bool, typer.Option("--encode", help="One-hot encode the text columns.")]
Impute = Annotated[bool, typer.Option("--impute", help="Fill in missing values: the median, the most frequent text.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Independent = Annotated[
    bool,
    typer.Option("--independent", help="By proof/checker.py alone: a process that runs this one file, with numpy."),
]
MaxTime = Annotated[
    float | None, typer.Option("--max-time", min=1e-3, metavar="SECONDS", help="Stop each fit after so long.")
]
Folds = Annotated[int, typer.Option("--cv", min=0, max=100, help="Folds of the cross-validation; 0 leaves it out.")]


def read(
    data: str | None,
    target: str | None,
    format: str | None,
    header: bool | None,
    separator: str | None,
    drop: list[str] | None = None,
    labels: str = "required",
    base: int | None = None,
    width: int | None = None,
) -> Any:
    """The table that the options describe; the breast cancer data without any."""
    from separatrix.io.data.prepare import normalised
    from separatrix.io.data.table import read_table

    if data is None:
        return _breast_cancer()
    if separator is not None:
        separator = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
        if len(separator) != 1:
            raise typer.BadParameter("--separator takes one character, or tab.")
    table = read_table(
        data,
        target,
        format=format,
        header=header,
        separator=separator,
        drop=drop or (),
        labels=labels,
        base=base,
        width=width,
    )
    return normalised(table) if labels == "required" else table


def read_separator(path: str, certified: bool = False) -> Any:
    """The model file, if it holds a fitted classifier, with a certificate if that is needed."""
    import numpy as np

    from separatrix.errors import ModelError
    from separatrix.io.model.apply import separator_of
    from separatrix.io.model.files import read_model
    from separatrix.proof.certificate import Certificate

    file = read_model(path)
    try:
        separator = separator_of(file.model)
        fitted = hasattr(file.model, "predict") and isinstance(separator.classes_, np.ndarray)
        fitted = fitted and isinstance(file.model.n_features_in_, int)
    except Exception:  # whatever a Pipeline without an end leads to
        fitted = False
    if not fitted:
        raise ModelError(f"{path} holds a {type(file.model).__name__}, not a fitted classifier.")
    claims = getattr(separator, "certificates_", None)
    if certified and not (isinstance(claims, list) and all(isinstance(c, Certificate) for c in claims)):
        raise ModelError(f"{path} holds a {type(separator).__name__}, which has no certificate that could be verified.")
    return file


def read_for(
    file: Any,
    data: str | None,
    target: str | None,
    format: str | None,
    header: bool | None,
    separator: str | None,
    labels: str = "optional",
) -> Any:
    """The table for a model: its features as the model takes them, and the labels if they are there."""
    from dataclasses import replace

    from separatrix.io.model.apply import aligned

    told = file.provenance.get("data") or {}
    column, base = target or told.get("target"), told.get("index_base")
    width = int(file.model.n_features_in_)
    table = read(data, column, format, header, separator, labels=labels, base=base, width=width)
    return replace(aligned(table, file.model), target=column)


def _breast_cancer() -> Any:
    import hashlib

    import polars as pl
    from sklearn.datasets import load_breast_cancer

    from separatrix.io.data.table import Table

    data = load_breast_cancer()
    frame = pl.DataFrame({str(name): data.data[:, j] for j, name in enumerate(data.feature_names)})
    digest = hashlib.sha256(data.data.tobytes() + data.target.tobytes()).hexdigest()
    labels = data.target_names[data.target]
    return Table("breast cancer", "scikit-learn", digest, frame, labels, "diagnosis", named=True)


def console() -> Any:
    from rich.console import Console

    shown = Console(highlight=False)
    if not shown.is_terminal and "COLUMNS" not in os.environ:
        shown.width = WIDE
    return shown


def print_json(content: Any) -> None:
    import json

    typer.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
