"""Folds whose preparation learns from the training part alone, and how a separator predicts the rows they leave out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from separatrix.app.workflows.options import Tell
from separatrix.app.workflows.out_of_fold import Answers, decisions, shown
from separatrix.app.workflows.progress import limited_and_shown


@dataclass
class CrossValidated:
    """Out-of-fold answers of a model; ``score`` names the one of SCORES that the folds are judged by."""

    answers: Answers
    score: str = "accuracy"
    chose: int = 0  # the number of values of C from which it was chosen

    @property
    def folds(self) -> list[float]:
        return self.answers.by_fold(self.score).tolist()

    @property
    def mean(self) -> float:
        return float(np.mean(self.folds))

    @property
    def spread(self) -> float:
        return float(np.std(self.folds))

    def __str__(self) -> str:
        mean, spread = (shown(self.score, value) for value in (self.mean, self.spread))
        return f"{mean} ± {spread.removesuffix('%')} ({len(self.folds)} folds)"


Part = tuple[Any, np.ndarray, Any, np.ndarray]  # prepared rows and labels for training, and the test's rows and places


class Folds:
    """Rows and the steps that prepare them, cut into parts: as many as every class has rows for, none below two."""

    def __init__(self, X: Any, y: np.ndarray, steps: list[Any], wanted: int):
        self.X, self.y, self.steps = X, y, steps
        self.classes, self.codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        count = min(wanted, int(counts.min()))
        self.count = count if count >= 2 else 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Part]:
        if not self.count:
            return
        parts = StratifiedKFold(self.count, shuffle=True, random_state=0)
        for train, test in parts.split(np.zeros(len(self.y)), self.y):
            X, rest = self.X[train], self.X[test]
            if self.steps:
                prepare = clone(Pipeline(self.steps))
                X, rest = prepare.fit_transform(X), prepare.transform(rest)
            yield X, self.y[train], rest, test


def cross_validated(
    separator: Any,
    folds: Folds,
    max_time: float | None = None,
    tell: Tell | None = None,
    stage: str = "",
    parts: list[Part] | None = None,
    score: str = "accuracy",
) -> CrossValidated:
    """How a separator fares with rows that it was not fitted on; ``parts``: the folds, where they are made already."""

    n, c = len(folds.y), len(folds.classes)
    fold, predicted = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    decision: Any = np.empty((n, 1 if c == 2 else c))
    for k, (X, y, test, places) in enumerate(folds if parts is None else parts):
        model = clone(separator)
        with limited_and_shown(model, max_time):
            model.fit(X, y)
        fold[places] = k
        predicted[places] = np.searchsorted(folds.classes, model.predict(test))
        values = decisions(model, test)
        if values is None or decision is None:
            decision = None
        else:
            decision[places] = values
        if tell is not None:
            tell(stage, (k + 1) / len(folds), f"fold {k + 1} of {len(folds)}")
    return CrossValidated(Answers(folds.classes, folds.codes, predicted, decision, fold), score)
