"""Decide whether a vector separates patterns, with a proof: floats first, then integers if patterns are few enough."""

from contextlib import suppress
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify, separates_exactly, upper_bound
from separatrix.certificates.exact import BROKEN
from separatrix.certificates.gordan import Gordan, gordan, refuting_pair
from separatrix.certificates.gordan_exact import Alternative, spans_everything
from separatrix.certificates.quasi_complete import one_sided_columns
from separatrix.certificates.separability_answer import Separability
from separatrix.certificates.separation import MOST_VALUES
from separatrix.data.base import RowSource
from separatrix.data.changed_rows import ScaledRows
from separatrix.errors import DataError
from separatrix.geometry import Hyperplane
from separatrix.passes.device_patterns import passed
from separatrix.passes.patterns import PatternSet
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.solvers.thread_limit import one_blas_thread
from separatrix.space import Space, Vector

SEPARATING_GAP = 0.5  # gap at which a separating hyperplane is good enough
LEAST_SHARE = 0.1  # of the time that is left, for each of many questions: the first ones load compiled code
QUASI_SHARE = 0.5  # of the time, for the question of quasi-complete separation
SMALLEST_R2 = float(np.finfo(np.float64).tiny) / float(np.finfo(np.float64).eps)  # R^2 below which squares lose digits

Multipliers = tuple[np.ndarray, Vector]


def decide(patterns: PatternSet, max_time: float = np.inf, near: Multipliers | None = None) -> Separability:
    """`separability` for patterns that are already there, without the question of weak separability.

    ``near``: rows and multipliers that combine to nearly 0."""
    return Question(patterns.space.rho, max_time, kinds=False).decide(patterns, near)


