"""The figures of Steiner's dissertation: on the points that it names, or on generated data of the same kind."""

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from separatrix import bounds
from separatrix.estimators.fuzzy_rules import MarginFuzzyPerceptron
from separatrix.estimators.perceptrons import Perceptron
from separatrix.plots.static.style import COLOURS
from separatrix.reproductions.plane import boundary, normal, points, window

# The dissertation has no bias.
ORIGIN: dict[str, Any] = {"until": "separated", "fit_intercept": False, "shuffle": False}

# Figure 2.3 names (3, -1) and (4, 1); the other points are chosen so that the run is the one of its caption.
WORKED_X = np.array([[1.0, 2.0], [3.0, -1.0], [4.0, 1.0], [-2.0, 2.0], [-1.0, -2.0], [1.0, -3.0]])
WORKED_Y = np.array([1, -1, 1, 1, -1, -1])


def path(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The vector after every update, by runs of 1, 2, 3, ... updates: a = sum alpha_k y_k."""
    from sklearn.exceptions import ConvergenceWarning

    vectors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for k in range(1, make().fit(X, y).n_updates_ + 1):
            certificate = make().set_params(max_updates=k).fit(X, y).certificate_
            rows = certificate.alpha_index
            vectors.append((certificate.alpha * y[rows]) @ X[rows])
    return vectors


def worked_example() -> list[list[np.ndarray]]:
    """The points that are misclassified after each update of figure 2.3."""
    vectors = path(partial(Perceptron, **ORIGIN), WORKED_X, WORKED_Y)
    return [[x for x, l in zip(WORKED_X, WORKED_Y, strict=True) if l * (x @ w) <= 0] for w in vectors]


def figure_34(figure: Any, losses: dict[str, list[int]]) -> None:
    axes = figure.subplots()
    for k, (name, loss) in enumerate(losses.items()):
        style = {"linewidth": 2.2, "zorder": 3} if name == "greedy" else {"linewidth": 4.0 - 0.9 * k, "alpha": 0.8}
        axes.plot(np.arange(1, len(loss) + 1), loss, color=COLOURS[k], label=name, **style)
        axes.plot(len(loss), 0, "o", color=COLOURS[k], zorder=4)
    axes.set(xlabel="updates", ylabel="errors", title="Fixed rates coincide; greedy ends first")
    axes.legend(frameon=False)


def figure_23(figure: Any) -> None:
    X, y = WORKED_X, WORKED_Y
    vectors = [np.zeros(2), *path(partial(Perceptron, **ORIGIN), X, y)]
    wrong = [None, *worked_example()]
    panels = figure.subplots(2, 3)
    for k, (ax, w, left) in enumerate(zip(panels.flat, vectors, wrong, strict=False)):
        points(ax, X, y)
        boundary(ax, w)
        if np.any(w):
            normal(ax, w)
        names = "" if not left else ", ".join(f"({x[0]:g}, {x[1]:g})" for x in left)
        what = "the data" if left is None else (f"{names} wrong" if left else "all right")
        window(ax, X, vectors, f"({'abcdef'[k]}) {what}")
    for ax in panels.flat[len(vectors) :]:
        ax.set_axis_off()


def figure_31(figure: Any) -> None:
    X = np.array([[4.0, 0.0], [-4.0, 1.0], [1.0, 3.0], [3.0, 2.5], [0.0, -3.0], [-1.0, -4.0], [-3.0, -3.0]])
    y = np.array([1, 1, 1, 1, -1, -1, -1])
    w = np.array([-1.5, 2.0])
    for ax, eta, word in zip(figure.subplots(1, 2), (0.2, 2.0), ("too small", "too large"), strict=True):
        points(ax, X, y)
        boundary(ax, w, label="before")
        after = w + eta * X[0]
        boundary(ax, after, color=COLOURS[2], linestyle="--", label="after")
        still = [f"({x[0]:g}, {x[1]:g})" for x, l in zip(X, y, strict=True) if l * (x @ after) <= 0]
        window(ax, X, title=f"rate {eta:g}, {word}: {', '.join(still)} wrong")
        ax.legend(frameon=False, fontsize=8, loc="lower right")


def figure_33(figure: Any) -> None:
    X = np.array([[2.0, 0.0], [-1.0, 2.0], [1.0, 2.0], [2.0, 1.5], [-2.0, -2.0], [-1.0, -2.0], [1.0, -2.0]])
    y = np.array([1, 1, 1, 1, -1, -1, -1])
    w = np.array([-1.0, 1.5])
    axes = figure.subplots()
    points(axes, X, y, size=34)
    boundary(axes, w, label="before: 1 error")
    rates = (0.25, 1.0, 2.5)
    losses = [errors(X, y, w + eta * X[0]) for eta in rates]
    for k, (eta, loss) in enumerate(zip(rates, losses, strict=True)):
        chosen = k == int(np.argmin(losses))
        boundary(axes, w + eta * X[0], color=COLOURS[k], linewidth=2.2 if chosen else 1.2,
                 label=f"rate {eta:g}: {loss} error{'s' * (loss != 1)}{', taken' if chosen else ''}")  # fmt: skip
        normal(axes, (w + eta * X[0]) / 1.5, color=COLOURS[k])
    window(axes, X)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


def errors(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
    """The 0-1 loss (definition 11)."""
    return int(np.count_nonzero(y * (X @ w) <= 0))


def figure_41(figure: Any) -> None:
    R, height = 3.0, 0.9
    reach = math.sqrt(R**2 - height**2)
    X = np.array([[-reach, height], [reach, height], [-reach, -height], [reach, -height]])
    axes = figure.subplots()
    turn = np.linspace(0, 2 * math.pi, 200)
    axes.plot(R * np.cos(turn), R * np.sin(turn), color="grey", linewidth=0.8)
    axes.axhspan(-height, height, color="#dddddd", label="fuzzy")
    rng = np.random.default_rng(4)
    inside = rng.uniform([-2.4, -0.75], [2.4, 0.75], (24, 2))
    points(axes, inside, np.where(inside[:, 1] + rng.normal(0, 0.5, 24) > 0, 1, -1), size=9, alpha=0.5)
    points(axes, X, np.array([1, 1, -1, -1]), size=44, zorder=3)
    angle = bounds.fuzzy_angle(R, height) / 2
    for k, sign in enumerate((1, -1)):
        boundary(axes, np.array([-math.sin(sign * angle), math.cos(angle)]), color=COLOURS[k], label=f"$L_{k + 1}$")
    for k, (place, x) in enumerate(zip(((-14, 6), (6, 6), (-14, -12), (6, -12)), X, strict=True)):
        axes.annotate(f"$v_{k + 1}$", x, xytext=place, textcoords="offset points")
    window(axes, 1.15 * X / X.max() * R, title=f"angle between $L_1$ and $L_2$: {math.degrees(2 * angle):.1f} degrees")
    axes.legend(frameon=True, framealpha=0.9, fontsize=8, loc="upper right")


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds around the origin that no line through it separates."""
    rng = np.random.default_rng(12)
    X = np.vstack([rng.normal((0.9, 1.1), 1.0, (30, 2)), rng.normal((-0.9, -1.1), 1.0, (30, 2))])
    return X, np.repeat([1, -1], 30)


def smallest_band(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """The boundary through the origin whose farthest error is nearest, and that distance, over 3,600 directions."""
    turns = np.linspace(0, 2 * math.pi, 3600, endpoint=False)
    U = np.column_stack([np.cos(turns), np.sin(turns)])
    farthest = np.maximum(-(y * (U @ X.T)).min(axis=1), 0.0)
    best = int(np.argmin(farthest))
    return U[best], float(farthest[best])


def _band(axes: Any, u: np.ndarray, width: float, **style: Any) -> None:
    along = 20.0 * np.array([-u[1], u[0]])
    corners = np.array([along + width * u, along - width * u, -along - width * u, -along + width * u])
    axes.fill(*corners.T, **{"color": "#bbbbbb", "alpha": 0.5, "linewidth": 0, **style})


def figure_51(figure: Any) -> None:
    X, y = overlapping()
    u, width = smallest_band(X, y)
    for ax, epsilon, name in zip(figure.subplots(1, 2), (width, 3.0 * width), ("gamma*", "epsilon"), strict=True):
        _band(ax, u, epsilon)
        boundary(ax, u)
        points(ax, X, y)
        inside = int(np.count_nonzero(np.abs(X @ u) <= epsilon + 1e-12))
        window(ax, X, title=f"{name} = {epsilon:.2f}: {inside} points in the band")


def figure_52(figure: Any) -> None:
    X, y = overlapping()
    _, smallest = smallest_band(X, y)
    epsilon = 1.3 * smallest
    vectors = path(partial(MarginFuzzyPerceptron, epsilon, max_iter=5000, **ORIGIN), X, y)
    before, after = _last_with_an_error(X, y, vectors, epsilon), vectors[-1]
    for ax, w in zip(figure.subplots(1, 2), (before, after), strict=True):
        u = w / np.linalg.norm(w)
        _band(ax, u, epsilon)
        boundary(ax, u)
        points(ax, X, y)
        beyond = X[y * (X @ u) <= -epsilon]
        ax.scatter(*beyond.T, s=90, facecolors="none", edgecolors="black")
        errors = f"{len(beyond)} error{'s' * (len(beyond) != 1)} beyond the band" if len(beyond) else "it ends"
        window(ax, X, title=f"epsilon = {epsilon:.2f}: {errors}")


def _last_with_an_error(X: np.ndarray, y: np.ndarray, vectors: list[np.ndarray], epsilon: float) -> np.ndarray:
    outside = [w for w in vectors if np.any(y * (X @ w) <= -epsilon * np.linalg.norm(w))]
    return outside[-1] if outside else vectors[0]


def figure_53(figure: Any) -> None:
    half_width, half_height, epsilon = 3.0, 1.0, 1.8
    psi = bounds.margin_fuzzy_angle(half_width, half_height, epsilon) / 2
    axes = figure.subplots()
    blanket = np.array([[-half_width, -half_height], [half_width, -half_height], [half_width, half_height],
                        [-half_width, half_height]])  # fmt: skip
    for k, turn in enumerate((psi, -psi)):
        u = np.array([-math.sin(turn), math.cos(turn)])
        _band(axes, u, epsilon, color=COLOURS[k], alpha=0.25)
        boundary(axes, u, color=COLOURS[k])
    axes.fill(*blanket.T, color="#444444", alpha=0.6, linewidth=0, label="overlapping data")
    axes.set(xlim=(-4.5, 4.5), ylim=(-3.1, 3.1), title=f"boundaries may vary by {math.degrees(2 * psi):.1f} degrees")
    axes.set_aspect("equal")
    axes.legend(frameon=False, loc="upper right", fontsize=8)


def figure_21(figure: Any) -> None:
    X, y = WORKED_X, WORKED_Y
    right = path(partial(Perceptron, **ORIGIN), X, y)[-1]
    for ax, w, word in zip(
        figure.subplots(1, 2), (right, np.array([3.0, 2.0])), ("separates", "does not"), strict=True
    ):
        points(ax, X, y)
        boundary(ax, w)
        normal(ax, w)
        window(ax, X, [w], word)


def figure_22(figure: Any) -> None:
    w, x = np.array([-1.0, 2.0]), np.array([3.0, 1.0])  # of class +1, on the wrong side of w
    axes = figure.subplots()
    normal(axes, w)
    normal(axes, w + x, color=COLOURS[2])
    axes.annotate("", xy=tuple(w + x), xytext=tuple(w), arrowprops={"arrowstyle": "-|>", "color": COLOURS[1]})
    for vector, style in ((w, "--"), (w + x, "-")):
        boundary(axes, vector, linestyle=style)
    points(axes, x[None], np.array([1]), 40)
    window(axes, np.vstack([x, w, w + x, -w]), title="w (black) + y x (the change) = the new w")


def figure_24(figure: Any) -> None:
    w = np.array([0.0, 2.0])
    for ax, x, word in zip(
        figure.subplots(1, 2), (np.array([1.5, 1.0]), np.array([1.5, -1.0])), ("below", "above"), strict=True
    ):
        angle = math.degrees(math.acos(w @ x / (np.linalg.norm(w) * np.linalg.norm(x))))
        boundary(ax, w)
        normal(ax, w)
        normal(ax, x, color=COLOURS[0])
        window(ax, np.array([[-2.0, -2.0], [2.0, 2.0]]), title=f"the angle is {angle:.0f}, {word} 90 degrees")


def losses_from(start: np.ndarray, X: np.ndarray, y: np.ndarray, eta: float) -> list[int]:
    """Errors before the first update and after every one, each by the first point that is wrong."""
    w, counts = start.copy(), []
    while True:
        wrong = np.flatnonzero(y * (X @ w) <= 0)
        counts.append(len(wrong))
        if not len(wrong):
            return counts
        w += eta * y[wrong[0]] * X[wrong[0]]


def rates_that_differ(rates: Sequence[float]) -> list[dict[str, list[int]]]:
    """Figure 3.2: two data sets, the first that a seed gives with rate 2 alone as the fastest, and with another one.

    The start is not 0: from there a fixed rate would only rescale the path.
    """
    found: list[dict[str, list[int]]] = []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2)) * 3.0
        side = X @ [1.0, -0.5]
        keep = np.abs(side) > 0.3
        X, y = X[keep], np.where(side[keep] > 0, 1, -1)
        start = rng.normal(size=2) * 10.0
        losses = {f"rate {eta:g}": losses_from(start, X, y, eta) for eta in rates}
        lengths = {name: len(loss) for name, loss in losses.items()}
        fastest = [name for name, length in lengths.items() if length == min(lengths.values())]
        if len(fastest) == 1 and (fastest[0] == "rate 2") == (not found):
            found.append(losses)
            if len(found) == 2:
                break
    return found


def figure_32(figure: Any, runs: list[dict[str, list[int]]]) -> None:
    for ax, losses in zip(figure.subplots(1, 2), runs, strict=True):
        for k, (name, loss) in enumerate(losses.items()):
            ax.plot(loss, color=COLOURS[k], label=name)
            ax.plot(len(loss) - 1, 0, "o", color=COLOURS[k])
        fastest = min(losses, key=lambda name: len(losses[name]))
        ax.set(xlabel="updates", ylabel="errors", title=f"{fastest} is the fastest")
        ax.legend(frameon=False)
