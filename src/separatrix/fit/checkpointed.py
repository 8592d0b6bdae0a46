"""Fits that survive: the passes of a fit over out-of-core rows, kept in the file that ``checkpoint`` names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from separatrix.errors import NotSeparableError
from separatrix.passes.journal import JournaledRows

if TYPE_CHECKING:
    from separatrix.fit.training_data import Data
    from separatrix.fit.watch import Watch

Checkpoint = Annotated[
    str | Path | None,
    "A file in which a fit to out-of-core rows is kept while it runs. If the fit was killed, the same call "
    "resumes it and ends with the same bits. The file is guarded by the fingerprint of rows and parameters.",
]
FREE = ("checkpoint", "n_jobs", "max_time")  # parameters that change no bit of what passes tell


@contextmanager
def checkpointed(owner: Any, data: "Data", watch: "Watch", start: dict[str, Any]) -> Iterator["Data"]:
    """The data of a fit whose estimator has a checkpoint, with their passes kept there."""
    if data.here:
        raise ValueError("checkpoint= requires out-of-core data: separatrix.data.open_files, from_blocks or from_dask.")
    with JournaledRows(data.rows, owner.checkpoint, guard(owner, start)) as rows:
        try:
            yield data._replace(rows=rows)
        except NotSeparableError:
            rows.finish()
            raise
        if not watch.stop.reason:
            rows.finish()


def guard(owner: Any, start: dict[str, Any]) -> str:
    """What a run depends on beside its rows."""
    params = {k: v for k, v in owner.get_params().items() if k not in FREE}
    given = {k: None if v is None else np.asarray(v).tolist() for k, v in start.items()}
    return f"{type(owner).__name__} {params} {given}"
