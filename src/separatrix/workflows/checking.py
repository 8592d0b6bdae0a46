"""Separability and its proof, nothing else."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.io.data.formats import as_table
from separatrix.io.data.prepare import prepare
from separatrix.io.data.table import Table
from separatrix.proof.separability import Separability, separability
from separatrix.workflows.watched import Tell, begin


@dataclass(frozen=True)
class Checked:
    """The data and the answer."""

    table: Table
    answer: Separability


def check(
    data: Any,
    *,
    through_origin: bool = False,
    scale: bool = False,
    encode: bool = False,
    impute: bool = False,
    max_time: float | None = None,
    tell: Tell | None = None,
    **reading: Any,
) -> Checked:
    """Whether a hyperplane separates the classes of a table or a file; options as in `fit` and `read_table`."""
    begin(tell, "Reading")
    table = as_table(data, **reading)
    X = prepare(table, scale=scale, encode=encode, impute=impute).X
    begin(tell, "Is it separable?")
    return Checked(table, separability(X, table.y, fit_intercept=not through_origin, max_time=max_time or np.inf))
