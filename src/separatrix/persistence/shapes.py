"""Whether the attributes of a loaded estimator fit together: compiled code, ours and scipy's, checks no bounds."""

from typing import Any

import numpy as np

from separatrix.errors import ModelError

# Attributes of scikit-learn's transformers that hold one number per feature.
PER_FEATURE = (
    "mean_", "var_", "scale_", "min_", "data_min_", "data_max_", "data_range_", "max_abs_", "center_", "statistics_",
    "feature_names_in_",
)  # fmt: skip

MOST_DOUBLINGS = 62  # polynomials of degree k in k variables have at least 2^k terms: no array is so wide


def check_separator(made: Any) -> None:
    """Weights and states of an estimator of separatrix against its number of features."""
    if "coef_" not in vars(made):
        return
    width, coef, intercept = _width(made), made.coef_, made.intercept_
    if coef.ndim != 2 or coef.dtype != np.float64 or coef.shape[1] != width or intercept.shape != coef.shape[:1]:
        raise ModelError(f"A {type(made).__name__} whose weights do not fit its {width} features.")
    for record in getattr(made, "_records_", []):
        v = record.state.v  # the vectors of a linear machine follow each other
        if v.ndim != 1 or v.dtype != np.float64 or len(v) == 0 or len(v) % (width + 1):
            raise ModelError(f"A {type(made).__name__} whose state does not fit its {width} features.")


def check_transformer(made: Any) -> None:
    """What a fitted step of scikit-learn holds against its number of features."""
    state = vars(made)
    for name in PER_FEATURE:
        values = state.get(name)
        if values is not None and np.shape(values) != (_width(made),):
            raise _mismatch(made, name)
    if "categories_" in state:
        _check_categories(made)
    if "_n_out_full" in state:
        if min(_width(made), made._max_degree) > MOST_DOUBLINGS:
            raise _mismatch(made, "degree")
        full = made._num_combinations(
            n_features=_width(made),
            min_degree=0,
            max_degree=made._max_degree,
            interaction_only=made.interaction_only,
            include_bias=made.include_bias,
        )
        if made._n_out_full != full:
            raise _mismatch(made, "_n_out_full")


def _check_categories(made: Any) -> None:
    """Codes of categories become column numbers of a sparse matrix, which nothing checks any more."""
    state, width = vars(made), _width(made)
    for name in ("categories_", "_n_features_outs", "_infrequent_indices", "_default_to_infrequent_mappings"):
        if name in state and (not isinstance(state[name], list) or len(state[name]) != width):
            raise _mismatch(made, name)
    for values in made.categories_:
        if not isinstance(values, np.ndarray) or values.ndim != 1 or len(values) == 0 or not _searchable(values):
            raise _mismatch(made, "categories_")
    sizes = [len(values) for values in made.categories_]
    if getattr(made, "_infrequent_enabled", False):
        sizes = [_grouped(made, j, size) for j, size in enumerate(sizes)]
    dropped = state.get("_drop_idx_after_grouping")
    if dropped is not None:
        if np.shape(dropped) != (width,):
            raise _mismatch(made, "_drop_idx_after_grouping")
        for j, place in enumerate(dropped):
            if place is None:
                continue
            if not isinstance(place, (int, np.integer)) or not 0 <= place < sizes[j]:
                raise _mismatch(made, "_drop_idx_after_grouping")
            sizes[j] -= 1
    if state.get("_n_features_outs", sizes) != sizes:
        raise _mismatch(made, "_n_features_outs")


def _searchable(values: np.ndarray) -> bool:
    """Numbers are found by bisection, which is right in a growing sequence alone; NaN is its end."""
    if values.dtype.kind not in "biuf":
        return True
    if values.dtype.kind == "f" and np.isnan(values[-1]):
        values = values[:-1]
    return bool(np.all(values[1:] > values[:-1]))


def _grouped(made: Any, j: int, size: int) -> int:
    """The number of categories of a feature after its infrequent ones have become one."""
    rare, codes = made._infrequent_indices[j], made._default_to_infrequent_mappings[j]
    if rare is None and codes is None:
        return size
    size_of_codes = size - (j in getattr(made, "_missing_indices", {}))  # a missing value keeps its own code
    for array in (rare, codes):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
            raise _mismatch(made, "_infrequent_indices")
    grouped = size_of_codes - len(rare) + 1
    if len(rare) == 0 or len(np.unique(rare)) != len(rare) or rare.min() < 0 or rare.max() >= size_of_codes:
        raise _mismatch(made, "_infrequent_indices")
    if len(codes) != size_of_codes or codes.min() < 0 or codes.max() >= grouped:
        raise _mismatch(made, "_default_to_infrequent_mappings")
    return grouped


def _width(made: Any) -> int:
    width = getattr(made, "n_features_in_", None)
    if type(width) is not int or width < 0:
        raise ModelError(f"A {type(made).__name__} whose number of features is {width!r:.60}.")
    return width


def _mismatch(made: Any, name: str) -> ModelError:
    return ModelError(f"A {type(made).__name__} whose {name} does not fit its {made.n_features_in_} features.")
