"""The Perceptron and what is built on it: averages, voters, pockets, greedy corrections."""

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Any

import numpy as np

from separatrix.errors import DataError
from separatrix.fit.declare import COUNT, NOT_NEGATIVE, POSITIVE, estimator, one_of
from separatrix.fit.online import AdditiveClassifier, OnlineClassifier
from separatrix.fit.prediction import scores_of
from separatrix.fit.recipe import (
    POWERS,
    Average,
    RateTable,
    Recipe,
    Record,
    amplitude_and_power,
    averaged,
    sum_looks_finite,
)
from separatrix.fit.result import each, total
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.online.loops.averaging import Pocket as PocketMemory
from separatrix.online.loops.averaging import Voters, room_for_a_mean
from separatrix.online.loops.greedy import Margins
from separatrix.online.loops.state import FACTOR, POSITION, RUN, VISITS
from separatrix.online.training import UNLIMITED, Training
from separatrix.rules.perceptrons import GreedyRule, PerceptronRule, TabulatedPerceptronRule
from separatrix.space import Vector

REPLACEMENTS = 2  # their place among the counts of a pocket
MOST_PASSES = 300  # of an accurate fit of the greedy Perceptron, one per update


@estimator
class Perceptron(ClassWeightMixin, AdditiveClassifier):
    """The Perceptron, with margin and with variable increments.

    Update when ``a.y <= margin``: ``a += eta(k) y``. On separable data it ends after at most (R/gamma_d)^2 updates
    (margin 0); with a margin b > 0 it reaches at least gamma_d / (2 + eta R^2/b). From a = 0 and without margin a
    constant eta only rescales the path. Choose it for speed and as a baseline; where the data may not be separable take
    ``average=True``, where the margin matters `DynamicMargin`.

    Sample weights multiply the increment.

    Parameters
    ----------
    margin : float, default=0.0
        The b of ``a.y <= b``, as it is; how much it asks for depends on b/(eta R^2).
    eta : float, "1/k", "k" or callable, default=1.0
        The increment; k counts corrections. The sum of a function over k has to be infinite (DHS eq. 29): with 1/k^2
        the vector may stop short of every solution, and a fit that did not end then warns of it.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    VotedPerceptron : Predicts by a vote of all vectors.
    Pocket : Keeps the best vector where the classes overlap.
    DynamicMargin : With a margin.
    PerceptronLike : A rule of your own.
    separatrix.dropin.Perceptron : With scikit-learn's parameters.

    References
    ----------
    Rosenblatt (1958); Novikoff (1963); Duda, Hart & Stork, algorithms 4 and 5; Freund & Schapire (1999).

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"]
    >>> model = Perceptron().fit(X, y)
    >>> model.predict([[0.5], [3.5]]).tolist()
    ['low', 'high']
    >>> model.certificate_.separable
    True
    """

    margin: Annotated[float, NOT_NEGATIVE] = 0.0
    eta: Annotated[float | str | Callable, POSITIVE, one_of(*POWERS)] = 1.0
    average: Average = False

    def _recipe(self, record: Record) -> Recipe:
        if callable(self.eta):
            rule = TabulatedPerceptronRule(float(self.margin), 1.0, np.zeros(0))
            recipe = Recipe(rule, rates=RateTable(self.eta))
        else:
            recipe = Recipe(PerceptronRule(float(self.margin), *amplitude_and_power(self.eta)))
        return recipe

    def _doubt(self, n: int) -> tuple[str, str]:
        reason, advice = super()._doubt(n)
        if callable(self.eta) and self.until == "separated" and sum_looks_finite(self.eta, self.n_updates_):
            advice = (
                "The sum of eta(k) looks finite, and then the vector may stop short of every solution (Duda, Hart & "
                'Stork, eq. 29). Use eta=1, "1/k", "k" or a function that falls no faster than 1/k.'
            )
        return reason, advice