class Question:
    """``quasi``: decide quasi-complete separation; ``kinds``: or at least read it off the proof."""

    def __init__(self, rho: float, max_time: float, quasi: bool = True, kinds: bool = True):
        self.space, self.clock, self.quasi, self.kinds = Space(rho), Clock(max_time), quasi, kinds
        self.max_time = max_time

    def with_share(self, parts: int) -> "Question":
        """The same for one of so many parts that share the time: none gets less than a tenth of what is left."""
        if np.isinf(self.clock.end):
            return self
        part = copy(self)
        part.clock = Clock(self.clock.left * max(1.0 / parts, LEAST_SHARE))
        return part

    def binary(self, X: Any, labels: Vector, proof: Gordan | None = None) -> Separability:
        """``proof``: that no hyperplane separates, if it is known."""
        patterns = Patterns(X, labels, self.space)
        return self.decide(patterns) if proof is None else self.refuted(patterns, proof)

    def refuted(self, patterns: Any, proof: Gordan) -> Separability:
        """The answer that rows and weights prove which combine to 0 for other patterns, and so for these."""
        if not SMALLEST_R2 <= patterns.radius2 < np.inf:
            return self.decide(patterns)  # where bounds need exact arithmetic, and rows are few
        return self._no(patterns, proof._replace(norm=upper_bound(patterns, proof.rows, proof.weight)))

    def machine_of(self, patterns: Any, planes: list[Any]) -> Separability | None:
        """The linear machine of hyperplanes that separate each class from the rest, if rounding leaves it separating.

        The score of its class is above 0 for each row, and those of all others below.
        """
        rho = self.space.rho
        a = np.concatenate([np.append(plane.w, plane.b / rho if rho else 0.0) for plane in planes])
        a = patterns.in_these_columns(a)
        if not separates_exactly(patterns, a):
            return None
        return self._yes(patterns, a, None, patterns.distance(a))

    def about_source(self, source: RowSource) -> Separability:
        """Return the answer for rows out of core: of two classes, or of one linear machine."""
        return self.decide(passed(source, 1 if len(source.classes) == 2 else None, self.space))

    def decide(self, patterns: Any, near: Multipliers | None = None) -> Separability:
        """Floats first, where their squares neither overflow nor vanish; then integers, where they are few enough."""
        in_range = SMALLEST_R2 <= patterns.radius2 < np.inf
        affordable = Alternative.affordable(patterns)
        if not np.isfinite(patterns.radius2) and not affordable:
            row = patterns.shape.bad * patterns.rows_in_all // patterns.n
            raise DataError(
                f"Row {row} is not finite, or its squared norm overflows float64. Fix it, or standardize the features."
            )
        best, pair = _Best(patterns), cache(lambda rows: refuting_pair(patterns, rows, self.clock))
        try:
            self.clock.look()
            if in_range and near is not None:
                found = pair(len(near[0])) or gordan(patterns, *near, self.clock)
                if found is not None:
                    return self._no(patterns, found)
            attempts = [self._solve] if affordable else [self._solve, self._solve_scaled]
            for attempt in attempts if in_range else []:
                problem = attempt(patterns)
                if certify(patterns, problem.a, None).separable or separates_exactly(patterns, problem.a):
                    return self._yes(patterns, problem.a, problem, patterns.distance(problem.a))
                best.look(problem)
                index, alpha = problem.alpha_index, problem.alpha
                found = pair(len(index)) or gordan(patterns, index, alpha, self.clock)
                if found is not None:
                    return self._no(patterns, found)
            if affordable:
                return self._exactly(patterns, best)
        except OutOfTimeError:
            pass
        text = "Undecided: no separating hyperplane was found, and no exact proof that there is none."
        if best.certificate.upper < np.inf:
            text += f" No margin above {best.certificate.upper:.3g} exists."
        return Separability(None, "undecided", False, best.certificate, explanation=text)

    def _solve(self, patterns: Any) -> Problem:
        problem = Problem(patterns, np.inf, tol=SEPARATING_GAP, max_time=self.clock.left)
        with suppress(*BROKEN), np.errstate(all="ignore"):
            solvers.solve(problem)  # where arithmetic breaks down, what was found counts
        return problem

    def _solve_scaled(self, patterns: Any) -> Problem:
        """The same question with every column centred (if there is a bias) and scaled to size 1.

        The answer does not change, the arithmetic does. The vector is carried back to the data as they are.
        """
        range_ = patterns.column_range()
        centre = np.zeros(patterns.features)
        if patterns.space.rho and not (patterns.here and patterns.sparse):
            centre = range_.total / range_.n
        size = np.maximum(np.abs(range_.largest - centre), np.abs(range_.smallest - centre))
        size = np.where(size > 0, size, 1.0)
        problem = self._solve(patterns.through(lambda home: ScaledRows(home, centre, size)))
        with np.errstate(over="ignore", invalid="ignore"):
            for a in problem.a.reshape(-1, patterns.features + 1):  # one vector, or those of a machine
                a[:-1] /= size
                if patterns.space.rho:
                    a[-1] -= a[:-1] @ centre / patterns.space.rho
        return problem

    def _exactly(self, patterns: Any, best: "_Best") -> Separability:
        exact = Alternative(patterns, self.clock)
        exact.decide(self.clock)
        if exact.infeasibility_proof is not None:
            return self._no(patterns, exact.infeasibility_proof, exact)
        if exact.near is not None:
            distance = exact.distance(self.clock) if patterns.n_classes == 2 else patterns.distance(exact.near)
            return self._yes(patterns, exact.near, best.problem, distance, exact.radius)
        text = (
            "Linearly separable: exact arithmetic finds a vector that classifies every row correctly, and no vector of "
            "floats does. Scale your features, and subtract what they have in common."
        )
        vector = _spread(patterns, exact.vector)
        plane = Hyperplane.from_fractions(vector) if vector and patterns.n_classes == 2 else None
        return Separability(True, "complete", True, best.certificate, plane, explanation=text, vector=vector)

    def _yes(
        self, patterns: Any, a: Vector, problem: Problem | None, distance: float, radius: float | None = None
    ) -> Separability:
        certificate = _certificate(patterns, a, problem, radius)
        if patterns.n_classes > 2:
            text = (
                "Jointly separable: a linear function per class classifies every row correctly, "
                f"the nearest {distance:.6g} from a border."
            )
            return Separability(True, "complete", True, certificate, None, distance, None, text)
        w, b = patterns.space.split(patterns.in_all_columns(a))
        plane = Hyperplane(w, b) if np.any(w) else None
        margin = distance if plane is not None else None
        text = "Linearly separable: a hyperplane classifies every row correctly"
        text += f", the nearest at a distance of {margin:.6g}." if margin is not None else "."
        return Separability(True, "complete", True, certificate, plane, margin, None, text)

    def _no(self, patterns: Any, witness: Gordan, exact: Alternative | None = None) -> Separability:
        certificate = Certificate(
            lower=None,
            upper=witness.norm,
            separable=False,
            space=patterns.space,
            radius=patterns.radius if exact is None else exact.radius,
            alpha_index=witness.rows,
            alpha=witness.weight,
            n_classes=patterns.n_classes,
        )
        text = (
            f"Not linearly separable: {len(witness.rows)} rows with positive weights combine to exactly 0, so no "
            f"hyperplane {'' if patterns.space.rho else 'through the origin '}separates them."
        )
        if patterns.n_classes > 2:
            text = (
                f"Not linearly separable: {len(witness.rows)} rows of Kesler's construction with positive weights "
                "combine to exactly 0, so no joint linear classifier classifies all rows correctly."
            )
        kind, weak = self._kind(patterns, witness, exact)
        if kind == "undecided":
            text += " Whether the classes are quasi-completely separable was not decided."
        if kind == "quasi-complete":
            text += " Quasi-completely separable: a hyperplane has no row on the wrong side, and some rows on it."
        plane, vector = None, None
        if isinstance(weak, list):
            vector = _spread(patterns, weak)
            plane = Hyperplane.from_fractions(vector) if vector and patterns.n_classes == 2 else None
        elif weak is not None and patterns.n_classes == 2:
            w, b = patterns.space.split(patterns.in_all_columns(weak))
            plane = Hyperplane(w, b) if np.any(w) else None
        margin = 0.0 if kind == "quasi-complete" else None
        return Separability(False, kind, True, certificate, plane, margin, witness, text, vector=vector)

    def _kind(
        self, patterns: Any, witness: Gordan, exact: Alternative | None
    ) -> tuple[str, Vector | list[Fraction] | None]:
        """ "quasi-complete" with a vector, "none", or "undecided" where time or memory do not allow more."""
        if not self.kinds:
            return "undecided", None
        clock = Clock(min(QUASI_SHARE * self.max_time, self.clock.left))
        try:
            if spans_everything(patterns, witness.rows, clock):
                return "none", None
            if not self.quasi:
                return "undecided", None
            found = one_sided_columns(patterns) if patterns.here and patterns.explicit else None
            if found is not None:
                return "quasi-complete", found
            if not Alternative.affordable(patterns, MOST_VALUES):
                return "undecided", None
            with one_blas_thread, np.errstate(all="ignore"):  # many short products, which several threads delay
                weak = (exact or Alternative(patterns, clock)).weak(witness.rows, clock)
        except OutOfTimeError:
            return "undecided", None
        return ("none" if weak is None else "quasi-complete"), weak


