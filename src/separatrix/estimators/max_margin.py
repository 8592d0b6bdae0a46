"""The maximum margin, hard and soft, with a certificate."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, replace
from math import ceil
from typing import Annotated, Any

import numpy as np

from separatrix.cancellation import limited, out_of_time
from separatrix.certificates.certify import refutation, separates_exactly
from separatrix.certificates.decision import decide
from separatrix.certificates.farkas import decide_with_signs
from separatrix.certificates.gordan import Gordan
from separatrix.errors import NotSeparableError, UnavailableError
from separatrix.fit.checkpointed import Checkpoint
from separatrix.fit.class_means import unmeasured
from separatrix.fit.coefficient_signs import signs_of
from separatrix.fit.declare import COUNT, estimator, one_of
from separatrix.fit.margin_classifier import MarginClassifier, Solution
from separatrix.fit.result import Result, first, joined_duals, total
from separatrix.fit.sklearn_api import check_feature_names
from separatrix.fit.training_data import Data
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.hinge_problem import HingeProblem
from separatrix.solvers.l1_penalty import L1Problem
from separatrix.solvers.problem import PRECISE_GAP, Problem
from separatrix.space import Space, Vector, default_errstate, is_finite

NARROW_SPARSE = 50  # columns up to which sparse rows are solved to machine precision too
VALUES_TO_PRECISION = 200_000  # up to which a problem is solved to machine precision: it costs nothing
FINE = 1e-6  # tol from which a solver leaves room for a certificate, which rounds both bounds outwards
NO_TIME = "none (no time was left)"
AFTERWARDS = 0.1  # seconds in which a fit that met its limit may still find a proof


@estimator
class MaxMargin(MarginClassifier):
    """The maximum margin hyperplane, hard or soft, with a proof of how good it is.

    Minimises ``|w|^2/2 + C sum c_k xi_k^2``, xi_k = max(0, 1 - l_k (w.x_k + b)), the problem of
    ``LinearSVC(loss="squared_hinge")``; with ``loss="hinge"`` the slack xi_k itself, the problem of
    ``LinearSVC(loss="hinge")``, ``SVC`` and ``SGDClassifier``; ``C=inf`` is the hard margin. It stops on the
    certificate, ``(P - D)/P <= tol`` with P the value reached and D a value that no vector can beat, both computed from
    the data in float64.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; inf for the hard margin, which raises `NotSeparableError` where there is none. In the sources'
        terms C = 1/(2 Delta^2) for squared hinge loss.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        What slack costs: its square, or the slack itself. "hinge" is less moved by rows far on the wrong side; it
        needs rows in memory.
    fit_intercept : True, False or "unpenalized", default=True
        True: a bias by augmentation with ``intercept_scaling``, part of |w| (LinearSVC's ``intercept_scaling``). False:
        none. "unpenalized": an unpenalised bias, as ``SVC(kernel="linear")`` has it. With ``loss="hinge"`` an interval
        of intercepts may be optimal, as with a small C and classes of equal weight; ``intercept_`` is its middle.
    intercept_scaling : float, default=1.0
        The augmenting constant (the rho of the sources, not LIBSVM's).
    tol : float, default=1e-4
        The certified gap at which to stop. Small problems (up to 200,000 values) are solved to machine precision,
        except a linear machine with ``loss="hinge"`` and squared hinge loss of sparse rows with 50 columns or more.
    penalty : {"l2", "l1"}, default="l2"
        "l1": sum |w_j| takes the place of |w|^2/2, and |b|/intercept_scaling that of the bias (lasso, sparse SVM): many
        coefficients are exactly 0. It is the problem of ``LinearSVC(penalty="l1", dual=False)``, here for both losses
        and with a certified gap. It needs a finite C, two classes or "ovr" or "ovo", and rows in memory.
    positive : bool or array-like of shape (n_features,), default=False
        Sign constraints. True: all coefficients are at least 0. An array: +1 for a coefficient of at least 0, -1 for
        one of at most 0, 0 for any number. They hold for every hyperplane, for each class or pair; the intercept is
        never constrained. ``verify`` checks the signs, and both bounds are those of vectors with these signs. A hard
        margin without such a vector raises `NotSeparableError` with a proof (Farkas).
    solver : {"auto", "newton", "dual"}, default="auto"
        "newton": matrices of columns, or working sets of rows. "dual": coordinate descent over the rows, then faces of
        the dual; it needs rows in memory and a penalized intercept. "auto" takes "dual" if rows are fewer than columns.
    max_time : float or None, default=None
        Seconds for the whole fit, at most. When they are over, classes or pairs that no solver has begun get the vector
        between the means of their classes, and vectors that take long to measure get no bounds.
    class_weight : dict, "balanced" or None, default=None
        Factors on the price of slack by class; they multiply ``sample_weight``. For out-of-core rows the
        certificate speaks of `separatrix.data.weighted`.
    multi_class : {"ovr", "ovo", "joint"}, default="ovr"
        More than two classes: each against the rest, each pair, or one linear machine, whose margin is that of
        Kesler's space: the smallest ``(a_i - a_j).y`` over rows and rivals, all vectors together being of length 1.
        With squared hinge loss every rival has a slack of its own. With ``loss="hinge"`` there is one for each row,
        that of
        its strongest rival: the problem of ``LinearSVC(multi_class="crammer_singer")``, here with a certified gap. The
        machine has no "unpenalized" bias.
    n_jobs : int or None, default=None
        Threads: they share the passes over one problem, or take the problems of "ovr" and "ovo" one by one; with
        callbacks each problem has its turn.
    random_state : int, RandomState or None, default=None
        Taken for the sake of tools that set it, and ignored: nothing here is random.

    Attributes
    ----------
    classes_ : ndarray
        The labels; of two, the second is the positive class.
    coef_, intercept_ : ndarray
        The minimiser; for the hard margin scaled so that the smallest margin is 1. One row per class if several, one
        per pair for "ovo".
    certificate_ : Certificate
        Lower and upper bound of the margin in the space of the problem, and the gap; ``certificates_``: one per
        problem.
    support_, dual_coef_ : ndarray
        Rows with a positive multiplier in any problem, and the multipliers times labels, a line for each problem.
        Of a linear machine the multiples of these rows in each of its vectors.
    n_support_ : ndarray
        How many of them each class has.
    support_vectors_ : ndarray or CSR matrix
        Those rows of X. Model files do not hold them.
    dual_gap_ : float or ndarray
        P - D, certified: the objective is at most so far above the best; one per problem.
    directional_margin_, geometric_margin_ : float
        min u.y_k in the augmented space, and the smallest distance from the hyperplane (negative: an error).
    converged_ : bool
        The gap was reached. ``stop_reason_``: "converged", "max_time", "max_passes", "stalled" if arithmetic allows no
        smaller gap, "callback" or "interrupted".
    n_passes_ : float
        Passes over the data, in all problems together; ``n_iter_``: the largest number of one of them, rounded up.
    solver_ : str
        The side, and what was done in words.

    See Also
    --------
    KernelMaxMargin : With a kernel.
    max_margin_path : Many values of C.
    LinearProgram : The margin of the 1-norm.
    separatrix.dropin.LinearSVC : With scikit-learn's parameters.

    References
    ----------
    Vapnik (1982); Boser, Guyon & Vapnik (1992); Cortes & Vapnik, Support-Vector Networks (1995). Hinge loss: Yan & Li,
    An efficient augmented Lagrangian method for support vector machine (2020). Its linear machine: Crammer & Singer
    (2001); Keerthi, Sundararajan, Chang, Hsieh & Lin, A sequential dual method for large scale multi-class linear SVMs
    (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import MaxMargin
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MaxMargin(C=float("inf")).fit(X, y == 0)
    >>> print(model.certificate_)  # doctest: +ELLIPSIS
    linearly separable: margin 0.749117, proven upper bound 0.749117, relative gap ... (rho = 1)
    >>> model = MaxMargin(C=1.0, loss="hinge", fit_intercept="unpenalized").fit(X, y == 1)  # that of SVC
    >>> print(f"{model.certificate_.value:.4f}", model.n_support_)
    88.5380 [48 46]
    """

    _: KW_ONLY
    penalty: Annotated[str, one_of("l2", "l1")] = "l2"
    positive: Annotated[Any, "boolean", "array-like"] = False
    solver: Annotated[str, one_of(*solvers.SIDES)] = "auto"
    max_passes: Annotated[int | None, COUNT, "Passes over the data, at most."] = None
    multi_class: Annotated[str, one_of("ovr", "ovo", "joint")] = "ovr"
    checkpoint: Checkpoint = None

    _accepts_row_sources = _leaves_columns_out = True
    _joins = {"n_passes_": total, "n_iter_": max, "solver_": first}
    _unbegun = {
        "n_passes_": 0.0, "n_iter_": 0, "solver_": NO_TIME, "support_": np.zeros(0, np.int64),
        "dual_coef_": np.zeros((1, 0)),
    }  # fmt: skip
    _not_saved = ("support_vectors_",)  # rows of the data, of which a soft margin may need most

    def _space(self) -> Space:
        space = super()._space()._replace(l1=self.penalty == "l1")
        return space if self.positive is False else space._replace(signs=signs_of(self.positive, self.n_features_in_))

    def _advice(self, n: int) -> str:
        return "Raise max_passes or max_time, or scale your features."

    def _problems(self, data: Data, weight: Vector | None = None, mode: str = "") -> list[Patterns]:
        if self._mode(data.classes) == "joint" and self._space().free:
            raise ValueError(
                'multi_class="joint" has no unpenalized intercept. Use fit_intercept=True, or multi_class="ovr".'
            )
        if self.penalty == "l1":
            self._check_l1(data)
        if self._mode(data.classes) == "joint" and self._space().signs:
            raise ValueError('positive: multi_class="joint" has no sign constraints. Use "ovr" or "ovo".')
        if not data.here and self._space().hinge:
            raise UnavailableError('loss="hinge" keeps a multiplier for every row, so the rows have to be in memory.')
        return super()._problems(data, weight, mode)

    def _check_l1(self, data: Data) -> None:
        if np.isinf(self.C):
            raise ValueError('penalty="l1" needs a finite C (got inf). Use a large C, or LinearProgram("l1").')
        if self.positive is not False:
            raise ValueError('penalty="l1" has no sign constraints (got positive=). Use penalty="l2".')
        if self._mode(data.classes) == "joint":
            raise ValueError('penalty="l1": multi_class="joint" is not supported. Use "ovr" or "ovo".')
        if not data.here:
            raise UnavailableError('penalty="l1" reads columns, so the rows have to be in memory. Use penalty="l2".')

    def _problem(self, patterns: Patterns, data: Data, threads: int = 1) -> Problem:
        kind: Any = L1Problem if patterns.space.l1 else HingeProblem if patterns.space.hinge else Problem
        tol = float(self.tol)
        tol = tol if tol > FINE else 0.5 * tol
        return kind(
            patterns,
            float(self.C),
            tol=min(tol, PRECISE_GAP) if self._costs_nothing(patterns) else tol,
            max_passes=np.inf if self.max_passes is None else float(self.max_passes),
        )

    def _costs_nothing(self, patterns: Patterns) -> bool:
        """Does machine precision? Not with one slack for all rivals of a row, nor where sweeps over sparse rows would
        do."""
        hinge, machine = patterns.space.hinge, patterns.n_classes > 2
        if (hinge and machine) or patterns.space.l1:
            return False
        sparse = patterns.here and patterns.sparse and patterns.d >= NARROW_SPARSE
        sweeps = sparse and patterns.space.delta > 0 and not hinge
        small = patterns.n * (patterns.d + 1) <= VALUES_TO_PRECISION
        return small and not (sweeps and not machine and not patterns.space.free)

    def _measures(self, problem: Problem) -> dict[str, Any]:
        visits = int(problem.passes * problem.patterns.n)
        return {**super()._measures(problem), "visits": visits, "epochs": problem.passes}

    def _solve(self, problem: Problem, data: Data, start: Vector | None = None) -> Solution:
        try:
            how = solvers.solve(problem, start, self.solver)
        finally:
            if not problem.patterns.here:
                self._check_scale(problem.patterns, None)
        if problem.hard and not problem.lower > 0:
            exact = self._refuse(problem, data)
            return replace(self._solution(problem, how), exact=exact)
        return self._solution(problem, how)

    def _solution(self, problem: Problem, how: str) -> Solution:
        a, index, alpha = problem.a, problem.alpha_index, problem.alpha
        if problem.slack_vector is not None and problem.patterns.here:
            index, alpha = problem.multipliers()
            problem.slack_vector = None
        if problem.hard:
            smallest = problem.lower * problem.patterns.space.length(a)  # as the pass over it has measured
            with np.errstate(over="ignore"):
                scaled = a / smallest if smallest > 0 else a
            a = scaled if is_finite(scaled) else a  # a margin so small has no such multiple
            length = problem.patterns.space.length(a)
            if len(alpha) and length < 1e150:  # a = sum alpha_k y_k has sum alpha_k = |a|^2
                alpha = alpha / alpha.sum() * length**2
        elif isinstance(problem, HingeProblem):
            a = problem.vector_to_predict()
        return Solution(problem, a, index, alpha, how)

    def _refuse(self, problem: Problem, data: Data) -> Vector | None:
        """A hard margin without a separating vector: the proof that there is none, or a vector after all, where the
        margin is below what arithmetic in this space resolves. What is undecided does not converge."""
        patterns = problem.patterns
        near = (problem.alpha_index, problem.alpha)
        seconds = AFTERWARDS if problem.limited else np.inf
        if patterns.space.signs:
            return self._refuse_signs(problem, data, seconds)
        answer = decide(patterns.in_space(Space(patterns.space.rho)), seconds, near)
        if answer.separable and answer.certificate is not None and answer.certificate.direction is not None:
            # better than what was found, whatever floats say of its margin
            problem.a = patterns.in_these_columns(answer.certificate.direction)
            problem.reached(problem.a, problem.smallest(problem.a))
            # where only fractions separate, no vector of floats proves it
            return problem.a if separates_exactly(patterns, problem.a) else None
        if answer.separable is not False or answer.infeasibility_proof is None:
            return None
        raise self._not_separable(patterns, answer.infeasibility_proof, data)

    def _refuse_signs(self, problem: Problem, data: Data, seconds: float) -> Vector | None:
        """`_refuse` with sign constraints; out-of-core rows stay undecided."""
        patterns = problem.patterns
        late = problem.limited and patterns.n * (patterns.d + 1) > VALUES_TO_PRECISION
        if not patterns.here or late:
            return None
        vector, proof = decide_with_signs(problem.patterns, seconds, problem.alpha_index, problem.alpha)
        if proof is not None:
            raise self._not_separable(problem.patterns, proof, data)
        if vector is not None:
            problem.a = vector
            problem.reached(vector, problem.smallest(vector))
        return vector if vector is not None and separates_exactly(problem.patterns, vector) else None

    def _not_separable(self, patterns: Any, proof: Gordan, data: Data) -> NotSeparableError:
        certificate = refutation(
            patterns, proof.rows, proof.weight, proof.norm, exact=True, kept=data.kept,
            sample_weight=data.given_weight,
        )  # fmt: skip
        what = "linear machine" if patterns.n_classes > 2 else "hyperplane"
        where = "" if patterns.space.rho else " through the origin"
        signs = " with these signs of the coefficients" if patterns.space.signs else ""
        proved = "allows none (Farkas)" if signs else "is 0 exactly"
        return NotSeparableError(
            f"No {what}{where}{signs} separates the classes: a combination of {len(proof.rows)} patterns with "
            f"non-negative weights {proved} (see the error's certificate). Use a finite C for a soft margin.",
            certificate,
        )

    def _own(self, solution: Solution, data: Data) -> dict[str, Any]:
        passes = solution.problem.passes
        own = {"n_passes_": float(passes), "n_iter_": ceil(passes), "solver_": solution.how}
        if data.here:  # elsewhere the multipliers of a soft margin would be as many as the rows
            support, dual = _support_of(solution)
            own |= {"support_": data.kept[support], "dual_coef_": dual}
        return own

    def _attributes(self, results: list[Result], data: Data) -> dict[str, Any]:
        found = super()._attributes(results, data)
        if not data.here:
            return found
        rows, dual = joined_duals([r.own["support_"] for r in results], [r.own["dual_coef_"] for r in results])
        codes = data.codes[np.searchsorted(data.kept, rows)]
        return {
            **found,
            "support_": rows,
            "dual_coef_": dual,
            "n_support_": np.bincount(codes, minlength=len(data.classes)),
            "support_vectors_": self._rows_of(data, rows),
        }

    def _take(self, solutions: list[Solution], data: Data) -> None:
        """Set the attributes of a model of a path."""
        results = [self._result(s, data) for s in self._in_time(solutions, data)]
        self._set({"classes_": data.classes, "multi_class_": self._mode(data.classes)})
        self._set(self._attributes(results, data))


def _support_of(solution: Solution) -> tuple[np.ndarray, np.ndarray]:
    """The rows with a positive multiplier, and a line of multipliers times labels; of a machine a line per class."""
    index, alpha, patterns = solution.index, solution.alpha, solution.problem.patterns
    if isinstance(patterns, KeslerPatterns):
        support, table = patterns.multiples(index, alpha)
        return support, table.T
    if not alpha.min(initial=np.inf) > 0:
        positive = alpha > 0
        index, alpha = index[positive], alpha[positive]
    return index, (alpha * patterns.labels_of(index))[None, :]


@default_errstate()
def max_margin_path(X: Any, y: Any, Cs: Iterable[float], sample_weight: Any = None, **params: Any) -> list[MaxMargin]:
    """Soft margins for many C at little more than the price of one: each starts from the solution before it.

    Parameters
    ----------
    X, y, sample_weight : as in `MaxMargin.fit`
    Cs : iterable of float
        The values of C, in any order; inf may be among them.
    **params :
        Other parameters of `MaxMargin`; ``max_time`` is that of the whole path.

    Returns
    -------
    list of MaxMargin
        One fitted estimator per C, in the order of ``Cs``, each with its certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from separatrix import max_margin_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = max_margin_path(scale(X), y, [0.01, 1.0, 100.0])
    >>> [len(model.support_) for model in models]
    [174, 64, 43]
    """
    values = list(Cs)
    if params.get("multi_class") == "ovo":
        raise ValueError('max_margin_path goes along one set of problems: use multi_class="ovr" or "joint".')
    with limited(params.get("max_time")):
        return _path(X, y, values, sample_weight, params)


def _path(X: Any, y: Any, values: list[float], sample_weight: Any, params: dict[str, Any]) -> list[MaxMargin]:
    models = [MaxMargin(C, **params) for C in values]
    for model in models:
        model._validate_params()
    if not models:
        return models
    first = models[min(range(len(models)), key=lambda i: values[i])]
    data = first._check_training_data(X, y, sample_weight)
    for model in models:
        if model is not first:
            check_feature_names(model, X, reset=True)
            model.n_features_in_ = data.width
    for model, solutions in solutions_along(models, data):
        model._take(solutions, data)
    return models


def solutions_along(models: list[MaxMargin], data: Data) -> Iterator[tuple[MaxMargin, list[Solution]]]:
    """Yield each model with its solutions, the smallest C first: each starts from the vectors before it.

    When no time is left, a problem keeps the vector from which it would start.
    """
    patterns: list[Patterns] = []
    starts: list[Vector | None] = []
    for model in sorted(models, key=lambda model: model.C):
        if not patterns:
            patterns = model._problems(data, data.weight)
            starts = [None] * len(patterns)
        solutions = []
        for k, p in enumerate(patterns):
            problem = model._problem(p.in_space(model._space()), data)
            if data.here:  # the space of another C may hold what this one does not
                model._check_scale(problem.patterns, data.kept)
            start = starts[k]
            if not out_of_time():
                solutions.append(model._solve(problem, data, start))
                starts[k] = solutions[-1].a
            elif start is None:
                solutions.append(model._solution(problem, NO_TIME))
            else:
                nothing = unmeasured(problem.patterns, start, data.given_weight)
                solutions.append(replace(model._solution(problem, NO_TIME), a=start, certificate=nothing))
        yield model, solutions
