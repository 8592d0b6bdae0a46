"""Computer exercise 12: relaxation without margin for all four categories at once, and one against the rest."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from separatrix.certificates.separability import separability
from separatrix.estimators.aggressive_rules import Relaxation
from separatrix.plots.static.style import COLOURS, look
from separatrix.reproductions.dhs.data import category
from separatrix.reproductions.outcome import Figure, Report


def exercise_12(report: Report) -> None:
    report.head("Exercise 12: multicategory relaxation")
    X, codes = np.vstack([category(k) for k in (1, 2, 3, 4)]), np.repeat(np.arange(4), 10)
    answer = separability(X, codes)
    relaxation = Relaxation(1.0, eta=1.0, margin_tol=0.999999, shuffle=False, until="separated", max_iter=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = clone(relaxation).set_params(multi_class="joint", joint_update="all").fit(X, codes)
        rest = clone(relaxation).fit(X, codes)
    wrong = int(np.count_nonzero(machine.predict(X) != codes))
    report.say(
        f"(a) One linear machine, by Kesler's construction in 12 dimensions: {answer} After {machine.n_epochs_} passes "
        f"relaxation without margin gets {wrong} of 40 points wrong; it has "
        f'{"" if machine.converged_ else "not "}ended. "Without margin" is taken so: from a = 0 with b = 0 nothing '
        "would move, so b = 1 sets the scale and margin_tol = 0.999999 leaves rows with a.y > 0.000001 alone."
    )
    grid = np.stack(np.meshgrid(np.linspace(-11, 11, 220), np.linspace(-12, 11, 220)), axis=-1)
    positive = (rest.decision_function(grid.reshape(-1, 2)) > 0).sum(axis=1)
    none, several = float(np.mean(positive == 0)), float(np.mean(positive > 1))
    report.say(
        f"(b) With one boundary between each category and the rest, {100 * none:.0f}% of the square around the data is "
        f"claimed by no category and {100 * several:.0f}% by more than one: these regions are ambiguous."
    )
    report.claims("exercise 12: there are ambiguous regions", none + several > 0)
    report.parts.append(
        Figure("dhs-12", "Exercise 12: regions of the linear machine, and of one against the rest; grey is claimed by "
               "none, black by several.", partial(_draw, X=X, codes=codes, machine=machine, rest=rest, grid=grid),
               (7.2, 3.8))
    )  # fmt: skip


def _draw(figure: Any, X: np.ndarray, codes: np.ndarray, machine: Any, rest: Any, grid: np.ndarray) -> None:
    from matplotlib.colors import ListedColormap

    left, right = figure.subplots(1, 2, sharey=True)
    flat = grid.reshape(-1, 2)
    scores = rest.decision_function(flat)
    claims = (scores > 0).sum(axis=1)
    regions = np.where(claims == 1, scores.argmax(axis=1), np.where(claims == 0, 4, 5))
    colours = ListedColormap([*COLOURS[:4], "#bbbbbb", "#222222"])
    extent = (grid[0, 0, 0], grid[0, -1, 0], grid[0, 0, 1], grid[-1, 0, 1])
    for ax, values, title in (
        (left, machine.predict(flat), "linear machine"),
        (right, regions, "one against the rest"),
    ):
        picture = values.reshape(grid.shape[:2])
        ax.imshow(picture, origin="lower", extent=extent, cmap=colours, vmin=0, vmax=5, alpha=0.4, aspect="auto",
                  interpolation="nearest")  # fmt: skip
        for k in range(4):
            ax.scatter(*X[codes == k].T, s=18, **look(k), edgecolors="black", linewidths=0.5,
                       label=f"$\\omega_{k + 1}$")  # fmt: skip
        ax.set_title(title, fontsize=9)
    left.legend(frameon=True, framealpha=0.9, fontsize=8, loc="lower right")
