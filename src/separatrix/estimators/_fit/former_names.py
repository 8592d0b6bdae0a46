"""Parameters that had another name: `tol`, which now is a certified gap wherever it is."""

import warnings
from dataclasses import field
from typing import Any, ClassVar

from separatrix.estimators._fit.declare import estimator


def once_called_tol(name: str, constraint: Any) -> dict[str, list[Any]]:
    """What is asked of a parameter, under both of its names."""
    return {name: [constraint], "tol": [constraint, None]}


@estimator
class FormerTolMixin:
    """The parameter ``tol`` of an estimator that now calls it otherwise; its last release is 0.2."""

    tol: float | None = field(default=None, kw_only=True)

    _former_names: ClassVar[dict[str, str]] = {}  # the former name, and the one of today

    def _under_either_name(self, former: str = "tol") -> float:
        """The value of today's parameter, or that of its former name, with a warning."""
        name = self._former_names[former]
        value: Any = getattr(self, former)
        if value is None:
            return float(getattr(self, name))
        warnings.warn(
            f"The parameter {former} of {type(self).__name__} is called {name} now; 0.3 will not know the old name.",
            FutureWarning,
            stacklevel=2,
        )
        return float(value)
