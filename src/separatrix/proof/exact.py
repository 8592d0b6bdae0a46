"""Proofs in rational arithmetic: every float is a fraction, so nothing here is rounded.

Columns of floats are turned into integers by powers of two; FLINT solves the integer system. It is imported where it is
used: most fits never need it.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_SYSTEM = 300  # rows of a combination that is solved exactly
PRIME = 2**61 - 1


def integer_columns(V: NDArray[np.float64]) -> list[list[int]]:
    """The columns of V that are not zero, each scaled by a power of two to integers."""
    columns = []
    for column in V.T[np.any(V != 0, axis=0)]:
        parts = [x.as_integer_ratio() for x in column.tolist()]
        scale = max(q for _, q in parts)  # denominators are powers of two
        columns.append([p * (scale // q) for p, q in parts])
    return columns


def vanishing_combination(V: NDArray[np.float64]) -> list[Fraction] | None:
    """Multipliers lambda >= 0 with sum 1 and ``V^t lambda = 0``, exactly; None if none was found.

    The rows have to be affinely independent, as those of a vertex of the set of solutions are; then lambda is unique.
    """
    from flint import fmpq_mat, fmpz_mat

    k = len(V)
    if k == 0 or k > LARGEST_SYSTEM:
        return None
    equations = [*integer_columns(V), [1] * k]
    right = [0] * (len(equations) - 1) + [1]
    chosen = _independent(equations, k)
    if len(chosen) < k:
        return None
    x: Any = fmpz_mat([equations[r] for r in chosen]).solve(fmpz_mat([[right[r]] for r in chosen]))
    if fmpq_mat(fmpz_mat(equations)) * x != fmpq_mat(fmpz_mat([[r] for r in right])):
        return None  # more equations than unknowns, and they contradict each other
    solution = [Fraction(int(x[i, 0].p), int(x[i, 0].q)) for i in range(k)]
    return solution if min(solution) >= 0 else None


def _independent(equations: list[list[int]], rank: int) -> list[int]:
    """Numbers of independent equations, found modulo a prime: what is independent there is so in the rationals."""
    from flint import nmod_mat

    columns = [[equations[r][c] % PRIME for r in range(len(equations))] for c in range(rank)]
    echelon, _ = nmod_mat(columns, PRIME).rref()
    pivots, column = [], 0
    for r in range(rank):
        while column < len(equations) and int(echelon[r, column]) == 0:
            column += 1
        if column == len(equations):
            break
        pivots.append(column)
    return pivots


def product_sign(row: NDArray[np.float64], a: NDArray[np.float64]) -> int:
    """The sign of ``row . a``, exactly."""
    total = sum((Fraction(x) * Fraction(w) for x, w in zip(row.tolist(), a.tolist(), strict=True)), Fraction(0))
    return (total > 0) - (total < 0)
