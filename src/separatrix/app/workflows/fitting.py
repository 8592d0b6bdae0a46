"""The main job: a model that predicts well, then whether the classes are separable, and the largest margin.

The parts are found in the order in which users wait for them, and `fit` shows each to ``seen`` as soon as it is there.
"""

import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from separatrix.app.saved_models import read_for, unseen
from separatrix.app.tables.formats import as_table
from separatrix.app.tables.prepare import kinds, missing_rows, prepare, prepared_names
from separatrix.app.tables.table import Table
from separatrix.app.workflows.advice import about_answers, about_filled, about_unseen, advise, raise_if_strict
from separatrix.app.workflows.cross_validation import CrossValidated, Folds, cross_validated
from separatrix.app.workflows.options import DEFAULTS, Options, Tell, begin
from separatrix.app.workflows.out_of_core import (
    BlockReading,
    FileTable,
    correct_rows,
    separability_of,
    verified_by_passes,
)
from separatrix.app.workflows.out_of_fold import SCORERS, Answers, shown
from separatrix.app.workflows.predicting import answers
from separatrix.app.workflows.progress import FitProgress, GapOfPasses, limited_and_shown
from separatrix.app.workflows.verifying import verified
from separatrix.callbacks import Callback
from separatrix.certificates.certificate import Certificate, Verification
from separatrix.certificates.separability import Separability, separability
from separatrix.errors import NotSeparableError
from separatrix.estimators.max_margin import MaxMargin
from separatrix.estimators.max_margin_cv import MaxMarginCV
from separatrix.persistence.files import ModelFile, classifier_of

SHORTEST_BUDGET = 2.0  # seconds for separability and the hard margin, which otherwise have as long as the model took
WAYS = {"ovr": "one-vs-rest", "ovo": "one-vs-one", "joint": "joint"}  # of telling several classes apart


@dataclass
class Fit:
    """A fit and all that is known of it; what is not known yet, or not asked for, is None or empty."""

    table: Table
    options: Options
    notes: list[str]  # data quality warnings
    width: int  # columns after the preparation
    model: Any = None  # a Pipeline: the preparation, then the separator
    how: str = ""
    why: list[str] = field(default_factory=list)  # how C was chosen, in lines
    train_accuracy: float = np.nan
    cv: CrossValidated | None = None
    verification: dict[str, Verification] = field(default_factory=dict)  # of the model
    tested_on_training: bool = False  # the test data are those of the fit
    test: Answers | None = None  # of rows that were held out
    budget: float = np.inf  # seconds for separability and the hard margin
    answer: Separability | None = None
    hard: Any = None  # the maximum margin if the classes are separable, which need not be the model
    hard_verification: dict[str, Verification] = field(default_factory=dict)
    seconds: float = 0.0  # that the model took
    missing: list[str] = field(default_factory=list)  # what an interrupt left out
    interrupted: bool = False

    @property
    def separator(self) -> Any:
        return classifier_of(self.model)

    @property
    def passes(self) -> int | None:
        """Passes over the files; None if the rows are in memory."""
        return self.table.X.passes if isinstance(self.table, FileTable) else None

    @property
    def prepared(self) -> str:
        """What was done to the columns, in words."""
        numbers, text = _kinds(self.table)
        columns = f"text column{'s' if len(text) > 1 else ''}"
        done = {
            "missing values filled in": self.options.impute,
            "numbers standardized": self.options.scale and numbers,
            f"{len(text)} {columns} one-hot encoded ({self.width:,} columns in all)": text,
        }
        return ", ".join(words for words, is_done in done.items() if is_done)

    @property
    def unit(self) -> str:
        """What distances are measured in."""
        if self.options.scale:
            return "standard deviations"
        return "units of the encoded columns" if _kinds(self.table)[1] else "units of your columns"


def _kinds(table: Table) -> tuple[Any, list[str]]:
    """Names of the columns of numbers and of text."""
    if isinstance(table, FileTable):
        return [name for name in table.names if name not in table.texts], list(table.texts)
    return kinds(table)


Seen = Callable[[str, Fit], None]


