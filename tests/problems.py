"""Small named problems over which properties are asserted: functions that return ``(X, y)``."""

import numpy as np


def blobs_2d():
    """Two separable clouds in the plane."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(-2.0, 0.8, (15, 2)), rng.normal(2.0, 0.8, (15, 2))])
    return X, np.repeat([0, 1], 15)


def margin_6d():
    """Separable in 6 dimensions: cut by a random hyperplane off the origin, with nothing within 0.2 of it."""
    rng = np.random.default_rng(2)
    X, w = rng.normal(size=(200, 6)), rng.normal(size=6)
    distance = (X @ w + 0.5) / np.linalg.norm(w)
    far = np.abs(distance) > 0.2
    return X[far][:40], np.where(distance[far][:40] > 0, "yes", "no")


def overlapping():
    """Two clouds that no line separates."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(-0.5, 1.0, (18, 2)), rng.normal(0.5, 1.0, (12, 2))])
    return X, np.repeat([-1, 1], [18, 12])


def integer_ties():
    """A grid of integers, cut along a diagonal: equal rows, rows on one line, products that tie exactly."""
    X = np.array(
        [[i, j] for i in range(-2, 3) for j in range(-2, 3) if i + j != 1] + [[2, 2], [-1, 0]], dtype=np.float64
    )
    return X, (X.sum(axis=1) > 1).astype(int)


def wide():
    """Fewer rows than features, many of them zero."""
    rng = np.random.default_rng(5)
    X = np.where(rng.random((8, 20)) < 0.4, rng.normal(size=(8, 20)), 0.0)
    return X, np.array([0, 1, 1, 0, 1, 0, 0, 1])


def one_feature():
    """Thresholds on a line, away from the origin."""
    return np.array([[0.3], [0.9], [1.4], [2.1], [2.6], [3.7], [4.4]]), np.array([0, 0, 0, 1, 1, 1, 1])


PROBLEMS = [blobs_2d, margin_6d, overlapping, integer_ties, wide, one_feature]
SEPARABLE = [problem for problem in PROBLEMS if problem is not overlapping]
