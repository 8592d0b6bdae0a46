"""Gram matrices of the pairs of classes, in blocks: that of a class with itself serves all of its pairs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from separatrix.data.memory import as_rows
from separatrix.passes.kernel_functions import Kernel, Matrix
from separatrix.passes.kernel_patterns import as_matrix


class ClassBlocks:
    """``members``: the numbers of the rows of each class. Of a precomputed kernel X has the columns of all rows."""

    def __init__(self, X: Matrix, members: Sequence[np.ndarray], kernel: Kernel):
        self.kernel = kernel
        self.rows = [as_matrix(as_rows(X[index])) for index in members]
        self.points = [kernel.form.points(*each) for each in zip(self.rows, members, strict=True)]
        self._own: dict[int, NDArray[np.float64]] = {}
        self._pair = np.zeros(0)

    def own(self, i: int) -> NDArray[np.float64]:
        """Return the Gram matrix of a class."""
        if i not in self._own:
            self._own[i] = self.kernel.values(self.points[i], self.rows[i])
        return self._own[i]

    def of_pair(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the Gram matrix of two classes, the rows of i before those of j. It is overwritten by the next."""
        first = len(self.own(i))
        size = first + len(self.own(j))
        if len(self._pair) < size * size:
            self._pair = np.empty(size * size)
        K = self._pair[: size * size].reshape(size, size)
        K[:first, :first], K[first:, first:] = self.own(i), self.own(j)
        K[:first, first:] = self.kernel.values(self.points[i], self.rows[j])
        K[first:, :first] = K[:first, first:].T
        return K
