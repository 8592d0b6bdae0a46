"""Fuzzy rules: patterns that are hard to tell apart count less, or are left alone."""

from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np

from separatrix.errors import DataError
from separatrix.estimators.perceptrons import best_of_pocket, with_pocket
from separatrix.fit.declare import NOT_NEGATIVE, POSITIVE, between, estimator, one_of
from separatrix.fit.online import AdditiveClassifier
from separatrix.fit.recipe import Average, Recipe, Record
from separatrix.fit.result import each
from separatrix.online.loops.state import FACTOR
from separatrix.online.training import Training
from separatrix.rules.perceptrons import FuzzyRule, MarginFuzzyRule, PerceptronRule, fuzzy_weights, membership
from separatrix.space import Vector


@estimator
class FuzzyPerceptron(AdditiveClassifier):
    """The fuzzy Perceptron: patterns between the two class means count less, the fuzzy ones not at all.

    A pattern at distances d1 and d2 from the mean of its class and of the other one, d apart, has the membership
    ``p = 0.5 + (e^(c (d2 - d1)/d) - e^-c) / (2 (e^c - e^-c))``. It is fuzzy if ``|p - 0.5| <= fuzz``. Update when
    ``a.y <= 0`` and the pattern is not fuzzy: ``a += eta |2p - 1|^m y``. It ends if the patterns that are not fuzzy are
    separable. An equidistant pattern has p = 0.5 + 1/(2(e^c + 1)), 0.634 at c = 1 and 0.503 at
    c = 5, so c and fuzz go together.

    Sample weights multiply the increment and enter the class means.

    Parameters
    ----------
    fuzz : float, default=0.0
        Patterns with a membership this close to 0.5 are ignored. They are those next to the border, which a classifier
        needs most: 0.1 costs two points of accuracy in the mean over eight data sets, and ends earlier.

    Attributes
    ----------
    {attributes}
    memberships_ : ndarray of shape (n,), or a list of them for several problems
        How much each row that took part belongs to its own class.
    fuzzy_rows_ : ndarray of bool, likewise
        The rows that are too doubtful to be learnt from.

    See Also
    --------
    MarginFuzzyPerceptron : Fuzzy by the margin instead of by class means.
    Pocket : Keeps the best vector where the classes overlap.

    References
    ----------
    Keller & Hunt, IEEE PAMI 7 (1985); Steiner (2023), algorithm 3.

    Examples
    --------
    >>> from separatrix import FuzzyPerceptron
    >>> X, y = [[0.0], [1.0], [2.6], [1.4], [3.0], [4.0]], [0, 0, 0, 1, 1, 1]
    >>> model = FuzzyPerceptron(fuzz=0.2).fit(X, y)
    >>> model.converged_, model.certificate_.separable
    (True, None)
    """

    eta: Annotated[float, POSITIVE, "The increment."] = 1.0
    m: Annotated[float, NOT_NEGATIVE, "Exponent of the membership: the larger, the less doubtful patterns count."] = 2.0
    fuzz: Annotated[float, between(0, 0.5, "left")] = 0.0
    c: Annotated[float, between(0, 300, "right"), "How sharply membership falls with distance."] = 1.0
    _: KW_ONLY
    average: Average = False

    _joins = {**AdditiveClassifier._joins, "memberships_": each, "fuzzy_rows_": each}
    _refuses = {"joint": "compares the means of two classes"}

    def _recipe(self, record: Record) -> Recipe:
        return Recipe(FuzzyRule(float(self.eta)), weight=self._fuzzy_weight)

    def _own(self, training: Training, record: Record) -> dict[str, Any]:
        if not len(training.state.alpha):  # a block of more rows
            return {}
        p = record.own["membership"]
        return {"memberships_": p, "fuzzy_rows_": np.abs(p - 0.5) <= float(self.fuzz)}

    def _fuzzy_weight(self, training: Training, own: dict[str, Any]) -> Vector:
        """Sample weights times |p1 - p2|^m; the ``own`` sums of the classes go on over the blocks of partial_fit.

        With a kernel the means are combinations of the rows, and distances those in its space.
        """
        patterns = training.patterns
        flat = patterns if patterns.explicit else patterns.in_space(patterns.space._replace(free=True))
        labels, width = patterns.labels, patterns.d + 1
        whole = len(training.state.alpha) > 0
        if whole or "sums" not in own:
            own["sums"], own["mass"] = np.zeros((2, width)), np.zeros(2)
        for k, sign in enumerate((-1.0, 1.0)):
            rows = np.flatnonzero(labels == sign)
            own["sums"][k] += sign * patterns.combine(rows, training.weight[rows])
            own["mass"][k] += training.weight[rows].sum()
        if not np.all(own["mass"] > 0):
            raise DataError("FuzzyPerceptron needs rows of both classes in the first block: it compares class means.")
        means = own["sums"] / own["mass"][:, None]
        means[:, -1] = 0.0
        apart = flat.length(means[1] - means[0])
        if not apart > 1e-12 * patterns.radius:
            raise DataError("The two classes have the same mean, so memberships are undefined. Use Perceptron.")
        square = patterns.norms2 - patterns.space.rho**2 - patterns.space.delta**2
        distance = [
            np.sqrt(np.maximum(square - 2.0 * labels * flat.margins(mean) + flat.length(mean) ** 2, 0.0))
            for mean in means
        ]
        positive = labels > 0
        from_own, from_other = np.where(positive, distance[::-1], distance)
        own["membership"] = p = membership(from_own, from_other, apart, float(self.c))
        return training.weight * fuzzy_weights(p, float(self.m), float(self.fuzz))


