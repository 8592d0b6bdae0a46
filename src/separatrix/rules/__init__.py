"""Perceptron-like rules, a file for each family: update when a condition holds, then ``a <- (a + eta f y) / N``."""

from separatrix.rules.aggressive import PassiveAggressiveRule, RelaxationRule, RommaRule
from separatrix.rules.base import Scalars, rule
from separatrix.rules.confidence import ArowRule, ScwRule
from separatrix.rules.descent import LmsRule, RlsRule, ShrinkingHingeRule
from separatrix.rules.margins import (
    AlmaRule,
    BallseptronRule,
    CrammaRule,
    DynamicMarginRule,
    FixedMarginRule,
    IncrementalMarginRule,
    MarginPerceptronRule,
    MargitronRule,
    MicraRule,
    WeightShrinkingRule,
)
from separatrix.rules.multiplicative import AlmaPRule, PNormRule, WinnowRule
from separatrix.rules.perceptrons import FuzzyRule, GreedyRule, MarginFuzzyRule, PerceptronRule

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
