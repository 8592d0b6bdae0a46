"""Parameters of a form, derived from the constraints that the estimators themselves declare."""

import ast
import math
from dataclasses import dataclass
from inspect import signature
from typing import Any

from separatrix.errors import DataError

LEFT_OUT = {  # not a matter of the page: threads, files, orders of resumed fits
    "until",  # a page that follows the vector from update to update shows the algorithm of the theorem
    "n_jobs",
    "warm_start",
    "checkpoint",
    "cache_size",
    "early_stopping",
    "validation_fraction",
    "n_iter_no_change",
    "class_weight",
    "max_time",
    "rule",
}
PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class Field:
    """A parameter: ``kind`` is "yes or no", "choice" with ``options``, "number", "whole number" or "text"."""

    name: str
    kind: str
    default: Any
    options: tuple[str, ...] = ()
    allows: str = ""


def fields_of(cls: type) -> list[Field]:
    """What a form asks for; parameters that take functions or objects alone are left out."""
    defaults = cls().get_params(deep=False)
    constraints = cls._parameter_constraints  # type: ignore[attr-defined]
    found = []
    for name in signature(cls).parameters:  # those of its own first
        if name in constraints and name not in LEFT_OUT and isinstance(defaults[name], PLAIN):
            field = _field(name, constraints[name], defaults[name])
            if field is not None:
                found.append(field)
    return found


def _field(name: str, constraints: Any, default: Any) -> Field | None:
    constraints = constraints if isinstance(constraints, list) else []
    options = sorted(o for c in constraints if hasattr(c, "options") for o in c.options if isinstance(o, str))
    ranges = [c for c in constraints if hasattr(c, "closed")]
    allows = " or ".join([str(c) for c in ranges] + [repr(o) for o in options] + ["None"] * (None in constraints))
    if name == "random_state":
        return Field(name, "whole number", default, allows="a whole number")
    if "boolean" in constraints and isinstance(default, bool):
        return Field(name, "yes or no", default)
    if options and not ranges and None not in constraints and "boolean" not in constraints:
        offered = tuple(o for o in options if o != "precomputed")
        return Field(name, "choice", default, offered)
    endless = any(c.right is None and c.closed in ("right", "both") for c in ranges)  # inf is one of its values
    if len(constraints) == 1 and ranges and not endless and isinstance(default, (int, float)):
        whole = "Integral" in str(getattr(ranges[0], "type", ""))
        return Field(name, "whole number" if whole else "number", default, allows=allows)
    return Field(name, "text", default, allows=allows) if ranges or options or None in constraints else None


def value_of(field: Field, given: Any) -> Any:
    """What was typed as a value: numbers, inf, None, True and False are themselves, all else is text."""
    if field.kind in ("yes or no", "choice"):
        return given
    if field.kind == "whole number":
        return int(given)
    if field.kind == "number":
        return float(given)
    text = str(given).strip()
    if text.lower() in ("inf", "infinity"):
        return math.inf
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text
    return value if isinstance(value, PLAIN) else text


def checked_parameters(cls: type, parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters that a form of this estimator may hold, checked by the estimator; defaults are left out."""
    known = {field.name: field for field in fields_of(cls)}
    for name, value in parameters.items():
        if name not in known or not isinstance(value, PLAIN):
            raise DataError(f"{cls.__name__} has no parameter {name!r} that the studio can set.")
    kept = {name: value for name, value in parameters.items() if value != known[name].default}
    try:
        cls(**kept)._validate_params()
    except ValueError as error:
        raise DataError(str(error)) from error
    return kept