def fit(
    data: Any,
    options: Options = DEFAULTS,
    tell: Tell | None = None,
    seen: Seen | None = None,
    blocks: BlockReading | None = None,
    **reading: Any,
) -> Fit:
    """Fit the maximum margin that predicts best, or the estimator that the options name.

    C is chosen by `separatrix.MaxMarginCV`. Separability and the hard margin follow, within ``options.max_time``
    seconds or as long as the model took. Ctrl-C ends with what is there once there is a model.

    Parameters
    ----------
    data : Table, str, Path or None
        As in `separatrix.app.tables.read_table`, whose options ``reading`` are.
    options : Options
    tell : callable or None, default=None
        Called with the stage, the share of it that is done (or None) and a note.
    seen : callable or None, default=None
        Called with "table", "prepared", "model", "separability" and "hard margin" when these are known, and the fit.
    blocks : BlockReading or None, default=None
        Read the data block by block; ``reading`` is the target alone. There is no cross-validation, because every fold
        would read all rows several times: the model is the hard margin if it exists, otherwise the soft one at C = 1.

    Examples
    --------
    >>> from separatrix.app.workflows import Options, fit
    >>> found = fit(None, Options(C=1.0, scale=True, folds=0))
    >>> found.how, found.table.n, all(found.verification.values())
    ('soft-margin linear SVM, C = 1', 569, True)
    """
    if blocks is None:
        begin(tell, "Reading")
        opened: Any = nullcontext(as_table(data, **reading))
    else:
        opened = blocks.open(data, reading.get("target"), options.encode, tell)
    with opened as table, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # whether it converged is among what is known
        job = _Job(table, options, tell, seen or (lambda part, found: None))
        job.run()
    return job.found


