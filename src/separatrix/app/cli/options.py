"""Arguments and options that several commands share."""

from enum import StrEnum
from typing import Annotated, Any

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="CSV, TSV, Excel, Parquet, Feather, NDJSON, LIBSVM, ARFF, npy, npz, also .gz; - is stdin."
    ),
]
MaybeData = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="CSV, TSV, Excel, Parquet, Feather, NDJSON, LIBSVM, ARFF, npy, npz, also .gz; - is stdin. Without it: "
        "scikit-learn's breast cancer data, standardised.",
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
    typer.Option("--header/--no-header", help="Whether line 1 holds names.", show_default="detected"),
]
Separator = Annotated[
    str | None,
    typer.Option("--separator", metavar="CHAR", help="Separator of fields.", show_default="detected"),
]

Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="NAME", help="How text is written: cp1252, latin-1, ...", show_default="UTF-8, UTF-16"
    ),
]

Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="WORDS", help="More words that mean a missing value, by commas; repeatable."),
]
NotMissing = Annotated[
    list[str] | None,
    typer.Option("--not-missing", metavar="WORDS", help="Words that are values, by commas; repeatable."),
]
Sheet = Annotated[
    str | None,
    typer.Option(metavar="NAME|N", help="Sheet of a workbook.", show_default="the first one with the target"),
]
Classes = Annotated[
    bool, typer.Option("--classes", help="Whole numbers with many values in the target are labels, not a quantity.")
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Identifiers: no feature, carried to predictions by the model."),
]


class ScoreName(StrEnum):
    """Scores that cross-validation may compare; `separatrix.app.workflows.out_of_fold` computes them."""

    accuracy = "accuracy"
    balanced = "balanced"
    f1 = "f1"
    auc = "auc"
    log_loss = "log-loss"


class MultiClass(StrEnum):
    ovr = "ovr"
    ovo = "ovo"
    joint = "joint"


class ClassWeight(StrEnum):
    balanced = "balanced"


Score = Annotated[ScoreName, typer.Option("--score", help="What cross-validation compares models by.")]
MultiClassWay = Annotated[
    MultiClass | None,
    typer.Option(
        "--multi-class",
        help="Several classes: one-vs-rest (ovr), one-vs-one (ovo), or joint.",
        show_default="ovr or ovo by cross-validation",
    ),
]
Weights = Annotated[
    ClassWeight | None,
    typer.Option("--class-weight", help="balanced: mistakes in rare classes cost more.", show_default="none"),
]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Leave a column out; repeatable.")]
Scale = Annotated[bool | None, typer.Option("--scale/--no-scale", help="Standardise the numbers.", show_default=False)]
Encode = Annotated[bool, typer.Option("--encode", help="One-hot encode the text columns.")]
Impute = Annotated[bool, typer.Option("--impute", help="Fill in missing values: the median, the most frequent text.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings about the data are errors.")]
Everything = Annotated[bool, typer.Option("--all", help="Tell everything: every class, pair and weight vector.")]
Independent = Annotated[
    bool,
    typer.Option(
        "--independent", help="By certificates/checker.py alone: a process that runs this one file, with numpy."
    ),
]
MaxTime = Annotated[
    float | None, typer.Option("--max-time", min=1e-3, metavar="SECONDS", help="Stop each fit after so long.")
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Read DATA block by block within so much memory, as 1GB; DATA may be a pattern."),
]
Cache = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Keep a decoded copy of DATA there, for later passes (--memory).")
]
Checkpoint = Annotated[
    str | None, typer.Option(metavar="FILE", help="Keep the passes there; the same command goes on after a kill.")
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Let the workers of this scheduler read DATA, as tcp://host:8786.")
]
Workers = Annotated[int | None, typer.Option(min=1, metavar="N", help="Let N processes of this machine read DATA.")]
Folds = Annotated[int, typer.Option("--cv", min=0, max=100, help="Folds of the cross-validation; 0 leaves it out.")]


def reading(
    target: str | None,
    format: str | None,
    header: bool | None,
    separator: str | None,
    encoding: str | None,
    *,
    drop: list[str] | None = None,
    missing: list[str] | None = None,
    not_missing: list[str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """How the data are to be read, as `separatrix.app.tables.read_table` takes it."""
    if separator is not None:
        separator = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
        if len(separator) != 1:
            raise typer.BadParameter("--separator must be one character, or tab.")
    parts = {"target": target, "format": format, "header": header, "separator": separator, "encoding": encoding}
    words = {"missing": _listed(missing), "not_missing": _listed(not_missing)}
    return {**parts, **words, **more, "drop": drop or ()}


def _listed(words: list[str] | None) -> tuple[str, ...]:
    return tuple(word.strip() for part in words or () for word in part.split(","))
