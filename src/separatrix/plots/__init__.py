"""Figures: displays with matplotlib, and interactive ones with Bokeh.

The displays follow scikit-learn's conventions: ``BoundaryDisplay.from_estimator(...)`` draws, and keeps what it drew as
attributes, with ``ax_`` and ``figure_``. They need matplotlib: ``pip install 'separatrix[plot]'``.

The functions return a `View`, which shows itself in a notebook and writes itself as one page with ``save``. Point at a
row to read its number and its features; a click on the legend hides what it names. They need Bokeh:
``pip install 'separatrix[view]'``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_WHERE = {
    "BoundaryDisplay": "static.boundary",
    "BoundsDisplay": "static.bound_trace",
    "ComparisonDisplay": "static.algorithm_comparison",
    "ConfusionDisplay": "static.confusion",
    "CriticalDifferenceDisplay": "static.rank_diagram",
    "MarginDisplay": "static.margins",
    "PathDisplay": "static.weight_path",
    "View": "interactive.canvas",
    "boundary": "interactive.regions",
    "bounds": "interactive.closing_bounds",
    "bounds_of_trace": "interactive.closing_bounds",
    "comparison": "interactive.side_by_side",
    "confusion": "interactive.right_and_wrong",
    "margins": "interactive.distances",
    "path": "interactive.closing_bounds",
    "precision_recall": "interactive.right_and_wrong",
    "proof": "interactive.meeting_hulls",
    "roc": "interactive.right_and_wrong",
    "weights": "interactive.feature_weights",
}
__all__ = [*sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    """Import on first use: modules of figures take what they draw from all of the package."""
    if name in _WHERE:
        value = getattr(import_module(f"separatrix.plots.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'separatrix.plots' has no attribute {name!r}")


if TYPE_CHECKING:
    from separatrix.plots.interactive.canvas import View as View
    from separatrix.plots.interactive.closing_bounds import bounds as bounds
    from separatrix.plots.interactive.closing_bounds import bounds_of_trace as bounds_of_trace
    from separatrix.plots.interactive.closing_bounds import path as path
    from separatrix.plots.interactive.distances import margins as margins
    from separatrix.plots.interactive.feature_weights import weights as weights
    from separatrix.plots.interactive.meeting_hulls import proof as proof
    from separatrix.plots.interactive.regions import boundary as boundary
    from separatrix.plots.interactive.right_and_wrong import confusion as confusion
    from separatrix.plots.interactive.right_and_wrong import precision_recall as precision_recall
    from separatrix.plots.interactive.right_and_wrong import roc as roc
    from separatrix.plots.interactive.side_by_side import comparison as comparison
    from separatrix.plots.static.algorithm_comparison import ComparisonDisplay as ComparisonDisplay
    from separatrix.plots.static.bound_trace import BoundsDisplay as BoundsDisplay
    from separatrix.plots.static.boundary import BoundaryDisplay as BoundaryDisplay
    from separatrix.plots.static.confusion import ConfusionDisplay as ConfusionDisplay
    from separatrix.plots.static.margins import MarginDisplay as MarginDisplay
    from separatrix.plots.static.rank_diagram import CriticalDifferenceDisplay as CriticalDifferenceDisplay
    from separatrix.plots.static.weight_path import PathDisplay as PathDisplay
