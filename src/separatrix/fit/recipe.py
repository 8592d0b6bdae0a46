"""How an online estimator trains a problem, and what is kept of the problem between two calls.

``until="accurate"``: so many epochs, and the mean of the vector over the second half of them; the last vector if an
epoch passed without an update. ``until="separated"``: the algorithm of the theorem, with its last vector.
``average=True`` is the mean over all visits, in either case.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from separatrix.errors import DataError
from separatrix.online.loops.averaging import (
    BEGUN,
    SWITCHED_OFF,
    Mean,
    Nothing,
    begin_mean,
    end_mean,
    mean_in,
    mean_or_last,
    room_for_a_mean,
)
from separatrix.online.loops.state import EPOCHS, NORM2, UPDATES, VISITS, State
from separatrix.online.training import UNLIMITED, Training
from separatrix.passes.plain_patterns import Patterns
from separatrix.rules.base import attribute
from separatrix.space import Space, Vector

Average = Annotated[bool, "Predict with the mean of the vector over all visits instead of the last one."]
ENOUGH_VISITS = 5000  # rows that an accurate fit looks at, at least: 105 rows of iris need 48 epochs
FEWEST_EPOCHS = 5  # of an accurate fit, unless a rule wants more or fewer
POWERS = {"1/k": -1.0, "k": 1.0}


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

    def ending(self, reason: str) -> str:
        """How a problem ended, where another end is as good as convergence."""
        return "converged" if reason == self.complete_after else reason

    def prepare(self, training: Training, record: "Record", start: Vector | None, block: bool = False) -> None:
        """Begin to train a problem: from a start, from where it stood, or on a new ``block`` of data."""
        if record.state is None:
            training.start(start)
        else:
            training.from_zero = record.from_zero
            (training.resume_on_new_block if block else training.resume)(record.state)
        training.table = self.rates
        training.state = training.state._replace(memory=remembering(training, self.memory))
        if self.weight is not None:
            training.weight = self.weight(training, record.own)


def relative_weights(weight: Vector) -> Vector:
    """Weights with the mean 1; equal ones are exactly 1, and a power of two as a common factor changes no bit."""
    shares = weight / weight.max()
    return shares / shares.mean()


@dataclass(frozen=True)
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
    mark: str | None = None  # the fingerprint of its data, if a fit may go on

    def stands(self, training: Training, reason: str, **more: Any) -> "Record":
        """The record of where a training stands."""
        return replace(self, state=training.state, from_zero=training.from_zero, reason=reason, **more)


class Before(NamedTuple):
    """What a call goes on from: the seed of orders, and what earlier calls left of the problems, if they left any;
    ``first`` is the number of the first of them."""

    seed: int
    records: list[Record] | None = None
    first: int = 0

    def pair(self, p: int) -> "Before":
        return Before(self.seed, None if self.records is None else [self.records[p]], p)


def remembering(training: Training, room: Callable[[Training], Any] | None) -> Any:
    """The memory of a problem, for a start or to go on."""
    memory = training.state.memory
    if isinstance(memory, Nothing):
        return memory if room is None else room(training)
    if isinstance(memory, Mean) and mean_in(memory) is None:  # of a model of 0.1.0: over all visits, without factors
        visits = float(training.state.counts[VISITS])
        return Mean(memory.late, np.zeros_like(memory.late), np.array([visits, visits, 0.0]))
    if hasattr(memory, "mean") and mean_in(memory) is None:
        return memory._replace(mean=room_for_a_mean(len(training.state.v)))
    return memory


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
    """The last vector separates: no mean."""
    if not getattr(owner, "average", False):
        end_mean(training.state)


def begin_call(owner: Any, training: Training) -> None:
    """A fit begins or goes on: without a mean, or with one over all visits, from now on if there was none yet."""
    mean = mean_in(training.state.memory)
    if not getattr(owner, "average", False):
        end_mean(training.state)
    elif mean is not None and mean.sums[BEGUN] == SWITCHED_OFF:
        begin_mean(training.state)


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


class RateTable:
    """Values of a user's function eta(k), in pieces: the compiled loop cannot call Python."""

    def __init__(self, eta: Callable[[int], float], length: int = 4096):
        self.eta, self.length = eta, length

    def __call__(self, first: int, most: int) -> np.ndarray:
        """The rates from ``first`` on, ``most`` of them or as many as a piece has."""
        rates = np.array([self.eta(k) for k in range(first, first + min(self.length, most))], dtype=np.float64)
        wrong = np.flatnonzero(~(np.isfinite(rates) & (rates >= 0)))
        if len(wrong):
            k = first + int(wrong[0])
            raise ValueError(f"eta({k}) = {rates[wrong[0]]}: a rate must be finite and not negative (DHS eq. 28).")
        return rates


def amplitude_and_power(eta: Any) -> tuple[float, float]:
    """eta(k) = amplitude k^power, for everything but functions."""
    return (1.0, POWERS[eta]) if isinstance(eta, str) else (float(eta), 0.0)


def rate_function(eta: Any) -> Callable[[int], float]:
    """eta(k) as a function, checked."""
    if callable(eta):
        table = RateTable(eta)
        return lambda k: float(table(k, 1)[0])
    amplitude, power = amplitude_and_power(eta)
    return lambda k: amplitude * float(k) ** power


def sum_looks_finite(eta: Callable[[int], float], k: int) -> bool:
    """Did k eta(k) fall from k/16 to k as that of k^-1.5 or faster? That of 1/k stays, and its sum is infinite."""
    return k >= 64 and k * eta(k) <= 0.3 * (k // 16) * eta(k // 16)


def hold_out(codes: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of training and validation part, with the classes in proportion."""
    rows = np.arange(len(codes))
    try:
        train, valid = train_test_split(rows, test_size=fraction, stratify=codes, random_state=seed)
    except ValueError as error:
        raise DataError(
            f"early_stopping cannot hold out validation_fraction={fraction} of {len(codes)} rows: {error}"
        ) from error
    return np.sort(train), np.sort(valid)


class EarlyStopping:
    """Looks at the ends of epochs; `due` once nothing has improved for ``patience`` of them."""

    def __init__(self, patience: int, validation: Patterns | None, memory: dict[str, Any]):
        self.patience, self.validation, self.memory = patience, validation, memory
        for name, start in (("best", -np.inf), ("waited", 0), ("epoch", 0), ("updates", 0)):
            memory.setdefault(name, start)

    def due(self, count: np.ndarray, vector: np.ndarray) -> bool:
        if count[EPOCHS] == self.memory["epoch"]:
            return False
        self.memory["epoch"] = int(count[EPOCHS])
        if self.validation is not None:
            score = -float(self.validation.errors(vector))
        else:
            score = -float(count[UPDATES] - self.memory["updates"])
            self.memory["updates"] = int(count[UPDATES])
        if score > self.memory["best"]:
            self.memory["best"], self.memory["waited"] = score, 0
        else:
            self.memory["waited"] += 1
        return bool(self.memory["waited"] >= self.patience)
