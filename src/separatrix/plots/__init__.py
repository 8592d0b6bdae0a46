"""Figures: one name for each, static by default, interactive on request.

``boundary(model, X, y)`` draws with matplotlib (``pip install 'separatrix[plot]'``) and returns a display, which keeps
what it drew as attributes, with ``ax_`` and ``figure_``, as scikit-learn's displays do.

``boundary(model, X, y, interactive=True)`` returns a `View`, which shows itself in a notebook and writes itself as one
page with ``save``. Point at a row to read its number and its features; a click on the legend hides what it names. It
needs Bokeh: ``pip install 'separatrix[view]'``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_FIGURES = "boundary bounds bounds_of_trace certificate comparison confusion margins path"
_FIGURES += " precision_recall proof roc weights"
_WHERE = {
    "BoundaryDisplay": "static.boundary",
    "BoundsDisplay": "static.bound_trace",
    "ComparisonDisplay": "static.algorithm_comparison",
    "ConfusionDisplay": "static.confusion",
    "CriticalDifferenceDisplay": "static.rank_diagram",
    "CurvesDisplay": "static.curves",
    "Drawing": "static.in_notebooks",
    "MarginDisplay": "static.margins",
    "PathDisplay": "static.weight_path",
    "ProofDisplay": "static.hulls",
    "View": "interactive.canvas",
    **dict.fromkeys(_FIGURES.split(), "figures"),
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
    from separatrix.plots.figures import boundary as boundary
    from separatrix.plots.figures import bounds as bounds
    from separatrix.plots.figures import bounds_of_trace as bounds_of_trace
    from separatrix.plots.figures import certificate as certificate
    from separatrix.plots.figures import comparison as comparison
    from separatrix.plots.figures import confusion as confusion
    from separatrix.plots.figures import margins as margins
    from separatrix.plots.figures import path as path
    from separatrix.plots.figures import precision_recall as precision_recall
    from separatrix.plots.figures import proof as proof
    from separatrix.plots.figures import roc as roc
    from separatrix.plots.figures import weights as weights
    from separatrix.plots.interactive.canvas import View as View
    from separatrix.plots.static.algorithm_comparison import ComparisonDisplay as ComparisonDisplay
    from separatrix.plots.static.bound_trace import BoundsDisplay as BoundsDisplay
    from separatrix.plots.static.boundary import BoundaryDisplay as BoundaryDisplay
    from separatrix.plots.static.confusion import ConfusionDisplay as ConfusionDisplay
    from separatrix.plots.static.curves import CurvesDisplay as CurvesDisplay
    from separatrix.plots.static.hulls import ProofDisplay as ProofDisplay
    from separatrix.plots.static.in_notebooks import Drawing as Drawing
    from separatrix.plots.static.margins import MarginDisplay as MarginDisplay
    from separatrix.plots.static.rank_diagram import CriticalDifferenceDisplay as CriticalDifferenceDisplay
    from separatrix.plots.static.weight_path import PathDisplay as PathDisplay
