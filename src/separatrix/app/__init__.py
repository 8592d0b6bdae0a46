"""The command line and what it needs: tables of users, workflows, reports and the ranking of algorithms."""

from importlib import import_module
from typing import Any

__all__ = ["tables"]


def __getattr__(name: str) -> Any:
    """Import on first use."""
    if name == "tables":
        return import_module("separatrix.app.tables")
    raise AttributeError(f"module 'separatrix.app' has no attribute {name!r}")
