"""Rules that aim at a margin."""

from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np

from separatrix.fit.declare import NOT_NEGATIVE, POSITIVE, between, estimator, one_of
from separatrix.fit.online import AdditiveClassifier
from separatrix.fit.recipe import Average, Recipe, Record
from separatrix.online.loops.state import UPDATES
from separatrix.online.training import UNLIMITED
from separatrix.rules.margins import (
    AlmaRule,
    CrammaRule,
    DynamicMarginRule,
    FixedMarginRule,
    FixedMarginSearchRule,
    IncrementalMarginRule,
    MarginPerceptronRule,
    MicraRule,
    search_stages,
    stages,
    updates_of_stages,
)


def counter_of_the_paper(model: Any) -> int:
    """t of the sources: 1 + updates, of the problem that had most."""
    return 1 + max(int(record.state.counts[UPDATES]) for record in model._records_)


@estimator
class DynamicMargin(AdditiveClassifier):
    """The Perceptron with dynamic margin: at least (1 - epsilon) of the maximum margin, and no guess.

    Update when ``a.y <= (1 - epsilon) |a|^2 / sum alpha``: ``a += y``. Since |a| / sum alpha bounds the maximum margin
    from above, a run that ends has a certificate with ratio >= 1 - epsilon. The online rule of choice where the margin
    matters and the data are separable, or with ``delta`` > 0.

    Sample weights multiply the step; that shifts the boundary only weakly. A common factor of all
    weights makes no difference.

    Parameters
    ----------
    epsilon : float, default=0.5
        How much of the margin may be missing. On many data updates grow like 1/epsilon, on some faster; what is
        certain is `separatrix.bounds.dynamic_margin`.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Perceptron : Without a margin.
    MarginPerceptron : A quarter of the maximum margin in a bounded number of updates.
    MaxMargin : The largest margin itself.

    References
    ----------
    Panagiotakopoulos & Tsampouka, The Perceptron with Dynamic Margin (2011).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import DynamicMargin
    >>> X, y = load_iris(return_X_y=True)
    >>> DynamicMargin(epsilon=0.1, until="separated").fit(X, y == 0).certificate_.ratio >= 0.9
    True
    """

    epsilon: Annotated[float, between(0, 1, "right")] = 0.5
    _: KW_ONLY
    average: Average = False

    def _recipe(self, record: Record) -> Recipe:
        return Recipe(DynamicMarginRule(float(self.epsilon)))


@estimator
class CRAMMA(AdditiveClassifier):
    """CRAMMA^eps, the constant rate approximate maximum margin algorithm.

    Patterns are divided by R. Update when ``u.y <= (beta/R) / t^eps``: ``u <- (u + eta_eff y) / |.|`` with the constant
    effective rate ``eta_eff = eta0 (beta/R)^-decay``; u starts on the first pattern, t at 1. It converges if
    eta_eff < (sqrt(1 + 8 gamma_d/R) - 1)/2, and its margin tends to the maximum as beta grows (0 < eps decay < 1).

    Sample weights, divided by their mean, multiply the step; that shifts the boundary only weakly. `partial_fit` takes
    them as they are.

    Parameters
    ----------
    beta : float, default=1.0
        beta/R of the paper: the larger, the closer to the maximum margin and the more updates.
    eta0 : float or "auto", default="auto"
        The rate at beta/R = 1. "auto": 0.03, and 1.7 delta/(R sqrt(n)) in the extended space (the paper's section 5).

    Attributes
    ----------
    t_ : int
        The paper's counter, 1 + n_updates_.
    {attributes}

    See Also
    --------
    MICRA : A rate that falls with the number of mistakes.
    ALMA : The same goal with a falling rate and a projection.
    MaxMargin : The largest margin itself.

    References
    ----------
    Tsampouka & Shawe-Taylor, Constant Rate Approximate Maximum Margin Algorithms (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import CRAMMA
    >>> X, y = load_iris(return_X_y=True)
    >>> CRAMMA().fit(X, y == 0).certificate_.ratio > 0.5
    True
    """

    beta: Annotated[float, POSITIVE] = 1.0
    power: Annotated[float, POSITIVE, "eps of the paper, by which the condition is relaxed."] = 0.5
    eta0: Annotated[float | str, POSITIVE, one_of("auto")] = "auto"
    decay: Annotated[float, NOT_NEGATIVE, "delta of the paper's theorem 1."] = 1.0

    _epochs = 20
    t_ = property(counter_of_the_paper)

    def _eta0(self, record: Record) -> float:
        if self.eta0 != "auto":
            return float(self.eta0)
        delta = record.space.delta
        return 1.7 * delta / float(np.sqrt(record.radius2 * record.n)) if delta > 0 else 0.03

    def _recipe(self, record: Record) -> Recipe:
        try:
            rate = self._eta0(record) * float(self.beta) ** -float(self.decay)
        except OverflowError:
            rate = np.inf
        if not 0 < rate < np.inf:
            raise ValueError(f"beta={self.beta} and decay={self.decay} give an effective rate of {rate}.")
        return Recipe(CrammaRule(float(self.beta), float(self.power), rate), relative=True)


