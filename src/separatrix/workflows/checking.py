"""Separability and its proof, nothing else."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.io.data.formats import as_table
from separatrix.io.data.prepare import prepare
from separatrix.io.data.table import Table
from separatrix.proof.separability import Separability, separability
from separatrix.workflows.asked import DEFAULTS, Options, Tell, begin


@dataclass(frozen=True)
class Checked:
    """The data and the answer."""

    table: Table
    answer: Separability


def check(
    data: Any, options: Options = DEFAULTS, tell: Tell | None = None, *, through_origin: bool = False, **reading: Any
) -> Checked:
    """Whether a hyperplane separates the classes of a table or a file; ``reading`` as in `read_table`."""
    begin(tell, "Reading")
    table = as_table(data, **reading)
    _, X, _ = prepare(table, **options.preparation)
    begin(tell, "Is it separable?")
    limit = options.max_time or np.inf
    return Checked(table, separability(X, table.y, fit_intercept=not through_origin, max_time=limit))
