"""First-order methods for the nearest point of the patterns' convex hull, whose every iterate has a certificate."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any

from separatrix.errors import DataError
from separatrix.fit.batch import IterativeClassifier
from separatrix.fit.declare import between, estimator, one_of
from separatrix.fit.training_data import Data
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.hull_descent import METHODS, HullDescent, RescaledPerceptron, SmoothPerceptron
from separatrix.space import Vector

MOST_COLUMNS = 5000  # of the matrix of the rescaled Perceptron


@estimator
class NearestPoint(IterativeClassifier):
    """The maximum margin as the point of the patterns' convex hull nearest to 0, by first-order methods.

    Every iterate ``v = sum lambda_k y_k`` (lambda >= 0, sum 1) has bounds on the best margin: |v| is never below it,
    and ``min v.y / |v|`` is reached. They meet in the nearest point; where 0 is in the hull no hyperplane separates,
    and lambda is the proof; then the iterate with the fewest errors predicts. A step is a pass over the data.
    `MaxMargin` solves the same problem in far fewer passes; these methods are small enough to be written by hand, and
    show how the bounds close.

    - ``"gilbert"``: towards the pattern with the smallest ``v.y``; slow at the end;
    - ``"kozinec"``: towards the next pattern in order whose ``v.y`` is too small;
    - ``"away"``: Frank and Wolfe's method with away steps, which also step back from patterns; fast at the end;
    - ``"mdm"``: weight moves from the pattern with the largest ``v.y`` to that with the smallest; likewise;
    - ``"smooth"``: the smooth Perceptron - von Neumann method, about sqrt(log n)/gamma steps to a vector that
      separates, on patterns of length 1; after that its margin grows slowly, so its ``tol`` is best left at 1;
    - ``"rescaled"``: the rescaled Perceptron, which stretches the space along vectors that are nearly right, so that
      the number of its steps grows with the logarithm of 1/gamma; it looks for a vector that separates: ``tol=1``.

    Sample weights of 0 leave rows out; others do not matter, except for the weights that "smooth" begins with.

    Parameters
    ----------
    tol : float, default=0.05
        It ends when the margin that is reached is at least ``1 - tol`` of the bound. 1: at the first vector that
        separates.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    MaxMargin : The same margin by exact solvers.
    DynamicMargin : An online rule with a certified share of it.

    References
    ----------
    Gilbert, SIAM J. Control 4 (1966); Mitchell, Dem'yanov & Malozemov, SIAM J. Control 12 (1974); Kozinec (1964);
    Guelat & Marcotte, Mathematical Programming 35 (1986); Soheili & Pena, SIAM J. Optimization 22 (2012);
    Dunagan & Vempala, A Simple Polynomial-Time Rescaling Algorithm for Solving Linear Programs, Mathematical
    Programming 114 (2008).

    Examples
    --------
    >>> from separatrix import NearestPoint
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> model = NearestPoint("away", tol=1e-6).fit(X, y)
    >>> model.converged_, model.coef_.shape
    (True, (1, 1))
    """

    method: Annotated[str, one_of(*METHODS), "How v is moved."] = "gilbert"
    tol: Annotated[float, between(0, 1, "both")] = 0.05
    _: KW_ONLY
    max_iter: int = 100

    def _has_multipliers(self) -> bool:
        return True

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        if any(start is not None for start in starts):
            raise ValueError("NearestPoint starts at a pattern, or at their mean; it takes no coef_init.")
        if self.method == "smooth":
            return [SmoothPerceptron(p, data.weight, float(self.tol)) for p in patterns]
        if self.method == "rescaled":
            if data.width > MOST_COLUMNS:
                raise DataError(
                    f'method="rescaled" keeps a matrix of {data.width + 1} columns; at most {MOST_COLUMNS} are taken.'
                )
            return [RescaledPerceptron(p, data.weight, float(self.tol)) for p in patterns]
        return [HullDescent(p, data.weight, self.method, float(self.tol)) for p in patterns]