@estimator
class MICRA(CRAMMA):
    """MICRA^(eps, zeta): CRAMMA with an effective rate that falls with the number of mistakes.

    Update when ``u.y <= (beta/R) / t^eps``: ``u <- (u + eta0 t^-zeta y) / |.|``, patterns divided by R.

    Sample weights, divided by their mean, multiply the step; that shifts the boundary only weakly. `partial_fit` takes
    them as they are.

    Parameters
    ----------
    beta : float, default=1.0
        beta/R of the paper.
    power : float, default=0.5
        eps of the paper.
    eta0 : float or "auto", default="auto"
        The first rate. "auto": 1.0.

    Attributes
    ----------
    t_ : int
        The paper's counter, 1 + n_updates_.
    {attributes}

    See Also
    --------
    CRAMMA : A constant effective rate.
    ALMA : A falling rate and a projection.
    MaxMargin : The largest margin itself.

    References
    ----------
    Tsampouka & Shawe-Taylor, Approximate Maximum Margin Algorithms with Rules Controlled by the Number of Mistakes
    (ICML 2007).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import MICRA
    >>> X, y = load_iris(return_X_y=True)
    >>> MICRA().fit(X, y == 0).certificate_.separable
    True
    """

    decay: Annotated[float, NOT_NEGATIVE, "zeta of the paper."] = 0.5

    def _recipe(self, record: Record) -> Recipe:
        eta = 1.0 if self.eta0 == "auto" else float(self.eta0)
        return Recipe(MicraRule(float(self.beta), float(self.power), eta, float(self.decay)), relative=True)


@estimator
class ALMA(AdditiveClassifier):
    """ALMA_2, the approximate large margin algorithm: at least (1 - alpha) of the maximum margin.

    Patterns are divided by R. Update when ``w.y <= (1 - alpha) B/sqrt(k)``: ``w += C/sqrt(k) y``, then w is projected
    on the unit ball; B = sqrt(8)/alpha, C = sqrt(2), k starts at 1.

    Sample weights, divided by their mean, multiply the step; that shifts the boundary only weakly. `partial_fit` takes
    them as they are.

    Parameters
    ----------
    alpha : float, default=0.9
        How much of the margin may be missing. The number of updates grows like 1/alpha^2.

    Attributes
    ----------
    t_ : int
        k of the paper, 1 + n_updates_.
    {attributes}

    See Also
    --------
    CRAMMA : The same goal with a constant effective rate.
    DynamicMargin : A margin without a guess and without projections.
    MaxMargin : The largest margin itself.

    References
    ----------
    Gentile, A New Approximate Maximal Margin Classification Algorithm, JMLR 2 (2001).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import ALMA
    >>> X, y = load_iris(return_X_y=True)
    >>> ALMA(alpha=0.5, until="separated").fit(X, y == 0).certificate_.ratio > 0.5
    True
    """

    alpha: Annotated[float, between(0, 1, "right")] = 0.9

    t_ = property(counter_of_the_paper)

    def _recipe(self, record: Record) -> Recipe:
        return Recipe(AlmaRule(float(self.alpha)), relative=True)


