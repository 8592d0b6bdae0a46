"""Kinds of quadratic surfaces (DHS problem 11)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_circles
from sklearn.preprocessing import PolynomialFeatures

from separatrix import DataError, MaxMargin
from separatrix.theory import quadric


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_kinds_survive_moves_and_rotations(seed, d):
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.normal(size=(d, d)))
    centre, axes = rng.normal(size=d), rng.uniform(0.5, 3.0, d)
    axes[0] = axes[1] + 1.0
    for scale in (1.0, -2.5):
        for signs, radius2, kind in (
            (np.ones(d), 1.0, "hyperellipsoid"),
            (np.where(np.arange(d) == 0, -1.0, 1.0), 1.0, "hyperhyperboloid"),
            (np.ones(d), -1.0, "empty"),
        ):
            W = scale * rotation @ np.diag(signs * axes) @ rotation.T
            # (x - m).W.(x - m) = scale radius2
            found = quadric(W, -2 * W @ centre, centre @ W @ centre - scale * radius2)
            assert found.kind == kind
            np.testing.assert_allclose(found.centre, centre, atol=1e-9)
            np.testing.assert_allclose(found.scaled, W / (scale * radius2), atol=1e-7)
    sphere = quadric(3 * np.eye(d), -6 * centre, 3 * centre @ centre - 12)
    assert sphere.kind == "hypersphere"
    np.testing.assert_allclose(sphere.scaled, np.eye(d) / 4, atol=1e-8)


def test_problem_11():
    for W, w in (
        ([[1, 2, 0], [2, 5, 1], [0, 1, -3]], [5, 2, -3]),
        ([[1, 2, 3], [2, 0, 4], [3, 4, -5]], [2, -1, 3]),
    ):
        found = quadric(W, w)
        assert found.kind == "hyperhyperboloid"
        assert found.eigenvalues.min() < 0 < found.eigenvalues.max()
        books = np.array(W) / (np.array(w) @ np.linalg.inv(W) @ np.array(w))
        np.testing.assert_allclose(found.scaled, 4 * books)


def test_what_is_no_proper_quadric():
    assert quadric(np.zeros((2, 2)), [1, 2]).kind == "hyperplane"
    assert quadric(np.zeros((2, 2)), [0, 0], 1.0).kind == "empty"
    assert quadric([[1, 0], [0, 0]], [0, 1]).kind == "hyperparaboloid or cylinder"
    assert quadric([[1, 0], [0, -1]], [0, 0]).kind == "degenerate"
    for bad in (([[1, 2]], [1, 2]), ([[1, 0], [0, 1]], [1]), ([[np.nan]], [1])):
        with pytest.raises(DataError):
            quadric(*bad)


def test_the_surface_of_a_classifier():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    phi = PolynomialFeatures(2, include_bias=False)  # x, y, x^2, xy, y^2
    model = MaxMargin(100.0).fit(phi.fit_transform(X), y)
    a, b, aa, ab, bb = model.coef_[0]
    surface = quadric([[aa, ab / 2], [ab / 2, bb]], [a, b], model.intercept_[0])
    assert surface.kind == "hyperellipsoid"
    radii = np.linalg.eigvalsh(surface.scaled) ** -0.5
    assert np.all((radii > 0.4) & (radii < 1.0))