@estimator
class MarginFuzzyPerceptron(AdditiveClassifier):
    """The margin-fuzzy Perceptron: errors within ``width`` of the hyperplane are left alone.

    Update when ``a.y <= -width |w|`` (a = 0 counts as an error): ``a += eta y``. It ends when all errors lie within the
    band. That is not certain: the source's theorem 24, at most (R/width)^2 updates, is false. On three points, (-2, -2)
    and (-3, 3) against (-3, -2) without a bias, it runs for ever with width = 0.5, where 72 updates are promised and
    0.312 would do. A fit that does not end keeps the vector with the longest run without correction.

    Sample weights multiply the increment.

    Parameters
    ----------
    corrects : {"beyond", "errors"}, default="beyond"
        Which patterns are corrected: those beyond the band, or, as algorithm 4 is printed, all errors. With "errors"
        all patterns are tested after each epoch, and the fit ends if none is beyond the band. The two are not the same:
        leaving errors within the band alone ends more often.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    FuzzyPerceptron : Fuzzy by class means instead of by the margin.
    Pocket : Keeps the best vector where the classes overlap.

    References
    ----------
    Steiner, Be Greedy, but Not Too Greedy (2023), algorithm 4.

    Examples
    --------
    >>> from separatrix import MarginFuzzyPerceptron
    >>> X, y = [[0.0], [1.0], [2.2], [1.8], [3.0], [4.0]], [0, 0, 0, 1, 1, 1]
    >>> model = MarginFuzzyPerceptron(width=0.5).fit(X, y)
    >>> model.converged_, bool(model.signed_distance(X)[2] <= 0.5)
    (True, True)
    """

    width: Annotated[float, NOT_NEGATIVE, "Half the width of the band, a distance in the units of the data."] = 0.1
    eta: Annotated[float, POSITIVE, "The increment."] = 1.0
    corrects: Annotated[str, one_of("beyond", "errors")] = "beyond"

    def _recipe(self, record: Record) -> Recipe:
        width, eta = float(self.width), float(self.eta)
        if self.corrects == "beyond":
            return with_pocket(MarginFuzzyRule(width, eta), ratchet=False)

        def ended(training: Training) -> bool:
            return _no_error_beyond(width, training)

        def predicting(training: Training) -> Vector:
            return training.vector if ended(training) else best_of_pocket(training)

        return with_pocket(PerceptronRule(eta=eta), ratchet=False)._replace(ended=ended, predicting=predicting)


def _no_error_beyond(width: float, training: Training) -> bool:
    """The test in line 3 of algorithm 4: is every row above -width |w|, w the vector without its bias?"""
    patterns, a = training.patterns, training.vector
    margins, length2 = patterns.margins(a), float(np.sum(a.reshape(-1, patterns.features + 1)[:, :-1] ** 2))
    if patterns.space.delta > 0:
        spread = patterns.space.delta * training.state.real[FACTOR] * training.state.alpha
        margins, length2 = margins + patterns.space.delta * spread, length2 + float(spread @ spread)
    return bool(np.all(margins > -width * np.sqrt(length2)))
