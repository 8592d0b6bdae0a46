"""Class weights: factors on the weights of all rows of a class."""

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from sklearn.utils import compute_class_weight

from separatrix.errors import UnavailableError
from separatrix.fit.declare import estimator
from separatrix.fit.sklearn_api import one_of
from separatrix.passes.preparation import weighted

if TYPE_CHECKING:
    from separatrix.fit.separator import Data


@estimator
class ClassWeightMixin:
    """The parameter ``class_weight`` of a separator; it stands before the base that checks the data.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows, by class; "balanced": n / (classes * rows of the class). They multiply
        ``sample_weight``.
    """

    _: KW_ONLY
    class_weight: Annotated[dict | str | None, one_of("balanced")] = None

    def _check_training_data(self, *given: Any, **options: Any) -> "Data":
        """The data with weights times the factors of their classes; with ``classes`` they are a block of more."""
        if isinstance(self.class_weight, str) and options.get("classes") is not None:
            raise UnavailableError(
                f"class_weight={self.class_weight!r} counts the rows of all blocks, and partial_fit sees one. Give the "
                "factors as a dict, for example by sklearn.utils.compute_class_weight."
            )
        data: Data = super()._check_training_data(*given, **options)  # type: ignore[misc]
        return data if self.class_weight is None else weighted_by_class(data, self.class_weight)

    def _member_params(self, data: "Data") -> dict[str, Any]:
        # it is in the weights of the data
        return {**super()._member_params(data), "class_weight": None}  # type: ignore[misc]


def weighted_by_class(data: "Data", class_weight: Any) -> "Data":
    """Return the data with weights times the factors of their classes."""
    if not data.here:
        return data._replace(rows=weighted(data.rows, class_weight))
    factors = compute_class_weight(class_weight, classes=data.classes, y=data.classes[data.codes])
    if not np.all((factors > 0) & np.isfinite(factors)):
        raise ValueError(f"class_weight={class_weight!r} must give every class a positive, finite factor.")
    weight = data.weight * factors[data.codes]
    given_weight = np.zeros(data.size)
    given_weight[data.kept] = weight
    return data._replace(weight=weight, given_weight=given_weight)
