"""New data for a fitted model: the same columns, in the same order, of the same kind."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.errors import DataError
from separatrix.io.data.prepare import checked_for_model, normalised
from separatrix.io.data.table import Numbered, Table, suggestion


def separator_of(model: Any) -> Any:
    """The classifier at the end of a Pipeline, or the model itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def prepared(model: Any, X: Any) -> Any:
    """What the separator sees: the data after the steps before it."""
    if not hasattr(model, "steps") or len(model.steps) == 1:
        return X
    return model[:-1].transform(X)


def weight_names(model: Any) -> Sequence[str]:
    """Names of what the separator's weights belong to."""
    separator = separator_of(model)
    width = int(getattr(separator, "n_features_in_", 0))
    if hasattr(model, "steps") and len(model.steps) > 1:
        try:
            return [str(name) for name in model[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):
            pass
    names = getattr(separator, "feature_names_in_", None)
    return Numbered(width) if names is None else [str(name) for name in names]


def aligned(table: Table, model: Any) -> Table:
    """The table with the columns that the model was fitted on; others are left out."""
    expected = int(model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    if sp.issparse(table.X):
        if table.d > expected:
            raise DataError(f"{table.source} has {table.d} features, the model was fitted on {expected}.")
        X = table.X.copy()
        X.resize(table.n, expected)  # features that do not occur here are zero
        return checked_for_model(replace(table, X=X), (), _fills(model))
    if names is None or not table.framed:
        if table.d != expected:
            raise DataError(f"{table.source} has {table.d} columns of features, the model was fitted on {expected}.")
        return checked_for_model(normalised(table), (), _fills(model))
    wanted = [str(name) for name in names]
    frame = table.X
    if not table.named and frame.width == expected:
        frame = frame.rename(dict(zip(frame.columns, wanted, strict=True)))
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise DataError(
            f"{table.source} lacks {len(missing)} of the {expected} columns that the model was fitted on: the column "
            f"{missing[0]!r} is not there{suggestion(missing[0], list(frame.columns))}"
        )
    text = _text_columns(model)
    return checked_for_model(normalised(replace(table, X=frame.select(wanted)), text), text, _fills(model))


def _text_columns(model: Any) -> set[str]:
    """Columns that the model takes as text."""
    found: set[str] = set()
    for _, step in getattr(model, "steps", [])[:-1]:
        for name, _, columns in getattr(step, "transformers_", []):
            if name == "text":
                found.update(str(column) for column in np.atleast_1d(columns))
    return found


def _fills(model: Any) -> bool:
    """Whether a step of the model fills in missing values."""
    steps = [step for _, step in getattr(model, "steps", [])[:-1]]
    steps += [inner for step in steps for _, inner, _ in getattr(step, "transformers_", [])]
    steps += [inner for step in steps for _, inner in getattr(step, "steps", [])]
    return any(hasattr(step, "statistics_") for step in steps)
