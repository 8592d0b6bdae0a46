"""Kernel Perceptrons within a budget of rows: against naive oracles step by step, and their theorems."""

import numpy as np
import oracle_budget
import pytest
import scipy.sparse as sp
from cases import overlapping

from separatrix import KernelPerceptron, Perceptron, bounds, load, save
from separatrix.online.budgets import SHARE, removal_cost, shrinking

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ORACLES = {
    "random": oracle_budget.at_random,
    "forgetron": oracle_budget.forgetron,
    "projectron": lambda G, budget, epochs: oracle_budget.projectron(G, budget, epochs, 0.2),
}
HOW = {"gamma": 0.7, "budget_tol": 0.2, "shuffle": False}
LAYOUTS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csr-float32": lambda X: sp.csr_matrix(X.astype(np.float32)),
}


def checkered(n=40):
    X = np.round(np.random.default_rng(3).normal(size=(n, 2)), 2).astype(np.float32).astype(np.float64)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def signed_products(X, y, delta=0.0):
    l = 2.0 * y - 1
    K = np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(axis=2)) + 1
    return l[:, None] * K * l + delta**2 * np.eye(len(y))


@pytest.mark.nojit
@pytest.mark.parametrize("policy", ORACLES)
@pytest.mark.parametrize("budget", [1, 3, 8])
def test_a_budget_of_rows(policy, budget):
    X, y = checkered()
    run = ORACLES[policy](signed_products(X, y), budget, 6)
    model = KernelPerceptron(budget=budget, budget_policy=policy, max_iter=6, **HOW).fit(X, y)
    assert model.n_updates_ == run.updates
    assert len(model.support_) <= budget
    np.testing.assert_array_equal(model.support_, np.flatnonzero(run.alpha))
    np.testing.assert_allclose(model.dual_coef_[0], (run.alpha * (2 * y - 1))[model.support_], rtol=1e-7)
    assert model.certificate_.verify(X, y)
    assert np.isinf(model.certificate_.upper) == bool(np.any(run.alpha < 0))
    if policy == "projectron":
        assert model.projection_error_ == pytest.approx(run.error, rel=1e-6)


