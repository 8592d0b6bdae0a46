"""Answers for rows that a model was not fitted on, and the scores that people expect of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    f1_score,
    precision_recall_fscore_support,
    roc_auc_score,
)

from separatrix.fit.calibration import Calibration, calibrate

SCORES = {  # the name of an option, and what people call it
    "accuracy": "accuracy",
    "balanced": "balanced accuracy",
    "f1": "F1, mean over the classes",
    "auc": "area under the ROC curve",
    "log-loss": "log loss",
}
SCORERS = {  # scikit-learn's names of them, for two classes and for more
    "accuracy": ("accuracy", "accuracy"),
    "balanced": ("balanced_accuracy", "balanced_accuracy"),
    "f1": ("f1_macro", "f1_macro"),
    "auc": ("roc_auc", "roc_auc_ovr"),
    "log-loss": ("neg_log_loss", "neg_log_loss"),
}
SHARES = ("accuracy", "balanced")  # shown in percent


@dataclass(frozen=True)
class ClassScore:
    """How one class fares: of the rows predicted to be of it, and of its own rows, the share that is right."""

    name: str
    precision: float
    recall: float
    f1: float
    rows: int


@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions beside the truth, as numbers of classes; ``decision`` of shape (n, k) where a model has scores.

    ``fold``: the part of the data that each row was left out with, None where the rows were never part of a fit.
    """

    classes: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    decision: np.ndarray | None = None
    fold: np.ndarray | None = None

    def score(self, name: str, rows: Any = slice(None)) -> float:
        """One of SCORES, of some of the rows; nan where it has no meaning there."""
        truth, predicted = self.truth[rows], self.predicted[rows]
        if name == "accuracy":
            return float(np.mean(truth == predicted))
        if name == "f1":
            return float(f1_score(truth, predicted, average="macro", zero_division=0.0))
        if name == "balanced":
            return float(np.mean([np.mean(predicted[truth == c] == c) for c in np.unique(truth)]))
        if self.decision is None:
            return np.nan
        if name == "auc":
            return self._area(roc_auc_score, rows)
        if name == "log-loss":
            return self._log_loss(rows)
        raise KeyError(name)

    @property
    def baseline(self) -> "Answers":
        """The same rows, if the answer is always the commonest class."""
        return replace(self, predicted=np.full_like(self.truth, np.bincount(self.truth).argmax()), decision=None)

    @property
    def has_learned(self) -> bool:
        """Whether the classes are distinguished better than by always answering the commonest one.

        The accuracy is higher by more than a standard error, or the balanced accuracy by more than two: a model that
        finds a rare class may be less accurate than one that never does.
        """
        share, counts = self.baseline.score("accuracy"), np.bincount(self.truth)
        recall = np.array([np.mean(self.predicted[self.truth == c] == c) for c in np.flatnonzero(counts)])
        error = np.sqrt(np.sum(recall * (1 - recall) / counts[counts > 0])) / len(recall)
        better = self.score("accuracy") > share + np.sqrt(share * (1 - share) / len(self.truth))
        return bool(better or np.mean(recall) > 1.0 / len(recall) + 2.0 * error)

    def by_fold(self, name: str) -> np.ndarray:
        assert self.fold is not None
        return np.array([self.score(name, self.fold == k) for k in np.unique(self.fold)])

    def _area(self, area: Any, rows: Any = slice(None)) -> float:
        """An area under curves: of two classes that of the second, of more the mean of each against the rest."""
        truth, found = self.truth[rows], []
        for c, ranking in self.rankings(rows).items():
            if 0 < np.count_nonzero(truth == c) < len(truth):
                found.append(float(area(truth == c, ranking)))
        return float(np.mean(found)) if found else np.nan

    def rankings(self, rows: Any = slice(None)) -> dict[int, np.ndarray]:
        """What ranks rows by how much they look like a class: its score, of several its lead over the best other one.

        Of two classes the second stands for both.
        """
        assert self.decision is not None
        decision = self.decision[rows]
        if decision.shape[1] == 1:
            return {1: decision[:, 0]}
        best = np.sort(decision, axis=1)[:, -2:]
        rival = np.where(decision == best[:, 1:], best[:, :1], best[:, 1:])
        return dict(enumerate((decision - rival).T))

    def _log_loss(self, rows: Any) -> float:
        """Of probabilities that are calibrated on the other rows, so that none judges itself."""
        others = np.ones(len(self.truth), dtype=bool)
        others[rows] = False
        assert self.decision is not None
        if len(np.unique(self.truth[others])) < len(self.classes):
            return np.nan
        calibration = calibrate(self.decision[others], self.truth[others], self.classes)
        chance = calibration.probabilities(self.decision[rows])
        own = chance[np.arange(len(chance)), self.truth[rows]]
        return float(-np.mean(np.log(np.maximum(own, np.finfo(float).tiny))))

    @cached_property
    def confusion(self) -> np.ndarray:
        """``confusion[i, j]``: rows of the class i that were taken for j."""
        return confusion_matrix(self.truth, self.predicted, labels=np.arange(len(self.classes)))

    @cached_property
    def by_class(self) -> list[ClassScore]:
        codes = np.arange(len(self.classes))
        parts = precision_recall_fscore_support(self.truth, self.predicted, labels=codes, zero_division=0.0)
        return [
            ClassScore(str(name), float(p), float(r), float(f), int(n))
            for name, p, r, f, n in zip(self.classes, *parts, strict=True)
        ]

    @cached_property
    def summary(self) -> dict[str, float]:
        """Every score that has a meaning, of all rows together."""
        found = {name: self.score(name) for name in ("accuracy", "balanced", "f1", "auc")}
        if self.decision is not None:
            found["average precision"] = self._area(average_precision_score)
        return {name: value for name, value in found.items() if not np.isnan(value)}

    @property
    def mistaken(self) -> list[tuple[str, str, int]]:
        """Pairs of a class and what it was taken for, with their counts, the most frequent first."""
        counts = self.confusion.copy()
        np.fill_diagonal(counts, 0)
        order = np.argsort(-counts, axis=None, kind="stable")[: np.count_nonzero(counts)]
        places = (np.unravel_index(place, counts.shape) for place in order)
        return [(str(self.classes[i]), str(self.classes[j]), int(counts[i, j])) for i, j in places]

    def calibration(self) -> Calibration | None:
        """From scores to probabilities, learned from all of these rows."""
        if self.decision is None or len(np.unique(self.truth)) < len(self.classes):
            return None
        return calibrate(self.decision, self.truth, self.classes)


def shown(name: str, value: float) -> str:
    return f"{100 * value:.1f}%" if name in SHARES else f"{value:.3f}"


def decisions(model: Any, X: Any) -> np.ndarray | None:
    """Scores of shape (n, 1) for two classes or (n, classes); None where a model has none of this kind."""
    try:
        values = np.asarray(model.decision_function(X), dtype=np.float64)
    except (AttributeError, NotImplementedError):
        return None
    values = values.reshape(len(values), -1)
    return values if values.shape[1] == (1 if len(model.classes_) == 2 else len(model.classes_)) else None
