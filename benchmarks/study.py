"""The study: every classifier on every data set, by nested cross-validation; ranks, times and certified margins.

    python -m benchmarks study [--smoke] [--out FOLDER] [--docs]

Five outer folds give the accuracy. Inside each, three inner folds choose the one parameter that matters from a tiny
grid (`GRIDS`); columns are standardised within the folds. An iterative fit has at most `SECONDS`, an online one at most
`EPOCHS` epochs. Times are processor time of the outer fits, without compilation. Margins are those of a fit to all
rows with the parameter that most folds chose. FOLDER/study.json is written after every cell, and a second run goes on
where the first was stopped. ``--docs`` writes docs/study.md and the numbers that its figures are drawn from.
"""

import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import separatrix
from benchmarks.race import machine
from benchmarks.study_data import SETS
from separatrix.estimators._fit.batch import IterativeClassifier
from separatrix.estimators._fit.online import OnlineClassifier
from separatrix.workflows.comparing import each_against_the_rest, plain_margins
from separatrix.workflows.known_algorithms import algorithms
from separatrix.workflows.watched import Deadline

OUTER, INNER = 5, 3
SECONDS = 1.0  # of the processor for one fit, where it can be stopped
EPOCHS = 100  # of online rules, at most; a default below it stays
NEVER = ("PerceptronLike",)  # has no rule of its own

COST = [1e-3, 1e-1, 1e1]
GRIDS: dict[str, dict[str, list[Any]]] = {  # the parameter that matters most; without an entry: the defaults
    "ALMA": {"alpha": [0.5, 0.7, 0.9]},
    "AROW": {"r": [0.1, 1.0, 10.0]},
    "BalancedWinnow": {"alpha": ["auto", 1.001, 1.01]},
    "CRAMMA": {"beta": [0.3, 1.0, 3.0]},
    "DynamicMargin": {"epsilon": [0.1, 0.5, 0.9]},
    "FixedMargin": {"beta": [0.001, 0.01, 0.1]},
    "FuzzyPerceptron": {"fuzz": [0.01, 0.1, 0.3]},
    "KernelMaxMargin": {"C": [0.1, 1.0, 10.0]},
    "LMS": {"eta": [0.1, 0.3, 1.0]},
    "MarginFuzzyPerceptron": {"width": [0.0, 0.1, 0.5]},
    "MaxMargin": {"C": COST},
    "MICRA": {"beta": [0.3, 1.0, 3.0]},
    "PassiveAggressive": {"C": [0.001, 0.03, 1.0]},
    "Pegasos": {"penalty": [1e-4, 1e-3, 1e-2]},
    "PiecewiseLinearMachine": {"n_pieces": [1, 2, 4]},
    "PNormPerceptron": {"p": ["auto", 2.0, 4.0]},
    "RecursiveLeastSquares": {"ridge": [1e-3, 1.0, 100.0]},
    "Relaxation": {"eta": [0.3, 1.0, 1.5]},
    "ROMMA": {"aggressive": [False, True]},
    "SCW": {"C": [0.1, 1.0, 10.0]},
    "SecondOrderPerceptron": {"ridge": [0.1, 1.0, 10.0]},
}
REFERENCES = {  # scikit-learn's
    "sklearn LinearSVC": (svm.LinearSVC(max_iter=10_000, random_state=0), {"C": COST}),
    "sklearn LogisticRegression": (linear_model.LogisticRegression(max_iter=1000), {"C": COST}),
    "sklearn Perceptron": (linear_model.Perceptron(max_iter=EPOCHS, random_state=0), {}),
    "sklearn RidgeClassifier": (linear_model.RidgeClassifier(), {"alpha": [0.1, 10.0, 1000.0]}),
    "sklearn SGDClassifier": (linear_model.SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-3, 1e-2]}),
}
# Ten that people choose between, fixed before anything was measured: fewer give a smaller critical difference.
SHORT_LIST = [
    "MaxMargin",
    "MaxMargin, hinge",
    "Perceptron",
    "Perceptron, averaged",
    "PassiveAggressive",
    "AROW",
    "LeastSquares",
    "sklearn LogisticRegression",
    "sklearn LinearSVC",
    "sklearn RidgeClassifier",
]

Entrant = tuple[Any, dict[str, list[Any]]]


def entrants() -> dict[str, Entrant]:
    """Names, estimators and grids: every public classifier, two variants, and scikit-learn's as reference."""
    found: dict[str, Entrant] = {}
    for algorithm in algorithms():
        if algorithm.name not in NEVER:
            found[algorithm.name] = (_limited(algorithm.cls()), GRIDS.get(algorithm.name, {}))
    found["MaxMargin, hinge"] = (separatrix.MaxMargin(loss="hinge"), GRIDS["MaxMargin"])
    found["Perceptron, averaged"] = (_limited(separatrix.Perceptron(average=True)), {})
    return found | REFERENCES


def _limited(estimator: Any) -> Any:
    if isinstance(estimator, OnlineClassifier) and estimator.max_epochs > EPOCHS:
        estimator.set_params(max_epochs=EPOCHS)
    return estimator


