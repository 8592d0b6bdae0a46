"""How notebooks show a result: by static pictures."""

from importlib import import_module
from typing import Any


def figures_of(result: Any) -> str:
    """Return pictures of an estimator, a certificate or an answer as HTML.

    Figures lie above everything else in the order of dependencies, so they are looked up by name when a notebook asks.
    """
    return import_module("separatrix.plots.static.in_notebooks").html_of(result)
