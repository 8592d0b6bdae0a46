"""How an estimator is declared: a dataclass whose annotated fields are its parameters.

A field gives a parameter's type, what it accepts beside the type, and a line of documentation::

    margin: Annotated[float, NOT_NEGATIVE, "Corrects while a.y <= margin."] = 0.0

Documentation of more than a line stands in the Parameters section of the class, which says
``{parameters}`` if there is none. Subclasses inherit both, and at the
mark ``{attributes}`` the Attributes section of their bases. Own parameters come first and may be given by position;
those of a family are keyword-only.
"""

import json
import re
from collections.abc import Callable
from dataclasses import Field, dataclass, fields
from inspect import cleandoc
from numbers import Integral, Real
from pathlib import Path
from textwrap import fill
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, dataclass_transform, get_args, get_origin

from separatrix.fit.sklearn_api import Interval, StrOptions

T = TypeVar("T")

OF_TYPES: dict[Any, Any] = {bool: "boolean", dict: dict, Path: Path, Callable: callable}
OF_TYPES_ALONE: dict[Any, Any] = {int: Integral, float: Real, str: str}  # if a field names no constraint
SECTION = r"^{}\n-+\n(?P<entries>.*?)(?=\n\n\S|\Z)"
MARK = "{attributes}"
ENTRY = re.compile(r"^(\S.*?) : (.*)\n?((?:    .*\n?|\n)*)", re.MULTILINE)


def between(low: float | None, high: float | None, closed: str) -> Interval:
    """A real number; ``closed``: which of the ends belong to it, "left", "right", "both" or "neither"."""
    return Interval(Real, low, high, closed=closed)


class OneOf(StrOptions):
    """One of some words, in the order in which the documentation lists them."""

    def __init__(self, *names: str):
        super().__init__(set(names))
        self.names = names


one_of = OneOf


POSITIVE = between(0, None, "neither")
POSITIVE_OR_INF = between(0, None, "right")
NOT_NEGATIVE = between(0, None, "left")
FINITE = between(None, None, "neither")
COUNT = Interval(Integral, 1, None, closed="left")


class Entry(NamedTuple):
    """What a docstring says of a parameter, or of an attribute or several."""

    name: str
    kind: str
    words: str

    def __str__(self) -> str:
        return f"{self.name} : {self.kind}\n{self.words.rstrip()}"


@dataclass_transform(eq_default=False)
def estimator(cls: type[T]) -> type[T]:
    """Make the annotated fields of a class the parameters of an estimator."""
    for name, kind in cls.__annotations__.items():  # another default of the same type keeps the constraints
        bases = (known[name].type for c in cls.__mro__[1:] if name in (known := getattr(c, "__dataclass_fields__", {})))
        cls.__annotations__[name] = next((t for t in bases if get_args(t)[:1] == (kind,)), kind)
    declared: Any = dataclass(eq=False, repr=False)(cls)
    declared._parameter_constraints = {f.name: constraints_of(f) for f in fields(declared)}
    declared.__doc__ = _documented(declared)
    return cls


def constraints_of(parameter: Field) -> list[Any]:
    """Return what a parameter accepts, as scikit-learn checks it."""
    kind, *named = get_args(parameter.type) if get_origin(parameter.type) is Annotated else (parameter.type,)
    types = [get_origin(k) or k for k in (get_args(kind) if isinstance(kind, UnionType) else (kind,))]
    constraints = [c for c in named if c not in _lines(parameter)]
    table = OF_TYPES if constraints else OF_TYPES | OF_TYPES_ALONE
    found = [table[t] for t in types if t in table] + constraints
    return [*found, None] if NoneType in types else found or [object]


def _documented(cls: Any) -> str:
    """Return the docstring of a class with all of its parameters, and the attributes of its bases at their mark."""
    text = cleandoc(cls.__doc__ or "")
    own = re.search(SECTION.format("Parameters"), text, re.DOTALL | re.MULTILINE)
    if own is not None:
        known = _entries(cls.__mro__, "Parameters")
        lines = "\n".join(
            str(_entry(f, known.get(f.name)))
            for f in sorted(fields(cls), key=lambda f: f.name not in cls.__annotations__)
        )
        text = text[: own.start("entries")] + lines + text[own.end("entries") :]
    if MARK not in text:
        return text
    listed = re.search(SECTION.format("Attributes"), text, re.DOTALL | re.MULTILINE)
    mine = {e.name for e in _found(listed)}
    return text.replace(
        MARK, "\n".join(str(e) for e in _entries(cls.__mro__[1:], "Attributes").values() if e.name not in mine)
    )


def _entry(parameter: Field, known: Entry | None) -> Entry:
    """Return the documentation of a parameter: that of its field, or what the class or a base says of it."""
    lines = _lines(parameter)
    *kinds, last = map(_phrase, constraints_of(parameter))
    kind = f"{', '.join(kinds)} or {last}" if kinds else last
    words = fill(" ".join(lines), 116, initial_indent="    ", subsequent_indent="    ")
    if known is not None and not lines:
        kind, words = known.kind.split(", default=")[0], known.words
    default = json.dumps(parameter.default) if isinstance(parameter.default, str) else repr(parameter.default)
    return Entry(parameter.name, f"{kind}, default={default}", words)


def _lines(parameter: Field) -> list[str]:
    """Return the documentation among the annotations of a field: words, and not the name of a constraint."""
    return [each for each in getattr(parameter.type, "__metadata__", ()) if isinstance(each, str) and " " in each]


def _phrase(constraint: Any) -> str:
    """Return how the documentation names what is accepted."""
    if isinstance(constraint, OneOf):
        names = ", ".join(map(json.dumps, constraint.names))
        return names if len(constraint.names) == 1 else f"{{{names}}}"
    if isinstance(constraint, Interval):
        return "int" if constraint.type is Integral else "float"
    named = {"boolean": "bool", "random_state": "int, RandomState or None", Integral: "int", Real: "float"}.get(
        constraint
    )
    return named or str(getattr(constraint, "__name__", constraint))


def _entries(classes: tuple[type, ...], section: str) -> dict[str, Entry]:
    """Return what the docstrings of classes list in a section, by name; the first class has the last word."""
    texts = (cleandoc(vars(c).get("__doc__") or "") for c in reversed(classes))
    parts = (re.search(SECTION.format(section), text, re.DOTALL | re.MULTILINE) for text in texts)
    return {entry.name: entry for part in parts for entry in _found(part)}


def _found(section: re.Match[str] | None) -> list[Entry]:
    return [] if section is None else [Entry(*each) for each in ENTRY.findall(section["entries"])]