class _Job:
    """The parts of a fit, one after the other."""

    def __init__(self, table: Table, options: Options, tell: Tell | None, seen: Seen):
        self.table, self.options, self.tell, self.seen = table, options, tell, seen
        self.files = table if isinstance(table, FileTable) else None  # None: the rows are in memory
        self.start = time.perf_counter()
        self.found = Fit(table, options, list(table.notes), table.d)
        self.X: Any = None  # a matrix, or the row source of files
        self.folds: Any = None  # of rows in memory
        self.separator: Any = None
        self.proofs: list[Certificate] = []  # of separability, by the fits of the model

    def run(self) -> None:
        found, missing = self.found, ["separability", "hard margin"]
        self.seen("table", found)
        self.prepare()
        self.seen("prepared", found)
        try:
            self.cross_validate(self.fit_model())
        except KeyboardInterrupt:
            if not hasattr(self.separator, "certificate_"):
                raise
            found.interrupted, found.missing = True, [] if found.cv or self.files else ["cross-validation"]
        self.describe_model()
        self.seen("model", found)
        try:
            if found.interrupted:
                raise KeyboardInterrupt
            self.ask_separability()
            self.seen("separability", found)
            missing = ["hard margin"]
            self.fit_hard_margin()
            if found.hard is not None:
                self.seen("hard margin", found)
        except KeyboardInterrupt:
            found.interrupted = True
            found.missing += missing

    def prepare(self) -> None:
        table, options, found = self.table, self.options, self.found
        if self.files is not None:
            self.X, self.steps = self.files.prepared(options.scale)
            self.classes, found.width = self.X.classes, self.X.width
            return
        self.raw, self.X, self.steps = prepare(table, **options.preparation)
        self.folds = Folds(self.raw, table.y, self.steps, options.folds)
        self.classes, found.width = self.folds.classes, self.X.shape[1]
        weighted = options.class_weight is not None
        notes = advise(table, self.raw, self.X, folds=options.folds, scaled=options.scale, weighted=weighted)
        found.notes += raise_if_strict(notes, options.strict)

    # the model

    def fit_model(self) -> Any:
        options, several = self.options, len(self.classes) > 2
        settings: dict[str, Any] = {"tol": options.tol, "max_time": options.max_time}
        if options.estimator is not None:
            return self._fitted(options.estimator, type(options.estimator).__name__)
        way = "joint" if several and self.files is not None else "ovr"  # one problem, so that it takes fewer passes
        settings |= {"class_weight": options.class_weight, "multi_class": options.multi_class or way}
        if self.folds:
            Cs = 8 if options.C is None else [options.C]
            cv = StratifiedKFold(len(self.folds), shuffle=True, random_state=0)
            settings["multi_class"] = options.multi_class or "auto"
            search = MaxMarginCV(Cs, cv, SCORERS[options.score][several], one_standard_error=True, **settings)
            return self._fitted(search, "Choosing C by cross-validation" if options.C is None else "Cross-validation")
        if options.C is not None:
            return self._fitted(MaxMargin(options.C, **settings), "Fitting")
        try:  # nothing was requested, and nothing can be compared
            return self._fitted(MaxMargin(np.inf, **settings), "Fitting")
        except NotSeparableError as error:
            self.proofs += [] if error.certificate is None else [error.certificate]
            return self._fitted(MaxMargin(1.0, **settings), "Fitting", ".soft")

    def _fitted(self, separator: Any, stage: str, ending: str = "") -> Any:
        """``ending``: of the checkpoint file."""
        progress: Callback | None = None
        if self.files is not None:
            separator, progress = self.files.with_checkpoint(separator, ending), GapOfPasses(self.files.X)
        elif self.tell is not None:
            progress = FitProgress(self._tell_of_all, stage, self.options.tol)
        self.separator = separator
        try:
            with limited_and_shown(separator, self.options.max_time, progress):
                separator.fit(self.X, self.table.y)
        except KeyboardInterrupt:
            if isinstance(separator, MaxMarginCV):  # what it holds then was not compared with anything
                self.separator = None
            raise
        return separator

    def _tell_of_all(self, stage: str, share: float | None, note: str) -> None:
        """The share of the model, as that of everything: as much time follows for separability."""
        assert self.tell is not None
        if share:
            elapsed = time.perf_counter() - self.start
            share = elapsed / (elapsed / share + self._budget(elapsed / share))
        self.tell(stage, share, note)

    def _budget(self, seconds: float) -> float:
        return self.options.max_time or max(seconds, SHORTEST_BUDGET)

    def cross_validate(self, separator: Any) -> None:
        found, score = self.found, self.options.score
        if isinstance(separator, MaxMarginCV):
            tested = separator.fold_ >= 0  # all rows, unless time was up
            if not tested.any():
                return
            values = separator.out_of_fold_decision_.reshape(self.table.n, -1)[tested]
            codes = (values[:, 0] > 0).astype(np.int64) if values.shape[1] == 1 else values.argmax(axis=1)
            out_of_fold = Answers(
                separator.classes_, self.folds.codes[tested], codes, values, separator.fold_[tested]
            )  # fmt: skip
            found.cv = CrossValidated(out_of_fold, score, chose=len(separator.Cs_))
        elif self.folds:
            stage = "Cross-validation"
            found.cv = cross_validated(separator, self.folds, self.options.max_time, self.tell, stage, score=score)

    def describe_model(self) -> None:
        found, table, separator = self.found, self.table, self.separator
        found.how, found.why = in_words(separator, self.options.score)
        names = vars(separator).pop("feature_names_in_", None)  # the rows are given without names
        if self.files is None:
            found.verification = verified(separator, self.X, table.y)
            found.train_accuracy = float(np.mean(separator.predict(self.X) == table.y))
        elif not found.interrupted:  # passes over the files take their time
            found.verification = verified_by_passes(separator, self.X)
            found.train_accuracy = correct_rows(separator, self.X) / table.n
        if found.cv is not None:
            weighted = self.options.class_weight is not None
            found.notes += raise_if_strict(about_answers(found.cv.answers, weighted), self.options.strict)
        found.model = Pipeline([*self.steps, ("separator", separator)])
        if names is not None or (self.files is None and table.framed and self.raw is not table.X):
            found.model.steps[0][1].feature_names_in_ = np.array(table.names, dtype=object)
        found.seconds = time.perf_counter() - self.start
        if self.options.test is not None:
            parts = {"target": table.target, "index_base": table.base, "encoding": table.encoding, **table.reading}
            held_out = read_for(ModelFile(found.model, {"data": parts}), self.options.test, labels="optional")
            found.notes += raise_if_strict(about_unseen(unseen(found.model, held_out), held_out), self.options.strict)
            found.notes += about_filled(missing_rows(held_out), held_out)
            found.test, found.tested_on_training = answers(found.model, held_out), held_out.digest == table.digest

    # separability and the hard margin

    def ask_separability(self) -> None:
        found, table = self.found, self.table
        found.budget = self._budget(found.seconds)
        self.end = time.perf_counter() + found.budget
        if self.tell is not None:
            self.tell("Is it separable?", found.seconds / (found.seconds + found.budget), "")
        if self.files is not None:
            proofs = [*self.proofs, *getattr(self.separator, "certificates_", ())]
            found.answer = separability_of(self.X, proofs, found.budget)
            return
        weak = len(self.classes) == 2  # several classes ask about every pair and a linear machine
        answer = separability(self.X, table.y, max_time=found.budget, check_quasi=weak)
        names = prepared_names(table, self.steps, self.X.shape[1])
        found.answer = answer.named(names, table.target, values=not self.options.scale)

    def fit_hard_margin(self) -> None:
        """The hard margin in the way of the model, or in another one in which it exists."""
        found, separator, C = self.found, self.separator, self.options.C
        if self.options.estimator is not None:
            return
        if getattr(separator, "C", getattr(separator, "C_", None)) == np.inf:
            found.hard, found.hard_verification = separator, found.verification
            return
        ways = [way for way, separable in separable_ways(found.answer).items() if separable]
        left = self.end - time.perf_counter()
        if C is not None or not ways or left <= 0:
            return
        if self.tell is not None:
            self.tell("Hard margin", (found.seconds + found.budget - left) / (found.seconds + found.budget), "")
        way = separator.multi_class_ if separator.multi_class_ in ways else ways[0]
        hard = MaxMargin(np.inf, multi_class=way, tol=self.options.tol, max_time=left)
        hard.fit(self.X, self.table.y, **(_start(found.answer) if way == "ovr" else {}))
        found.hard, found.hard_verification = hard, verified(hard, self.X, self.table.y)


