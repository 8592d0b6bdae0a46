"""Stochastic gradient steps on the soft margin, for comparison with `MaxMargin`, which solves it."""

from typing import Annotated

from separatrix.fit.declare import POSITIVE, estimator
from separatrix.fit.online import AdditiveClassifier
from separatrix.fit.recipe import Recipe, Record
from separatrix.fit.training_data import ClassWeightMixin
from separatrix.rules.descent import ShrinkingHingeRule


@estimator
class Pegasos(ClassWeightMixin, AdditiveClassifier):
    """Pegasos: stochastic gradient descent on the hinge loss with the rate 1/(penalty k).

    Every visit, the k-th, shrinks a by 1 - 1/k, and where ``a.y < 1`` adds ``y/(penalty k)``. It goes to the minimum of
    penalty/2 |a|^2 + mean max(0, 1 - a.y), the problem of ``MaxMargin(C=1/(penalty n), loss="hinge")``, which solves it
    with a proof; this one is here for comparison, and for streams (`partial_fit`). The bias is penalised. NORMA, the
    same steps with the rate eta/sqrt(k), is ``PerceptronLike(ShrinkingHingeRule(penalty, eta, 0.5, 1.0))``.

    Sample weights multiply the second step. An epoch without a loss counts as convergence.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    MaxMargin : The minimum of the same criterion, with a proof.
    PassiveAggressive : Steps as large as the loss asks for.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro & Cotter, Pegasos, Mathematical Programming 127 (2011).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from separatrix import Pegasos
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Pegasos().fit(scale(X), y).score(scale(X), y) > 0.97
    True
    """

    penalty: Annotated[float, POSITIVE, "The weight of |a|^2/2, the paper's lambda."] = 1e-3

    _refuses = {"joint": "shrinks its vector once a visit, where a machine corrects rivals"}

    def _recipe(self, record: Record) -> Recipe:
        return Recipe(ShrinkingHingeRule(float(self.penalty), 1.0 / float(self.penalty), 1.0, 1.0))
