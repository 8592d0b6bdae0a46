"""Piecewise linear machines (DHS problems 9 and 10)."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from separatrix import PiecewiseLinearMachine, separability


def parity(d):
    X = np.array(list(product([0.0, 1.0], repeat=d)))
    return X, X.sum(axis=1).astype(int) % 2


@pytest.mark.parametrize("d", [2, 3, 5, 8])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_parity_by_d_plus_1_pieces(d, layout):
    X, y = parity(d)
    assert separability(X, y).separable is False
    model = PiecewiseLinearMachine([d // 2 + 1, (d + 1) // 2]).fit(layout(X), y)
    assert model.n_errors_ == 0
    assert len(model.coef_) == d + 1
    np.testing.assert_array_equal(model.predict(layout(X)), y)


def test_random_starts_find_parity_too(monkeypatch):
    X, y = parity(3)
    monkeypatch.setattr(
        PiecewiseLinearMachine, "_along_the_diagonal", lambda self, data, patterns: np.zeros((4, patterns.d + 1))
    )
    model = PiecewiseLinearMachine(n_init=50).fit(X, y)
    assert model.n_errors_ == 0
    assert model.converged_


@pytest.mark.nojit
def test_the_rule_by_hand():
    """One epoch in row order against the definition."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    with pytest.warns(ConvergenceWarning):
        model = PiecewiseLinearMachine([2, 1, 3], margin=0.1, max_iter=1, n_init=1, shuffle=False).fit(X, y)
    owner = np.array([0, 0, 1, 2, 2, 2])
    np.testing.assert_array_equal(model.owners_, owner)
    Y = np.column_stack([X, np.ones(40)])
    V = []
    for k, pieces in enumerate((2, 1, 3)):
        rows = np.flatnonzero(y == k)
        rows = rows[np.argsort(X[rows].sum(axis=1), kind="stable")]
        group = np.arange(len(rows)) * pieces // len(rows)
        V += [X[rows[group == g]].mean(axis=0) for g in range(pieces)]
    V = np.array([np.append(v, -v @ v / 2) for v in V])
    candidates, updates = [V.copy()], 0
    for x, label in zip(Y, y, strict=True):
        scores = V @ x
        own = np.where(owner == label, scores, -np.inf).argmax()
        rival = np.where(owner != label, scores, -np.inf).argmax()
        if scores[own] - scores[rival] <= 0.1 * (Y**2).sum(axis=1).max():
            V[own] += x
            V[rival] -= x
            updates += 1
    candidates.append(V)
    largest = [np.column_stack([(Y @ U[owner == k].T).max(axis=1) for k in range(3)]) for U in candidates]
    errors = [np.count_nonzero(g.argmax(axis=1) != y) for g in largest]
    best = candidates[1] if errors[1] <= errors[0] else candidates[0]
    assert model.n_updates_ == updates
    assert model.n_errors_ == min(errors)
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), best, atol=1e-12)


def test_more_pieces_bend_the_border():
    X, y = make_moons(300, noise=0.1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter with .* errors left"):
        one = PiecewiseLinearMachine(1).fit(X, y)
    two = PiecewiseLinearMachine(2).fit(X, y)
    assert two.n_errors_ == 0 < one.n_errors_
    assert set(np.unique(two.owners_[two.piece(X)][y == 1])) == {1}
    scores = two.decision_function(X)
    np.testing.assert_array_equal(two.predict(X), (scores > 0).astype(int))
    assert not two.is_ambiguous(X).any()
    np.testing.assert_array_equal(two.coef_, PiecewiseLinearMachine(2).fit(X, y).coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("rows", "epochs"), [(2000, 5), (100, 50), (20, 200)])
def test_a_start_visits_some_thousand_rows_by_default(rows, epochs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, 1)), rng.integers(0, 2, rows)
    assert PiecewiseLinearMachine(n_init=1).fit(X, y).n_epochs_ == epochs


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weight_0_is_the_row_removed():
    X, y = make_moons(60, noise=0.3, random_state=0)
    weight = np.where(np.arange(60) % 4 == 0, 0.0, 2.0)
    a = PiecewiseLinearMachine(2, max_iter=20).fit(X, y, weight)
    b = PiecewiseLinearMachine(2, max_iter=20).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_wrong_numbers_of_pieces():
    X, y = parity(2)
    for wrong in (0, [1], [1, 2, 3], [0, 1], 1.5, "two", [[1, 1]]):
        with pytest.raises(ValueError, match="n_pieces"):
            PiecewiseLinearMachine(wrong).fit(X, y)
    with pytest.raises(AttributeError, match="no single hyperplane"):
        _ = PiecewiseLinearMachine([2, 1]).fit(X, y).signed_distance


def test_callbacks_hear_of_every_epoch_and_may_stop():
    class Watcher:
        def __init__(self, stop_at):
            self.stop_at, self.measures, self.right = stop_at, [], []

        def setup(self, estimator, context):
            pass

        teardown = on_fit_task_begin = setup

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            if hasattr(context, "measures"):
                self.measures.append(context.measures)
                self.right.append(np.count_nonzero(fitted_estimator.predict(X) == y))
            return len(self.measures) == self.stop_at

    X, y = make_moons(100, noise=0.5, random_state=0)
    watcher = Watcher(stop_at=7)
    model = PiecewiseLinearMachine(2, max_iter=5).set_callbacks(watcher).fit(X, y)  # no warning: it was wanted
    assert [m["epochs"] for m in watcher.measures] == list(range(1, 8))  # in the second of the starts
    assert [100 - m["errors"] for m in watcher.measures] == watcher.right
    assert watcher.measures[-1]["updates"] == model.n_updates_
    assert (model.n_epochs_, model.stop_reason_, model.converged_) == (7, "callback", False)
    assert model.n_errors_ == 100 - watcher.right[-1] > 0
