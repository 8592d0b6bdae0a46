"""The numbers of the sources, to the update: CRAMMA tables 1-4, figure 3.4 of the greedy dissertation, DHS
exercises."""

import numpy as np
import pytest
from dhs import categories
from sklearn.datasets import make_blobs

from separatrix import ALMA, CRAMMA, GreedyPerceptron, Perceptron, soft_measures
from separatrix.patterns import Patterns
from separatrix.space import Space

CYCLIC = {"shuffle": False, "max_epochs": 10**7}


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


# b/(eta R^2) or beta/R or alpha, the margin as printed (times 10^3), the number of updates
@pytest.mark.parametrize(("b", "margin", "updates"), [(1.0, 5.78, 247_140), (3.1, 7.14, 660_698)])
def test_table_1_perceptron(sonar, b, margin, updates):
    model = Perceptron(margin=b * radius2(sonar.X, 1.0), **CYCLIC).fit(*sonar)
    assert model.converged_
    assert model.n_updates_ == updates
    assert round(1e3 * model.directional_margin_, 2) == margin


@pytest.mark.parametrize(("alpha", "margin", "k"), [(0.75, 5.65, 415_119), (0.55, 7.08, 1_584_785)])
def test_table_1_alma(sonar, alpha, margin, k):
    model = ALMA(alpha, **CYCLIC).fit(*sonar)
    assert model.t_ == k
    assert round(1e3 * model.directional_margin_, 2) == margin


@pytest.mark.parametrize(("beta", "margin", "t"), [(0.73, 5.73, 248_267), (1.52, 7.12, 669_170)])
def test_table_1_cramma(sonar, beta, margin, t):
    model = CRAMMA(beta, power=0.5, eta0=0.001, decay=1.0, **CYCLIC).fit(*sonar)
    assert model.t_ == t
    assert round(1e3 * model.directional_margin_, 2) == margin


@pytest.mark.parametrize(("beta", "margin", "t"), [(1e6, 1.03, 70_798), (1e7, 3.66, 106_507), (1e8, 5.52, 264_396)])
def test_table_2_cramma_with_another_power(sonar, beta, margin, t):
    model = CRAMMA(beta, power=2.0, eta0=0.4, decay=0.3, **CYCLIC).fit(*sonar)
    assert model.t_ == t
    assert round(1e3 * model.directional_margin_, 2) == margin


def test_table_3_separable_wbc(separable_wbc):
    cramma = CRAMMA(0.22, power=0.5, eta0=0.0001, decay=1.0, rho=30.0, **CYCLIC).fit(*separable_wbc)
    assert cramma.t_ == 259_036
    assert round(1e2 * cramma.directional_margin_, 3) == 1.794
    perceptron = Perceptron(margin=0.52 * 1716, rho=30.0, **CYCLIC).fit(*separable_wbc)
    assert perceptron.n_updates_ == 1_718_705
    assert round(1e2 * perceptron.directional_margin_, 3) == 1.784


# (D' - D)/D, the relative deviation from the optimum and Gamma, each times 10, and the number of updates
EXTENDED = {
    "perceptron": (lambda: Perceptron(margin=917.0, rho=10.0, delta=1.0, **CYCLIC), 2.22, 2.14, 1.0244, 67_913),
    "alma": (lambda: ALMA(0.75, rho=10.0, delta=1.0, **CYCLIC), 2.18, 2.19, 1.0185, 79_061),
    "cramma": (lambda: CRAMMA(0.95, rho=10.0, delta=1.0, **CYCLIC), 2.36, 2.22, 1.0143, 80_671),
}


@pytest.mark.parametrize("name", EXTENDED)
def test_table_4_extended_wbc(wbc, name):
    make, deviation, distance, gamma, updates = EXTENDED[name]
    model = make().fit(*wbc)
    assert model.n_updates_ + 1 == updates
    certificate = model.certificate_
    patterns = Patterns(wbc.X, wbc.y, Space(10.0))
    alpha = np.zeros(len(wbc.y))
    alpha[certificate.alpha_index] = certificate.alpha
    a = patterns.combine(certificate.alpha_index, certificate.alpha)
    measures = soft_measures(a, alpha, patterns.margins(a), 1.0)
    Gamma = measures.gamma / np.sqrt(1 + measures.D_prime**2)  # gamma |a| / |a^ext|
    assert round(10 * Gamma, 4) == gamma
    assert round(10 * measures.deviation, 2) == deviation
    assert round(10 * (0.1303345 - Gamma) / 0.1303345, 2) == distance
    assert certificate.lower <= 0.1303345 <= certificate.upper
    assert Gamma <= measures.J**-0.5 <= certificate.lower + 1e-12  # the minimum over gamma is at least as good
    if name == "perceptron":
        assert measures.J**-0.5 == pytest.approx(0.12506, abs=5e-6)
        assert certificate.lower == pytest.approx(0.12943, abs=5e-6)
        assert certificate.upper == pytest.approx(0.13253, abs=5e-6)


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


# DHS computer exercises, ten points of four categories: Perceptron updates for the pairs that are separable
@pytest.mark.nojit
@pytest.mark.parametrize(("pair", "updates"), [("12", 33), ("14", 82), ("23", 9), ("24", 62), ("34", 53)])
def test_dhs_exercise_table(pair, updates):
    X, y = categories(*(int(c) for c in pair))
    model = Perceptron(shuffle=False).fit(X, -y)
    assert model.n_updates_ == updates
    assert model.certificate_.separable
