"""The maximum margin with a kernel, hard and soft, with a certificate."""

import threading
import time
from dataclasses import field
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from separatrix.errors import NotSeparableError
from separatrix.estimators._fit.class_weight import soft_space, with_class_weight
from separatrix.estimators._fit.declare import estimator
from separatrix.estimators._fit.kernel_separator import CONSTRAINTS, KERNEL, SUPPORT, KernelMixin
from separatrix.estimators._fit.one_vs_one import fit_members, members_of
from separatrix.estimators._fit.parallel import run_each, threads_for
from separatrix.estimators._fit.separator import Data, LinearSeparator, warn_not_converged
from separatrix.estimators._fit.watch import Progress, with_callbacks
from separatrix.optimum.kernel_decomposition import KernelProblem, solve
from separatrix.patterns.binary_problems import binary_labels, pairs
from separatrix.patterns.kernel_patterns import LARGEST_CHECKED, KernelPatterns, indefinite
from separatrix.proof.certificate import Certificate
from separatrix.proof.certify import certify
from separatrix.space import Space

AS_GOOD_AS_ZERO = 1e-6  # a bound on the margin below this part of R, without a separating vector in sight


@estimator
class KernelMaxMargin(KernelMixin, LinearSeparator):
    """The maximum margin in the space of a kernel, hard or soft, with a proof of how good it is.

    Minimises ``|w|^2/2 + C sum c_k xi_k^2``, xi_k = max(0, 1 - l_k (w.phi(x_k) + b)): squared slack, where
    ``sklearn.svm.SVC`` has plain slack. ``C=inf`` is the hard margin, and there both solve the same problem
    (``fit_intercept="free"``). It stops on the certificate, ``(P - D)/P <= tol``; up to 1,500 rows it is exact.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; inf for the hard margin, which raises `NotSeparableError` where there is none.
    fit_intercept : True, False or "free", default="free"
        "free": an unpenalised bias, as SVC has it. True: a bias by augmentation with ``rho``. False: none.
    rho : float, default=1.0
        The augmenting constant (not LIBSVM's rho).
    tol : float, default=1e-4
        The certified gap at which to stop.
    max_time : float or None, default=None
        Seconds for each problem, at most.
    class_weight : dict, "balanced" or None, default=None
        Factors on the price of slack by class; they multiply ``sample_weight``.
    multi_class : {"ovr", "ovo"}, default="ovr"
        More than two classes: each against the rest, or each pair.
    n_jobs : int or None, default=None
        Threads over these problems.
    {kernel}

    Attributes
    ----------
    classes_ : ndarray
        The labels; of two, the second is the positive class.
    {support}
    alphas_ : list of ndarrays
        The multipliers of the rows ``support_``, one array per problem.
    certificate_ : Certificate
        Lower and upper bound of the margin in the space of the problem; ``certificates_``: one per problem.
    directional_margin_, geometric_margin_ : float
        With the bias as part of the length, and without.
    converged_ : bool
        The gap was reached.

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
    """

    C: float = 1.0
    fit_intercept: Any = field(default="free", kw_only=True)
    rho: float = field(default=1.0, kw_only=True)
    tol: float = field(default=1e-4, kw_only=True)
    max_time: float | None = field(default=None, kw_only=True)
    class_weight: Any = field(default=None, kw_only=True)
    multi_class: str = field(default="ovr", kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)
    kernel: Any = field(default="rbf", kw_only=True)
    gamma: Any = field(default="scale", kw_only=True)
    degree: float = field(default=3, kw_only=True)
    coef0: float = field(default=0.0, kw_only=True)
    cache_size: float = field(default=500, kw_only=True)

    _parameter_constraints = {
        **CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="right")],
        "fit_intercept": ["boolean", StrOptions({"free"})],
        "rho": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "multi_class": [StrOptions({"ovr", "ovo"})],
        "n_jobs": [Integral, None],
    }

    def _space(self) -> Space:
        return soft_space(self.C, self.fit_intercept, self.rho)

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the maximum margin.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or the (n, n) matrix of a precomputed kernel
        y : array-like of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            Factors c_k on the price of slack; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        progress = Progress(self, X, y)
        data = with_class_weight(self.class_weight, self._check_training_data(X, y, sample_weight))
        if self.multi_class == "ovo" and len(data.classes) > 2:
            megabytes = self.cache_size / threads_for(self.n_jobs, len(pairs(len(data.classes))))
            own = {"gamma": self._kernel(data).gamma, "cache_size": megabytes, "class_weight": None}
            members = members_of(self, len(data.classes), **own)
            fit_members(self, members, data, progress, [{} for _ in members])
        else:
            self._fit_data(data, progress)
        progress.end()
        if not self.converged_:
            advice = "Raise max_time, or scale your features."
            if np.isinf(self.certificate_.upper) and not self._kernel_.mercer and len(data.codes) > LARGEST_CHECKED:
                advice = (
                    f"Whether this kernel is positive semi-definite is looked at up to {LARGEST_CHECKED} rows; beyond "
                    "nothing bounds the margin."
                )
            reason = f"a gap of {self.certificate_.gap:.1e} > tol={self.tol:g}"
            warn_not_converged(type(self).__name__, reason, advice)
        return self

    def _fit_data(self, data: Data, progress: Any, idle: str = "") -> None:
        self.classes_, self.multi_class_ = data.classes, "ovr"
        labels = binary_labels(data.codes, len(data.classes))
        patterns: list[Any] = self._kernel_patterns(data, labels, self._space(), data.weight)
        self._check_scale(patterns[0], data.kept)
        if patterns[0].definite is False:
            raise indefinite("its matrix has a negative eigenvalue or is not symmetric, so its space has no margins")
        stop = getattr(self, "_stop_", None) or threading.Event()
        jobs = None if progress.watched else self.n_jobs
        megabytes = float(self.cache_size) / threads_for(jobs, len(patterns))
        problems = [self._problem(p, data, k, progress, stop, megabytes) for k, p in enumerate(patterns)]

        def task(k: int) -> None:
            solve(problems[k])
            if problems[k].hard and not problems[k].lower > 0 and not problems[k].stopped:
                self._refuse(problems[k], data)

        try:
            if not idle:
                run_each(task, len(problems), jobs, stop)
        except KeyboardInterrupt:
            self._finish(problems, data)
            self.converged_ = False
            raise
        self._finish(problems, data)

    def _problem(
        self, patterns: KernelPatterns, data: Data, k: int, progress: Any, stop: threading.Event, megabytes: float
    ) -> KernelProblem:
        clock = time.perf_counter()

        def watch(problem: KernelProblem) -> bool:
            if stop.is_set():
                return True
            if not progress.watched:
                return False
            measures = {
                "problem": k,
                "visits": problem.steps,
                "epochs": None,
                "updates": problem.steps,
                "upper": problem.upper if patterns.definite else np.inf,
                "lower": lambda: problem.lower,
                "gap": problem.gap,
                "seconds": time.perf_counter() - clock,
            }
            return bool(progress.report(measures, dict))

        limit = np.inf if self.max_time is None else float(self.max_time)
        return KernelProblem(
            patterns,
            float(self.C),
            data.weight,
            tol=float(self.tol),
            megabytes=megabytes,
            max_time=limit,
            watch=watch,
        )

    def _refuse(self, problem: KernelProblem, data: Data) -> None:
        if problem.upper > AS_GOOD_AS_ZERO * problem.patterns.radius or not problem.patterns.definite:
            return
        rows = np.flatnonzero(problem.alpha)
        certificate = certify(
            problem.patterns, problem.a, problem.alpha, predicts=False, kept=data.kept, sample_weight=data.given_weight
        )
        raise NotSeparableError(
            f"No hyperplane in the space of the kernel separates the classes: a combination of {len(rows)} rows with "
            f"non-negative weights has norm {problem.upper:.2g}, as good as 0. Use a finite C for a soft margin, or "
            "another kernel.",
            certificate,
        )

    def _finish(self, problems: list[KernelProblem], data: Data) -> None:
        patterns = [p.patterns for p in problems]
        vectors, alphas = [], []
        for problem in problems:
            a, alpha = problem.a, problem.alpha
            smallest = float(problem.patterns.margins(a).min())
            if problem.hard and smallest > 0:  # scaled so that the smallest margin is 1: then alpha are multipliers
                a = a / smallest
                alpha = np.abs(a[:-1])
            vectors.append(a)
            alphas.append(alpha)
        self._set_duals(patterns[0], vectors, data.kept)
        rows = np.searchsorted(data.kept, self.support_)
        self.alphas_ = [alpha[rows] for alpha in alphas]
        certificates: list[Certificate] = [
            certify(p, a, alpha, kept=data.kept, sample_weight=data.given_weight)
            for p, a, alpha in zip(patterns, vectors, alphas, strict=True)
        ]
        self._set_margins(certificates)
        self._measure_margins(patterns, vectors)
        self.n_steps_ = int(sum(p.steps for p in problems))
        self._set_converged()

    def _set_converged(self) -> None:
        # Rounding outwards may cost the last digits of a gap that was reached.
        self.converged_ = all(c.gap is not None and c.gap <= max(self.tol, 1e-9) for c in self.certificates_)

    def _gather(self, members: list[Any]) -> None:
        super()._gather(members)
        self.alphas_ = [np.zeros(len(self.support_)) for _ in members]
        for member, alpha in zip(members, self.alphas_, strict=True):
            alpha[np.searchsorted(self.support_, member.support_)] = member.alphas_[0]
        self.n_steps_ = sum(member.n_steps_ for member in members)
        self._set_converged()


KernelMaxMargin.__doc__ = (KernelMaxMargin.__doc__ or "").replace("{kernel}", KERNEL).replace("{support}", SUPPORT)
