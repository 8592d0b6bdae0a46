"""The pseudo-inverse: a linear function that is closest to targets in squared error (DHS 5.8)."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify, measured_multiple
from separatrix.errors import DataError, UnavailableError
from separatrix.fit.batch import DirectClassifier, Outcome, row_values
from separatrix.fit.checkpointed import Checkpoint
from separatrix.fit.declare import estimator, one_of
from separatrix.fit.prediction import blockwise, scores_of
from separatrix.fit.result import Result, joined
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.passes.device_patterns import passed
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import least_squares
from separatrix.solvers.moments import MomentSquares
from separatrix.space import Vector, norm

TAIL = 0.01  # of a probability: so near to 0 and 1 a linear function is bent
MOST_COLUMNS = 5000  # of a matrix of moments
NO_SLACK = 1e-6  # slacks below are rounding errors


def _offers_probabilities(owner: "LeastSquares") -> bool:
    if not (isinstance(owner.target, str) and owner.target in ("ones", "indicator")):
        raise UnavailableError(
            'predict_proba is the Bayes approximation of target="ones" and "indicator"; other targets have none.'
        )
    if getattr(owner, "multi_class_", owner.multi_class) == "ovo":
        raise UnavailableError('predict_proba is not available with multi_class="ovo". Use multi_class="ovr".')
    return True


@estimator
class LeastSquares(ClassWeightMixin, DirectClassifier):
    """Least squares: ``a = Y^dagger b``, the shortest vector that minimises ``|Y a - b|^2``.

    With b = 1 the score ``g(x)`` is the best linear approximation to ``P(positive|x) - P(negative|x)``, so that
    ``(1 + g)/2`` approximates the posterior: `predict_proba`. With b = n/n_i for the n_i rows of each class it is
    Fisher's discriminant, its threshold at the mean of all rows. It need not separate what is separable; `HoKashyap`,
    which changes b as well, does.

    More than two classes: a discriminant for each, with targets -1 and +1 or, ``"indicator"``, 0 and 1, which
    approximates P(class|x) itself (DHS eqs. 116-120); the largest decides. With a matrix of losses the targets are
    -lambda_ij, and the discriminants approximate ``-sum_j lambda_ij P(j|x)``, so that the class of least risk is chosen
    (eqs. 121, 122).

    All classes share one factorization: the normal equations with iterative refinement if their condition allows, else
    QR by blocks; large sparse data are solved by LSMR. Out-of-core rows (`separatrix.data`) take one pass for all
    classes, and one or two for each that correct what the normal equations lose. A sample weight c is the same as c
    copies.

    If the fit does not separate, ``certificate_.separable`` is None: `separability` decides whether a hyperplane does.

    Parameters
    ----------
    target : {"ones", "indicator", "fisher"} or array-like of shape (n,), default="ones"
        The b: what ``a.y`` is to be for each row. For two classes "indicator" is the same as "ones": the discriminants
        of the classes are subtracted.
    loss : array-like of shape (c, c) or None, default=None
        lambda_ij, the loss of deciding for ``classes_[i]`` where ``classes_[j]`` is true; it takes the place of the
        targets, with "ones" or "indicator".
    class_weight : dict, "balanced" or None, default=None
        Factors on the squared errors by class; they multiply ``sample_weight``.

    Attributes
    ----------
    {attributes}
    fisher_direction_ : ndarray of the shape of ``coef_``
        Unit vectors along S_W^-1 (m_1 - m_2), which both named targets lead to; with a bias only.

    See Also
    --------
    HoKashyap : Targets that are learnt too.
    RecursiveLeastSquares : One row after the other.
    MaxMargin : Rows far on the right side do not count.

    References
    ----------
    Duda, Hart & Stork, sections 5.8.1 to 5.8.3.

    Examples
    --------
    >>> from separatrix import LeastSquares
    >>> X, y = [[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]], [1, 1, 0, 0]
    >>> model = LeastSquares().fit(X, y)
    >>> (3 * model.intercept_).round(12).tolist(), (3 * model.coef_).round(12).tolist()
    ([11.0], [[-4.0, -2.0]])
    """

    target: Annotated[Any, one_of("ones", "indicator", "fisher"), "array-like"] = "ones"
    loss: Annotated[Any, "array-like", None] = None
    _: KW_ONLY
    checkpoint: Checkpoint = None

    _accepts_row_sources = True
    _joins = {**DirectClassifier._joins, "_posterior_planes_": joined}

    def _problems(self, data: Data, weight: Vector | None = None, mode: str = "") -> list[Patterns]:
        patterns = super()._problems(data, weight, mode)
        if self.loss is None or len(data.classes) > 2:
            return patterns
        if not data.here:
            return [passed(data.rows, 0, self._space()), *patterns]  # type: ignore[list-item]
        return [patterns[0].relabelled(-patterns[0].labels), patterns[0]]  # two classes have two posteriors

    def _losses(self, classes: int) -> np.ndarray:
        losses = np.asarray(self.loss, dtype=np.float64)
        if losses.shape != (classes, classes) or not np.all(np.isfinite(losses)):
            raise DataError(f"loss has shape {losses.shape}; expected finite numbers of shape {(classes, classes)}.")
        if not (isinstance(self.target, str) and self.target in ("ones", "indicator")):
            raise ValueError('A loss matrix takes the place of the target: leave it at "ones" or "indicator".')
        return losses

    def _mode(self, classes: np.ndarray) -> str:
        mode = super()._mode(classes)
        if mode == "ovo" and self.loss is not None:
            raise ValueError('A loss matrix weighs all classes against each other: use multi_class="ovr".')
        return mode

    def _fitted_as(self) -> str:
        if super()._fitted_as() == "ovo":
            return "ovo"
        largest_decides = self.loss is not None or (isinstance(self.target, str) and self.target == "indicator")
        return "joint" if largest_decides else "ovr"

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        if not data.here:
            return self._solvers_out_of_core(patterns, data)
        labels = patterns[0].labels
        targets = np.column_stack([labels * p.labels * self._target(p, data) for p in patterns])
        shared = least_squares.SharedLeastSquares(patterns[0], data.weight, targets)
        return [least_squares.LeastSquares(p, shared, k) for k, p in enumerate(patterns)]

    def _solvers_out_of_core(self, patterns: list[Any], data: Data) -> list[Any]:
        if not isinstance(self.target, str):
            raise DataError("LeastSquares: out-of-core data need one target per class, not one per row. Name a target.")
        if data.width > MOST_COLUMNS:
            raise DataError(
                f"Least squares of out-of-core rows needs a matrix of {data.width + 1} columns; at most "
                f"{MOST_COLUMNS} are supported."
            )
        moments = patterns[0].moments()
        found = []
        for p in patterns:
            targets = 1.0, 1.0
            if self.loss is not None or (self.target == "indicator" and len(data.classes) > 2):
                targets = 1.0, 0.0
            elif self.target == "fisher":
                ours, all_weight = float(moments.weights[p.positive]), float(moments.weights.sum())
                targets = all_weight / ours, all_weight / (all_weight - ours)
            found.append(MomentSquares(p, moments, targets))
        return found

    def _target(self, patterns: Patterns, data: Data) -> Vector:
        if not isinstance(self.target, str):
            return row_values(self.target, "target", data, positive=False)
        positive = patterns.labels > 0
        if self.loss is not None or (self.target == "indicator" and len(data.classes) > 2):
            return np.where(positive, 1.0, 0.0)
        if self.target in ("ones", "indicator"):
            return np.ones(patterns.n)
        sizes = data.weight[positive].sum(), data.weight[~positive].sum()
        return np.where(positive, 1.0 / sizes[0], 1.0 / sizes[1]) * sum(sizes)

    def _certificate(self, outcome: Outcome, data: Data, thorough: bool) -> Certificate:
        """Slacks as multipliers bound the best margin. Whether nothing separates is the question of `separability`,
        which takes many times as long as the fit."""
        if not thorough:
            return super()._certificate(outcome, data, thorough)
        a, patterns, how = outcome.a, outcome.solver.patterns, {"kept": data.kept, "sample_weight": data.given_weight}
        if not data.here:
            return certify(patterns, a, None, slack_vector=a, **how)
        measured = measured_multiple(patterns, a)
        slacks = np.maximum(1.0 - norm(a) * measured[1], 0.0)
        alpha = slacks if slacks.max() > NO_SLACK else np.ones(patterns.n)
        return certify(patterns, a, alpha, measured=measured, **how)

    def _combined(self, outcomes: list[Outcome], data: Data) -> list[Outcome]:
        """Y^dagger B with B_j = -lambda_.j is -Lambda times the solutions for the indicators of the classes."""
        if self.loss is None:
            return outcomes
        planes = [self._space().split(o.a) for o in outcomes]
        risks = -self._losses(len(data.classes)) @ np.array([o.a for o in outcomes])
        if len(data.classes) == 2:
            return [outcomes[1]._replace(a=risks[1] - risks[0], planes=planes)]
        return [o._replace(a=a, planes=[p]) for o, a, p in zip(outcomes, risks, planes, strict=True)]

    def _own(self, outcome: Outcome, certificate: Certificate, data: Data) -> dict[str, Any]:
        return {} if self.loss is None else {"_posterior_planes_": outcome.planes}

    def _attributes(self, results: list[Result], data: Data) -> dict[str, Any]:
        found = super()._attributes(results, data)
        if isinstance(self.target, str) and self.fit_intercept and self.loss is None:
            lengths = np.linalg.norm(found["coef_"], axis=1, keepdims=True)
            found["fisher_direction_"] = found["coef_"] / np.where(lengths > 0, lengths, 1.0)
        return found

    @available_if(_offers_probabilities)
    @blockwise
    def predict_proba(self, X):
        """Posterior probabilities: ``(1 + g)/2`` for ``target="ones"``, and g itself for "indicator".

        Below 0.01 and above 0.99, where a linear function leaves [0, 1], they are bent so that they stay between 0 and
        1 in the order of the scores. Several classes are divided by their sum, which is 1 where nothing was bent.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of shape (n, c)
            A column for each of ``classes_``.
        """
        if self.loss is not None:
            check_is_fitted(self)
            X = self._checked(X)
            coef, intercept = (np.array(part) for part in zip(*self._posterior_planes_, strict=True))
            return as_probabilities(scores_of(X, coef, intercept))
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return as_probabilities((1.0 + np.column_stack([-scores, scores])) / 2.0)
        return as_probabilities(scores if self.target == "indicator" else (1.0 + scores) / 2.0)

    @available_if(_offers_probabilities)
    @blockwise
    def predict_log_proba(self, X):
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a row source
            The rows.

        Returns
        -------
        ndarray of shape (n, c)
            A column for each of ``classes_``.
        """
        return np.log(self.predict_proba(X))


def as_probabilities(P: np.ndarray) -> np.ndarray:
    """Rows of numbers above 0 with sum 1, in the order of P: beyond `TAIL` of 0 and 1 they follow a hyperbola, which
    goes on with the slope of the straight line and ends at 0 or 1."""
    low = TAIL / (1.0 + (TAIL - np.minimum(P, TAIL)) / TAIL)
    high = 1.0 - TAIL / (1.0 + (np.maximum(P, 1.0 - TAIL) - (1.0 - TAIL)) / TAIL)
    bent = np.where(P < TAIL, low, np.where(P > 1.0 - TAIL, high, P))
    return bent / bent.sum(axis=1, keepdims=True)