def fitted(estimator: Any, X: np.ndarray, y: np.ndarray) -> Any:
    estimator = clone(estimator)
    if isinstance(estimator, (OnlineClassifier, IterativeClassifier)):
        estimator.set_callbacks(Deadline(SECONDS, time.process_time))
    return estimator.fit(X, y)


def settings(grid: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [{name: value} for name, values in grid.items() for value in values] or [{}]


def folds(X: np.ndarray, y: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Standardised by what the training part says."""
    for train, test in StratifiedKFold(count, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def chosen(estimator: Any, grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The setting with the best mean accuracy in the inner folds; of equally good ones the first."""
    candidates = settings(grid)
    if len(candidates) == 1:
        return candidates[0]
    scores = np.zeros(len(candidates))
    for train, labels, test, truth in folds(X, y, INNER):
        for k, setting in enumerate(candidates):
            model = fitted(clone(estimator).set_params(**setting), train, labels)
            scores[k] += accuracy_score(truth, model.predict(test))
    return candidates[int(np.argmax(np.round(scores, 12)))]


def cell(estimator: Any, grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """One classifier on one data set."""
    few = np.concatenate([np.flatnonzero(y == c)[:20] for c in np.unique(y)])
    fitted(estimator, X[few], y[few])  # compiles
    told: dict[str, list[Any]] = {name: [] for name in ("accuracy", "balanced", "seconds", "setting", "converged")}
    for train, labels, test, truth in folds(X, y, OUTER):
        setting = chosen(estimator, grid, train, labels)
        clock = time.process_time()
        model = fitted(clone(estimator).set_params(**setting), train, labels)
        told["seconds"].append(round(time.process_time() - clock, 6))
        guess = model.predict(test)
        told["accuracy"].append(round(float(accuracy_score(truth, guess)), 6))
        told["balanced"].append(round(float(balanced_accuracy_score(truth, guess)), 6))
        told["setting"].append(setting)
        told["converged"].append(bool(getattr(model, "converged_", True)))
    most = json.loads(Counter(map(json.dumps, told["setting"])).most_common(1)[0][0])
    return {**told, **margins(fitted(clone(estimator).set_params(**most), *standardised(X, y)), *standardised(X, y))}


def standardised(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return StandardScaler().fit_transform(X), y


def margins(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The smallest margin that the vectors reach, and the smallest upper bound that the fit itself proves."""
    reached = plain_margins(model, each_against_the_rest(X, y))
    certificate = getattr(model, "certificate_", None)
    upper = getattr(certificate, "upper", None)
    return {"margin": None if reached is None else min(reached), "upper": None if upper is None else float(upper)}


def described(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Size, the rarest class, and separability with proof: each class against the rest."""
    counts = np.unique(y, return_counts=True)[1]
    Z, _ = standardised(X, y)
    classes = np.unique(y)
    sides = [y == c for c in (classes[1:] if len(classes) == 2 else classes)]
    answers = [separatrix.separability(Z, side) for side in sides]
    told = {"n": len(y), "d": X.shape[1], "classes": len(counts), "rarest": float(counts.min() / len(y))}
    told |= {
        "problems": len(answers),
        "separable": [a.separable for a in answers],
        "exact": all(a.exact for a in answers),
    }
    if all(a.separable for a in answers):
        best = [separatrix.MaxMargin(C=np.inf).fit(Z, side).certificate_ for side in sides]
        told |= {"lower": min(c.lower for c in best), "upper": min(c.upper for c in best)}
    return told


def measure(smoke: bool, file: Path) -> dict[str, Any]:
    """Every cell that the file does not have; a smoke run takes two sets and four classifiers."""
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"sets": {}, "cells": {}}
    found["setting"] = machine()
    names = ["iris", "two far blobs"] if smoke else list(SETS)
    everyone = entrants()
    if smoke:
        everyone = {name: everyone[name] for name in ("MaxMargin", "Perceptron", "LeastSquares", "sklearn LinearSVC")}
    file.parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        kind, make = SETS[name]
        known = found["cells"].setdefault(name, {})
        if name in found["sets"] and set(everyone) <= set(known):
            continue
        X, y = make()
        clock = time.process_time()
        if name not in found["sets"]:
            found["sets"][name] = {"kind": kind, **described(X, y)}
        for who, (estimator, grid) in everyone.items():
            if who not in known:
                known[who] = _tried(estimator, grid, X, y)
                partial = file.with_suffix(".part")
                partial.write_text(json.dumps(found))
                partial.replace(file)
        print(f"{name}: {X.shape[0]} x {X.shape[1]}, {time.process_time() - clock:.0f} s", flush=True)
    return found


def _tried(estimator: Any, grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fit did not converge is a column
        try:
            return cell(estimator, grid, X, y)
        except (ValueError, MemoryError) as error:
            return {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}


def study(options: Any) -> None:
    """What ``python -m benchmarks study`` does."""
    measure(options.smoke, options.out / "study.json")
