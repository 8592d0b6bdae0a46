"""Folds whose preparation learns from the training part alone, and the choice of C and of the way of many classes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from separatrix.app.workflows.asked import Options, Tell
from separatrix.app.workflows.out_of_fold import SCORES, Answers, decisions, shown
from separatrix.app.workflows.watched import watched
from separatrix.errors import NotSeparableError
from separatrix.estimators.max_margin import MaxMargin, max_margin_path

POWERS = np.arange(-3.0, 5.0)  # of ten: the values of C that are tried, in units of 1/mean |x|^2
COMPARING_GAP = 1e-3  # gap that is good enough to compare values of C
WAYS = {  # of telling several classes apart
    "ovr": "each class against the rest",
    "joint": "one linear machine for all classes",
    "ovo": "each pair of classes",
}
EVERY = {"ovr": 1, "joint": 2, "ovo": 2}  # the ways of many classes, the simplest first; the dear ones try fewer C


@dataclass
class CrossValidated:
    """Out-of-fold answers of a model; ``score`` names the one of SCORES that the folds are judged by."""

    answers: Answers
    score: str = "accuracy"
    chose: int = 0  # the number of candidates from which it was chosen

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


@dataclass(frozen=True)
class Candidate:
    """A maximum margin that might predict best."""

    multi_class: str
    C: float

    def __str__(self) -> str:
        return "the hard margin" if np.isinf(self.C) else f"C = {self.C:g}"


@dataclass(frozen=True)
class Choice:
    """What was compared and taken: scores of shape (folds, candidates), larger is better."""

    candidates: list[Candidate]
    scores: np.ndarray
    taken: int
    best: int
    hard: int | None  # the hard margin in the way that was taken, where it was compared

    @property
    def candidate(self) -> Candidate:
        return self.candidates[self.taken]

    def mean(self, place: int) -> float:
        return float(np.mean(self.scores[:, place]))


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

    def fit(X: Any, y: np.ndarray) -> list[Any]:
        model = clone(separator)
        with watched(model, max_time):
            return [model.fit(X, y)]

    return CrossValidated(_answers(folds, fit, 1, tell, stage, parts)[0], score)


def choose(
    X: Any, folds: Folds, options: Options, separable: dict[str, bool], tell: Tell | None, stage: str
) -> tuple[Choice, CrossValidated]:
    """The simplest of the maximum margins whose score is within one standard error of the best one.

    Simpler is the way of many classes with fewer hyperplanes, then the smaller C, which has the wider margin.
    ``separable``: the ways that are tried, and whether the hard margin, C = inf, is the end of their paths. ``X``: all
    rows, prepared, whose size tells which values to try.
    """
    values = [options.C] if options.C is not None else _values(X)
    paths = {way: values[:: EVERY[way]] if len(separable) > 1 else values for way in EVERY if way in separable}
    if options.C is None:
        paths = {way: [*path, np.inf] if separable[way] else path for way, path in paths.items()}
    candidates = [Candidate(way, C) for way, path in paths.items() for C in path]

    def fit(X: Any, y: np.ndarray) -> list[Any]:
        settings = {"tol": COMPARING_GAP, "max_time": options.max_time, "class_weight": options.class_weight}
        return [model for way, path in paths.items() for model in _path(X, y, way, path, settings)]

    answers = _answers(folds, fit, len(candidates), tell, stage)
    sign = -1.0 if options.score == "log-loss" else 1.0
    scores = sign * np.column_stack([a.by_fold(options.score) if a else np.full(len(folds), -np.inf) for a in answers])
    means = np.nan_to_num(np.round(scores.mean(axis=0), 12), nan=-np.inf)
    best = int(np.argmax(means))
    error = float(np.std(scores[:, best], ddof=1)) / np.sqrt(len(scores))
    taken = int(np.argmax(means >= means[best] - error))
    hard = Candidate(candidates[taken].multi_class, np.inf)
    compared = hard in candidates and np.isfinite(means[candidates.index(hard)])
    choice = Choice(candidates, sign * scores, taken, best, candidates.index(hard) if compared else None)
    return choice, CrossValidated(answers[taken], options.score, chose=len(candidates))


def _path(X: Any, y: np.ndarray, way: str, values: list[float], settings: dict[str, Any]) -> list[Any]:
    """The models of a path, in the order of values that grow; None for a hard margin that these rows do not have."""
    settings = {**settings, "multi_class": way}
    soft, hard = [C for C in values if np.isfinite(C)], values[-1:] if np.isinf(values[-1]) else []
    if way == "ovo":  # its members are problems of different rows, which share no path
        return [*(MaxMargin(C, **settings).fit(X, y) for C in soft), *(_hard(X, y, settings) for _ in hard)]
    try:
        return max_margin_path(X, y, values, **settings)
    except NotSeparableError:  # rows that were filled in otherwise than in all of the data
        return [*max_margin_path(X, y, soft, **settings), None] if hard else [None]


def _hard(X: Any, y: np.ndarray, settings: dict[str, Any]) -> Any:
    try:
        return MaxMargin(np.inf, **settings).fit(X, y)
    except NotSeparableError:
        return None


def _answers(
    folds: Folds,
    fit: Callable[[Any, Any], list[Any]],
    models: int,
    tell: Tell | None,
    stage: str,
    parts: list[Part] | None = None,
) -> list[Any]:
    """Out-of-fold `Answers`, one for each of the models that ``fit`` makes of a fold; None where a fold has none."""
    n, c = len(folds.y), len(folds.classes)
    fold = np.zeros(n, dtype=np.int64)
    predicted = np.zeros((models, n), dtype=np.int64)
    decision: list[Any] = [np.empty((n, 1 if c == 2 else c)) for _ in range(models)]
    absent: set[int] = set()
    for k, (X, y, test, places) in enumerate(folds if parts is None else parts):
        fold[places] = k
        for m, model in enumerate(fit(X, y)):
            if model is None:
                absent.add(m)
                continue
            predicted[m, places] = np.searchsorted(folds.classes, model.predict(test))
            values = decisions(model, test)
            if values is None or decision[m] is None:
                decision[m] = None
            else:
                decision[m][places] = values
        if tell is not None:
            tell(stage, (k + 1) / len(folds), f"fold {k + 1} of {len(folds)}")
    return [
        None if m in absent else Answers(folds.classes, folds.codes, predicted[m], decision[m], fold)
        for m in range(models)
    ]


def _values(X: Any) -> list[float]:
    """Values of C for data of this size: powers of ten over mean |x|^2, rounded to one digit."""
    values = X.data if hasattr(X, "indptr") else np.ravel(X)
    size = float(np.einsum("i,i->", values, values, dtype=np.float64)) / X.shape[0] + 1.0
    return [float(f"{10.0**p / size:.0e}") for p in POWERS]


def in_words(choice: Choice, score: str) -> str:
    """Why this one: what it reaches, beside the best and the hard margin."""
    taken, best = choice.candidate, choice.candidates[choice.best]
    means = [round(choice.mean(k), 12) for k in range(len(choice.candidates))]
    equal = means.count(means[choice.best])
    if taken is not best:
        way = "" if best.multi_class == taken.multi_class else f", {WAYS[best.multi_class]},"
        other = f"{best}{way} has {shown(score, choice.mean(choice.best))}"
        why = f", the simplest within one standard error of the best ({other})"
    elif len(means) == 1:
        why = ""
    else:
        why = f", the simplest of {equal} that are equally good" if equal > 1 else f", the best of {len(means)} tried"
    told = [f"{SCORES[score]} {shown(score, choice.mean(choice.taken))}{why}"]
    if choice.hard is not None and choice.hard not in (choice.best, choice.taken):
        told.append(f"the hard margin has {shown(score, choice.mean(choice.hard))}")
    return "; ".join(told)
