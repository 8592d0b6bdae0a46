"""separatrix: linear separators with proofs."""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

_HOMES = {
    "separatrix.certificates.certificate": ["Certificate", "Verification"],
    "separatrix.errors": [
        "DataError",
        "MissingExtraError",
        "ModelError",
        "NotSeparableError",
        "SeparatrixError",
        "UnavailableError",
    ],
    "separatrix.estimators.aggressive_rules": ["ROMMA", "PassiveAggressive", "Relaxation"],
    "separatrix.estimators.confidence_rules": ["AROW", "SCW", "SecondOrderPerceptron"],
    "separatrix.estimators.fuzzy_rules": ["FuzzyPerceptron", "MarginFuzzyPerceptron"],
    "separatrix.estimators.hinge_descent": ["Pegasos"],
    "separatrix.estimators.kernel_max_margin": ["KernelMaxMargin"],
    "separatrix.estimators.kernel_perceptron": ["KernelPerceptron"],
    "separatrix.estimators.gradient_descent": ["BatchPerceptron", "BatchRelaxation", "GradientDescent"],
    "separatrix.estimators.linear_program_classifier": ["LinearProgram"],
    "separatrix.estimators.margin_rules": [
        "ALMA",
        "CRAMMA",
        "MICRA",
        "DynamicMargin",
        "FixedMargin",
        "MarginPerceptron",
    ],
    "separatrix.estimators.max_margin": ["MaxMargin", "max_margin_path"],
    "separatrix.estimators.max_margin_cv": ["MaxMarginCV"],
    "separatrix.estimators.multiplicative": ["BalancedWinnow", "PNormALMA", "PNormPerceptron"],
    "separatrix.estimators.online_least_squares": ["LMS", "RecursiveLeastSquares"],
    "separatrix.estimators.own_rule": ["PerceptronLike"],
    "separatrix.estimators.perceptrons": ["GreedyPerceptron", "Perceptron", "Pocket", "VotedPerceptron"],
    "separatrix.estimators.piecewise": ["PiecewiseLinearMachine"],
    "separatrix.estimators.nearest_point_methods": ["NearestPoint"],
    "separatrix.estimators.ho_kashyap_classifier": ["HoKashyap"],
    "separatrix.estimators.least_squares_classifier": ["LeastSquares"],
    "separatrix.persistence.export": ["export"],
    "separatrix.persistence.files": ["load", "save"],
    "separatrix.geometry": ["Hyperplane"],
    "separatrix.certificates.fewest_errors": ["FewestErrors", "fewest_errors"],
    "separatrix.certificates.fewest_features": ["FewestFeatures", "fewest_features"],
    "separatrix.certificates.negative_margin": ["NegativeMargin", "negative_margin"],
    "separatrix.certificates.separability": ["Separability", "separability"],
    "separatrix.certificates.separation": ["Separation"],
    "separatrix.certificates.theory": ["Theory"],
}
_MODULES = [
    "app",
    "bounds",
    "callbacks",
    "data",
    "dropin",
    "errors",
    "persistence",
    "plots",
    "reproductions",
    "rules",
    "theory",
]
_WHERE = {name: home for home, names in _HOMES.items() for name in names}

__version__ = version("separatrix")
__all__ = [*sorted(_WHERE), *_MODULES]


