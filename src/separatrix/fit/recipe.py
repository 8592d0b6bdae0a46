"""How an online estimator trains a problem, and what is kept of the problem between two calls."""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from separatrix.online.loops.state import State
from separatrix.online.training import UNLIMITED, Training
from separatrix.space import Space, Vector


class Recipe(NamedTuple):
    """A rule, and what it needs besides; the same for all problems of a fit."""

    rule: Any
    memory: Callable[[Training], Any] | None = None  # what the loop keeps besides the vector, for a start
    weight: Callable[[Training, dict[str, Any]], Vector] | None = None  # sample weights as the rule wants them
    relative: bool = False  # sample weights are divided by their mean: a step of this rule has a size of its own
    rates: Callable[[int, int], Vector] | None = None  # a table of a user's eta(k)
    limit: int = UNLIMITED  # of updates, where the algorithm has one of its own
    predicting: Callable[[Training], Vector] = attrgetter("vector")  # the vector that predicts, as it is now
    predicts: bool = True  # it is coef_; otherwise it only witnesses separability
    ended: Callable[[Training], bool] | None = None  # a test after every epoch, besides that of an epoch without update
    averaging: str = "visits"  # how a mean counts vectors: "directions" give them one length; "none": there is no mean
    complete_after: str = "converged"  # the way to end that is as good as convergence


def relative_weights(weight: Vector) -> Vector:
    """Weights with the mean 1; equal ones are exactly 1, and a power of two as a common factor changes no bit."""
    shares = weight / weight.max()
    return shares / shares.mean()


@dataclass
class Record:
    """One problem: the data that it saw first, where it stands, and how it ended."""

    # What a rule's parameters may depend on; fixed by the first data.
    n: int
    d: int
    radius2: float
    peak: float  # max |y_ki|, 0 where the rule has no use for it
    space: Space
    # What is needed to go on.
    radius: float  # the largest of all blocks
    state: State | Any = None
    from_zero: bool = True
    reason: str = ""
    patience: dict[str, Any] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)  # what `Recipe.weight` remembers
