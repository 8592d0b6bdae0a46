"""Prediction with the mean of the vector over all visits, for every rule whose vector is a sum of corrections."""

from typing import Any

import numpy as np

from separatrix.fit.recipe import Recipe
from separatrix.online.loops.averaging import Mean, average
from separatrix.online.loops.state import VISITS
from separatrix.online.training import Training
from separatrix.space import Vector

AVERAGE = {"average": ["boolean"]}


def with_mean(owner: Any, recipe: Recipe) -> Recipe:
    """The recipe as it is, or with the mean where ``owner.average`` asks for it."""
    if not owner.average:
        return recipe
    if hasattr(recipe.rule, "keep") or hasattr(recipe.rule, "shrink"):
        raise ValueError(
            f"{owner!r} rescales the vector, which has no mean over the visits then: average must be False."
        )
    return recipe._replace(memory=_room_for_the_mean, predicting=_averaged)


def _room_for_the_mean(training: Training) -> Mean:
    return Mean(np.zeros(training.patterns.d + 1))


def _averaged(training: Training) -> Vector:
    """The mean of the vector over all visits."""
    return average(training.state.memory.late, training.vector, int(training.state.counts[VISITS]))
