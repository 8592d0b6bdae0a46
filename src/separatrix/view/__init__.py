"""Interactive figures for notebooks, the HTML report and the studio.

Each function returns a `View`, which shows itself in a notebook and writes itself as one page with ``save``. Point at a
row to read its number and its features; a click on the legend hides what it names. They need Bokeh:
``pip install '.[view]'`` in a clone of the repository. For papers there are the pictures of `separatrix.plot`.
"""

from separatrix.view.canvas import View
from separatrix.view.closing_bounds import bounds, bounds_of_trace, path
from separatrix.view.distances import margins
from separatrix.view.feature_weights import weights
from separatrix.view.meeting_hulls import proof
from separatrix.view.regions import boundary
from separatrix.view.right_and_wrong import confusion, precision_recall, roc
from separatrix.view.side_by_side import comparison

__all__ = [
    "View",
    "boundary",
    "bounds",
    "bounds_of_trace",
    "comparison",
    "confusion",
    "margins",
    "path",
    "precision_recall",
    "proof",
    "roc",
    "weights",
]
