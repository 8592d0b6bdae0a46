"""Drawing in the plane: points of two classes, boundaries and normals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.plots.static.style import look


def points(axes: Any, X: np.ndarray, y: np.ndarray, size: float = 22, **style: Any) -> None:
    """Points of the classes +1 and -1."""
    for k, label in enumerate((1, -1)):
        axes.scatter(*X[y == label].T, s=size, linewidths=0, **look(k), **style)


def boundary(axes: Any, w: np.ndarray, b: float = 0.0, **style: Any) -> None:
    """The line w.x + b = 0 through the whole picture."""
    if not np.any(w):
        return
    foot = -b * w / (w @ w)
    along = np.array([-w[1], w[0]])
    axes.axline(foot, foot + along, **{"color": "black", "linewidth": 1.2, **style})


def normal(axes: Any, w: np.ndarray, **style: Any) -> None:
    """The normal vector w as an arrow from the origin."""
    style = {"color": "black", "arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, **style}
    axes.annotate("", xy=tuple(w), xytext=(0.0, 0.0), arrowprops=style)


def window(axes: Any, X: np.ndarray, extra: Sequence[np.ndarray] = (), title: str = "") -> None:
    """A square window around the data and the origin, equal scales."""
    corners = np.vstack([X, np.zeros((1, 2)), *(np.atleast_2d(e) for e in extra)])
    centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
    half = 0.58 * float((corners.max(axis=0) - corners.min(axis=0)).max())
    axes.set(xlim=(centre[0] - half, centre[0] + half), ylim=(centre[1] - half, centre[1] + half))
    axes.set_aspect("equal")
    axes.set_title(title, fontsize=9)
    axes.tick_params(labelsize=7)
