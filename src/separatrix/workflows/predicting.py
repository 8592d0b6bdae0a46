"""A model's answers for new data, alone or beside the true labels."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from separatrix.errors import DataError
from separatrix.io.model.apply import read_classifier, read_for, used
from separatrix.workflows.verifying import label_words


@dataclass(frozen=True)
class Predictions:
    """Columns by their names, of as many values as there are rows: the predicted classes, and decision values."""

    columns: dict[str, list[Any]]

    @property
    def formula(self) -> str | None:
        """A label or name that a spreadsheet would take for a formula."""
        words = [*self.columns, *{label for label in self.columns["prediction"] if isinstance(label, str)}]
        return next((word for word in words if word.startswith(("=", "+", "-", "@", "\t", "\r"))), None)


@dataclass(frozen=True)
class Score:
    """How many rows are right; ``confusion[i, j]``: rows of the class i that were taken for j."""

    rows: int
    right: int
    classes: np.ndarray
    confusion: np.ndarray


def predict(model: str | Path, data: Any, *, decision: bool = False, **reading: Any) -> Predictions:
    """The classes of new data; ``decision``: and the decision values. Options as in `read_table`."""
    file = read_classifier(model)
    with used(model):
        table = read_for(file, data, labels="ignored", **reading)
        found = file.model.predict(table.X)
        columns = {"prediction": found.tolist()}
        if decision:
            values = np.asarray(file.model.decision_function(table.X))
            names = ["decision"] if values.ndim == 1 else [f"decision_{c}" for c in file.model.classes_]
            columns.update(zip(names, values.reshape(len(found), -1).T.tolist(), strict=True))
    return Predictions(columns)


def score(model: str | Path, data: Any, **reading: Any) -> Score:
    """Predictions beside the labels of the table, which are compared as text where their types differ."""
    file = read_classifier(model)
    with used(model):
        table = read_for(file, data, labels="optional", **reading)
        if table.y is None:
            raise DataError(f"{table.source} has no column {table.target!r} to compare with: name it with --target.")
        found, truth, classes = (np.asarray(a) for a in (file.model.predict(table.X), table.y, file.model.classes_))
        if truth.dtype.kind != classes.dtype.kind:
            found, truth, classes = (label_words(a) for a in (found, truth, classes))
        labels = np.unique(np.concatenate([classes, truth]))
        counts = confusion_matrix(truth, found, labels=labels)
    return Score(len(found), int(np.sum(found == truth)), labels, counts)
