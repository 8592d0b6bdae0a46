"""Finite data of any size: an answer, or one of our errors; never one of Python, numpy or scipy, whatever the caller
has asked numpy to raise."""

from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
import scipy.sparse as sp
from cases import EVERYONE
from sklearn.exceptions import ConvergenceWarning

from separatrix import MaxMargin, fewest_errors, max_margin_path, negative_margin, separability
from separatrix.dropin import SVC, LinearSVC, Perceptron
from separatrix.errors import DataError, SeparatrixError

rng = np.random.default_rng(0)
X = rng.integers(-3, 4, (14, 2)).astype(float)
LABELS = {"separable": (X.sum(axis=1) > 0).astype(int), "noise": rng.integers(0, 2, 14), "three": np.arange(14) % 3}
MORE_SIZES = [0.0, 1e-200, 1e-160, 1e-155, 1.0, 1e100, 1e150, 1e155, 1e300]
SIZES = [1e-310, 1e160, *(pytest.param(size, marks=pytest.mark.slow) for size in MORE_SIZES)]
METHODS = [
    "predict",
    "decision_function",
    "signed_distance",
    "radius",
    "classes_claiming",
    "is_ambiguous",
    "predict_proba",
    "piece",
]


def refusal(call, *args, **options):
    """Our error's message, or "" if there is an answer. Other errors, and warnings of numpy, go through."""
    try:
        with np.errstate(all="raise"), catch_warnings():
            simplefilter("ignore", ConvergenceWarning)
            call(*args, **options)
    except SeparatrixError as error:
        return str(error)
    return ""


def new(cls):
    model = cls()
    return model.set_params(max_iter=20) if "max_iter" in model.get_params() else model


def checks(model, data, y):
    """All claims of a fit, against the data."""
    ones = [y == c for c in model.classes_] if len(model.certificates_) > 1 else [y]
    for certificate, labels in zip(model.certificates_, ones, strict=True):
        certificate.verify(data, labels)
        if certificate.kernel is None:
            certificate.to_json(data, labels)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("cls", EVERYONE, ids=lambda cls: cls.__name__)
def test_every_estimator(cls, size):
    data = X * size
    for y in LABELS.values():
        model, block = new(cls), new(cls)
        refused = refusal(model.fit, data, y)
        assert not refused or size != 1.0
        if hasattr(model, "partial_fit"):
            refusal(block.partial_fit, data, y, classes=np.unique(y))
            refusal(block.partial_fit, data, y, classes=np.unique(y))
        if refused:
            continue
        for name in METHODS:
            if hasattr(model, name):
                assert not refusal(getattr(model, name), data)
        if hasattr(model, "certify"):
            assert not refusal(model.certify, data, y)
        if hasattr(model, "certificates_"):
            assert not refusal(checks, model, data, y)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e100])
@pytest.mark.parametrize("cls", [LinearSVC, SVC, Perceptron])
def test_fits_of_drop_ins(cls, size):
    """Predictions are scikit-learn's, as are fits of larger data: LIBLINEAR may need hours for them."""
    for y in LABELS.values():
        assert not refusal(cls().fit, X * size, y)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_every_function(size, layout, fit_intercept):
    """Small data get an answer from `separability` and `fewest_errors`, whatever their size."""
    data, options = layout(X * size), {"fit_intercept": fit_intercept}
    for y in LABELS.values():
        assert not refusal(separability, data, y, **options)
        refusal(max_margin_path, data, y, [1e-3, 1.0, np.inf], **options)
        if len(np.unique(y)) == 2:
            assert not refusal(fewest_errors, data, y, **options)
            separable = separability(data, y, **options).separable
            assert bool(refusal(negative_margin, data, y, **options)) == separable


@pytest.mark.parametrize("cls", EVERYONE, ids=lambda cls: cls.__name__)
def test_tiny_weights(cls):
    """Where they are too small the message speaks of them: of what a user can mend."""
    for y in LABELS.values():
        for weight in (np.full(14, 1e-320), np.where(np.arange(14) == 3, 1e-320, 1.0)):
            refused = refusal(new(cls).fit, X, y, sample_weight=weight)
            assert not refused or "weight" in refused


def test_a_tiny_weight_is_named():
    weight = np.where(np.arange(14) == 3, 1e-320, np.where(np.arange(14) == 1, 0.0, 1.0))
    for options in ({}, {"multi_class": "joint"}):
        with pytest.raises(DataError, match="sample weight of row 3 is so small"):
            MaxMargin(**options).fit(X, LABELS["three"], sample_weight=weight)


@pytest.mark.parametrize("function", [fewest_errors, negative_margin])
def test_labels_are_checked(function):
    for y in ([0, 1, 0], [0, "a", 1, 0], None, [[0, 1]] * 4, np.array([0, 1, "b", 1], object)):
        with pytest.raises(ValueError, match=r"labels|inconsistent numbers|label per row"):
            function(X[:4], y)
    with pytest.raises(ValueError, match="must be True or False"):
        function(X[:4], [0, 1, 0, 1], fit_intercept="no")
