"""Rows on a cluster, or in the blocks of Dask's collections on one machine: the work travels, the blocks stay.

A pass is one graph: the work, pickled by name and a few numbers, goes to every block; summaries are merged where they
are, in groups, by a tree whose shape depends on the number of blocks alone, and one for each group comes back. Compiled
code is never sent: workers import it.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix.data.base import S
from separatrix.data.fetched import FetchedRows, part_of
from separatrix.data.inventory import joined_classes
from separatrix.data.memory import MemoryRows
from separatrix.data.row_source import Part, check_values, codes_of, joined
from separatrix.data.validate import check_numbers
from separatrix.errors import DataError, MissingExtraError, SeparatrixError

FAN_IN = 8  # summaries that are merged at a time
GROUP = FAN_IN**2  # blocks whose summary is merged where they are; the groups' own are merged here, in their order


class Block(NamedTuple):
    """One block where it lives: delayed features; labels and weights as `_look` found them; the numbers of its classes
    among all; its first row."""

    X: Any
    looked: Any
    codes: np.ndarray
    first: int


class DaskRows(FetchedRows):
    """The rows of a Dask array or data frame, as `separatrix.data.from_dask` makes them. Nothing is computed in advance
    but the sizes of blocks and the classes; a collection that is dear to compute should be persisted before."""

    prefers_mixing = True

    def __init__(self, parts: list[tuple[Any, Any, Any]], token: str, names: list[str] | None = None):
        self.token, self.names = token, names
        # A byte per row stays where the features are: labels that are out of core would have to travel in every pass.
        looked = _persisted([_delayed(_look)(*part, number) for number, part in enumerate(parts)])
        found = _compute([_delayed(getattr)(one, "look") for one in looked])
        self.n = sum(look.n for look in found)
        filled = [look for look in found if look.n]
        if not filled:
            raise DataError("There are no rows: every block is empty.")
        self.width = filled[0].width
        self.dtype = np.dtype(np.float32 if all(look.single for look in filled) else np.float64)
        classes = None
        for number, look in enumerate(found):
            if look.n and look.width != self.width:
                raise DataError(f"Block {number} has {look.width} columns, the first one {self.width}.")
            if look.n:
                classes = joined_classes(classes, look.classes, f"Block {number}", 0)
        assert classes is not None
        self.classes = classes
        firsts = np.cumsum([0, *(look.n for look in found)])[:-1].tolist()
        self.parts = [
            Block(part[0], one, np.searchsorted(classes, look.classes), first)
            for part, one, look, first in zip(parts, looked, found, firsts, strict=True)
            if look.n
        ]
        self.block_count = len(self.parts)
        self._firsts = np.array([block.first for block in self.parts])

    @property
    def fingerprint(self) -> str:
        return self.token

    def __repr__(self) -> str:
        return f"DaskRows({self.n:,} rows of {self.width} columns in {len(self.parts)} blocks)"

    def _rows(self, block: Block) -> Any:
        """The block as work sees it, not computed."""
        return _delayed(_as_rows)(*block, self.dtype.str)

    def blocks(self) -> Iterator[MemoryRows]:
        """The blocks brought here, one at a time: for what cannot travel."""
        return (_compute([self._rows(block)])[0] for block in self.parts)

    def run(self, work: Callable[[MemoryRows], S]) -> S:
        return _merge(_compute(self._groups(work, 0)))

    def merged(self, work: Callable[[MemoryRows], S], done: int = 0, whole: S | None = None) -> Iterator[tuple[int, S]]:
        """Group by group: all of them are at work at once, and are waited for in their order."""
        for group in _persisted(self._groups(work, done)):
            part = _compute([group])[0]
            done, whole = min(done + GROUP, len(self.parts)), part if whole is None else whole.merge(part)
            yield done, whole

    def _groups(self, work: Callable[[MemoryRows], S], done: int) -> list[Any]:
        """The summaries of groups of blocks behind the first ``done`` ones, not computed."""
        travelling = _delayed(work, traverse=False)  # once in the graph, not once per block
        level = [_delayed(_call)(travelling, self._rows(block)) for block in self.parts[done:]]
        size = GROUP
        while size > 1:
            level = [_delayed(_merge)(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
            size //= FAN_IN
        return level

    def _fetch(self, numbers: np.ndarray) -> Part:
        owner = np.searchsorted(self._firsts, numbers, side="right") - 1
        wanted = [
            _delayed(_take)(self._rows(self.parts[b]), numbers[owner == b] - self._firsts[b]) for b in np.unique(owner)
        ]
        return joined(_compute(wanted))


class _Look(NamedTuple):
    """What a block tells of itself."""

    n: int
    width: int
    single: bool
    classes: np.ndarray


class _Looked(NamedTuple):
    """The same with what stays with the block: the numbers of the labels' classes among those of the block, weights."""

    look: _Look
    codes: np.ndarray
    weight: np.ndarray | None


