"""Parameters that are checked once."""

from functools import cache
from typing import Any

PLAIN = {str, int, float, bool, type(None)}
MOST_SETTINGS = 10_000
_right: set[Any] = set()  # classes and values of their parameters


@cache
def _names_of(cls: Any) -> tuple[str, ...]:
    return tuple(cls._get_param_names())


class KnownParametersMixin:
    """Stands before scikit-learn's base."""

    def _validate_params(self) -> None:
        """Parameters that were found right once are right again: scikit-learn's look at them takes as long as a small
        fit."""
        cls: Any = type(self)
        values = tuple(map(vars(self).get, _names_of(cls)))
        kinds = tuple(map(type, values))
        known = (cls, kinds, values) if PLAIN.issuperset(kinds) else None
        if known not in _right:
            super()._validate_params()  # type: ignore[misc]
            if known is not None and len(_right) < MOST_SETTINGS:
                _right.add(known)
