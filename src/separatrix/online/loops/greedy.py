"""The memory of the greedy Perceptron (GREEDY alg. 2): one pass over the data per update.

With z = Y y_k the losses after the update are counts of m + eta z <= 0, so a pass serves all rates. The margins m = Y a
are kept and updated. With a kernel z is a row of the Gram matrix.
"""

from typing import NamedTuple

import numpy as np

from separatrix.online.loops.averaging import BEGUN, COUNTED, NO_MEAN, Mean
from separatrix.online.loops.rows import add, fold, products_with, set_margins
from separatrix.online.loops.state import NORM2, VISITS, add_multiplier


class Margins(NamedTuple):
    m: np.ndarray  # n, the margins of the current vector
    z: np.ndarray  # n, the products of all patterns with the one that is corrected
    row: np.ndarray  # d, that pattern, unfolded
    used: np.ndarray = np.zeros(0, np.int64)  # how often each increment was taken; models of 0.1.0 did not count it
    mean: Mean = NO_MEAN

    def begin(self, rule, rows, state):
        set_margins(rows, state, self.m)

    def score(self, rows, i, c, state):
        return self.m[i], rows.norms2[i]

    def note(self, rows, state, norm2):
        sums = self.mean.sums
        if sums[BEGUN] >= 0.0:
            fold(rows, state, state.counts[VISITS] - 1 - sums[COUNTED], self.mean.base)
        sums[COUNTED] = state.counts[VISITS] - 1

    def apply(self, rule, rows, i, m, s, state):
        products_with(rows, i, self.row, self.z)
        self.z[i] += rows.frame.delta2
        best, g, taken = np.inf, 0.0, 0
        for j in range(rule.etas.shape[0]):  # the increment that leaves the least loss, times the weight of the pattern
            loss, step = 0.0, rule.etas[j] * s.weight
            for k in range(self.m.shape[0]):
                if self.m[k] + step * self.z[k] <= 0.0:
                    loss += rows.weight[k]
            if loss < best:
                best, g, taken = loss, step, j
        if self.used.shape[0] > 0:
            self.used[taken] += 1
        for k in range(self.m.shape[0]):
            self.m[k] += g * self.z[k]
        state.real[NORM2] += 2.0 * g * m + g * g * s.yy
        add(rows, i, g, 1.0, state.v)
        add_multiplier(state, i, g)
