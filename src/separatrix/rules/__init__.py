"""Perceptron-like rules, one small file each: update when a condition holds, then ``a <- (a + eta f y) / N``."""

from separatrix.rules.alma import AlmaRule
from separatrix.rules.arow import ArowRule
from separatrix.rules.ballseptron import BallseptronRule
from separatrix.rules.base import Scalars, rule
from separatrix.rules.cramma import CrammaRule
from separatrix.rules.dynamic_margin import DynamicMarginRule
from separatrix.rules.fixed_margin import FixedMarginRule
from separatrix.rules.fuzzy import FuzzyRule
from separatrix.rules.greedy import GreedyRule
from separatrix.rules.lms import LmsRule
from separatrix.rules.margin_fuzzy import MarginFuzzyRule
from separatrix.rules.margin_perceptron import IncrementalMarginRule, MarginPerceptronRule
from separatrix.rules.margitron import MargitronRule
from separatrix.rules.micra import MicraRule
from separatrix.rules.p_norm import AlmaPRule, PNormRule
from separatrix.rules.passive_aggressive import PassiveAggressiveRule
from separatrix.rules.perceptron import PerceptronRule
from separatrix.rules.relaxation import RelaxationRule
from separatrix.rules.rls import RlsRule
from separatrix.rules.romma import RommaRule
from separatrix.rules.scw import ScwRule
from separatrix.rules.shrinking_hinge import ShrinkingHingeRule
from separatrix.rules.weight_shrinking import WeightShrinkingRule
from separatrix.rules.winnow import WinnowRule

__all__ = [
    "AlmaPRule",
    "AlmaRule",
    "ArowRule",
    "BallseptronRule",
    "CrammaRule",
    "DynamicMarginRule",
    "FixedMarginRule",
    "FuzzyRule",
    "GreedyRule",
    "IncrementalMarginRule",
    "LmsRule",
    "MarginFuzzyRule",
    "MarginPerceptronRule",
    "MargitronRule",
    "MicraRule",
    "PNormRule",
    "PassiveAggressiveRule",
    "PerceptronRule",
    "RelaxationRule",
    "RlsRule",
    "RommaRule",
    "Scalars",
    "ScwRule",
    "ShrinkingHingeRule",
    "WeightShrinkingRule",
    "WinnowRule",
    "rule",
]
