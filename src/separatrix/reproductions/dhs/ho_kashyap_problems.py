"""Computer exercise 9: Ho-Kashyap decides separability, and says how."""

from functools import partial
from typing import Any

from separatrix.estimators.ho_kashyap_classifier import HoKashyap
from separatrix.plots.static.style import COLOURS
from separatrix.reproductions.dhs.data import pair
from separatrix.reproductions.outcome import Figure, Report, Table

ENDS = {
    "separable": "with a vector that separates them",
    "not separable": "when e, whose negative part tends to a combination of the patterns that vanishes, has come near "
    "enough to one that is exactly 0: no hyperplane separates them",
}


def exercise_9(report: Report) -> None:
    report.head("Exercise 9: Ho-Kashyap, categories 1 and 3, then 4 and 2")
    rows, curves = [], {}
    for i, j in ((1, 3), (4, 2)):
        X, y = pair(i, j)
        model = HoKashyap(eta=0.9, max_iter=10_000).fit(X, y)
        verified = model.certificate_.verify(X, y)
        rows.append([f"{i} and {j}", model.outcome_, str(model.n_updates_), "holds" if verified else "FAILS"])
        curves[f"{i} and {j}"] = list(model.criterion_values_)
        report.claims(f"exercise 9: the certificate for {i} and {j} holds", bool(verified))
    columns = ["categories", "outcome", "steps", "certificate, recomputed from the data"]
    report.parts.append(Table("eta = 0.9, b(1) = 1", columns, rows))
    for name, outcome, *_ in rows:
        report.say(f"On categories {name} the procedure ends {ENDS.get(outcome, f'undecided: {outcome}')}.")
    report.data["exercise 9"] = curves
    report.parts.append(
        Figure("dhs-9", "Exercise 9: the squared error |Ya - b|^2 against the step.", partial(_draw, curves=curves))
    )


def _draw(figure: Any, curves: dict[str, list[float]]) -> None:
    axes = figure.subplots()
    for k, (name, values) in enumerate(curves.items()):
        axes.plot(values, color=COLOURS[k], marker="o", markersize=2.5, label=f"categories {name}")
    axes.set(xlabel="step", ylabel="$|Ya - b|^2$")
    axes.legend(frameon=False)
