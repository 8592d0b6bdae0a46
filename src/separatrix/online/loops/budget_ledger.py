"""What a fit with a budget of rows remembers besides its vector."""

from typing import NamedTuple

import numpy as np

HELD, MISTAKES, SPENT, SHRUNK, ERROR = 0, 1, 2, 3, 4  # places in Ledger.sums


class Ledger(NamedTuple):
    """The rows of the vector, the oldest first, a row as often as it was added; and sums of the run."""

    rows: np.ndarray  # budget + 1
    sizes: np.ndarray  # budget + 1: their multiples
    sums: np.ndarray  # entries held, mistakes, what removals cost, sum of 1 - phi, the largest |y - P y|/R
