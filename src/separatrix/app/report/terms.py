"""The words of the output, explained: the site's glossary, as text."""

import re
from difflib import get_close_matches
from importlib.resources import files

from separatrix.errors import DataError

MATHS = {r"\cdot": "·", r"\sum": "sum ", r"\le": "<=", r"\ge": ">=", r"\dagger": "+", "^2": "²", "^t": "^t"}
GREEK = ("alpha", "rho", "lambda", "Delta", "gamma", "eta")


def glossary() -> dict[str, str]:
    """Every term with its explanation; terms that share one have the same."""
    text = files("separatrix.app.report").joinpath("glossary.md").read_text(encoding="utf-8")
    found = {}
    for heading, words in re.findall(r"^(\S.*)\n  (.+)$", text, flags=re.M):
        for term in heading.split(", "):
            found[term.strip()] = _plain(words)
    return found


def explained(term: str) -> dict[str, str]:
    """The entries that a term asks for: its own, else all that hold it as a word, else those that it holds as words."""
    known = glossary()
    wanted = term.strip().lower()
    own = {name: text for name, text in known.items() if name.lower() == wanted}
    if own:
        return own
    parts = {name: text for name, text in known.items() if wanted in re.split(r"\W+", name.lower())}
    if parts:
        return parts
    held = {name: text for name, text in known.items() if re.search(rf"\b{re.escape(name.lower())}\b", wanted)}
    longest = [name for name in held if not any(name != other and name.lower() in other.lower() for other in held)]
    if longest:
        return {name: held[name] for name in longest}
    near = get_close_matches(wanted, [name.lower() for name in known], 3, 0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else " `separatrix explain` lists the terms."
    raise DataError(f"There is no entry for {term!r}.{hint}")


def grouped(found: dict[str, str]) -> dict[str, str]:
    """Join the names of terms that share an explanation.

    Examples
    --------
    >>> grouped({"hull": "All mixtures.", "bias": "The b.", "intercept": "The b."})
    {'hull': 'All mixtures.', 'bias, intercept': 'The b.'}
    """
    names: dict[str, list[str]] = {}
    for name, text in found.items():
        names.setdefault(text, []).append(name)
    return {", ".join(shared): text for text, shared in names.items()}


def _plain(words: str) -> str:
    """Remove links, code marks and the marks of formulas."""
    words = re.sub(r"\s*\[\]\([^)]*\)", "", words).replace("`", "")
    return re.sub(r"\$([^$]*)\$", lambda found: _formula(found[1]), words)


def _formula(text: str) -> str:
    text = re.sub(r"\\text\{([^}]*)\}", r"\1", text)
    for code, sign in MATHS.items():
        text = text.replace(code, sign)
    for name in GREEK:
        text = text.replace(f"\\{name}", name)
    text = re.sub(r"(_[A-Za-z0-9])(?=[A-Za-z])", r"\1 ", text)  # LaTeX ends a subscript after one character
    return text.replace("{", "").replace("}", "")