def separable_ways(answer: Separability | None) -> dict[str, bool]:
    """In which ways hyperplanes separate all classes."""
    if answer is None or not answer.one_vs_rest:
        return {"ovr": answer is not None and answer.separable is True}
    return {
        "ovr": all(a.separable is True for a in answer.one_vs_rest.values()),
        "joint": answer.separable is True,
        "ovo": all(a.separable is True for a in answer.one_vs_one.values()),
    }


def in_words(separator: Any, score: str) -> tuple[str, list[str]]:
    """What the separator is, and how its C was chosen."""
    if not isinstance(separator, (MaxMargin, MaxMarginCV)):
        return type(separator).__name__, []
    C = separator.C_ if isinstance(separator, MaxMarginCV) else separator.C
    way = f", {WAYS[separator.multi_class_]}" if len(separator.classes_) > 2 else ""
    how = f"hard-margin linear SVM{way}" if np.isinf(C) else f"soft-margin linear SVM, C = {C:g}{way}"
    if not isinstance(separator, MaxMarginCV) or len(separator.Cs_) == 1:
        return how, []
    folds, count = separator.scores_.shape
    why = [f"{folds}-fold cross-validation over {count} values of C, one-standard-error rule"]
    means = np.abs(np.nan_to_num(separator.scores_, nan=-np.inf).mean(axis=0))
    best = int(np.argmax(np.round(np.nan_to_num(separator.scores_, nan=-np.inf).mean(axis=0), 12)))
    if separator.Cs_[best] != C:
        why.append(f"(best C = {separator.Cs_[best]:g}: {shown(score, float(means[best]))})")
    return how, why


def without_search(separator: Any) -> Any:
    """An estimator that is not fitted, with the C that was chosen: to fit it again costs one fit."""
    if not isinstance(separator, MaxMarginCV):
        return separator
    names = MaxMargin().get_params().keys() & separator.get_params().keys()
    params = {name: getattr(separator, name) for name in names}
    return MaxMargin(separator.C_, **{**params, "multi_class": separator.multi_class_})


def _start(answer: Separability | None) -> dict[str, Any]:
    """The hyperplanes that decided separability, one for each binary problem, to start the maximum margin from."""
    planes = []
    for part in [] if answer is None else list(answer.one_vs_rest.values()) or [answer]:
        if part.hyperplane is None or not part.separable:
            return {}
        planes.append(part.hyperplane)
    return {"coef_init": np.array([p.w for p in planes]), "intercept_init": np.array([p.b for p in planes])}
