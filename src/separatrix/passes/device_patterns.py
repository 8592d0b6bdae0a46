"""The patterns of hyperplanes, from rows on a CUDA device: where torch and Triton are there, one kernel for a pass.

Everything that has no kernel of its own is a pass of `PassedPatterns`, block by block.
"""

from collections.abc import Callable
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.linalg as la

from separatrix.data.base import RowSource
from separatrix.data.device import DeviceRows, to_numpy
from separatrix.passes import in_memory
from separatrix.passes.on_device import Block
from separatrix.passes.patterns import Pass, PassedPatterns
from separatrix.passes.summaries import Extremes, Piece, Shape
from separatrix.space import Space, Vector

SAMPLE_ROWS = 500_000  # rows whose margins tell a limit below which about k of all lie
ROOM = 8  # times k: rows that may be found
TRIALS = 6  # limits that are tried before all margins are sorted
TRIFLE = 1 << 16  # rows so few that nothing is gained
RELATIVE = 1e-6  # error of a Hessian that is a sum of float32 products: beyond its smallest eigenvalue it would mislead

MOST_PARTS = 32  # a Hessian of millions of rows is that of all: one tile of so many is read again for it
TRIED = 6  # Hessians of a part of the rows: a solver that asks more often gets one of all


def passed(home: RowSource, positive: int | None, space: Space) -> PassedPatterns:
    """The patterns of out-of-core rows, with the kernels that their home has."""
    if positive is not None and isinstance(home, DeviceRows) and fusable(home):
        return FusedPatterns(home, positive, space)
    return PassedPatterns(home, positive, space)


def fusable(home: DeviceRows) -> bool:
    """Is there a kernel for these rows?"""
    if not home.one_piece or home.n <= TRIFLE or find_spec("triton") is None:
        return False
    from separatrix.passes.triton_kernels import WIDEST

    return home.width <= WIDEST


class FusedPatterns(PassedPatterns):
    """Shape, extremes and piece by one kernel each."""

    home: DeviceRows
    positive: int
    _hessians = 0

    def in_space(self, space: Space) -> "FusedPatterns":
        return FusedPatterns(self.home, self.positive, space)

    def run(self, work: Pass, *args: Any) -> Any:
        fused: dict[Pass, Callable[..., Any]] = {
            in_memory.shape: self._fused_shape,
            in_memory.extremes: self._fused_extremes,
            in_memory.piece: self._fused_piece,
        }
        found: Any = None
        if work in fused:
            with self.home.room():
                found = fused[work](*args)
        return super().run(work, *args) if found is None else found

    def _vector(self, a: Vector) -> Vector:
        """The vector with the bias itself at its end."""
        return np.append(a[:-1], self.space.rho * a[-1])

    def _fused_shape(self) -> Shape | None:
        """None where weights or a row that is not finite ask for more than the kernel tells."""
        from separatrix.passes import triton_kernels

        space, home = self.space, self.home
        if home.weight is not None:
            return None
        largest, total = triton_kernels.sizes(home)
        norm2 = largest + (0.0 if space.free else space.rho**2) + space.delta**2
        if not np.isfinite(norm2 + total):
            return None
        return Shape(home.n, float(home.n), norm2, largest, total, home.width, -1)

    def _fused_extremes(self, a: Vector, k: int) -> Extremes | None:
        """All rows at or below a limit that a sample tells, and of them the k smallest. None where no limit parts them
        from the others, as where very many margins are equal."""
        from separatrix.passes import triton_kernels

        xp, n, k, sample = self.home.xp, self.home.n, min(k, self.home.n), self._sampled(a)
        expected = k * len(sample) / n
        rank = int(expected + 3.0 * np.sqrt(expected)) + 2
        limit, room = float(sample[min(rank, len(sample) - 1)]), max(ROOM * k, TRIFLE)
        for _ in range(TRIALS):
            found = triton_kernels.below(self.home, self.positive, self._vector(a), limit, room)
            if found.number > room:
                lower = float(xp.sort(found.value)[int(min(2.0 * k / found.number, 0.5) * room)])
                if not lower < limit:
                    return None
                limit = lower
            elif found.number < k:
                rank *= 4
                limit = float(sample[rank]) if rank < len(sample) else np.inf
            else:
                order = xp.argsort(found.index)  # rows come in any order: by number where margins are equal
                index, value = xp.take(found.index, order, axis=0), xp.take(found.value, order, axis=0)
                best = xp.argsort(value, stable=True)[:k]
                index, value = (to_numpy(xp.take(v, best, axis=0)) for v in (index, value))
                return Extremes(float(value.min()), found.errors, index, value, k)
        return None

    @cached_property
    def _sample(self) -> Block:
        """Evenly spread rows."""
        step = max(1, self.home.n // SAMPLE_ROWS)
        return Block(DeviceRows(self.home.X[::step, :], self.home.codes[::step]), self.positive, self.space)

    def _sampled(self, a: Vector) -> Vector:
        """Margins of evenly spread rows, in order."""
        return to_numpy(self.home.xp.sort(self._sample.margins(a)))

    def _fused_piece(self, a: Vector, hessian: bool) -> Piece | None:
        """None where float32 products would not do for the Hessian."""
        from separatrix.passes import triton_kernels

        d, rho, u, H = self.features, self.space.rho, self._vector(a), np.zeros((0, 0))
        if hessian:
            self._hessians += 1
            part = 1 if self._hessians > TRIED else max(1, min(MOST_PARTS, self.home.n // triton_kernels.ENOUGH))
            weight, middle, matrix = triton_kernels.curvature(self.home, self.positive, u, part)
            spectrum = la.eigvalsh(matrix)
            if RELATIVE * spectrum[-1] > max(spectrum[0], 0.0) + self.space.delta**2:
                return None
            H = np.zeros((d + 1, d + 1))
            H[:d, :d], H[d, :d], H[d, d] = matrix, rho * middle, rho * rho * weight
        sums = triton_kernels.slacks(self.home, self.positive, u)
        return Piece(sums.squares, sums.slack, np.append(sums.pull, rho * sums.signed), H, sums.active, sums.smallest)