def __getattr__(name: str) -> Any:
    """Import on first use: importing the package costs next to nothing."""
    if name in _WHERE:
        value = getattr(import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"separatrix.{name}")
    raise AttributeError(f"module 'separatrix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "__doc__"])


class _RegisterConverters:
    """Register our classifiers with skl2onnx as soon as a program imports both."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        spec = PathFinder.find_spec(name, path) if name == "skl2onnx" else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: Any) -> None:
            execute(module)
            _register()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def _register() -> None:
    import_module("separatrix.persistence.skl2onnx_converters").register()


sys.meta_path.insert(0, _RegisterConverters)
if "skl2onnx" in sys.modules:
    _register()

if TYPE_CHECKING:
    from separatrix.certificates.certificate import Certificate as Certificate
    from separatrix.certificates.certificate import Verification as Verification
    from separatrix.certificates.fewest_errors import FewestErrors as FewestErrors
    from separatrix.certificates.fewest_errors import fewest_errors as fewest_errors
    from separatrix.certificates.fewest_features import FewestFeatures as FewestFeatures
    from separatrix.certificates.fewest_features import fewest_features as fewest_features
    from separatrix.certificates.negative_margin import NegativeMargin as NegativeMargin
    from separatrix.certificates.negative_margin import negative_margin as negative_margin
    from separatrix.certificates.separability import Separability as Separability
    from separatrix.certificates.separability import separability as separability
    from separatrix.certificates.separation import Separation as Separation
    from separatrix.certificates.theory import Theory as Theory
    from separatrix.errors import DataError as DataError
    from separatrix.errors import MissingExtraError as MissingExtraError
    from separatrix.errors import ModelError as ModelError
    from separatrix.errors import NotSeparableError as NotSeparableError
    from separatrix.errors import SeparatrixError as SeparatrixError
    from separatrix.errors import UnavailableError as UnavailableError
    from separatrix.estimators.aggressive_rules import ROMMA as ROMMA
    from separatrix.estimators.aggressive_rules import PassiveAggressive as PassiveAggressive
    from separatrix.estimators.aggressive_rules import Relaxation as Relaxation
    from separatrix.estimators.confidence_rules import AROW as AROW
    from separatrix.estimators.confidence_rules import SCW as SCW
    from separatrix.estimators.confidence_rules import SecondOrderPerceptron as SecondOrderPerceptron
    from separatrix.estimators.fuzzy_rules import FuzzyPerceptron as FuzzyPerceptron
    from separatrix.estimators.fuzzy_rules import MarginFuzzyPerceptron as MarginFuzzyPerceptron
    from separatrix.estimators.gradient_descent import BatchPerceptron as BatchPerceptron
    from separatrix.estimators.gradient_descent import BatchRelaxation as BatchRelaxation
    from separatrix.estimators.gradient_descent import GradientDescent as GradientDescent
    from separatrix.estimators.hinge_descent import Pegasos as Pegasos
    from separatrix.estimators.ho_kashyap_classifier import HoKashyap as HoKashyap
    from separatrix.estimators.kernel_max_margin import KernelMaxMargin as KernelMaxMargin
    from separatrix.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from separatrix.estimators.least_squares_classifier import LeastSquares as LeastSquares
    from separatrix.estimators.linear_program_classifier import LinearProgram as LinearProgram
    from separatrix.estimators.margin_rules import ALMA as ALMA
    from separatrix.estimators.margin_rules import CRAMMA as CRAMMA
    from separatrix.estimators.margin_rules import MICRA as MICRA
    from separatrix.estimators.margin_rules import DynamicMargin as DynamicMargin
    from separatrix.estimators.margin_rules import FixedMargin as FixedMargin
    from separatrix.estimators.margin_rules import MarginPerceptron as MarginPerceptron
    from separatrix.estimators.max_margin import MaxMargin as MaxMargin
    from separatrix.estimators.max_margin import max_margin_path as max_margin_path
    from separatrix.estimators.max_margin_cv import MaxMarginCV as MaxMarginCV
    from separatrix.estimators.multiplicative import BalancedWinnow as BalancedWinnow
    from separatrix.estimators.multiplicative import PNormALMA as PNormALMA
    from separatrix.estimators.multiplicative import PNormPerceptron as PNormPerceptron
    from separatrix.estimators.nearest_point_methods import NearestPoint as NearestPoint
    from separatrix.estimators.online_least_squares import LMS as LMS
    from separatrix.estimators.online_least_squares import RecursiveLeastSquares as RecursiveLeastSquares
    from separatrix.estimators.own_rule import PerceptronLike as PerceptronLike
    from separatrix.estimators.perceptrons import GreedyPerceptron as GreedyPerceptron
    from separatrix.estimators.perceptrons import Perceptron as Perceptron
    from separatrix.estimators.perceptrons import Pocket as Pocket
    from separatrix.estimators.perceptrons import VotedPerceptron as VotedPerceptron
    from separatrix.estimators.piecewise import PiecewiseLinearMachine as PiecewiseLinearMachine
    from separatrix.geometry import Hyperplane as Hyperplane
    from separatrix.persistence.export import export as export
    from separatrix.persistence.files import load as load
    from separatrix.persistence.files import save as save
