"""``until``: what a fit predicts with by default, and how long it takes."""

from itertools import pairwise

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from cases import LENT, PROBLEMS, RULES, Setting, clouds, margin_6d, online, overlapping
from fits import vector
from sklearn.base import clone

from separatrix import (
    ALMA,
    AROW,
    CRAMMA,
    ROMMA,
    SCW,
    DynamicMargin,
    GradientDescent,
    GreedyPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    PerceptronLike,
    RecursiveLeastSquares,
    SecondOrderPerceptron,
    load,
    save,
)
from separatrix.data import from_blocks
from separatrix.estimators.gradient_descent import LARGEST_HESSIAN
from separatrix.estimators.perceptrons import MOST_PASSES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # fits of few epochs

EPOCHS = 7  # fewer than few rows would get
OWN_MEMORY = ("Pocket", "MarginFuzzyPerceptron", "RecursiveLeastSquares")  # these predict with something else
MEANS = [case for case in RULES if not case.parameters.get("average") and case.estimator.__name__ not in OWN_MEMORY]
each_mean = pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case.costly else case for case in MEANS], ids=str
)


def direction(a):
    return a / (np.linalg.norm(a) or 1.0)


def mean_of(run, case, epochs, n):
    """The mean of the oracle's vectors over the second half of the epochs; the last vector if it converged."""
    if run.converged or case.estimator in (AROW, SCW):  # whose last steps are small
        return run.a
    second = np.array(run.path[epochs // 2 * n :])
    if case.estimator is ROMMA:
        second = second / np.linalg.norm(second, axis=1, keepdims=True)
    return second.mean(axis=0)


@each_mean
@pytest.mark.parametrize("problem", PROBLEMS)
def test_mean_of_the_second_half_by_default(case, problem):
    X, y = problem()
    parameters = {**case.parameters, "until": "accurate"}
    model = case.estimator(**parameters, shuffle=False, max_iter=EPOCHS).fit(X, y)
    run = case.oracle(oracle.patterns(X, y), Setting(X, y, 0.0), max_iter=EPOCHS)
    assert model.n_updates_ == run.updates
    assert model.stop_reason_ == ("converged" if run.converged else "max_iter")
    want = mean_of(run, case, EPOCHS, len(y))
    np.testing.assert_allclose(direction(vector(model)), direction(want), atol=1e-9)


def many(n=1200, noise=1.5, seed=0):
    """Rows that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X @ rng.normal(size=4) + noise * rng.normal(size=n) > 0).astype(int)


@online
def test_a_fit_ends_by_itself_and_without_a_warning(cls):
    X, y = many()
    model = cls().fit(X, y)
    epochs = {"CRAMMA": 20, "MICRA": 20, "FixedMargin": 20, "MarginPerceptron": 20}
    if cls is RecursiveLeastSquares:
        assert (model.n_epochs_, model.stop_reason_) == (1, "converged")
    else:
        how = (0, "epochs") if cls is GreedyPerceptron else (epochs.get(cls.__name__, 5), "epochs")
        assert (model.n_epochs_, model.stop_reason_) == how
        assert not model.converged_
    assert model.certificate_.verify(X, y)


def test_few_rows_are_visited_5000_times():
    X, y = overlapping()
    assert Perceptron().fit(X, y).n_epochs_ == 167
    assert Perceptron(max_iter=20).fit(X, y).stop_reason_ == "max_iter"


@pytest.mark.parametrize("model", [Perceptron(), CRAMMA(), ROMMA()], ids=repr)
def test_the_last_vector_if_it_separates(model):
    X, y = margin_6d()
    last = clone(model).set_params(until="separated").fit(X, y)
    model.fit(X, y)
    assert model.converged_
    assert model.stop_reason_ == "converged"
    np.testing.assert_array_equal(vector(model), vector(last))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"delta": 1.0},
        {"multi_class": "ovo"},
        {"multi_class": "joint"},
        {"multi_class": "joint", "joint_update": "all"},
        {"multi_class": "joint", "joint_update": "together"},
        {"multi_class": "joint", "delta": 0.5},
    ],
    ids=str,
)
def test_of_one_epoch_it_is_the_mean_over_all_visits(options):
    X, y = clouds(3, 60, spread=2.5)
    half = PassiveAggressive(max_iter=1, **options).fit(X, y)
    whole = PassiveAggressive(max_iter=1, average=True, until="separated", **options).fit(X, y)
    np.testing.assert_allclose(half.coef_, whole.coef_, rtol=1e-12)
    np.testing.assert_allclose(half.intercept_, whole.intercept_, rtol=1e-12)


def test_with_a_kernel():
    X, y = many(200)
    how = {"fit_intercept": False, "max_iter": 1}  # later, rounding errors lead ROMMA elsewhere
    for rule in (Perceptron, DynamicMargin, ALMA, ROMMA):
        model = KernelPerceptron(rule(), kernel="linear", **how).fit(X, y)
        coef = model.dual_coef_ @ X[model.support_]
        same = rule(**how).fit(X, y)
        np.testing.assert_allclose(direction(coef[0]), direction(same.coef_[0]), atol=1e-9)
        assert model.certificate_.verify(X, y)


@pytest.mark.parametrize(("rule", "run"), LENT, ids=lambda x: type(x).__name__)
def test_rules_that_rescale_their_vector_have_a_mean(rule, run):
    X, y = overlapping()
    path = np.array(run(oracle.patterns(X, y), max_iter=EPOCHS).path)
    whole = PerceptronLike(rule, average=True, until="separated", shuffle=False, max_iter=EPOCHS).fit(X, y)
    np.testing.assert_allclose(vector(whole), path.mean(axis=0), rtol=1e-9)
    half = PerceptronLike(rule, shuffle=False, max_iter=EPOCHS).fit(X, y)
    np.testing.assert_allclose(vector(half), path[EPOCHS // 2 * len(y) :].mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("model", [Perceptron(), CRAMMA(), AROW(), SCW(covariance="diagonal")], ids=repr)
def test_rows_in_blocks_are_visited_as_rows_in_memory(model):
    X, y = many()
    rows = from_blocks([(X[:500], y[:500]), (X[500:], y[500:])])
    model.set_params(shuffle=False, max_iter=EPOCHS)
    np.testing.assert_allclose(vector(clone(model).fit(rows)), vector(model.fit(X, y)), rtol=1e-12)


def test_mixed_vectors_have_a_mean():
    X, y = many()
    rows = from_blocks([(X[:500], y[:500]), (X[500:], y[500:])])
    separated = Perceptron(mix=True, until="separated", shuffle=False)
    with pytest.warns(match="max_iter"):
        ends = [vector(separated.set_params(max_iter=k).fit(rows)) for k in (3, 4, 5)]
    model = Perceptron(mix=True, shuffle=False).fit(rows)
    np.testing.assert_allclose(vector(model), np.mean(ends, axis=0), rtol=1e-12)


def test_partial_fit_predicts_with_the_last_vector():
    X, y = many()
    accurate, separated = (
        Perceptron(until=until).partial_fit(X[:600], y[:600], classes=[0, 1]).partial_fit(X[600:], y[600:])
        for until in ("accurate", "separated")
    )
    np.testing.assert_array_equal(vector(accurate), vector(separated))
    with pytest.warns(match="max_iter"):
        last = Perceptron(until="separated", max_iter=6).fit(X, y)
    np.testing.assert_array_equal(vector(Perceptron().fit(X, y).partial_fit(X, y)), vector(last))


def test_a_warm_start_goes_on_from_the_last_vector():
    X, y = overlapping()
    model = Perceptron(warm_start=True, shuffle=False, max_iter=4).fit(X, y).fit(X, y)
    path = oracle.perceptron(oracle.patterns(X, y), max_iter=8).path
    np.testing.assert_allclose(vector(model), np.mean(path[6 * len(y) :], axis=0), rtol=1e-12)
    assert model.n_epochs_ == 8


def test_what_ends_before_the_mean_begins_predicts_with_the_last_vector():
    X, y = many()
    model = Perceptron(max_updates=3).fit(X, y)
    assert model.stop_reason_ == "max_updates"
    assert model.n_updates_ == 3
    last = Perceptron(max_updates=3, until="separated", n_iter_no_change=99).set_params(average=False)
    with pytest.warns(match="max_updates"):
        np.testing.assert_array_equal(vector(model), vector(last.fit(X, y)))


def test_the_greedy_rule_makes_few_passes_and_its_mean_begins_at_half_of_them():
    X, y = many()
    model = GreedyPerceptron(shuffle=False).fit(X, y)
    path = oracle.greedy(oracle.patterns(X, y), (0.5, 1.0, 2.0, 4.0), max_iter=5).path
    assert (model.n_updates_, model.stop_reason_) == (MOST_PASSES, "epochs")
    changes = np.flatnonzero([True, *(np.any(a != b) for a, b in pairwise(path))])
    mean = np.mean(path[changes[MOST_PASSES // 2 - 1] + 1 : changes[MOST_PASSES - 1] + 1], axis=0)
    np.testing.assert_allclose(direction(vector(model)), direction(mean), atol=1e-9)


def test_second_order_rules_need_two_epochs():
    X, y = many(3000)
    assert [cls().fit(X, y).n_epochs_ for cls in (AROW, SCW, SecondOrderPerceptron)] == [2, 2, 2]


def test_early_stopping_may_end_it_earlier():
    X, y = many()
    model = Perceptron(early_stopping=True, n_iter_no_change=1).fit(X, y)
    assert model.n_epochs_ <= 5
    assert model.stop_reason_ in ("early_stopping", "epochs")


def test_a_saved_model_goes_on(tmp_path):
    X, y = overlapping()
    model = CRAMMA(warm_start=True, max_iter=4).fit(X, y)
    save(model, tmp_path / "model.sx")
    np.testing.assert_array_equal(vector(load(tmp_path / "model.sx").fit(X, y)), vector(model.fit(X, y)))


@pytest.mark.parametrize("cls", [AROW, SCW, SecondOrderPerceptron])
def test_many_columns_have_a_diagonal_covariance(cls):
    X = sp.random_array((40, 600), density=0.05, rng=np.random.default_rng(0), format="csr")
    y = np.arange(40) % 2
    for columns, covariance in ((511, "full"), (512, "diagonal")):
        model = cls(covariance=covariance).fit(X[:, :columns], y)
        np.testing.assert_array_equal(vector(cls().fit(X[:, :columns], y)), vector(model))
    wide = sp.csr_array(([1.0, 1.0], [0, 50_000], [0, 1, 2]), (2, 50_001))
    assert cls().fit(wide, [0, 1]).score(wide, [0, 1]) == 1.0


def test_newton_by_default_and_the_optimal_step_beyond_3000_columns():
    X, y = many(300)
    newton = GradientDescent(method="newton").fit(X, y)
    np.testing.assert_array_equal(vector(GradientDescent().fit(X, y)), vector(newton))
    given = GradientDescent(eta=0.01, max_iter=50, step_tol=1e-2)
    assert given.fit(X, y).n_singular_ == 0
    assert given.n_epochs_ > newton.n_epochs_
    wide = np.random.default_rng(0).normal(size=(12, LARGEST_HESSIAN + 1))
    assert GradientDescent(max_iter=30).fit(wide, y[:12]).score(wide, y[:12]) == 1.0
