"""Where a fit starts: ``coef_init`` and ``intercept_init``, checked."""

from typing import Any

import numpy as np

from separatrix.estimators.base import Data
from separatrix.space import Space, Vector


def starting_vectors(data: Data, space: Space, coef_init: Any, intercept_init: Any) -> list[Vector]:
    """One augmented vector per binary problem; what is not given is 0."""
    problems, d = 1 if len(data.classes) == 2 else len(data.classes), data.width
    coef = np.zeros((problems, d)) if coef_init is None else np.asarray(coef_init, dtype=np.float64)
    intercept = np.zeros(problems) if intercept_init is None else np.asarray(intercept_init, dtype=np.float64)
    shaped = coef.shape == (problems, d) or (problems == 1 and coef.shape == (d,))
    if not shaped or intercept.size != problems:
        raise ValueError(
            f"coef_init has shape {coef.shape} and intercept_init {intercept.shape}; expected {(problems, d)} and "
            f"{(problems,)}."
        )
    if not (np.all(np.isfinite(coef)) and np.all(np.isfinite(intercept))):
        raise ValueError("coef_init and intercept_init must be finite.")
    return [space.join(w, float(b)) for w, b in zip(coef.reshape(problems, d), intercept.ravel(), strict=True)]
