"""Numbers of Duda, Hart & Stork, chapter 5: example 1, the six points of problem 25, the table of the exercises."""

from itertools import combinations

import numpy as np

EXAMPLE_1 = np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]]), np.array([1, 1, 0, 0])
PROBLEM_25 = (
    np.array([[1.0, 2.0], [2.0, -4.0], [-3.0, -1.0], [2.0, 4.0], [-1.0, -5.0], [5.0, 0.0]]),
    np.array([1, 1, 1, 2, 2, 2]),
)

TABLE = np.array(  # the computer exercises: x1, x2 of each of the four categories
    [
        [0.1, 1.1, 7.1, 4.2, -3.0, -2.9, -2.0, -8.4],
        [6.8, 7.1, -1.4, -4.3, 0.5, 8.7, -8.9, 0.2],
        [-3.5, -4.1, 4.5, 0.0, 2.9, 2.1, -4.2, -7.7],
        [2.0, 2.7, 6.3, 1.6, -0.1, 5.2, -8.5, -3.2],
        [4.1, 2.8, 4.2, 1.9, -4.0, 2.2, -6.7, -4.0],
        [3.1, 5.0, 1.4, -3.2, -1.3, 3.7, -0.5, -9.2],
        [-0.8, -1.3, 2.4, -4.0, -3.4, 6.2, -5.3, -6.7],
        [0.9, 1.2, 2.5, -6.1, -4.1, 3.4, -8.7, -6.4],
        [5.0, 6.4, 8.4, 3.7, -5.1, 1.6, -7.1, -9.7],
        [3.9, 4.0, 4.1, -2.2, 1.9, 5.1, -8.0, -6.3],
    ]
)
PAIRS = list(combinations((1, 2, 3, 4), 2))


def categories(*which):
    """The rows of some categories, and their numbers as labels."""
    X = np.vstack([TABLE[:, 2 * c - 2 : 2 * c] for c in which])
    return X, np.repeat(which, len(TABLE))