@estimator
class VotedPerceptron(AdditiveClassifier):
    """The voted Perceptron: every vector of the run votes with the number of visits it survived.

    It predicts ``sign(sum c_i sign(v_i.x))`` and has no ``coef_``. Its certificate has an upper bound; ``direction`` is
    the last vector, which witnesses separability where it separates, and ``lower`` is None.

    Sample weights multiply the increment.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    voters_, voter_intercepts_, votes_ : lists of ndarrays
        The vectors, their biases and their votes, one array per problem; those of linear machines have one more axis.
    classes_, certificate_, converged_, n_updates_, n_visits_, n_epochs_ : as for `Perceptron`

    See Also
    --------
    Perceptron : ``average=True`` is the mean instead of the vote.
    Pocket : The best instead of a vote.

    References
    ----------
    Freund & Schapire, Machine Learning 37 (1999).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separatrix import VotedPerceptron
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = VotedPerceptron(max_iter=5, n_iter_no_change=1).fit(X, y)
    >>> model.score(X, y) > 0.85
    True
    """

    max_voters: Annotated[int, COUNT, "How many vectors are kept: those that survived longest."] = 1000

    _predicting = ("voters_", "voter_intercepts_", "votes_")

    def _recipe(self, record: Record) -> Recipe:
        def no_voters(training: Training) -> Voters:
            most = int(self.max_voters)
            width = training.patterns.d + 1
            try:
                return Voters(np.zeros((most, width)), np.zeros(most, np.int64))
            except MemoryError as error:
                raise DataError(
                    f"{most} voters of {width:,} weights need {8e-9 * most * width:,.0f} GB: lower max_voters, or use "
                    "Perceptron(average=True), which keeps one vector."
                ) from error

        return Recipe(PerceptronRule(), memory=no_voters, predicts=False)

    def _attributes_of(self, patterns: Any, vector: Vector, data: Data, training: Any = None) -> dict[str, Any]:
        memory, counts = training.state.memory, training.state.counts
        kept = np.flatnonzero(memory.votes)
        all_vectors = np.vstack([memory.vectors[kept], training.vector[None]])
        votes = np.append(memory.votes[kept], min(counts[RUN] + 1, counts[VISITS]))
        best = np.sort(np.argsort(-votes, kind="stable")[: int(self.max_voters)])
        machines = all_vectors[best].reshape(len(best), -1, patterns.features + 1)
        voters = machines if self._fitted_as() == "joint" else machines[:, 0]
        intercepts = voters[..., -1] * self._space().rho
        return {"voters_": [voters[..., :-1]], "voter_intercepts_": [intercepts], "votes_": [votes[best]]}

    def _last_plane(self, k: int) -> tuple[Vector, float]:
        machine = self._fitted_as() == "joint"
        record = self._records_[0 if machine else k]
        a = (record.state.v * record.state.real[FACTOR]).reshape(-1, self.n_features_in_ + 1)
        return record.space.split(a[k if machine else 0])

    def _scores(self, X):
        """Votes for the positive class minus votes against it, as a share of all; of machines the votes per class."""
        if self._fitted_as() == "joint":
            return self._ballots(X)
        shares = []
        for coef, intercept, votes in zip(self.voters_, self.voter_intercepts_, self.votes_, strict=True):
            scores = scores_of(X, coef, intercept).reshape(X.shape[0], -1)
            shares.append(np.sign(scores) @ votes / max(votes.sum(), 1))
        return shares[0] if len(shares) == 1 else np.column_stack(shares)

    def _ballots(self, X):
        ballots = np.zeros((X.shape[0], len(self.classes_)))
        for coef, intercept, votes in zip(self.voters_[0], self.voter_intercepts_[0], self.votes_[0], strict=True):
            ballots[np.arange(X.shape[0]), scores_of(X, coef, intercept).argmax(axis=1)] += votes
        return ballots / max(self.votes_[0].sum(), 1)

    @property
    def signed_distance(self):
        raise AttributeError("VotedPerceptron predicts with many hyperplanes, so there is no distance from one.")

    radius = signed_distance


@estimator
class Pocket(OnlineClassifier):
    """The pocket algorithm: a Perceptron that keeps the vector with the longest run of correct patterns.

    With the ratchet a vector enters the pocket only if it also makes fewer errors on all patterns, which costs a pass
    for every candidate. Choose it where the data are not separable and the number of errors matters. Runs are only
    telling in random order: leave ``shuffle`` on.

    Sample weights multiply the increment; runs and errors are counted without them. It has no `partial_fit`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    n_replacements_ : int
        How often a better vector entered the pocket.

    See Also
    --------
    Perceptron : The rule that it watches.
    VotedPerceptron : A vote instead of the best.
    MaxMargin : A minimum with a proof where the classes overlap.

    References
    ----------
    Gallant, IEEE Transactions on Neural Networks 1 (1990); Duda, Hart & Stork, computer exercise 3.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from separatrix import Perceptron, Pocket
    >>> X, y = make_blobs(300, centers=2, cluster_std=3.0, random_state=2)
    >>> pocket = Pocket(n_iter_no_change=20).fit(X, y)
    >>> pocket.score(X, y) > Perceptron(n_iter_no_change=20).fit(X, y).score(X, y)
    True
    """

    variant: Annotated[str, one_of("ratchet", "run"), "With or without the comparison of errors."] = "ratchet"

    _joins = {**OnlineClassifier._joins, "n_replacements_": total}
    _refuses = {"partial_fit": "compares vectors on all patterns"}

    def _recipe(self, record: Record) -> Recipe:
        return with_pocket(PerceptronRule(), ratchet=self.variant == "ratchet")

    def _own(self, training: Training, record: Record) -> dict[str, Any]:
        return {"n_replacements_": int(training.state.memory.best[REPLACEMENTS])}


