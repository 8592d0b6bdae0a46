"""Pictures of separators, on scikit-learn's display conventions: ``Display.from_estimator(...)`` draws.

Every display keeps what it drew as attributes, with ``ax_`` and ``figure_``. They need matplotlib:
``pip install '.[plot]'`` in a clone of the repository.
"""

from separatrix.plot.algorithm_comparison import ComparisonDisplay
from separatrix.plot.bound_trace import BoundsDisplay
from separatrix.plot.boundary import BoundaryDisplay
from separatrix.plot.confusion import ConfusionDisplay
from separatrix.plot.margins import MarginDisplay
from separatrix.plot.rank_diagram import CriticalDifferenceDisplay
from separatrix.plot.weight_path import PathDisplay

__all__ = [
    "BoundaryDisplay",
    "BoundsDisplay",
    "ComparisonDisplay",
    "ConfusionDisplay",
    "CriticalDifferenceDisplay",
    "MarginDisplay",
    "PathDisplay",
]
