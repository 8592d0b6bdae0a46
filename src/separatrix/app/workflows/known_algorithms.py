"""The algorithms that there are: every public classifier, described by its docstring."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatch
from functools import cache
from typing import Any

from separatrix.errors import DataError

_RELATED = {"max_epochs": "max_iter", "n_iter": "max_iter", "eta0": "eta", "learning_rate": "eta", "alpha": "C"}


FAMILIES = {  # that can be asked for by one word
    "perceptrons": ["Perceptron", "VotedPerceptron", "Pocket", "GreedyPerceptron", "FuzzyPerceptron"],
    "margins": ["ALMA", "CRAMMA", "DynamicMargin", "FixedMargin", "MarginPerceptron", "MaxMargin", "MICRA", "ROMMA"],
    "confidence": ["AROW", "SCW", "SecondOrderPerceptron"],
    "kernels": ["KernelMaxMargin", "KernelPerceptron"],
    "batch": ["BatchPerceptron", "BatchRelaxation", "GradientDescent", "LinearProgram"],
    "squares": ["HoKashyap", "LeastSquares", "LMS", "RecursiveLeastSquares"],
}


@dataclass(frozen=True)
class Algorithm:
    """A public classifier, with what its docstring says."""

    name: str
    cls: type
    line: str
    source: str


@cache
def algorithms() -> list[Algorithm]:
    """All of them, in alphabetical order."""
    from sklearn.base import is_classifier

    import separatrix

    found = []
    for name in sorted(separatrix.__all__, key=str.lower):
        cls = getattr(separatrix, name)
        if isinstance(cls, type) and hasattr(cls, "get_params") and is_classifier(cls()):
            found.append(Algorithm(name, cls, _first_line(cls), _reference(cls)))
    return found


def algorithm_named(name: str) -> Algorithm:
    table = {a.name: a for a in algorithms()}
    for known in table:
        if known.lower() == name.lower():
            return table[known]
    near = get_close_matches(name, list(table), 3, 0.4)
    raise DataError(
        f"There is no algorithm {name!r}."
        + (f" Did you mean {' or '.join(near)}?" if near else "")
        + " `separatrix algorithms` lists them."
    )


def chosen_algorithms(wanted: Sequence[str] = ()) -> list[Algorithm]:
    """The algorithms that names, patterns with * and families ask for, in alphabetical order; without any, all."""
    if not wanted:
        return algorithms()
    found = set()
    for words in wanted:
        for word in words.split(","):
            word = word.strip()
            names = FAMILIES.get(word.lower()) or [
                a.name for a in algorithms() if fnmatch(a.name.lower(), word.lower())
            ]
            found.update(names or [algorithm_named(word).name])
    return [a for a in algorithms() if a.name in found]


def with_settings(estimator: Any, settings: list[str]) -> Any:
    """Set parameters given as NAME=VALUE."""
    known = estimator.get_params()
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals and name in known:
            raise DataError(f"--set {setting}: expected NAME=VALUE, found no '='. Write --set {name}={known[name]!r}.")
        if name not in known:
            near = [_RELATED[name]] if _RELATED.get(name) in known else get_close_matches(name, list(known), 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else f" It has {', '.join(sorted(known))}."
            raise DataError(f"--set {setting}: {type(estimator).__name__} has no parameter {name!r}.{hint}")
        try:
            value = float(text) if text.lower() in ("inf", "-inf") else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            value = text
        estimator.set_params(**{name: value})
    return estimator


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").strip()


def _reference(cls: type) -> str:
    """The paragraph under References, on one line."""
    text = cls.__doc__ or ""
    match = re.search(r"References\n\s*-+\n(.*?)(\n\s*\n|\Z)", text, re.S)
    return " ".join(match.group(1).split()) if match else ""
