"""Points to begin with."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from separatrix.reproductions.dhs.data import category
from separatrix.studio.board import Board

Points = tuple[np.ndarray, np.ndarray, tuple[str, str]]  # places, numbers of classes, names of the axes
AXES = ("x1", "x2")
SEPARABLE = 39  # a seed whose clouds a line separates by little


def _clouds(middles: Any, each: int, width: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(middles)), each)
    return np.asarray(middles)[codes] + width * draws.normal(size=(len(codes), 2)), codes


def separable() -> Points:
    X, codes = _clouds([[-0.9, -0.3], [0.9, 0.9]], 14, 0.48, SEPARABLE)
    return X, codes, AXES


def one_too_many() -> Points:
    """The same, with a point of one class among the other: no line separates them any more."""
    X, codes, axes = separable()
    return np.vstack([X, [[1.1, 0.8]]]), np.append(codes, 0), axes


def xor() -> Points:
    X, corner = _clouds([[-1, -1], [1, 1], [-1, 1], [1, -1]], 6, 0.25, 0)
    return X, corner // 2, AXES


def rings() -> Points:
    draws = np.random.default_rng(0)
    angle = draws.uniform(0, 2 * np.pi, 48)
    size = np.where(np.arange(48) < 20, 0.5, 1.6) + 0.12 * draws.normal(size=48)
    return np.column_stack([size * np.cos(angle), size * np.sin(angle)]), (np.arange(48) >= 20).astype(int), AXES


def book() -> Points:
    """The four categories of the book's computer exercises."""
    return np.vstack([category(k) for k in range(1, 5)]), np.repeat(np.arange(4), 10), AXES


def iris() -> Points:
    from sklearn.datasets import load_iris

    data = load_iris()
    X = data.data[:, 2:] + np.random.default_rng(0).uniform(-0.02, 0.02, (150, 2))  # equal rows would hide each other
    return X, data.target, ("petal length, cm", "petal width, cm")


def five_hundred() -> Points:
    X, codes = _clouds([[-1.3, 0.0], [1.3, 0.3]], 250, 0.6, 1)
    return X, codes, AXES


SETS: dict[str, Callable[[], Points]] = {
    "separable": separable,
    "one point too many": one_too_many,
    "XOR": xor,
    "rings": rings,
    "the book's four categories": book,
    "iris, petals": iris,
    "500 points": five_hundred,
}
OWN = "(your own)"  # points that are none of them


@cache
def _boards() -> dict[str, Board]:
    return {name: Board.of(*make()) for name, make in SETS.items()}


def set_of(board: Board) -> str:
    """The name of the set that the points of a board are, as long as none was changed."""
    for name, known in _boards().items():
        if np.array_equal(known.points, board.points) and np.array_equal(known.codes, board.codes):
            return name
    return OWN
