"""Each figure under one name: static, or interactive on request.

Static figures are drawn at once, into ``ax`` if it is given. They are displays in scikit-learn's sense, which keep what
they drew as attributes. Interactive figures are a `View`. They need Bokeh: ``pip install 'separatrix[view]'``.
"""

from typing import Any

from separatrix.callbacks import MarginTrace
from separatrix.certificates.separability import Separability
from separatrix.errors import DataError
from separatrix.plots.interactive import (
    closing_bounds,
    distances,
    feature_weights,
    in_notebooks,
    meeting_hulls,
    regions,
    right_and_wrong,
    side_by_side,
)
from separatrix.plots.static.algorithm_comparison import ComparisonDisplay
from separatrix.plots.static.bound_trace import BoundsDisplay
from separatrix.plots.static.boundary import BoundaryDisplay
from separatrix.plots.static.confusion import ConfusionDisplay
from separatrix.plots.static.curves import PRECISION_RECALL, ROC, CurvesDisplay
from separatrix.plots.static.hulls import ProofDisplay
from separatrix.plots.static.in_notebooks import drawings_of
from separatrix.plots.static.in_notebooks import weights as weights_drawing
from separatrix.plots.static.margins import MarginDisplay
from separatrix.plots.static.weight_path import PathDisplay


def boundary(
    estimator: Any, X: Any, y: Any, *, feature_names: Any = None, interactive: bool = False, ax: Any = None
) -> Any:
    """Draw the decision boundary of a fitted estimator, its margin band, its support vectors and the rows.

    Two features are drawn as they are, more are projected. Interactive: above 5,000 rows their density is drawn.

    Parameters
    ----------
    estimator : fitted classifier of this library, or a Pipeline that ends with one
    X, y : rows and labels
    feature_names : sequence of str, default=None
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    BoundaryDisplay or View

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import MaxMargin
    >>> from separatrix.plots import boundary
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MaxMargin(C=float("inf")).fit(X[:, 2:], y == 0)
    >>> print(boundary(model, X[:, 2:], y == 0, interactive=True).title)
    MaxMargin: every row classified correctly, the nearest at 0.596
    """
    if interactive:
        return regions.boundary(estimator, X, y, feature_names=feature_names)
    return BoundaryDisplay.from_estimator(estimator, X, y, ax=ax, feature_names=feature_names)


def margins(
    estimator: Any, X: Any, y: Any, *, feature_names: Any = None, interactive: bool = False, ax: Any = None
) -> Any:
    """Draw how far the rows lie on their sides of the boundary.

    Of several classes, the margin is the score of the true class minus the best score of the others.

    Parameters
    ----------
    estimator : fitted classifier of this library, or a Pipeline that ends with one
    X, y : rows and labels
    feature_names : sequence of str, default=None
        Names for the rows to which one points in the interactive figure.
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    MarginDisplay or View

    Examples
    --------
    >>> from separatrix import MaxMargin
    >>> from separatrix.plots import margins
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> margins(MaxMargin(C=float("inf")).fit(X, y), X, y).title
    'Distances from the boundary: every row classified correctly, the nearest at 1'
    """
    if interactive:
        return distances.margins(estimator, X, y, feature_names=feature_names)
    return MarginDisplay.from_estimator(estimator, X, y, ax=ax)


def bounds(estimator: Any, X: Any, y: Any, *, problem: int = 0, interactive: bool = False, ax: Any = None) -> Any:
    """Fit a clone of the estimator, and draw its lower and upper bound against updates or passes.

    If a theorem bounds the updates, a line marks that many.

    Parameters
    ----------
    estimator : classifier of this library
    X, y : rows and labels
    problem : int, default=0
        The number of the binary problem, for several classes.
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    BoundsDisplay or View

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import DynamicMargin
    >>> from separatrix.plots import bounds
    >>> X, y = load_iris(return_X_y=True)
    >>> bounds(DynamicMargin(epsilon=0.1), X, y == 0, interactive=True).title.startswith("DynamicMargin: ")
    True
    """
    if interactive:
        return closing_bounds.bounds(estimator, X, y, problem=problem)
    return BoundsDisplay.from_estimator(estimator, X, y, ax=ax, problem=problem)


