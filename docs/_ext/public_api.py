"""What the pages of the reference show: the methods that separatrix itself defines, in the words of its docstrings."""

import re
from typing import Any

# Marked-up spans, and doctests up to the next blank line: nothing in them is touched.
_MARKED_UP = re.compile(r"(``.+?``|`[^`]+`|\*\*.+?\*\*|^\s*>>>.*?(?:^\s*$|\Z))", flags=re.S | re.M)
_BAR = re.compile(r"\|")
_FITTED_NAME = re.compile(r"(?<=\w)_(?!\w)")
_STAR = re.compile(r"\*(?==)")


def _skip_what_scikit_learn_brings(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the methods of scikit-learn's bases; its own documentation explains them."""
    home = getattr(getattr(obj, "fget", obj), "__module__", None) or ""
    return True if what == "class" and home and not home.startswith("separatrix") else None


def _keep_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings write ``|a|`` for a length and ``coef_`` for an attribute; these are no markup."""
    parts = _MARKED_UP.split("\n".join(lines))
    for k in range(0, len(parts), 2):
        for sign in (_BAR, _FITTED_NAME, _STAR):
            parts[k] = sign.sub(lambda found: "\\" + found.group(), parts[k])
    lines[:] = "".join(parts).split("\n")


def setup(app):
    app.connect("autodoc-skip-member", _skip_what_scikit_learn_brings)
    app.connect("autodoc-process-docstring", _keep_formulas, priority=900)  # after numpydoc
    return {"parallel_read_safe": True}
