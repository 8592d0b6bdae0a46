"""What is learnt of all rows before a fit, in one pass: the scale of columns, the sizes of classes."""

from functools import partial
from typing import Any

import numpy as np

from separatrix.data.base import RowSource
from separatrix.data.changed_rows import ScaledRows, WeightedRows
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError
from separatrix.passes.summaries import Combination, Spread


def standardized(rows: RowSource, like: ScaledRows | None = None) -> ScaledRows:
    """The same rows with every column of mean 0 and standard deviation 1, as ``StandardScaler`` makes them.

    Parameters
    ----------
    rows : RowSource
        A row source; sparse ones are scaled only, because without their zeros they would not be sparse.
    like : ScaledRows, default=None
        Rows that were standardised before, whose means and deviations are taken; without them one pass finds those of
        the rows.

    Returns
    -------
    ScaledRows
        A row source; ``centre`` and ``size`` are the numbers it was made with.

    Examples
    --------
    >>> import numpy as np, separatrix
    >>> rows = separatrix.data.from_blocks([(np.array([[1.0], [3.0]]), [0, 1]), (np.array([[5.0]]), [1])])
    >>> scaled = separatrix.data.standardized(rows)
    >>> scaled.centre.tolist(), [float(x.round(3)) for x in scaled.size]
    ([3.0], [1.633])
    """
    if like is not None:
        if like.width != rows.width:
            raise DataError(f"These rows have {rows.width} columns, those before {like.width}.")
        return ScaledRows(rows, like.centre, like.size)
    found = rows.run(spread_of_block)
    size = np.sqrt(found.squares / max(found.n, 1))
    # a column that is constant but for rounding errors is left as it is, as StandardScaler does
    constant = size <= 10.0 * np.finfo(np.float64).eps * np.abs(found.mean)
    centre = np.zeros(rows.width) if getattr(rows, "sparse", False) else found.mean
    return ScaledRows(rows, centre, np.where(constant | (size == 0), 1.0, size))


def weighted(rows: RowSource, class_weight: Any) -> WeightedRows:
    """The same rows with weights times a factor for each class, as ``class_weight`` of `MaxMargin` says.

    A certificate of a fit with ``class_weight`` speaks of these rows: ``certificate_.verify(weighted(rows, ...))``.

    Parameters
    ----------
    rows : RowSource
    class_weight : dict or "balanced"
        The factor of each class; "balanced": n / (classes * rows of the class), by one pass.

    Returns
    -------
    WeightedRows

    Examples
    --------
    >>> import separatrix
    >>> rows = separatrix.data.from_blocks([([[0.0], [1.0], [2.0]], ["a", "a", "b"])])
    >>> separatrix.data.weighted(rows, "balanced").factors.tolist()
    [0.75, 1.5]
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        count = rows.run(partial(sizes_of_block, len(rows.classes))).vector
        factors = rows.n / (len(count) * count)
    elif isinstance(class_weight, dict):
        unknown = [label for label in class_weight if label not in rows.classes]
        if unknown:
            raise DataError(f"class_weight names {unknown[0]!r}, which is no class: {rows.classes.tolist()}.")
        factors = np.array([float(class_weight.get(label, 1.0)) for label in rows.classes.tolist()])
    else:
        raise DataError(f'class_weight={class_weight!r} is neither "balanced" nor a dict of factors.')
    if not np.all((factors > 0) & np.isfinite(factors)):
        raise ValueError(f"class_weight={class_weight!r} must give every class a positive, finite factor.")
    return WeightedRows(rows, factors)


def spread_of_block(block: MemoryRows) -> Spread:
    block = block.here()
    X: Any = block.whole
    if block.sparse:
        total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
        squares = np.asarray(X.astype(np.float64).power(2).sum(axis=0)).ravel()
        mean = total / max(block.n, 1)
        return Spread(block.n, mean, np.maximum(squares - mean * total, 0.0))
    mean = X.mean(axis=0, dtype=np.float64) if block.n else np.zeros(block.width)
    return Spread(block.n, mean, np.square(X - mean).sum(axis=0, dtype=np.float64))


def sizes_of_block(classes: int, block: MemoryRows) -> Combination:
    count = np.bincount(np.asarray(block.here().codes), minlength=classes).astype(np.float64)
    return Combination(count, float(block.n))
