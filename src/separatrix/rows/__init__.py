"""Where data live: in memory, on disk (`files`, `blocks`) or on a cluster (`dask`)."""

from typing import Any

_WHERE = {
    "files": "separatrix.rows.opening",
    "blocks": "separatrix.rows.opening",
    "dask": "separatrix.rows.dask_rows",
    "Rows": "separatrix.rows.base",
}
__all__ = ["Rows", "blocks", "dask", "files"]


def __getattr__(name: str) -> Any:
    """Import on first use."""
    if name in _WHERE:
        from importlib import import_module

        value = getattr(import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'separatrix.rows' has no attribute {name!r}")
