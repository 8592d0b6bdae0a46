"""Class weights: factors on the weights of rows, offered where they move the boundary."""

import json
from dataclasses import replace

import numpy as np
import pytest
from cases import EVERYONE
from fits import vectors
from newcomer import clouds, separatrix, text_of

import separatrix as package
from separatrix import BatchPerceptron, KernelMaxMargin, LeastSquares, MaxMargin, Perceptron, UnavailableError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
OFFERED = [cls for cls in EVERYONE if "class_weight" in cls().get_params()]
rng = np.random.default_rng(5)
X = np.round(rng.normal(size=(60, 3)) * 8) / 8
Y = {2: np.where(rng.random(60) < 0.3, "few", "many"), 3: np.array(["few", "many", "none"])[np.arange(60) % 3]}
FACTORS = {"few": 3.0, "many": 0.5}


@pytest.mark.parametrize("classes", Y)
@pytest.mark.parametrize("cls", OFFERED, ids=lambda cls: cls.__name__)
def test_they_are_factors_on_sample_weights(cls, classes):
    y, own = Y[classes], rng.uniform(0.5, 2.0, 60)
    short = {"max_iter": 5} if "max_iter" in cls().get_params() else {}
    factor = np.array([FACTORS.get(label, 1.0) for label in y])
    one = cls(class_weight=FACTORS, **short).fit(X, y, sample_weight=own)
    other = cls(**short).fit(X, y, sample_weight=own * factor)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    counts = {label: 60 / (classes * np.sum(y == label)) for label in np.unique(y)}
    balanced = cls(class_weight="balanced", **short).fit(X, y)
    same = cls(class_weight=counts, **short).fit(X, y)
    np.testing.assert_allclose(balanced.decision_function(X), same.decision_function(X), rtol=1e-12)
    for k, certificate in enumerate(balanced.certificates_):
        assert certificate.verify(X, y if classes == 2 else y == balanced.classes_[k])


def test_a_certificate_knows_the_product_of_both_weights_and_says_so_when_it_is_given_one_of_them():
    y, own = Y[2], rng.uniform(0.5, 2.0, 60)
    certificate = MaxMargin(1.0, class_weight="balanced").fit(X, y, sample_weight=own).certificate_
    assert certificate.verify(X, y)
    other = certificate.verify(X, y, own)
    assert not other
    assert "verify(X, y) knows its own" in str(other)
    assert "knows its own" not in str(replace(certificate, upper=certificate.upper / 2).verify(X, y))
    of_kernel = KernelMaxMargin(1.0, class_weight="balanced").fit(X, y, sample_weight=own).certificate_
    assert "knows its own" in str(of_kernel.verify(X, y, own))
    unweighted = MaxMargin(1.0).fit(X, y).certificate_
    assert "knows its own" in str(unweighted.verify(X, y, own))
    hard = MaxMargin(float("inf")).fit(X[:6], y[:6] == y[0], sample_weight=own[:6]).certificate_
    false = replace(hard, upper=hard.upper / 2)
    assert "knows its own" not in str(false.verify(X[:6], y[:6] == y[0], np.ones(6)))  # where sizes do not matter


@pytest.mark.parametrize("cls", [Perceptron, BatchPerceptron])
def test_rows_that_live_elsewhere(cls):
    y, order = Y[2], {"shuffle": False} if cls is Perceptron else {}
    model = cls(class_weight="balanced", max_iter=5, **order)
    here = vectors(model.fit(X, y))
    blocks = package.data.from_blocks([(X[:25], y[:25]), (X[25:], y[25:])])
    np.testing.assert_allclose(vectors(model.fit(blocks)), here, rtol=1e-12)


@pytest.mark.parametrize("cls", [MaxMargin, Perceptron, BatchPerceptron])
def test_class_weights_multiply_sample_weights_of_blocks(cls):
    y, own = Y[2], np.random.default_rng(1).uniform(0.5, 2.0, 60)
    options = {"shuffle": False, "max_iter": 5} if cls is Perceptron else {}
    model = cls(class_weight=FACTORS, **options)
    expected = vectors(model.fit(X, y, sample_weight=own))
    blocks = package.data.from_blocks([(X[:25], y[:25], own[:25]), (X[25:], y[25:], own[25:])])
    np.testing.assert_allclose(vectors(model.fit(blocks)), expected, rtol=1e-4 if cls is MaxMargin else 1e-12)
    unweighted = vectors(model.set_params(class_weight=None).fit(X, y, sample_weight=own))
    assert np.max(np.abs(unweighted - expected)) > 1e-3 * np.max(np.abs(expected))


def test_blocks_take_factors_and_do_not_count():
    y = Y[2]
    model, plain = Perceptron(class_weight=FACTORS), Perceptron()
    for rows in (slice(25), slice(25, None)):
        model.partial_fit(X[rows], y[rows], classes=["few", "many"])
        weight = [FACTORS[label] for label in y[rows]]
        plain.partial_fit(X[rows], y[rows], classes=["few", "many"], sample_weight=weight)
    np.testing.assert_array_equal(vectors(model), vectors(plain))
    with pytest.raises(UnavailableError, match="Give the factors as a dict"):
        Perceptron(class_weight="balanced").partial_fit(X, y, classes=["few", "many"])


def test_class_weights_of_least_squares_are_copies_of_rows():
    frame = clouds(60, apart=0.4, seed=1)
    X, y = frame.drop("label").to_numpy(), frame["label"].to_numpy().astype(str)
    weighted = LeastSquares(class_weight={"c0": 3.0, "c1": 1.0}).fit(X, y)
    copies = np.concatenate([np.arange(60), *[np.flatnonzero(y == "c0")] * 2])
    np.testing.assert_allclose(weighted.coef_, LeastSquares().fit(X[copies], y[copies]).coef_, rtol=1e-9)
    assert np.mean(weighted.predict(X) == "c0") > np.mean(LeastSquares().fit(X, y).predict(X) == "c0")


def test_they_go_with_any_algorithm_that_has_them(tmp_path):
    path = tmp_path / "rare.csv"
    clouds(300, apart=0.4, weights=[0.9], seed=3).write_csv(path)
    fitting = ["fit", path, "-t", "label", "--cv", "0", "--json", "--algorithm"]
    plain, weighted = (
        json.loads(separatrix(*fitting, "LeastSquares", *more).stdout) for more in ([], ["--class-weight", "balanced"])
    )
    assert weighted["separator"]["parameters"]["class_weight"] == "balanced"
    assert plain["train_accuracy"] != weighted["train_accuracy"]
    refused = separatrix(*fitting, "NearestPoint", "--class-weight", "balanced")
    assert refused.exit_code == 3
    assert "NearestPoint has no parameter class_weight" in text_of(refused)
