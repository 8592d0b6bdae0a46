"""What a fit predicts with, and when it is long enough.

``until="accurate"``: so many epochs, and the mean of the vector over the second half of them; the last vector if an
epoch passed without an update. ``until="separated"``: the algorithm of the theorem, with its last vector.
``average=True`` is the mean over all visits, in either case.
"""

from collections.abc import Callable
from math import ceil
from typing import Annotated, Any, NamedTuple

import numpy as np

from separatrix.fit.recipe import Recipe
from separatrix.online.loops.averaging import (
    Mean,
    Nothing,
    begin_mean,
    end_mean,
    mean_in,
    mean_or_last,
    room_for_a_mean,
)
from separatrix.online.loops.state import NORM2, VISITS
from separatrix.online.training import Training
from separatrix.rules.base import attribute
from separatrix.space import Vector

Average = Annotated[bool, "Predict with the mean of the vector over all visits instead of the last one."]
ENOUGH_VISITS = 5000  # rows that an accurate fit looks at, at least: 105 rows of iris need 48 epochs
FEWEST_EPOCHS = 5  # of an accurate fit, unless a rule wants more or fewer


class Length(NamedTuple):
    """Of a fit: its epochs, at most, those of them before the mean begins, and what its end is called."""

    epochs: int
    before: int
    reason: str


def enough_epochs(rows: int, fewest: int = FEWEST_EPOCHS) -> int:
    """Return the epochs of an accurate fit to so many rows."""
    return max(fewest, ceil(ENOUGH_VISITS / max(rows, 1)))


def length_of(owner: Any, rows: int) -> Length:
    """How long a fit to so many rows is."""
    most = int(owner.max_iter)
    if owner.until == "separated":
        return Length(most, most, "max_iter")
    enough = enough_epochs(rows, owner._epochs)
    epochs = min(enough, most)
    return Length(epochs, epochs // 2, "epochs" if enough <= most else "max_iter")


def takes_half(owner: Any, recipe: Recipe) -> bool:
    """Is the answer the mean over the second half of the epochs?"""
    return owner.until == "accurate" and recipe.averaging != "none" and not getattr(owner, "average", False)


def begin_half(owner: Any, recipe: Recipe, training: Training) -> None:
    """Half of the epochs have passed."""
    if takes_half(owner, recipe):
        begin_mean(training.state)


def end_half(owner: Any, training: Training) -> None:
    """The last vector separates, or a fit begins anew: no mean."""
    if not getattr(owner, "average", False):
        end_mean(training.state)


def with_mean(owner: Any, recipe: Recipe) -> Recipe:
    """The recipe, with the mean that ``until`` and ``average`` ask for if the rule keeps nothing of its own."""
    average = bool(getattr(owner, "average", False))
    has_a_sum = recipe.memory is None and recipe.averaging != "none" and attribute(recipe.rule, "loop") == "additive"
    if average and not has_a_sum:
        raise ValueError(f"{owner!r} keeps no mean of its vectors: average must be False.")
    if not has_a_sum or (owner.until == "separated" and not average):
        return recipe

    def room(training: Training) -> Mean:
        mean = room_for_a_mean(training.patterns.d + 1, recipe.averaging == "directions")
        if average:
            begin_mean(training.state._replace(memory=mean))
        return mean

    return recipe._replace(memory=room, predicting=averaged(recipe.predicting))


def averaged(last: Callable[[Training], Vector]) -> Callable[[Training], Vector]:
    """The function for the vector that predicts: the mean if there is one, else the ``last`` vector."""

    def predicting(training: Training) -> Vector:
        return mean_or_last(training.state, last(training), float(training.state.real[NORM2]))

    return predicting


def remembering(training: Training, recipe: Recipe) -> Any:
    """The memory of a problem, for a start or to go on."""
    memory = training.state.memory
    if isinstance(memory, Nothing):
        return memory if recipe.memory is None else recipe.memory(training)
    if isinstance(memory, Mean) and mean_in(memory) is None:  # of a model of 0.1.0: over all visits, without factors
        visits = float(training.state.counts[VISITS])
        return Mean(memory.late, np.zeros_like(memory.late), np.array([visits, visits, 0.0]))
    if hasattr(memory, "mean") and mean_in(memory) is None:
        return memory._replace(mean=room_for_a_mean(len(training.state.v)))
    return memory
