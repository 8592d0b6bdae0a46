"""Probabilities from scores of rows that the fit did not see: isotonic regression, or Platt's logistic regression."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

from separatrix.errors import ModelError

STEEPEST = 100.0  # slope of scores of spread 1: a score of 1 is certain
ROWS_FOR_ISOTONIC = 1000  # below, a monotone function of free form follows single rows


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities ``softmax(scores W + b)``: W of shape (scores, classes), b of shape (classes,)."""

    weight: np.ndarray
    bias: np.ndarray

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        return softmax(scores.reshape(len(scores), -1) @ self.weight + self.bias, axis=1)

    def as_dict(self) -> dict[str, Any]:
        return {"weight": self.weight.tolist(), "bias": self.bias.tolist()}

    @classmethod
    def from_dict(cls, content: Any, scores: int, classes: int) -> "Calibration":
        """What a model file holds, if it fits the model."""
        try:
            made = cls(np.array(content["weight"], dtype=np.float64), np.array(content["bias"], dtype=np.float64))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("The calibration table is unreadable.") from error
        finite = np.all(np.isfinite(made.weight)) and np.all(np.isfinite(made.bias))
        if made.weight.shape != (scores, classes) or made.bias.shape != (classes,) or not finite:
            raise ModelError("Its calibration does not fit its classes.")
        return made


@dataclass(frozen=True, eq=False)
class IsotonicCalibration:
    """Increasing functions of the scores, linear between ``scores``, with values in ``shares``; divided by their sum.

    Two classes have one, the probability of the second; more have one for each class against the rest.
    """

    scores: list[np.ndarray]
    shares: list[np.ndarray]

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        columns = scores.reshape(len(scores), -1).T
        found = [np.interp(s, x, p) for s, x, p in zip(columns, self.scores, self.shares, strict=True)]
        if len(found) == 1:
            return np.column_stack([1.0 - found[0], found[0]])
        table = np.column_stack(found)
        return table / table.sum(axis=1, keepdims=True)


def calibrate(
    scores: np.ndarray, codes: np.ndarray, classes: np.ndarray, weight: np.ndarray | None = None
) -> Calibration:
    """The calibration of scores of shape (n, k) to the classes of their rows (Platt 1999; of several classes softmax).

    Scores are divided by their spread first, so that scikit-learn's penalty is mild whatever their unit; it keeps
    probabilities away from 0 and 1 where the scores tell the classes apart. A class without rows has probability 0.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    present = np.unique(codes)
    whole = np.zeros((scores.shape[1], len(classes))), np.full(len(classes), -np.inf)
    if len(present) == 1:
        whole[1][present] = 0.0
        return Calibration(*whole)
    mean = np.average(scores, axis=0, weights=weight)
    spread = np.sqrt(np.average((scores - mean) ** 2, axis=0, weights=weight))
    spread = np.where(spread > 0, spread, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last digits of probabilities mean nothing
        model = LogisticRegression(max_iter=1000).fit(scores / spread, codes, sample_weight=weight)
    slope, bias = model.coef_.T / spread[:, None], model.intercept_
    if len(present) == 2:  # one vector stands for the difference of two
        slope, bias = np.hstack([np.zeros_like(slope), slope]), np.append(0.0, bias)
    whole[0][:, present], whole[1][present] = slope, bias
    return Calibration(*whole)


def calibrate_slope(
    scores: np.ndarray, codes: np.ndarray, classes: np.ndarray, weight: np.ndarray | None
) -> Calibration:
    """The calibration by one slope and no intercept: the most probable class is the one that the scores predict.

    A score of 0 stands for 1/2, as the minimizer of the squared hinge has it: f = 2 P(positive|x) - 1. The penalty is
    that of `calibrate`.
    """
    from scipy.optimize import minimize_scalar

    table = np.hstack([np.zeros_like(scores), scores]) if len(classes) == 2 else scores
    rows, spread = np.arange(len(codes)), float(np.sqrt(np.average(scores**2, weights=_each(scores, weight)))) or 1.0
    share = np.ones(len(codes)) if weight is None else weight

    def loss(t: float) -> float:
        logarithms = log_softmax(t * (table / spread), axis=1)[rows, codes]
        return float(0.5 * t * t - share @ logarithms)

    slope = float(minimize_scalar(loss, bounds=(0.0, STEEPEST), method="bounded").x) / spread
    eye = np.array([[0.0, slope]]) if len(classes) == 2 else slope * np.eye(len(classes))
    return Calibration(eye, np.zeros(len(classes)))


def _each(scores: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
    return None if weight is None else np.broadcast_to(weight[:, None], scores.shape)


def calibrate_isotonic(
    scores: np.ndarray, codes: np.ndarray, classes: np.ndarray, weight: np.ndarray | None = None
) -> IsotonicCalibration:
    """The calibration by increasing functions (Zadrozny & Elkan 2002).

    A share of 0 or 1 among n rows becomes 1/(n + 2) or 1 - 1/(n + 2), by the rule of succession: no finite number of
    rows proves that something never happens.
    """
    from sklearn.isotonic import IsotonicRegression

    least = 1.0 / (len(codes) + 2.0)
    points, shares = [], []
    for k in range(scores.shape[1]):
        positive = codes == (1 if len(classes) == 2 else k)
        model = IsotonicRegression().fit(scores[:, k], positive.astype(np.float64), sample_weight=weight)
        points.append(np.asarray(model.X_thresholds_, dtype=np.float64))
        shares.append(np.clip(np.asarray(model.y_thresholds_, dtype=np.float64), least, 1.0 - least))
    return IsotonicCalibration(points, shares)
