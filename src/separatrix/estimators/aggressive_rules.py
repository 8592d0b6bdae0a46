"""Rules whose corrections are as large as the error asks for."""

from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np

from separatrix.fit.declare import NOT_NEGATIVE, POSITIVE_OR_INF, between, estimator, one_of
from separatrix.fit.online import AdditiveClassifier
from separatrix.fit.recipe import Average, Before, Recipe, Record
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.rules.aggressive import PassiveAggressiveRule, RelaxationRule, RommaRule


@estimator
class Relaxation(AdditiveClassifier):
    """Single-sample relaxation with margin.

    Update when ``a.y <= margin (1 - margin_tol)``: ``a += eta (margin - a.y)/|y|^2 y``. Each correction moves a by a
    fraction eta of the way to the hyperplane a.y = margin (DHS algorithm 9).

    A sample weight c counts as c repeated steps, 1 - (1 - eta)^c, so that also a common factor of all weights matters.

    Parameters
    ----------
    margin : float, default=1.0
        The b that is to be exceeded. From a = 0 it only sets the scale of a; 0 needs a start (``coef_init``), since
        every correction would be 0, and eta > 1, since the hyperplane a.y = 0 would only be approached.
    eta : float, default=1.0
        0 < eta < 2; below 1 underrelaxation, above it overrelaxation.
    margin_tol : float, default=1e-3
        How far below the margin a pattern may stay, as a fraction: with eta <= 1 the margin itself would be approached
        for ever.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    BatchRelaxation : All patterns at once.
    PassiveAggressive : Steps that are limited by C.

    References
    ----------
    Motzkin & Schoenberg (1954); Duda, Hart & Stork, algorithm 9.

    Examples
    --------
    >>> from separatrix import Relaxation
    >>> Relaxation(eta=1.5).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).certificate_.separable
    True
    """

    margin: Annotated[float, NOT_NEGATIVE] = 1.0
    eta: Annotated[float, between(0, 2, "neither")] = 1.0
    margin_tol: Annotated[float, between(0, 1, "left")] = 1e-3
    _: KW_ONLY
    average: Average = False

    def _recipe(self, record: Record) -> Recipe:
        return Recipe(RelaxationRule(float(self.margin), float(self.eta), float(self.margin_tol)))

    def _starts(self, data: Data, coef_init: Any, intercept_init: Any, left: Before | None) -> Any:
        starts = super()._starts(data, coef_init, intercept_init, left)
        if self.margin == 0 and starts[0] is None and not (self.warm_start and hasattr(self, "_records_")):
            raise ValueError("margin=0 corrects nothing at a = 0: give coef_init and eta > 1, or a margin > 0.")
        return starts


@estimator
class PassiveAggressive(ClassWeightMixin, AdditiveClassifier):
    """Passive-aggressive I and II: the smallest change that gives the pattern a functional margin of 1, tempered by C.

    Update when ``a.y < 1 - margin_tol``: ``a += tau y`` with tau = min(C, (1 - a.y)/|y|^2) (I) or
    (1 - a.y)/(|y|^2 + 1/(2C)) (II).

    With ``multi_class="joint"`` the pattern is a row and its strongest rival, the multiclass form of the paper; with
    ``joint_update="together"`` all rivals of a row are given their margin at once, by the smallest change that does it:
    MIRA.

    A sample weight multiplies C, so that also a common factor of all weights matters.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Relaxation : Without a limit on the step.
    AROW : With a covariance.
    Pegasos : Steps that only depend on time.
    separatrix.dropin.PassiveAggressiveClassifier : With scikit-learn's parameters.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, Online Passive-Aggressive Algorithms, JMLR 7 (2006); Crammer &
    Singer, Ultraconservative Online Algorithms for Multiclass Problems, JMLR 3 (2003).

    Examples
    --------
    >>> from separatrix import PassiveAggressive
    >>> PassiveAggressive().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).certificate_.separable
    True
    """

    C: Annotated[float, POSITIVE_OR_INF, "Aggressiveness; inf is the plain algorithm."] = 0.1
    variant: Annotated[str, one_of("I", "II"), "A cap on the step, or a softer step."] = "I"
    margin_tol: Annotated[float, between(0, 1, "left"), "How far below 1 a margin may stay."] = 1e-3
    _: KW_ONLY
    average: Average = False
    joint_update: Annotated[str, one_of("strongest", "all", "together")] = "strongest"

    def _recipe(self, record: Record) -> Recipe:
        cap, softness = (float(self.C), 0.0) if self.variant == "I" else (np.inf, 0.5 / float(self.C))
        return Recipe(PassiveAggressiveRule(cap, softness, float(self.margin_tol)))


@estimator
class ROMMA(AdditiveClassifier):
    """ROMMA, the relaxed online maximum margin algorithm.

    On a mistake, or when ``a.y < 1 - margin_tol`` in the aggressive form, a becomes the shortest vector that gives the
    pattern a functional margin of 1 and keeps ``a'.a >= |a|^2``, a relaxation of all constraints seen before.

    Sample weights, divided by their mean, multiply the step. `partial_fit` takes them as they are.

    Parameters
    ----------
    margin_tol : float, default=1e-2
        How far below 1 a margin may stay in the aggressive form.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DynamicMargin : A certified share of the maximum margin.
    PassiveAggressive : Keeps the last vector instead of all constraints.
    MaxMargin : The largest margin itself.

    References
    ----------
    Li & Long, The Relaxed Online Maximum Margin Algorithm, Machine Learning 46 (2002).

    Examples
    --------
    >>> from separatrix import ROMMA
    >>> ROMMA(aggressive=True).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).certificate_.ratio > 0.9
    True
    """

    aggressive: Annotated[bool, "Correct small margins as well as mistakes."] = False
    margin_tol: Annotated[float, between(0, 1, "both")] = 1e-2

    def _recipe(self, record: Record) -> Recipe:
        rule = RommaRule(1.0 - float(self.margin_tol) if self.aggressive else 0.0)
        return Recipe(rule, relative=True, averaging="directions")  # it grows if nothing separates
