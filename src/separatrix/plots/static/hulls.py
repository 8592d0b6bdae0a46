"""The proof that no hyperplane separates, as a picture: the point in which two convex hulls meet.

Gordan's theorem: weights > 0 of some rows combine their patterns to 0. With a bias the weights of both classes have the
same sum. Divided by it, the weighted mean of the rows of one class is that of the other: a point of both convex hulls.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from separatrix.certificates.separability import Separability
from separatrix.errors import DataError
from separatrix.plots.static.style import COLOURS, INK, as_text, axes_for, dense, look, styled

MOST_ROWS = 5000  # other rows that are drawn faintly


@dataclass(frozen=True)
class Meeting:
    """Rows of two classes, their weights (each class sums to 1), and the point that both weighted means are."""

    classes: tuple[Any, Any]
    numbers: tuple[int | None, int | None]  # of the two among all classes; None: all that are not the other one
    rows: np.ndarray
    positive: np.ndarray
    weight: np.ndarray
    point: np.ndarray
    others: np.ndarray  # rows of the two classes that take no part


def meeting_of(answer: Separability, X: Any, y: Any) -> Meeting:
    """The meeting that proves two classes inseparable; of several classes that of the pair with the fewest rows.

    Where every pair is separable, that of one class against the rest.
    """
    y = np.asarray(y)
    classes = np.unique(y)
    if len(classes) == 2:
        return _meeting(answer, X, y == classes[1], np.arange(len(y)), (classes[0], classes[1]), (0, 1))
    pairs = {pair: a for pair, a in answer.one_vs_one.items() if a.infeasibility_proof is not None}
    if pairs:
        pair = min(pairs, key=lambda p: _rows(pairs[p]))
        kept = np.flatnonzero((y == pair[0]) | (y == pair[1]))
        first, second = np.searchsorted(classes, pair).tolist()
        return _meeting(pairs[pair], X, y == pair[1], kept, pair, (first, second))
    total = {c: a for c, a in answer.one_vs_rest.items() if a.infeasibility_proof is not None}
    if not total:
        raise DataError("No two classes, and no class and the rest, are proved inseparable: there is no point to draw.")
    one = min(total, key=lambda c: _rows(total[c]))
    number = int(np.searchsorted(classes, one))
    return _meeting(total[one], X, y == one, np.arange(len(y)), ("the rest", one), (None, number))


def _rows(answer: Separability) -> int:
    return 0 if answer.infeasibility_proof is None else len(answer.infeasibility_proof.rows)


def _meeting(
    answer: Separability, X: Any, positive: np.ndarray, kept: np.ndarray, classes: Any, numbers: Any
) -> Meeting:
    witness = answer.infeasibility_proof
    if witness is None:
        raise DataError("There is no proof of inseparability to draw: " + answer.explanation)
    if answer.certificate is not None and answer.certificate.space.rho == 0:
        raise DataError("Hyperplanes through the origin: the proof is no point in which two hulls meet.")
    rows = kept[witness.rows]
    side = positive[rows]
    weight = np.array(witness.weight)
    for part in (side, ~side):
        weight[part] /= weight[part].sum()
    point = weight[side] @ dense(X[rows[side]])
    return Meeting(classes, numbers, rows, side, weight, point, np.setdiff1d(kept, rows))


class ProofDisplay:
    """The proof that no hyperplane separates: rows of two classes whose convex hulls meet, and the point in both.

    Parameters
    ----------
    meeting : Meeting
        The rows of the proof, their weights and the point.
    sides : list of (points, others)
        Of each class, the places of the rows of the proof and of some other rows in the plane.
    point : ndarray of shape (2,)
    labels : tuple of str

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import separability
    >>> from separatrix.plots import ProofDisplay
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    >>> ProofDisplay.computed(separability(X, y), X, y).title
    'Not linearly separable: the convex hulls of 0 and 1 meet'
    """

    def __init__(self, *, meeting: Meeting, sides: list[Any], point: np.ndarray, labels: tuple[str, str]):
        self.meeting, self.sides, self.point, self.labels = meeting, sides, point, labels

    @classmethod
    def computed(cls, answer: Separability, X: Any, y: Any, *, feature_names: Any = None) -> Any:
        """Place the rows in the plane without drawing them; more than two features are projected."""
        X, y = X if hasattr(X, "tocsr") else dense(X), np.asarray(y)
        found = meeting_of(answer, X, y)
        others = found.others
        if len(others) > MOST_ROWS:
            others = np.random.default_rng(0).choice(others, MOST_ROWS, replace=False)
        if X.shape[1] == 2:
            names = ("feature 1", "feature 2") if feature_names is None else feature_names
            labels, place, centre = (str(names[0]), str(names[1])), np.eye(2), np.zeros(2)
        else:
            labels = ("first principal direction of the proof", "second principal direction")
            place, centre = plane(dense(X[found.rows]), found.point)
        rest = (np.asarray(X[others] @ place.T) - place @ centre) if len(others) else np.zeros((0, 2))
        sides = []
        for side in (False, True):
            points = dense(X[found.rows[found.positive == side]]) @ place.T - place @ centre
            sides.append((points, rest[(y[others] == found.classes[1]) == side]))
        return cls(meeting=found, sides=sides, point=place @ (found.point - centre), labels=labels)

    @property
    def title(self) -> str:
        negative, positive = self.meeting.classes
        return f"Not linearly separable: the convex hulls of {negative} and {positive} meet"

    def plot(self, ax: Any = None) -> Any:
        with styled():
            ax = axes_for(ax)
            for k, (points, others) in enumerate(self.sides):
                number, name = self.meeting.numbers[k], as_text(self.meeting.classes[k])
                looks = {"color": "#888888", "marker": "o"} if number is None else look(number)
                weight = self.meeting.weight[self.meeting.positive == bool(k)]
                ax.scatter(*others.T, s=10, alpha=0.25, lw=0, **looks)
                border = hull_border(points)
                ax.fill(*border.T, color=looks["color"], alpha=0.2)
                ax.plot(*np.vstack([border, border[:1]]).T, color=looks["color"], lw=1.5)
                size = 25 + 110 * weight / weight.max()
                ax.scatter(*points.T, s=size, edgecolors=INK, lw=0.8, label=name, zorder=3, **looks)
            ax.plot(*self.point, "*", color=COLOURS[5], mec=INK, ms=16, label="both hulls hold this", zorder=4)
            ax.set_title(as_text(self.title))
            ax.set(xlabel=as_text(self.labels[0]), ylabel=as_text(self.labels[1]))
            ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plane(points: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    directions = np.linalg.svd(points - point, full_matrices=False)[2][:2]
    if len(directions) < 2:
        directions = np.vstack([directions, np.zeros((2 - len(directions), points.shape[1]))])
    return directions, point


def hull_border(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of points in the plane, in their order; two where they lie on a line."""
    if len(points) < 3:
        return points
    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        along = points @ np.linalg.svd(points - points.mean(axis=0))[2][0]
        return points[[along.argmin(), along.argmax()]]
