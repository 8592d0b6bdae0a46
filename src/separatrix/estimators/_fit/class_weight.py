"""The price of slack: which space it makes of a soft margin a hard one, and what classes do to it."""

from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from separatrix.estimators._fit.separator import Data
from separatrix.space import Space


def soft_space(C: float, fit_intercept: bool | str, rho: float) -> Space:
    """The space in which the soft margin at C is a hard one."""
    delta = 0.0 if np.isinf(C) else (2.0 * float(C)) ** -0.5
    free = isinstance(fit_intercept, str)
    return Space(1.0 if free else (float(rho) if fit_intercept else 0.0), delta, free, weighted=delta > 0)


def with_class_weight(class_weight: Any, data: Data) -> Data:
    """The data with weights times the factors of their classes."""
    if class_weight is None:
        return data
    factors = compute_class_weight(class_weight, classes=data.classes, y=data.classes[data.codes])
    if not np.all((factors > 0) & np.isfinite(factors)):
        raise ValueError(f"class_weight={class_weight!r} must give every class a positive, finite factor.")
    weight = data.weight * factors[data.codes]
    given = np.zeros(data.size)
    given[data.kept] = weight
    return data._replace(weight=weight, given_weight=given)
