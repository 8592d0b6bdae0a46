"""What is known of the best margin while a fit runs: from below and from above."""

from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.callbacks import MarginTrace
from separatrix.certificates.theory import Theory
from separatrix.plots.static.style import COLOURS, INK, axes_for, styled


class BoundsDisplay:
    """Lower and upper bound of the margin against updates, or against passes where a solver makes none.

    Parameters
    ----------
    rows : list of dict
        The rows of a `MarginTrace`, of one problem.
    name : str
        Of what was fitted.
    theory : Theory or None
        What a theorem says of the fit.
    soft : bool
        Whether it is a soft margin, whose bounds include the price of slack.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import DynamicMargin
    >>> from separatrix.plots import BoundsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = BoundsDisplay.from_estimator(DynamicMargin(epsilon=0.1), X, y == 0)
    """

    def __init__(self, *, rows: list[dict[str, Any]], name: str = "", theory: Theory | None = None, soft: bool = False):
        self.rows, self.name, self.theory, self.soft = rows, name, theory, soft
        counts = [row["updates"] for row in rows]
        self.unit = "passes over the data" if any(c is None for c in counts) else "updates"
        key = "epochs" if self.unit.startswith("passes") else "updates"
        self.steps = np.array([float(row[key]) for row in rows])
        self.upper = np.minimum.accumulate([float(row["upper"]) for row in rows]) if rows else np.zeros(0)
        measured = [(float(row[key]), float(row["lower"])) for row in rows if row["lower"] is not None]
        self.measured = np.array(measured).reshape(-1, 2)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, problem: int = 0) -> Any:
        """Fit a clone of the estimator with a trace, and draw its bounds; ``problem``: which, of several classes."""
        return cls.computed(estimator, X, y, problem=problem).plot(ax=ax)

    @classmethod
    def computed(cls, estimator: Any, X: Any, y: Any, *, problem: int = 0) -> Any:
        """The same without drawing it."""
        trace = MarginTrace(factor=1.2)
        fitted = clone(estimator).set_callbacks(trace).fit(X, y)
        rows = _of_problem(trace, problem)
        certificate = fitted.certificates_[problem]  # the last word, where the trace stopped short of it
        final = {"updates": getattr(fitted, "n_updates_", None), "epochs": getattr(fitted, "n_passes_", 0.0)}
        if rows:
            final = {"updates": rows[-1]["updates"], "epochs": max(rows[-1]["epochs"], final["epochs"])}
        rows.append({**final, "upper": certificate.upper, "lower": certificate.lower})
        soft = bool(certificate.space.delta or certificate.space.hinge)
        return cls(rows=rows, name=type(estimator).__name__, theory=certificate.theory, soft=soft)

    @classmethod
    def from_trace(cls, trace: MarginTrace, *, name: str = "", problem: int = 0, ax: Any = None) -> Any:
        """Draw what a `MarginTrace` has recorded."""
        return cls(rows=_of_problem(trace, problem), name=name).plot(ax=ax)

    @property
    def what(self) -> str:
        """What is bounded."""
        return "margin (slack included)" if self.soft else "margin"

    @property
    def title(self) -> str:
        """The share of the best margin that is certain, and after how many updates."""
        finite = np.isfinite(self.upper)
        if not finite.any() or not len(self.measured):
            parts = "nothing bounds the margin"
        else:
            best = float(self.upper[finite].min())
            ratio = float(self.measured[:, 1].max()) / best if best > 0 else 0.0
            parts = f"{100 * ratio:.1f}% of the best {self.what} is certain" if ratio > 0 else "no margin yet"
            parts += f" after {self.steps[-1]:,.0f} updates" if self.unit == "updates" else ""
        return f"{self.name}: {parts}" if self.name else parts[0].upper() + parts[1:]

    def plot(self, ax: Any = None) -> Any:
        with styled():
            ax = axes_for(ax)
            steps, lower = self.measured[:, 0], np.maximum.accumulate(self.measured[:, 1])
            finite = np.isfinite(self.upper)
            held = {"lw": 1.8, "drawstyle": "steps-post"}  # a bound holds until a better one is known
            ax.plot(self.steps[finite], self.upper[finite], color=COLOURS[1], label="proven upper bound", **held)
            ax.plot(steps, lower, color=COLOURS[0], ls="--", marker="o", ms=3.5, label="margin achieved", **held)
            if finite.any() and len(steps):
                at = self.steps[finite]
                known = lower[np.maximum(np.searchsorted(steps, at, side="right") - 1, 0)]
                ax.fill_between(
                    at,
                    known,
                    self.upper[finite],
                    step="post",
                    color=INK,
                    alpha=0.08,
                    lw=0,
                    label="the best one is here",
                )
                best = float(self.upper[finite].min())
                ax.set_ylim(
                    max(float(lower.min()), -0.4 * best) - 0.05 * best, min(3.0 * best, self.upper[finite].max())
                )
            if self.unit == "updates" and len(steps) and steps.max() > 50:
                ax.set_xscale("log")
                ax.set_xlim(max(1.0, float(self.steps[self.steps > 0].min())), None)
            ax.axhline(0.0, color=INK, lw=0.6)
            ax.set_title(self.title)
            ax.set(xlabel=self.unit, ylabel=self.what)
            ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _of_problem(trace: MarginTrace, problem: int) -> list[dict[str, Any]]:
    return [row for row in trace.rows if row["problem"] == problem]
