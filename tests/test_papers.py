"""The numbers of the sources: the data of CRAMMA, figure 3.4 of the greedy dissertation, DHS exercises. The tables of
CRAMMA, row by row, are in `test_reproduce`."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from separatrix import GreedyPerceptron, Perceptron
from separatrix.passes.plain_patterns import Patterns
from separatrix.reproductions.dhs.data import pair as dhs_pair
from separatrix.space import Space
from separatrix.theory import soft_measures

CYCLIC = {"shuffle": False, "max_iter": 10**7}


def radius2(X, rho, delta=0.0):
    return Patterns(X, np.ones(len(X)), Space(rho, delta)).radius2


def test_the_data_are_those_of_the_paper(sonar, wbc, separable_wbc):
    assert sonar.X.shape == (104, 60)
    assert np.sqrt(radius2(sonar.X, 1.0)) == pytest.approx(3.812101, abs=5e-7)
    assert wbc.X.shape == (683, 9)
    assert np.count_nonzero(wbc.y == 1) == 239
    assert radius2(wbc.X, 10.0, 1.0) == 917
    assert separable_wbc.X.shape == (672, 9)
    assert radius2(separable_wbc.X, 30.0) == 1716


def test_bounds_in_the_extended_space_are_tighter_than_the_margin(wbc):
    """Table 4, the first row of the Perceptron: Gamma 0.10244, J^(-1/2) 0.12506, minimised 0.12943, upper 0.13253."""
    model = Perceptron(margin=917.0, intercept_scaling=10.0, delta=1.0, until="separated", **CYCLIC).fit(*wbc)
    certificate = model.certificate_
    patterns = Patterns(wbc.X, wbc.y, Space(10.0))
    alpha = np.zeros(len(wbc.y))
    alpha[certificate.alpha_index] = certificate.alpha
    a = patterns.combine(certificate.alpha_index, certificate.alpha)
    measures = soft_measures(a, alpha, patterns.margins(a), 1.0)
    Gamma = measures.gamma / np.sqrt(1 + measures.D_prime**2)  # gamma |a| / |a^ext|
    assert round(10 * Gamma, 4) == 1.0244
    assert measures.J**-0.5 == pytest.approx(0.12506, abs=5e-6)
    assert certificate.lower == pytest.approx(0.12943, abs=5e-6)
    assert certificate.upper == pytest.approx(0.13253, abs=5e-6)
    assert Gamma <= measures.J**-0.5 <= certificate.lower <= 0.1303345 <= certificate.upper


@pytest.fixture(scope="module")
def blobs():
    """The data of figure 3.4: numpy's global seed 9758."""
    X, y = make_blobs(80, n_features=2, centers=2, cluster_std=1.5, random_state=np.random.RandomState(9758))
    return X, np.where(y == 0, -1, 1)


@pytest.mark.nojit
@pytest.mark.parametrize("eta", [0.5, 1.0, 2.0, 4.0])
def test_every_fixed_rate_takes_60_updates(blobs, eta):
    assert Perceptron(eta=eta, fit_intercept=False, shuffle=False).fit(*blobs).n_updates_ == 60


@pytest.mark.nojit
def test_greedy_takes_49_updates(blobs):
    assert GreedyPerceptron((0.5, 1.0, 2.0, 4.0), fit_intercept=False, shuffle=False).fit(*blobs).n_updates_ == 49


# DHS computer exercises: Perceptron updates for the pairs that are separable


@pytest.mark.nojit
@pytest.mark.parametrize(("pair", "updates"), [("12", 33), ("14", 82), ("23", 9), ("24", 62), ("34", 53)])
def test_dhs_exercise_table(pair, updates):
    model = Perceptron(shuffle=False).fit(*dhs_pair(*map(int, pair)))
    assert model.n_updates_ == updates
    assert model.certificate_.separable
