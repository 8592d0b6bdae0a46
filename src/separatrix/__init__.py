"""separatrix: linear separators with proofs."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

_HOMES = {
    "separatrix.proof.certificate": ["Certificate", "Verification"],
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
    "separatrix.estimators.multiplicative": ["BalancedWinnow", "PNormALMA", "PNormPerceptron"],
    "separatrix.estimators.online_least_squares": ["LMS", "RecursiveLeastSquares"],
    "separatrix.estimators.own_rule": ["PerceptronLike"],
    "separatrix.estimators.perceptrons": ["GreedyPerceptron", "Perceptron", "Pocket", "VotedPerceptron"],
    "separatrix.estimators.piecewise": ["PiecewiseLinearMachine"],
    "separatrix.estimators.nearest_point_methods": ["NearestPoint"],
    "separatrix.estimators.ho_kashyap_classifier": ["HoKashyap"],
    "separatrix.estimators.least_squares_classifier": ["LeastSquares"],
    "separatrix.io.model.files": ["load", "save"],
    "separatrix.geometry": ["Hyperplane", "Quadric", "quadric"],
    "separatrix.proof.negative_margin": ["NegativeMargin", "negative_margin"],
    "separatrix.proof.removal": ["Removal", "rows_to_remove"],
    "separatrix.proof.separability": ["Separability", "separability"],
    "separatrix.space": ["Space", "best_gamma", "objective", "slacks", "soft_measures"],
    "separatrix.proof.theory": ["Theory"],
}
_MODULES = ["bounds", "callbacks", "datasets", "descent", "dropin", "errors", "io", "plot", "rows", "rules", "view"]
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


if TYPE_CHECKING:
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
    from separatrix.geometry import Quadric as Quadric
    from separatrix.geometry import quadric as quadric
    from separatrix.io.model.files import load as load
    from separatrix.io.model.files import save as save
    from separatrix.proof.certificate import Certificate as Certificate
    from separatrix.proof.certificate import Verification as Verification
    from separatrix.proof.negative_margin import NegativeMargin as NegativeMargin
    from separatrix.proof.negative_margin import negative_margin as negative_margin
    from separatrix.proof.removal import Removal as Removal
    from separatrix.proof.removal import rows_to_remove as rows_to_remove
    from separatrix.proof.separability import Separability as Separability
    from separatrix.proof.separability import separability as separability
    from separatrix.proof.theory import Theory as Theory
    from separatrix.space import Space as Space
    from separatrix.space import best_gamma as best_gamma
    from separatrix.space import objective as objective
    from separatrix.space import slacks as slacks
    from separatrix.space import soft_measures as soft_measures
