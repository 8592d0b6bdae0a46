"""The table of the computer exercises: ten points of four categories in the plane."""

import numpy as np

TABLE = np.array(
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


def category(k: int) -> np.ndarray:
    """The ten points of category k = 1, ..., 4."""
    return TABLE[:, 2 * (k - 1) : 2 * k]


def pair(i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Categories i (label +1) and j (label -1), one after the other."""
    return np.vstack([category(i), category(j)]), np.repeat([1, -1], 10)


def patterns(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Y of the book: augmented by 1, in front as there, and reflected."""
    return np.asarray(y)[:, None] * np.column_stack([np.ones(len(X)), X])
