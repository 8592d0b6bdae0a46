"""Every parameter, attribute and return value of an estimator is documented, as numpydoc's validation sees it."""

import inspect

import pytest
from cases import EVERYONE

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