def _look(X: Any, y: Any, weight: Any, number: int) -> _Looked:
    part, name = _part(X, y, weight, number), f"Block {number}"
    check_values(part, name, 0)
    classes = joined_classes(None, part.y, name, 0) if part.n else part.y
    codes = codes_of(part.y, classes, name) if part.n else np.zeros(0, np.int64)
    look = _Look(part.n, part.X.shape[1], part.X.dtype == np.float32, classes)
    return _Looked(look, codes.astype(np.min_scalar_type(len(classes))), part.weight)


def _part(X: Any, y: Any, weight: Any, number: int) -> Part:
    """A block of Dask as numbers."""
    X = _numbers(X)
    labels = np.asarray(y).ravel()
    if labels.dtype.kind == "O" and all(isinstance(label, (int, float)) for label in labels):
        labels = labels.astype(np.float64)
    if labels.dtype.kind == "O":
        labels = np.array(["" if label is None or label != label else str(label) for label in labels], dtype=str)
    prices = None if weight is None else np.asarray(weight, dtype=np.float64).ravel()
    if X.ndim != 2 or len(labels) != X.shape[0] or (prices is not None and len(prices) != X.shape[0]):
        raise DataError(f"Block {number} has X of shape {X.shape} and {len(labels)} labels; cut both in the same way.")
    return Part(X, labels, prices)


def _numbers(X: Any) -> Any:
    if not hasattr(X, "tocsr"):
        check_numbers(X)
    X = sp.csr_matrix(X.tocsr()) if hasattr(X, "tocsr") else np.asarray(X)
    if X.dtype in (np.float32, np.float64):
        return X
    check_numbers(X)
    return X.astype(np.float64)


def _as_rows(X: Any, looked: _Looked, codes: np.ndarray, first: int, dtype: str) -> MemoryRows:
    X = _numbers(X)
    if X.shape[0] != looked.look.n:
        raise DataError(f"The block of row {first} had {looked.look.n} rows and has {X.shape[0]} now.")
    return MemoryRows(X.astype(dtype, copy=False), codes[looked.codes], looked.weight, first=first)


def _call(work: Callable[[MemoryRows], S], rows: MemoryRows) -> S:
    return work(rows)


def _merge(parts: list[Any]) -> Any:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merge(part)
    return whole


def _take(rows: MemoryRows, index: np.ndarray) -> Part:
    return part_of(rows.take(index))


def _delayed(what: Any, **options: Any) -> Any:
    from dask import delayed

    return delayed(what, pure=False, **options)


def _compute(tasks: list[Any]) -> list[Any]:
    import dask

    return _guarded(dask.compute, tasks)


def _persisted(tasks: list[Any]) -> list[Any]:
    import dask

    return _guarded(dask.persist, tasks)


def _guarded(call: Any, tasks: list[Any]) -> list[Any]:
    """What Dask does, with an error about a lost cluster."""
    try:
        return list(call(*tasks))
    except SeparatrixError:
        raise
    except Exception as error:
        if type(error).__name__ not in ("KilledWorker", "CommClosedError", "CancelledError", "FutureCancelledError"):
            raise
        raise SeparatrixError(
            f"The cluster lost this pass ({type(error).__name__}: {error}). Nothing is wrong with the rows: start the "
            "cluster again and call the same again; with a checkpoint it goes on where it was."
        ) from error


