"""The study: every classifier on every data set, by nested cross-validation; ranks, times and certified margins.

    python -m benchmarks study [--smoke] [--out FOLDER] [--docs]

Five outer folds give the accuracy. Inside each, three inner folds choose the one parameter that matters from a tiny
grid (`GRIDS`); columns are standardised within the folds. What iterates has at most `EPOCHS`. Times are processor time
of the outer fits, without compilation. Margins are those of a fit to all rows with the parameter that most folds chose.
FOLDER/study.json is written after every cell, and a second run goes on where the first was stopped. ``--docs`` measures
nothing: it writes docs/study.md, and the numbers that its figures are drawn from, from what FOLDER has.
"""

import json
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context, linear_model, svm
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import separatrix
from benchmarks.race import machine
from benchmarks.study_data import SETS
from separatrix.app.workflows.comparing import each_against_the_rest, plain_margins
from separatrix.app.workflows.known_algorithms import algorithms
from separatrix.fit.batch import IterativeClassifier
from separatrix.fit.online import OnlineClassifier

OUTER, INNER = 5, 3
EPOCHS = {  # at most, where the default is more
    OnlineClassifier: 50,
    IterativeClassifier: 200,
    separatrix.SecondOrderPerceptron: 10,  # as AROW and SCW: an update costs d^2
    separatrix.PiecewiseLinearMachine: 50,
}
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
    "PNormALMA": {"p": ["auto", 2.0, 4.0]},
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
    "sklearn Perceptron": (linear_model.Perceptron(random_state=0), {}),
    "sklearn RidgeClassifier": (linear_model.RidgeClassifier(), {"alpha": [0.1, 10.0, 1000.0]}),
    "sklearn SGDClassifier": (linear_model.SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-3, 1e-2]}),
}
# Ten that people choose between, fixed before anything was measured: fewer give a smaller critical difference.
SHORT_LIST = [
    "MaxMargin",
    "MaxMargin (hinge)",
    "Perceptron",
    "Perceptron (averaged)",
    "PassiveAggressive",
    "AROW",
    "LeastSquares",
    "sklearn LogisticRegression",
    "sklearn LinearSVC",
    "sklearn RidgeClassifier",
]

Entrant = tuple[Any, dict[str, list[Any]]]
Whole = tuple[np.ndarray, np.ndarray, list[Any]]  # all rows, standardised, their labels, and the problems they make


def entrants() -> dict[str, Entrant]:
    """Names, estimators and grids: every public classifier, two variants, and scikit-learn's as reference."""
    found: dict[str, Entrant] = {}
    for algorithm in algorithms():
        if algorithm.name not in NEVER:
            found[algorithm.name] = (_limited(algorithm.cls()), GRIDS.get(algorithm.name, {}))
    found["MaxMargin (hinge)"] = (separatrix.MaxMargin(loss="hinge"), GRIDS["MaxMargin"])
    found["Perceptron (averaged)"] = (_limited(separatrix.Perceptron(average=True)), {})
    return found | REFERENCES


def _limited(estimator: Any) -> Any:
    limits = [most for kind, most in EPOCHS.items() if isinstance(estimator, kind)]
    if limits and (estimator.max_iter is None or estimator.max_iter > min(limits)):
        estimator.set_params(max_iter=min(limits))
    if isinstance(estimator, OnlineClassifier):
        estimator.set_params(until="separated")  # as in the results that the page shows
    if isinstance(estimator, separatrix.PiecewiseLinearMachine):
        estimator.set_params(n_init=2)
    return estimator


