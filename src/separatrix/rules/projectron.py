"""The Projectron: a Perceptron that adds, instead of a pattern, its projection on those that it has.

Orabona, Keshet & Caputo, The Projectron: a Bounded Kernel-Based Perceptron (ICML 2008): ``a.y <= 0``: ``a += P y``
where |y - P y| <= eta R, else ``a += y``, P the projection on the span of the patterns in a.
"""

from typing import Any

import numpy as np
import scipy.linalg as la


class Span:
    """Some patterns by their inner products G, to project others on."""

    def __init__(self, G: np.ndarray):
        self.G = G
        try:
            self.factor: Any = la.cho_factor(G)
        except la.LinAlgError:  # patterns that depend on each other
            self.factor, self.inverse = None, la.pinvh(G)

    def project(self, products: np.ndarray, square: float) -> tuple[np.ndarray, float]:
        """The multiples of the patterns in P y, and |y - P y|; ``products`` of y with them, ``square`` = |y|^2."""
        d = self.inverse @ products if self.factor is None else la.cho_solve(self.factor, products)
        # of these very multiples, however well G determines them: what enters the theorem
        return d, float(np.sqrt(max(square - 2.0 * (products @ d) + d @ self.G @ d, 0.0)))