def _spread(patterns: Any, vector: list[Fraction] | None) -> list[Fraction] | None:
    """A vector of fractions as one of the data, where empty columns were left out."""
    if vector is None:
        return None
    return [Fraction(x) for x in patterns.in_all_columns(np.array(vector, dtype=object))]


class _Best:
    """The bounds that floats found, for an answer that is undecided."""

    def __init__(self, patterns: Any):
        self.patterns = patterns
        self.problem: Problem | None = None
        self.certificate = Certificate(
            None, np.inf, None, patterns.space, patterns.radius, n_classes=patterns.n_classes
        )

    def look(self, problem: Problem) -> None:
        certificate = _certificate(self.patterns, problem.a, problem)
        if certificate.upper <= self.certificate.upper:
            self.certificate, self.problem = certificate, problem


def _certificate(patterns: Any, a: Vector, problem: Problem | None, radius: float | None = None) -> Certificate:
    """Of a vector, and of the multipliers that a solver found, perhaps on scaled rows. ``radius``: the vector separates
    by an exact proof, and squares of the data may be out of range."""
    if radius is not None and not SMALLEST_R2 <= patterns.radius2 < np.inf:
        whole = patterns.in_all_columns(a)
        return Certificate(None, np.inf, True, patterns.space, radius, direction=whole, n_classes=patterns.n_classes)
    certificate = certify(patterns, a, None)
    if radius is not None or separates_exactly(patterns, a):
        certificate = replace(certificate, separable=True, direction=patterns.in_all_columns(a))
    if problem is None:
        return certificate
    upper = upper_bound(patterns, problem.alpha_index, problem.alpha)
    if not np.isfinite(upper):
        return certificate
    return replace(certificate, upper=upper, alpha_index=problem.alpha_index, alpha=problem.alpha)
