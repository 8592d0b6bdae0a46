"""Numbers of Duda, Hart & Stork, chapter 5: example 1, the six points of problem 25, the table of the exercises."""

from itertools import combinations

import numpy as np

from separatrix.experiments.dhs.data import TABLE  # the computer exercises: x1, x2 of each of the four categories

EXAMPLE_1 = np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]]), np.array([1, 1, 0, 0])
PROBLEM_25 = (
    np.array([[1.0, 2.0], [2.0, -4.0], [-3.0, -1.0], [2.0, 4.0], [-1.0, -5.0], [5.0, 0.0]]),
    np.array([1, 1, 1, 2, 2, 2]),
)

PAIRS = list(combinations((1, 2, 3, 4), 2))


def categories(*which):
    """The rows of some categories, and their numbers as labels."""
    X = np.vstack([TABLE[:, 2 * c - 2 : 2 * c] for c in which])
    return X, np.repeat(which, len(TABLE))
