"""A model's answers for new data, alone or beside the true labels."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from separatrix.app.saved_models import ids_of, read_classifier, read_for, unseen, used
from separatrix.app.tables.prepare import missing_rows
from separatrix.app.tables.table import Table
from separatrix.app.workflows.advice import about_filled, about_unseen
from separatrix.app.workflows.out_of_fold import Answers, decisions
from separatrix.app.workflows.verifying import label_words
from separatrix.errors import DataError, ModelError
from separatrix.fit.calibration import Calibration
from separatrix.persistence.files import ModelFile


@dataclass(frozen=True)
class Predictions:
    """Columns by their names, of as many values as there are rows: identifiers, the predicted classes, and numbers."""

    columns: dict[str, list[Any]]
    notes: list[str] = field(default_factory=list)  # what a reader of the predictions should know
    filled: list[str] = field(default_factory=list)  # what was filled in, as the fit was asked to

    @property
    def formula(self) -> str | None:
        """A label, name or identifier that a spreadsheet would take for a formula."""
        texts = {value for values in self.columns.values() for value in values if isinstance(value, str)}
        words = [*self.columns, *sorted(texts)]
        return next((word for word in words if word.startswith(("=", "+", "-", "@", "\t", "\r"))), None)


def predict(
    model: str | Path,
    data: Any,
    *,
    decision: bool = False,
    probabilities: bool = False,
    id: str | None = None,
    **reading: Any,
) -> Predictions:
    """The classes of new data; options as in `read_table`.

    Parameters
    ----------
    model : str or Path
    data : Table, str or Path
    decision, probabilities : bool, default=False
        Add the scores, or the calibrated probability of each class.
    id : str or None, default=None
        A column that is carried to the predictions; None: the one that the fit used, where the data have it.
    """
    file = read_classifier(model)
    with used(model):
        table = read_for(file, data, labels="ignored", id=id, **reading)
        found = file.model.predict(table.X)
        columns = {**ids_of(table), "prediction": found.tolist()}
        if decision:
            values = np.asarray(file.model.decision_function(table.X))
            names = ["decision"] if values.ndim == 1 else [f"decision_{c}" for c in file.model.classes_]
            columns.update(zip(names, values.reshape(len(found), -1).T.tolist(), strict=True))
        if probabilities:
            names = [f"probability_{c}" for c in file.model.classes_]
            columns.update(zip(names, _probabilities(model, file, table.X).T.tolist(), strict=True))
        return Predictions(columns, about_unseen(unseen(file.model, table), table), _filled(table))


class Scored(NamedTuple):
    """Predictions beside the labels, and what a reader should know."""

    answers: Answers
    notes: list[str]
    filled: list[str]


def score(model: str | Path, data: Any, **reading: Any) -> Scored:
    """Predictions beside the labels of a table, which are compared as text where their types differ."""
    file = read_classifier(model)
    with used(model):
        table = read_for(file, data, labels="optional", **reading)
        notes = about_unseen(unseen(file.model, table), table)
        if (file.provenance.get("data") or {}).get("sha256") == table.digest:
            notes.append("The model was fitted on these rows: training scores, not what to expect of new rows.")
        return Scored(answers(file.model, table), notes, _filled(table))


def _filled(table: Table) -> list[str]:
    """Of a table that a model takes: where values are missing, the model fills them in."""
    return about_filled(missing_rows(table), table)


def answers(model: Any, table: Table) -> Answers:
    """Predictions beside the labels of a table that has the columns of the model."""
    if table.y is None:
        raise DataError(f"{table.source} has no column {table.target!r} to compare with: name it with --target.")
    found, truth, classes = (np.asarray(a) for a in (model.predict(table.X), table.y, model.classes_))
    if truth.dtype.kind != classes.dtype.kind:
        found, truth, classes = (label_words(a) for a in (found, truth, classes))
    labels = np.unique(np.concatenate([classes, truth]))
    scores = decisions(model, table.X) if np.array_equal(labels, classes) else None
    return Answers(labels, np.searchsorted(labels, truth), np.searchsorted(labels, found), scores)


def _probabilities(path: str | Path, file: ModelFile, X: Any) -> np.ndarray:
    """Calibrated by what the file holds, or the model's own."""
    if "calibration" not in file.provenance and hasattr(file.model, "predict_proba"):
        return np.asarray(file.model.predict_proba(X))
    scores = decisions(file.model, X)
    if "calibration" not in file.provenance or scores is None:
        raise ModelError(
            f"{path} holds no calibration. `separatrix fit --save` writes one with every model that it cross-validates "
            "(--cv 2 or more); in Python use scikit-learn's CalibratedClassifierCV."
        )
    parts = Calibration.from_dict(file.provenance["calibration"], scores.shape[1], len(file.model.classes_))
    return parts.probabilities(scores)