def bounds_of_trace(
    trace: MarginTrace, *, name: str = "", problem: int = 0, interactive: bool = False, ax: Any = None
) -> Any:
    """Draw the bounds that a `MarginTrace` has recorded.

    Parameters
    ----------
    trace : MarginTrace
    name : str, default=""
        Of the estimator, for the title.
    problem : int, default=0
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    BoundsDisplay or View
    """
    if interactive:
        return closing_bounds.bounds_of_trace(trace, name=name, problem=problem)
    return BoundsDisplay.from_trace(trace, name=name, problem=problem, ax=ax)


def path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    problem: int = 0,
    feature_names: Any = None,
    interactive: bool = False,
    ax: Any = None,
) -> Any:
    """Fit a clone of the estimator, and draw the path of its weight vector.

    Two features: the vector as it is. More: its part along the last one, and along the main direction across it.

    Parameters
    ----------
    estimator : classifier of this library with a weight vector
    X, y : rows and labels
    problem : int, default=0
        The number of the vector, for several classes.
    feature_names : sequence of str, default=None
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    PathDisplay or View

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import Perceptron
    >>> from separatrix.plots import path
    >>> X, y = load_iris(return_X_y=True)
    >>> path(Perceptron(), X, y == 0, interactive=True).title.startswith("Perceptron: the path")
    True
    """
    if interactive:
        return closing_bounds.path(estimator, X, y, problem=problem, feature_names=feature_names)
    return PathDisplay.from_estimator(estimator, X, y, ax=ax, problem=problem, feature_names=feature_names)


def weights(model: Any, *, folds: Any = None, interactive: bool = False) -> Any:
    """Draw the largest weights of a fitted separator, alone or at the end of a Pipeline.

    Parameters
    ----------
    model : fitted estimator with ``coef_``, or a Pipeline that ends with one
    folds : sequence of arrays of the shape of ``coef_``, default=None
        Weights of other fits, such as those of a cross-validation, for the interactive figure: thin lines reach from
        the smallest to the largest.
    interactive : bool, default=False

    Returns
    -------
    Drawing or View

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import MaxMargin
    >>> from separatrix.plots import weights
    >>> X, y = load_iris(return_X_y=True)
    >>> weights(MaxMargin().fit(X, y == 0)).title
    'Weights, positive for True'
    """
    return feature_weights.weights(model, folds=folds) if interactive else weights_drawing(model)


def certificate(result: Any, *, interactive: bool = False) -> Any:
    """Draw what a certificate claims: the range of the best margin, or the rows that prove that nothing separates.

    Parameters
    ----------
    result : Certificate, Separability, or fitted estimator with ``certificate_``
    interactive : bool, default=False

    Returns
    -------
    Drawing or View

    Examples
    --------
    >>> from separatrix import separability
    >>> from separatrix.plots import certificate
    >>> certificate(separability([[0.0], [2.0], [1.0]], [0, 0, 1])).title
    'Not linearly separable: 3 rows prove it'
    """
    parts = getattr(result, "certificate_", result)
    found: Any = in_notebooks.views_of(parts) if interactive else drawings_of(parts)
    if not found:
        raise DataError("The certificate claims neither a range of the margin nor a proof of inseparability.")
    return found[0]


def proof(
    answer: Separability, X: Any, y: Any, *, feature_names: Any = None, interactive: bool = False, ax: Any = None
) -> Any:
    """Draw why no hyperplane separates: the rows of the proof, their weights, and a point of both convex hulls.

    More than two features are projected on the plane in which these rows vary most. Hulls and their point are projected
    alike, so they meet in the picture as well.

    Parameters
    ----------
    answer : Separability
        Of data that are not separable.
    X, y : the rows and labels that it is about
    feature_names : sequence of str, default=None
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    ProofDisplay or View

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import separability
    >>> from separatrix.plots import proof
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    >>> proof(separability(X, y), X, y, interactive=True).title
    'Not linearly separable: the convex hulls of 0 and 1 meet'
    """
    if interactive:
        return meeting_hulls.proof(answer, X, y, feature_names=feature_names)
    return ProofDisplay.computed(answer, X, y, feature_names=feature_names).plot(ax=ax)