def settings(grid: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [{name: value} for name, values in grid.items() for value in values] or [{}]


Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # rows and labels to fit, rows and labels to predict
Fold = tuple[Part, list[Part]]  # an outer part, and the inner ones of its training rows


def folds(X: np.ndarray, y: np.ndarray, count: int) -> list[Part]:
    """Standardised by what the training part says."""
    parts = []
    for train, test in StratifiedKFold(count, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        parts.append((scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]))
    return parts


def nested(X: np.ndarray, y: np.ndarray) -> list[Fold]:
    """The outer folds, each with the inner ones of its training part; made once for all classifiers."""
    splits = StratifiedKFold(OUTER, shuffle=True, random_state=0).split(X, y)
    return [
        (part, folds(X[train], y[train], INNER)) for part, (train, _) in zip(folds(X, y, OUTER), splits, strict=True)
    ]


def chosen(estimator: Any, candidates: list[dict[str, Any]], inner: list[Part]) -> dict[str, Any]:
    """The setting with the best mean accuracy in the inner folds; of equally good ones the first."""
    if len(candidates) == 1:
        return candidates[0]
    scores = np.zeros(len(candidates))
    for train, labels, test, truth in inner:
        for k, setting in enumerate(candidates):
            model = clone(estimator).set_params(**setting).fit(train, labels)
            scores[k] += np.mean(model.predict(test) == truth)
    return candidates[int(np.argmax(np.round(scores, 12)))]


def cell(estimator: Any, grid: dict[str, list[Any]], parts: list[Fold], whole: Whole) -> dict[str, Any]:
    """One classifier on one data set."""
    scores_of: dict[str, list[Any]] = {name: [] for name in ("accuracy", "balanced", "seconds", "setting", "converged")}
    for k, ((train, labels, test, truth), inner) in enumerate(parts):
        setting = chosen(estimator, settings(grid), inner)
        model = clone(estimator).set_params(**setting)
        if k == 0:
            clone(model).fit(train, labels)  # compiles
        clock = time.process_time()
        model.fit(train, labels)
        scores_of["seconds"].append(round(time.process_time() - clock, 6))
        guess = model.predict(test)
        scores_of["accuracy"].append(round(float(np.mean(truth == guess)), 6))
        scores_of["balanced"].append(round(float(balanced_accuracy_score(truth, guess)), 6))
        scores_of["setting"].append(setting)
        scores_of["converged"].append(bool(getattr(model, "converged_", True)))
    most = json.loads(Counter(map(json.dumps, scores_of["setting"])).most_common(1)[0][0])
    X, y, problems = whole
    reached = plain_margins(model := clone(estimator).set_params(**most).fit(X, y), problems)
    upper = getattr(getattr(model, "certificate_", None), "upper", None)
    return {
        **scores_of,
        "margin": None if reached is None else min(reached),
        "upper": float(upper) if upper is not None and np.isfinite(upper) else None,
    }


def described(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Size, the rarest class, and separability with proof: each class against the rest."""
    classes, counts = np.unique(y, return_counts=True)
    Z = StandardScaler().fit_transform(X)
    sides = [y == c for c in (classes[1:] if len(classes) == 2 else classes)]
    answers = [separatrix.separability(Z, side) for side in sides]
    scores_of = {"n": len(y), "d": X.shape[1], "classes": len(counts), "rarest": float(counts.min() / len(y))}
    scores_of |= {
        "problems": len(answers),
        "separable": [a.separable for a in answers],
        "exact": all(a.exact for a in answers),
    }
    if all(a.separable for a in answers):
        best = [separatrix.MaxMargin(C=np.inf).fit(Z, side).certificate_ for side in sides]
        scores_of |= {"lower": min(c.lower for c in best), "upper": min(c.upper for c in best)}
    return scores_of


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
        parts, Z = nested(X, y), StandardScaler().fit_transform(X)
        whole = Z, y, each_against_the_rest(Z, y)
        for who, (estimator, grid) in everyone.items():
            if who not in known:
                known[who] = _tried(estimator, grid, parts, whole)
                partial = file.with_suffix(".part")
                partial.write_text(json.dumps(found))
                partial.replace(file)
        print(f"{name}: {X.shape[0]} x {X.shape[1]}, {time.process_time() - clock:.0f} s", flush=True)
    return found


def _tried(estimator: Any, grid: dict[str, list[Any]], parts: list[Fold], whole: Whole) -> dict[str, Any]:
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")  # that a fit did not converge is a column
        try:
            return cell(estimator, grid, parts, whole)
        except (ValueError, MemoryError) as error:
            return {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}


def study(options: Any) -> None:
    """What ``python -m benchmarks study`` does."""
    file = options.out / "study.json"
    if options.docs:
        from benchmarks.study_report import write

        write(json.loads(file.read_text()))
    else:
        measure(options.smoke, file)
