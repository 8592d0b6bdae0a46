"""What sweeps of dual coordinate descent know of the gap, and when they look at it."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import coordinate_descent
from separatrix.solvers.dual_sweeps import Sweeps
from separatrix.solvers.hinge_problem import HingeProblem
from separatrix.solvers.problem import Problem
from separatrix.space import Space


def patterns(layout, C, n=200, d=300, plain=False):
    rng = np.random.default_rng(3)
    X = sp.random_array((n, d), density=0.05, format="csr", rng=rng) if layout == "sparse" else rng.normal(size=(n, d))
    labels = np.sign(X @ rng.normal(size=d) + 0.1 * rng.normal(size=n))
    return Patterns(X, labels, Space(1.0, hinge=C) if plain else Space(1.0, delta=(2.0 * C) ** -0.5))


@pytest.mark.parametrize("kind", [Problem, HingeProblem])
@pytest.mark.parametrize(("layout", "C"), [("sparse", 1.0), ("sparse", 100.0), ("dense", 0.01), ("dense", 1.0)])
def test_sweeps_know_about_how_large_the_gap_is(layout, C, kind):
    """Against P(a) - D(alpha) from the margins of all rows, at the end of each sweep over all of them."""
    plain = kind is HingeProblem
    problem = kind(patterns(layout, C, plain=plain), C, tol=1e-9)
    sweeps, ratios = Sweeps(problem), []
    for _ in range(60):
        sweeps.all_active()
        sweeps.sweep(1)
        slack = np.maximum(0.0, 1.0 - problem.patterns.margins(sweeps.a))
        primal = 0.5 * sweeps.a @ sweeps.a + C * np.sum(slack if plain else slack**2)
        quadratic = 0.0 if plain else np.sum(sweeps.alpha**2) / (4.0 * C)
        gap = 1.0 - (np.sum(sweeps.alpha) - quadratic - 0.5 * sweeps.a @ sweeps.a) / primal
        assert sweeps.gap >= 0.0
        if 1e-8 < gap < 0.01:
            ratios.append(sweeps.gap / gap)
    assert len(ratios) >= 2
    assert 0.3 < np.exp(np.mean(np.log(ratios))) < 3.0


@pytest.mark.parametrize(("layout", "C"), [("sparse", 100.0), ("dense", 0.01)])
def test_sweeps_end_soon_after_the_gap_is_reached(layout, C):
    problem = Problem(patterns(layout, C), C, tol=1e-3)
    coordinate_descent.solve(problem)
    assert 1e-4 < problem.gap <= 1e-3


def test_rows_that_were_left_out_come_back_where_they_have_slack():
    sweeps = Sweeps(Problem(patterns("dense", 1.0, 10, 4), 1.0, tol=1e-3))
    sweeps.size, sweeps.bound = 4, 0.1
    margins = np.full(10, 2.0)
    sweeps.bring_back(margins)
    assert (sweeps.size, sweeps.bound) == (4, 0.1)
    margins[[2, 7]] = 0.5
    sweeps.bring_back(margins)
    assert (sweeps.size, sweeps.bound) == (5, np.inf)
    assert set(sweeps.active[:5]) == {0, 1, 2, 3, 7}
    assert set(sweeps.active) == set(range(10))
    sweeps.alpha[9] = 1.0  # at its cap, with a margin that asks for less
    sweeps.bring_back(np.where(np.arange(10) < 8, 2.0, 0.5))
    assert set(sweeps.active[: sweeps.size]) == {0, 1, 2, 3, 7, 8}
    margins[9] = 2.0
    sweeps.bring_back(margins)
    assert set(sweeps.active[: sweeps.size]) == {0, 1, 2, 3, 7, 8, 9}
