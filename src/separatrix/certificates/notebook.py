"""How notebooks show a result: by interactive figures where Bokeh is installed."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def figures_of(result: Any) -> str:
    """Figures of an estimator, a certificate or an answer as HTML; nothing without Bokeh.

    Figures lie above everything else in the order of dependencies, so they are looked up by name when a notebook asks.
    """
    if find_spec("bokeh") is None:
        return ""
    return import_module("separatrix.plots.interactive.in_notebooks").html_of(result)