@pytest.mark.parametrize("policy", ["forgetron", "projectron"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("delta", [0.0, 0.5])
def test_step_by_step(policy, layout, delta):
    X, y = checkered(20)
    G = signed_products(X, y, delta)
    path = ORACLES[policy](G, 4, 3).path
    stepping = KernelPerceptron(
        budget=4, budget_policy=policy, max_iter=1, max_updates=1, warm_start=True, delta=delta, **HOW
    )
    seen = []
    for updates in range(1, 40):
        stepping.set_params(max_updates=updates).fit(LAYOUTS[layout](X), y)
        if stepping.n_visits_ > 3 * len(y):
            break
        alpha = np.zeros(len(y))
        alpha[stepping.support_] = stepping.dual_coef_[0] * (2 * y - 1)[stepping.support_]
        seen.append(alpha)
        np.testing.assert_allclose(alpha, path[stepping.n_visits_ - 1], atol=1e-7)
    assert len(seen) > 10


@pytest.mark.parametrize("policy", ORACLES)
def test_fits_go_on_where_they_were(policy, tmp_path):
    X, y = checkered()
    how = {**HOW, "budget": 5, "budget_policy": policy}
    whole = KernelPerceptron(max_iter=6, **how).fit(X, y)
    parts = KernelPerceptron(max_iter=3, warm_start=True, **how).fit(X, y)
    save(parts, tmp_path / "half.sx")
    for model in (parts, load(tmp_path / "half.sx")):
        np.testing.assert_array_equal(model.fit(X, y).dual_coef_, whole.dual_coef_)
    for multi_class in ("ovr", "ovo"):
        three = KernelPerceptron(max_iter=3, multi_class=multi_class, **how).fit(X, np.arange(40) % 3)
        assert np.all(np.count_nonzero(three.dual_coef_, axis=1) <= 5)


def test_shrinking_takes_what_is_allowed():
    rng = np.random.default_rng(0)
    for _ in range(300):
        sigma, mu, spent, mistakes = rng.uniform(0, 1), rng.normal(0, 3), rng.uniform(-5, 5), rng.integers(11, 30)
        phi = shrinking(sigma, mu, spent, mistakes)

        def cost(p, sigma=sigma, mu=mu, spent=spent):
            return spent + removal_cost(sigma * p, mu * p)

        assert 0 < phi <= 1
        assert cost(phi) <= SHARE * mistakes + 1e-9
        assert phi == 1 or cost(min(1.0, phi * 1.001)) > SHARE * mistakes


def noisy(seed):
    """Patterns along one direction, a few with the wrong label: a short comparison vector loses little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 400)
    X = np.column_stack([np.where(y > 0, 1.0, -1.0), 0.05 * rng.normal(size=400)])
    flipped = rng.random(400) < 0.03
    X = X / np.linalg.norm(X, axis=1).max()
    return X, np.where(flipped, 1 - y, y), (2.0 * y - 1)[:, None] * np.where(flipped, -1, 1)[:, None] * X


def comparisons(Y, epochs, longest):
    """Vectors of different lengths along the mean pattern, and the hinge losses they have over a run."""
    u = Y.mean(axis=0) / np.linalg.norm(Y.mean(axis=0))
    for size in np.linspace(0.0, longest, 12):
        yield size, epochs * np.maximum(0.0, 1.0 - size * Y @ u).sum()


@pytest.mark.parametrize("seed", range(3))
def test_the_theorems_of_the_budgets(seed):
    X, y, Y = noisy(seed)
    G, epochs = Y @ Y.T, 2
    forgetful = oracle_budget.forgetron(G, 83, epochs)
    model = KernelPerceptron(
        kernel="linear", budget=83, budget_policy="forgetron", fit_intercept=False, shuffle=False, max_iter=epochs
    ).fit(X, y)
    assert model.n_updates_ == forgetful.updates
    for size, loss in comparisons(Y, epochs, 2.0):
        assert model.n_updates_ <= bounds.forgetron(size, 83, loss)
        for budget in (3, 10):
            run = oracle_budget.forgetron(G, budget, epochs)
            assert run.updates <= bounds.forgetron_run(size, run.shrunk, loss)
            run = oracle_budget.projectron(G, budget, epochs, 0.1)
            assert run.updates <= bounds.projectron(size, run.error, loss)


def test_broken_budgets_break_their_theorems():
    """A Forgetron that adds patterns with the wrong sign."""
    _, _, Y = noisy(0)
    G = Y @ Y.T
    wrong = oracle_budget.forgetron(G, 83, 2, direction=-1.0)
    allowed = min(bounds.forgetron(size, 83, loss) for size, loss in comparisons(Y, 2, 1.08))
    assert allowed < 400 < wrong.updates
    assert wrong.updates > min(bounds.projectron(size, 0.0, loss) for size, loss in comparisons(Y, 2, 2.0))


def test_what_a_fit_says_of_its_theorem():
    X = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.05]])
    y = np.array([1, 1, 0, 0])
    how = {"kernel": "linear", "fit_intercept": False, "budget": 200}
    theory = KernelPerceptron(budget_policy="forgetron", **how).fit(X, y).certificate_.theory
    assert theory.theorem == "Forgetron"
    assert theory.updates <= theory.bound < 4
    theory = KernelPerceptron(budget_policy="projectron", **how).fit(X, y).certificate_.theory
    assert theory.theorem == "Projectron"
    assert theory.updates <= theory.bound < 4
    assert KernelPerceptron(**how).fit(X, y).certificate_.theory is None


def test_what_a_budget_cannot_do():
    X, y = overlapping()
    for model, why in (
        (KernelPerceptron(budget=3, average=True), "average must be False"),
        (KernelPerceptron(budget=3, budget_policy="forgetron", average=True), "average must be False"),
        (KernelPerceptron(Perceptron(1.0), budget=3, budget_policy="projectron"), "plain Perceptron"),
        (KernelPerceptron(budget_policy="forgetron"), "needs a budget"),
        (KernelPerceptron(budget=3, budget_policy="oldest"), "budget_policy"),
        (KernelPerceptron(budget=3, budget_tol=1.0), "budget_tol"),
    ):
        with pytest.raises(ValueError, match=why):
            model.fit(X, y)


def test_a_projectron_without_a_budget():
    """A plane has two dimensions, and the bias one: more patterns are not needed."""
    X, y = overlapping()
    model = KernelPerceptron(budget_policy="projectron", budget_tol=1e-6, kernel="linear", max_iter=20).fit(X, y)
    assert len(model.support_) <= 3
    plain = Perceptron(max_iter=20, until="separated").fit(X, y)
    assert model.n_updates_ == plain.n_updates_
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-6)
