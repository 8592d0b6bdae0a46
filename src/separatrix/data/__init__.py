"""Where data live: in memory, on disk (`open_files`, `from_blocks`) or on a cluster (`from_dask`)."""

from typing import Any

_WHERE = {
    "open_files": ("separatrix.data.opening", "open_files"),
    "from_blocks": ("separatrix.data.opening", "from_blocks"),
    "from_dask": ("separatrix.data.dask_rows", "from_dask"),
    "standardized": ("separatrix.passes.preparation", "standardized"),
    "weighted": ("separatrix.passes.preparation", "weighted"),
    "RowSource": ("separatrix.data.base", "RowSource"),
}
__all__ = ["RowSource", "from_blocks", "from_dask", "open_files", "standardized", "weighted"]


def __getattr__(name: str) -> Any:
    """Import on first use."""
    if name in _WHERE:
        from importlib import import_module

        module, attribute = _WHERE[name]
        value = getattr(import_module(module), attribute)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'separatrix.data' has no attribute {name!r}")
