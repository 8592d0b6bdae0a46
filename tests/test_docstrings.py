"""Every parameter, attribute and return value of an estimator is documented, as numpydoc's validation sees it."""

import dataclasses
import inspect

import pytest
from cases import EVERYONE
from sklearn.base import BaseEstimator

import separatrix
from separatrix import dropin

validate = pytest.importorskip("numpydoc.validate", reason="pip install '.[docs]'").validate

# parameters: documented, known, described; returns and yields: documented, described; a docstring at all
ASKED = {"PR01", "PR02", "PR07", "RT01", "RT03", "YD01", "GL08"}
RELATIVES = {"SA01", "SA04"}  # of a class: a See Also, in which every name is described
DROPIN = [getattr(dropin, name) for name in dropin.__all__]


def documented(cls):
    """A class of separatrix and those of its public methods that are not scikit-learn's."""
    yield cls.__name__
    for name, member in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_") and member.__module__.startswith("separatrix"):
            yield f"{cls.__name__}.{name}"


@pytest.mark.parametrize("cls", [*EVERYONE, *(c for c in DROPIN if isinstance(c, type))])
def test_an_estimator_is_documented(cls):
    home = "separatrix.dropin" if cls in DROPIN else "separatrix"
    findings = {}
    for name in documented(cls):
        theirs = {"PR01"} if cls in DROPIN and name == cls.__name__ else set()  # scikit-learn documents its parameters
        errors = validate(f"{home}.{name}")["errors"]
        asked = ASKED | RELATIVES if name == cls.__name__ else ASKED
        findings[name] = [words for code, words in errors if code in asked - theirs]
    assert not {name: words for name, words in findings.items() if words}


@pytest.mark.parametrize("name", [name for name in dropin.__all__ if not isinstance(getattr(dropin, name), type)])
def test_a_function_is_documented(name):
    assert not [words for code, words in validate(f"separatrix.dropin.{name}")["errors"] if code in ASKED]


def results():
    """Public classes from which users read results."""
    for name in separatrix.__all__:
        value = getattr(separatrix, name)
        inner = [getattr(value, n) for n in getattr(value, "__all__", ())] if inspect.ismodule(value) else [value]
        for cls in inner:
            fields = dataclasses.is_dataclass(cls) or hasattr(cls, "_fields")
            plain = inspect.isclass(cls) and not issubclass(cls, (BaseEstimator, BaseException))
            if plain and fields and not cls.__name__.endswith(("Rule", "Criterion")):
                yield cls


@pytest.mark.parametrize("cls", sorted(set(results()), key=lambda cls: cls.__name__))
def test_the_fields_of_a_result_are_documented(cls):
    """`help` of a result lists what it has."""
    text = inspect.getdoc(cls)
    public = getattr(cls, "_fields", None) or [field.name for field in dataclasses.fields(cls)]
    assert "Attributes\n---" in text or "Parameters\n---" in text
    assert not [name for name in public if name not in text and name not in ("asked", "_found")]
