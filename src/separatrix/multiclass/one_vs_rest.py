"""One-vs-rest: one binary problem per category (DHS 5.2.2); two categories are one problem."""

from collections.abc import Sequence

import numpy as np

from separatrix.certificate import Certificate
from separatrix.space import Vector


def binary_labels(codes: np.ndarray, n_classes: int) -> list[Vector]:
    """Labels -1 and +1 of each problem; ``codes`` are numbers of classes. Of two classes the second is +1."""
    positives = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes == k, 1.0, -1.0) for k in positives]


def joint_certificate(certificates: Sequence[Certificate]) -> Certificate:
    """The weakest of several claims: the smallest lower and the smallest upper bound. One claim stands as it is."""
    if len(certificates) == 1:
        return certificates[0]
    lowers = [c.lower for c in certificates]
    measured = [x for x in lowers if x is not None]
    decided = [c.separable for c in certificates]
    separable = False if any(s is False for s in decided) else (True if all(decided) else None)
    return Certificate(
        lower=min(measured) if len(measured) == len(lowers) else None,
        upper=min(c.upper for c in certificates),
        separable=separable,
        space=certificates[0].space,
        radius=max(c.radius for c in certificates),
        sample_weight=certificates[0].sample_weight,
    )
