"""The tables, figures and exercises of the papers, computed again: each file states the claim that it reproduces.

`separatrix.reproductions.datasets` has the papers' data sets.
"""

from importlib import import_module
from typing import Any

__all__ = ["datasets"]


def __getattr__(name: str) -> Any:
    """Import on first use."""
    if name == "datasets":
        return import_module("separatrix.reproductions.datasets")
    raise AttributeError(f"module 'separatrix.reproductions' has no attribute {name!r}")
