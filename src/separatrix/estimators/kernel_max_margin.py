"""The maximum margin with a kernel, hard and soft, with a certificate."""

from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np

from separatrix.certificates.certify import refutation
from separatrix.certificates.kernel_gordan import refute
from separatrix.errors import NotSeparableError
from separatrix.fit.declare import estimator, one_of
from separatrix.fit.kernel_separator import KernelMixin
from separatrix.fit.margin_classifier import MarginClassifier, Solution
from separatrix.fit.result import Result, total
from separatrix.fit.training_data import Data
from separatrix.passes.kernel_patterns import LARGEST_CHECKED, KernelPatterns, indefinite
from separatrix.solvers.kernel_decomposition import solve
from separatrix.solvers.kernel_problem import KernelHingeProblem, KernelProblem
from separatrix.space import Vector

AS_GOOD_AS_ZERO = 1e-6  # a bound on the margin below this part of R, without a vector in sight: a proof is looked for
NO_SUPPORT = 1e-10  # multipliers below this part of the largest are rounding errors


@estimator
class KernelMaxMargin(KernelMixin, MarginClassifier):
    """The maximum margin in the space of a kernel, hard or soft, with a proof of how good it is.

    Minimises ``|w|^2/2 + C sum c_k xi_k^2``, xi_k = max(0, 1 - l_k (w.phi(x_k) + b)): squared hinge loss. With
    ``loss="hinge"`` the slack xi_k itself is minimised: then it solves the problem of ``sklearn.svm.SVC``. ``C=inf`` is
    the hard margin. It stops on the certificate, ``(P - D)/P <= tol``; up to 1,500 rows it is exact.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; inf for the hard margin, which raises `NotSeparableError` where it is proved that there is
        none: by equal rows of different classes, or exactly for linear and polynomial kernels. What is not proved
        does not converge.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        What slack costs: its square, or the slack itself, as in SVC.
    fit_intercept : True, False or "unpenalized", default="unpenalized"
        "unpenalized": an unpenalised bias, as SVC has it; with ``loss="hinge"`` the middle of the optimal intercepts,
        if they are an interval. True: a bias by augmentation with ``intercept_scaling``. False: none.
    intercept_scaling : float, default=1.0
        The augmenting constant (the rho of the sources, not LIBSVM's).
    tol : float, default=1e-4
        The certified gap at which to stop.
    max_time : float or None, default=None
        Seconds for the whole fit, at most. When they are over, classes or pairs that no solver has begun get the vector
        between the means of their classes, and vectors that take long to measure get no bounds.
    class_weight : dict, "balanced" or None, default=None
        Factors on the price of slack by class; they multiply ``sample_weight``.
    multi_class : {"ovr", "ovo"}, default="ovr"
        More than two classes: each against the rest, or each pair.
    n_jobs : int or None, default=None
        Threads over these problems.
    random_state : int, RandomState or None, default=None
        Taken for the sake of tools that set it, and ignored: nothing here is random.

    Attributes
    ----------
    classes_ : ndarray
        The labels; of two, the second is the positive class.
    support_ : ndarray
        Rows that support a vector, in all problems together; ``support_vectors_`` are these rows of X.
    dual_coef_ : ndarray of shape (number of vectors, number of support vectors)
        Multiples of these rows.
    intercept_ : ndarray
        The biases.
    n_support_ : ndarray
        How many of these rows each class has.
    alphas_ : list of ndarrays
        The multipliers of the rows ``support_``, one array per problem.
    certificate_ : Certificate
        Lower and upper bound of the margin in the space of the problem, with ``loss="hinge"`` of its objective;
        ``certificates_``: one per problem.
    dual_gap_ : float or ndarray
        P - D, certified: the objective is at most so far above the best; one per problem.
    directional_margin_, geometric_margin_ : float
        With the bias as part of the length, and without.
    converged_ : bool
        The gap was reached. ``stop_reason_``: "converged", "max_time", "stalled" if arithmetic allows no smaller gap,
        "callback" or "interrupted".
    n_steps_, n_iter_ : int
        Steps of the solver, in all problems together, and the largest number of one of them.

    See Also
    --------
    MaxMargin : Without a kernel, for any number of rows.
    KernelPerceptron : Rules that visit one row after the other.
    separatrix.dropin.SVC : With scikit-learn's parameters.

    References
    ----------
    Boser, Guyon & Vapnik (1992); Duda, Hart & Stork, section 5.11 and example 2.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import KernelMaxMargin
    >>> X, y = [[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, 0, 0]  # example 2: alpha = 1/8, margin sqrt(2)
    >>> model = KernelMaxMargin(C=np.inf, kernel="poly", degree=2, gamma=1, coef0=1).fit(X, y)
    >>> model.alphas_[0].round(6).tolist(), round(model.geometric_margin_, 6)
    ([0.125, 0.125, 0.125, 0.125], 1.414214)
    >>> soft = KernelMaxMargin(C=1.0, loss="hinge").fit(X, y)  # the problem of SVC(C=1.0)
    >>> soft.n_support_.tolist(), round(soft.certificate_.value, 4)
    ([2, 2], 2.5047)
    """

    _: KW_ONLY
    fit_intercept: Annotated[bool | str, one_of("unpenalized")] = "unpenalized"
    multi_class: Annotated[str, one_of("ovr", "ovo")] = "ovr"

    _joins = {"n_steps_": total, "n_iter_": max}
    _unbegun = {"alphas_": 0.0, "n_steps_": 0, "n_iter_": 0}

    def _advice(self, n: int) -> str:
        if np.isinf(self.certificate_.upper) and not self._kernel_.mercer and n > LARGEST_CHECKED:
            return (
                f"Whether this kernel is positive semi-definite is looked at up to {LARGEST_CHECKED} rows; beyond "
                "nothing bounds the margin."
            )
        return "Raise max_time, or scale your features."

    def _problems(self, data: Data, weight: Vector | None = None, mode: str = "") -> list[Any]:
        patterns = super()._problems(data, weight, mode)
        if patterns[0].definite is False:
            raise indefinite("its matrix has a negative eigenvalue or is not symmetric, so its space has no margins")
        return patterns

    def _problem(self, patterns: KernelPatterns, data: Data, threads: int) -> KernelProblem:
        kind = KernelHingeProblem if patterns.space.hinge else KernelProblem
        return kind(
            patterns,
            float(self.C),
            data.weight,
            tol=float(self.tol),
            megabytes=self._megabytes(data, threads),
        )

    def _measures(self, problem: KernelProblem) -> dict[str, Any]:
        return {**super()._measures(problem), "visits": problem.steps, "updates": problem.steps}

    def _solve(self, problem: KernelProblem, data: Data, start: Vector | None = None) -> Solution:
        if start is not None:
            raise ValueError("KernelMaxMargin starts from no hyperplane: coef_init and intercept_init must be None.")
        solve(problem)
        if problem.hard and not problem.lower > 0 and not problem.stopped:
            self._refuse(problem, data)
        return self._solution(problem, "")

    def _solution(self, problem: KernelProblem, how: str) -> Solution:
        a, alpha = problem.a, problem.alpha
        smallest = float(problem.patterns.margins(a).min()) if problem.hard else 0.0
        if smallest > 0:  # scaled so that the smallest margin is 1: then alpha are multipliers
            a = a / smallest
            alpha = np.abs(a[:-1])
        return Solution(problem, a, np.arange(len(alpha)), alpha, how)

    def _refuse(self, problem: KernelProblem, data: Data) -> None:
        """A hard margin without a separating vector: an error where there is a proof that there is none."""
        if problem.upper > AS_GOOD_AS_ZERO * problem.patterns.radius or not problem.patterns.definite:
            return
        found = refute(problem.patterns, np.flatnonzero(problem.alpha > NO_SUPPORT * problem.alpha.max()))
        if found is None:
            return  # undecided: the fit does not converge, and says so
        certificate = refutation(
            problem.patterns, found.rows, found.weight, found.norm, exact=True, kept=data.kept,
            sample_weight=data.given_weight,
        )  # fmt: skip
        raise NotSeparableError(
            f"No hyperplane in the space of the kernel separates the classes: a combination of {len(found.rows)} rows "
            "with non-negative weights is 0 exactly (see the error's certificate). Use a finite C for a soft margin, "
            "or another kernel.",
            certificate,
        )

    def _own(self, solution: Solution, data: Data) -> dict[str, Any]:
        steps = int(solution.problem.steps)
        return {"alphas_": solution.alpha[np.flatnonzero(solution.a[:-1])], "n_steps_": steps, "n_iter_": steps}

    def _attributes(self, results: list[Result], data: Data) -> dict[str, Any]:
        found = super()._attributes(results, data)
        rows, alphas = found["support_"], []
        for r in results:
            alphas.append(np.zeros(len(rows)))
            alphas[-1][np.searchsorted(rows, r.predicting["support_"])] = r.own["alphas_"]
        codes = data.codes[np.searchsorted(data.kept, rows)]
        return {**found, "alphas_": alphas, "n_support_": np.bincount(codes, minlength=len(data.classes))}
