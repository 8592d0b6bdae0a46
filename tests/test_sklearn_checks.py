"""scikit-learn's own checks over all estimators."""

import ast
from pathlib import Path

import pytest
from cases import EVERYONE
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix
from separatrix import (
    AROW,
    BalancedWinnow,
    BatchPerceptron,
    BatchRelaxation,
    KernelMaxMargin,
    MaxMargin,
    MaxMarginCV,
    Perceptron,
    RecursiveLeastSquares,
)
from separatrix.fit.batch import BatchClassifier

# The result of an online rule depends on the order of rows, so a repeated row is not the same as a weight of 2, and
# removing rows draws other orders. scikit-learn's own Perceptron fails these two as well. What must hold instead,
# weight 0 equals the row removed with the same seed, is checked in test_sample_weight.py.
ORDER_DEPENDENT = {
    "check_sample_weight_equivalence_on_dense_data": "the result depends on the order of rows",
    "check_sample_weight_equivalence_on_sparse_data": "the result depends on the order of rows",
}

# Of 3 classes and weights of 1000 and 0.0001 the vector after the last correction counts, and patience of 20 epochs
# ends one pair of ten seeds at an unlucky one: 70% of the rows instead of 87%. Without patience all seeds pass.
LAST_VECTOR = {"check_class_weight_classifiers": "the result is the vector after the last correction"}

REPEATABLE = (RecursiveLeastSquares, MaxMargin, MaxMarginCV, KernelMaxMargin, BatchClassifier)


def expected_failures(estimator):
    if isinstance(estimator, REPEATABLE):
        return {}
    if getattr(estimator, "multi_class", "") == "ovo":
        if isinstance(estimator, AROW):
            return {}  # on the rows of these checks all orders give the same winners of pair_fits
        if isinstance(estimator, BalancedWinnow):
            return {**ORDER_DEPENDENT, **LAST_VECTOR}
    return ORDER_DEPENDENT


def ways(cls):
    """The other ways to distinguishes classes that an estimator has."""
    if "multi_class" not in cls().get_params():
        return []
    (offered,) = cls._parameter_constraints["multi_class"]
    machine = "joint" in offered.options and "joint" not in getattr(cls, "_refuses", {})
    return [cls(multi_class=mode) for mode in (["ovo", "joint"] if machine else ["ovo"])]


SOME = [Perceptron, MaxMargin, KernelMaxMargin]
# On the random labels of some checks these go on to the last epoch; scikit-learn shortens its own estimators likewise.
ENDLESS = (BatchPerceptron, BatchRelaxation)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        *(cls(max_iter=100) if cls in ENDLESS else cls() for cls in EVERYONE),
        MaxMargin(loss="hinge"),
        KernelMaxMargin(loss="hinge"),
        *(model for cls in SOME for model in ways(cls)),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [model for cls in EVERYONE if cls not in SOME for model in ways(cls)], expected_failed_checks=expected_failures
)
def test_scikit_learn_check_in_every_way(estimator, check):
    check(estimator)


def test_one_door_to_private_names():
    """What scikit-learn may change without notice is imported in one file."""
    package = Path(separatrix.__file__).parent
    found = set()
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                if "callback" in names or any(name.startswith("_") for name in names):
                    found.add(file.relative_to(package).as_posix())
    assert found == {"fit/sklearn_api.py"}
