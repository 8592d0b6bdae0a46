"""Separation by linear programming."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated, Any

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import separates_exactly
from separatrix.certificates.exact import LARGEST_SYSTEM
from separatrix.certificates.gordan import gordan_soon, refuted
from separatrix.fit.batch import DirectClassifier, Outcome, row_values
from separatrix.fit.class_means import ClassMeans
from separatrix.fit.declare import POSITIVE, estimator, one_of
from separatrix.fit.result import Result, each, total
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import linear_program
from separatrix.space import Vector


def _gaps(values: list[float]) -> Any:
    return values[0] if len(values) == 1 else np.array(values)


@estimator
class LinearProgram(ClassWeightMixin, DirectClassifier):
    """Separation by a linear program, solved by HiGHS.

    It takes 10 to 50 times as long as scikit-learn's LinearSVC on small tables and a9a. `MaxMargin` is faster.

    ``"perceptron"``: minimise ``sum c_k tau_k`` subject to ``a.y_k + tau_k >= margin``, tau >= 0, which is the smallest
    value of the Perceptron criterion J'_p; useful also where nothing separates. ``"minimax"``: minimise one tau with
    ``a.y_k + tau >= margin``, a test of separability: where nothing separates, its minimum is the margin itself and
    a = 0 is a solution.

    ``"l1"``: minimise ``sum |a_i| + C sum c_k tau_k`` under the constraints of the first, the soft margin of the
    1-norm. Without slack ``margin / sum |a_i|`` is the largest possible distance of the nearest pattern from a
    hyperplane through 0 in the augmented space, measured by the largest difference in any feature (the max-norm): the
    bias is one of the a_i, in units of ``intercept_scaling``, and counts little if that is large. Many coefficients are
    0: it chooses features. A C that is large enough gives the hard margin exactly
    where the classes are separable. ``dual_gap_`` proves how near the minimum is. Unlike the others it depends on the
    units of the columns, so scale them.

    The first two reach 0 exactly where a hyperplane separates; of the vectors that do, the one with the smallest sum
    |a_i| is taken, every column measured in units of its largest entry, so that these units change nothing. Otherwise
    the dual variables give the combination of patterns that proves it. HiGHS decides within tolerances: where no proof
    confirms it, the fit has "failed" (``stop_reason_``). Sparse data stay sparse.
    The question of separability is settled on a working set of rows; a minimum of ``"perceptron"`` above 0 needs a
    program over all of them, which may take minutes for 100,000 dense rows: see ``max_time``.

    A sample weight c is the same as c copies.

    Parameters
    ----------
    margin : float or array-like of shape (n,), default=1.0
        The b that ``a.y`` is to reach, positive.
    max_time : float or None, default=None
        Seconds for the whole fit, at most. When they are over, programs without a solution leave the vector between the
        means of their classes; ``tau_`` is nan then.

    Attributes
    ----------
    {attributes}
    n_iter_ : int
        Iterations of HiGHS.
    tau_ : ndarray of shape (n,) or float; a list of them for several problems
        The tau that the program minimises, of the vector that was found: ``max(0, b - a.y)`` of every row that takes
        part, or the largest of these for "minimax".
    dual_gap_ : float or ndarray
        Of "l1": the value of the criterion is at most so far above the minimum, rounding included; one per problem.

    See Also
    --------
    MaxMargin : The margin of the 2-norm, which does not depend on the choice of axes.
    separability : Decides in exact arithmetic what these programs decide within tolerances.

    References
    ----------
    Duda, Hart & Stork, sections 5.10.2 and 5.10.3; Huangfu & Hall (2018). "l1": Bradley & Mangasarian, Feature
    selection via concave minimization and support vector machines (1998); Zhu, Rosset, Hastie & Tibshirani, 1-norm
    support vector machines (2003).

    Examples
    --------
    >>> from separatrix import LinearProgram
    >>> X = [[1.0, 2.0], [2.0, -4.0], [-3.0, -1.0], [2.0, 4.0], [-1.0, -5.0], [5.0, 0.0]]
    >>> model = LinearProgram("minimax").fit(X, [1, 1, 1, 2, 2, 2])  # DHS problem 25
    >>> model.certificate_.separable, model.criterion_values_.round(9).tolist()
    (False, [1.0])
    >>> sparse = LinearProgram("l1", C=10.0, intercept_scaling=100.0)
    >>> sparse = sparse.fit([[0.0, 5.0], [1.0, 1.0], [3.0, 1.0], [4.0, 5.0]], [0, 0, 1, 1])
    >>> sparse.coef_.round(3).tolist(), sparse.intercept_.round(3).tolist(), bool(sparse.dual_gap_ < 1e-9)
    ([[1.0, 0.0]], [-2.0], True)
    """

    criterion: Annotated[str, one_of(*linear_program.CRITERIA), "What is minimised."] = "perceptron"
    margin: Annotated[Any, POSITIVE, "array-like"] = 1.0
    _: KW_ONLY
    C: Annotated[float, POSITIVE, 'Of "l1": the price of tau.'] = 1.0
    max_time: Annotated[float | None, POSITIVE] = None

    _joins = {**DirectClassifier._joins, "n_iter_": total, "tau_": each, "dual_gap_": _gaps}

    def _advice(self) -> str:
        if self.stop_reason_ == "failed":
            return "Center and scale your features; separability(X, y) may decide what HiGHS's tolerances do not."
        return "Raise max_time or scale your features."

    def _certificate(self, outcome: Outcome, data: Data, thorough: bool) -> Certificate:
        certificate, solver = super()._certificate(outcome, data, thorough), outcome.solver
        looked_for = thorough and certificate.separable is None and len(solver.witness[0]) > 0
        proof = gordan_soon(solver.patterns, *solver.witness) if looked_for else None
        return certificate if proof is None else refuted(certificate, proof, data.kept[proof.rows])

    def _ended(self, reason: str, certificate: Certificate) -> str:
        """A minimum above 0 is believed if there is a proof; where that would be too large, HiGHS is the judge."""
        if reason != "positive":
            return reason
        rows = certificate.alpha_index
        too_large = rows is not None and len(rows) > LARGEST_SYSTEM
        return "converged" if certificate.separable is False or too_large else "failed"

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        b = row_values(self.margin, "margin", data)
        return [
            linear_program.LinearProgram(
                p, data.weight, b, self.criterion, partial(separates_exactly, p), float(self.C)
            )
            for p in patterns
        ]

    def _own(self, outcome: Outcome, certificate: Certificate, data: Data) -> dict[str, Any]:
        solver, short = outcome.solver, np.full(len(outcome.solver.b), np.nan)
        if outcome.measured:
            short = np.maximum(solver.b - solver.patterns.margins(outcome.a), 0.0)
        own = {"n_iter_": int(solver.iterations), "tau_": float(short.max()) if self.criterion == "minimax" else short}
        if self.criterion == "l1":
            own["dual_gap_"] = solver.values[-1] - solver.bound if solver.values else np.inf
        return own

    _unbegun = {
        **dict.fromkeys(("n_updates_", "n_visits_", "n_epochs_", "n_iter_"), 0),
        "criterion_values_": np.zeros(0),
    }  # fmt: skip

    def _between_means(self, means: ClassMeans, i: int, j: int, data: Data, reason: str) -> Result:
        found, rows = super()._between_means(means, i, j, data, reason), int(means.count[i] + means.count[j])
        tau = np.nan if self.criterion == "minimax" else np.full(rows, np.nan)
        gap = {"dual_gap_": np.inf} if self.criterion == "l1" else {}
        return found._replace(own={**found.own, **gap, "tau_": tau})
