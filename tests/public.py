"""Every classifier that the package offers, as the command line finds them."""

from sklearn.base import ClassifierMixin

import separatrix

CLASSIFIERS = [
    value
    for value in (getattr(separatrix, name) for name in sorted(separatrix.__all__))
    if isinstance(value, type) and issubclass(value, ClassifierMixin)
]