def confusion(
    truth: Any, predicted: Any, *, classes: Any = None, where: str = "", interactive: bool = False, ax: Any = None
) -> Any:
    """Draw how many rows of each class are predicted to be of which class.

    Parameters
    ----------
    truth, predicted : labels
    classes : array, default=None
        Their order; sorted if None.
    where : str, default=""
        On which data, for the title of the interactive figure.
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    ConfusionDisplay or View

    Examples
    --------
    >>> from separatrix.plots import confusion
    >>> confusion(["a", "a", "b"], ["a", "b", "b"], interactive=True).title
    '2 of 3 rows right (66.7%)'
    """
    if interactive:
        return right_and_wrong.confusion(truth, predicted, classes=classes, where=where)
    looks = {"cmap": "Blues", "colorbar": False, "values_format": ",d"}
    return ConfusionDisplay.from_predictions(truth, predicted, labels=classes, ax=ax, **looks)


def roc(
    truth: Any, scores: Any, *, classes: Any = None, where: str = "", interactive: bool = False, ax: Any = None
) -> Any:
    """Draw the ROC curve: the share of positive rows found against the share of negative rows taken for positive.

    Parameters
    ----------
    truth : labels
    scores : decision values, (n,) for two classes or (n, c)
    classes : array, default=None
    where : str, default=""
        On which data, for the title.
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    CurvesDisplay or View

    Examples
    --------
    >>> from separatrix.plots import roc
    >>> roc([0, 0, 1, 1], [-1.0, 0.5, 0.2, 2.0], interactive=True).title
    'ROC curve: area 0.75'
    """
    if interactive:
        return right_and_wrong.roc(truth, scores, classes=classes, where=where)
    return CurvesDisplay.computed(ROC, truth, scores, classes=classes, where=where).plot(ax=ax)


def precision_recall(
    truth: Any, scores: Any, *, classes: Any = None, where: str = "", interactive: bool = False, ax: Any = None
) -> Any:
    """Draw the precision-recall curve: how many rows taken for a class belong to it, against how many are found.

    Parameters
    ----------
    truth : labels
    scores : decision values, (n,) for two classes or (n, c)
    classes : array, default=None
    where : str, default=""
        On which data, for the title.
    interactive : bool, default=False
    ax : matplotlib axes, default=None

    Returns
    -------
    CurvesDisplay or View

    Examples
    --------
    >>> from separatrix.plots import precision_recall
    >>> precision_recall([0, 0, 1, 1], [-1.0, 0.1, 0.2, 2.0], interactive=True).title
    'Precision and recall: average precision 1'
    """
    if interactive:
        return right_and_wrong.precision_recall(truth, scores, classes=classes, where=where)
    return CurvesDisplay.computed(PRECISION_RECALL, truth, scores, classes=classes, where=where).plot(ax=ax)


def comparison(
    rows: list[dict[str, Any]],
    *,
    title: str = "Algorithms compared",
    interactive: bool = False,
    figure: Any = None,
) -> Any:
    """Draw algorithms side by side; in the interactive figure the reader chooses the measure that sorts them.

    Parameters
    ----------
    rows : list of dict
        ``name``, and what is known of ``share``, ``train``, ``cv``, ``seconds`` and ``updates``, as
        ``separatrix compare`` measures it.
    title : str
    interactive : bool, default=False
    figure : matplotlib figure, default=None

    Returns
    -------
    ComparisonDisplay or View
    """
    if interactive:
        return side_by_side.comparison(rows, title=title)
    return ComparisonDisplay.from_results(rows, title=title, figure=figure)
