"""Where a fit starts: ``coef_init`` and ``intercept_init``, checked."""

from typing import Any

import numpy as np

from separatrix.space import Space, Vector


def starting_planes(planes: int, d: int, coef_init: Any, intercept_init: Any) -> list[tuple[Vector, float]]:
    """Coefficients and bias of each hyperplane; what is not given is 0."""
    coef = np.zeros((planes, d)) if coef_init is None else np.asarray(coef_init, dtype=np.float64)
    intercept = np.zeros(planes) if intercept_init is None else np.asarray(intercept_init, dtype=np.float64)
    shaped = coef.shape == (planes, d) or (planes == 1 and coef.shape == (d,))
    if not shaped or intercept.size != planes:
        raise ValueError(
            f"coef_init has shape {coef.shape} and intercept_init {intercept.shape}; expected {(planes, d)} and "
            f"{(planes,)}."
        )
    if not (np.all(np.isfinite(coef)) and np.all(np.isfinite(intercept))):
        raise ValueError("coef_init and intercept_init must be finite numbers.")
    return list(zip(coef.reshape(planes, d), intercept.ravel().tolist(), strict=True))


def starts_of_pairs(count: int, d: int, coef_init: Any, intercept_init: Any) -> list[dict[str, Any]]:
    """What the fit of each pair is given of them."""
    if coef_init is None and intercept_init is None:
        return [{} for _ in range(count)]
    planes = starting_planes(count, d, coef_init, intercept_init)
    return [{"coef_init": w, "intercept_init": b} for w, b in planes]


def starting_vectors(space: Space, data: Any, mode: str, coef_init: Any, intercept_init: Any) -> list[Vector | None]:
    """The augmented vector of each problem; that of a linear machine holds those of all classes."""
    if coef_init is None and intercept_init is None:
        return [None] * (1 if mode == "joint" else data.planes)
    vectors = [space.join(w, b) for w, b in starting_planes(data.planes, data.width, coef_init, intercept_init)]
    return [np.concatenate(vectors)] if mode == "joint" else [*vectors]
