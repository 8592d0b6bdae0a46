"""Separability and its proof, nothing else."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.app.tables.formats import as_table
from separatrix.app.tables.prepare import prepare, prepared_names
from separatrix.app.tables.table import Table
from separatrix.app.workflows.advice import advise, raise_if_strict
from separatrix.app.workflows.options import DEFAULTS, Options, Tell, begin
from separatrix.certificates.fewest_errors import FewestErrors, fewest_errors
from separatrix.certificates.negative_margin import NegativeMargin, negative_margin
from separatrix.certificates.separability import Separability, separability
from separatrix.errors import DataError

FOR_ERRORS = 5.0  # seconds for the fewest errors
FOR_MARGIN, FEW_ENTRIES = 2.0, 50_000  # seconds for the best margin, and entries of X up to which it is looked for


@dataclass(frozen=True)
class Checked:
    """The data and the answer, and what a colleague would say of the data."""

    table: Table
    answer: Separability
    notes: list[str]
    errors: FewestErrors | None = None  # of two classes that are not separable
    margin: NegativeMargin | None = None  # likewise, where that takes little time


def check(
    data: Any, options: Options = DEFAULTS, tell: Tell | None = None, *, through_origin: bool = False, **reading: Any
) -> Checked:
    """Whether a hyperplane separates the classes of a table or a file; ``reading`` as in `read_table`."""
    begin(tell, "Reading")
    table = as_table(data, **reading)
    raw, X, steps = prepare(table, **options.preparation)
    notes = raise_if_strict(advise(table, raw, X, folds=0, scaled=True, weighted=True), options.strict)
    begin(tell, "Is it separable?")
    limit = options.max_time or np.inf
    weak = len(np.unique(table.y)) == 2  # several classes ask about every pair and a linear machine
    answer = separability(X, table.y, fit_intercept=not through_origin, max_time=limit, check_quasi=weak)
    answer = answer.named(prepared_names(table, steps, X.shape[1]), table.target, values=not options.scale)
    errors = margin = None
    if answer.separable is False and not answer.one_vs_rest:
        begin(tell, "What are the fewest errors?")
        errors = fewest_errors(X, table.y, fit_intercept=not through_origin, max_time=min(limit, FOR_ERRORS))
        if X.shape[0] * X.shape[1] <= FEW_ENTRIES:
            with suppress(DataError):  # a margin so near to 0 that a linear program sees none
                margin = negative_margin(X, table.y, fit_intercept=not through_origin, max_time=min(limit, FOR_MARGIN))
    return Checked(table, answer, [*table.notes, *notes], errors, margin)