def with_pocket(rule: Any, ratchet: bool) -> Recipe:
    """Any rule, with the best vector of its run in the pocket."""

    def empty_pocket(training: Training) -> PocketMemory:
        return PocketMemory(np.zeros(training.patterns.d + 1), np.array([-1, training.rows + 1, 0]), ratchet)

    return Recipe(rule, memory=empty_pocket, predicting=best_of_pocket)


def best_of_pocket(training: Training) -> Vector:
    """The pocket's vector, or the current one where it has beaten it or passed a whole epoch.

    In random order a vector that errs may survive up to 2n - 2 visits, longer than the epoch that ends a fit.
    """
    state = training.state
    pocket: PocketMemory = state.memory
    if training.alpha is not None and state.counts[RUN] - state.counts[POSITION] >= training.rows:
        return training.vector
    better = state.counts[RUN] > pocket.best[0]
    if better and pocket.ratchet:
        better = training.patterns.errors(state.v) < pocket.best[1]
    return training.vector if better else pocket.vector.copy()


@estimator
class GreedyPerceptron(AdditiveClassifier):
    """The greedy Perceptron: of several increments the one that leaves the fewest errors.

    Update when ``a.y <= 0``: ``a += eta* y`` with eta* the first of ``etas`` that minimises the 0-1 loss after the
    update. At most (max eta/min eta) (R/gamma_d)^2 updates on separable data (`separatrix.bounds.bounded_increments`;
    the source's own theorem has the square of the first factor). Every update costs a pass over the data:
    ``until="accurate"`` makes at most ``max_iter`` updates for a class.

    Sample weights multiply the increment and count in the loss. It has no `partial_fit`.

    Parameters
    ----------
    etas : sequence of float, default=(0.5, 1.0, 2.0, 4.0)
        The increments to choose from; of equally good ones the first in this order wins, which decides much: on the
        data below the same four from the largest to the smallest need other updates.

    Attributes
    ----------
    {attributes}
    eta_counts_ : ndarray of shape (len(etas),), or a list of them for several problems
        How often each increment was taken: what `separatrix.bounds.greedy_effective_updates` needs.

    See Also
    --------
    Perceptron : The rule that it chooses steps for.
    Pocket : Keeps the best vector of a plain run.

    References
    ----------
    Steiner, Be Greedy, but Not Too Greedy (2023), algorithm 2.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from separatrix import GreedyPerceptron
    >>> X, y = make_blobs(80, centers=2, cluster_std=1.5, random_state=9758)
    >>> GreedyPerceptron(fit_intercept=False, shuffle=False).fit(X, y).n_updates_
    49
    >>> GreedyPerceptron((4.0, 2.0, 1.0, 0.5), fit_intercept=False, shuffle=False).fit(X, y).n_updates_
    4
    >>> model = GreedyPerceptron(shuffle=False).fit(X, y)
    >>> int(model.eta_counts_.sum()) == model.n_updates_
    True
    """

    etas: Annotated[Any, "array-like"] = (0.5, 1.0, 2.0, 4.0)

    _joins = {**AdditiveClassifier._joins, "eta_counts_": each}
    _refuses = {
        "partial_fit": "compares losses on all patterns",
        "joint": "compares losses of two classes",
    }

    def _recipe(self, record: Record) -> Recipe:
        try:
            etas = np.asarray(self.etas, dtype=np.float64).ravel().copy()
        except (TypeError, ValueError):
            etas = np.zeros(0)
        if len(etas) == 0 or not np.all(np.isfinite(etas)) or etas.min() <= 0:
            raise ValueError(f"etas={self.etas!r} must be one or more positive numbers.")
        passes = MOST_PASSES if self.until == "accurate" else UNLIMITED
        predicting = averaged(attrgetter("vector"))
        return Recipe(GreedyRule(etas), memory=_margins_at_hand, limit=passes, predicting=predicting)

    def _own(self, training: Training, record: Record) -> dict[str, Any]:
        return {"eta_counts_": training.state.memory.used.copy()}


def _margins_at_hand(training: Training) -> Margins:
    patterns = training.patterns
    used = np.zeros(len(training.rule.etas), np.int64)
    mean = room_for_a_mean(patterns.d + 1)
    return Margins(patterns.margins(training.state.v), np.zeros(patterns.n), np.zeros(patterns.d), used, mean)
