"""Where data live: in memory, on disk (`files`, `blocks`) or on a cluster (`dask`)."""

from typing import Any

_WHERE = {
    "files": ("separatrix.rows.opening", "files"),
    "blocks": ("separatrix.rows.opening", "blocks"),
    "dask": ("separatrix.rows.dask_rows", "from_dask"),
    "standardized": ("separatrix.passes.preparation", "standardized"),
    "weighted": ("separatrix.passes.preparation", "weighted"),
    "Rows": ("separatrix.rows.base", "Rows"),
}
__all__ = ["Rows", "blocks", "dask", "files", "standardized", "weighted"]


def __getattr__(name: str) -> Any:
    """Import on first use."""
    if name in _WHERE:
        from importlib import import_module

        module, attribute = _WHERE[name]
        value = getattr(import_module(module), attribute)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'separatrix.rows' has no attribute {name!r}")
