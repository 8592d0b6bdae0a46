"""The greedy Perceptron (GREEDY alg. 2)."""

from typing import NamedTuple

import numpy as np

from separatrix.rules.base import rule


@rule(loop="greedy")
class GreedyRule(NamedTuple):
    """``a.y <= 0``: ``a += eta* y``, eta* the first of ``etas`` that minimises the 0-1 loss after the update."""

    etas: np.ndarray
