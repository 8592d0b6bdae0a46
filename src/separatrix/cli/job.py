"""The main job: decide separability, fit, choose C by cross-validation on a path, and gather what is to be said."""

import time
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from separatrix.cli.progress import Progress, Stage
from separatrix.estimators.max_margin import MaxMargin, max_margin_path
from separatrix.io.data.prepare import kinds, preparation
from separatrix.io.data.table import Table
from separatrix.proof.separability import Separability, separability
from separatrix.report.comparison import limited
from separatrix.report.proof_words import verified
from separatrix.report.summary import Accuracy, Summary, advice

POWERS = np.arange(-3.0, 5.0)  # of ten: the values of C that are tried, in units of 1/mean |x|^2
ROUGH = 1e-3  # gap that is good enough to compare values of C


@dataclass
class Choices:
    """What the user asked for."""

    C: float | None = None  # None: hard where separable, else chosen
    tol: float = 1e-6
    scale: bool = False
    encode: bool = False
    impute: bool = False
    folds: int = 5
    max_time: float | None = None
    estimator: Any = None  # another algorithm than the maximum margin


class Fitted(NamedTuple):
    """A separator, how it came about, and its cross-validated accuracy."""

    separator: Any
    how: str
    cv: Accuracy | None
    interrupted: bool


