"""The one door to what scikit-learn does not promise to keep: private names and callbacks."""

from collections.abc import Callable
from functools import cache
from typing import Any

from sklearn.base import _fit_context
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from separatrix.space import default_errstate

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks: `set_callbacks` is missing, so nothing looks for them during a fit."""


PLAIN = {str, int, float, bool, type(None)}
MOST_SETTINGS = 10_000
_right: set[Any] = set()  # classes and values of their parameters

__all__ = [
    "CallbackSupportMixin", "Interval", "LinearClassifierMixin", "StrOptions", "check_feature_names",
    "check_sample_weight",
]  # fmt: skip


def fit_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fit`` that checks the parameters before it begins, and takes down the callbacks after it."""
    return default_errstate()(_fit_context(prefer_skip_nested_validation=True)(method))


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
