"""From scores to probabilities: a logistic regression on the scores of rows that the fit did not see (Platt 1999)."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from separatrix.errors import ModelError


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
    def from_dict(cls, told: Any, scores: int, classes: int) -> "Calibration":
        """What a model file holds, if it fits the model."""
        try:
            made = cls(np.array(told["weight"], dtype=np.float64), np.array(told["bias"], dtype=np.float64))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("Its calibration cannot be read.") from error
        finite = np.all(np.isfinite(made.weight)) and np.all(np.isfinite(made.bias))
        if made.weight.shape != (scores, classes) or made.bias.shape != (classes,) or not finite:
            raise ModelError("Its calibration does not fit its classes.")
        return made


def calibrate(scores: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> Calibration:
    """The calibration of scores of shape (n, k) to the classes of their rows, every one of which occurs.

    Scores are divided by their spread first, so that scikit-learn's penalty is mild whatever their unit; it keeps
    probabilities away from 0 and 1 where the scores tell the classes apart.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    spread = scores.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last digits of probabilities mean nothing
        model = LogisticRegression(max_iter=1000).fit(scores / spread, codes)
    weight, bias = model.coef_.T / spread[:, None], model.intercept_
    if len(classes) == 2:  # one vector stands for the difference of two
        weight, bias = np.hstack([np.zeros_like(weight), weight]), np.append(0.0, bias)
    return Calibration(weight, bias)
