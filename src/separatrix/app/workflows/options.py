"""Options of the workflows, and the function that reports progress."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Tell = Callable[[str, float | None, str], None]  # stage, share of it that is done, note


@dataclass(frozen=True)
class Options:
    """Choices of the user; a workflow looks at those that concern it."""

    C: float | None = None  # None: chosen by cross-validation
    tol: float = 1e-6
    scale: bool = False
    encode: bool = False
    impute: bool = False
    folds: int = 5
    max_time: float | None = None  # seconds for each fit
    estimator: Any = None  # another algorithm than the maximum margin
    score: str = "accuracy"  # what cross-validation compares, a name in `out_of_fold.SCORES`
    multi_class: str | None = None  # "ovr", "ovo" or "joint"; None: chosen by cross-validation
    class_weight: str | None = None  # "balanced"
    strict: bool = False  # data quality warnings are errors
    test: Any = None  # a table or file with rows that are not fitted on

    @property
    def preparation(self) -> dict[str, bool]:
        return {"scale": self.scale, "encode": self.encode, "impute": self.impute}


DEFAULTS = Options()


def begin(tell: Tell | None, stage: str) -> None:
    """Show a stage whose length is not known."""
    if tell is not None:
        tell(stage, None, "")
