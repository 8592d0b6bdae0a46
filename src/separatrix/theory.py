"""Helpers in the terms of the papers: the space of the patterns, measures of soft margins, quadrics and criteria."""

from separatrix.geometry import Quadric, quadric
from separatrix.solvers.criteria import (
    Criterion,
    PerceptronCriterion,
    QuadraticCriterion,
    RelaxationCriterion,
    SquaredErrorCriterion,
)
from separatrix.space import Space, best_gamma, design_matrix, objective, slacks, soft_measures

__all__ = [
    "Criterion",
    "PerceptronCriterion",
    "QuadraticCriterion",
    "Quadric",
    "RelaxationCriterion",
    "Space",
    "SquaredErrorCriterion",
    "best_gamma",
    "design_matrix",
    "objective",
    "quadric",
    "slacks",
    "soft_measures",
]
