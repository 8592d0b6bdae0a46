"""Criteria of the weight vector, and procedures that descend on them (DHS sections 5.4 to 5.6)."""

from separatrix.descent.criteria import (
    Criterion,
    PerceptronCriterion,
    QuadraticCriterion,
    RelaxationCriterion,
    SquaredErrorCriterion,
)

__all__ = [
    "Criterion",
    "PerceptronCriterion",
    "QuadraticCriterion",
    "RelaxationCriterion",
    "SquaredErrorCriterion",
]