def from_dask(X: Any, y: Any = None, *, weight: Any = None) -> DaskRows:
    """Rows of Dask's collections, for `fit`, `predict`, `separability` and `verify`.

    A pass travels to the blocks and a summary comes back, so that the traffic does not depend on the number of rows.
    With a ``distributed.Client`` the blocks are those of its cluster, without one threads of this process work on them.

    Parameters
    ----------
    X : dask array of shape (n, d), or dask data frame
        Blocks of rows, dense or of scipy's sparse matrices; their sizes may be unknown, different or 0.
    y : dask array, dask series, array, or the name of a column of X
        Labels, cut into blocks like X.
    weight : like ``y``, default=None
        Positive weights of the rows.

    Returns
    -------
    DaskRows

    Examples
    --------
    >>> import dask.array as da, numpy as np, separatrix
    >>> X = da.from_array(np.array([[0.0], [1.0], [3.0]]), chunks=(2, 1))
    >>> print(separatrix.separability(separatrix.data.from_dask(X, np.array(["a", "a", "b"]))))
    Linearly separable: a hyperplane classifies every row correctly, the nearest at a distance of 1.
    """
    try:
        from dask.base import tokenize
    except ImportError as error:
        raise MissingExtraError.of("dask", "dask", "Rows on a cluster") from error
    token, names = tokenize(X, y, weight), None
    if hasattr(X, "columns"):
        y, weight = (X[name] if isinstance(name, str) else name for name in (y, weight))
        X = X.drop(columns=[c.name for c in (y, weight) if hasattr(c, "name") and c.name in X.columns])
        _check_numbers(X)
        names = [str(name) for name in X.columns]
        parts = X.to_delayed()
    elif hasattr(X, "chunks") and X.ndim == 2:
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        parts = X.to_delayed().ravel().tolist()
    else:
        raise DataError(f"X is {type(X).__name__}; a Dask array of two dimensions or a Dask data frame is needed.")
    if y is None:
        raise DataError("Rows need labels: give y, or the name of a column of X.")
    columns = [_column(column, X, len(parts)) for column in (y, weight)]
    return DaskRows(list(zip(parts, *columns, strict=True)), token, names)


def _column(column: Any, X: Any, count: int) -> list[Any]:
    """Labels or weights, block by block."""
    if column is None:
        return [None] * count
    if not hasattr(column, "dask") and not hasattr(column, "to_delayed"):
        sizes = X.chunks[0] if hasattr(X, "chunks") else (np.nan,)
        array = np.asarray(column)
        if np.isnan(sum(sizes)) or sum(sizes) != len(array):
            raise DataError(
                f"Labels are {len(array)} in this process, X has blocks of {sizes} rows: they cannot be matched. Give "
                "them as a Dask collection that is cut like X."
            )
        borders = np.cumsum(sizes)[:-1]
        return [_delayed(piece, traverse=False) for piece in np.split(array, borders)]
    if hasattr(column, "chunks"):
        known = hasattr(X, "chunks") and not np.isnan(sum(X.chunks[0])) and not np.isnan(sum(column.chunks[0]))
        if known and column.chunks[0] != X.chunks[0] and sum(column.chunks[0]) == sum(X.chunks[0]):
            column = column.rechunk({0: X.chunks[0]})
    parts = np.ravel(column.to_delayed()).tolist()
    if len(parts) != count:
        raise DataError(f"X has {count} blocks and its labels {len(parts)}; cut both in the same way.")
    return parts


def _check_numbers(X: Any) -> None:
    for name, kind in X.dtypes.items():
        if getattr(kind, "kind", "O") not in "fiub":
            raise DataError(f"Column {name!r} holds {kind}, not numbers. Encode it, for example one-hot, before.")
