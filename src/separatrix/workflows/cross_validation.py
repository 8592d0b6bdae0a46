"""Folds whose preparation learns from the training part alone, and the choice of C by them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from separatrix.estimators.max_margin import max_margin_path
from separatrix.workflows.asked import Tell
from separatrix.workflows.watched import watched

POWERS = np.arange(-3.0, 5.0)  # of ten: the values of C that are tried, in units of 1/mean |x|^2
ROUGH = 1e-3  # gap that is good enough to compare values of C


@dataclass
class Accuracy:
    """Accuracies of the folds of a cross-validation; ``chose``: the best of so many values of C, chosen by it."""

    folds: list[float]
    chose: int = 0

    @property
    def mean(self) -> float:
        return float(np.mean(self.folds))

    @property
    def spread(self) -> float:
        return float(np.std(self.folds))

    def __str__(self) -> str:
        best = f", the best of {self.chose} values of C" if self.chose else ""
        return f"{100 * self.mean:.1f}% ± {100 * self.spread:.1f} ({len(self.folds)} folds{best})"


Part = tuple[Any, np.ndarray, Any, np.ndarray]  # prepared rows and labels for training, and for the test


class Folds:
    """Rows and the steps that prepare them, cut into parts: as many as every class has rows for, none below two."""

    def __init__(self, X: Any, y: np.ndarray, steps: list[Any], wanted: int):
        self.X, self.y, self.steps = X, y, steps
        count = min(wanted, int(np.unique(y, return_counts=True)[1].min()))
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
            yield X, self.y[train], rest, self.y[test]


Parts = Folds | list[Part]


def cross_validated(
    separator: Any, folds: Parts, max_time: float | None = None, tell: Tell | None = None, stage: str = ""
) -> Accuracy:
    """How a separator fares with rows that it was not fitted on."""

    def fit(X: Any, y: np.ndarray) -> list[Any]:
        model = clone(separator)
        with watched(model, max_time):
            return [model.fit(X, y)]

    return Accuracy(_scores(folds, fit, tell, stage)[:, 0].tolist())


def choose_c(X: Any, folds: Parts, max_time: float | None, tell: Tell | None, stage: str) -> tuple[float, Accuracy]:
    """The C of the best cross-validated accuracy; of equally good ones the smallest, which has the widest margin.

    ``X``: all rows, prepared, whose size tells which values to try.
    """
    values = _candidates(X)
    scores = _scores(folds, lambda X, y: max_margin_path(X, y, values, tol=ROUGH, max_time=max_time), tell, stage)
    best = int(np.argmax(np.round(scores.mean(axis=0), 12)))
    return values[best], Accuracy(scores[:, best].tolist(), chose=len(values))


def _scores(folds: Parts, fit: Callable[[Any, Any], list[Any]], tell: Tell | None, stage: str) -> np.ndarray:
    """Accuracies of shape (folds, models), where ``fit`` makes the models of a fold."""
    found: list[list[float]] = []
    for X, y, test, truth in folds:
        found.append([float(np.mean(model.predict(test) == truth)) for model in fit(X, y)])
        if tell is not None:
            tell(stage, len(found) / len(folds), f"fold {len(found)} of {len(folds)}")
    return np.array(found)


def _candidates(X: Any) -> list[float]:
    """Values of C for data of this size: powers of ten over mean |x|^2, rounded to one digit."""
    values = X.data if hasattr(X, "indptr") else np.ravel(X)
    size = float(np.einsum("i,i->", values, values, dtype=np.float64)) / X.shape[0] + 1.0
    return [float(f"{10.0**p / size:.0e}") for p in POWERS]
