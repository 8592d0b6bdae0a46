"""The one list of estimators, and of problems, over which properties are asserted."""

from sklearn.base import ClassifierMixin

import separatrix

EVERYONE = sorted(
    (
        value
        for value in (getattr(separatrix, name) for name in separatrix.__all__)
        if isinstance(value, type) and issubclass(value, ClassifierMixin)
    ),
    key=lambda cls: cls.__name__,
)

# With a kernel there is no hyperplane among the features, so no coef_: test_gram.py asserts what holds for them.
KERNELISED = [cls for cls in EVERYONE if "kernel" in cls().get_params()]
# A piecewise linear machine has no convex problem and no certificate: test_piecewise.py.
ESTIMATORS = [cls for cls in EVERYONE if cls not in [*KERNELISED, separatrix.PiecewiseLinearMachine]]
