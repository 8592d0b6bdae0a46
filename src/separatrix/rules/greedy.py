"""The greedy Perceptron (GREEDY alg. 2)."""

from typing import NamedTuple

import numpy as np


class GreedyRule(NamedTuple):
    """``a.y <= 0``: ``a += eta* y``, eta* the first of ``etas`` that minimises the 0-1 loss after the update."""

    etas: np.ndarray
    loop = "greedy"
