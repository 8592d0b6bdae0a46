"""Files whose blocks are read by the workers of a cluster, which see the same folders."""

from typing import Any

from separatrix.data.dask_rows import DaskRows
from separatrix.data.file_rows import FileRows
from separatrix.data.row_source import Part, PartSource, joined
from separatrix.errors import DataError


def on_cluster(rows: FileRows) -> DaskRows:
    """The same rows, read where the work is done. Files that can only be read from their beginning are a block each."""
    from dask import delayed

    parts, step = [], rows.inventory.step
    for number, source in enumerate(rows.sources):
        places = [place for place in rows.places if place.source == number]
        cuts: list[tuple[int, int | None]] = [(place.within, place.n) for place in places]
        if source.height is None:
            cuts = [(0, None)] if places else []
        for first, n in cuts:
            part = delayed(_read, pure=True)(source, first, n, step)
            weight = delayed(getattr)(part, "weight") if source.weighted else None
            parts.append((delayed(getattr)(part, "X"), delayed(getattr)(part, "y"), weight))
    return DaskRows(parts, rows.fingerprint, rows.names)


def _read(source: PartSource, first: int, n: int | None, step: int) -> Part:
    source.check_unchanged()
    found: list[Any] = []
    for part in source.parts(step, first):
        found.append(part)
        if n is not None:
            break
    part = joined(found)
    if n is not None and part.n != n:
        raise DataError(f"{source.name} has other rows than before: it has changed while it was read.")
    return part
