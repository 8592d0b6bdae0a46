"""The criteria, and descent on them, against the book's formulas and against finite differences."""

import numpy as np
import oracle
import oracle_batch
import pytest
import scipy.sparse as sp
from cases import EXAMPLE_1, LAYOUTS, SEPARABLE, as_seen, categories, each_layout, each_problem, overlapping, weights
from fits import vector
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from separatrix import BatchPerceptron, BatchRelaxation, GradientDescent, LeastSquares
from separatrix.certificates.certify import certify
from separatrix.data import from_blocks
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.batch_descent import safe_rate
from separatrix.space import Space
from separatrix.theory import (
    Criterion,
    PerceptronCriterion,
    QuadraticCriterion,
    RelaxationCriterion,
    SquaredErrorCriterion,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CRITERIA = {
    "perceptron": PerceptronCriterion,
    "quadratic": QuadraticCriterion,
    "relaxation": RelaxationCriterion,
    "squared-error": SquaredErrorCriterion,
}


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("margin", [0.0, 0.7])
@each_problem
@each_layout
def test_value_gradient_and_hessian(name, margin, problem, layout):
    X, y = problem()
    criterion, c = CRITERIA[name](margin), weights(y)
    patterns = Patterns(LAYOUTS[layout](X), oracle.labels(y), Space(1.5))
    Y = oracle.patterns(as_seen(X, layout), y, 1.5)
    a = np.random.default_rng(3).normal(size=Y.shape[1])
    value, gradient, hessian = oracle_batch.criterion(name, Y, c, a, margin)
    assert criterion.value(patterns, a, c) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(criterion.gradient(patterns, a, c), gradient, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(criterion.hessian(patterns, a, c), hessian, rtol=1e-10, atol=1e-10)
    assert criterion.value(patterns, a) == pytest.approx(oracle_batch.criterion(name, Y, 0 * c + 1, a, margin)[0])


@pytest.mark.parametrize("name", CRITERIA)
@each_problem
def test_finite_differences(name, problem):
    X, y = problem()
    criterion = CRITERIA[name](0.7)
    patterns = Patterns(X, oracle.labels(y), Space(1.0))
    a = np.random.default_rng(4).normal(size=patterns.d + 1)
    distance = np.abs(patterns.margins(a) - 0.7) / np.sqrt(patterns.norms2)
    h = min(1e-4, 0.4 * distance.min())  # within it no pattern changes sides
    assert h > 1e-9
    for j in range(len(a)):
        step = h * np.eye(len(a))[j]
        slope = (criterion.value(patterns, a + step) - criterion.value(patterns, a - step)) / (2 * h)
        bend = (criterion.gradient(patterns, a + step) - criterion.gradient(patterns, a - step)) / (2 * h)
        scale = np.abs(criterion.value(patterns, a)) + 1.0
        assert criterion.gradient(patterns, a)[j] == pytest.approx(slope, abs=1e-11 * scale / h)
        np.testing.assert_allclose(criterion.hessian(patterns, a)[j], bend, atol=1e-11 * scale / h)


@pytest.mark.nojit
@each_layout
@each_problem
@pytest.mark.parametrize("weighted", [False, True])
def test_batch_perceptron(problem, layout, weighted):
    X, y = problem()
    c = weights(y) if weighted else np.ones(len(y))
    rates = {"one": (1.0, lambda k: 1.0), "1/k": ("1/k", lambda k: 1 / k), "k": ("k", float)}
    rates["own"] = (lambda k: 0.5 + 1 / k,) * 2
    for eta, of_k in rates.values():
        for margin in (0.0, 2.0):
            model = BatchPerceptron(margin, eta, intercept_scaling=2.0, max_iter=60, until="separated")
            model.fit(LAYOUTS[layout](X), y, sample_weight=c if weighted else None)
            Y = oracle.patterns(as_seen(X, layout), y, 2.0)
            path = oracle_batch.batch_perceptron(Y, c, margin, of_k, max_iter=60)
            assert (model.n_updates_, model.converged_) == (path.updates, path.ended)
            assert model.n_epochs_ == path.updates + path.ended
            np.testing.assert_allclose(vector(model), path.a, rtol=1e-9, atol=1e-9 * np.abs(path.a).max())
            assert model.certificate_.verify(LAYOUTS[layout](X), y, sample_weight=c)
            assert np.isfinite(model.certificate_.upper)


@pytest.mark.parametrize("home", ["memory", "blocks"])
def test_a_stopped_batch_perceptron_predicts_with_the_vector_of_least_criterion_for_its_length(home):
    X, y = overlapping()
    Y, rows = oracle.patterns(X, y), (X, y) if home == "memory" else (from_blocks([(X, y)]), None)
    model = BatchPerceptron(max_iter=60).fit(*rows)
    paths = [oracle_batch.batch_perceptron(Y, np.ones(len(y)), 0.0, lambda k: 1.0, max_iter=k).a for k in range(1, 60)]
    ratios = [float(np.maximum(-Y @ a, 0.0).sum() / np.linalg.norm(a)) for a in paths]
    np.testing.assert_allclose(vector(model), paths[int(np.argmin(ratios))], rtol=1e-9)
    assert model.stop_reason_ == "max_iter"
    if home == "memory":
        assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("problem", SEPARABLE)
def test_free_bounds(problem):
    """Multipliers come with the additions: the upper bound is |a| / sum alpha, and below it lies the best margin."""
    X, y = problem()
    best = oracle.max_margin(oracle.patterns(X, y))[0]
    for model in (
        BatchPerceptron(),
        BatchRelaxation(),
        BatchPerceptron(5.0),
        GradientDescent("quadratic", method="gradient"),
    ):
        certificate = model.fit(X, y).certificate_
        alpha = np.zeros(len(y))
        alpha[certificate.alpha_index] = certificate.alpha
        np.testing.assert_allclose(alpha @ oracle.patterns(X, y), vector(model), rtol=1e-9, atol=1e-9)
        assert certificate.upper == pytest.approx(np.linalg.norm(vector(model)) / alpha.sum(), rel=1e-9)
        assert certificate.lower * (1 - 1e-9) <= best <= certificate.upper * (1 + 1e-9)
        assert certificate.separable


@each_layout
@each_problem
@pytest.mark.parametrize("tol", [1.0, 0.3])
def test_batch_relaxation(problem, layout, tol):
    X, y = problem()
    c = weights(y)
    Y = oracle.patterns(as_seen(X, layout), y)
    limit = 2 / np.linalg.eigvalsh((Y / (Y**2).sum(axis=1)[:, None]).T @ (c[:, None] * Y))[-1]
    for eta in (0.3 * limit, 0.9 * limit):
        model = BatchRelaxation(0.5, eta, tol, max_iter=80).fit(LAYOUTS[layout](X), y, sample_weight=c)
        path = oracle_batch.batch_relaxation(Y, c, 0.5, eta, tol, max_iter=80)
        assert (model.n_updates_, model.converged_) == (path.updates, path.ended)
        np.testing.assert_allclose(vector(model), path.a, rtol=1e-8, atol=1e-9)
        assert model.certificate_.verify(LAYOUTS[layout](X), y, sample_weight=c)
        values = model.criterion_values_
        assert len(values) == model.n_epochs_
        assert np.all(np.diff(values) <= 1e-12 * values[0])  # below the limit J_r never rises
    automatic = BatchRelaxation(0.5, margin_tol=tol, max_iter=80).fit(LAYOUTS[layout](X), y, sample_weight=c)
    assert np.all(np.diff(automatic.criterion_values_) <= 1e-12 * automatic.criterion_values_[0])


def test_the_limit_of_batch_relaxation(sonar):
    """A rate that suits the single-sample rule diverges here; 2/n is safe, and so is the automatic one."""
    X, y = sonar
    wild = BatchRelaxation(eta=0.1, max_iter=50).fit(X, y)
    assert wild.criterion_values_[-1] > 1e3 * wild.criterion_values_[0]
    with pytest.raises(ValueError, match=r"overflows float64 after .* Use a smaller rate"):
        BatchRelaxation(eta=0.1, max_iter=5000).fit(X, y)
    for eta in (2 / len(y), "auto"):
        values = BatchRelaxation(eta=eta, max_iter=200).fit(X, y).criterion_values_
        assert np.all(np.diff(values) <= 1e-12 * values[0])


@each_problem
def test_the_automatic_rate(problem):
    X, y = problem()
    c = weights(y)
    Y = oracle.patterns(X, y)
    patterns = Patterns(X, oracle.labels(y), Space(1.0))
    for name, cls in CRITERIA.items():
        if name == "perceptron":
            continue
        _, _, H = oracle_batch.criterion(name, Y, c, np.zeros(Y.shape[1]), 1.0)  # all are violated at 0
        assert 0.999 <= safe_rate(patterns, c, cls(1.0)) * np.linalg.eigvalsh(H)[-1] < 1.6  # 2 is the limit


@each_layout
@each_problem
@pytest.mark.parametrize("method", ["gradient", "newton", "optimal-step"])
@pytest.mark.parametrize("name", CRITERIA)
def test_descent(name, method, problem, layout):
    X, y = problem()
    c = weights(y)
    Y = oracle.patterns(as_seen(X, layout), y)
    if name == "perceptron":
        if method != "gradient":
            with pytest.raises(ValueError, match="piecewise linear"):
                GradientDescent(name, method=method).fit(X, y)
            return
        eta = 0.1
    else:
        eta = 0.5 / np.linalg.eigvalsh(oracle_batch.criterion(name, Y, c, 0 * Y[0], 1.0)[2])[-1]
    # A full step may put patterns exactly on the margin; on which side they fall is then a matter of rounding.
    epochs = {"gradient": 40, "newton": 2, "optimal-step": 3}[method]
    model = GradientDescent(name, eta, method, step_tol=0.0, max_iter=epochs)
    model.fit(LAYOUTS[layout](X), y, sample_weight=c)
    path = oracle_batch.descent(name, Y, c, 1.0, method, lambda k: eta, tol=0.0, max_iter=epochs)
    np.testing.assert_allclose(vector(model), path.a, rtol=1e-6, atol=1e-6 * np.abs(path.a).max())
    assert model.certificate_.verify(LAYOUTS[layout](X), y, sample_weight=c)
    assert model.certificate_.upper < np.inf
    values = model.criterion_values_
    assert values[0] == pytest.approx(oracle_batch.criterion(name, Y, c, 0 * path.a, 1.0)[0])
    if method == "gradient":
        assert model.n_updates_ == path.updates
        assert name == "perceptron" or np.all(np.diff(values) <= 1e-12 * values[0])


@pytest.mark.parametrize("method", ["gradient", "newton", "optimal-step"])
@pytest.mark.parametrize("name", ["quadratic", "relaxation", "squared-error"])
@each_problem
def test_descent_ends_at_the_minimum(problem, name, method):
    X, y = problem()
    model = GradientDescent(name, method=method, step_tol=1e-9, max_iter=20_000).fit(X, y)
    value, gradient, _ = oracle_batch.criterion(name, oracle.patterns(X, y), np.ones(len(y)), vector(model), 1.0)
    start = oracle_batch.criterion(name, oracle.patterns(X, y), np.ones(len(y)), 0 * gradient, 1.0)[1]
    assert np.linalg.norm(gradient) <= 1e-3 * np.linalg.norm(start)
    if problem in SEPARABLE and name != "squared-error":
        assert value <= 1e-4 * model.criterion_values_[0]


def test_newton_solves_a_quadratic_problem_at_once():
    for X, y in (EXAMPLE_1, categories(1, 3)):
        newton = GradientDescent("squared-error", method="newton").fit(X, y)
        exact = LeastSquares().fit(X, y)
        np.testing.assert_allclose(newton.coef_, exact.coef_, rtol=1e-9)
        np.testing.assert_allclose(newton.intercept_, exact.intercept_, rtol=1e-9)
        assert newton.n_updates_ == 2  # the second one finds that there is nothing left
        assert newton.n_singular_ == 0
        slow = GradientDescent("squared-error", method="optimal-step", step_tol=1e-8, max_iter=10**4).fit(X, y)
        np.testing.assert_allclose(slow.coef_, exact.coef_, rtol=1e-4)
        assert newton.n_updates_ < slow.n_updates_ < 10**4


def test_a_singular_hessian():
    """Dependent columns: Newton's step is the shortest of those that minimise the expansion, and it is counted."""
    X, y = categories(1, 3)
    double = np.column_stack([X, X[:, 0]])
    model = GradientDescent("squared-error", method="newton").fit(double, y)
    assert model.n_singular_ == model.n_updates_ > 0
    assert model.coef_[0, 0] == pytest.approx(model.coef_[0, 2])
    plain = LeastSquares().fit(X, y)
    np.testing.assert_allclose(model.decision_function(double), plain.decision_function(X), rtol=1e-9)
    np.testing.assert_allclose(model.coef_, LeastSquares().fit(double, y).coef_, rtol=1e-9)
    with pytest.raises(ValueError, match="optimal-step"):
        GradientDescent("quadratic", method="newton").fit(sp.eye(4, 4000, format="csr"), [0, 1, 0, 1])


def test_the_embarrassing_minimum():
    X, y = categories(1, 2)
    for name in ("quadratic", "relaxation", "squared-error"):
        for criterion in (name, CRITERIA[name](0.0)):
            with pytest.raises(ValueError, match=r"Criterion without a margin has no slope at a = 0.* coef_init"):
                GradientDescent(criterion, margin=0.0).fit(X, y)
    with pytest.raises(ValueError, match="no slope"):
        GradientDescent(SquaredErrorCriterion(np.zeros(20))).fit(X, y)
    assert GradientDescent("perceptron", margin=0.0).fit(X, y).n_updates_ > 0
    model = GradientDescent("quadratic", margin=0.0, max_iter=5).fit(X, y, coef_init=[1.0, 0.0])
    assert model.n_updates_ > 0


def test_a_criterion_as_an_object():
    X, y = categories(1, 3)
    named = GradientDescent("quadratic", margin=0.5).fit(X, y)
    given = GradientDescent(QuadraticCriterion(0.5), margin=7.0).fit(X, y)
    np.testing.assert_array_equal(named.coef_, given.coef_)
    target = np.linspace(0.5, 1.5, 20)
    own = GradientDescent(SquaredErrorCriterion(target), method="newton").fit(X, y)
    np.testing.assert_allclose(own.coef_, LeastSquares(target=target).fit(X, y).coef_, rtol=1e-9)


def test_a_target_of_each_row_and_rows_of_weight_0():
    X, y = categories(1, 3)
    target, weight = np.linspace(0.5, 1.5, 20), np.where(np.arange(20) % 3 == 0, 0.0, 2.0)
    model = GradientDescent(SquaredErrorCriterion(target), method="newton").fit(X, y, weight)
    kept = weight > 0
    without = GradientDescent(SquaredErrorCriterion(target[kept]), method="newton")
    np.testing.assert_array_equal(model.coef_, without.fit(X[kept], y[kept], weight[kept]).coef_)
    with pytest.raises(ValueError, match=r"margin has shape \(19,\)"):
        GradientDescent(SquaredErrorCriterion(target[1:])).fit(X, y)


PARITY = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), np.array([0, 0, 1, 1])


@each_layout
@pytest.mark.parametrize(
    "model",
    [
        BatchPerceptron(),
        BatchRelaxation(),
        GradientDescent("perceptron", margin=0.0),
        GradientDescent("relaxation"),
        GradientDescent("quadratic", method="optimal-step"),
        GradientDescent("squared-error"),
    ],
    ids=str,
)
def test_violated_patterns_that_add_up_to_0_are_a_proof(model, layout):
    X, y = LAYOUTS[layout](PARITY[0]), PARITY[1]
    certificate = model.fit(X, y).certificate_
    assert (model.converged_, model.stop_reason_, model.n_updates_) == (True, "converged", 0)
    assert certificate.separable is False
    assert certificate.upper < 1e-12
    assert certificate.verify(X, y)


def test_sums_that_only_seem_to_vanish_prove_nothing(monkeypatch):
    monkeypatch.setattr("separatrix.fit.batch.certify_with_search", certify)  # a proof that was not found
    model = BatchPerceptron().fit(*PARITY)
    assert model.certificate_.separable is None
    assert (model.converged_, model.stop_reason_) == (False, "stationary")


class Logistic(Criterion):
    """log(1 + e^-m): nobody's margin is ever large enough."""

    def losses(self, m, norms2):
        return np.logaddexp(0.0, -m)

    def slopes(self, m, norms2):
        return -1.0 / (1.0 + np.exp(m))

    def curvatures(self, m, norms2):
        return 0.25 / np.cosh(np.minimum(np.abs(m), 300) / 2) ** 2


def test_a_criterion_of_ones_own():
    X, y = categories(1, 3)
    model = GradientDescent(Logistic(np.inf), method="newton", step_tol=1e-10).fit(X, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10**4).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-4)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-4)
    assert model.certificate_.verify(X, y)
    assert clone(model).fit(X, y).coef_ == pytest.approx(model.coef_)


def test_where_it_starts():
    X, y = categories(1, 2)
    first = BatchPerceptron().fit(X, y)
    again = BatchPerceptron().fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
    assert (again.n_updates_, again.n_epochs_) == (0, 1)
    np.testing.assert_array_equal(again.coef_, first.coef_)
    assert again.certificate_.verify(X, y)
    half = BatchPerceptron(max_iter=5, until="separated").fit(X, y)
    rest = BatchPerceptron().fit(X, y, coef_init=half.coef_, intercept_init=half.intercept_)
    np.testing.assert_array_equal(rest.coef_, first.coef_)
    assert rest.n_updates_ == first.n_updates_ - 5
    with pytest.raises(ValueError, match="coef_init has shape"):
        BatchPerceptron().fit(X, y, coef_init=np.ones(3))
