"""Models in files, without pickle: `save`, `load`, and what a file says about its model."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.persistence.files import ModelFile, load, read_model, save

__all__ = ["ModelFile", "load", "read_model", "save"]


def __getattr__(name: str) -> Any:
    """Import on first use: readers of tables need `separatrix.persistence.limits` alone."""
    if name in __all__:
        from separatrix.persistence import files

        return getattr(files, name)
    raise AttributeError(f"module 'separatrix.persistence' has no attribute {name!r}")
