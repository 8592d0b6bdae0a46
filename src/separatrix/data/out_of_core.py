"""Data that are not in memory: row sources, collections of Dask, and arrays on a device."""

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.data.base import RowSource
from separatrix.data.device import DeviceRows, stays_there
from separatrix.errors import DataError


def is_dask(X: Any) -> bool:
    """Is this a collection of Dask?"""
    return hasattr(X, "__dask_graph__")


def row_source_of(X: Any, y: Any = None, weight: Any = None) -> RowSource | None:
    """Return the row source of data, None if they are in memory."""
    if is_dask(X):
        from separatrix.data.dask_rows import from_dask

        return from_dask(X, y, weight=weight)
    if stays_there(X):
        return DeviceRows.of(X, y, weight)
    if not isinstance(X, RowSource):
        return None
    if y is not None or weight is not None:
        raise DataError("X is a row source with labels and weights. Call fit(X) without y and sample_weight.")
    return X


def block_by_block(function: Callable[[Any], np.ndarray], X: Any, example: np.ndarray) -> Any:
    """``function`` of every block of a collection, not computed: a Dask array. ``example``: its answer to a row."""
    import dask.array as da
    from dask import delayed

    if hasattr(X, "chunks"):
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        sizes = X.chunks[0]
    else:
        sizes = (np.nan,) * X.npartitions
    travelling = delayed(_of_block, pure=True)
    parts = np.ravel(X.to_delayed()).tolist()
    tail, kind = example.shape[1:], example.dtype
    empty = example[:0]
    return da.concatenate(
        [
            da.from_delayed(travelling(function, part, empty), (size, *tail), kind)
            for part, size in zip(parts, sizes, strict=True)
        ]
    )


def _of_block(function: Callable[[Any], np.ndarray], block: Any, empty: np.ndarray) -> np.ndarray:
    return function(block) if block.shape[0] else empty
