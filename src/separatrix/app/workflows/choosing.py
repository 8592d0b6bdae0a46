"""Which separator: the one that was named, or the maximum margin that predicts best, beside the hard one."""

from typing import Any, NamedTuple

import numpy as np

from separatrix.app.workflows.asked import Options, Tell
from separatrix.app.workflows.cross_validation import (
    WAYS,
    Choice,
    CrossValidated,
    Folds,
    choose,
    cross_validated,
    in_words,
)
from separatrix.app.workflows.watched import Watch, watched
from separatrix.certificates.separability import Separability
from separatrix.estimators.max_margin import MaxMargin


class Made(NamedTuple):
    """The separator, in words how it came about, and what was measured on the way."""

    separator: Any
    how: str
    cv: CrossValidated | None
    hard: Any
    choice: Choice | None
    interrupted: bool


class Chooser:
    """Rows, prepared, with what is known of them; Ctrl-C ends with the best separator so far, if there is one."""

    def __init__(self, X: Any, y: np.ndarray, folds: Folds, answer: Separability, options: Options, tell: Tell | None):
        self.X, self.y, self.folds = X, y, folds
        self.answer, self.options, self.tell = answer, options, tell
        self.several = bool(answer.one_vs_rest)
        self.separator: Any = None
        self.how = ""
        self.hard: Any = None
        self.choice: Choice | None = None
        self.cv: CrossValidated | None = None

    def made(self) -> Made:
        interrupted = False
        try:
            if self.options.estimator is not None:
                self._fit(self.options.estimator, type(self.options.estimator).__name__)
            else:
                self._maximum_margin()
            if self.cv is None and len(self.folds):
                self.cv = cross_validated(
                    self.separator,
                    self.folds,
                    self.options.max_time,
                    self.tell,
                    "Cross-validation",
                    score=self.options.score,
                )
        except KeyboardInterrupt:
            if not hasattr(self.separator, "certificate_"):
                raise
            interrupted = True
        return Made(self.separator, self.how, self.cv, self.hard, self.choice, interrupted)

    def _fit(self, separator: Any, how: str, stage: str = "", **start: Any) -> None:
        before = self.separator, self.how
        self.separator, self.how = separator, how
        watch = None if self.tell is None else Watch(self.tell, stage or how, self.options.tol)
        try:
            with watched(separator, self.options.max_time, watch):
                separator.fit(self.X, self.y, **start)
        except KeyboardInterrupt:
            if not hasattr(separator, "certificate_"):
                self.separator, self.how = before
            raise

    def _maximum_margin(self) -> None:
        options, ways = self.options, self._ways()
        settings: dict[str, Any] = {"tol": options.tol, "max_time": options.max_time}
        C, why, way = options.C, "", next(iter(ways))
        if any(ways.values()) and (C is None or np.isinf(C)):
            way = next(way for way, separable in ways.items() if separable)
            hard = MaxMargin(np.inf, multi_class=way, **settings)
            start = _start(self.answer) if way == "ovr" else {}
            self._fit(hard, f"maximum margin, hard{self._in(way)}", "Maximum margin", **start)
            self.hard = hard
        if len(self.folds) and (C is None or len(ways) > 1):
            stage = "Choosing the model by cross-validation"
            self.choice, self.cv = choose(self.X, self.folds, options, ways, self.tell, stage)
            C, way = self.choice.candidate.C, self.choice.candidate.multi_class
            why = f", chosen by {len(self.folds)}-fold cross-validation: {in_words(self.choice, options.score)}"
        elif C is None:
            C = np.inf if self.hard is not None else 1.0
            why = "" if self.hard is not None else ", as nothing was asked for and nothing cross-validated"
        soft = "hard" if np.isinf(C) else f"soft with C = {C:g}"
        how = f"maximum margin, {soft}{self._in(way)}{why}"
        if np.isinf(C) and self.hard is not None and self.hard.multi_class == way:
            self.separator, self.how = self.hard, how
        else:
            model = MaxMargin(C, multi_class=way, class_weight=options.class_weight, **settings)
            self._fit(model, how, "The model")

    def _in(self, way: str) -> str:
        return f", {WAYS[way]}" if self.several else ""

    def _ways(self) -> dict[str, bool]:
        """The ways that are tried, and whether a hard margin exists in each."""
        answer, asked = self.answer, self.options.multi_class
        if not self.several:
            return {"ovr": answer.separable is True}
        found = {
            "ovr": all(a.separable is True for a in answer.one_vs_rest.values()),
            "joint": answer.separable is True,
            "ovo": all(a.separable is True for a in answer.one_vs_one.values()),
        }
        return found if asked is None else {asked: found[asked]}


def _start(answer: Separability) -> dict[str, Any]:
    """The hyperplanes that decided separability, one for each binary problem, to start the maximum margin from."""
    planes = []
    for part in list(answer.one_vs_rest.values()) or [answer]:
        if part.hyperplane is None or not part.separable:
            return {}
        planes.append(part.hyperplane)
    return {"coef_init": np.array([p.w for p in planes]), "intercept_init": np.array([p.b for p in planes])}
