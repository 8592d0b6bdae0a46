"""The main job: decide separability, fit, choose C by cross-validation on a path, and gather what came of it."""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from separatrix.estimators.max_margin import MaxMargin
from separatrix.io.data.formats import as_table
from separatrix.io.data.prepare import kinds, prepare
from separatrix.io.data.table import Table
from separatrix.io.model.apply import classifier_of
from separatrix.proof.certificate import Verification
from separatrix.proof.separability import Separability, separability
from separatrix.workflows.asked import DEFAULTS, Options, Tell, begin
from separatrix.workflows.cross_validation import Accuracy, Folds, choose_c, cross_validated
from separatrix.workflows.verifying import verified
from separatrix.workflows.watched import Watch, watched


@dataclass
class Fit:
    """A fit and all that is known of it."""

    table: Table
    options: Options
    model: Any  # a Pipeline: the preparation, then the separator
    answer: Separability
    how: str
    train_accuracy: float
    cv: Accuracy | None
    verification: dict[str, Verification]
    seconds: float
    interrupted: bool

    @property
    def separator(self) -> Any:
        return classifier_of(self.model)

    @property
    def prepared(self) -> str:
        """What was done to the columns, in words."""
        numbers, text = kinds(self.table)
        told = {
            "missing values filled in": self.options.impute,
            "numbers standardised": self.options.scale and numbers,
            f"{len(text)} text column{'s' if len(text) > 1 else ''} one-hot encoded": text,
        }
        return ", ".join(words for words, done in told.items() if done)


def fit(data: Any, options: Options = DEFAULTS, tell: Tell | None = None, **reading: Any) -> Fit:
    """Fit the maximum margin, hard where the data are separable, or the estimator that the options name.

    Parameters
    ----------
    data : Table, str, Path or None
        As in `separatrix.io.read_table`, whose options ``reading`` are.
    options : Options
    tell : callable or None, default=None
        Called with the stage, the share of it that is done (or None) and a note.

    Examples
    --------
    >>> from separatrix.workflows import Options, fit
    >>> found = fit(None, Options(C=1.0, scale=True, folds=0))
    >>> found.how, found.table.n, all(found.verification.values())
    ('maximum margin, soft with C = 1', 569, True)
    """
    begin(tell, "Reading")
    table = as_table(data, **reading)
    clock = time.perf_counter()
    raw, X, steps = prepare(table, **options.preparation)
    begin(tell, "Is it separable?")
    answer = separability(X, table.y, max_time=options.max_time or np.inf)
    folds = Folds(raw, table.y, steps, options.folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # whether it converged is among what is known
        separator, how, cv, interrupted = _fitted(X, table.y, folds, answer, options, tell)
    seconds = time.perf_counter() - clock
    found = Fit(
        table=table,
        options=options,
        model=Pipeline([*steps, ("separator", separator)]),
        answer=answer,
        how=how,
        train_accuracy=float(np.mean(separator.predict(X) == table.y)),
        cv=cv,
        verification=verified(separator, X, table.y),
        seconds=seconds,
        interrupted=interrupted,
    )
    if table.framed and raw is not table.X:  # it was fitted to arrays, which have no names
        found.model.steps[0][1].feature_names_in_ = np.array(table.names, dtype=object)
    return found


def _fitted(
    X: Any, y: np.ndarray, folds: Folds, answer: Separability, options: Options, tell: Tell | None
) -> tuple[Any, str, Accuracy | None, bool]:
    """The separator, how it came about, its cross-validated accuracy, and whether Ctrl-C ended it."""
    cv = None
    start: dict[str, Any] = {}
    if options.estimator is not None:
        separator, how = options.estimator, type(options.estimator).__name__
        stage = how
    else:
        C, cv, why = _price(X, folds, answer, options, tell)
        separator, stage = MaxMargin(C, tol=options.tol, max_time=options.max_time), "Maximum margin"
        how = "maximum margin, hard" if np.isinf(C) else f"maximum margin, soft with C = {C:g}{why}"
        start = _start(answer) if np.isinf(C) else {}
    watch = None if tell is None else Watch(tell, stage, options.tol)
    try:
        with watched(separator, options.max_time, watch):
            separator.fit(X, y, **start)
        if cv is None and len(folds):
            cv = cross_validated(separator, folds, options.max_time, tell, "Cross-validation")
    except KeyboardInterrupt:
        if not hasattr(separator, "certificate_"):
            raise
        return separator, how, cv, True
    return separator, how, cv, False


def _price(
    X: Any, folds: Folds, answer: Separability, options: Options, tell: Tell | None
) -> tuple[float, Accuracy | None, str]:
    """C, the accuracy that chose it, and in words why it is this one."""
    if options.C is not None:
        return options.C, None, ""
    if answer.separable is True and all(a.separable is True for a in answer.total.values()):
        return np.inf, None, ""
    if not len(folds):
        return 1.0, None, ", as nothing was asked for: there was no cross-validation to choose it"
    C, cv = choose_c(X, folds, options.max_time, tell, "Choosing C")
    return C, cv, f", chosen by {len(folds)}-fold cross-validation"


def _start(answer: Separability) -> dict[str, Any]:
    """The hyperplanes that decided separability, one for each binary problem, to start the maximum margin from."""
    planes = []
    for part in list(answer.total.values()) or [answer]:
        if part.hyperplane is None or not part.separable:
            return {}
        planes.append(part.hyperplane)
    return {"coef_init": np.array([p.w for p in planes]), "intercept_init": np.array([p.b for p in planes])}
