"""The one list of estimators, and of problems, over which properties are asserted."""

from sklearn.base import ClassifierMixin

import separatrix

ESTIMATORS = sorted(
    (
        value
        for value in (getattr(separatrix, name) for name in separatrix.__all__)
        if isinstance(value, type) and issubclass(value, ClassifierMixin)
    ),
    key=lambda cls: cls.__name__,
)
