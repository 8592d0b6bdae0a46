"""The one door to what scikit-learn does not promise to keep: private names and callbacks. Nothing else imports them.

Also what is asked of parameters, where several estimators ask the same.
"""

from collections.abc import Callable
from numbers import Integral, Real
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


__all__ = ["CallbackSupportMixin", "Interval", "LinearClassifierMixin", "check_feature_names", "check_sample_weight"]


def between(low: float | None, high: float | None, closed: str) -> Interval:
    """A real number; ``closed``: which of the ends belong to it, "left", "right", "both" or "neither"."""
    return Interval(Real, low, high, closed=closed)


class OneOf(StrOptions):
    """One of some words, in the order in which the documentation lists them."""

    def __init__(self, *names: str):
        super().__init__(set(names))
        self.names = names


one_of = OneOf


POSITIVE = between(0, None, "neither")
POSITIVE_OR_INF = between(0, None, "right")
NOT_NEGATIVE = between(0, None, "left")
FINITE = between(None, None, "neither")
COUNT = Interval(Integral, 1, None, closed="left")


def fit_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fit`` that checks the parameters before it begins, and takes down the callbacks after it."""
    return default_errstate()(_fit_context(prefer_skip_nested_validation=True)(method))
