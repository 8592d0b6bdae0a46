"""A fitted model from a file, and new data for it: the same columns, in the same order, of the same kind."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from separatrix.app.tables.formats import as_table
from separatrix.app.tables.prepare import checked_for_model, normalised
from separatrix.app.tables.table import Numbered, Table, named_column, suggestion
from separatrix.certificates.certificate import Certificate
from separatrix.errors import DataError, ModelError, SeparatrixError
from separatrix.persistence.files import ModelFile, classifier_of, read_model


def read_classifier(path: str | Path, certified: bool = False) -> ModelFile:
    """The model file, if it holds a fitted classifier, with a certificate if that is needed."""
    file = read_model(path)
    try:
        separator = classifier_of(file.model)
        fitted = hasattr(file.model, "predict") and isinstance(separator.classes_, np.ndarray)
        fitted = fitted and isinstance(file.model.n_features_in_, int)
    except Exception:  # whatever a Pipeline without an end leads to
        fitted = False
    if not fitted:
        raise ModelError(f"{path} holds a {type(file.model).__name__}, not a fitted classifier.")
    claims = getattr(separator, "certificates_", None)
    if certified and not (isinstance(claims, list) and claims and all(isinstance(c, Certificate) for c in claims)):
        raise ModelError(f"{path} holds a {type(separator).__name__}, which has no certificate that could be verified.")
    return file


@contextmanager
def used(path: str | Path) -> Iterator[None]:
    """What a model leads to whose parts do not fit together, as one from elsewhere may: an error about its file."""
    try:
        yield
    except (SeparatrixError, OSError, MemoryError):
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelError(f"The model {path} cannot be used: its parts do not fit together ({words}).") from error


def read_for(file: ModelFile, data: Any, target: str | None = None, id: str | None = None, **reading: Any) -> Table:
    """The table for a model: its features as the model takes them, and labels and identifiers if they are there.

    ``id``: the column of the identifiers, which has to be there; None: the one that the fit used, if it is.
    """
    origin = file.provenance.get("data") or {}
    column, width = target or origin.get("target"), int(file.model.n_features_in_)
    known = {"base": origin.get("index_base"), "width": width, "known_encoding": origin.get("encoding")}
    known["decimal_comma"] = bool(origin.get("decimal_comma"))
    words = {name: (*origin.get(name, ()), *reading.pop(name, ())) for name in ("missing", "not_missing")}
    table = as_table(data, target=column, **known, **words, **reading)
    name = id or origin.get("id")
    told_and_here = name is not None and table.framed and name in table.X.columns
    ids = named_column(table, str(name), "--id") if told_and_here or id is not None else None
    table = replace(aligned(table, file.model), target=column, ids=ids)
    check_units(table, origin.get("units"))
    return table


def check_units(table: Table, fitted: dict[str, str] | None) -> None:
    """Refuse columns in another unit than those of the fit. A missing sign is none, except that of percent."""
    if fitted is None or not table.framed:
        return
    for name in table.names:
        was, now = fitted.get(name, ""), table.units.get(name, "")
        if was == now or (not now and was != "%") or (not was and now != "%"):
            continue
        known = {"%": "percent, as in 12%", "": "numbers without the sign %"}
        here, fit = (known.get(unit, f"amounts in {unit}") for unit in (now, was))
        raise DataError(
            f"{table.source}: the column {name!r} holds {here}; the model was fitted on {fit}. Write it as for the fit."
        )


def ids_of(table: Table) -> dict[str, list[Any]]:
    """The identifiers under their name, if there are any."""
    return {} if table.ids is None else {table.ids.name: table.ids.to_list()}


def prepared(model: Any, X: Any) -> Any:
    """What the separator sees: the data after the steps before it."""
    if not isinstance(model, Pipeline) or len(model.steps) == 1:
        return X
    return model[:-1].transform(X)


def weight_names(model: Any) -> Sequence[str]:
    """Names of what the separator's weights belong to."""
    separator = classifier_of(model)
    width = int(getattr(separator, "n_features_in_", 0))
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        try:
            return [_readable(str(name)) for name in model[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):
            pass
    names = getattr(separator, "feature_names_in_", None)
    return Numbered(width) if names is None else [str(name) for name in names]


def _readable(name: str) -> str:
    """The name of an encoded column; scikit-learn's word for the one that rare texts share is no word for people."""
    column = name.removesuffix("_infrequent_sklearn")
    return name if column == name else f"{column}_other (rare)"


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
        return checked_for_model(normalised(table, (), table.names), (), _fills(model))
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
    return checked_for_model(normalised(replace(table, X=frame.select(wanted)), text, wanted), text, _fills(model))


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


def unseen(model: Any, table: Table) -> dict[str, list[Any]]:
    """Values of text columns that the encoder of a model was not fitted on, one for each row that has one."""
    found: dict[str, list[Any]] = {}
    if not table.framed:
        return found
    for _, step in getattr(model, "steps", [])[:-1]:
        for name, inner, columns in getattr(step, "transformers_", []):
            encoder = inner.steps[-1][1] if hasattr(inner, "steps") else inner
            if name != "text" or not hasattr(encoder, "categories_"):
                continue
            for column, known in zip(columns, encoder.categories_, strict=True):
                seen = set(known.tolist())
                new = [value for value in table.X[str(column)].drop_nulls().to_list() if value not in seen]
                if new:
                    found[str(column)] = new
    return found