def run(table: Table, choices: Choices, progress: Progress) -> Summary:
    """Everything that `separatrix fit` does between reading and writing."""
    steps = preparation(table, scale=choices.scale, encode=choices.encode, impute=choices.impute)
    clock = time.perf_counter()
    prepare = Pipeline(steps) if steps else None
    X = prepare.fit_transform(table.X) if prepare is not None else table.X
    with progress.stage("Is it separable?"):
        answer = separability(X, table.y, max_time=choices.max_time or np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said in a note instead
        fitted = _fit(table, X, steps, answer, choices, progress)
    separator = fitted.separator
    seconds = time.perf_counter() - clock
    model = Pipeline([*(prepare.steps if prepare is not None else []), ("separator", separator)])
    return Summary(
        table=table,
        model=model,
        answer=answer,
        how=fitted.how,
        prepared=_told(table, choices),
        train_accuracy=float(np.mean(separator.predict(X) == table.y)),
        cv=fitted.cv,
        verification=verified(separator, X, table.y),
        seconds=seconds,
        notes=advice(separator, choices.scale),
        interrupted=fitted.interrupted,
    )


def _fit(table: Table, X: Any, steps: list[Any], answer: Separability, choices: Choices, progress: Progress) -> Fitted:
    folds = usable_folds(table.y, choices.folds)
    cv, how = None, ""
    if choices.estimator is not None:
        separator, how = choices.estimator, type(choices.estimator).__name__
        interrupted = _fit_or_keep(separator, how, X, table.y, choices.tol, progress, choices.max_time)
    else:
        separable = answer.separable is True and all(a.separable is True for a in answer.total.values())
        C = np.inf if choices.C is None and separable else choices.C
        reason = ""
        if C is None:
            C, cv = choose_c(table, X, steps, folds, choices, progress)
            reason = f", chosen by {folds}-fold cross-validation"
            if cv is None:
                reason = ", as nothing was asked for: there was no cross-validation to choose it"
        separator = MaxMargin(C, tol=choices.tol, max_time=choices.max_time)
        interrupted = _fit_or_keep(separator, "Maximum margin", X, table.y, choices.tol, progress)
        how = "maximum margin, hard" if np.isinf(C) else f"maximum margin, soft with C = {C:g}{reason}"
    if cv is None and folds and not interrupted:
        try:
            cv = cross_validated(table, steps, separator, folds, progress, choices.max_time)
        except KeyboardInterrupt:
            interrupted = True
    return Fitted(separator, how, cv, interrupted)


def _fit_or_keep(
    separator: Any, title: str, X: Any, y: Any, tol: float, progress: Progress, max_time: float | None = None
) -> bool:
    """Fit; True if Ctrl-C ended it, where what it had so far is kept. ``max_time``: seconds after which it ends."""
    with progress.stage(title, tol) as stage:
        try:
            fit_watched(separator, X, y, stage, max_time)
        except KeyboardInterrupt:
            if not hasattr(separator, "certificate_"):
                raise
            return True
    return False


def fit_watched(estimator: Any, X: Any, y: Any, stage: Stage, max_time: float | None = None) -> Any:
    """Fit with the progress bar on and a limit in time, and leave no trace of the bar in the estimator."""
    try:
        if max_time is not None:
            limited(estimator, max_time)
        return stage.watch(estimator).fit(X, y)
    finally:
        vars(estimator).pop("_skl_callbacks", None)


def usable_folds(y: Any, wanted: int) -> int:
    """As many folds as every class has rows for; 0 where there are none."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    folds = min(wanted, smallest)
    return folds if folds >= 2 else 0


def splits(table: Table, steps: list[Any], folds: int) -> Any:
    """Prepared training and test parts; the preparation learns from the training part alone."""
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(np.zeros(table.n), table.y):
        X, rest = table.X[train], table.X[test]
        if steps:
            prepare = clone(Pipeline(steps))
            X, rest = prepare.fit_transform(X), prepare.transform(rest)
        yield X, table.y[train], rest, table.y[test]


def choose_c(
    table: Table, X: Any, steps: list[Any], folds: int, choices: Choices, progress: Progress
) -> tuple[float, Accuracy | None]:
    """The C of the best cross-validated accuracy; of equally good ones the smallest, which has the widest margin."""
    values = candidates(X)
    if not folds:
        return 1.0, None
    scores = []
    with progress.stage("Choosing C") as stage:
        for k, (train, labels, test, truth) in enumerate(splits(table, steps, folds)):
            models = max_margin_path(train, labels, values, tol=ROUGH, max_time=choices.max_time)
            scores.append([float(np.mean(model.predict(test) == truth)) for model in models])
            stage.update((k + 1) / folds, f"fold {k + 1} of {folds}")
    table_of_scores = np.array(scores)
    best = int(np.argmax(np.round(table_of_scores.mean(axis=0), 12)))
    return values[best], Accuracy(table_of_scores[:, best].tolist(), chose=len(values))


def candidates(X: Any) -> list[float]:
    """Values of C for data of this size: powers of ten over mean |x|^2, rounded to one digit."""
    if hasattr(X, "indptr"):
        total = float(np.dot(X.data, X.data))
    else:
        matrix = np.asarray(X)
        total = float(np.einsum("ij,ij->", matrix, matrix, dtype=np.float64))
    size = total / X.shape[0] + 1.0
    return [float(f"{10.0**p / size:.0e}") for p in POWERS]


def cross_validated(
    table: Table, steps: list[Any], separator: Any, folds: int, progress: Progress, max_time: float | None = None
) -> Accuracy:
    scores = []
    with progress.stage("Cross-validation") as stage:
        for k, (train, labels, test, truth) in enumerate(splits(table, steps, folds)):
            model = clone(separator) if max_time is None else limited(clone(separator), max_time)
            model.fit(train, labels)
            scores.append(float(np.mean(model.predict(test) == truth)))
            stage.update((k + 1) / folds, f"fold {k + 1} of {folds}")
    return Accuracy(scores)


def _told(table: Table, choices: Choices) -> str:
    numbers, text = kinds(table)
    told = []
    if choices.impute:
        told.append("missing values filled in")
    if choices.scale and numbers:
        told.append("numbers standardised")
    if text:
        told.append(f"{len(text)} text column{'s' if len(text) > 1 else ''} one-hot encoded")
    return ", ".join(told)


def provenance(summary: Summary) -> dict[str, Any]:
    """What a model file tells of its data and its making."""
    told = summary.as_dict()
    return {
        "data": told["data"],
        "prepared": told["prepared"],
        "separator": told["separator"],
        "train_accuracy": told["train_accuracy"],
        "cross_validated_accuracy": told["cross_validated_accuracy"],
        "separability": told["separability"] and {k: told["separability"][k] for k in ("separable", "explanation")},
    }