@estimator
class FixedMargin(AdditiveClassifier):
    """A fixed directional margin: it ends only if ``beta`` < gamma_d, and then with a margin above ``beta``.

    Update when ``u.y <= beta``: ``u <- (u + eta y/R) / |.|``; u starts on the first pattern. Where gamma_d is unknown,
    ``beta="search"`` goes through guesses g = R, factor R, factor^2 R, ..., asks for factor g and starts afresh with
    the next when a bound says that a gamma_d >= g would have ended by now (`separatrix.bounds.fixed_margin_search`): it
    ends with at least factor^2 of gamma_d.

    Sample weights, divided by their mean, multiply the step; that shifts the boundary only weakly. `partial_fit` takes
    them as they are.

    Parameters
    ----------
    beta : float or "search", default=0.01
        The directional margin that is asked for, in the units of the data.
    eta : float, default=0.01
        The effective rate; a search takes smaller ones where its guess needs them.
    factor : float, default=0.5
        Between two guesses of a search: nearer to 1, it ends with more of the margin and takes longer.
    min_beta : float, default=1e-6
        A search gives up below this guess, as a fraction of R.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DynamicMargin : A margin that need not be known.
    MaxMargin : The largest margin itself.

    References
    ----------
    Tsampouka & Shawe-Taylor, Analysis of Generic Perceptron-Like Large Margin Classifiers (ECML 2005).

    Examples
    --------
    >>> from separatrix import FixedMargin
    >>> model = FixedMargin(beta=0.3, until="separated").fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.directional_margin_ > 0.3
    True
    >>> searched = FixedMargin("search", until="separated", max_iter=10_000)
    >>> searched = searched.fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> round(searched.certificate_.theory.fraction, 9)  # of the largest margin, at least
    0.25
    """

    beta: Annotated[float | str, NOT_NEGATIVE, one_of("search")] = 0.01
    eta: Annotated[float, POSITIVE] = 0.01
    _: KW_ONLY
    factor: Annotated[float, between(0, 1, "neither")] = 0.5
    min_beta: Annotated[float, between(0, 1, "neither")] = 1e-6

    _epochs = 20

    def _recipe(self, record: Record) -> Recipe:
        if self.beta == "search":
            tables = search_stages(float(self.factor), float(self.eta), float(self.min_beta))
            # One less than all stages take, as of MarginPerceptron.
            limit = int(min(tables[-1][-1], UNLIMITED)) - 1
            return Recipe(FixedMarginSearchRule(*tables), relative=True, limit=limit)
        rule = FixedMarginRule(float(self.beta) / float(np.sqrt(record.radius2)), float(self.eta))
        return Recipe(rule, relative=True)


@estimator
class MarginPerceptron(AdditiveClassifier):
    """The margin Perceptron: at least a quarter of the maximum margin, or half of a guess of it.

    Update when ``u.y < g/2`` or ``a.y <= 0``: ``a += y``. With a guess g <= gamma_d it ends after at most
    12 R^2/gamma_d^2 updates. Without a guess it starts with g = R and, whenever 12 R^2/g^2 updates pass without an end,
    halves g and starts afresh, which ends with a margin of at least gamma_d/4. The planes of the source
    go through 0, which is ``fit_intercept=False``.

    Sample weights multiply the increment; a common factor of all weights makes no difference.

    Parameters
    ----------
    min_guess : float, default=1e-6
        The search gives up below this guess, as a fraction of R; a floor is needed where the data may not be separable.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DynamicMargin : Any share of the maximum margin.
    MaxMargin : The largest margin itself.

    References
    ----------
    Tao, Linear Classification: Maximizing the Margin (lecture), slides 16-21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import MarginPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> MarginPerceptron(until="separated").fit(X, y == 0).certificate_.ratio > 0.25
    True
    """

    gamma_guess: Annotated[float | None, POSITIVE, "The guess g; None searches."] = None
    min_guess: Annotated[float, between(0, 1, "right")] = 1e-6

    _epochs = 20

    def _recipe(self, record: Record) -> Recipe:
        if self.gamma_guess is not None:
            return Recipe(MarginPerceptronRule(float(self.gamma_guess)))
        # One less than all stages take: the last update of a stage starts afresh, and a vector is worth more than 0.
        limit = updates_of_stages(stages(1.0, float(self.min_guess))) - 1
        return Recipe(IncrementalMarginRule(float(np.sqrt(record.radius2))), limit=limit)
