"""The main job: decide separability, prove the largest margin, take the model that predicts best, and gather it all."""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from separatrix.app.saved_models import read_for, unseen
from separatrix.app.tables.formats import as_table
from separatrix.app.tables.prepare import kinds, missing_rows, prepare, prepared_names
from separatrix.app.tables.table import Table
from separatrix.app.workflows.advice import about_answers, about_filled, about_unseen, advise, heed
from separatrix.app.workflows.asked import DEFAULTS, Options, Tell, begin
from separatrix.app.workflows.choosing import Chooser
from separatrix.app.workflows.cross_validation import Choice, CrossValidated, Folds
from separatrix.app.workflows.out_of_fold import Answers
from separatrix.app.workflows.predicting import answers
from separatrix.app.workflows.verifying import verified
from separatrix.certificates.certificate import Verification
from separatrix.certificates.separability import Separability, separability
from separatrix.persistence.files import ModelFile, classifier_of


@dataclass
class Fit:
    """A fit and all that is known of it."""

    table: Table
    options: Options
    model: Any  # a Pipeline: the preparation, then the separator
    answer: Separability
    hard: Any  # the maximum margin where the classes are separable, which need not be the model
    how: str
    choice: Choice | None  # what cross-validation compared
    train_accuracy: float
    cv: CrossValidated | None
    verification: dict[str, Verification]  # of the model
    hard_verification: dict[str, Verification]
    seconds: float
    interrupted: bool
    notes: list[str]  # what a colleague would say
    test: Answers | None = None  # of rows that were held out

    @property
    def separator(self) -> Any:
        return classifier_of(self.model)

    @property
    def prepared(self) -> str:
        """What was done to the columns, in words."""
        numbers, text = kinds(self.table)
        width = self.separator.n_features_in_
        told = {
            "missing values filled in": self.options.impute,
            "numbers standardised": self.options.scale and numbers,
            f"{len(text)} text column{'s' if len(text) > 1 else ''} one-hot encoded ({width:,} features in all)": text,
        }
        return ", ".join(words for words, done in told.items() if done)

    @property
    def unit(self) -> str:
        """What distances are measured in."""
        if self.options.scale:
            return "standard deviations"
        return "units of the encoded columns" if kinds(self.table)[1] else "units of your columns"


def fit(data: Any, options: Options = DEFAULTS, tell: Tell | None = None, **reading: Any) -> Fit:
    """Fit the maximum margin that predicts best, or the estimator that the options name.

    Where the classes are separable, the hard margin is fitted and proved in any case. What predicts best is chosen by
    cross-validation on a path of C that ends with it.

    Parameters
    ----------
    data : Table, str, Path or None
        As in `separatrix.app.tables.read_table`, whose options ``reading`` are.
    options : Options
    tell : callable or None, default=None
        Called with the stage, the share of it that is done (or None) and a note.

    Examples
    --------
    >>> from separatrix.app.workflows import Options, fit
    >>> found = fit(None, Options(C=1.0, scale=True, folds=0))
    >>> found.how, found.table.n, all(found.verification.values())
    ('maximum margin, soft with C = 1', 569, True)
    """
    begin(tell, "Reading")
    table = as_table(data, **reading)
    clock = time.perf_counter()
    raw, X, steps = prepare(table, **options.preparation)
    weighted = options.class_weight is not None
    notes = heed(advise(table, raw, X, folds=options.folds, scaled=options.scale, weighted=weighted), options.strict)
    begin(tell, "Is it separable?")
    weak = len(np.unique(table.y)) == 2  # several classes ask about every pair and a linear machine
    answer = separability(X, table.y, max_time=options.max_time or np.inf, check_quasi=weak)
    folds = Folds(raw, table.y, steps, options.folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # whether it converged is among what is known
        made = Chooser(X, table.y, folds, answer, options, tell).made()
    seconds = time.perf_counter() - clock
    verification = verified(made.separator, X, table.y)
    answer = answer.named(prepared_names(table, steps, X.shape[1]), table.target, values=not options.scale)
    found = Fit(
        table=table,
        options=options,
        model=Pipeline([*steps, ("separator", made.separator)]),
        answer=answer,
        hard=made.hard,
        how=made.how,
        choice=made.choice,
        train_accuracy=float(np.mean(made.separator.predict(X) == table.y)),
        cv=made.cv,
        verification=verification,
        hard_verification=verification if made.hard is made.separator else verified(made.hard, X, table.y),
        seconds=seconds,
        interrupted=made.interrupted,
        notes=[*table.notes, *notes, *heed([] if made.cv is None else about_answers(made.cv.answers), options.strict)],
    )
    if table.framed and raw is not table.X:  # it was fitted to arrays, which have no names
        found.model.steps[0][1].feature_names_in_ = np.array(table.names, dtype=object)
    if options.test is not None:
        told = {"target": table.target, "index_base": table.base, "encoding": table.encoding, **table.reading}
        held_out = read_for(ModelFile(found.model, {"data": told}), options.test, labels="optional")
        found.notes += heed(about_unseen(unseen(found.model, held_out), held_out), options.strict)
        found.notes += about_filled(missing_rows(held_out), held_out)
        found.test = answers(found.model, held_out)
    return found
